/* SPDX-License-Identifier: MIT */
/*
 * big_client makes one unary call, and compares what the server says it got
 * with what was sent.  How the message is made is big_source's affair.
 */
#define _POSIX_C_SOURCE 200809L

#include "big_message.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PATH "/grpctap.soak.v1.Big/Send"

/* struct client is the call.  Its first member is what on_send of the pump
 * looks for in the user data. */
struct client {
    /* self points to pump. */
    struct big_pump *self;
    struct big_pump pump;
    const struct big_options *options;
    /* source makes the message, of length bytes; hash is over those sent. */
    struct big_source source;
    uint64_t length;
    uint64_t sent;
    EVP_MD_CTX *hash;
    /* prefix goes before it; prefix_at of it are sent. */
    uint8_t prefix[BIG_PREFIX];
    size_t prefix_at;
    /* answer is the response body, answer_len bytes of it. */
    char answer[BIG_PREFIX + BIG_ANSWER];
    size_t answer_len;
    /* status is grpc-status, empty until it comes. */
    char status[8];
    /* reset_code is what the stream was closed with. */
    uint32_t reset_code;
};

static int
fail(const char *what, const char *why)
{
    fprintf(stderr, "big_message: %s: %s\n", what, why);
    return EXIT_FAILURE;
}

/* The provider of the request body. */
static ssize_t
body_read(nghttp2_session *session, int32_t stream_id, uint8_t *to, size_t room,
          uint32_t *flags, nghttp2_data_source *from, void *user)
{
    struct client *client = from->ptr;
    size_t n = 0;

    (void)session;
    (void)stream_id;
    (void)user;
    while (n < room && client->prefix_at < BIG_PREFIX)
        to[n++] = client->prefix[client->prefix_at++];
    while (n < room) {
        size_t len = big_source_read(&client->source, to + n, room - n);

        if (len == 0)
            break;
        EVP_DigestUpdate(client->hash, to + n, len);
        client->sent += len;
        n += len;
    }
    if (client->sent >= client->length)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    else if (n == 0)
        return NGHTTP2_ERR_CALLBACK_FAILURE; /* the passes differ */
    return (ssize_t)n;
}

static int
on_header(nghttp2_session *session, const nghttp2_frame *frame,
          const uint8_t *name, size_t name_len, const uint8_t *value,
          size_t value_len, uint8_t flags, void *user)
{
    struct client *client = user;

    (void)session;
    (void)frame;
    (void)flags;
    if (name_len != 11 || memcmp(name, "grpc-status", 11) != 0 ||
        value_len >= sizeof client->status)
        return 0;
    memcpy(client->status, value, value_len);
    client->status[value_len] = '\0';
    return 0;
}

static int
on_data_chunk(nghttp2_session *session, uint8_t flags, int32_t stream_id,
              const uint8_t *data, size_t len, void *user)
{
    struct client *client = user;
    size_t room = sizeof client->answer - 1 - client->answer_len;

    (void)session;
    (void)flags;
    (void)stream_id;
    if (len > room)
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    memcpy(client->answer + client->answer_len, data, len);
    client->answer_len += len;
    return 0;
}

static int
on_stream_close(nghttp2_session *session, int32_t stream_id,
                uint32_t error_code, void *user)
{
    struct client *client = user;

    (void)stream_id;
    client->reset_code = error_code;
    return nghttp2_session_terminate_session(session, NGHTTP2_NO_ERROR);
}

static int
session_make(struct client *client, int fd)
{
    nghttp2_session_callbacks *callbacks = NULL;

    if (nghttp2_session_callbacks_new(&callbacks) != 0)
        return -1;
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks,
                                                              on_data_chunk);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks,
                                                           on_stream_close);
    client->self = &client->pump;
    int rc = big_pump_init(&client->pump, fd, callbacks, false, client);
    nghttp2_session_callbacks_del(callbacks);
    return rc == 0 ? big_pump_settings(&client->pump) : -1;
}

