/* SPDX-License-Identifier: MIT */
/* Owns what each side of a connection speaks, by its first bytes: which decoder
 * its bytes go to, and whether the two go together.  Feeding is tap.c's. */
#include <stdlib.h>
#include <string.h>

#include "tap_conn.h"

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

/* What may be shown of the first bytes of |side|; |lines| is memory for it. */
static const char *
first_bytes(const struct tap *tap, enum side side, char lines[TAP_LINES_MAX],
            size_t *len)
{
    const struct tap_dir *dir = &tap->dir[side];

    if (dir->speech == SPEECH_HTTP1) {
        *len = tap_show_lines(tap, side, dir->first, dir->first_len, lines);
        return lines;
    }
    *len = dir->first_len;
    return (const char *)dir->first;
}

static void
tell_mismatch(struct tap *tap)
{
    const struct tap_dir *client = &tap->dir[SIDE_CLIENT];
    const struct tap_dir *server = &tap->dir[SIDE_SERVER];
    char lines[TAP_LINES_MAX];
    char more_lines[TAP_LINES_MAX];
    struct notice notice;
    const char *text;
    size_t len;

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
    text = first_bytes(tap, SIDE_CLIENT, lines, &len);
    notice_text(&notice, "client_first_bytes", text, len);
    text = first_bytes(tap, SIDE_SERVER, more_lines, &len);
    notice_text(&notice, "server_first_bytes", text, len);
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
    if (side == SIDE_SERVER && other->speech == SPEECH_HTTP1 &&
        speech == SPEECH_OTHER) {
        tap->mismatch = 1; /* it is an answer, and none of HTTP */
    } else if (other->speech != SPEECH_OPEN) {
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
size_t
tap_detect(struct tap *tap, enum side from, const uint8_t *data, size_t len)
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
        /* Within the loop: with what was there when it became known. */
        if (tap->dir[SIDE_SERVER].first_len == DETECT_MAX) {
            tell_mismatch(tap);
        }
    }
    return used;
}

/* No more bytes come: those held back get their place. */
void
tap_detect_end(struct tap *tap, enum side from)
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
