/* SPDX-License-Identifier: MIT */
/*
 * What the first TLS records of one side say in the clear: versions, the name
 * of the server, application protocols, the cipher suite, alerts.  It reads
 * and never judges: certificates, keys and whether the handshake succeeds are
 * the endpoints' affair.
 *
 * Model.  A side sends records (RFC 8446, section 5.1); a handshake message
 * may span records, and a record may hold several.  The first message of the
 * client is its ClientHello (4.1.2), the first of the server its ServerHello
 * (4.1.3) or a HelloRetryRequest (4.1.4), which has the same form and is
 * followed by a ServerHello later.  What they offer and choose is in their
 * extensions (4.2): server_name (RFC 6066, section 3), application_layer_
 * protocol_negotiation (RFC 7301, section 3.1), supported_versions (RFC 8446,
 * section 4.2.1).  TLS 1.2 and older (RFC 5246, section 7.4.1) look the same.
 *
 * Behind its hello a side is still read, for alerts alone, until its first
 * change_cipher_spec or application_data record: there a client refuses a
 * certificate, always so in TLS 1.2, and in TLS 1.3 when it does not encrypt
 * yet.  Further alerts of TLS 1.3 are encrypted, and not to be seen.
 *
 * Facts appear all at once, when a hello is whole and each length in it
 * agrees with the others; they stay when what comes later is wrong.  The
 * result does not depend on how the bytes are cut.
 *
 * Ownership.  Data given to a function stays the caller's and is not kept.
 * What spans point to lives until the next tls_hello_feed or tls_hello_clear,
 * and is whatever the peer sent: any bytes, no final zero.
 */
#ifndef TLS_HELLO_H
#define TLS_HELLO_H

#include <stddef.h>
#include <stdint.h>

#include "side.h"

/* TLS_HELLO_MESSAGE_MAX bounds a hello, its 4-byte header included.  Those of
 * browsers and libraries have 200 to 2,000 bytes, and some 6,000 with several
 * post-quantum key shares or a big session ticket; 16 KiB, the most that fits
 * into one record, leaves room for more.  Memory grows with what has arrived,
 * not with what is declared. */
#define TLS_HELLO_MESSAGE_MAX (16u << 10)

/* enum tls_hello_state is how far the reader of a side is. */
enum tls_hello_state {
    /* More bytes matter.  The facts may be known: see has_hello. */
    TLS_HELLO_NEED_MORE,
    /* A fatal alert, a close_notify, or the first encrypted record. */
    TLS_HELLO_DONE,
    /* The first bytes are not a TLS record. */
    TLS_HELLO_NOT_TLS,
    /* TLS records, and then something that TLS forbids: an impossible record,
     * a first message that is not this side's hello, lengths that disagree,
     * one extension twice. */
    TLS_HELLO_BROKEN,
    /* Given up: the hello is longer than TLS_HELLO_MESSAGE_MAX. */
    TLS_HELLO_TOO_LONG,
    /* Given up: out of memory. */
    TLS_HELLO_NO_MEMORY
};

/* struct tls_hello_span is |len| bytes at |data|, NULL when there are none. */
struct tls_hello_span {
    const uint8_t *data; /* the first of them */
    size_t len;          /* their number */
};

