/* SPDX-License-Identifier: MIT */
/*
 * echo_client: what the files of the client share.  One `client` has a fixed
 * array of `conn`, each of which has a changing list of `call`.
 */
#ifndef ECHO_CLIENT_H
#define ECHO_CLIENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "echo_addr.h"
#include "echo_codec.h"
#include "echo_grpc.h"
#include "echo_h2.h"
#include "echo_message.h"

/* The first bytes of a payload tell messages apart. */
#define STAMP_LEN 8u

enum payload_text { PAYLOAD_JSON, PAYLOAD_RANDOM, PAYLOAD_ZEROS };

struct options {
    enum echo_kind kind;           /* --kind */
    const char *path;              /* --path, or the path of `kind` */
    enum echo_codec codec;         /* --encoding */
    const char *label;             /* --label-encoding; NULL: name of `codec` */
    const char *accept;            /* --accept-encoding */
    const char *response_encoding; /* --response-encoding or NULL */
    size_t size;                   /* --size: payload bytes of a message */
    uint32_t count;                /* --count: messages of a streaming call */
    uint64_t n_calls;              /* --calls */
    uint32_t n_in_flight;          /* --in-flight, over all connections */
    uint32_t n_connections;        /* --connections */
    enum payload_text text;        /* --text */
    uint32_t delay_ms;             /* --delay-ms */
    uint32_t status;               /* --status */
    const char *message;           /* --message or NULL */
    uint32_t deadline_ms;          /* --deadline-ms; 0: none */
    bool is_cancelling;            /* --cancel-after was given ... */
    uint32_t cancel_after;         /* ... after so many responses */
    uint32_t interval_ms;          /* --interval-ms */
    bool is_pipelined;             /* --pipeline */
    int expect;                    /* --expect, or derived from the others */
    bool is_quiet;                 /* --quiet */
    bool is_json;                  /* --json */
    const char *target;            /* TARGET as given */
    struct echo_addr addr;         /* TARGET parsed */
};

LIST_HEAD(call_list, call);

struct client {
    struct options options;  /* not changed after parsing */
    struct event_base *base; /* the one event loop */
    struct conn *conns;      /* options.n_connections of them */
    uint32_t next_conn;      /* where the next call is tried first */
    uint8_t *payload;        /* options.size bytes; the stamp changes */
    struct echo_buf scratch; /* a request before compression */
    uint64_t n_started;      /* calls begun */
    uint64_t n_finished;     /* calls ended, as asked or not */
    uint64_t n_failed;       /* calls that did not end as asked */
    uint64_t n_bytes;        /* payload bytes sent and received */
    double finished_at;      /* when the latest call ended, in seconds */
};

struct conn {
    struct echo_h2 h2;      /* first: on_gone casts it back */
    struct client *client;  /* not owned */
    struct call_list calls; /* open streams */
    bool is_open;           /* h2 is alive */
    bool is_usable;         /* takes new calls */
};

struct call {
    struct echo_h2_body body; /* first: its callbacks cast it back */
    struct conn *conn;        /* not owned */
    LIST_ENTRY(call) link;    /* in conn.calls */
    int32_t stream_id;        /* HTTP/2 stream */
    uint64_t index;           /* from 0, in the order they were begun */

    uint32_t n_requests;    /* messages this call is to send */
    uint32_t n_sent;        /* messages queued so far */
    uint32_t n_received;    /* messages taken so far */
    bool is_pausing;        /* --interval-ms runs */
    struct event *pause;    /* its timer, NULL when never used */
    struct event *deadline; /* the timer of --deadline-ms, or NULL */
    bool has_ended;         /* the server's END_STREAM has come */
    int given_up;           /* status of our own cancel, else -1 */

    struct echo_buf in;          /* DATA not yet taken as messages */
    struct echo_buf message;     /* the message being looked at */
    int http_status;             /* :status, 0 before the headers */
    int grpc_status;             /* grpc-status, -1 before it came */
    struct echo_buf status_text; /* grpc-message, decoded */
    enum echo_codec codec;       /* grpc-encoding of the response */
    struct echo_buf codec_name;  /* the same as text, empty when absent */
    const char *fault;           /* what was wrong with a response, or NULL */

    struct echo_buf request_sizes;  /* uint32_t each, kept for --json */
    struct echo_buf response_sizes; /* the same */
};

/* echo_client_options.c: returns -1 to go on, or the exit status. */
int options_parse(struct options *options, int argc, char **argv);

/* echo_client_call.c.  None of these sends: they queue frames in the session.
 * call_start returns -1 when the connection takes no more calls. */
int call_start(struct conn *conn, uint64_t index);
void call_free(struct call *call);

/* What the session reports about a call. */
void call_header(struct call *call, struct echo_bytes name,
                 struct echo_bytes value);
void call_data(struct call *call, const uint8_t *data, size_t len);
void call_sent_data(struct call *call);
void call_end_stream(struct call *call);

/* echo_client.c: the call has ended with this status; frees it. */
void client_call_finished(struct call *call, int status);

/* echo_client_report.c */
void report_response(const struct call *call, size_t len);
void report_call(const struct call *call, int status);
void report_failure(const struct call *call, int status, const char *why);
void report_summary(const struct client *client, double seconds);

#endif
