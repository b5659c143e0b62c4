/* SPDX-License-Identifier: MIT */
/* Owns the names of the events and the words of an --events list.  What the
 * events contain is event.c's and event_run.c's. */
#include "kind.h"

#include <stddef.h>
#include <string.h>

/* names are the values of `event`, by enum event_kind. */
static const char *const names[EVENT_KINDS] = {
    "start", "stop",     "dropped", "connection_open", "connection_close",
    "call",  "message",  "notice",  "goaway",          "headers",
    "frame", "settings", "what_if",
};

#define VITAL_MASK (1u << EVENT_START | 1u << EVENT_STOP | 1u << EVENT_DROPPED)
#define ALL_MASK (((1u << EVENT_KINDS) - 1) & ~VITAL_MASK)

/* words are what an --events list is made of. */
static const struct {
    /* word as the user writes it. */
    const char *word;
    /* mask is what it adds. */
    unsigned mask;
} words[] = {
    {"connection", 1u << EVENT_CONNECTION_OPEN | 1u << EVENT_CONNECTION_CLOSE},
    {"call", 1u << EVENT_CALL},
    {"message", 1u << EVENT_MESSAGE},
    {"notice", 1u << EVENT_NOTICE},
    {"goaway", 1u << EVENT_GOAWAY},
    {"headers", 1u << EVENT_HEADERS},
    {"frame", 1u << EVENT_FRAME},
    {"settings", 1u << EVENT_SETTINGS},
    {"what_if", 1u << EVENT_WHAT_IF},
    {"default", EVENT_DEFAULT_MASK},
    {"all", ALL_MASK},
    {"none", 0},
};

const char *
event_kind_name(enum event_kind kind)
{
    return names[kind];
}

int
event_kind_is_vital(enum event_kind kind)
{
    return (VITAL_MASK >> kind & 1u) != 0;
}

int
event_kind_select(unsigned *mask, const char *name, unsigned long len)
{
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strlen(words[i].word) != len ||
            memcmp(words[i].word, name, len) != 0)
            continue;
        *mask = words[i].mask == 0 ? 0 : *mask | words[i].mask;
        return 0;
    }
    return -1;
}
