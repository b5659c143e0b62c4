/* SPDX-License-Identifier: MIT */
/* What clients and servers send: arrays indented like the nesting of the
 * format, a field a line. */
#ifndef TLS_HELLO_BYTES_H
#define TLS_HELLO_BYTES_H

#include <stdint.h>

#define RANDOM_BYTES                                                        \
    0x5e, 0x11, 0x0c, 0x87, 0x93, 0x2a, 0x4f, 0xd8, 0x10, 0x9b, 0x66, 0xe3, \
        0x71, 0x05, 0xbd, 0x2c, 0xf0, 0x48, 0x3a, 0x9e, 0xc4, 0x5d, 0x17,   \
        0x82, 0x6b, 0xaf, 0x39, 0xd1, 0x04, 0x77, 0xee, 0x20

#define RETRY_RANDOM                                                        \
    0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c, 0x02, \
        0x1e, 0x65, 0xb8, 0x91, 0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c,   \
        0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c

/* clang-format off */

/* TLS 1.2, as RFC 5246 has it. */
static const uint8_t client_1_2[] = {
    0x16, 0x03, 0x01, 0x00, 0x66,       /* Handshake, TLS 1.0, 102 bytes */
        0x01, 0x00, 0x00, 0x62,         /* ClientHello, 98 bytes */
            0x03, 0x03,                 /* TLS 1.2 */
            RANDOM_BYTES,
            0x00,                       /* Session ID: none */
            0x00, 0x04,                 /* Cipher suites: 4 bytes */
                0xc0, 0x2f,             /* ECDHE_RSA_AES_128_GCM_SHA256 */
                0x00, 0xff,             /* EMPTY_RENEGOTIATION_INFO_SCSV */
            0x01,                       /* Compression: 1 byte */
                0x00,                   /* null */
            0x00, 0x35,                 /* Extensions: 53 bytes */
                0x00, 0x00, 0x00, 0x0e, /* server_name, 14 bytes */
                    0x00, 0x0c,         /* List: 12 bytes */
                        0x00,           /* host_name */
                        0x00, 0x09,     /* 9 bytes */
                            'e', 'c', 'h', 'o', '.', 't', 'e', 's', 't',
                0x00, 0x0a, 0x00, 0x04, /* supported_groups, 4 bytes */
                    0x00, 0x02,         /* List: 2 bytes */
                        0x00, 0x1d,     /* x25519 */
                0x00, 0x10, 0x00, 0x0e, /* ALPN, 14 bytes */
                    0x00, 0x0c,         /* List: 12 bytes */
                        0x02, 'h', '2',
                        0x08, 'h', 't', 't', 'p', '/', '1', '.', '1',
                0x00, 0x17, 0x00, 0x00, /* extended_master_secret, empty */
                0x00, 0x23, 0x00, 0x01, /* session_ticket, 1 byte */
                    0xaa
};

/* TLS 1.3 with GREASE values (RFC 8701), and alone on its record layer. */
static const uint8_t client_1_3[] = {
    0x16, 0x03, 0x01, 0x00, 0x94,       /* Handshake, TLS 1.0, 148 bytes */
        0x01, 0x00, 0x00, 0x90,         /* ClientHello, 144 bytes */
            0x03, 0x03,                 /* TLS 1.2 */
            RANDOM_BYTES,
            0x20,                       /* Session ID: 32 bytes */
                RANDOM_BYTES,
            0x00, 0x06,                 /* Cipher suites: 6 bytes */
                0x3a, 0x3a,             /* GREASE */
                0x13, 0x01,             /* AES_128_GCM_SHA256 */
                0xc0, 0x2b,             /* ECDHE_ECDSA_AES_128_GCM_SHA256 */
            0x01,                       /* Compression: 1 byte */
                0x00,                   /* null */
            0x00, 0x41,                 /* Extensions: 65 bytes */
                0x1a, 0x1a, 0x00, 0x00, /* GREASE, empty */
                0x00, 0x2b, 0x00, 0x09, /* supported_versions, 9 bytes */
                    0x08,               /* List: 8 bytes */
                        0xda, 0xda,     /* GREASE */
                        0x7f, 0x1c,     /* TLS 1.3, draft 28 */
                        0x03, 0x04,     /* TLS 1.3 */
                        0x03, 0x03,     /* TLS 1.2 */
                0x00, 0x10, 0x00, 0x08, /* ALPN, 8 bytes */
                    0x00, 0x06,         /* List: 6 bytes */
                        0x02, 0x8a, 0x8a, /* GREASE */
                        0x02, 'h', '2',
                0x00, 0x33, 0x00, 0x07, /* key_share, 7 bytes */
                    0x00, 0x05,         /* List: 5 bytes */
                        0x2a, 0x2a,     /* GREASE */
                        0x00, 0x01, 0x00, /* 1 byte */
                0x00, 0x00, 0x00, 0x15, /* server_name, 21 bytes */
                    0x00, 0x13,         /* List: 19 bytes */
                        0x07,           /* a type nobody has defined */
                        0x00, 0x02,     /* 2 bytes */
                            'n', 'o',
                        0x00,           /* host_name */
                        0x00, 0x0b,     /* 11 bytes */
                            'x', 0x00, '"', 0xff, 'z', '.', 't', 'e', 's',
                            't', '.',
    0x14, 0x03, 0x03, 0x00, 0x01,       /* change_cipher_spec, 1 byte */
        0x01,
    0x17, 0x03, 0x03, 0x00, 0x02,       /* application_data, 2 bytes */
        0x99, 0x98
};

