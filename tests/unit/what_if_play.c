/* SPDX-License-Identifier: MIT */
/* Owns what tests of --what-if do alike.  What they look at is their own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <unistd.h>

#include "what_if_play.h"

struct what_if *
play_start(const char *list, unsigned percent, uint64_t event_us)
{
    struct what_if_config config = {
        .cpu_percent = percent,
        .wants_events = 1,
        .event_us = event_us,
    };
    struct what_if *what_if;

    assert_null(what_if_list_parse(&config.list, list));
    what_if = what_if_new(&config);
    assert_non_null(what_if);
    return what_if;
}

void
play_pass(struct what_if *what_if, struct what_if_flow *flow,
          const uint8_t *data, size_t len, size_t step)
{
    struct what_if_message message = {
        .wire_bytes = len,
        .is_decoded = 1,
        .decoded_bytes = len,
    };

    for (size_t at = 0; at < len; at += step) {
        what_if_flow_take(what_if, flow, len, data + at,
                          len - at < step ? len - at : step);
    }
    what_if_flow_end(what_if, flow, &message);
}

void
play_pass_kind(struct what_if *what_if, struct what_if_flow *flow,
               enum play_data kind, size_t len)
{
    struct vector_buf data = {0};

    play_make(&data, kind, len);
    play_pass(what_if, flow, data.data, len, 10000);
    vector_buf_clear(&data);
}

struct what_if_counts
play_counts(struct what_if *what_if, const struct what_if_flow *flow)
{
    struct what_if_counts counts;

    pthread_mutex_lock(&what_if->lock);
    counts = what_if_entry_counts(flow->entry);
    pthread_mutex_unlock(&what_if->lock);
    return counts;
}

void
play_wait_sampled(struct what_if *what_if, const struct what_if_flow *flow,
                  uint64_t n)
{
    for (int i = 0; i < 6000; i++) {
        if (play_counts(what_if, flow).sampled >= n) {
            return;
        }
        usleep(10000);
    }
    fail_msg("not tried in 60 s");
}
