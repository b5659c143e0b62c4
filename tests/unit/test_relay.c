/* SPDX-License-Identifier: MIT */
/*
 * Tests what a relay tells its observer: a pool of workers with real sockets
 * on both legs, and an observer that checks the order of its calls and keeps
 * what it is shown.  What the peers see is tested end to end (tests/e2e).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../proxy/addr.h"
#include "../../proxy/event_run.h"
#include "../../proxy/listener.h"
#include "../../proxy/observer.h"
#include "../../proxy/watch.h"
#include "../../proxy/worker_pool.h"

/* SEEN_MAX is how many connections a test may make. */
#define SEEN_MAX 16

/* struct seen is what the observer of one connection was told. */
struct seen {
    /* client and server are the addresses as text. */
    char client[ADDR_TEXT_MAX];
    char server[ADDR_TEXT_MAX];
    /* bytes and the sum of them, and whether eof was told, by side. */
    uint64_t bytes[2];
    uint64_t sums[2];
    int eofs[2];
    /* n_opened and n_closed count the calls. */
    int n_opened;
    int n_closed;
    /* wrong counts calls out of order. */
    int wrong;
    enum conn_reason reason;
    char error[256];
    /* last_us is the time of the last call. */
    uint64_t last_us;
};

/* The observers' notes, by connection number; refuse makes observer_new
 * fail. */
static struct {
    pthread_mutex_t lock;
    struct seen seen[SEEN_MAX];
    int refuse;
    int n_shared;
} notes = { .lock = PTHREAD_MUTEX_INITIALIZER };

static uint64_t
sum_of(uint64_t sum, const uint8_t *data, size_t len)
{
    for (size_t i = 0; i < len; i++)
        sum = sum * 31 + data[i];
    return sum;
}

/* note_time checks that time does not run backwards. */
static void
note_time(struct seen *seen, uint64_t now_us)
{
    seen->wrong += now_us < seen->last_us || seen->n_closed > 0;
    seen->last_us = now_us;
}

static void
on_opened(void *user, const char *server, uint64_t connect_us, uint64_t now_us)
{
    struct seen *seen = user;

    pthread_mutex_lock(&notes.lock);
    note_time(seen, now_us);
    seen->wrong += connect_us > now_us;
    seen->n_opened++;
    (void)snprintf(seen->server, sizeof(seen->server), "%s", server);
    pthread_mutex_unlock(&notes.lock);
}

static void
on_bytes(void *user, enum side from, const uint8_t *data, size_t len,
         uint64_t now_us)
{
    struct seen *seen = user;

    pthread_mutex_lock(&notes.lock);
    note_time(seen, now_us);
    seen->wrong += seen->n_opened != 1 || seen->eofs[from] || len == 0;
    seen->bytes[from] += len;
    seen->sums[from] = sum_of(seen->sums[from], data, len);
    pthread_mutex_unlock(&notes.lock);
}

static void
on_eof(void *user, enum side from, uint64_t now_us)
{
    struct seen *seen = user;

    pthread_mutex_lock(&notes.lock);
    note_time(seen, now_us);
    seen->wrong += seen->n_opened != 1;
    seen->eofs[from]++;
    pthread_mutex_unlock(&notes.lock);
}

static void
on_closed(void *user, enum conn_reason reason, const char *error,
          uint64_t now_us)
{
    struct seen *seen = user;

    pthread_mutex_lock(&notes.lock);
    note_time(seen, now_us);
    seen->wrong += seen->n_opened != 1;
    seen->n_closed++;
    seen->reason = reason;
    (void)snprintf(seen->error, sizeof(seen->error), "%s",
                   error != NULL ? error : "");
    pthread_mutex_unlock(&notes.lock);
}

static const struct observer observer = { on_opened, on_bytes, on_eof,
                                          on_closed };

static void *
shared_new(const void *config, struct lane *lane, struct summary *summary,
           int64_t wall_offset_us)
{
    (void)lane;
    (void)summary;
    (void)wall_offset_us;
    notes.n_shared++;
    return (void *)(uintptr_t)config;
}

