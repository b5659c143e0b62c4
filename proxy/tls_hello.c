/* SPDX-License-Identifier: MIT */
/*
 * Owns the reading of TLS records, hellos and alerts up to where encryption
 * starts.  When a connection is given to it, and what is told about the facts,
 * is up to the tap and the events.
 */
#include "tls_hello.h"

#include <stdlib.h>
#include <string.h>

/* Types of records (RFC 8446, section 5.1). */
enum {
    RECORD_CHANGE_CIPHER_SPEC = 20,
    RECORD_ALERT = 21,
    RECORD_HANDSHAKE = 22,
    RECORD_APPLICATION_DATA = 23
};

/* Types of handshake messages (section 4). */
enum { MESSAGE_CLIENT_HELLO = 1, MESSAGE_SERVER_HELLO = 2 };

/* Types of extensions (section 4.2). */
enum {
    EXTENSION_SERVER_NAME = 0,
    EXTENSION_ALPN = 16,
    EXTENSION_SUPPORTED_VERSIONS = 43
};

enum { ALERT_WARNING = 1, ALERT_CLOSE_NOTIFY = 0 };

#define VERSION_TLS_1_2 0x0303

/* The longest payload of a record that is not encrypted (section 5.1). */
#define RECORD_MAX 16384

#define MESSAGE_HEADER_LEN 4

/* MESSAGE_FIRST_SIZE is the first allocation: most hellos need no second, and
 * who declares much and sends little gets no more. */
#define MESSAGE_FIRST_SIZE 2048

#define RANDOM_LEN 32
#define SESSION_ID_MAX 32

/* ---- Fields ---------------------------------------------------------- */

/* Takes |n| bytes from the front of |in|.  These functions return 0 when they
 * are not there. */
static int
take(struct tls_hello_span *in, size_t n, struct tls_hello_span *out)
{
    if (in->len < n) {
        return 0;
    }
    out->data = in->data;
    out->len = n;
    in->data += n;
    in->len -= n;
    return 1;
}

/* Takes a number of |width| bytes. */
static int
take_number(struct tls_hello_span *in, unsigned width, uint16_t *value)
{
    struct tls_hello_span bytes;
    unsigned number = 0;

    if (!take(in, width, &bytes)) {
        return 0;
    }
    for (unsigned i = 0; i < width; i++) {
        number = number << 8 | bytes.data[i];
    }
    *value = (uint16_t)number;
    return 1;
}

/* Takes a vector: its length in |width| bytes, and as many bytes. */
static int
take_vector(struct tls_hello_span *in, unsigned width,
            struct tls_hello_span *out)
{
    uint16_t len;

    return take_number(in, width, &len) && take(in, len, out);
}

/* Takes a vector that has to be all that is left. */
static int
take_last_vector(struct tls_hello_span *in, unsigned width,
                 struct tls_hello_span *out)
{
    return take_vector(in, width, out) && in->len == 0;
}

/* ---- Extensions ------------------------------------------------------ */

/* A ServerNameList (RFC 6066, section 3).  Names of other types have the form
 * of a host name as well, for the sake of readers that do not know them.  Of
 * two host names, which is forbidden, the first counts. */
static int
parse_server_name(struct tls_hello_span in, struct tls_hello_facts *facts)
{
    struct tls_hello_span list;

    if (!take_last_vector(&in, 2, &list) || list.len == 0) {
        return 0;
    }
    while (list.len > 0) {
        struct tls_hello_span name;
        uint16_t type;

        if (!take_number(&list, 1, &type) || !take_vector(&list, 2, &name) ||
            name.len == 0) {
            return 0;
        }
        if (type == 0 && !facts->has_sni) {
            facts->has_sni = 1;
            facts->sni = name;
        }
    }
    return 1;
}

/* A ProtocolNameList (RFC 7301, section 3.1): no name is empty, and a server
 * sends exactly one. */
static int
parse_alpn(struct tls_hello_span in, enum side side,
           struct tls_hello_facts *facts)
{
    struct tls_hello_span list, name;
    size_t n = 0;

    if (facts->has_alpn || !take_last_vector(&in, 2, &list)) {
        return 0;
    }
    facts->has_alpn = 1;
    facts->alpn = list;
    for (; list.len > 0; n++) {
        if (!take_vector(&list, 1, &name) || name.len == 0) {
            return 0;
        }
    }
    return side == SIDE_CLIENT ? n > 0 : n == 1;
}

/* SupportedVersions (RFC 8446, section 4.2.1): a list of the client, the
 * choice of the server. */
