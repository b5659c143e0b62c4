/* SPDX-License-Identifier: MIT */
/*
 * Owns the tap of a connection: its birth and end, and the feeding of the
 * decoders.  Which one it is, is tap_detect.c's, what they report goes to
 * tap_h1.c and tap_h2.c.
 */
#include "tap.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "event.h"
#include "tap_conn.h"

/* ---- What a worker shares -------------------------------------------- */

struct tap_shared *
tap_shared_new(const struct tap_config *config, struct lane *lane,
               struct summary *summary, int64_t wall_offset_us)
{
    struct tap_shared *shared = calloc(1, sizeof(*shared));

    if (shared == NULL) {
        return NULL;
    }
    if (grpcframe_pool_new(&shared->pool, GRPCFRAME_POOL_DEFAULT_BYTES) != 0) {
        free(shared);
        return NULL;
    }
    shared->config = config;
    shared->secret_lens = tap_secret_lens(config);
    shared->lane = lane;
    shared->summary = summary;
    shared->wall_offset_us = wall_offset_us;
    return shared;
}

void
tap_shared_free(struct tap_shared *shared)
{
    if (shared == NULL) {
        return;
    }
    grpcframe_pool_free(shared->pool);
    call_spares_free(&shared->spares);
    free(shared);
}

void
tap_shared_set_wall(struct tap_shared *shared, int64_t wall_offset_us)
{
    shared->wall_offset_us = wall_offset_us;
}

struct tap_counters
tap_shared_counters(const struct tap_shared *shared)
{
    return shared->counters;
}

/* ---- Birth ----------------------------------------------------------- */

struct tap *
tap_new(struct tap_shared *shared, uint64_t conn, const char *client,
        uint64_t now_us)
{
    struct tap *tap = calloc(1, sizeof(*tap));

    if (tap == NULL) {
        return NULL;
    }
    tap->client = strdup(client);
    if (tap->client == NULL) {
        free(tap);
        return NULL;
    }
    tap->shared = shared;
    tap->conn = conn;
    tap->accepted_us = now_us;
    tap->now_us = now_us;
    tap->connect_us = UINT64_MAX;
    shared->counters.connections++;
    return tap;
}

static void
tls_free(struct tls_hello *hello)
{
    if (hello != NULL) {
        tls_hello_clear(hello);
        free(hello);
    }
}

static void
tap_free(struct tap *tap)
{
    h2dec_conn_free(tap->h2);
    h1dec_conn_free(tap->h1);
    tls_free(tap->tls[SIDE_CLIENT]);
    tls_free(tap->tls[SIDE_SERVER]);
    free(tap->client);
    free(tap->server);
    free(tap);
}

static void
tap_opened(void *user, const char *server, uint64_t connect_us,
           uint64_t now_us)
{
    struct tap *tap = user;

    tap->now_us = now_us;
    tap->connect_us = connect_us;
    tap->server = strdup(server); /* shown as null when memory is out */
    event_connection_open(tap);
}

/* ---- Notices --------------------------------------------------------- */

void
tap_notice(struct tap *tap, struct notice *notice)
{
    static const char last[] = " (further notices of this code are only "
                               "counted on this connection)";

    tap->notices++;
    tap->shared->counters.notices++;
    if (tap->told[notice->code] == NOTICE_PER_CODE_MAX) {
        return;
    }
    tap->told[notice->code]++;
    if (tap->told[notice->code] == NOTICE_PER_CODE_MAX) {
        size_t len = strlen(notice->detail);

        if (len > NOTICE_DETAIL_MAX - sizeof(last)) {
            len = NOTICE_DETAIL_MAX - sizeof(last);
        }
        memcpy(notice->detail + len, last, sizeof(last));
    }
    event_notice(tap, notice);
}

/* ---- Where the bytes go ---------------------------------------------- */

int
tap_is_lost(const struct tap *tap, enum side side)
{
    switch (tap->dir[side].mode) {
    case TAP_H2:
        return h2dec_conn_is_lost(tap->h2, (enum h2dec_side)side);
    case TAP_H1:
        return h1dec_conn_is_lost(tap->h1, (enum h1dec_side)side);
    case TAP_DETECTING:
    case TAP_OPAQUE:
        break;
    }
    return 0;
}

void
tap_end_call(struct tap *tap, struct call *call,
             const struct h2dec_ending *ending)
{
    tap->calls++;
    tap->shared->counters.calls++;
    call_end(call, ending, tap->now_us);
    call_free(call);
}

void
tap_fail(struct tap *tap, const char *why, int is_limit)
{
    struct notice notice;

    if (tap->failed) {
        return;
    }
    tap->failed = 1;
    notice_init(&notice, is_limit ? NOTICE_TAP_LIMIT : NOTICE_TAP_FAILED,
                SIDE_CLIENT, 0);
    notice.has_from = 0;
    notice_detail(&notice,
                  "decoding of this connection stopped: %s; its bytes are "
                  "still relayed, and counted as undecoded",
                  why);
    tap_notice(tap, &notice);
}

