/* SPDX-License-Identifier: MIT */
/* The members of events that come from pace.h.  For event*.c alone. */
#ifndef EVENT_PACE_H
#define EVENT_PACE_H

#include "json.h"
#include "side.h"

struct call;
struct tap;

/* event_pace_connection writes `pace` of one side of a connection. */
void event_pace_connection(struct json *json, const struct tap *tap,
                           enum side side);

/* event_pace_call writes the members that a direction of |call| has. */
void event_pace_call(struct json *json, const struct call *call,
                     enum side side);

#endif
