/* SPDX-License-Identifier: MIT */
/*
 * echo_h2: an nghttp2 session on a socket, driven by libevent.  The programs
 * set nghttp2's own callbacks themselves; this part moves the bytes and feeds
 * DATA frames from a queue.
 *
 * A connection dies only in its own event callbacks, never inside a call the
 * program makes: on_gone is the one place where it may be freed.
 */
#ifndef ECHO_H2_H
#define ECHO_H2_H

#include <event2/event.h>
#include <nghttp2/nghttp2.h>
#include <stdbool.h>

#include "echo_buf.h"

struct echo_h2 {
    nghttp2_session *session;  /* owned */
    struct event *read_event;  /* persistent while the socket is open */
    struct event *flush_event; /* socket writable, or activated by _wake */
    struct event *linger;      /* set once the last frame has been sent */
    int fd;                    /* owned */
    struct echo_buf out;       /* bytes of the session not yet sent */

    /*
     * The connection has ended, `why` says how.  Called at most once, from
     * the event loop; may clear and free the connection.
     */
    void (*on_gone)(struct echo_h2 *h2, const char *why);
};

/*
 * echo_h2_init takes over a connected socket and a session and queues the
 * first SETTINGS, with windows large enough for messages of many megabytes.
 * `max_streams` is how many calls the peer may have open; 0 for a client.
 * Returns 0 or -1; also after -1, echo_h2_clear must be called.
 */
int echo_h2_init(struct echo_h2 *h2, struct event_base *base, int fd,
                 nghttp2_session *session, uint32_t max_streams,
                 void (*on_gone)(struct echo_h2 *h2, const char *why));

/* echo_h2_clear closes the socket and frees the session. */
void echo_h2_clear(struct echo_h2 *h2);

/* echo_h2_wake has queued frames sent in this round of the event loop.  Not
 * needed inside nghttp2 callbacks. */
void echo_h2_wake(struct echo_h2 *h2);

/* echo_h2_end queues GOAWAY; the connection is gone when its streams are and
 * the peer has closed, or a second after. */
void echo_h2_end(struct echo_h2 *h2);

/* echo_h2_flush_now tries to send what is queued without the event loop, for
 * the last words of a program that is ending. */
void echo_h2_flush_now(struct echo_h2 *h2);

/* echo_h2_nv makes a header field.  nghttp2 copies both strings. */
nghttp2_nv echo_h2_nv(const char *name, const char *value);
nghttp2_nv echo_h2_nv_buf(const char *name, const struct echo_buf *value);

/* What is to be sent in the DATA frames of one stream. */
struct echo_h2_body {
    struct echo_buf queue; /* bytes waiting for window and frame */
    bool ended;            /* nothing will be added to the queue any more */

    /*
     * The queue holds less than a frame: add more, or leave it.  May be NULL.
     * Called by nghttp2; submitting frames is allowed, sending is not.
     */
    void (*on_low)(struct echo_h2_body *body);

    /*
     * The last byte has been framed.  NULL: the stream ends with it; else
     * trailers follow, and this is the place to submit them.
     */
    void (*on_drained)(struct echo_h2_body *body);
};

/* echo_h2_body_provider is what nghttp2_submit_request and _response take; it
 * points to `body`, which must outlive the stream. */
nghttp2_data_provider echo_h2_body_provider(struct echo_h2_body *body);

/* echo_h2_body_resume tells nghttp2 that the body of a stream has changed. */
void echo_h2_body_resume(struct echo_h2 *h2, int32_t stream_id);

#endif