/* Our callbacks fail for want of memory only. */
static void
feed_h2(struct tap *tap, enum side from, const uint8_t *data, size_t len)
{
    int rv = h2dec_conn_feed(tap->h2, (enum h2dec_side)from, data, len,
                             tap->now_us);

    if (rv != 0) {
        tap_fail(tap,
                 rv == H2DEC_ERR_CALLBACK ? OUT_OF_MEMORY
                                          : h2dec_strerror(rv),
                 rv == H2DEC_ERR_STREAMS);
    }
}

/* Returns how many bytes were HTTP/1.x's: the rest is what the connection was
 * handed over to. */
static size_t
feed_h1(struct tap *tap, enum side from, const uint8_t *data, size_t len)
{
    size_t used = 0;
    int rv = h1dec_conn_feed(tap->h1, (enum h1dec_side)from, data, len, &used,
                             tap->now_us);

    if (rv != 0) {
        tap_fail(tap,
                 rv == H1DEC_ERR_CALLBACK ? OUT_OF_MEMORY
                                          : h1dec_strerror(rv),
                 rv == H1DEC_ERR_EXCHANGES);
    }
    return used;
}

void
tap_feed(struct tap *tap, enum side from, const uint8_t *data, size_t len)
{
    struct tap_dir *dir = &tap->dir[from];

    if (dir->mode == TAP_H1) {
        size_t used = feed_h1(tap, from, data, len);

        if (used == len) {
            return;
        }
        dir->mode = tap->is_upgraded && tap->h2 != NULL ? TAP_H2 : TAP_OPAQUE;
        data += used;
        len -= used;
    }
    if (dir->mode == TAP_H2) {
        feed_h2(tap, from, data, len);
        return;
    }
    dir->opaque_bytes += len;
    if (tap->tls[from] != NULL) {
        tls_hello_feed(tap->tls[from], data, len);
    }
}

int
tap_upgrade(struct tap *tap, struct call *call)
{
    struct h2dec_upgrade upgrade = {
        .settings = tap->settings,
        .settings_len = tap->settings_len,
        .offset = {h1dec_conn_books(tap->h1, H1DEC_CLIENT)->bytes,
                   h1dec_conn_books(tap->h1, H1DEC_SERVER)->bytes},
        .opened_us = call->started_us,
    };

    if (h2dec_conn_new(&tap->h2, &tap_h2_callbacks, tap) != 0) {
        tap_fail(tap, OUT_OF_MEMORY, 0);
        return -1;
    }
    tap->upgraded = call;
    if (h2dec_conn_upgrade(tap->h2, &upgrade) == 0) {
        return 0;
    }
    tap_fail(tap, OUT_OF_MEMORY, 0);
    if (tap->upgraded == NULL) {
        return 0; /* the stream has it, and will end it */
    }
    tap->upgraded = NULL;
    return -1;
}

static void
tap_bytes(void *user, enum side from, const uint8_t *data, size_t len,
          uint64_t now_us)
{
    struct tap *tap = user;

    tap->now_us = now_us;
    tap->shared->counters.bytes[from] += len;
    if (tap->dir[from].first_len < DETECT_MAX) {
        size_t used = tap_detect(tap, from, data, len);

        data += used;
        len -= used;
    }
    if (len > 0) {
        tap_feed(tap, from, data, len);
    }
}

/* ---- The end --------------------------------------------------------- */

static void
tap_eof(void *user, enum side from, uint64_t now_us)
{
    struct tap *tap = user;

    tap->now_us = now_us;
    tap_detect_end(tap, from);
    if (tap->h2 != NULL) {
        h2dec_conn_finish(tap->h2, (enum h2dec_side)from);
    }
    if (tap->h1 != NULL) {
        h1dec_conn_finish(tap->h1, (enum h1dec_side)from);
    }
}

/* Only a FIN completes a response that lasts until the end; a reset, a timeout
 * or our own stop cuts what is under way. */
static void
close_h1(struct tap *tap)
{
    if (tap->reason != CONN_CLIENT_CLOSED &&
        tap->reason != CONN_SERVER_CLOSED) {
        h1dec_conn_abandon(tap->h1, H1DEC_CLIENT);
        h1dec_conn_abandon(tap->h1, H1DEC_SERVER);
    }
    h1dec_conn_close(tap->h1);
}

static void
tap_closed(void *user, enum conn_reason reason, const char *error,
           uint64_t now_us)
{
    struct tap *tap = user;

    tap->now_us = now_us;
    tap->closing = 1;
    tap->reason = reason;
    tap_detect_end(tap, SIDE_CLIENT);
    tap_detect_end(tap, SIDE_SERVER);
    if (tap->h2 != NULL) {
        h2dec_conn_close(tap->h2);
    }
    if (tap->h1 != NULL) {
        close_h1(tap);
    }
    pace_close(tap);
    event_connection_close(tap, error);
    tap_free(tap);
}

const struct observer tap_observer = {
    .opened = tap_opened,
    .bytes = tap_bytes,
    .eof = tap_eof,
    .closed = tap_closed,
};
