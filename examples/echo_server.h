/* SPDX-License-Identifier: MIT */
/*
 * echo_server: what the files of the server share.  One `server` has many
 * `conn`, one `conn` has many `call`; each is freed by its owner.
 */
#ifndef ECHO_SERVER_H
#define ECHO_SERVER_H

#include <stdbool.h>
#include <sys/queue.h>

#include "echo_codec.h"
#include "echo_grpc.h"
#include "echo_h2.h"
#include "echo_message.h"

LIST_HEAD(call_list, call);
LIST_HEAD(conn_list, conn);

struct server {
    struct event_base *base; /* the one event loop */
    struct conn_list conns;  /* open connections */
    struct echo_buf scratch; /* a response before compression */
    bool has_codec;          /* --encoding was given ... */
    enum echo_codec codec;   /* ... and this is it */
};

struct conn {
    struct echo_h2 h2;      /* first: on_gone casts it back */
    struct server *server;  /* not owned */
    struct call_list calls; /* open streams */
    LIST_ENTRY(conn) link;  /* in server.conns */
};

struct call {
    struct echo_h2_body body; /* first: its callbacks cast it back */
    struct conn *conn;        /* not owned */
    int32_t stream_id;        /* HTTP/2 stream */
    LIST_ENTRY(call) link;    /* in conn.calls */

    /* From the request headers. */
    bool is_post;             /* :method is POST */
    bool is_grpc;             /* content-type is application/grpc */
    bool is_known_path;       /* :path is a method of ours, `kind` says which */
    bool is_known_encoding;   /* grpc-encoding is one of ours, or absent */
    enum echo_kind kind;      /* which method */
    enum echo_codec codec;    /* grpc-encoding of the request */
    unsigned accepted_codecs; /* grpc-accept-encoding, 1 << codec */

    /* The request messages. */
    struct echo_buf in;          /* DATA not yet taken as messages */
    size_t held;                 /* DATA bytes not yet given back as window */
    struct echo_buf message;     /* the message `request` points into */
    struct echo_request request; /* the latest one */
    uint64_t n_requests;         /* messages taken */
    uint64_t total;              /* ClientStream: payload bytes so far */
    bool is_half_closed;         /* the client has sent END_STREAM */

    /* The answer. */
    struct event *timer;            /* delay_ms; NULL when never used */
    bool is_waiting;                /* the timer runs; nothing else happens */
    bool is_streaming;              /* ServerStream: responses are being made */
    uint32_t n_remaining;           /* ServerStream: how many are left */
    bool has_headers;               /* response headers are submitted */
    bool has_ended;                 /* the status is decided */
    enum echo_codec response_codec; /* valid with has_headers */
    uint32_t status;                /* grpc-status, valid with has_ended */
    struct echo_buf status_text;    /* grpc-message, percent-encoded */
};

/* echo_server_conn.c: takes over the socket; closes it when out of memory. */
void conn_open(struct server *server, int fd);
void conn_close(struct conn *conn);

/* echo_server_call.c.  None of these sends: they queue frames in the session.
 * call_new returns NULL when out of memory. */
struct call *call_new(struct conn *conn, int32_t stream_id);
void call_free(struct call *call);

/* call_header takes one request header field, call_start ends the block. */
void call_header(struct call *call, struct echo_bytes name,
                 struct echo_bytes value);
void call_start(struct call *call);

/* call_data takes DATA payload; call_advance acts on what has come in. */
void call_data(struct call *call, const uint8_t *data, size_t len);
void call_advance(struct call *call);

#endif
