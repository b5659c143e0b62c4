/* SPDX-License-Identifier: MIT */
/*
 * The share of CPU that --what-if may use: a token bucket of CPU time, filled
 * by the time that passes.  It reads no clock.
 */
#ifndef WHAT_IF_BUDGET_H
#define WHAT_IF_BUDGET_H

#include <stdint.h>

/* WHAT_IF_BURST_NS is how much CPU time may be saved up: enough for some short
 * messages at a time, and too little to be felt by a burst of traffic. */
#define WHAT_IF_BURST_NS INT64_C(5000000)

/* struct what_if_budget is the bucket. */
struct what_if_budget {
    /* percent of one core that may be used, 1 to 100. */
    unsigned percent;
    /* credit_ns is CPU time that may be used; below 0: used ahead. */
    int64_t credit_ns;
    /* filled_ns is when the credit was last added to. */
    uint64_t filled_ns;
};

/* what_if_budget_init fills |budget| at |now_ns|. */
void what_if_budget_init(struct what_if_budget *budget, unsigned percent,
                         uint64_t now_ns);

/* what_if_budget_spend takes |cpu_ns| off at |now_ns|. */
void what_if_budget_spend(struct what_if_budget *budget, uint64_t cpu_ns,
                          uint64_t now_ns);

/* what_if_budget_wait returns how long to rest: 0 while there is credit, then
 * until the bucket is full, so that a thread works a while and rests a while
 * instead of waking up for every message. */
uint64_t what_if_budget_wait(const struct what_if_budget *budget);

#endif