static void
shared_free(void *shared)
{
    (void)shared;
    notes.n_shared--;
}

static void
shared_set_wall(void *shared, int64_t wall_offset_us)
{
    (void)shared;
    (void)wall_offset_us;
}

static void
shared_add_totals(const void *shared, struct run_totals *totals)
{
    (void)shared;
    totals->connections++;
}

static void *
observer_new(void *shared, uint64_t conn, const char *client, uint64_t now_us)
{
    struct seen *seen = &notes.seen[conn % SEEN_MAX];

    assert_ptr_equal(shared, &notes);
    pthread_mutex_lock(&notes.lock);
    (void)snprintf(seen->client, sizeof(seen->client), "%s", client);
    seen->last_us = now_us;
    pthread_mutex_unlock(&notes.lock);
    return notes.refuse ? NULL : seen;
}

static const struct watch watch = {
    .observer = &observer,
    .shared_new = shared_new,
    .shared_free = shared_free,
    .shared_set_wall = shared_set_wall,
    .shared_add_totals = shared_add_totals,
    .observer_new = observer_new,
};

/* struct rig is a running pool between test and test. */
struct rig {
    /* server listens, at upstream. */
    int server;
    struct addr upstream;
    /* tap is where the pool listens. */
    struct addr tap;
    struct listener *listener;
    struct worker_pool *pool;
    pthread_t thread;
};

static void *
pool_main(void *arg)
{
    return (void *)(intptr_t)worker_pool_run(arg);
}

/* listen_local listens on a free port and writes the address. */
static int
listen_local(struct addr *addr)
{
    struct sockaddr_in sin = { .sin_family = AF_INET };
    socklen_t len = sizeof(sin);
    char text[ADDR_TEXT_MAX];
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(fd, (struct sockaddr *)&sin, sizeof(sin)), 0);
    assert_int_equal(listen(fd, 16), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&sin, &len), 0);
    addr_format_socket((struct sockaddr *)&sin, len, text);
    assert_null(addr_parse(addr, text));
    return fd;
}

static int
connect_to(const struct addr *addr)
{
    struct sockaddr_in sin = { .sin_family = AF_INET,
                               .sin_port = htons(addr->port) };
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(connect(fd, (struct sockaddr *)&sin, sizeof(sin)), 0);
    return fd;
}

static void
rig_start(struct rig *rig, unsigned n, uint64_t idle_us)
{
    struct worker_config config = { .upstream = &rig->upstream,
                                    .watch = &watch,
                                    .watch_config = &notes,
                                    .idle_timeout_us = idle_us };
    struct addr any;

    memset(notes.seen, 0, sizeof(notes.seen));
    notes.refuse = 0;
    rig->server = listen_local(&rig->upstream);
    assert_null(addr_parse(&any, "127.0.0.1:0"));
    rig->listener = listener_open(&any);
    assert_non_null(rig->listener);
    assert_null(addr_parse(&rig->tap, listener_text(rig->listener)));
    rig->pool = worker_pool_new(&config, n, rig->listener);
    assert_non_null(rig->pool);
    assert_int_equal(notes.n_shared, n);
    assert_int_equal(pthread_create(&rig->thread, NULL, pool_main, rig->pool),
                     0);
}

static void
rig_stop(struct rig *rig)
{
    void *result;

    worker_pool_stop(rig->pool);
    pthread_join(rig->thread, &result);
    assert_null(result);
    worker_pool_free(rig->pool);
    listener_free(rig->listener);
    close(rig->server);
    assert_int_equal(notes.n_shared, 0);
}

/* wait_closed waits for the end of |conn| and returns what was seen. */
static struct seen
wait_closed(unsigned conn)
{
    const struct timespec pause = { .tv_nsec = 2000000 };
    struct seen seen;

    for (int i = 0; i < 5000; i++) {
        pthread_mutex_lock(&notes.lock);
        seen = notes.seen[conn];
        pthread_mutex_unlock(&notes.lock);
        if (seen.n_closed > 0)
            break;
        nanosleep(&pause, NULL);
    }
    assert_int_equal(seen.n_closed, 1);
    assert_int_equal(seen.n_opened, 1);
    assert_int_equal(seen.wrong, 0);
    return seen;
}

