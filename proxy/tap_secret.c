/* SPDX-License-Identifier: MIT */
/* Owns which values are secret, and start lines and first bytes without them.
 * Header fields are the business of who prints them. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "tap_conn.h"

/* ---- Names ----------------------------------------------------------- */

static int
is_name(const char *known, const char *name, size_t len)
{
    return strlen(known) == len && strncasecmp(known, name, len) == 0;
}

static const char *const secrets[] = {"authorization", "cookie", "set-cookie",
                                      "proxy-authorization"};

static int
is_listed(const struct tap *tap, const char *name, size_t len)
{
    const struct tap_config *config = tap->shared->config;

    for (size_t i = 0; i < sizeof(secrets) / sizeof(secrets[0]); i++) {
        if (is_name(secrets[i], name, len)) {
            return 1;
        }
    }
    for (unsigned i = 0; i < config->n_redact; i++) {
        if (is_name(config->redact[i], name, len)) {
            return 1;
        }
    }
    return 0;
}

/* The bit of a length; all long ones share one. */
static uint64_t
bit_of(size_t len)
{
    return UINT64_C(1) << (len < 63 ? len : 63);
}

uint64_t
tap_secret_lens(const struct tap_config *config)
{
    uint64_t lens = 0;

    if (config->show_secrets) {
        return 0;
    }
    for (size_t i = 0; i < sizeof(secrets) / sizeof(secrets[0]); i++) {
        lens |= bit_of(strlen(secrets[i]));
    }
    if (config->n_redact > 0) { /* each of the two may stand for the other */
        lens |= bit_of(strlen("host")) | bit_of(strlen(":authority"));
    }

    for (unsigned i = 0; i < config->n_redact; i++) {
        lens |= bit_of(strlen(config->redact[i]));
    }
    return lens;
}

int
tap_is_secret(const struct tap *tap, const char *name, size_t len)
{
    /* Asked of each field that is kept: most are passed by their length. */
    if ((tap->shared->secret_lens & bit_of(len)) == 0) {
        return 0;
    }
    /* Two names of one thing (RFC 9113, section 8.3.1). */
    if (is_name("host", name, len) || is_name(":authority", name, len)) {
        return is_listed(tap, "host", 4) || is_listed(tap, ":authority", 10);
    }
    return is_listed(tap, name, len);
}

int
tap_is_target_secret(const struct tap *tap, const char *target, size_t len)
{
    /* All but the origin and the asterisk form (RFC 9112, section 3.2) hold
     * the authority. */
    int has_authority = len > 0 && target[0] != '/' && target[0] != '*';

    return tap_is_secret(tap, ":path", 5) ||
           (has_authority && tap_is_secret(tap, ":authority", 10));
}

/* ---- Start lines ----------------------------------------------------- */

/* |text| or what is shown of it. */
static const char *
shown(const char *text, size_t *len, int is_secret)
{
    if (is_secret && *len > 0) {
        *len = sizeof(TAP_REDACTED) - 1;
        return TAP_REDACTED;
    }
    return text;
}

void
tap_start_line(const struct tap *tap, const struct h1dec_head *head,
               char *text, size_t cap)
{
    size_t method_len = head->method_len;
    size_t target_len = head->target_len;
    const char *method = shown(head->method, &method_len,
                               tap_is_secret(tap, ":method", 7));
    const char *target =
        shown(head->target, &target_len,
              tap_is_target_secret(tap, head->target, head->target_len));

    if (head->side == H1DEC_CLIENT) {
        snprintf(text, cap, "%.*s %.*s HTTP/%u.%u", (int)method_len, method,
                 (int)target_len, target, head->major, head->minor);
    } else if (tap_is_secret(tap, ":status", 7)) {
        snprintf(text, cap, "HTTP/%u.%u " TAP_REDACTED, head->major,
                 head->minor);
    } else {
        snprintf(text, cap, "HTTP/%u.%u %u", head->major, head->minor,
                 head->status);
    }
}

/* ---- First bytes ----------------------------------------------------- */

/* struct lines is the text that tap_show_lines makes. */
struct lines {
    const struct tap *tap;
    /* text holds len bytes of TAP_LINES_MAX. */
    char *text;
    size_t len;
    /* is_secret is 1 when the field under way is: its value may go on in the
     * next line. */
    int is_secret;
};

static void
put(struct lines *lines, const char *text, size_t len, int is_secret)
{
    size_t room = TAP_LINES_MAX - lines->len;

    text = shown(text, &len, is_secret);
    if (len > room) {
        len = room;
    }
    if (len > 0) {
        memcpy(lines->text + lines->len, text, len);
        lines->len += len;
    }
}

/* The length of |text| before one of |stops|. */
static size_t
span(const char *text, size_t len, const char *stops)
{
    size_t n = 0;

    while (n < len && (text[n] == '\0' || strchr(stops, text[n]) == NULL)) {
        n++;
    }
    return n;
}

static void
put_request(struct lines *lines, const char *text, size_t len)
{
    size_t method = span(text, len, " ");
    size_t target = method < len ? method + 1 : len;
    size_t target_len = span(text + target, len - target, " ");

    put(lines, text, method, tap_is_secret(lines->tap, ":method", 7));
    put(lines, text + method, target - method, 0);
    put(lines, text + target, target_len,
        tap_is_target_secret(lines->tap, text + target, target_len));
    put(lines, text + target + target_len, len - target - target_len, 0);
}

static void
put_status(struct lines *lines, const char *text, size_t len)
{
    size_t version = span(text, len, " ");
    size_t status = version < len ? version + 1 : len;

    put(lines, text, status, 0);
    put(lines, text + status, len - status,
        tap_is_secret(lines->tap, ":status", 7));
}

static void
put_field(struct lines *lines, const char *text, size_t len)
{
    size_t name = span(text, len, ":");
    size_t end = name;
    size_t value = 0;

    /* Blanks there are wrong, but may still be taken for a part of it. */
    while (end > 0 && (text[end - 1] == ' ' || text[end - 1] == '\t')) {
        end--;
    }
    if (text[0] != ' ' && text[0] != '\t') {
        lines->is_secret = tap_is_secret(lines->tap, text, end);
        value = name < len ? name + 1 : len;
    }
    while (value < len && text[value] == ' ') {
        value++;
    }
    put(lines, text, value, 0);
    put(lines, text + value, len - value, lines->is_secret);
}

size_t
tap_show_lines(const struct tap *tap, enum side side, const uint8_t *data,
               size_t len, char text[TAP_LINES_MAX])
{
    struct lines lines = {.tap = tap, .text = text};
    const char *at = (const char *)data;

    for (int is_first = 1; len > 0; is_first = 0) {
        size_t line = span(at, len, "\n");
        size_t end = line < len ? line + 1 : len;

        if (line > 0 && at[line - 1] == '\r') {
            line--;
        }
        if (is_first && side == SIDE_CLIENT) {
            put_request(&lines, at, line);
        } else if (is_first) {
            put_status(&lines, at, line);
        } else {
            put_field(&lines, at, line);
        }
        put(&lines, at + line, end - line, 0);
        at += end;
        len -= end;
    }
    return lines.len;
}
