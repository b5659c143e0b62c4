/* SPDX-License-Identifier: MIT */
/* Owns the order in which a run begins and ends, and the signals.  The work is
 * done by the parts that are started here. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "event_run.h"
#include "lane.h"
#include "listener.h"
#include "log.h"
#include "options.h"
#include "selfloop.h"
#include "sink.h"
#include "summary.h"
#include "tap.h"
#include "watch.h"
#include "what_if.h"
#include "worker_pool.h"

/* N_SIGNALS is how many signals the event loop handles. */
#define N_SIGNALS 4

/* struct run is all that a run consists of; what is NULL is not open. */
struct run {
    /* options is the command line. */
    const struct options *options;
    /* listener accepts, pool relays, sink writes. */
    struct listener *listener;
    struct worker_pool *pool;
    struct sink *sink;
    /* what_if is only there with --what-if. */
    struct what_if *what_if;
    /* signals are the events of the table in run_watch_signals. */
    struct event *signals[N_SIGNALS];
    /* collect is due when events of --what-if may be ready. */
    struct event *collect;
};

/* is_hurried is 1 after the second SIGINT or SIGTERM, whose handler gets no
 * argument. */
static atomic_int is_hurried;

/* --- the process --- */

/* secure_stdio opens what of the descriptors 0 to 2 is closed, lest a socket
 * gets the number and is taken for standard output.  Reading only: a write
 * there still fails. */
static void
secure_stdio(void)
{
    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) < 0)
            _exit(1);
}

/* ignore_signals turns signals that report a failed write into the error of
 * that write: a reader gone, a file at its size limit. */
static void
ignore_signals(void)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};

    sigaction(SIGPIPE, &ignore, NULL);
    sigaction(SIGXFSZ, &ignore, NULL);
}

/* raise_descriptors takes all descriptors the system lets us have: each
 * connection needs two. */
static void
raise_descriptors(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        log_info("cannot raise the number of descriptors: %s", strerror(errno));
}

/* --- signals --- */

static void
on_second_stop(int signal)
{
    (void)signal;
    is_hurried = 1;
}

/* on_stop ends the run.  From here on a further signal is not the event
 * loop's, which is about to end, but cuts the writing of the rest short; and
 * one more simply kills. */
static void
on_stop(evutil_socket_t signal, short what, void *user)
{
    struct run *run = user;
    /* Without SA_RESTART: a write that waits is to end. */
    struct sigaction second = {
        .sa_handler = on_second_stop,
        .sa_flags = (int)SA_RESETHAND,
    };

    (void)what;
    log_info("stopping: %s", strsignal((int)signal));
    event_del(run->signals[0]);
    event_del(run->signals[1]);
    sigaction(SIGINT, &second, NULL);
    sigaction(SIGTERM, &second, NULL);
    sink_lift_bound(run->sink);
    worker_pool_stop(run->pool);
}

static void
on_reopen(evutil_socket_t signal, short what, void *user)
{
    struct run *run = user;

    (void)signal;
    (void)what;
    log_reopen();
    sink_reopen(run->sink);
}

static void
on_report(evutil_socket_t signal, short what, void *user)
{
    struct run *run = user;

    (void)signal;
    (void)what;
    worker_pool_report(run->pool);
}

static int
run_watch_signals(struct run *run)
{
    static const struct {
        int signal;
        event_callback_fn callback;
    } table[N_SIGNALS] = {
        {SIGINT, on_stop},
        {SIGTERM, on_stop},
        {SIGHUP, on_reopen},
        {SIGUSR1, on_report},
    };
    struct event_base *base = worker_pool_base(run->pool);

    for (int i = 0; i < N_SIGNALS; i++) {
        run->signals[i] =
            evsignal_new(base, table[i].signal, table[i].callback, run);
        if (run->signals[i] == NULL || event_add(run->signals[i], NULL) != 0) {
            log_error("cannot handle signals");
            return -1;
        }
    }
    return 0;
}

/* --- the sink's callbacks, from its thread --- */