/* struct tls_hello_facts is what a hello says. */
struct tls_hello_facts {
    /* legacy_version is the version field of the hello itself; TLS 1.3 always
     * has 0x0303 there. */
    uint16_t legacy_version;
    /* version is the one chosen (server) or the highest offered (client; GREASE
     * values and drafts are left out, 0 when there is no other): from
     * supported_versions, otherwise legacy_version. */
    uint16_t version;
    /* cipher_suite is the IANA number of the one chosen; server only. */
    uint16_t cipher_suite;
    /* has_versions is 1 when there is a supported_versions extension, */
    uint8_t has_versions;
    /* has_sni when there is a host name in server_name; client only. */
    uint8_t has_sni;
    /* has_alpn when there is an ALPN extension: protocols offered (client),
     * the one chosen (server). */
    uint8_t has_alpn;
    /* is_alpn_hidden is 1 when the server's choice is not to be seen: TLS 1.3
     * sends it encrypted (RFC 8446, section 4.3.1). */
    uint8_t is_alpn_hidden;
    /* versions are those of supported_versions in order, GREASE values (RFC
     * 8701) included: see tls_hello_version_at. */
    struct tls_hello_span versions;
    /* sni is the host name, 1 byte at least; not checked any further. */
    struct tls_hello_span sni;
    /* alpn are the protocols: see tls_hello_alpn_next. */
    struct tls_hello_span alpn;
};

/* struct tls_hello reads one side of a connection.  Members above `side` are
 * results, the others its own. */
struct tls_hello {
    /* state is what tls_hello_feed has returned last. */
    enum tls_hello_state state;
    /* has_record is 1 once a record header has passed, and record_version is
     * the version in the first one. */
    uint8_t has_record;
    /* has_hello is 1 once a ClientHello or ServerHello has passed, has_retry
     * once a HelloRetryRequest has.  Either makes facts valid: those of a
     * HelloRetryRequest hold until the ServerHello, which has to repeat them
     * (RFC 8446, section 4.1.4). */
    uint8_t has_hello;
    uint8_t has_retry;
    /* has_alert is 1 once an alert has passed: alert_level (1 warning,
     * 2 fatal) and alert_description are of the last one. */
    uint8_t has_alert;
    uint8_t alert_level;
    uint8_t alert_description;
    uint16_t record_version;
    struct tls_hello_facts facts;

    /* side is the sender. */
    enum side side;
    /* header holds the header_len bytes that have come of a record header. */
    uint8_t header[5];
    uint8_t header_len;
    /* alert holds the alert_len bytes that have come of an alert. */
    uint8_t alert[2];
    uint8_t alert_len;
    /* record_left is what is to come of the record under way. */
    uint16_t record_left;
    /* message has room for message_size bytes, and holds the message_len that
     * have come of a hello; NULL where none is under way. */
    uint8_t *message;
    size_t message_len;
    size_t message_size;
    /* kept is what the spans of facts point into. */
    uint8_t *kept;
};

/* tls_hello_init makes |hello| ready for the bytes of |side|.  It allocates
 * nothing. */
void tls_hello_init(struct tls_hello *hello, enum side side);

/* tls_hello_feed takes the next |len| bytes of the side and returns the state.
 * Once that is not NEED_MORE, further bytes are not looked at. */
enum tls_hello_state tls_hello_feed(struct tls_hello *hello,
                                    const uint8_t *data, size_t len);

/* tls_hello_clear frees what |hello| holds and leaves it without facts; to
 * read again it needs tls_hello_init. */
void tls_hello_clear(struct tls_hello *hello);

/* tls_hello_version_count returns how many versions |facts| lists,
 * tls_hello_version_at the one at |index|, which has to be less. */
size_t tls_hello_version_count(const struct tls_hello_facts *facts);
uint16_t tls_hello_version_at(const struct tls_hello_facts *facts,
                              size_t index);

/* tls_hello_alpn_next sets |name| to the first protocol in |rest|, which
 * begins as a copy of facts.alpn, and moves |rest| behind it.  Returns 0 at
 * the end.  A name has 1 to 255 bytes. */
int tls_hello_alpn_next(struct tls_hello_span *rest,
                        struct tls_hello_span *name);

/* tls_hello_version_name returns "TLS 1.3" and the like, NULL for a version
 * that has no name. */
const char *tls_hello_version_name(uint16_t version);

/* tls_hello_alert_name returns the name of an alert in RFC 8446, appendix B.2
 * (without its "_RESERVED"), NULL when it has none. */
const char *tls_hello_alert_name(uint8_t description);

#endif
