/* SPDX-License-Identifier: MIT */
/*
 * A call: what is known of one stream, gathered while it passes.
 *
 * call.c owns its memory, call_rpc.c says what it is, call_fields.c reads
 * header fields into it, call_metadata.c checks their values, call_body.c
 * follows the messages, call_web.c adds what only gRPC-Web has, call_end.c
 * draws the conclusions.  What is not known is absent, never a default.
 */
#ifndef CALL_H
#define CALL_H

#include <stddef.h>
#include <stdint.h>

#include "../grpcframe/grpcframe.h"
#include "../h2dec/h2dec.h"
#include "coding.h"
#include "pace.h"
#include "side.h"
#include "what_if_tap.h"

struct notice;
struct tap;

/* CALL_VALUE_MAX bounds one value kept of a header field; servers refuse
 * header lists of this size. */
#define CALL_VALUE_MAX 8192

/* CALL_TEXT_MAX bounds all values kept of one call. */
#define CALL_TEXT_MAX (64u << 10)

/* CALL_TEXT_INLINE is what an ordinary call needs, kept without a further
 * allocation. */
#define CALL_TEXT_INLINE 384

/* CALL_HEAD_MAX bounds the first bytes kept of a body, for a hint. */
#define CALL_HEAD_MAX 32

/* CALL_SPARE_MAX is how many calls that are over a worker keeps for those to
 * come: as many as clients commonly have in flight. */
#define CALL_SPARE_MAX 64

/* CALL_NEVER is a time that has not come. */
#define CALL_NEVER UINT64_MAX

/* enum call_rpc is what the call is above HTTP. */
enum call_rpc {
    RPC_NONE,
    RPC_GRPC,
    RPC_GRPC_WEB,
    RPC_GRPC_WEB_TEXT,
    RPC_CONNECT /* plain HTTP, but for its name */
};

/* enum call_protocol is which HTTP carries the call. */
enum call_protocol {
    CALL_H2,
    CALL_H1_1,
    CALL_H1_0
};

/* enum call_fact is a value kept once a call. */
enum call_fact {
    FACT_METHOD,
    FACT_SCHEME,
    FACT_AUTHORITY,
    FACT_PATH,
    FACT_USER_AGENT,
    FACT_TIMEOUT,
    FACT_MESSAGE, /* grpc-message, decoded */
    FACT_COUNT
};

/* enum flow_fact is a value kept once a direction. */
enum flow_fact {
    FLOW_CONTENT_TYPE,
    FLOW_GRPC_ENCODING,
    FLOW_GRPC_ACCEPT_ENCODING,
    FLOW_CONTENT_ENCODING,
    FLOW_ACCEPT_ENCODING,
    FLOW_VARY,
    FLOW_COUNT
};

/* struct call_value is a value in the text of a call. */
struct call_value {
    uint32_t at;
    uint32_t len;
    /* known is 0 when the wire did not say. */
    uint8_t known;
    /* cut is 1 when a part of it was left out for its size. */
    uint8_t cut;
    /* secret is 1 when it is not to be shown: see call_shown. */
    uint8_t secret;
};

/* struct flow is one direction of a call. */
struct flow {
    /* call and side lead back from a callback. */
    struct call *call;
    enum side side;
    struct call_value facts[FLOW_COUNT];
    /* rpc is what the content type of this direction says. */
    enum call_rpc rpc;
    /* seen is 1 after the request's or the response's header block. */
    uint8_t seen;
    /* partial is 1 when fields were left out of a block for their number or
     * size: that something is absent means nothing then. */
    uint8_t partial;
    /* unknown is 1 when a header block could not be decoded. */
    uint8_t unknown;
    /* parsing is 1 when the body is followed as gRPC messages. */
    uint8_t parsing;
    /* The following are 1 once the notice has been given. */
    uint8_t told_reserved;
    uint8_t told_codec;
    uint8_t told_accept;
    uint8_t told_metadata;
    uint8_t told_encoding;
    uint8_t told_form;
    uint8_t told_trailers;
    uint8_t told_truncated;
    uint8_t told_base64;
    /* is_torn is 1 when a trailers frame came that could not be read. */
    uint8_t is_torn;
    /* codec is what grpc-encoding names. */
    enum grpcframe_codec codec;
    /* reader counts messages, while parsing. */
    struct grpcframe_reader reader;
    /* base64 undoes the text form of gRPC-Web, above the reader. */
    struct grpcframe_base64 base64;
    /* coded is 1 when the body has a content-encoding, which coding undoes
     * where it can; coding_ended is 1 once that is complete. */
    uint8_t coded;
    uint8_t coding_ended;
    struct coding coding;
    /* has_length is 1 when content-length declared length bytes;
     * has_other_length, when it declared other_length as well. */
    uint8_t has_length;
    uint8_t has_other_length;
    uint64_t length;
    uint64_t other_length;
    /* decoded_done is what complete messages have put out, decoded_counted how
     * much of all is in the direction's sum. */
    uint64_t decoded_done;
    uint64_t decoded_counted;
    /* frame numbers the DATA frames or chunks; last_part tells them apart. */
    uint64_t frame;
    uint64_t last_part;
    /* passed_us is when the bytes of the body fed last had passed. */
    uint64_t passed_us;
    /* head holds the first bytes of the body. */
    uint8_t head_len;
    uint8_t head[CALL_HEAD_MAX];
    /* what_if is the message under way for --what-if. */
    struct what_if_flow what_if;
};