/* send_all sends |len| bytes made of |seed| and returns their sum. */
static uint64_t
send_all(int fd, size_t len, uint8_t seed)
{
    uint8_t *data = malloc(len);
    uint64_t sum;
    size_t at = 0;

    assert_non_null(data);
    for (size_t i = 0; i < len; i++)
        data[i] = (uint8_t)(seed + i * 7 + i / 251);
    sum = sum_of(0, data, len);
    while (at < len) {
        ssize_t n = send(fd, data + at, len - at, MSG_NOSIGNAL);

        assert_true(n > 0);
        at += (size_t)n;
    }
    free(data);
    return sum;
}

/* receive_all receives until the end and returns the sum. */
static uint64_t
receive_all(int fd, size_t len)
{
    uint8_t data[4096];
    uint64_t sum = 0;
    size_t total = 0;
    ssize_t n = recv(fd, data, sizeof(data), 0);

    while (n > 0) {
        sum = sum_of(sum, data, (size_t)n);
        total += (size_t)n;
        n = recv(fd, data, sizeof(data), 0);
    }
    assert_int_equal(n, 0);
    assert_int_equal(total, len);
    return sum;
}

static void
reset(int fd)
{
    struct linger linger = { 1, 0 };

    setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
    close(fd);
}

static void
test_both_directions(void **state)
{
    struct rig rig;

    (void)state;
    rig_start(&rig, 2, 0);
    for (unsigned conn = 1; conn <= 4; conn++) {
        int client = connect_to(&rig.tap);
        int server = accept(rig.server, NULL, NULL);
        uint64_t up = send_all(client, 100000, 1);
        uint64_t down;
        char text[ADDR_TEXT_MAX];
        struct seen seen;

        shutdown(client, SHUT_WR);
        assert_int_equal(receive_all(server, 100000), up);
        down = send_all(server, 50000, 2);
        close(server);
        assert_int_equal(receive_all(client, 50000), down);
        close(client);
        seen = wait_closed(conn);
        assert_int_equal(seen.reason, CONN_CLIENT_CLOSED);
        assert_string_equal(seen.error, "");
        assert_int_equal(seen.sums[SIDE_CLIENT], up);
        assert_int_equal(seen.sums[SIDE_SERVER], down);
        assert_int_equal(seen.eofs[SIDE_CLIENT], 1);
        assert_int_equal(seen.eofs[SIDE_SERVER], 1);
        addr_format(&rig.upstream, text);
        assert_string_equal(seen.server, text);
        assert_memory_equal(seen.client, "127.0.0.1:", 10);
    }
    rig_stop(&rig);
}

static void
test_server_first(void **state)
{
    struct rig rig;
    struct seen seen;
    int client, server;

    (void)state;
    rig_start(&rig, 1, 0);
    client = connect_to(&rig.tap);
    server = accept(rig.server, NULL, NULL);
    send_all(server, 10, 0);
    shutdown(server, SHUT_WR);
    receive_all(client, 10);
    close(client);
    receive_all(server, 0);
    close(server);
    seen = wait_closed(1);
    assert_int_equal(seen.reason, CONN_SERVER_CLOSED);
    rig_stop(&rig);
}

static void
test_resets(void **state)
{
    struct rig rig;
    struct seen seen;
    char byte;

    (void)state;
    rig_start(&rig, 1, 0);
    for (unsigned conn = 1; conn <= 2; conn++) {
        int fds[2];
        int from = conn == 1 ? 0 : 1;

        fds[0] = connect_to(&rig.tap);
        fds[1] = accept(rig.server, NULL, NULL);
        send_all(fds[from], 1, 0);
        assert_int_equal(recv(fds[!from], &byte, 1, 0), 1);
        reset(fds[from]);
        assert_int_equal(recv(fds[!from], &byte, 1, 0), -1);
        assert_int_equal(errno, ECONNRESET);
        close(fds[!from]);
        seen = wait_closed(conn);
        assert_int_equal(seen.reason,
                         conn == 1 ? CONN_CLIENT_RESET : CONN_SERVER_RESET);
        assert_non_null(strstr(seen.error, conn == 1 ? "client" : "server"));
        assert_int_equal(seen.bytes[from], 1);
        /* A reset is not an end of the data. */
        assert_int_equal(seen.eofs[0] + seen.eofs[1], 0);
    }
    rig_stop(&rig);
}