/* SSL 3.0 to TLS 1.2 without an extension. */
static const uint8_t client_old[] = {
    0x16, 0x03, 0x00, 0x00, 0x2d,       /* Handshake, SSL 3.0, 45 bytes */
        0x01, 0x00, 0x00, 0x29,         /* ClientHello, 41 bytes */
            0x03, 0x01,                 /* TLS 1.0 */
            RANDOM_BYTES,
            0x00,                       /* Session ID: none */
            0x00, 0x02,                 /* Cipher suites: 2 bytes */
                0x00, 0x0a,             /* RSA_3DES_EDE_CBC_SHA */
            0x01,                       /* Compression: 1 byte */
                0x00                    /* null */
};

static const uint8_t server_1_2[] = {
    0x16, 0x03, 0x03, 0x00, 0x46,       /* Handshake, TLS 1.2, 70 bytes */
        0x02, 0x00, 0x00, 0x3e,         /* ServerHello, 62 bytes */
            0x03, 0x03,                 /* TLS 1.2 */
            RANDOM_BYTES,
            0x04,                       /* Session ID: 4 bytes */
                0x01, 0x02, 0x03, 0x04,
            0xc0, 0x2f,                 /* ECDHE_RSA_AES_128_GCM_SHA256 */
            0x00,                       /* Compression: null */
            0x00, 0x12,                 /* Extensions: 18 bytes */
                0x00, 0x00, 0x00, 0x00, /* server_name, empty */
                0xff, 0x01, 0x00, 0x01, /* renegotiation_info, 1 byte */
                    0x00,
                0x00, 0x10, 0x00, 0x05, /* ALPN, 5 bytes */
                    0x00, 0x03,         /* List: 3 bytes */
                        0x02, 'h', '2',
        0x0b, 0x00, 0x00, 0x03,         /* Certificate, 3 bytes */
    0x16, 0x03, 0x03, 0x00, 0x07,       /* Handshake, TLS 1.2, 7 bytes */
            0x00, 0x00, 0x00,           /* Certificates: none */
        0x0e, 0x00, 0x00, 0x00,         /* ServerHelloDone */
    0x14, 0x03, 0x03, 0x00, 0x01,       /* change_cipher_spec, 1 byte */
        0x01,
    0x15, 0x03, 0x03, 0x00, 0x02,       /* Alert, encrypted with nothing */
        0x02, 0x28
};

/* The extensions of a server of TLS 1.3. */
#define SERVER_1_3_EXTENSIONS                                                  \
            0x00, 0x0c,                 /* Extensions: 12 bytes */             \
                0x00, 0x33, 0x00, 0x02, /* key_share, 2 bytes */               \
                    0x00, 0x17,         /* secp256r1 */                        \
                0x00, 0x2b, 0x00, 0x02, /* supported_versions, 2 bytes */      \
                    0x03, 0x04          /* TLS 1.3 */

#define SERVER_1_3                                                             \
    0x16, 0x03, 0x03, 0x00, 0x38,       /* Handshake, TLS 1.2, 56 bytes */     \
        0x02, 0x00, 0x00, 0x34,         /* ServerHello, 52 bytes */            \
            0x03, 0x03,                 /* TLS 1.2 */                          \
            RANDOM_BYTES,                                                      \
            0x00,                       /* Session ID: none */                 \
            0x13, 0x02,                 /* AES_256_GCM_SHA384 */               \
            0x00,                       /* Compression: null */                \
            SERVER_1_3_EXTENSIONS

