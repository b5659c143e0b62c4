/* SPDX-License-Identifier: MIT */
/*
 * echo_server: a gRPC server for examples/echo.proto on nghttp2 and libevent.
 * This file owns the command line, the listening socket and the signals;
 * connections and calls are in echo_server_conn.c and echo_server_call.c.
 */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <event2/listener.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "echo_addr.h"
#include "echo_server.h"

#define EXIT_USAGE 2

/* Connections the kernel may hold ready for us. */
#define LISTEN_BACKLOG 1024

/* Everything that main sets up and takes down. */
struct setup {
    struct server server;            /* what the connections see */
    struct echo_addr addr;           /* --listen */
    struct evconnlistener *listener; /* owns the listening socket */
    struct event *retry;             /* accept again after a shortage */
    bool is_short;            /* accepting failed last time; already said so */
    struct event *signals[2]; /* SIGINT and SIGTERM */
};

static const char help[] =
    "Usage: echo_server [OPTION]...\n"
    "A gRPC server for examples/echo.proto, plaintext HTTP/2.\n"
    "\n"
    "  -l, --listen ADDR    PORT, HOST:PORT, [V6]:PORT or unix:PATH\n"
    "                       (default 127.0.0.1:0; port 0 picks a free one)\n"
    "  -e, --encoding NAME  compress responses with NAME when the client\n"
    "                       accepts it (default: what the request uses)\n"
    "  -h, --help           print this and exit\n"
    "\n"
    "Encodings: " ECHO_CODEC_ALL "\n"
    "When ready it prints \"listening PORT\" or \"listening PATH\".\n"
    "SIGINT and SIGTERM end it with exit status 0.\n";

static int
usage_error(const char *what, const char *value)
{
    fprintf(stderr, "echo_server: %s%s%s\n", what, value == NULL ? "" : ": ",
            value == NULL ? "" : value);
    fputs("Try 'echo_server --help'.\n", stderr);
    return EXIT_USAGE;
}

/* Returns -1 to go on, or the exit status. */
static int
options_parse(struct setup *setup, int argc, char **argv)
{
    static const struct option options[] = {
        {"listen", required_argument, NULL, 'l'},
        {"encoding", required_argument, NULL, 'e'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0}};
    int c;

    for (;;) {
        c = getopt_long(argc, argv, "l:e:h", options, NULL);
        if (c == -1)
            break;
        if (c == 'h')
            return fputs(help, stdout) == EOF ? EXIT_FAILURE : EXIT_SUCCESS;
        if (c == 'l' && echo_addr_parse(optarg, &setup->addr) != 0)
            return usage_error("not an address", optarg);
        if (c == 'e') {
            if (echo_codec_find(optarg, strlen(optarg), &setup->server.codec) !=
                0)
                return usage_error("unknown encoding", optarg);
            setup->server.has_codec = true;
        }
        if (c == '?')
            return usage_error("wrong option", NULL);
    }
    return optind == argc ? -1 : usage_error("unexpected", argv[optind]);
}

static void
on_accept(struct evconnlistener *listener, evutil_socket_t fd,
          struct sockaddr *peer, int peer_len, void *arg)
{
    struct setup *setup = arg;

    (void)listener;
    (void)peer;
    (void)peer_len;
    setup->is_short = false;
    conn_open(&setup->server, fd);
}

/* Out of descriptors or memory: the listening socket stays readable, so that
 * trying at once again would spin. */
static void
on_accept_error(struct evconnlistener *listener, void *arg)
{
    struct setup *setup = arg;
    struct timeval pause = {.tv_usec = 100000};

    if (!setup->is_short)
        fprintf(stderr, "echo_server: accept: %s\n", strerror(errno));
    setup->is_short = true;
    (void)evconnlistener_disable(listener);
    (void)evtimer_add(setup->retry, &pause);
}

static void
on_retry(evutil_socket_t fd, short what, void *arg)
{
    struct setup *setup = arg;

    (void)fd;
    (void)what;
    (void)evconnlistener_enable(setup->listener);
}

static void
on_signal(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    (void)event_base_loopbreak(arg);
}

/* Many connections need many descriptors; the soft limit is often 1024. */
static void
descriptors_raise(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static int
listener_open(struct setup *setup)
{
    int fd = echo_addr_bind(&setup->addr);

    if (fd < 0)
        return -1;
    setup->listener = NULL;
    if (evutil_make_socket_nonblocking(fd) == 0)
        setup->listener = evconnlistener_new(
            setup->server.base, on_accept, setup,
            LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, LISTEN_BACKLOG, fd);
    if (setup->listener == NULL) {
        fprintf(stderr, "echo_server: listen: %s\n", strerror(errno));
        (void)close(fd);
        return -1;
    }
    evconnlistener_set_error_cb(setup->listener, on_accept_error);
    return 0;
}

static int
events_open(struct setup *setup)
{
    static const int numbers[] = {SIGINT, SIGTERM};
    struct event_base *base = event_base_new();

    setup->server.base = base;
    if (base == NULL)
        return -1;
    setup->retry = evtimer_new(base, on_retry, setup);
    if (setup->retry == NULL)
        return -1;
    for (int i = 0; i < 2; i++) {
        setup->signals[i] = evsignal_new(base, numbers[i], on_signal, base);
        if (setup->signals[i] == NULL ||
            event_add(setup->signals[i], NULL) != 0)
            return -1;
    }
    return 0;
}

static int
ready_print(const struct setup *setup)
{
    if (setup->addr.is_unix)
        printf("listening %s\n", setup->addr.path);
    else
        printf("listening %u\n",
               echo_addr_port(evconnlistener_get_fd(setup->listener)));
    return fflush(stdout);
}

/* Says GOAWAY to every client; does not wait for those who do not read. */
static void
setup_close(struct setup *setup)
{
    struct server *server = &setup->server;

    if (setup->listener != NULL) {
        evconnlistener_free(setup->listener);
        if (setup->addr.is_unix)
            (void)unlink(setup->addr.path);
    }
    while (!LIST_EMPTY(&server->conns)) {
        struct conn *conn = LIST_FIRST(&server->conns);
        echo_h2_end(&conn->h2);
        echo_h2_flush_now(&conn->h2);
        conn_close(conn);
    }
    if (setup->retry != NULL)
        event_free(setup->retry);
    for (int i = 0; i < 2; i++)
        if (setup->signals[i] != NULL)
            event_free(setup->signals[i]);
    if (server->base != NULL)
        event_base_free(server->base);
    echo_buf_clear(&server->scratch);
}

int
main(int argc, char **argv)
{
    struct setup setup = {0};
    int status = EXIT_FAILURE;

    (void)echo_addr_parse("127.0.0.1:0", &setup.addr);
    int rc = options_parse(&setup, argc, argv);
    if (rc >= 0)
        return rc;
    descriptors_raise();
    LIST_INIT(&setup.server.conns);
    if (events_open(&setup) != 0)
        fputs("echo_server: cannot set up the event loop\n", stderr);
    else if (listener_open(&setup) == 0 && ready_print(&setup) == 0 &&
             event_base_dispatch(setup.server.base) >= 0)
        status = EXIT_SUCCESS;
    setup_close(&setup);
    return status;
}
