/* SPDX-License-Identifier: MIT */
/*
 * big_message: one gRPC call with one very long request message, between real
 * nghttp2 sessions.  Neither end ever holds more than a buffer of it.
 */
#ifndef BIG_MESSAGE_H
#define BIG_MESSAGE_H

#include <nghttp2/nghttp2.h>
#include <openssl/evp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

#include "../../examples/echo_addr.h"

/* BIG_CHUNK is how much of a message is made at a time. */
#define BIG_CHUNK 65536

/* BIG_OUT is how much is framed before it is sent: a few frames at a time
 * would cost more in calls than in bytes. */
#define BIG_OUT 262144

/* BIG_PREFIX is the length of a gRPC message prefix. */
#define BIG_PREFIX 5

/* BIG_DIGEST is the size of a SHA-256 in hexadecimal, with its NUL. */
#define BIG_DIGEST 65

/* BIG_ANSWER is the size of the response message, a line of text. */
#define BIG_ANSWER 128

/* ---- the message ---- */

/* enum big_text says what the message consists of. */
enum big_text {
    BIG_RANDOM, /* no codec makes it shorter: all stored blocks */
    BIG_HEX,    /* random hexadecimal digits: half, all Huffman codes */
    BIG_ZEROS   /* one byte on the wire becomes two hundred */
};

/* struct big_source makes a message piece by piece, the same each time. */
struct big_source {
    /* text is what it consists of, size how much of that there is. */
    enum big_text text;
    uint64_t size;
    /* made counts the bytes made so far. */
    uint64_t made;
    /* is_gzip: z compresses them; is_ended: and has written its trailer. */
    bool is_gzip;
    bool is_ended;
    z_stream z;
    /* chunk holds what was made last; chunk_at of chunk_len are used. */
    size_t chunk_at;
    size_t chunk_len;
    uint8_t chunk[BIG_CHUNK];
};

/* big_source_init begins a message of |size| bytes before compression.
 * Returns 0, or -1 when out of memory. */
int big_source_init(struct big_source *source, enum big_text text,
                    uint64_t size, bool is_gzip);

/* big_source_read writes up to |room| bytes of the message as sent to |to|,
 * and returns how many; 0 at its end. */
size_t big_source_read(struct big_source *source, uint8_t *to, size_t room);

/* big_source_rest reads to the end and returns how many bytes that were. */
uint64_t big_source_rest(struct big_source *source);

/* big_source_clear frees what _init made. */
void big_source_clear(struct big_source *source);

/* ---- a session on a socket ---- */

/* struct big_pump moves the bytes of a session. */
struct big_pump {
    /* fd is the socket, non-blocking. */
    int fd;
    /* session is what reads and writes them. */
    nghttp2_session *session;
    /* out_at of out_len bytes of out are sent. */
    size_t out_at;
    size_t out_len;
    uint8_t out[BIG_OUT];
};

/* big_pump_init takes over |fd| and makes a session of |callbacks|, whose user
 * data is |user|; the pump's own callback is added to them.  Returns 0, or -1
 * when out of memory. */
int big_pump_init(struct big_pump *pump, int fd,
                  nghttp2_session_callbacks *callbacks, bool is_server,
                  void *user);

/* big_pump_settings queues SETTINGS and the largest windows there are, so that
 * no sender ever waits for one.  Returns 0 or -1. */
int big_pump_settings(struct big_pump *pump);

/* big_pump_run runs until the session has ended, or the peer has closed.
 * Returns NULL, or what went wrong. */
const char *big_pump_run(struct big_pump *pump);

/* big_pump_clear closes the socket and frees the session. */
void big_pump_clear(struct big_pump *pump);

/* big_pump_nv makes a header field of two strings. */
nghttp2_nv big_pump_nv(const char *name, const char *value);

/* ---- SHA-256 ---- */

/* big_digest_final writes the hash so far in hexadecimal. */
void big_digest_final(EVP_MD_CTX *hash, char text[BIG_DIGEST]);

/* ---- the ends ---- */

/* struct big_options is the command line of a client. */
struct big_options {
    /* target is where to call, as text and as an address. */
    const char *target;
    struct echo_addr addr;
    /* text, size and is_gzip describe the request message. */
    enum big_text text;
    uint64_t size;
    bool is_gzip;
};

/* big_client_run makes one call and prints a JSON object about it.  Returns
 * the exit status. */
int big_client_run(const struct big_options *options);

/* big_server_run prints where it listens and serves one connection after the
 * other; it ends by a signal, or returns the exit status of a failure. */
int big_server_run(const struct echo_addr *addr);

#endif
