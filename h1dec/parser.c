/* SPDX-License-Identifier: MIT */
/*
 * Owns http_parser 2.9: it alone includes its header.  What a message means
 * for the connection is not its matter.
 *
 * Positions.  The library's notifications carry no pointer.  Each of them
 * pauses it here, which makes http_parser_execute return at the byte in
 * question: before the last LF in on_headers_complete, behind the byte in the
 * others.  Bodies are fed no further than their length, so that the bytes of
 * one call are either all body or none.
 *
 * Strictness.  Distributions build the library without HTTP_PARSER_STRICT:
 * then it takes any byte behind CR, any three behind the H of HTTP, blanks in
 * field names, any two bytes behind a chunk.  Receivers refuse these, so they
 * are checked here.  (A strict build refuses the same, with texts and
 * sometimes positions of its own.)
 *
 * A faulty byte is found wherever the input was cut: what is checked on a
 * complete head only is not reported for one that fails earlier.
 */
#include "parser.h"

#include <http_parser.h>
#include <stdlib.h>
#include <string.h>

/* enum part is the part of the message that the next byte belongs to. */
enum part {
    PART_HEAD,
    PART_BODY,
    PART_CHUNK_LINE,
    PART_CHUNK_END,
    PART_TRAILERS
};

/* VERSION_LEN is the length of the end of a request line: HTTP/1.1. */
#define VERSION_LEN 8

struct h1dec_parser {
    http_parser http;
    enum part part;
    const struct parser_sink *sink;
    void *user;
    /* error is what the sink has failed with. */
    int error;
    /* at is how many bytes of the message were taken; data is what is being
     * fed from there. */
    uint64_t at;
    const char *data;
    /* left is what remains of the body, or of the chunk. */
    uint64_t left;
    uint64_t chunk_len;
    size_t blank_len;
    /* is_complete is 1 once the library says that the message is. */
    uint8_t is_complete;
    /* was_cr is 1 when the last byte of the head or the trailers was CR. */
    uint8_t was_cr;
    /* has_space is 1 when a field name holds a blank, the first one at
     * space_at. */
    uint8_t has_space;
    uint64_t space_at;
    /* The request line: its last tail_len bytes, line_len in all; line_over
     * is 1 behind it. */
    uint8_t line_over;
    uint8_t tail_len;
    char tail[VERSION_LEN];
    uint64_t line_len;
    struct parser_head head;
    struct parser_fault fault;
};

/* ---- What the library calls ------------------------------------------ */

static int
keep(struct h1dec_parser *parser, int error)
{
    if (error != 0) {
        parser->error = error;
    }
    return error != 0;
}

static int
on_url(http_parser *http, const char *at, size_t len)
{
    struct h1dec_parser *parser = http->data;

    return keep(parser, parser->sink->target(parser->user, at, len));
}

static int
on_header_field(http_parser *http, const char *at, size_t len)
{
    struct h1dec_parser *parser = http->data;
    const char *space = memchr(at, ' ', len);

    if (space != NULL && !parser->has_space) {
        parser->has_space = 1;
        parser->space_at = parser->at + (uint64_t)(space - parser->data);
    }
    return keep(parser, parser->sink->name(parser->user, at, len));
}

static int
on_header_value(http_parser *http, const char *at, size_t len)
{
    struct h1dec_parser *parser = http->data;

    return keep(parser, parser->sink->value(parser->user, at, len));
}

/* Returning 1 says that there is no body. */
static int
on_headers_complete(http_parser *http)
{
    struct h1dec_parser *parser = http->data;

    http_parser_pause(http, 1);
    return http->type == HTTP_RESPONSE &&
           parser->sink->bodiless(parser->user, http->status_code);
}

static int
on_chunk_header(http_parser *http)
{
    http_parser_pause(http, 1);
    return 0;
}

/* The last chunk is completed in one go with the message. */
static int
on_chunk_complete(http_parser *http)
{
    struct h1dec_parser *parser = http->data;

    if (parser->part == PART_CHUNK_END) {
        http_parser_pause(http, 1);
    }
    return 0;
}

static int
on_message_complete(http_parser *http)
{
    struct h1dec_parser *parser = http->data;

    parser->is_complete = 1;
    http_parser_pause(http, 1);
    return 0;
}

