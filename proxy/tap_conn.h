/* SPDX-License-Identifier: MIT */
/* A tap from the inside: what tap.c, tap_h2.c, call_*.c and event.c share. */
#ifndef TAP_CONN_H
#define TAP_CONN_H

#include <stddef.h>
#include <stdint.h>

#include "../grpcframe/grpcframe.h"
#include "../h1dec/h1dec.h"
#include "../h2dec/h2dec.h"
#include "call.h"
#include "detect.h"
#include "kind.h"
#include "notice.h"
#include "observer.h"
#include "pace.h"
#include "tap.h"
#include "timefmt.h"
#include "tls_hello.h"

/* TAP_TEXT_MAX bounds the header values kept for all open calls of one
 * connection, beyond what each call has inline. */
#define TAP_TEXT_MAX (8u << 20)

/* struct tap_shared is what the taps of one worker share. */
struct tap_shared {
    const struct tap_config *config;
    struct lane *lane;
    struct summary *summary;
    struct grpcframe_pool *pool;
    int64_t wall_offset_us;
    struct tap_counters counters;
    struct call_spares spares;
    /* time is that of the last event. */
    struct time_memo time;
    /* secret_lens is what tap_secret_lens says. */
    uint64_t secret_lens;
};

/* enum tap_mode is where the bytes of a direction go. */
enum tap_mode {
    TAP_DETECTING, /* the first bytes are being looked at */
    TAP_H2,        /* to h2dec */
    TAP_H1,        /* to h1dec */
    TAP_OPAQUE     /* nowhere: they are counted */
};

/* struct tap_dir is one direction. */
struct tap_dir {
    enum tap_mode mode;
    enum speech speech;
    /* first holds the first bytes, first_len of them. */
    uint8_t first[DETECT_MAX];
    uint8_t first_len;
    /* opaque_bytes counts what no decoder has been given. */
    uint64_t opaque_bytes;
    /* body_bytes is the bodies so far, decoded_bytes what came out of those
     * that are compressed: see call_budget.c. */
    uint64_t body_bytes;
    uint64_t decoded_bytes;
};

struct call;

struct tap {
    struct tap_shared *shared;
    /* conn is the number of the connection. */
    uint64_t conn;
    /* client and server are addresses as text; server is NULL until known. */
    char *client;
    char *server;
    uint64_t accepted_us;
    /* connect_us is how long the server took, UINT64_MAX while unknown. */
    uint64_t connect_us;
    /* now_us is the time of the callback under way. */
    uint64_t now_us;
    struct tap_dir dir[2];
    /* h2 and h1 are the decoders; NULL until needed.  Both are there after an
     * upgrade. */
    struct h2dec_conn *h2;
    struct h1dec_conn *h1;
    /* tls reads what a side says in the clear; NULL unless it speaks TLS. */
    struct tls_hello *tls[2];
    /* settings holds the first settings_len bytes of the HTTP2-Settings of the
     * last request that asked for an upgrade; upgraded is the call that got
     * it, until its stream opens. */
    uint8_t settings[6 * H2DEC_SETTINGS_MAX];
    uint8_t settings_len;
    uint8_t is_upgraded;
    struct call *upgraded;
    /* mismatch is 1 while protocol_mismatch waits for more first bytes. */
    uint8_t mismatch;
    /* failed is 1 after the one notice about the tap's own failure. */
    uint8_t failed;
    /* closing is 1 from tap_closed on, for reason. */
    uint8_t closing;
    enum conn_reason reason;
    /* calls counts the calls that have ended. */
    uint64_t calls;
    /* notices counts all, suppressed ones too; told[code] those written. */
    uint64_t notices;
    uint8_t told[NOTICE_CODES];
    /* text_bytes is what the calls hold of TAP_TEXT_MAX. */
    size_t text_bytes;
    /* pace is what the order and the time of frames say; see pace.c. */
    struct pace pace;
};

/* tap_wants returns 1 when events of |kind| are selected: asked for each frame,
 * hence inline. */
static inline int
tap_wants(const struct tap *tap, enum event_kind kind)
{
    return (tap->shared->config->events >> kind & 1u) != 0;
}

/* tap_notice counts |notice| and writes it, unless its code has been written
 * NOTICE_PER_CODE_MAX times on this connection. */
void tap_notice(struct tap *tap, struct notice *notice);

/* ---- tap_secret.c: what is not to be shown ---- */

/* tap_secret_lens returns a set of the lengths that secret names have. */
uint64_t tap_secret_lens(const struct tap_config *config);

/* tap_is_secret returns 1 when values of the header |name| are not to be shown;
 * names compare without regard to case, and host is :authority. */
int tap_is_secret(const struct tap *tap, const char *name, size_t len);

/* tap_is_target_secret is tap_is_secret for a :path or the |target| of a
 * request line, which may hold the authority as well. */
int tap_is_target_secret(const struct tap *tap, const char *target,
                         size_t len);

/* TAP_LINES_MAX holds what tap_show_lines makes of the first bytes. */
#define TAP_LINES_MAX (DETECT_MAX * 8)

/* tap_show_lines writes the first |len| bytes of what |side| says in HTTP/1.x
 * to |text|, with the values that may be shown, and returns how many. */
size_t tap_show_lines(const struct tap *tap, enum side side,
                      const uint8_t *data, size_t len,
                      char text[TAP_LINES_MAX]);

/* tap_start_line writes the start line of |head| likewise, as a string. */
void tap_start_line(const struct tap *tap, const struct h1dec_head *head,
                    char *text, size_t cap);

/* tap_protocol returns the value of `protocol` for the connection. */
const char *tap_protocol(const struct tap *tap);

/* tap_end_call counts |call|, writes what there is to say of its end, and
 * frees it. */
void tap_end_call(struct tap *tap, struct call *call,
                  const struct h2dec_ending *ending);

/* tap_upgrade goes on with HTTP/2, |call| being its stream 1.  Returns 0, or -1
 * when memory is out: the call is the caller's then. */
int tap_upgrade(struct tap *tap, struct call *call);

/* tap_is_lost returns 1 when what |side| sends can no longer be decoded. */
int tap_is_lost(const struct tap *tap, enum side side);

/* ---- tap.c and tap_detect.c between themselves ---- */

#define OUT_OF_MEMORY "out of memory"

/* tap_fail tells once that decoding has stopped for |why|; the limit is one of
 * ours when |is_limit|. */
void tap_fail(struct tap *tap, const char *why, int is_limit);

/* tap_feed sends bytes where those of |from| go. */
void tap_feed(struct tap *tap, enum side from, const uint8_t *data,
              size_t len);

/* tap_detect takes first bytes, one by one, so that a decision rests on the
 * same bytes however they come.  Returns how many were taken. */
size_t tap_detect(struct tap *tap, enum side from, const uint8_t *data,
                  size_t len);

/* tap_detect_end says that no more bytes come from |from|: those held back get
 * their place. */
void tap_detect_end(struct tap *tap, enum side from);

/* tap_h1_callbacks is how h1dec reports to a tap; see tap_h1.c. */
extern const struct h1dec_callbacks tap_h1_callbacks;

/* tap_h2_callbacks is how h2dec reports to a tap; see tap_h2.c. */
extern const struct h2dec_callbacks tap_h2_callbacks;

#endif
