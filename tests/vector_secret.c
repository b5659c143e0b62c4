/* SPDX-License-Identifier: MIT */
/* Owns the search for values of redacted headers in the events of a vector.
 * What is redacted is the tap's choice; which values there are is taken from
 * what it writes with nothing hidden. */
#include "vector_secret.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* struct pair is a header field. */
struct pair {
    /* name and value are strings of the lines they were found in. */
    const char *name;
    const char *value;
};

/* struct search is what is known of a vector. */
struct search {
    const struct vector *vector;
    /* plain is what is written with nothing hidden. */
    struct vector_lines plain;
    /* pairs are the n fields in it. */
    struct pair *pairs;
    size_t n;
    /* redact are the names hidden in the run under way, n_redact of them. */
    const char **redact;
    unsigned n_redact;
    struct vector_buf *problem;
};

/* ---- Texts ----------------------------------------------------------- */

static int
is_edge(const char *at)
{
    return !isalnum((unsigned char)*at);
}

/* has_token returns 1 when |word| stands in |text| by itself. */
static int
has_token(const char *text, const char *word)
{
    size_t len = strlen(word);

    for (const char *at = strstr(text, word); at != NULL;
         at = strstr(at + 1, word)) {
        if ((at == text || is_edge(at) || is_edge(at - 1)) &&
            (at[len] == '\0' || is_edge(at + len) ||
             is_edge(at + len - 1))) {
            return 1;
        }
    }
    return 0;
}

/* Figures are shown, as events.md says; and of a text of one character nobody
 * could tell where it comes from. */
static int
is_searchable(const char *value)
{
    return strlen(value) > 1 && strspn(value, "0123456789") < strlen(value);
}

static const char *
canonical(const char *name)
{
    return strcmp(name, "host") == 0 ? ":authority" : name;
}

/* ---- What there is --------------------------------------------------- */

static void
pair_add(struct search *search, const char *name, const char *value)
{
    search->pairs = vector_grow(search->pairs, search->n + 1,
                                sizeof(*search->pairs));
    search->pairs[search->n].name = canonical(name);
    search->pairs[search->n].value = value;
    search->n++;
}

static void
fields_collect(struct search *search, const cJSON *event)
{
    const cJSON *field;

    cJSON_ArrayForEach(field, cJSON_GetObjectItem(event, "headers")) {
        pair_add(search, cJSON_GetArrayItem(field, 0)->valuestring,
                 cJSON_GetArrayItem(field, 1)->valuestring);
    }
}

/* start_collect takes a start line of HTTP/1.x apart, where it is. */
static void
start_collect(struct search *search, const cJSON *event)
{
    const cJSON *line = cJSON_GetObjectItem(event, "start_line");
    int is_request =
        strcmp(vector_lines_string(event, "from"), "client") == 0;
    char *target = is_request && cJSON_IsString(line)
                       ? strchr(line->valuestring, ' ')
                       : NULL;
    char *version = target != NULL ? strrchr(target + 1, ' ') : NULL;

    if (version != NULL) {
        *target = '\0';
        *version = '\0';
        pair_add(search, ":method", line->valuestring);
        pair_add(search, ":path", target + 1);
    }
}

static void
member_collect(struct search *search, const cJSON *object, const char *member,
               const char *name)
{
    const char *value = vector_lines_string(object, member);

    if (value[0] != '\0') {
        pair_add(search, name, value);
    }
}

/* Some values are printed in another form than they are sent in: lists are
 * joined, grpc-message is decoded.  Those of gRPC-Web are in no header. */
static void
call_collect(struct search *search, const cJSON *event)
{
    static const char *const sides[] = {"request", "response"};

    member_collect(search, event, "grpc_message", "grpc-message");
    for (int i = 0; i < 2; i++) {
        const cJSON *side = cJSON_GetObjectItem(event, sides[i]);

        member_collect(search, side, "accept_encoding", "accept-encoding");
        member_collect(search, side, "content_encoding", "content-encoding");
        member_collect(search, side, "grpc_accept_encoding",
                       "grpc-accept-encoding");
    }
}

static void
collect(struct search *search)
{
    for (size_t i = 0; i < search->plain.n; i++) {
        const cJSON *event = search->plain.events[i];

        fields_collect(search, event);
        start_collect(search, event);
        call_collect(search, event);
    }
}

/* ---- What is found --------------------------------------------------- */

static int
is_redacted(const struct search *search, const char *name)
{
    for (unsigned i = 0; i < search->n_redact; i++) {
        if (strcmp(search->redact[i], name) == 0) {
            return 1;
        }
    }
    return 0;
}

/* is_shared returns 1 when |value| is, or is in, one that may be shown. */
static int
is_shared(const struct search *search, const char *value)
{
    for (size_t i = 0; i < search->n; i++) {
        if (!is_redacted(search, search->pairs[i].name) &&
            has_token(search->pairs[i].value, value)) {
            return 1;
        }
    }
    return 0;
}

