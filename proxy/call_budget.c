/* SPDX-License-Identifier: MIT */
/*
 * Owns the budget of decompression: what a direction of a connection may make
 * the tap put out, by the body bytes it has sent.  A message or body by itself
 * is bounded by GRPCFRAME_RATIO_MAX and by --max-decoded-bytes; this is for
 * many of them.
 *
 * It only counts what has passed in whole frames (or chunks), so that it does
 * not depend on how they were cut.
 */
#include "call.h"
#include "tap_conn.h"

/* A tap keeps its worker busy for as long as it decompresses: a quarter of a
 * second, about, with a free budget of that size. */
#define BUDGET_FREE GRPCFRAME_RATIO_FREE
#define BUDGET_RATIO GRPCFRAME_RATIO_MAX

/* What the flow's decoders have put out so far. */
static uint64_t
put_out(const struct flow *flow)
{
    uint64_t sum = flow->decoded_done;

    if (flow->coded) {
        sum += flow->coding.decoded_bytes;
    }
    if (flow->parsing) {
        sum += grpcframe_reader_decoding(&flow->reader);
    }
    return sum;
}

void
call_budget_count(struct flow *flow)
{
    struct tap_dir *dir = &flow->call->tap->dir[flow->side];
    uint64_t sum = put_out(flow);

    if (sum > flow->decoded_counted) {
        dir->decoded_bytes += sum - flow->decoded_counted;
        flow->decoded_counted = sum;
    }
}

void
call_budget_apply(struct flow *flow)
{
    const struct tap_dir *dir = &flow->call->tap->dir[flow->side];
    uint64_t budget = BUDGET_FREE + BUDGET_RATIO * dir->body_bytes;
    uint64_t left =
        budget > dir->decoded_bytes ? budget - dir->decoded_bytes : 0;

    /* What comes out of a message beyond that has to be paid for by its own
     * bytes. */
    if (left > BUDGET_FREE) {
        left = BUDGET_FREE;
    }
    flow->reader.ratio_free = left;
    flow->coding.ratio_free = left;
}

void
call_budget_pass(struct flow *flow, size_t len)
{
    flow->call->tap->dir[flow->side].body_bytes += len;
    call_budget_count(flow);
}