#define SERVER_RETRY                                                           \
    0x16, 0x03, 0x03, 0x00, 0x38,       /* Handshake, TLS 1.2, 56 bytes */     \
        0x02, 0x00, 0x00, 0x34,         /* ServerHello, 52 bytes */            \
            0x03, 0x03,                 /* TLS 1.2 */                          \
            RETRY_RANDOM,                                                      \
            0x00,                       /* Session ID: none */                 \
            0x13, 0x02,                 /* AES_256_GCM_SHA384 */               \
            0x00,                       /* Compression: null */                \
            SERVER_1_3_EXTENSIONS

#define CHANGE_CIPHER_SPEC 0x14, 0x03, 0x03, 0x00, 0x01, 0x01
#define APPLICATION_DATA   0x17, 0x03, 0x03, 0x00, 0x03, 0x01, 0x02, 0x03

static const uint8_t server_1_3[] = {
    SERVER_1_3, CHANGE_CIPHER_SPEC, APPLICATION_DATA
};

static const uint8_t server_retry[] = {
    SERVER_RETRY, CHANGE_CIPHER_SPEC, SERVER_1_3, CHANGE_CIPHER_SPEC
};

static const uint8_t server_retry_only[] = {SERVER_RETRY, CHANGE_CIPHER_SPEC};

static const uint8_t server_retries_twice[] = {SERVER_RETRY, SERVER_RETRY};

static const uint8_t server_retry_refused[] = {
    SERVER_RETRY, CHANGE_CIPHER_SPEC,
    0x15, 0x03, 0x03, 0x00, 0x02,       /* Alert, 2 bytes */
        0x02, 0x2f                      /* fatal, illegal_parameter */
};

static const uint8_t alert_fatal[] = {
    0x15, 0x03, 0x01, 0x00, 0x02,       /* Alert, TLS 1.0, 2 bytes */
        0x02, 0x46                      /* fatal, protocol_version */
};

static const uint8_t alert_close[] = {
    0x15, 0x03, 0x03, 0x00, 0x02,       /* Alert, 2 bytes */
        0x01, 0x00                      /* warning, close_notify */
};

static const uint8_t alert_warning[] = {
    0x15, 0x03, 0x03, 0x00, 0x02,       /* Alert, 2 bytes */
        0x01, 0x70,                     /* warning, unrecognized_name */
    SERVER_1_3, CHANGE_CIPHER_SPEC
};

/* A client of TLS 1.0 that does not like the certificate. */
static const uint8_t alert_later[] = {
    0x16, 0x03, 0x01, 0x00, 0x2d,       /* Handshake, TLS 1.0, 45 bytes */
        0x01, 0x00, 0x00, 0x29,         /* ClientHello, 41 bytes */
            0x03, 0x01,                 /* TLS 1.0 */
            RANDOM_BYTES,
            0x00,                       /* Session ID: none */
            0x00, 0x02,                 /* Cipher suites: 2 bytes */
                0x00, 0x0a,             /* RSA_3DES_EDE_CBC_SHA */
            0x01,                       /* Compression: 1 byte */
                0x00,                   /* null */
    0x15, 0x03, 0x01, 0x00, 0x02,       /* Alert, 2 bytes */
        0x02, 0x30,                     /* fatal, unknown_ca */
    0x15, 0x03, 0x01, 0x00, 0x02,       /* Alert, 2 bytes: too late */
        0x01, 0x00                      /* warning, close_notify */
};

/* An alert where a hello should go on. */
static const uint8_t alert_amid[] = {
    0x16, 0x03, 0x01, 0x00, 0x06,       /* Handshake, TLS 1.0, 6 bytes */
        0x01, 0x00, 0x00, 0x29,         /* ClientHello, 41 bytes */
            0x03, 0x01,                 /* TLS 1.0 */
    0x15, 0x03, 0x01, 0x00, 0x02,       /* Alert, 2 bytes */
        0x02, 0x50                      /* fatal, internal_error */
};

/* clang-format on */

#define BYTES(array) array, sizeof(array)
#define TEXT(text) (const uint8_t *)(text), sizeof(text) - 1

#endif