static void
on_room(void *user)
{
    const struct run *run = user;

    worker_pool_room(run->pool);
}

static void
on_broken(void *user)
{
    const struct run *run = user;

    worker_pool_stop(run->pool);
}

/* --- a run --- */

static int
run_open_sink(struct run *run)
{
    const struct sink_config config = {
        .path = run->options->output,
        .lossless = run->options->lossless,
        .on_room = on_room,
        .on_broken = on_broken,
        .user = run,
        .hurry = &is_hurried,
    };

    run->sink = sink_open(&config);
    return run->sink != NULL ? 0 : -1;
}

static int
run_open_what_if(struct run *run, struct tap_config *tap)
{
    const struct options *options = run->options;
    const struct what_if_config config = {
        .list = options->what_if_list,
        .hurry = &is_hurried,
        .cpu_percent = options->what_if_cpu,
        .wants_events = (options->events >> EVENT_WHAT_IF & 1u) != 0,
    };

    if (!options->what_if)
        return 0;
    run->what_if = what_if_new(&config);
    tap->what_if = run->what_if;
    return run->what_if != NULL ? 0 : -1;
}

static void
on_collect(evutil_socket_t fd, short what, void *user)
{
    struct run *run = user;

    (void)fd;
    (void)what;
    (void)what_if_collect(run->what_if, worker_pool_lane(run->pool));
}

/* run_watch_what_if has the first worker take the events of --what-if: its
 * thread, of the lowest priority, may not hold up who writes others. */
static int
run_watch_what_if(struct run *run)
{
    struct timeval tick = {.tv_usec = WHAT_IF_COLLECT_US};

    if (run->what_if == NULL)
        return 0;
    run->collect = event_new(worker_pool_base(run->pool), -1, EV_PERSIST,
                             on_collect, run);
    if (run->collect == NULL || event_add(run->collect, &tick) != 0) {
        log_error("out of memory");
        return -1;
    }
    return 0;
}

static void
run_finish_what_if(struct run *run)
{
    what_if_finish(run->what_if);
    while (what_if_collect(run->what_if, worker_pool_lane(run->pool)) != 0)
        continue;
}

static int
run_make_pool(struct run *run, const struct tap_config *tap)
{
    const struct options *options = run->options;
    const struct worker_config config = {
        .upstream = &options->upstream,
        .sink = run->sink,
        .watch = &watch_tap,
        .watch_config = tap,
        .connect_timeout_us = options->connect_timeout_us,
        .idle_timeout_us = options->idle_timeout_us,
        .max_connections = options->max_connections,
        .want_summary = options->summary,
    };

    run->pool = worker_pool_new(&config, options->threads, run->listener);
    return run->pool != NULL ? 0 : -1;
}

static int
run_write_start(struct run *run)
{
    struct lane *lane = worker_pool_lane(run->pool);
    char upstream[ADDR_TEXT_MAX];

    addr_format(&run->options->upstream, upstream);
    if (event_start(lane, worker_pool_wall_us(), listener_text(run->listener),
                    upstream) != 0) {
        log_error("out of memory");
        return -1;
    }
    lane_flush(lane);
    log_info("listening on %s for %s", listener_text(run->listener), upstream);
    return 0;
}

static int
run_write_stop(struct run *run)
{
    struct lane *lane = worker_pool_lane(run->pool);
    struct run_totals totals;

    worker_pool_totals(run->pool, &totals);
    if (event_stop(lane, worker_pool_wall_us(), &totals) != 0) {
        log_error("out of memory");
        return -1;
    }
    lane_flush(lane);
    return 0;
}

/* write_to_reader waits for who reads standard error, a pager perhaps, but not
 * after a second signal. */
static void
write_to_reader(const char *text, size_t len)
{
    while (len > 0) {
        ssize_t n = write(STDERR_FILENO, text, len);

        if (n < 0 && errno == EINTR && !is_hurried)
            continue;
        if (n <= 0)
            return;
        text += n;
        len -= (size_t)n;
    }
}