static const http_parser_settings settings = {
    .on_url = on_url,
    .on_header_field = on_header_field,
    .on_header_value = on_header_value,
    .on_headers_complete = on_headers_complete,
    .on_chunk_header = on_chunk_header,
    .on_chunk_complete = on_chunk_complete,
    .on_message_complete = on_message_complete,
};

/* ---- One message ----------------------------------------------------- */

int
h1dec_parser_new(struct h1dec_parser **parser, const struct parser_sink *sink,
                 void *user)
{
    *parser = calloc(1, sizeof(**parser));
    if (*parser == NULL) {
        return H1DEC_ERR_NOMEM;
    }
    (*parser)->sink = sink;
    (*parser)->user = user;
    return 0;
}

void
h1dec_parser_free(struct h1dec_parser *parser)
{
    free(parser);
}

/* A message gets a fresh state: that after an upgrade or Connection: close
 * would refuse the next one, which is the connection's to judge. */
void
h1dec_parser_begin(struct h1dec_parser *parser, enum h1dec_side side)
{
    const struct parser_sink *sink = parser->sink;
    void *user = parser->user;

    memset(parser, 0, sizeof(*parser));
    parser->sink = sink;
    parser->user = user;
    http_parser_init(&parser->http,
                     side == H1DEC_CLIENT ? HTTP_REQUEST : HTTP_RESPONSE);
    parser->http.data = parser;
}

/* run feeds the library and returns how far it went. */
static size_t
run(struct h1dec_parser *parser, const uint8_t *data, size_t len)
{
    parser->data = (const char *)data;
    http_parser_pause(&parser->http, 0);
    return http_parser_execute(&parser->http, &settings, parser->data, len);
}

static int
is_paused(const struct h1dec_parser *parser)
{
    return HTTP_PARSER_ERRNO(&parser->http) == HPE_PAUSED;
}

static int
is_broken(const struct h1dec_parser *parser)
{
    return HTTP_PARSER_ERRNO(&parser->http) != HPE_OK && !is_paused(parser);
}

static enum parser_event
fault_at(struct h1dec_parser *parser, uint64_t at, enum http_errno error)
{
    parser->fault.at = at;
    parser->fault.reason = http_errno_description(error);
    return PARSER_FAULT;
}

/* broken tells why the library stopped |n| bytes on. */
static enum parser_event
broken(struct h1dec_parser *parser, size_t n)
{
    if (parser->error != 0) {
        return PARSER_FAIL;
    }
    return fault_at(parser, parser->at + n, HTTP_PARSER_ERRNO(&parser->http));
}

static enum parser_event
take(struct h1dec_parser *parser, size_t n, size_t *used,
     enum parser_event event)
{
    parser->at += n;
    *used = n;
    return event;
}

/* ---- Strictness ------------------------------------------------------ */

/* check_cr returns where in the lines at |data| something else than LF
 * follows CR; |len| when nowhere. */
static size_t
check_cr(struct h1dec_parser *parser, const uint8_t *data, size_t len)
{
    size_t at = 0;

    while (at < len) {
        const uint8_t *cr;

        if (parser->was_cr && data[at] != '\n') {
            return at;
        }
        parser->was_cr = 0;
        cr = memchr(data + at, '\r', len - at);
        if (cr == NULL) {
            return len;
        }
        parser->was_cr = 1;
        at = (size_t)(cr - data) + 1;
    }
    return len;
}

/* keep_line notes the end of the request line. */
static void
keep_line(struct h1dec_parser *parser, const uint8_t *data, size_t len)
{
    const uint8_t *lf;
    size_t over;

    if (parser->line_over || len == 0) {
        return;
    }
    lf = memchr(data, '\n', len);
    if (lf != NULL) {
        parser->line_over = 1;
        len = (size_t)(lf - data);
    }
    if (len > 0 && data[len - 1] == '\r') {
        len--;
    }
    parser->line_len += len;
    if (len > VERSION_LEN) {
        data += len - VERSION_LEN;
        len = VERSION_LEN;
    }
    over = parser->tail_len + len;
    over = over > VERSION_LEN ? over - VERSION_LEN : 0;
    memmove(parser->tail, parser->tail + over, parser->tail_len - over);
    memcpy(parser->tail + parser->tail_len - over, data, len);
    parser->tail_len = (uint8_t)(parser->tail_len - over + len);
}

