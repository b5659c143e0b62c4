/* SPDX-License-Identifier: MIT */
/*
 * Pushes random bytes through a running grpctap, from real sockets to real
 * sockets: many connections, both directions at once, chunks of 1 byte to
 * 1 MiB, stalls, half-closes and resets; and compares SHA-256 on both ends.
 * It starts no grpctap itself; see tests/e2e/relay_soak.sh.
 *
 * What a connection sends is a function of its seed and the offset.  So a
 * connection that is reset in the middle can be checked too: what arrived has
 * to be a prefix of it.
 */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <openssl/evp.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "soak_data.h"
#include "soak_net.h"

/* CHUNK_MAX is the longest piece sent or received at once. */
#define CHUNK_MAX (1u << 20)
/* PATIENCE_MS is how long nothing may move before that is a failure. */
#define PATIENCE_MS 60000
/* VOLUME_MAX bounds what one end sends: a long run is to have many
 * connections. */
#define VOLUME_MAX (48u << 20)
/* DIGEST_LEN is the length of a SHA-256. */
#define DIGEST_LEN 32

/* enum fate says how a connection is to end. */
enum fate { FATE_PEACE, FATE_CLIENT_RESETS, FATE_SERVER_RESETS };

/* struct end is one end of a connection; 0 is the client, 1 the server. */
struct end {
    /* conn is the whole, index says which end this is. */
    struct conn *conn;
    int index;
    int fd;
    /* random is the state of the dice, apart from the data's seed. */
    uint64_t random;
    /* volume is how much it sends, sent how much it has. */
    uint64_t volume;
    uint64_t sent;
    /* received is how much it got; got its running hash. */
    uint64_t received;
    EVP_MD_CTX *got;
    /* chunk is what is being sent: chunk_at of chunk_len are. */
    uint8_t *chunk;
    size_t chunk_at;
    size_t chunk_len;
    /* send_at_ms and receive_at_ms are when a stall ends. */
    uint64_t send_at_ms;
    uint64_t receive_at_ms;
    /* is_shut: FIN sent. has_eof: FIN received. was_reset: a reset was. */
    int is_shut;
    int has_eof;
    int was_reset;
};

/* struct conn is a connection through grpctap. */
struct conn {
    uint64_t id;
    uint64_t seed;
    enum fate fate;
    /* reset_at is the number of bytes moved at which its end resets. */
    uint64_t reset_at;
    struct end ends[2];
    /* server is the thread of the server's end. */
    pthread_t server;
    /* has_server is 1 once it runs; lock and changed guard it. */
    int has_server;
};

/* What the command line says, and the state of the run. */
static struct {
    struct soak_addr tap;
    uint64_t bytes;
    uint64_t seed;
    unsigned parallel;
    /* can_reset is 0 on Unix sockets, which know no reset. */
    int can_reset;
    int listener;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* current holds the connection of each client thread. */
    struct conn **current;
    _Atomic uint64_t next_id;
    _Atomic uint64_t moved;
    _Atomic unsigned n_peace;
    _Atomic unsigned n_reset;
} run = { .bytes = 128u << 20, .seed = 1, .parallel = 8,
          .lock = PTHREAD_MUTEX_INITIALIZER,
          .changed = PTHREAD_COND_INITIALIZER };