/* text_check looks for |pair| in the string |text| of the member |key|. */
static int
text_check(struct search *search, const struct pair *pair, const char *key,
           const char *text)
{
    if (!has_token(text, pair->value) || is_shared(search, pair->value)) {
        return 0;
    }
    vector_format(search->problem, "%s is redacted, and \"%s\" is in %s: %s",
                  pair->name, pair->value, key, text);
    return -1;
}

/* Members that are our own words, or no header's: bodies, addresses. */
static int
is_exempt(const char *key)
{
    static const char *const keys[] = {
        "event", "time", "started", "code", "severity", "from", "protocol",
        "rpc", "kind", "end", "reset_code", "grpc_status_name", "compression",
        "encoding_form", "form", "magic", "looks_like", "first_bytes",
        "block", "client", "server", "reason", "type", "flag_names", "name",
        "client_protocol", "server_protocol", "debug", "error_code",
        "frame_type", "window", "error", "tls", "sni",
    };

    for (size_t i = 0; key != NULL && i < sizeof(keys) / sizeof(*keys); i++) {
        if (strcmp(keys[i], key) == 0) {
            return 1;
        }
    }
    return 0;
}

/* Words of our own sentences that some vector has as a value, too. */
static int
is_our_word(const char *key, const char *value)
{
    static const char *const words[] = {"trailers", "chunked", "value",
                                        "Accept-Encoding", "identity"};

    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        if (strcmp(key, "detail") == 0 && strcmp(words[i], value) == 0) {
            return 1;
        }
    }
    return 0;
}

/* string_cut leaves out of |text| what is no header's: what the bytes of a body
 * look like, versions. */
static char *
string_cut(const char *key, char *text)
{
    int is_start = strcmp(key, "start_line") == 0;
    char *end = strstr(text, is_start ? " HTTP/" : "look like ");

    if (end != NULL) {
        *end = '\0';
    }
    return is_start && strncmp(text, "HTTP/", 5) == 0 ? strchr(text, ' ')
                                                      : text;
}

static int
string_check(struct search *search, const char *key, const char *string)
{
    char *copy = strdup(string);
    const char *text = string_cut(key, copy);
    int result = 0;

    for (size_t i = 0; i < search->n && result == 0; i++) {
        const struct pair *pair = &search->pairs[i];

        if (is_redacted(search, pair->name) && is_searchable(pair->value) &&
            !is_our_word(key, pair->value)) {
            result = text_check(search, pair, key, text);
        }
    }
    free(copy);
    return result;
}

/* Names of fields are no values. */
static int
is_field_name(const cJSON *item, const cJSON *parent, const char *key)
{
    return cJSON_IsArray(parent) && strcmp(key, "headers") == 0 &&
           item == parent->child;
}

static int
item_check(struct search *search, const char *key, const cJSON *parent)
{
    const cJSON *item;

    cJSON_ArrayForEach(item, parent) {
        const char *name = item->string != NULL ? item->string : key;
        int result = 0;

        if (is_exempt(name) || is_field_name(item, parent, name)) {
            continue;
        }
        if (cJSON_IsString(item)) {
            result = string_check(search, name, item->valuestring);
        } else if (item->child != NULL) {
            result = item_check(search, name, item);
        }
        if (result != 0) {
            return result;
        }
    }
    return 0;
}

/* ---- Runs ------------------------------------------------------------ */

static void
play(const struct search *search, int show, struct vector_lines *lines)
{
    struct vector_script script = search->vector->script;
    struct vector_cut cut = {VECTOR_CUT_WHOLE, 0, 0};
    struct vector_run run;

    memset(&run, 0, sizeof(run));
    script.config.events = vector_tap_all_events;
    script.config.show_secrets = show;
    script.config.redact = search->redact;
    script.config.n_redact = search->n_redact;
    vector_tap_play(&script, &cut, &run);
    /* Whether the lines are valid is checked elsewhere. */
    (void)vector_lines_parse(lines, &run.text, search->problem);
    vector_buf_clear(&run.text);
}

static int
redacted_check(struct search *search)
{
    struct vector_lines lines;
    int result = 0;

    play(search, 0, &lines);
    for (size_t i = 0; i < lines.n && result == 0; i++) {
        result = item_check(search, "", lines.events[i]);
    }
    vector_lines_clear(&lines);
    return result;
}

static int
each_check(struct search *search)
{
    const char **names = malloc((search->n + 1) * sizeof(*names));
    unsigned n = 0;
    int result = 0;

    search->redact = names;
    for (size_t i = 0; i < search->n; i++) {
        search->n_redact = n;
        if (!is_redacted(search, search->pairs[i].name)) {
            names[n++] = search->pairs[i].name;
        }
    }
    for (unsigned i = 0; i < n && result == 0; i++) {
        search->redact = &names[i];
        search->n_redact = 1;
        result = redacted_check(search);
    }
    search->redact = names;
    search->n_redact = n;
    if (result == 0) {
        result = redacted_check(search);
    }
    free(names);
    return result;
}

int
vector_secret_check(const struct vector *vector, struct vector_buf *problem)
{
    struct search search = {.vector = vector, .problem = problem};
    int result;

    play(&search, 1, &search.plain);
    collect(&search);
    result = each_check(&search);
    vector_lines_clear(&search.plain);
    free(search.pairs);
    return result;
}
