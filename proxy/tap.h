/* SPDX-License-Identifier: MIT */
/*
 * A tap watches one connection: bytes in, events out.  It is an observer (see
 * observer.h) that feeds h2dec and grpcframe and writes what they find
 * through event.h.  It does no I/O and reads no clock.
 *
 * Whatever goes wrong inside ends in one notice; from there on the tap only
 * counts bytes.
 */
#ifndef TAP_H
#define TAP_H

#include <stdint.h>

#include "observer.h"

struct tap;
struct lane;
struct summary;
struct tap_shared;
struct what_if;

/* TAP_REDACTED is written in place of a value. */
#define TAP_REDACTED "[redacted]"

/* struct tap_config is the same for all connections of a run and outlives
 * them. */
struct tap_config {
    /* events selects what is written: bit 1 << enum event_kind. */
    unsigned events;
    /* max_decoded_bytes is --max-decoded-bytes; 0: no ceiling. */
    uint64_t max_decoded_bytes;
    /* show_secrets is --show-secrets. */
    int show_secrets;
    /* redact lists further header names (lower case) to redact. */
    const char *const *redact;
    /* n_redact is the number of names in redact. */
    unsigned n_redact;
    /* what_if is given what messages hold; NULL without --what-if. */
    struct what_if *what_if;
};

/* tap_observer is the table by which a relay calls a tap. */
extern const struct observer tap_observer;

/*
 * tap_shared_new makes what the taps of one worker share: decoders, spare
 * memory, the |lane| they write to, the |summary| they add to (may be NULL).
 * |wall_offset_us| plus a monotonic time is UTC since 1970.  NULL: memory.
 */
struct tap_shared *tap_shared_new(const struct tap_config *config,
                                  struct lane *lane, struct summary *summary,
                                  int64_t wall_offset_us);

/* tap_shared_free frees |shared|; all its taps must have been closed. */
void tap_shared_free(struct tap_shared *shared);

/* tap_shared_set_wall corrects the wall clock after a step. */
void tap_shared_set_wall(struct tap_shared *shared, int64_t wall_offset_us);

/* tap_new makes a tap for the connection |conn| from |client| (its address
 * as text), accepted at |now_us|.  NULL: memory. */
struct tap *tap_new(struct tap_shared *shared, uint64_t conn,
                    const char *client, uint64_t now_us);

/* struct tap_counters are live figures of a worker, for SIGUSR1. */
struct tap_counters {
    uint64_t connections;
    uint64_t calls;
    uint64_t messages;
    uint64_t notices;
    uint64_t bytes[2];
};

/* tap_shared_counters returns the totals of the taps of |shared| so far. */
struct tap_counters tap_shared_counters(const struct tap_shared *shared);

#endif
