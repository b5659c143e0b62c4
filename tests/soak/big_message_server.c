/* SPDX-License-Identifier: MIT */
/*
 * big_server reads messages of any length and answers with their length and
 * SHA-256; it keeps neither the messages nor more than one connection.
 */
#define _POSIX_C_SOURCE 200809L

#include "big_message.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* struct server is a connection and the call on it: there is never more than
 * one at a time (MAX_CONCURRENT_STREAMS is 1).  Its first member is what
 * on_send of the pump looks for in the user data. */
struct server {
    /* self points to pump. */
    struct big_pump *self;
    struct big_pump pump;
    /* prefix is that of the request message, prefix_len bytes of it. */
    uint8_t prefix[BIG_PREFIX];
    size_t prefix_len;
    /* received counts the bytes after the prefix; hash is over them. */
    uint64_t received;
    EVP_MD_CTX *hash;
    /* answer is the response body: a prefix and answer_len bytes in all, of
     * which answer_at are sent. */
    char answer[BIG_PREFIX + BIG_ANSWER];
    size_t answer_at;
    size_t answer_len;
};

static int
on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame,
                 void *user)
{
    struct server *server = user;

    (void)session;
    (void)frame;
    server->prefix_len = 0;
    server->received = 0;
    EVP_DigestInit_ex(server->hash, EVP_sha256(), NULL);
    return 0;
}

static int
on_data_chunk(nghttp2_session *session, uint8_t flags, int32_t stream_id,
              const uint8_t *data, size_t len, void *user)
{
    struct server *server = user;

    (void)session;
    (void)flags;
    (void)stream_id;
    while (len > 0 && server->prefix_len < BIG_PREFIX) {
        server->prefix[server->prefix_len++] = *data++;
        len--;
    }
    EVP_DigestUpdate(server->hash, data, len);
    server->received += len;
    return 0;
}

/* The provider of the response body; trailers follow it. */
static ssize_t
answer_read(nghttp2_session *session, int32_t stream_id, uint8_t *to,
            size_t room, uint32_t *flags, nghttp2_data_source *from, void *user)
{
    struct server *server = from->ptr;
    const nghttp2_nv ok = big_pump_nv("grpc-status", "0");
    size_t n = server->answer_len - server->answer_at;

    (void)user;
    if (n > room)
        n = room;
    memcpy(to, server->answer + server->answer_at, n);
    server->answer_at += n;
    if (server->answer_at < server->answer_len)
        return (ssize_t)n;
    *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
    return nghttp2_submit_trailer(session, stream_id, &ok, 1) == 0
               ? (ssize_t)n
               : NGHTTP2_ERR_CALLBACK_FAILURE;
}

static int
answer_submit(struct server *server, int32_t stream_id)
{
    const nghttp2_nv headers[] = {
        big_pump_nv(":status", "200"),
        big_pump_nv("content-type", "application/grpc")};
    const nghttp2_data_provider body = {.source.ptr = server,
                                        .read_callback = answer_read};
    char digest[BIG_DIGEST];
    int len;

    big_digest_final(server->hash, digest);
    len = snprintf(server->answer + BIG_PREFIX, BIG_ANSWER, "%" PRIu64 " %s",
                   server->received, digest);
    memset(server->answer, 0, BIG_PREFIX);
    server->answer[BIG_PREFIX - 1] = (char)len;
    server->answer_len = BIG_PREFIX + (size_t)len;
    server->answer_at = 0;
    return nghttp2_submit_response(server->pump.session, stream_id, headers, 2,
                                   &body);
}

/* A body that is not exactly one message is answered with INTERNAL. */
static int
refusal_submit(struct server *server, int32_t stream_id)
{
    const nghttp2_nv headers[] = {
        big_pump_nv(":status", "200"),
        big_pump_nv("content-type", "application/grpc"),
        big_pump_nv("grpc-status", "13"),
        big_pump_nv("grpc-message", "the prefix gives another length")};

    return nghttp2_submit_response(server->pump.session, stream_id, headers, 4,
                                   NULL);
}

static int
on_frame_recv(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
    struct server *server = user;
    uint64_t declared = 0;

    (void)session;
    if ((frame->hd.type != NGHTTP2_DATA && frame->hd.type != NGHTTP2_HEADERS) ||
        (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0)
        return 0;
    for (size_t i = 1; i < BIG_PREFIX; i++)
        declared = declared << 8 | server->prefix[i];
    if (server->prefix_len < BIG_PREFIX || server->received != declared)
        return refusal_submit(server, frame->hd.stream_id);
    return answer_submit(server, frame->hd.stream_id);
}

static int
session_make(struct server *server, int fd)
{
    nghttp2_session_callbacks *callbacks = NULL;

    if (nghttp2_session_callbacks_new(&callbacks) != 0)
        return -1;
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks,
                                                            on_begin_headers);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks,
                                                              on_data_chunk);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks,
                                                         on_frame_recv);
    server->self = &server->pump;
    int rc = big_pump_init(&server->pump, fd, callbacks, true, server);
    nghttp2_session_callbacks_del(callbacks);
    return rc == 0 ? big_pump_settings(&server->pump) : -1;
}

static const char *
connection_serve(int fd)
{
    struct server *server = calloc(1, sizeof *server);
    const char *wrong = "out of memory";

    if (server == NULL) {
        close(fd);
        return wrong;
    }
    server->hash = EVP_MD_CTX_new();
    if (session_make(server, fd) == 0 && server->hash != NULL)
        wrong = big_pump_run(&server->pump);
    big_pump_clear(&server->pump);
    EVP_MD_CTX_free(server->hash);
    free(server);
    return wrong;
}

int
big_server_run(const struct echo_addr *addr)
{
    int listener = echo_addr_bind(addr);

    if (listener < 0)
        return EXIT_FAILURE;
    if (listen(listener, SOMAXCONN) != 0) {
        perror("big_message: listen");
        return EXIT_FAILURE;
    }
    printf("listening %u\n", echo_addr_port(listener));
    (void)fflush(stdout);
    for (;;) {
        int fd = accept(listener, NULL, NULL);
        const char *wrong = NULL;

        if (fd >= 0)
            wrong = connection_serve(fd);
        if (wrong != NULL)
            fprintf(stderr, "big_message: server: %s\n", wrong);
    }
}