/* die ends the whole run: it has failed. */
static _Noreturn void __attribute__((format(printf, 1, 2)))
die(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fputs("soak: FAILED: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    exit(1);
}

static uint64_t
now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static uint64_t
end_seed(const struct end *end)
{
    return mix(end->conn->seed + (uint64_t)end->index);
}

/* chunk_len rolls a length: small ones often, as they find other faults than
 * long ones. */
static size_t
chunk_len(uint64_t *random)
{
    static const uint64_t maxima[] = { 16, 4096, 65536, CHUNK_MAX };

    return 1 + (size_t)dice(random, maxima[dice(random, 4)]);
}

/* stall_until returns the time until which an end is to rest: mostly now. */
static uint64_t
stall_until(uint64_t *random, uint64_t now)
{
    if (dice(random, 50) != 0)
        return now;
    return now + dice(random, dice(random, 10) == 0 ? 300 : 20);
}

/* ---- an end of a connection ---- */

static const char *
end_name(const struct end *end)
{
    return end->index == 0 ? "client" : "server";
}

static int
end_resets(const struct end *end)
{
    return end->conn->fate
           == (end->index == 0 ? FATE_CLIENT_RESETS : FATE_SERVER_RESETS);
}

/* end_take_error notes a reset, which is a failure unless it was planned. */
static void
end_take_error(struct end *end, const char *what)
{
    if (errno == EAGAIN || errno == EINTR)
        return;
    if ((errno != ECONNRESET && errno != EPIPE)
        || end->conn->fate == FATE_PEACE)
        die("connection %llu, %s: %s: %s",
            (unsigned long long)end->conn->id, end_name(end), what,
            strerror(errno));
    end->was_reset = 1;
}

static void
end_send(struct end *end, uint64_t now)
{
    ssize_t len;

    if (end->chunk_at == end->chunk_len) {
        end->chunk_at = 0;
        end->chunk_len = chunk_len(&end->random);
        if (end->chunk_len > end->volume - end->sent)
            end->chunk_len = (size_t)(end->volume - end->sent);
        data_fill(end_seed(end), end->sent, end->chunk, end->chunk_len);
        end->send_at_ms = stall_until(&end->random, now);
    }
    len = send(end->fd, end->chunk + end->chunk_at,
               end->chunk_len - end->chunk_at, MSG_NOSIGNAL);
    if (len < 0) {
        end_take_error(end, "send");
        return;
    }
    end->chunk_at += (size_t)len;
    end->sent += (uint64_t)len;
    if (end->sent == end->volume && !end_resets(end)) {
        /* It fails when a reset has just come; receiving will tell. */
        (void)shutdown(end->fd, SHUT_WR);
        end->is_shut = 1;
    }
}

static void
end_receive(struct end *end, uint8_t *buffer, uint64_t now)
{
    ssize_t len = recv(end->fd, buffer, chunk_len(&end->random), 0);

    if (len < 0) {
        end_take_error(end, "receive");
        return;
    }
    if (len == 0) {
        end->has_eof = 1;
        return;
    }
    EVP_DigestUpdate(end->got, buffer, (size_t)len);
    end->received += (uint64_t)len;
    atomic_fetch_add(&run.moved, (uint64_t)len);
    end->receive_at_ms = stall_until(&end->random, now);
}

/* end_is_over returns 1 when the end has nothing more to do. */
static int
end_is_over(struct end *end)
{
    if (end_resets(end)
        && end->sent + end->received >= end->conn->reset_at) {
        soak_reset(end->fd);
        return 1;
    }
    return end->was_reset || (end->is_shut && end->has_eof);
}

/* end_wait waits until the socket is ready for what the end wants that is not
 * stalled.  Returns what it is ready for. */
static int
end_wait(struct end *end, uint64_t now)
{
    struct pollfd entry = { .fd = end->fd };
    uint64_t until = now + PATIENCE_MS;
    int n;

    if (!end->is_shut && end->send_at_ms <= now)
        entry.events |= POLLOUT;
    else if (!end->is_shut && end->send_at_ms < until)
        until = end->send_at_ms;
    if (!end->has_eof && end->receive_at_ms <= now)
        entry.events |= POLLIN;
    else if (!end->has_eof && end->receive_at_ms < until)
        until = end->receive_at_ms;
    if (entry.events == 0)
        entry.fd = -1; /* errors can wait, too */
    n = poll(&entry, 1, (int)(until - now));
    if (n == 0 && until == now + PATIENCE_MS)
        die("connection %llu, %s: nothing moves; sent %llu of %llu, "
            "received %llu",
            (unsigned long long)end->conn->id, end_name(end),
            (unsigned long long)end->sent, (unsigned long long)end->volume,
            (unsigned long long)end->received);
    if (entry.revents & (POLLERR | POLLHUP))
        return entry.events;
    return entry.revents;
}

/* end_run does all that an end does, from its handshake on. */
static void
end_run(struct end *end)
{
    uint8_t *buffer = malloc(CHUNK_MAX);

    end->chunk = malloc(CHUNK_MAX);
    if (buffer == NULL || end->chunk == NULL)
        die("out of memory");
    soak_nonblock(end->fd);
    if (end->volume == 0) { /* never so for one that resets */
        (void)shutdown(end->fd, SHUT_WR);
        end->is_shut = 1;
    }
    while (!end_is_over(end)) {
        uint64_t now = now_ms();
        int ready = end_wait(end, now);

        if ((ready & POLLIN) && !end->has_eof)
            end_receive(end, buffer, now);
        if ((ready & POLLOUT) && !end->is_shut && !end->was_reset)
            end_send(end, now);
    }
    close(end->fd);
    free(end->chunk);
    free(buffer);
}

/* ---- checking ---- */

/* check_prefix compares what |to| received with the first bytes that |from|
 * sends. */
static void
check_prefix(struct end *from, struct end *to)
{
    uint8_t want[DIGEST_LEN], got[DIGEST_LEN], *buffer = malloc(CHUNK_MAX);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    uint64_t at = 0;

    if (buffer == NULL || context == NULL)
        die("out of memory");
    EVP_DigestInit_ex(context, EVP_sha256(), NULL);
    while (at < to->received) {
        size_t len = CHUNK_MAX;

        if (len > to->received - at)
            len = (size_t)(to->received - at);
        data_fill(end_seed(from), at, buffer, len);
        EVP_DigestUpdate(context, buffer, len);
        at += len;
    }
    EVP_DigestFinal_ex(context, want, NULL);
    EVP_DigestFinal_ex(to->got, got, NULL);
    if (memcmp(want, got, sizeof(want)) != 0)
        die("connection %llu: the %s received other bytes than were sent",
            (unsigned long long)from->conn->id, end_name(to));
    EVP_MD_CTX_free(context);
    free(buffer);
}

/* check_end checks what arrived at |to|. */
static void
check_end(struct end *from, struct end *to)
{
    const struct conn *conn = from->conn;

    if (to->received > from->sent)
        die("connection %llu: the %s received more than was sent",
            (unsigned long long)conn->id, end_name(to));
    check_prefix(from, to);
    if (conn->fate == FATE_PEACE && to->received != from->volume)
        die("connection %llu: the %s received %llu of %llu bytes",
            (unsigned long long)conn->id, end_name(to),
            (unsigned long long)to->received,
            (unsigned long long)from->volume);
    /* One that resets does so before its FIN: that must not turn into one. */
    if (end_resets(from) && to->has_eof && run.can_reset)
        die("connection %llu: the %s received a FIN instead of a reset",
            (unsigned long long)conn->id, end_name(to));
}

/* ---- connections ---- */

/* volume rolls how much to send: from nothing to a share of the run. */
static uint64_t
volume(uint64_t *random)
{
    uint64_t max = run.bytes / 32 + 1;

    if (max > VOLUME_MAX)
        max = VOLUME_MAX;

    switch (dice(random, 8)) {
    case 0:
        return 0;
    case 1:
        return dice(random, 1000);
    case 2:
        return dice(random, 1u << 20);
    default:
        return dice(random, max);
    }
}

static void
conn_plan(struct conn *conn)
{
    uint64_t random = conn->seed;

    for (int i = 0; i < 2; i++) {
        struct end *end = &conn->ends[i];

        end->conn = conn;
        end->index = i;
        end->random = mix(conn->seed + 17 + (uint64_t)i);
        end->volume = volume(&random);
        end->got = EVP_MD_CTX_new();
        if (end->got == NULL)
            die("out of memory");
        EVP_DigestInit_ex(end->got, EVP_sha256(), NULL);
    }
    if (dice(&random, 4) != 0)
        return;
    conn->fate = dice(&random, 2) == 0 ? FATE_CLIENT_RESETS
                                       : FATE_SERVER_RESETS;
    /* The resetting end has some way to go to its own FIN at that point. */
    struct end *end = &conn->ends[conn->fate == FATE_SERVER_RESETS];
    end->volume += 4096;
    conn->reset_at = dice(&random, end->volume);
}

static void *
server_main(void *arg)
{
    end_run(arg);
    return NULL;
}

/* find_conn returns the connection |id|, which a client thread started. */
static struct conn *
find_conn(uint64_t id)
{
    for (unsigned i = 0; i < run.parallel; i++) {
        if (run.current[i] != NULL && run.current[i]->id == id)
            return run.current[i];
    }
    return NULL;
}

/* accept_main meets each connection at the server's end: the client says
 * which it is, and is answered the same. */
static void *
accept_main(void *arg)
{
    (void)arg;
    for (;;) {
        int fd = accept(run.listener, NULL, NULL);
        struct conn *conn;
        uint64_t id;

        if (fd < 0)
            die("accept: %s", strerror(errno));
        if (soak_receive(fd, &id, sizeof(id)) < 0
            || send(fd, &id, sizeof(id), MSG_NOSIGNAL) != sizeof(id))
            die("handshake at the server's end: %s", strerror(errno));
        pthread_mutex_lock(&run.lock);
        conn = find_conn(id);
        if (conn == NULL)
            die("the server received an unknown number");
        conn->ends[1].fd = fd;
        if (pthread_create(&conn->server, NULL, server_main, &conn->ends[1])
            != 0)
            die("cannot start a thread");
        conn->has_server = 1;
        pthread_cond_broadcast(&run.changed);
        pthread_mutex_unlock(&run.lock);
    }
    return NULL;
}

/* conn_run makes, uses and checks one connection. */
static void
conn_run(struct conn *conn)
{
    uint64_t id;

    conn->ends[0].fd = soak_connect(&run.tap);
    if (conn->ends[0].fd < 0)
        die("connect to grpctap: %s", strerror(errno));
    if (send(conn->ends[0].fd, &conn->id, sizeof(id), MSG_NOSIGNAL)
            != sizeof(id)
        || soak_receive(conn->ends[0].fd, &id, sizeof(id)) < 0
        || id != conn->id)
        die("handshake at the client's end: %s", strerror(errno));
    end_run(&conn->ends[0]);
    pthread_mutex_lock(&run.lock);
    while (!conn->has_server)
        pthread_cond_wait(&run.changed, &run.lock);
    pthread_mutex_unlock(&run.lock);
    pthread_join(conn->server, NULL);
    check_end(&conn->ends[0], &conn->ends[1]);
    check_end(&conn->ends[1], &conn->ends[0]);
    if (conn->fate == FATE_PEACE)
        atomic_fetch_add(&run.n_peace, 1);
    else
        atomic_fetch_add(&run.n_reset, 1);
}

/* client_main runs connections, one after the other. */
static void *
client_main(void *arg)
{
    struct conn **slot = arg;

    while (atomic_load(&run.moved) < run.bytes) {
        struct conn *conn = calloc(1, sizeof(*conn));

        if (conn == NULL)
            die("out of memory");
        conn->id = atomic_fetch_add(&run.next_id, 1);
        conn->seed = mix(run.seed * 1000003 + conn->id);
        conn_plan(conn);
        pthread_mutex_lock(&run.lock);
        *slot = conn;
        pthread_mutex_unlock(&run.lock);
        conn_run(conn);
        pthread_mutex_lock(&run.lock);
        *slot = NULL;
        pthread_mutex_unlock(&run.lock);
        EVP_MD_CTX_free(conn->ends[0].got);
        EVP_MD_CTX_free(conn->ends[1].got);
        free(conn);
    }
    return NULL;
}

/* ---- the run ---- */

static void
run_all(void)
{
    pthread_t acceptor, *clients = calloc(run.parallel, sizeof(*clients));

    run.current = calloc(run.parallel, sizeof(struct conn *));
    if (clients == NULL || run.current == NULL
        || pthread_create(&acceptor, NULL, accept_main, NULL) != 0)
        die("out of memory");
    for (unsigned i = 0; i < run.parallel; i++) {
        if (pthread_create(&clients[i], NULL, client_main, &run.current[i])
            != 0)
            die("cannot start a thread");
    }
    for (unsigned i = 0; i < run.parallel; i++)
        pthread_join(clients[i], NULL);
    free(clients);
}

static _Noreturn void
usage(void)
{
    fputs("Usage: soak [--mib N] [--parallel N] [--seed N] LISTEN ANNOUNCE "
          "TAP\n"
          "LISTEN is where to be the server: HOST:PORT or unix:PATH; the\n"
          "address bound is written to the file ANNOUNCE.  TAP is where\n"
          "grpctap listens, or @FILE to wait for a file that says so.\n",
          stderr);
    exit(2);
}

static uint64_t
number(const char *text)
{
    char *end;
    unsigned long long value = strtoull(text, &end, 10);

    if (end == text || *end != '\0' || value == 0)
        usage();
    return value;
}

/* parse reads the options. */
static void
parse(int argc, char **argv)
{
    static const struct option options[] = {
        { "mib", required_argument, NULL, 'm' },
        { "parallel", required_argument, NULL, 'p' },
        { "seed", required_argument, NULL, 's' },
        { NULL, 0, NULL, 0 },
    };
    int option = getopt_long(argc, argv, "", options, NULL);

    for (; option != -1; option = getopt_long(argc, argv, "", options, NULL)) {
        if (option == 'm')
            run.bytes = number(optarg) << 20;
        else if (option == 'p')
            run.parallel = (unsigned)number(optarg);
        else if (option == 's')
            run.seed = number(optarg);
        else
            usage();
    }
    if (argc - optind != 3)
        usage();
}

int
main(int argc, char **argv)
{
    const char *wrong;

    parse(argc, argv);
    run.listener = soak_listen(argv[optind], argv[optind + 1], &wrong);
    if (run.listener < 0)
        die("listen on %s: %s", argv[optind], wrong);
    if (soak_find_tap(&run.tap, argv[optind + 2], PATIENCE_MS) < 0)
        die("no address of grpctap in %s", argv[optind + 2]);
    run.can_reset = run.tap.sa.ss_family != AF_UNIX
                    && strncmp(argv[optind], "unix:", 5) != 0;
    run_all();
    printf("soak: %u connections in peace, %u reset, %llu MiB, all equal\n",
           atomic_load(&run.n_peace), atomic_load(&run.n_reset),
           (unsigned long long)(atomic_load(&run.moved) >> 20));
    return 0;
}
