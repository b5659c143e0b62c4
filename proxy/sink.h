/* SPDX-License-Identifier: MIT */
/*
 * The sink writes JSON lines to a file or a pipe from a thread of its own, so
 * that a slow reader or disk never stalls the relay.  Lanes hand it whole
 * lines; between the two stands a queue bounded by SINK_QUEUE_MAX.
 *
 * When a regular file cannot be written (a full disk), the lines wait in the
 * queue and the write is tried again every SINK_RETRY_MS; the lanes drop what
 * no longer fits.  Any other output that fails is gone for good, and so is a
 * file on which not even the first write worked: on_broken.
 *
 * Never half a line: see output.h.
 *
 * Memory: a block changes hands with sink_put and is then the sink's.
 */
#ifndef SINK_H
#define SINK_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* SINK_WAKE is how much may wait before the thread is woken unasked: each time
 * costs as much as some ten lines do. */
#define SINK_WAKE (256u << 10)

/* SINK_QUEUE_MAX bounds the lines that wait to be written: a minute of a busy
 * port for a reader that pauses, and a size any machine has to spare. */
#define SINK_QUEUE_MAX (64u << 20)

/* SINK_RETRY_MS is how long a full disk is left alone. */
#define SINK_RETRY_MS 1000

/* SINK_PATIENCE_MS is how long sink_close waits for a reader that takes
 * nothing: long enough for one that was busy, short enough for a user who
 * wants his prompt back. */
#define SINK_PATIENCE_MS 5000

struct sink;

/* struct sink_config says where the lines go. */
struct sink_config {
    /* path is the file to append to; NULL: standard output. */
    const char *path;
    /* lossless: the sink reports fullness but lanes never drop. */
    int lossless;
    /* queue_max bounds the queue in bytes; 0: SINK_QUEUE_MAX. */
    size_t queue_max;
    /* on_room (may be NULL) is called from the sink's thread when a full
     * queue has drained to half. */
    void (*on_room)(void *user);
    /* on_broken (may be NULL) is called once from the sink's thread when
     * nothing can be written any more; the reason has been logged. */
    void (*on_broken)(void *user);
    /* user is given to the callbacks; none is called after sink_close. */
    void *user;
    /* hurry (may be NULL) is set to 1, by the handler of a signal perhaps, for
     * a sink_close under way, or the next one, to give up what cannot be
     * written at once.  It outlives the sink. */
    const atomic_int *hurry;
};

/* sink_open opens the output and starts the thread.  Returns NULL after
 * logging why. */
struct sink *sink_open(const struct sink_config *config);

/*
 * sink_put queues |len| bytes of whole lines at the start of |block| (of
 * queue_block_grow), and returns the empty block to go on with (its size in
 * |*cap|) or NULL for none at hand.  All that is queued is written now if
 * |wake| is 1 (|len| may be 0 then), otherwise once there are SINK_WAKE bytes.
 * It takes no time to speak of and cannot fail.  Thread-safe.
 */
char *sink_put(struct sink *sink, char *block, size_t len, size_t *cap,
               int wake);

/* sink_is_full returns 1 from the moment the queue holds its maximum until it
 * has drained to half: so drops come in few long runs, each reported once.
 * Thread-safe, lock-free. */
int sink_is_full(const struct sink *sink);

/* sink_is_lossless returns the configured mode. */
int sink_is_lossless(const struct sink *sink);

/* sink_queued returns how many bytes wait.  Thread-safe. */
size_t sink_queued(struct sink *sink);

/* sink_fill returns |queued| bytes as percent of what may wait; above 100 when
 * lines were queued that are never dropped. */
unsigned sink_fill(struct sink *sink, size_t queued);

/* sink_lift_bound makes the queue take whatever comes: at the end of a run,
 * when there is no more traffic, the events of what was open must not be
 * dropped, and they are no more than the memory of what was open. */
void sink_lift_bound(struct sink *sink);

/* sink_reopen asks for the file to be closed and opened anew (log rotation):
 * done by the thread between two lines.  When that fails the old file stays.
 * No-op on standard output. */
void sink_reopen(struct sink *sink);

/* sink_close writes what is queued, waiting as long as the reader makes
 * progress, and frees |sink|.  Returns 0, or -1 when anything was lost or a
 * write had failed during the run. */
int sink_close(struct sink *sink);

#endif
