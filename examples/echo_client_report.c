/* SPDX-License-Identifier: MIT */
/*
 * echo_client_report owns what the client prints.  Results go to standard
 * output, failures to standard error.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "echo_client.h"

/* One broken server makes every call fail; ten lines tell as much as all. */
#define FAILURES_SHOWN 10u

/* The length of the UTF-8 sequence at `p`, or 0 when it is not one (RFC 3629:
 * no overlong forms, no surrogates, nothing above U+10FFFF). */
static size_t
utf8_len(const uint8_t *p, size_t len)
{
    uint32_t code;
    size_t n;

    if (p[0] < 0x80)
        return 1;
    if (p[0] < 0xc2 || p[0] > 0xf4)
        return 0;
    n = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    if (n > len)
        return 0;
    code = p[0] & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (p[i] & 0x3fu);
    }
    if ((n == 3 && code < 0x800) || (n == 4 && code < 0x10000) ||
        (code >= 0xd800 && code < 0xe000) || code > 0x10ffff)
        return 0;
    return n;
}

/* A JSON string.  Bytes that are not UTF-8 become U+FFFD: the line must be
 * valid whatever the server sent. */
static void
string_print(const uint8_t *text, size_t len)
{
    putchar('"');
    while (len > 0) {
        size_t n = utf8_len(text, len);

        if (n == 0)
            fputs("\\ufffd", stdout);
        else if (text[0] < 0x20 || text[0] == 0x7f)
            printf("\\u%04x", text[0]);
        else if (text[0] == '"' || text[0] == '\\')
            printf("\\%c", text[0]);
        else
            (void)fwrite(text, 1, n, stdout);
        n = n == 0 ? 1 : n;
        text += n;
        len -= n;
    }
    putchar('"');
}

static void
text_print(const char *text)
{
    string_print((const uint8_t *)text, strlen(text));
}

static void
sizes_print(const char *name, const struct echo_buf *sizes)
{
    size_t n = echo_buf_len(sizes) / sizeof(uint32_t);

    printf(",\"%s\":[", name);
    for (size_t i = 0; i < n; i++) {
        uint32_t size;

        memcpy(&size, echo_buf_bytes(sizes) + i * sizeof size, sizeof size);
        printf("%s%" PRIu32, i == 0 ? "" : ",", size);
    }
    putchar(']');
}

static const char *
label_of(const struct options *options)
{
    return options->label != NULL ? options->label
                                  : echo_codec_name(options->codec);
}

static void
json_print(const struct call *call, int status)
{
    const struct options *options = &call->conn->client->options;
    const struct echo_buf *codec = &call->codec_name;

    fputs("{\"method\":", stdout);
    text_print(options->path);
    printf(",\"status\":%d,\"message\":", status);
    string_print(echo_buf_bytes(&call->status_text),
                 echo_buf_len(&call->status_text));
    fputs(",\"encoding\":", stdout);
    text_print(label_of(options));
    fputs(",\"response_encoding\":", stdout);
    if (echo_buf_len(codec) == 0)
        fputs("null", stdout);
    else
        string_print(echo_buf_bytes(codec), echo_buf_len(codec));
    sizes_print("request_sizes", &call->request_sizes);
    sizes_print("response_sizes", &call->response_sizes);
    fputs("}\n", stdout);
}

void
report_response(const struct call *call, size_t len)
{
    const struct options *options = &call->conn->client->options;

    /* Shown as it arrives, so that a reader sees a stream living. */
    if (options->is_json || options->is_quiet || options->n_calls != 1)
        return;
    printf("response %" PRIu32 ": %zu bytes\n", call->n_received, len);
    (void)fflush(stdout);
}

void
report_call(const struct call *call, int status)
{
    const struct options *options = &call->conn->client->options;

    if (options->is_json) {
        json_print(call, status);
        (void)fflush(stdout);
    }
}

void
report_failure(const struct call *call, int status, const char *why)
{
    const struct client *client = call->conn->client;

    if (client->n_failed > FAILURES_SHOWN)
        return;
    fprintf(stderr, "echo_client: call %" PRIu64 ": %s (status %d", call->index,
            why, status);
    if (echo_buf_len(&call->status_text) > 0)
        fprintf(stderr, ", %.*s", (int)echo_buf_len(&call->status_text),
                (const char *)echo_buf_bytes(&call->status_text));
    fputs(")\n", stderr);
}

void
report_summary(const struct client *client, double seconds)
{
    const struct options *options = &client->options;
    double mib = (double)client->n_bytes / (1 << 20);

    if (options->is_quiet || options->is_json)
        return;
    printf("%" PRIu64 " calls, %" PRIu64 " failed, %.3f s", client->n_finished,
           client->n_failed, seconds);
    if (seconds > 0)
        printf(", %.0f calls/s, %.1f MiB/s",
               (double)client->n_finished / seconds, mib / seconds);
    putchar('\n');
}
