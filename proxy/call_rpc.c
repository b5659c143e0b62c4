/* SPDX-License-Identifier: MIT */
/* Owns what a call is above HTTP, as its content types say: gRPC, gRPC-Web,
 * Connect or none of them.  What follows from it is for the other call_*.c. */
#include <string.h>
#include <strings.h>

#include "call.h"

const char *
call_rpc_name(enum call_rpc rpc)
{
    static const char *const names[] = {NULL, "grpc", "grpc-web",
                                        "grpc-web-text", "connect"};

    return names[rpc];
}

int
call_rpc_is_web(enum call_rpc rpc)
{
    return rpc == RPC_GRPC_WEB || rpc == RPC_GRPC_WEB_TEXT;
}

int
call_rpc_answers(enum call_rpc rpc, enum call_rpc answer)
{
    return rpc == answer || (call_rpc_is_web(rpc) && call_rpc_is_web(answer));
}

int
call_has_messages(const struct call *call)
{
    return call->rpc == RPC_GRPC || call_rpc_is_web(call->rpc);
}

static int
has_prefix(const char *text, size_t len, const char *prefix)
{
    size_t n = strlen(prefix);

    return len >= n && strncasecmp(text, prefix, n) == 0;
}

static int
is_method(const struct call *call, const char *name)
{
    size_t len;
    const char *method = call_text(call, &call->facts[FACT_METHOD], &len);

    return method != NULL && len == strlen(name) &&
           memcmp(method, name, len) == 0;
}

/* A GET of Connect has no body, hence no content type, but `connect=v1` in its
 * query. */
static int
is_connect_get(const struct call *call)
{
    static const char key[] = "connect=v1";
    size_t n = sizeof(key) - 1;
    size_t len;
    const char *path = call_text(call, &call->facts[FACT_PATH], &len);
    const char *query = path == NULL ? NULL : memchr(path, '?', len);

    if (query == NULL || !is_method(call, "GET")) {
        return 0;
    }
    for (const char *at = query; (size_t)(path + len - at) > n; at++) {
        size_t rest = (size_t)(path + len - at) - 1 - n;

        if ((*at == '?' || *at == '&') && memcmp(at + 1, key, n) == 0 &&
            (rest == 0 || at[1 + n] == '&')) {
            return 1;
        }
    }
    return 0;
}

/* Connect shares names with plain HTTP: application/json is its only beside its
 * version header (https://connectrpc.com/docs/protocol). */
static int
is_connect(const struct flow *flow, const char *type, size_t len)
{
    const struct call *call = flow->call;

    if (type == NULL) {
        return flow->side == SIDE_CLIENT && is_connect_get(call);
    }
    if (len == strlen("application/proto") &&
        has_prefix(type, len, "application/proto")) {
        return 1;
    }
    return has_prefix(type, len, "application/connect+") ||
           (call->connect_seen && has_prefix(type, len, "application/"));
}

/* The length of the part of a content type that decides: up to its `;`, and
 * for gRPC up to its `+`, behind which the format of the messages stands. */
static size_t
type_len(const char *type, size_t len, char stop)
{
    size_t n = 0;

    while (n < len && type[n] != ';' && type[n] != ' ' && type[n] != '\t' &&
           type[n] != stop) {
        n++;
    }
    return n;
}

enum call_rpc
call_rpc_of(const struct flow *flow)
{
#define TYPE(text, rpc) {text, sizeof(text) - 1, rpc}
    static const struct {
        const char *type;
        size_t len;
        enum call_rpc rpc;
    } types[] = {
        TYPE("application/grpc", RPC_GRPC),
        TYPE("application/grpc-web", RPC_GRPC_WEB),
        TYPE("application/grpc-web-text", RPC_GRPC_WEB_TEXT),
        TYPE("application/grpc-web-text-base64", RPC_GRPC_WEB_TEXT),
    };
#undef TYPE
    size_t len;
    const char *type =
        call_text(flow->call, &flow->facts[FLOW_CONTENT_TYPE], &len);
    size_t end = type_len(type, len, '+');

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (types[i].len == end &&
            strncasecmp(types[i].type, type, end) == 0) {
            /* A CORS preflight asks about the call, and is none. */
            return is_method(flow->call, "OPTIONS") ? RPC_NONE
                                                    : types[i].rpc;
        }
    }
    return is_connect(flow, type, type_len(type, len, ';')) ? RPC_CONNECT
                                                               : RPC_NONE;
}