static int
parse_versions(struct tls_hello_span in, enum side side,
               struct tls_hello_facts *facts)
{
    if (facts->has_versions) {
        return 0;
    }
    facts->has_versions = 1;
    if (side == SIDE_SERVER) {
        return take(&in, 2, &facts->versions) && in.len == 0;
    }
    return take_last_vector(&in, 1, &facts->versions) &&
           facts->versions.len > 0 && facts->versions.len % 2 == 0;
}

static int
parse_extension(uint16_t type, struct tls_hello_span in, enum side side,
                struct tls_hello_facts *facts, int *has_server_name)
{
    switch (type) {
    case EXTENSION_SERVER_NAME:
        if (*has_server_name) {
            return 0;
        }
        *has_server_name = 1;
        /* The server's has no content; it only says that it was used. */
        return side == SIDE_SERVER || parse_server_name(in, facts);
    case EXTENSION_ALPN:
        return parse_alpn(in, side, facts);
    case EXTENSION_SUPPORTED_VERSIONS:
        return parse_versions(in, side, facts);
    default:
        return 1;
    }
}

/* Up to TLS 1.2 a hello may end before its extensions (RFC 5246, section
 * 7.4.1.2). */
static int
parse_extensions(struct tls_hello_span in, enum side side,
                 struct tls_hello_facts *facts)
{
    struct tls_hello_span list, data;
    int has_server_name = 0;
    uint16_t type;

    if (in.len == 0) {
        return 1;
    }
    if (!take_last_vector(&in, 2, &list)) {
        return 0;
    }
    while (list.len > 0) {
        if (!take_number(&list, 2, &type) || !take_vector(&list, 2, &data) ||
            !parse_extension(type, data, side, facts, &has_server_name)) {
            return 0;
        }
    }
    return 1;
}

/* ---- Hellos ---------------------------------------------------------- */

/* What both hellos begin with. */
static int
parse_start(struct tls_hello_span *in, struct tls_hello_facts *facts,
            struct tls_hello_span *random)
{
    struct tls_hello_span session_id;

    return take_number(in, 2, &facts->legacy_version) &&
           take(in, RANDOM_LEN, random) && take_vector(in, 1, &session_id) &&
           session_id.len <= SESSION_ID_MAX;
}

/* Only major version 3 is compared: GREASE values (RFC 8701) and drafts of
 * TLS 1.3 (0x7f..) are larger numbers, not higher versions. */
static uint16_t
highest_version(const struct tls_hello_facts *facts)
{
    uint16_t highest = 0;

    if (!facts->has_versions) {
        return facts->legacy_version;
    }
    for (size_t i = 0; i < tls_hello_version_count(facts); i++) {
        uint16_t version = tls_hello_version_at(facts, i);

        if (version >> 8 == 3 && version > highest) {
            highest = version;
        }
    }
    return highest;
}

/* A ClientHello (RFC 8446, section 4.1.2). */
static int
parse_client(struct tls_hello_span in, struct tls_hello_facts *facts)
{
    struct tls_hello_span random, suites, compression;

    if (!parse_start(&in, facts, &random) || !take_vector(&in, 2, &suites) ||
        suites.len == 0 || suites.len % 2 != 0 ||
        !take_vector(&in, 1, &compression) || compression.len == 0 ||
        !parse_extensions(in, SIDE_CLIENT, facts)) {
        return 0;
    }
    facts->version = highest_version(facts);
    return 1;
}

/* A ServerHello (RFC 8446, section 4.1.3). */
static int
parse_server(struct tls_hello_span in, struct tls_hello_facts *facts,
             int *is_retry)
{
    /* SHA-256 of "HelloRetryRequest", which marks one. */
    static const uint8_t retry[RANDOM_LEN] = {
        0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c,
        0x02, 0x1e, 0x65, 0xb8, 0x91, 0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb,
        0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c};
    struct tls_hello_span random;
    uint16_t compression;

    if (!parse_start(&in, facts, &random) ||
        !take_number(&in, 2, &facts->cipher_suite) ||
        !take_number(&in, 1, &compression) ||
        !parse_extensions(in, SIDE_SERVER, facts)) {
        return 0;
    }
    *is_retry = memcmp(random.data, retry, RANDOM_LEN) == 0;
    facts->version = facts->has_versions ? tls_hello_version_at(facts, 0)
                                         : facts->legacy_version;
    facts->is_alpn_hidden =
        facts->version > VERSION_TLS_1_2 && !facts->has_alpn;
    return 1;
}

static void
move_span(struct tls_hello_span *span, uint8_t **end)
{
    if (span->len > 0) {
        memcpy(*end, span->data, span->len);
        span->data = *end;
        *end += span->len;
    }
}

/* Makes |facts| those of |hello|, with a copy of what they point to.  The
 * message itself is many times larger, and most connections last. */
