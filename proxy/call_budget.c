/* SPDX-License-Identifier: MIT */
/*
 * Owns the budget of decompression: what a direction of a connection may make
 * the tap put out, by the body bytes it has sent.  Each message and body has
 * the ceiling of --max-decoded-bytes besides; this one is for many of them.
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
    const struct tap *tap = flow->call->tap;
    const struct tap_dir *dir = &tap->dir[flow->side];
    uint64_t ceiling = tap->shared->config->max_decoded_bytes;
    uint64_t budget = BUDGET_FREE + BUDGET_RATIO * dir->body_bytes;
    uint64_t left = budget > dir->decoded_bytes ? budget - dir->decoded_bytes
                                                : 1;

    if (ceiling == 0 || left < ceiling) {
        ceiling = left;
    }
    flow->reader.ceiling = ceiling;
    flow->coding.ceiling = ceiling;
}

void
call_budget_pass(struct flow *flow, size_t len)
{
    flow->call->tap->dir[flow->side].body_bytes += len;
    call_budget_count(flow);
}
