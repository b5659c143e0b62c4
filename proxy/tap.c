/* SPDX-License-Identifier: MIT */
/*
 * Owns the tap of a connection: its birth and end, what each side speaks, and
 * where its bytes go.  HTTP/2 is followed in tap_h2.c.
 */
#include "tap.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

int
tap_wants(const struct tap *tap, enum event_kind kind)
{
    return (tap->shared->config->events >> kind & 1u) != 0;
}

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

int
tap_is_secret(const struct tap *tap, const char *name, size_t len)
{
    static const char *const secrets[] = {"authorization", "cookie",
                                          "set-cookie",
                                          "proxy-authorization"};
    const struct tap_config *config = tap->shared->config;

    if (config->show_secrets) {
        return 0;
    }
    for (size_t i = 0; i < sizeof(secrets) / sizeof(secrets[0]); i++) {
        if (strlen(secrets[i]) == len &&
            strncasecmp(secrets[i], name, len) == 0) {
            return 1;
        }
    }
    for (unsigned i = 0; i < config->n_redact; i++) {
        if (strlen(config->redact[i]) == len &&
            strncasecmp(config->redact[i], name, len) == 0) {
            return 1;
        }
    }
    return 0;
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

/* Decoding has stopped for |why|; the limit is one of ours when |is_limit|. */
static void
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

#define OUT_OF_MEMORY "out of memory"

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

static void
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

/* Sends a direction to h2dec, or nowhere where memory is out. */
static void
tap_to_h2(struct tap *tap, enum side side)
{
    if (tap->failed) {
        tap->dir[side].mode = TAP_OPAQUE;
        return;
    }
    if (tap->h2 == NULL &&
        h2dec_conn_new(&tap->h2, &tap_h2_callbacks, tap) != 0) {
        tap->dir[side].mode = TAP_OPAQUE;
        tap_fail(tap, OUT_OF_MEMORY, 0);
        return;
    }
    tap->dir[side].mode = TAP_H2;
}

static void
tap_to_h1(struct tap *tap, enum side side)
{
    if (tap->failed) {
        tap->dir[side].mode = TAP_OPAQUE;
        return;
    }
    if (tap->h1 == NULL &&
        h1dec_conn_new(&tap->h1, &tap_h1_callbacks, tap) != 0) {
        tap->dir[side].mode = TAP_OPAQUE;
        tap_fail(tap, OUT_OF_MEMORY, 0);
        return;
    }
    tap->dir[side].mode = TAP_H1;
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

/* Begins to read a side's TLS hello; without memory it is only counted. */
static void
tap_to_tls(struct tap *tap, enum side side)
{
    tap->dir[side].mode = TAP_OPAQUE;
    tap->tls[side] = malloc(sizeof(*tap->tls[side]));
    if (tap->tls[side] != NULL) {
        tls_hello_init(tap->tls[side], side);
    }
}

static void
tell_joined(struct tap *tap)
{
    struct notice notice;

    if (tap->h2 == NULL) {
        return;
    }
    h2dec_conn_join(tap->h2);
    notice_init(&notice, NOTICE_JOINED_MID_CONNECTION, SIDE_CLIENT, 0);
    notice.has_from = 0;
    notice_detail(&notice, "no preface was seen: the connection is watched "
                           "from its middle, and header fields that refer "
                           "to what came before are unknown");
    tap_notice(tap, &notice);
}

static int
is_h2(enum speech speech)
{
    return speech == SPEECH_H2_PREFACE || speech == SPEECH_H2_FRAME;
}

/* Whether what the two sides speak does not go together, for certain: an
 * unknown protocol may look like anything. */
static int
is_mismatch(enum speech client, enum speech server)
{
    if (client == SPEECH_H2_PREFACE) {
        return !is_h2(server);
    }
    if (client == SPEECH_HTTP1) {
        return is_h2(server) || server == SPEECH_TLS;
    }
    if (client == SPEECH_TLS) {
        return is_h2(server) || server == SPEECH_HTTP1;
    }
    return 0;
}

/* What a client that speaks TLS wanted, as far as it could be read. */
static void
add_hello(struct notice *notice, const struct tls_hello *hello)
{
    const struct tls_hello_facts *facts;

    if (hello == NULL || !hello->has_hello) {
        notice_text(notice, "sni", NULL, 0);
        return;
    }
    facts = &hello->facts;
    notice_text(notice, "sni",
                facts->has_sni ? (const char *)facts->sni.data : NULL,
                facts->sni.len);
}

static void
tell_mismatch(struct tap *tap)
{
    const struct tap_dir *client = &tap->dir[SIDE_CLIENT];
    const struct tap_dir *server = &tap->dir[SIDE_SERVER];
    struct notice notice;

    if (!tap->mismatch) {
        return;
    }
    tap->mismatch = 0;
    /* A client that speaks TLS to a plaintext port is the one that is wrong
     * there; otherwise it is who answers. */
    notice_init(&notice, NOTICE_PROTOCOL_MISMATCH,
                client->speech == SPEECH_TLS ? SIDE_CLIENT : SIDE_SERVER, 0);
    notice_detail(&notice, "the client speaks %s, the server answers with %s",
                  detect_name(client->speech), detect_name(server->speech));
    notice_text(&notice, "client_protocol", detect_name(client->speech),
                strlen(detect_name(client->speech)));
    notice_text(&notice, "server_protocol", detect_name(server->speech),
                strlen(detect_name(server->speech)));
    notice_text(&notice, "client_first_bytes", (const char *)client->first,
                client->first_len);
    notice_text(&notice, "server_first_bytes", (const char *)server->first,
                server->first_len);
    add_hello(&notice, tap->tls[SIDE_CLIENT]);
    tap_notice(tap, &notice);
}

/* What |side| speaks is known: chooses where its bytes go. */
static void
decide(struct tap *tap, enum side side, enum speech speech)
{
    struct tap_dir *dir = &tap->dir[side];
    struct tap_dir *other = &tap->dir[side_other(side)];

    dir->speech = speech;
    if (other->speech != SPEECH_OPEN) {
        tap->mismatch = is_mismatch(tap->dir[SIDE_CLIENT].speech,
                                    tap->dir[SIDE_SERVER].speech) != 0;
    }
    /* A server may speak first; what it seems to speak holds until the
     * client, whose preface is unmistakable, says otherwise. */
    if (is_h2(speech) &&
        (other->speech == SPEECH_OPEN || is_h2(other->speech) ||
         speech == SPEECH_H2_PREFACE)) {
        tap_to_h2(tap, side);
    } else if (speech == SPEECH_HTTP1 &&
               (other->speech == SPEECH_OPEN ||
                other->speech == SPEECH_HTTP1)) {
        tap_to_h1(tap, side);
    } else if (speech == SPEECH_TLS) {
        tap_to_tls(tap, side);
    } else {
        dir->mode = TAP_OPAQUE;
    }
    if (side == SIDE_CLIENT && speech == SPEECH_H2_FRAME) {
        tell_joined(tap);
    }
    if (side == SIDE_CLIENT && !is_h2(speech) && other->mode == TAP_H2) {
        h2dec_conn_abandon(tap->h2, H2DEC_SERVER);
    }
}

/* Takes first bytes one by one, so that a decision rests on the same bytes
 * however they come.  Returns how many were taken. */
static size_t
detect(struct tap *tap, enum side from, const uint8_t *data, size_t len)
{
    struct tap_dir *dir = &tap->dir[from];
    size_t used = 0;

    while (used < len && dir->first_len < DETECT_MAX) {
        dir->first[dir->first_len++] = data[used++];
        if (dir->mode == TAP_DETECTING) {
            enum speech speech =
                detect_speech(from, dir->first, dir->first_len, 0);

            if (speech != SPEECH_OPEN) {
                decide(tap, from, speech);
                tap_feed(tap, from, dir->first, dir->first_len);
            }
        } else {
            tap_feed(tap, from, &data[used - 1], 1);
        }
    }
    if (tap->dir[SIDE_SERVER].first_len == DETECT_MAX) {
        tell_mismatch(tap);
    }
    return used;
}

static void
tap_bytes(void *user, enum side from, const uint8_t *data, size_t len,
          uint64_t now_us)
{
    struct tap *tap = user;

    tap->now_us = now_us;
    tap->shared->counters.bytes[from] += len;
    if (tap->dir[from].first_len < DETECT_MAX) {
        size_t used = detect(tap, from, data, len);

        data += used;
        len -= used;
    }
    if (len > 0) {
        tap_feed(tap, from, data, len);
    }
}

/* ---- The end --------------------------------------------------------- */

/* No more bytes come: those held back get their place. */
static void
settle(struct tap *tap, enum side from)
{
    struct tap_dir *dir = &tap->dir[from];

    if (dir->mode == TAP_DETECTING && dir->first_len > 0) {
        enum speech speech =
            detect_speech(from, dir->first, dir->first_len, 1);

        /* A frame header that broke off is still HTTP/2's. */
        dir->mode = from == SIDE_SERVER && tap->h2 != NULL ? TAP_H2
                                                           : TAP_OPAQUE;
        if (dir->mode == TAP_OPAQUE) {
            dir->speech = speech;
        }
        tap_feed(tap, from, dir->first, dir->first_len);
    }
    if (from == SIDE_SERVER) {
        tell_mismatch(tap);
    }
}

static void
tap_eof(void *user, enum side from, uint64_t now_us)
{
    struct tap *tap = user;

    tap->now_us = now_us;
    settle(tap, from);
    if (tap->h2 != NULL) {
        h2dec_conn_finish(tap->h2, (enum h2dec_side)from);
    }
    if (tap->h1 != NULL) {
        h1dec_conn_finish(tap->h1, (enum h1dec_side)from, now_us);
    }
}

const char *
tap_protocol(const struct tap *tap)
{
    enum speech speech = tap->dir[SIDE_CLIENT].speech;

    if (tap->is_upgraded) {
        return "h2";
    }
    if (speech == SPEECH_OPEN) {
        speech = tap->dir[SIDE_SERVER].speech;
    }
    switch (speech) {
    case SPEECH_H2_PREFACE:
    case SPEECH_H2_FRAME:
        return "h2";
    case SPEECH_HTTP1:
        return "http/1.1";
    case SPEECH_TLS:
        return "tls";
    case SPEECH_OPEN:
    case SPEECH_OTHER:
        break;
    }
    return "unknown";
}

/* Only a FIN completes a response that lasts until the end; a reset, a timeout
 * or our own stop cuts what is under way. */
static void
close_h1(struct tap *tap, uint64_t now_us)
{
    if (tap->reason != CONN_CLIENT_CLOSED &&
        tap->reason != CONN_SERVER_CLOSED) {
        h1dec_conn_abandon(tap->h1, H1DEC_CLIENT);
        h1dec_conn_abandon(tap->h1, H1DEC_SERVER);
    }
    h1dec_conn_close(tap->h1, now_us);
}

static void
tap_closed(void *user, enum conn_reason reason, const char *error,
           uint64_t now_us)
{
    struct tap *tap = user;

    tap->now_us = now_us;
    tap->closing = 1;
    tap->reason = reason;
    settle(tap, SIDE_CLIENT);
    settle(tap, SIDE_SERVER);
    if (tap->h2 != NULL) {
        h2dec_conn_close(tap->h2);
    }
    if (tap->h1 != NULL) {
        close_h1(tap, now_us);
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
