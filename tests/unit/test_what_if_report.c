/* SPDX-License-Identifier: MIT */
/* What --summary says of --what-if: the table and the advice, with the thread
 * at work. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "what_if_play.h"

static void
expect_table(struct what_if *what_if, const char *const *want, size_t n)
{
    char *text = NULL;
    size_t len = 0;
    FILE *file = open_memstream(&text, &len);

    what_if_finish(what_if);
    what_if_print(what_if, file);
    fclose(file);
    for (size_t i = 0; i < n; i++) {
        if (strstr(text, want[i]) == NULL) {
            fail_msg("\"%s\" is not in:\n%s", want[i], text);
        }
    }
    free(text);
    what_if_free(what_if);
}

static void
test_advice(void **state)
{
    static const char *const want[] = {
        "pays_below  method\n",
        "now:plain",
        "/pkg.Service/Method\n",
        "    gzip:6 saves 89.4 %",
        " and pays below ",
        "bit/s; messages up to 20 bytes grow\n",
    };
    struct what_if *what_if = play_start("gzip:6", 100, 0);
    struct what_if_flow flow = {0};

    (void)state;
    what_if_flow_open(what_if, &flow, SIDE_CLIENT, PLAY_PATH,
                      strlen(PLAY_PATH));
    play_pass_kind(what_if, &flow, PLAY_TEXT, 20);
    play_pass_kind(what_if, &flow, PLAY_TEXT, 100000);
    play_wait_sampled(what_if, &flow, 2);
    expect_table(what_if, want, sizeof(want) / sizeof(want[0]));
}

/* One long message that grows does not make short ones grow. */
static void
test_advice_mixed(void **state)
{
    static const char *const want[] = {"; 1 of 11 messages grow\n"};
    struct what_if *what_if = play_start("gzip:6", 100, 0);
    struct what_if_flow flow = {0};

    (void)state;
    what_if_flow_open(what_if, &flow, SIDE_CLIENT, PLAY_PATH,
                      strlen(PLAY_PATH));
    for (int i = 0; i < 10; i++) {
        play_pass_kind(what_if, &flow, PLAY_TEXT, 3000);
    }
    play_pass_kind(what_if, &flow, PLAY_RANDOM, 20000);
    play_wait_sampled(what_if, &flow, 11);
    expect_table(what_if, want, sizeof(want) / sizeof(want[0]));
}

static void
test_advice_against(void **state)
{
    static const char *const want[] = {
        "leave it plain: no codec of the list makes these messages shorter\n",
        "nothing could be tried: no advice\n",
        "  now:gzip:?  ",
        "/a\\x1b[1m\n",
    };
    static const struct what_if_message seen = {
        .wire_bytes = 9,
        .codec = GRPCFRAME_CODEC_GZIP,
        .is_decoded = 1,
        .decoded_bytes = WHAT_IF_MESSAGE_MAX + 1,
    };
    struct what_if *what_if = play_start("gzip:6,snappy", 100, 0);
    struct what_if_flow plain = {0};
    struct what_if_flow large = {0};

    (void)state;
    what_if_flow_open(what_if, &plain, SIDE_CLIENT, PLAY_PATH,
                      strlen(PLAY_PATH));
    play_pass_kind(what_if, &plain, PLAY_RANDOM, 5000);
    play_wait_sampled(what_if, &plain, 1);
    what_if_flow_open(what_if, &large, SIDE_CLIENT, "/a\x1b[1m", 6);
    what_if_flow_take(what_if, &large, WHAT_IF_MESSAGE_MAX + 1,
                      (const uint8_t *)"", 1);
    what_if_flow_end(what_if, &large, &seen);
    expect_table(what_if, want, sizeof(want) / sizeof(want[0]));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_advice),
        cmocka_unit_test(test_advice_mixed),
        cmocka_unit_test(test_advice_against),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
