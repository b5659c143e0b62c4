/* SPDX-License-Identifier: MIT */
/*
 * What relaying costs at the very least here: loops that do nothing else move
 * bytes from one loopback connection to another, by recv and send, or by
 * splice, which copies nothing and shows nothing.  One line a way: CPU of the
 * relaying process per MiB.
 *
 * Usage: floor [MIB [ROUNDS]]
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define PIECE (256u << 10)
#define ROUNDS_MAX 99

static unsigned char buffer[PIECE];

static void
die(const char *what)
{
    perror(what);
    exit(1);
}

/* A connection over loopback. */
static void
connect_pair(int fds[2])
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(at);
    int listener = socket(AF_INET, SOCK_STREAM, 0);

    if (listener < 0 || bind(listener, (struct sockaddr *)&at, len) != 0 ||
        listen(listener, 1) != 0 ||
        getsockname(listener, (struct sockaddr *)&at, &len) != 0) {
        die("listen");
    }
    fds[0] = socket(AF_INET, SOCK_STREAM, 0);
    if (fds[0] < 0 || connect(fds[0], (struct sockaddr *)&at, len) != 0) {
        die("connect");
    }
    fds[1] = accept(listener, NULL, NULL);
    if (fds[1] < 0) {
        die("accept");
    }
    close(listener);
}

/* The load has core 0, the relay core 1, where there are two. */
static void
pin(unsigned core)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(core, &set);
    (void)sched_setaffinity(0, sizeof(set), &set);
}

static void
sender(int fd, unsigned mib)
{
    for (unsigned i = 0; i < mib * ((1u << 20) / PIECE); i++) {
        for (size_t at = 0; at < PIECE;) {
            ssize_t n = send(fd, buffer + at, PIECE - at, MSG_NOSIGNAL);

            if (n < 0) {
                die("send");
            }
            at += (size_t)n;
        }
    }
    shutdown(fd, SHUT_WR);
}

static void
receiver(int fd)
{
    while (recv(fd, buffer, PIECE, 0) > 0) {
        continue;
    }
}

static int
copy_piece(int from, int to, const int pipes[2])
{
    ssize_t len = recv(from, buffer, PIECE, 0);

    (void)pipes;
    for (ssize_t at = 0; at < len;) {
        ssize_t n = send(to, buffer + at, (size_t)(len - at), MSG_NOSIGNAL);

        if (n < 0) {
            die("send");
        }
        at += n;
    }
    return len > 0;
}

static int
splice_piece(int from, int to, const int pipes[2])
{
    ssize_t len = splice(from, NULL, pipes[1], NULL, PIECE, SPLICE_F_MOVE);

    for (ssize_t at = 0; at < len;) {
        ssize_t n = splice(pipes[0], NULL, to, NULL, (size_t)(len - at),
                           SPLICE_F_MOVE);

        if (n <= 0) {
            die("splice");
        }
        at += n;
    }
    return len > 0;
}

static double
cpu_us(void)
{
    struct rusage used;

    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e6 +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static double
run(int (*move)(int, int, const int[2]), unsigned mib)
{
    int in[2];
    int out[2];
    int pipes[2];
    double before;

    connect_pair(in);
    connect_pair(out);
    if (pipe(pipes) != 0 || fcntl(pipes[1], F_SETPIPE_SZ, 1 << 20) < 0) {
        die("pipe");
    }
    if (fork() == 0) {
        pin(0);
        sender(in[0], mib);
        _exit(0);
    }
    if (fork() == 0) {
        pin(0);
        close(out[0]);
        receiver(out[1]);
        _exit(0);
    }
    close(in[0]);
    close(out[1]);
    before = cpu_us();
    while (move(in[1], out[0], pipes)) {
        continue;
    }
    before = cpu_us() - before;
    shutdown(out[0], SHUT_WR);
    close(in[1]);
    close(out[0]);
    close(pipes[0]);
    close(pipes[1]);
    while (wait(NULL) > 0) {
        continue;
    }
    return before / mib;
}

static int
compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

static unsigned
number(const char *text, unsigned most)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);

    if (*text == '\0' || *end != '\0' || value == 0 || value > most) {
        fprintf(stderr, "Usage: floor [MIB [ROUNDS]]\n");
        exit(2);
    }
    return (unsigned)value;
}

int
main(int argc, char **argv)
{
    unsigned mib = argc > 1 ? number(argv[1], 1u << 20) : 2048;
    unsigned rounds = argc > 2 ? number(argv[2], ROUNDS_MAX) : 5;
    double copied[ROUNDS_MAX];
    double spliced[ROUNDS_MAX];

    pin(1);
    for (unsigned i = 0; i < rounds; i++) {
        copied[i] = run(copy_piece, mib);
        spliced[i] = run(splice_piece, mib);
    }
    qsort(copied, rounds, sizeof(*copied), compare);
    qsort(spliced, rounds, sizeof(*spliced), compare);
    printf("recv and send: %.0f us CPU per MiB\n", copied[rounds / 2]);
    printf("splice: %.0f us CPU per MiB\n", spliced[rounds / 2]);
    return 0;
}
