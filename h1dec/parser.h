/* SPDX-License-Identifier: MIT */
/*
 * The parser as the rest of the library sees it: bytes of one message in, one
 * event at a time out, each at the exact byte that causes it.  It knows
 * neither connections nor exchanges, and nobody else knows which parser works
 * behind it.
 */
#ifndef PARSER_H
#define PARSER_H

#include "h1dec.h"

/* enum parser_event is what h1dec_parser_feed has come to. */
enum parser_event {
    PARSER_MORE,      /* all bytes are taken, nothing is complete */
    PARSER_HEAD,      /* the head, blank line included */
    PARSER_BODY,      /* the bytes taken are body */
    PARSER_CHUNK,     /* a chunk-size line */
    PARSER_CHUNK_END, /* the CRLF behind a chunk */
    PARSER_MESSAGE,   /* the message; after trailers with the bytes of them */
    PARSER_FAULT,     /* not HTTP/1.x: see h1dec_parser_fault */
    PARSER_FAIL       /* the sink has failed: see h1dec_parser_error */
};

/*
 * struct parser_sink takes the pieces of heads and trailers, in any number of
 * cuts.  The first three return 0, or an error that stops the parser.
 */
struct parser_sink {
    int (*target)(void *user, const char *at, size_t len);
    int (*name)(void *user, const char *at, size_t len);
    int (*value)(void *user, const char *at, size_t len);
    /* bodiless is asked about each response: 1 when one of |status| has no
     * body, whatever its fields say. */
    int (*bodiless)(void *user, unsigned status);
};

/* struct parser_head is what the parser has understood of a head. */
struct parser_head {
    /* method is a static string; NULL in responses. */
    const char *method;
    /* status is 0 in requests. */
    unsigned status;
    /* major and minor of the version. */
    uint8_t major;
    uint8_t minor;
    /* is_head and is_connect are the methods that change what a response
     * is. */
    uint8_t is_head;
    uint8_t is_connect;
    /* has_upgrade is 1 when there is an Upgrade field. */
    uint8_t has_upgrade;
    /* keeps_alive is 0 when this is the last message of its side. */
    uint8_t keeps_alive;
    /* length and declared are as in struct h1dec_head. */
    enum h1dec_length length;
    uint64_t declared;
};

/* struct parser_fault is why the bytes are not HTTP/1.x. */
struct parser_fault {
    /* at counts from the first byte of the message. */
    uint64_t at;
    /* reason is a static string. */
    const char *reason;
};

struct h1dec_parser;

/* h1dec_parser_new makes a parser that tells |sink|, and sets |*parser|.
 * Returns 0 or H1DEC_ERR_NOMEM. */
int h1dec_parser_new(struct h1dec_parser **parser,
                     const struct parser_sink *sink, void *user);

/* h1dec_parser_free frees |parser|; NULL is fine. */
void h1dec_parser_free(struct h1dec_parser *parser);

/* h1dec_parser_begin starts a message of |side|. */
void h1dec_parser_begin(struct h1dec_parser *parser, enum h1dec_side side);

/* h1dec_parser_feed goes on to the next event and sets |*used|.  Not to be
 * called after PARSER_MESSAGE, PARSER_FAULT and PARSER_FAIL. */
enum parser_event h1dec_parser_feed(struct h1dec_parser *parser,
                                    const uint8_t *data, size_t len,
                                    size_t *used);

/* h1dec_parser_is_complete returns 1 when PARSER_MESSAGE is due, without
 * further bytes. */
int h1dec_parser_is_complete(const struct h1dec_parser *parser);

/* h1dec_parser_is_body returns 1 when the next byte is body, which has no
 * limit. */
int h1dec_parser_is_body(const struct h1dec_parser *parser);

/* h1dec_parser_head returns the facts of the head, from PARSER_HEAD on. */
const struct parser_head *
h1dec_parser_head(const struct h1dec_parser *parser);

/* h1dec_parser_chunk_len returns the length of the chunk PARSER_CHUNK told
 * of; 0 is the last one. */
uint64_t h1dec_parser_chunk_len(const struct h1dec_parser *parser);

/* h1dec_parser_blank_len returns the length of the line end that completes a
 * chunked message. */
size_t h1dec_parser_blank_len(const struct h1dec_parser *parser);

/* h1dec_parser_fault returns the reason of PARSER_FAULT. */
const struct parser_fault *
h1dec_parser_fault(const struct h1dec_parser *parser);

/* h1dec_parser_error returns what the sink has failed with. */
int h1dec_parser_error(const struct h1dec_parser *parser);

#endif
