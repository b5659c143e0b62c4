/* SPDX-License-Identifier: MIT */
/*
 * For tests of --what-if without a tap: to start it, to let messages pass, and
 * to wait until they were tried.  What fails, fails the test.
 */
#ifndef WHAT_IF_PLAY_H
#define WHAT_IF_PLAY_H

#include <stddef.h>
#include <stdint.h>

#include "../../proxy/what_if_parts.h"
#include "../../proxy/what_if_tap.h"
#include "grpcframe_play.h"

/* PLAY_PATH is some method. */
#define PLAY_PATH "/pkg.Service/Method"

/* play_start starts it with events, every |event_us| (0: as ever). */
struct what_if *play_start(const char *list, unsigned percent,
                           uint64_t event_us);

/* play_pass lets a message pass in pieces of |step| bytes. */
void play_pass(struct what_if *what_if, struct what_if_flow *flow,
               const uint8_t *data, size_t len, size_t step);

/* play_pass_kind lets one of |len| bytes of |kind| pass. */
void play_pass_kind(struct what_if *what_if, struct what_if_flow *flow,
                    enum play_data kind, size_t len);

/* play_counts returns the counts of the entry of |flow|. */
struct what_if_counts play_counts(struct what_if *what_if,
                                  const struct what_if_flow *flow);

/* play_wait_sampled waits until |n| messages of its entry were tried. */
void play_wait_sampled(struct what_if *what_if, const struct what_if_flow *flow,
                       uint64_t n);

#endif