/* A request line without version is HTTP/0.9, SOURCE may say ICE/1.1. */
static int
is_version_good(const struct h1dec_parser *parser)
{
    const http_parser *http = &parser->http;

    if (http->type == HTTP_RESPONSE ||
        (http->http_major == 0 && http->http_minor == 9)) {
        return 1;
    }
    return parser->tail_len == VERSION_LEN &&
           (memcmp(parser->tail, "HTTP/", 5) == 0 ||
            (http->method == HTTP_SOURCE &&
             memcmp(parser->tail, " ICE/", 5) == 0));
}

/* check_head returns 0 when a complete head is good. */
static enum http_errno
check_head(struct h1dec_parser *parser, uint64_t *at)
{
    const http_parser *http = &parser->http;

    if (!is_version_good(parser)) {
        *at = parser->line_len - parser->tail_len;
        return HPE_INVALID_CONSTANT;
    }
    if (http->type == HTTP_RESPONSE && http->status_code < 100) {
        *at = 0;
        return HPE_INVALID_STATUS;
    }
    *at = parser->space_at;
    return parser->has_space ? HPE_INVALID_HEADER_TOKEN : HPE_OK;
}

/* ---- Parts ----------------------------------------------------------- */

static void
set_facts(struct h1dec_parser *parser)
{
    const http_parser *http = &parser->http;
    struct parser_head *head = &parser->head;

    head->major = (uint8_t)http->http_major;
    head->minor = (uint8_t)http->http_minor;
    head->has_upgrade = (http->flags & F_UPGRADE) != 0;
    head->keeps_alive = http_should_keep_alive(http) != 0;
    if (http->type == HTTP_RESPONSE) {
        head->status = http->status_code;
        return;
    }
    head->method = http_method_str((enum http_method)http->method);
    head->is_head = http->method == HTTP_HEAD;
    head->is_connect = http->method == HTTP_CONNECT;
}

/* set_length puts the message into its body, told |declared| bytes. */
static void
set_length(struct h1dec_parser *parser, uint64_t declared)
{
    const http_parser *http = &parser->http;
    struct parser_head *head = &parser->head;
    int is_declared = (http->flags & F_CONTENTLENGTH) != 0 &&
                      (http->flags & F_SKIPBODY) == 0 && !head->is_connect;

    parser->part = PART_BODY;
    if (parser->is_complete) {
        head->length = is_declared ? H1DEC_LENGTH_DECLARED : H1DEC_LENGTH_NONE;
    } else if (http->flags & F_CHUNKED) {
        head->length = H1DEC_LENGTH_CHUNKED;
        parser->part = PART_CHUNK_LINE;
    } else if (is_declared) {
        head->length = H1DEC_LENGTH_DECLARED;
        head->declared = declared;
        parser->left = declared;
    } else {
        head->length = H1DEC_LENGTH_CLOSE;
        parser->left = UINT64_MAX;
    }
}

/* The library is at the last LF, before it chooses the body. */
static enum parser_event
head_done(struct h1dec_parser *parser, const uint8_t *data, size_t n,
          size_t *used)
{
    uint64_t declared = parser->http.content_length;
    uint64_t at;
    enum http_errno error = check_head(parser, &at);

    if (data[n] != '\n') {
        return fault_at(parser, parser->at + n, HPE_LF_EXPECTED);
    }
    if (error != HPE_OK) {
        return fault_at(parser, at, error);
    }
    set_facts(parser);
    run(parser, data + n, 1);
    if (is_broken(parser)) {
        return broken(parser, n);
    }
    set_length(parser, declared);
    parser->was_cr = 0;
    return take(parser, n + 1, used, PARSER_HEAD);
}

static enum parser_event
feed_head(struct h1dec_parser *parser, const uint8_t *data, size_t len,
          size_t *used)
{
    size_t n = run(parser, data, len);
    size_t bad = check_cr(parser, data, n);

    if (bad < n) {
        return fault_at(parser, parser->at + bad, HPE_LF_EXPECTED);
    }
    if (is_broken(parser)) {
        return broken(parser, n);
    }
    keep_line(parser, data, n);
    if (is_paused(parser)) {
        return head_done(parser, data, n, used);
    }
    return take(parser, len, used, PARSER_MORE);
}