static void
test_connect_failed(void **state)
{
    struct rig rig;
    struct seen seen;
    char text[ADDR_TEXT_MAX + 64], where[ADDR_TEXT_MAX];
    int client;

    (void)state;
    rig_start(&rig, 1, 0);
    close(rig.server);
    rig.server = -1;
    client = socket(AF_INET, SOCK_STREAM, 0);
    /* It may be reset before connect returns. */
    struct sockaddr_in sin = { .sin_family = AF_INET,
                               .sin_port = htons(rig.tap.port) };
    sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    (void)connect(client, (struct sockaddr *)&sin, sizeof(sin));
    seen = wait_closed(1);
    close(client);
    assert_int_equal(seen.reason, CONN_CONNECT_FAILED);
    addr_format(&rig.upstream, where);
    assert_string_equal(seen.server, where);
    (void)snprintf(text, sizeof(text), "connect to %s: Connection refused",
                   where);
    assert_string_equal(seen.error, text);
    rig_stop(&rig);
}

static void
test_idle(void **state)
{
    struct rig rig;
    struct seen seen;
    int client, server;

    (void)state;
    rig_start(&rig, 1, 100000);
    client = connect_to(&rig.tap);
    server = accept(rig.server, NULL, NULL);
    receive_all(client, 0);
    seen = wait_closed(1);
    assert_int_equal(seen.reason, CONN_TIMEOUT);
    close(client);
    close(server);
    rig_stop(&rig);
}

static void
test_stop(void **state)
{
    struct rig rig;
    int clients[4], servers[4];

    (void)state;
    rig_start(&rig, 3, 0);
    for (int i = 0; i < 4; i++) {
        char byte;

        clients[i] = connect_to(&rig.tap);
        servers[i] = accept(rig.server, NULL, NULL);
        send_all(servers[i], 1, 0);
        assert_int_equal(recv(clients[i], &byte, 1, 0), 1);
    }
    rig_stop(&rig);
    for (unsigned i = 0; i < 4; i++) {
        struct seen seen = wait_closed(i + 1);

        assert_int_equal(seen.reason, CONN_SHUTDOWN);
        receive_all(clients[i], 0);
        close(clients[i]);
        close(servers[i]);
    }
}

static void
test_unobserved(void **state)
{
    struct rig rig;
    int client, server;
    uint64_t sum;

    (void)state;
    rig_start(&rig, 1, 0);
    notes.refuse = 1;
    client = connect_to(&rig.tap);
    server = accept(rig.server, NULL, NULL);
    sum = send_all(client, 70000, 3);
    close(client);
    assert_int_equal(receive_all(server, 70000), sum);
    close(server);
    rig_stop(&rig);
    assert_int_equal(notes.seen[1].n_opened, 0);
}

static void
test_totals(void **state)
{
    struct run_totals totals;
    struct rig rig;

    (void)state;
    rig_start(&rig, 3, 0);
    worker_pool_stop(rig.pool);
    worker_pool_stop(rig.pool);
    pthread_join(rig.thread, NULL);
    worker_pool_totals(rig.pool, &totals);
    assert_int_equal(totals.connections, 3); /* one a worker, see above */
    worker_pool_free(rig.pool);
    listener_free(rig.listener);
    close(rig.server);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_directions),
        cmocka_unit_test(test_server_first),
        cmocka_unit_test(test_resets),
        cmocka_unit_test(test_connect_failed),
        cmocka_unit_test(test_idle),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_unobserved),
        cmocka_unit_test(test_totals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
