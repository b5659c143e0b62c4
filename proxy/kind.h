/* SPDX-License-Identifier: MIT */
/* The kinds of events: their names on the wire and in --events. */
#ifndef KIND_H
#define KIND_H

/* enum event_kind lists every event; kind.c holds the names. */
enum event_kind {
    EVENT_START,
    EVENT_STOP,
    EVENT_DROPPED,
    EVENT_CONNECTION_OPEN,
    EVENT_CONNECTION_CLOSE,
    EVENT_CALL,
    EVENT_MESSAGE,
    EVENT_NOTICE,
    EVENT_GOAWAY,
    EVENT_HEADERS,
    EVENT_FRAME,
    EVENT_SETTINGS,
    EVENT_WHAT_IF,
    EVENT_KINDS
};

/* event_kind_name returns the value of `event` for |kind|. */
const char *event_kind_name(enum event_kind kind);

/* event_kind_is_vital returns 1 for start, stop and dropped, which are always
 * written whatever is selected or full. */
int event_kind_is_vital(enum event_kind kind);

/* event_kind_select adds to |*mask| (bit 1 << kind) what |name| of |len|
 * bytes, one word of an --events list, selects: `connection`, `call`, ...,
 * `all`, `default`; `none` empties it.  Returns 0, or -1 for an unknown
 * name. */
int event_kind_select(unsigned *mask, const char *name, unsigned long len);

/* EVENT_DEFAULT_MASK is what is written when --events is not given. */
#define EVENT_DEFAULT_MASK                                                    \
    (1u << EVENT_CONNECTION_OPEN | 1u << EVENT_CONNECTION_CLOSE |             \
     1u << EVENT_CALL | 1u << EVENT_MESSAGE | 1u << EVENT_NOTICE |            \
     1u << EVENT_GOAWAY | 1u << EVENT_WHAT_IF)

#endif