static enum tls_hello_state
keep_facts(struct tls_hello *hello, const struct tls_hello_facts *facts)
{
    size_t len = facts->versions.len + facts->sni.len + facts->alpn.len;
    uint8_t *kept = NULL, *end;

    if (len > 0) {
        kept = malloc(len);
        if (kept == NULL) {
            return TLS_HELLO_NO_MEMORY;
        }
    }
    free(hello->kept);
    hello->kept = kept;
    hello->facts = *facts;
    end = kept;
    move_span(&hello->facts.versions, &end);
    move_span(&hello->facts.sni, &end);
    move_span(&hello->facts.alpn, &end);
    return TLS_HELLO_NEED_MORE;
}

/* The hello is whole. */
static enum tls_hello_state
end_message(struct tls_hello *hello)
{
    struct tls_hello_span in = {hello->message + MESSAGE_HEADER_LEN,
                                hello->message_len - MESSAGE_HEADER_LEN};
    struct tls_hello_facts facts = {0};
    int is_retry = 0;
    int is_good = hello->side == SIDE_CLIENT
                      ? parse_client(in, &facts)
                      : parse_server(in, &facts, &is_retry);
    enum tls_hello_state state;

    /* A second HelloRetryRequest is forbidden (RFC 8446, section 4.1.4). */
    if (!is_good || (is_retry && hello->has_retry)) {
        return TLS_HELLO_BROKEN;
    }
    state = keep_facts(hello, &facts);
    if (state == TLS_HELLO_NEED_MORE) {
        hello->has_retry |= is_retry != 0;
        hello->has_hello = is_retry == 0;
        free(hello->message);
        hello->message = NULL;
        hello->message_len = 0;
        hello->message_size = 0;
    }
    return state;
}

/* ---- Messages -------------------------------------------------------- */

/* Length of the message under way, as far as it is known. */
static size_t
message_want(const struct tls_hello *hello)
{
    const uint8_t *head = hello->message;

    if (hello->message_len < MESSAGE_HEADER_LEN) {
        return MESSAGE_HEADER_LEN;
    }
    return MESSAGE_HEADER_LEN +
           ((size_t)head[1] << 16 | (size_t)head[2] << 8 | head[3]);
}

static enum tls_hello_state
add_to_message(struct tls_hello *hello, const uint8_t *data, size_t n)
{
    size_t need = hello->message_len + n;

    if (need > hello->message_size) {
        size_t size = hello->message_size == 0 ? MESSAGE_FIRST_SIZE
                                               : 2 * hello->message_size;
        uint8_t *message;

        size = size < need ? need : size;
        message = realloc(hello->message, size);
        if (message == NULL) {
            return TLS_HELLO_NO_MEMORY;
        }
        hello->message = message;
        hello->message_size = size;
    }
    memcpy(hello->message + hello->message_len, data, n);
    hello->message_len += n;
    return TLS_HELLO_NEED_MORE;
}

static enum tls_hello_state
check_message_header(const struct tls_hello *hello)
{
    uint8_t type = hello->side == SIDE_CLIENT ? MESSAGE_CLIENT_HELLO
                                              : MESSAGE_SERVER_HELLO;

    if (hello->message[0] != type) {
        return TLS_HELLO_BROKEN;
    }
    return message_want(hello) > TLS_HELLO_MESSAGE_MAX ? TLS_HELLO_TOO_LONG
                                                       : TLS_HELLO_NEED_MORE;
}

/* Takes up to |len| bytes of handshake messages, and returns how many.  Those
 * that follow the hello are passed over, a record at a time. */
static size_t
take_message(struct tls_hello *hello, const uint8_t *data, size_t len)
{
    size_t n = len;

    if (hello->has_hello) {
        return len;
    }
    if (n > message_want(hello) - hello->message_len) {
        n = message_want(hello) - hello->message_len;
    }
    hello->state = add_to_message(hello, data, n);
    if (hello->state == TLS_HELLO_NEED_MORE &&
        hello->message_len == MESSAGE_HEADER_LEN) {
        hello->state = check_message_header(hello);
    }
    if (hello->state == TLS_HELLO_NEED_MORE &&
        hello->message_len >= MESSAGE_HEADER_LEN &&
        hello->message_len == message_want(hello)) {
        hello->state = end_message(hello);
    }
    return n;
}

/* ---- Records --------------------------------------------------------- */

/* Takes a byte of an alert (RFC 8446, section 6).  A warning does not end a
 * handshake of TLS 1.2: unrecognized_name comes before a ServerHello. */