static void
run_print_summary(struct run *run)
{
    const struct summary *summary = worker_pool_summary(run->pool);

    char *text = NULL;
    size_t len = 0;
    FILE *file = summary == NULL ? NULL : open_memstream(&text, &len);

    if (file == NULL)
        return;
    summary_print(summary, file);
    if (run->what_if != NULL)
        what_if_print(run->what_if, file);
    if (fclose(file) == 0)
        write_to_reader(text, len);
    free(text);
}

/* run_close ends what is open.  The pool goes last: until the sink is closed
 * its thread may still call it.  Returns -1 when output was lost. */
static int
run_close(struct run *run)
{
    int result = 0;

    /* The last lines may take a while to write; a rotation or a report asked
     * for meanwhile must not end that. */
    for (int i = 0; i < N_SIGNALS; i++)
        if (run->signals[i] != NULL)
            event_free(run->signals[i]);
    if (run->collect != NULL)
        event_free(run->collect);
    signal(SIGHUP, SIG_IGN);
    signal(SIGUSR1, SIG_IGN);
    if (run->pool != NULL) {
        run_finish_what_if(run);
        lane_flush(worker_pool_lane(run->pool));
    }
    if (run->sink != NULL)
        result = sink_close(run->sink);
    worker_pool_free(run->pool);
    what_if_free(run->what_if);
    listener_free(run->listener);
    return result;
}

/* say_loop goes to standard error like any mistake in the options. */
static void
say_loop(const struct options *options)
{
    char upstream[ADDR_TEXT_MAX];

    addr_format(&options->upstream, upstream);
    log_print("grpctap: --upstream %s is what --listen would listen on: each "
              "connection would open another one", upstream);
}

/* run_listen returns 0, or the exit status. */
static int
run_listen(struct run *run)
{
    const struct options *options = run->options;
    int is_loop = selfloop_would_be(&options->listen, &options->upstream);

    if (!is_loop) {
        run->listener = listener_open(&options->listen);
        if (run->listener == NULL)
            return 1;
        is_loop = selfloop_is(listener_fd(run->listener), &options->upstream);
    }
    if (is_loop)
        say_loop(options);
    return is_loop ? 2 : 0;
}

/* run_all does everything between opening and closing.  Returns the exit
 * status. */
static int
run_all(struct run *run, struct tap_config *tap)
{
    int status = run_listen(run);

    if (status != 0)
        return status;
    if (run_open_sink(run) != 0 ||
        run_open_what_if(run, tap) != 0 || run_make_pool(run, tap) != 0 ||
        run_watch_signals(run) != 0 || run_watch_what_if(run) != 0 ||
        run_write_start(run) != 0)
        return 1;
    if (worker_pool_run(run->pool) != 0)
        return 1;
    run_finish_what_if(run);
    if (run_write_stop(run) != 0)
        return 1;
    run_print_summary(run);
    return 0;
}

static int
proxy_run(const struct options *options)
{
    struct tap_config tap = {
        .events = options->events,
        .max_decoded_bytes = options->max_decoded_bytes,
        .show_secrets = options->show_secrets,
        .redact = options->redact,
        .n_redact = options->n_redact,
    };
    struct run run = {.options = options};

    if (log_setup(options->log_level, options->log_file) != 0) {
        log_error("cannot open %s: %s", options->log_file, strerror(errno));
        return 1;
    }
    ignore_signals();
    raise_descriptors();
    int status = run_all(&run, &tap);
    int lost = run_close(&run);
    return status == 0 && lost != 0 ? 1 : status;
}

int
main(int argc, char **argv)
{
    struct options options;

    secure_stdio();
    enum options_result result = options_command(&argc, &argv);
    if (result == OPTIONS_RUN)
        result = options_parse(&options, argc, argv);
    switch (result) {
    case OPTIONS_RUN:
        return proxy_run(&options);
    case OPTIONS_DONE:
        return 0;
    case OPTIONS_USAGE:
        return 2;
    case OPTIONS_FAILED:
        break;
    }
    return 1;
}