/* struct call is one stream, or one exchange of HTTP/1.x. */
struct call {
    struct tap *tap;
    /* id is the number of the stream, or the ordinal of the exchange. */
    uint64_t id;
    enum call_protocol protocol;
    /* ended[side] is 1 once that side has said all. */
    uint8_t ended[2];
    /* ledger[side] is what that side has cost, of HTTP/1.x too; filled in
     * before call_end, until then it holds what the call has cost in another
     * protocol, before an upgrade. */
    struct h2dec_ledger ledger[2];
    /* pace[side] is how that side's DATA came; see pace.c. */
    struct pace_flow pace[2];
    enum call_rpc rpc;
    struct call_value facts[FACT_COUNT];
    struct flow flow[2];
    /* http_status and grpc_status are -1 while unknown. */
    int http_status;
    int grpc_status;
    /* early_status is 1 when grpc-status stood in the first header block,
     * early_value what it was (-1: not valid). */
    uint8_t early_status;
    int early_value;
    /* told_status is 1 after the notice that it is not valid. */
    uint8_t told_status;
    /* late_status is 1 when it stood in the trailers. */
    uint8_t late_status;
    /* status_in_http is 1 when a response of gRPC-Web has it in HTTP trailers
     * alone. */
    uint8_t status_in_http;
    /* trailers_only is 1 when the first block was the last thing sent. */
    uint8_t trailers_only;
    /* te_seen is 1 when the request had te: trailers, connect_seen when it had
     * connect-protocol-version. */
    uint8_t te_seen;
    uint8_t connect_seen;
    /* cut_values counts values that were cut or left out for their size. */
    uint32_t cut_values;
    /* timeout_us is what grpc-timeout said, or CALL_NEVER. */
    uint64_t timeout_us;
    /* Points in time, or CALL_NEVER. */
    uint64_t started_us;
    uint64_t request_end_us;
    uint64_t response_headers_us;
    uint64_t first_message_us;
    uint64_t last_message_us;
    /* text holds the values, text_len of text_cap bytes. */
    char *text;
    size_t text_len;
    size_t text_cap;
    /* text_inline is last: a new call has all but it set to 0. */
    char text_inline[CALL_TEXT_INLINE];
};

/* struct call_spares is calls that are over and may be used again. */
struct call_spares {
    struct call *calls[CALL_SPARE_MAX];
    unsigned n;
};

/* ---- call.c ---- */

/* call_new makes the call |id| that began at |started_us|, or returns NULL. */
struct call *call_new(struct tap *tap, uint64_t id,
                      enum call_protocol protocol, uint64_t started_us);

/* call_free ends |call|, which its worker may keep as a spare one. */
void call_free(struct call *call);

/* call_spares_free frees them. */
void call_spares_free(struct call_spares *spares);

/* call_set keeps |text| as |value|, cut to CALL_VALUE_MAX; memory running out
 * leaves it unknown. |value| is within |call|. */
void call_set(struct call *call, struct call_value *value, const char *text,
              size_t len);

/* call_join adds |text| to |value| behind ", ", as the lines of a list field
 * are to be joined (RFC 9110, section 5.3). */
void call_join(struct call *call, struct call_value *value, const char *text,
               size_t len);

/* call_text returns the text of |value| and sets |*len|; NULL: unknown.  To
 * decide by; what is printed comes from call_shown. */
const char *call_text(const struct call *call, const struct call_value *value,
                      size_t *len);

/* call_shown returns what may be printed of |value|: its text, or
 * TAP_REDACTED. */
const char *call_shown(const struct call *call,
                       const struct call_value *value, size_t *len);

/* call_add_value adds what may be printed of |fact| to |notice|, as |name|. */
void call_add_value(struct notice *notice, const char *name,
                    const struct flow *flow, enum flow_fact fact);

/* call_no_encoding says how the grpc-encoding of |flow| is none. */
const char *call_no_encoding(const struct flow *flow);

/* ---- call_rpc.c ---- */

/* call_rpc_name returns the value of `rpc`, or NULL. */
const char *call_rpc_name(enum call_rpc rpc);

/* call_rpc_of returns what the content type of |flow| stands for. */
enum call_rpc call_rpc_of(const struct flow *flow);

/* call_rpc_is_web returns 1 for both forms of gRPC-Web. */
int call_rpc_is_web(enum call_rpc rpc);

/* call_rpc_answers returns 1 when a response of |answer| is one that a request
 * of |rpc| can have. */
int call_rpc_answers(enum call_rpc rpc, enum call_rpc answer);

/* call_has_messages returns 1 when the bodies of |call| are messages: else it
 * is plain HTTP. */
int call_has_messages(const struct call *call);

/* ---- call_fields.c ---- */