static enum parser_event
feed_body(struct h1dec_parser *parser, const uint8_t *data, size_t len,
          size_t *used)
{
    if (len > parser->left) {
        len = (size_t)parser->left;
    }
    run(parser, data, len);
    if (parser->left != UINT64_MAX) {
        parser->left -= len;
    }
    if (parser->left == 0 && parser->head.length == H1DEC_LENGTH_CHUNKED) {
        parser->part = PART_CHUNK_END;
    }
    return take(parser, len, used, PARSER_BODY);
}

static enum parser_event
feed_chunk_line(struct h1dec_parser *parser, const uint8_t *data, size_t len,
                size_t *used)
{
    size_t n = run(parser, data, len);

    if (is_broken(parser)) {
        return broken(parser, n);
    }
    if (!is_paused(parser)) {
        return take(parser, n, used, PARSER_MORE);
    }
    if (data[n - 1] != '\n') {
        return fault_at(parser, parser->at + n - 1, HPE_LF_EXPECTED);
    }
    parser->chunk_len = parser->http.content_length;
    parser->left = parser->chunk_len;
    parser->part = parser->left > 0 ? PART_BODY : PART_TRAILERS;
    return take(parser, n, used, PARSER_CHUNK);
}

static enum parser_event
feed_chunk_end(struct h1dec_parser *parser, const uint8_t *data, size_t len,
               size_t *used)
{
    for (size_t n = 0; n < len; n++) {
        if (data[n] != (parser->was_cr ? '\n' : '\r')) {
            parser->fault.at = parser->at + n;
            parser->fault.reason = "no CRLF behind the bytes of a chunk";
            return PARSER_FAULT;
        }
        run(parser, data + n, 1);
        parser->was_cr = !parser->was_cr;
        if (is_paused(parser)) {
            parser->part = PART_CHUNK_LINE;
            return take(parser, n + 1, used, PARSER_CHUNK_END);
        }
    }
    return take(parser, len, used, PARSER_MORE);
}

static enum parser_event
feed_trailers(struct h1dec_parser *parser, const uint8_t *data, size_t len,
              size_t *used)
{
    size_t n = run(parser, data, len);
    size_t lines = parser->is_complete ? n - 1 : n;
    size_t bad = check_cr(parser, data, lines);

    if (bad < lines) {
        return fault_at(parser, parser->at + bad, HPE_LF_EXPECTED);
    }
    if (is_broken(parser)) {
        return broken(parser, n);
    }
    if (!parser->is_complete) {
        return take(parser, n, used, PARSER_MORE);
    }
    if (data[lines] != '\n') {
        return fault_at(parser, parser->at + lines, HPE_LF_EXPECTED);
    }
    if (parser->has_space) {
        return fault_at(parser, parser->space_at, HPE_INVALID_HEADER_TOKEN);
    }
    parser->blank_len = parser->was_cr ? 2 : 1;
    return take(parser, n, used, PARSER_MESSAGE);
}

enum parser_event
h1dec_parser_feed(struct h1dec_parser *parser, const uint8_t *data, size_t len,
                  size_t *used)
{
    *used = 0;
    if (parser->is_complete) {
        return PARSER_MESSAGE;
    }
    if (len == 0) {
        return PARSER_MORE;
    }
    switch (parser->part) {
    case PART_HEAD:
        return feed_head(parser, data, len, used);
    case PART_BODY:
        return feed_body(parser, data, len, used);
    case PART_CHUNK_LINE:
        return feed_chunk_line(parser, data, len, used);
    case PART_CHUNK_END:
        return feed_chunk_end(parser, data, len, used);
    case PART_TRAILERS:
        break;
    }
    return feed_trailers(parser, data, len, used);
}

/* ---- Questions ------------------------------------------------------- */

int
h1dec_parser_is_complete(const struct h1dec_parser *parser)
{
    return parser->is_complete;
}

int
h1dec_parser_is_body(const struct h1dec_parser *parser)
{
    return parser->part == PART_BODY;
}

const struct parser_head *
h1dec_parser_head(const struct h1dec_parser *parser)
{
    return &parser->head;
}

uint64_t
h1dec_parser_chunk_len(const struct h1dec_parser *parser)
{
    return parser->chunk_len;
}

size_t
h1dec_parser_blank_len(const struct h1dec_parser *parser)
{
    return parser->blank_len;
}

const struct parser_fault *
h1dec_parser_fault(const struct h1dec_parser *parser)
{
    return &parser->fault;
}

int
h1dec_parser_error(const struct h1dec_parser *parser)
{
    return parser->error;
}