static size_t
take_alert(struct tls_hello *hello, const uint8_t *data)
{
    hello->alert[hello->alert_len++] = data[0];
    if (hello->alert_len == sizeof(hello->alert)) {
        hello->alert_len = 0;
        hello->has_alert = 1;
        hello->alert_level = hello->alert[0];
        hello->alert_description = hello->alert[1];
        if (hello->alert_level != ALERT_WARNING ||
            hello->alert_description == ALERT_CLOSE_NOTIFY) {
            hello->state = TLS_HELLO_DONE;
        }
    }
    return 1;
}

static size_t
take_payload(struct tls_hello *hello, const uint8_t *data, size_t len)
{
    size_t n = len < hello->record_left ? len : hello->record_left;

    if (hello->header[0] == RECORD_HANDSHAKE) {
        n = take_message(hello, data, n);
    } else if (hello->header[0] == RECORD_ALERT) {
        n = take_alert(hello, data);
    }
    hello->record_left = (uint16_t)(hello->record_left - n);
    return n;
}

/* Whether the bytes of a record header so far can be one (RFC 8446, section
 * 5.1).  Its version means nothing, but no sender departs from 3.x. */
static int
is_header(const uint8_t *header, size_t len)
{
    return header[0] >= RECORD_CHANGE_CIPHER_SPEC &&
           header[0] <= RECORD_APPLICATION_DATA &&
           (len < 2 || header[1] == 3) && (len < 3 || header[2] <= 4);
}

/* A record starts that does not belong to a handshake in the clear. */
static enum tls_hello_state
end_of_clear(const struct tls_hello *hello)
{
    if (hello->message_len > 0) {
        return TLS_HELLO_BROKEN; /* a message must not be interrupted */
    }
    /* For the sake of middleboxes a server sends change_cipher_spec behind its
     * HelloRetryRequest (RFC 8446, appendix D.4): nothing changes there. */
    return hello->has_retry && !hello->has_hello &&
                   hello->header[0] == RECORD_CHANGE_CIPHER_SPEC
               ? TLS_HELLO_NEED_MORE
               : TLS_HELLO_DONE;
}

static enum tls_hello_state
start_record(struct tls_hello *hello)
{
    if (!hello->has_record) {
        hello->has_record = 1;
        hello->record_version =
            (uint16_t)(hello->header[1] << 8 | hello->header[2]);
    }
    hello->record_left = (uint16_t)(hello->header[3] << 8 | hello->header[4]);
    switch (hello->header[0]) {
    case RECORD_HANDSHAKE:
        /* Empty ones are forbidden, as is the rest here. */
        return hello->record_left > 0 && hello->record_left <= RECORD_MAX
                   ? TLS_HELLO_NEED_MORE
                   : TLS_HELLO_BROKEN;
    case RECORD_ALERT:
        return hello->record_left == sizeof(hello->alert) ? TLS_HELLO_NEED_MORE
                                                          : TLS_HELLO_BROKEN;
    default:
        return end_of_clear(hello);
    }
}

/* Takes a byte of a record header. */
static size_t
take_header(struct tls_hello *hello, const uint8_t *data)
{
    hello->header[hello->header_len++] = data[0];
    if (!is_header(hello->header, hello->header_len)) {
        hello->state = hello->has_record ? TLS_HELLO_BROKEN : TLS_HELLO_NOT_TLS;
    } else if (hello->header_len == sizeof(hello->header)) {
        hello->header_len = 0;
        hello->state = start_record(hello);
    }
    return 1;
}

/* ---- A side ---------------------------------------------------------- */

void
tls_hello_init(struct tls_hello *hello, enum side side)
{
    memset(hello, 0, sizeof(*hello));
    hello->side = side;
}

void
tls_hello_clear(struct tls_hello *hello)
{
    free(hello->message);
    free(hello->kept);
    tls_hello_init(hello, hello->side);
}

enum tls_hello_state
tls_hello_feed(struct tls_hello *hello, const uint8_t *data, size_t len)
{
    while (len > 0 && hello->state == TLS_HELLO_NEED_MORE) {
        size_t n = hello->record_left == 0 ? take_header(hello, data)
                                           : take_payload(hello, data, len);

        data += n;
        len -= n;
    }
    if (hello->state != TLS_HELLO_NEED_MORE) {
        free(hello->message);
        hello->message = NULL;
    }
    return hello->state;
}

/* ---- Lists ----------------------------------------------------------- */

size_t
tls_hello_version_count(const struct tls_hello_facts *facts)
{
    return facts->versions.len / 2;
}

uint16_t
tls_hello_version_at(const struct tls_hello_facts *facts, size_t index)
{
    const uint8_t *at = facts->versions.data + 2 * index;

    return (uint16_t)(at[0] << 8 | at[1]);
}

int
tls_hello_alpn_next(struct tls_hello_span *rest, struct tls_hello_span *name)
{
    return rest->len > 0 && take_vector(rest, 1, name);
}