/* call_headers reads a header block into |call|. */
void call_headers(struct call *call, const struct h2dec_headers *headers,
                  uint64_t now_us);

/* call_trailer reads one field of the response's trailers into |call|. */
void call_trailer(struct call *call, const struct h2dec_field *field);

/* ---- call_metadata.c ---- */

/* call_metadata_check tells what is wrong with the values of a block. */
void call_metadata_check(struct flow *flow,
                         const struct h2dec_headers *headers);

/* call_metadata_check_field is the same for one field; |is_text|: it stands in
 * a body that is base64 as a whole. */
void call_metadata_check_field(struct flow *flow,
                               const struct h2dec_field *field, int is_text);

/* call_metadata_tell tells that the value of |field| is |what|; of a direction
 * once. */
void call_metadata_tell(struct flow *flow, const struct h2dec_field *field,
                        const char *what);

/* ---- call_body.c ---- */

/* call_body_begin starts following the body of |flow| as messages. */
void call_body_begin(struct flow *flow);

/* call_body_feed takes a piece of the body; |part| is a number that differs
 * from one DATA frame, or chunk, to the next. */
void call_body_feed(struct flow *flow, uint64_t part, const uint8_t *data,
                    size_t len, uint64_t now_us);

/* struct call_figures is what the body of a direction comes to where messages
 * are followed, see the events: their sum without decoded_bytes is
 * body_bytes. */
struct call_figures {
    uint64_t prefix_bytes;
    uint64_t message_bytes;
    uint64_t truncated_bytes;
    uint64_t trailer_bytes;
    uint64_t base64_bytes;
    /* decoded_bytes is valid when is_decoded_known. */
    uint64_t decoded_bytes;
    int is_decoded_known;
};

/* call_figures adds up |flow|, whose ledger is filled in. */
struct call_figures call_figures(const struct flow *flow);

/* call_body_take takes a piece of the messages that DATA holds, once what lies
 * above them is undone. */
void call_body_take(struct flow *flow, const uint8_t *data, size_t len);

/* call_body_clear gives decoders back. */
void call_body_clear(struct flow *flow);

/* ---- call_budget.c ---- */

/* call_budget_apply sets what the next message or body may put out for free;
 * before the first byte of a DATA frame or chunk, and after each message. */
void call_budget_apply(struct flow *flow);

/* call_budget_count notes what |flow|'s decoders have put out. */
void call_budget_count(struct flow *flow);

/* call_budget_pass notes that |len| bytes of body have passed. */
void call_budget_pass(struct flow *flow, size_t len);

/* ---- call_web.c ---- */

/* call_web_begin sets the reader of |flow| to gRPC-Web, if it is that. */
void call_web_begin(struct flow *flow);

/* call_web_feed takes a piece of a text body. */
void call_web_feed(struct flow *flow, const uint8_t *data, size_t len);

/* call_web_end says that the body is complete: what is wrong with its base64
 * is told. */
void call_web_end(struct flow *flow);

/* call_web_tell tells what is wrong with the trailers of a call that has
 * ended. */
void call_web_tell(struct call *call);

/* call_web_base64_bytes returns what base64 has cost |flow|. */
uint64_t call_web_base64_bytes(const struct flow *flow);

/* call_web_is_whole returns 1 unless something in the body of |flow| could not
 * be read: else what is missing from it may have been there. */
int call_web_is_whole(const struct flow *flow);

/* ---- call_http.c ---- */

/* call_coding_begin looks for a content-encoding of |flow|'s body; what comes
 * out below it goes to |output| (may be NULL) with |flow| as its user. */
void call_coding_begin(struct flow *flow, grpcframe_output_cb output);

/* call_coding_end says that the body is complete: what is wrong with its
 * coding is told. */
void call_coding_end(struct flow *flow);

/* call_http_end tells what HTTP itself says of a call, whatever is above. */
void call_http_end(struct call *call);

/* call_is_readable returns 1 when all that |flow| had to say could be read:
 * else its silence means nothing. */
int call_is_readable(const struct flow *flow);

/* ---- call_sample.c ---- */

/* call_sample_begin lets --what-if see the messages of |flow|, whose reader is
 * set up. */
void call_sample_begin(struct flow *flow);

/* call_sample_message says that |message| is complete. */
void call_sample_message(struct flow *flow,
                         const struct grpcframe_message *message);

/* call_sample_output returns who is to see what the content codings of a plain
 * body hold; NULL: nobody. */
grpcframe_output_cb call_sample_output(const struct flow *flow);

/* call_sample_body takes a piece of a body as sent, unless it is messages. */
void call_sample_body(struct flow *flow, const uint8_t *data, size_t len);

/* call_sample_end says that the body is complete. */
void call_sample_end(struct flow *flow);

/* call_sample_clear forgets a message under way. */
void call_sample_clear(struct flow *flow);

/* ---- call_end.c ---- */

/* call_end_side draws the conclusions of a side's END_STREAM. */
void call_end_side(struct call *call, enum side side, uint64_t now_us);

/* call_end writes what there is to say, the call event last. */
void call_end(struct call *call, const struct h2dec_ending *ending,
              uint64_t now_us);

#endif