static int
call_submit(struct client *client)
{
    const struct big_options *options = client->options;
    const nghttp2_nv headers[] = {
        big_pump_nv(":method", "POST"),
        big_pump_nv(":scheme", "http"),
        big_pump_nv(":path", PATH),
        big_pump_nv(":authority", options->target),
        big_pump_nv("content-type", "application/grpc"),
        big_pump_nv("te", "trailers"),
        big_pump_nv("grpc-encoding", options->is_gzip ? "gzip" : "identity")};
    const nghttp2_data_provider body = {.source.ptr = client,
                                        .read_callback = body_read};
    int32_t id =
        nghttp2_submit_request(client->pump.session, NULL, headers,
                               sizeof headers / sizeof headers[0], &body, NULL);

    return id > 0 ? 0 : -1;
}

/* The answer is the length and SHA-256 of what the server got. */
static const char *
answer_check(struct client *client, char digest[BIG_DIGEST])
{
    char expected[BIG_ANSWER];

    big_digest_final(client->hash, digest);
    (void)snprintf(expected, sizeof expected, "%" PRIu64 " %s", client->length,
                   digest);
    client->answer[client->answer_len] = '\0';
    if (client->reset_code != NGHTTP2_NO_ERROR)
        return nghttp2_http2_strerror(client->reset_code);
    if (client->status[0] == '\0')
        return "no grpc-status came";
    if (strcmp(client->status, "0") != 0)
        return "grpc-status is not 0";
    if (client->sent != client->length)
        return "the second pass had another length than the first";
    if (client->answer_len != BIG_PREFIX + strlen(expected) ||
        strcmp(client->answer + BIG_PREFIX, expected) != 0)
        return "the server got other bytes than were sent";
    return NULL;
}

static double
seconds_now(void)
{
    struct timespec now = {0};

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int
call_run(struct client *client)
{
    double start = seconds_now();
    char digest[BIG_DIGEST];
    const char *wrong;

    if (call_submit(client) != 0)
        return fail("call", "out of memory");
    wrong = big_pump_run(&client->pump);
    if (wrong == NULL)
        wrong = answer_check(client, digest);
    if (wrong != NULL)
        return fail(client->options->target, wrong);
    printf("{\"size\":%" PRIu64 ",\"length\":%" PRIu64
           ",\"sha256\":\"%s\",\"seconds\":%.3f}\n",
           client->options->size, client->length, digest,
           seconds_now() - start);
    return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* The length has to be known before the first byte is sent: so a compressed
 * message is made twice.  Returns 0 or -1. */
static int
message_measure(struct client *client)
{
    const struct big_options *options = client->options;
    struct big_source *source = &client->source;

    if (big_source_init(source, options->text, options->size,
                        options->is_gzip) != 0)
        return -1;
    client->length = big_source_rest(source);
    big_source_clear(source);
    client->prefix[0] = options->is_gzip ? 1 : 0;
    for (size_t i = 1; i < BIG_PREFIX; i++)
        client->prefix[i] = (uint8_t)(client->length >> (32 - 8 * i));
    return big_source_init(source, options->text, options->size,
                           options->is_gzip);
}

static int
client_run(struct client *client)
{
    int status;
    int fd;

    if (message_measure(client) != 0)
        return fail("message", "out of memory");
    if (client->length > UINT32_MAX)
        return fail("message", "longer than a prefix can say");
    fd = echo_addr_connect(&client->options->addr);
    if (fd < 0)
        return EXIT_FAILURE;
    status = session_make(client, fd) == 0 ? call_run(client)
                                           : fail("session", "out of memory");
    big_pump_clear(&client->pump);
    return status;
}

int
big_client_run(const struct big_options *options)
{
    struct client *client = calloc(1, sizeof *client);
    int status = EXIT_FAILURE;

    if (client == NULL)
        return fail("client", "out of memory");
    client->options = options;
    client->hash = EVP_MD_CTX_new();
    if (client->hash != NULL &&
        EVP_DigestInit_ex(client->hash, EVP_sha256(), NULL) == 1)
        status = client_run(client);
    EVP_MD_CTX_free(client->hash);
    big_source_clear(&client->source);
    free(client);
    return status;
}
