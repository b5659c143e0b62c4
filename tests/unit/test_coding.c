/* SPDX-License-Identifier: MIT */
/*
 * Content codings: lists, what Accept-Encoding allows, and chains of decoders.
 * Faults and limits are in test_coding_faults.c; when a notice is due is in
 * tests/vectors/http.txt.
 */
#include <stdio.h>

#include "coding_rig.h"

/* ---- Lists ----------------------------------------------------------- */

/* |list| must have the elements of |expected|, which are joined by '|'. */
static void
expect_list(const char *list, const char *expected)
{
    char joined[200] = "";
    size_t len = strlen(list);
    size_t used = 0;
    size_t n;
    const char *element;

    for (;;) {
        element = coding_next(&list, &len, &n);
        if (element == NULL) {
            break;
        }
        used += (size_t)snprintf(joined + used, sizeof(joined) - used,
                                 "%s%.*s", used ? "|" : "", (int)n, element);
        assert_true(used < sizeof(joined));
    }
    assert_int_equal(len, 0);
    assert_null(coding_next(&list, &len, &n));
    assert_string_equal(joined, expected);
}

static void
test_list(void **state)
{
    (void)state;
    expect_list("", "");
    expect_list(" ", "");
    expect_list(",", "");
    expect_list(" ,\t, ,", "");
    expect_list("gzip", "gzip");
    expect_list(" \tgzip\t ", "gzip");
    expect_list("gzip,br", "gzip|br");
    expect_list("gzip , br,", "gzip|br");
    expect_list(",,gzip,,\t br ;q=0 ,", "gzip|br ;q=0");
}

/* ---- Accept-Encoding ------------------------------------------------- */

static const struct {
    const char *accept; /* NULL: absent */
    const char *name;
    int accepted;
} accepts[] = {
    /* Absent: anything.  Empty: nothing but identity. */
    {NULL, "gzip", 1},
    {NULL, "x-made-up", 1},
    {NULL, "identity", 1},
    {"", "gzip", 0},
    {"", "identity", 1},
    {" , ", "gzip", 0},
    /* Listed. */
    {"gzip", "gzip", 1},
    {"GZip", "gzip", 1},
    {"gzip", "GZIP", 1},
    {"gzip", "br", 0},
    {"gzip", "identity", 1},
    {"deflate, gzip, br", "br", 1},
    {"gzipped", "gzip", 0},
    {"gzi", "gzip", 0},
    {"gzip", "gzi", 0},
    /* Names of old. */
    {"x-gzip", "gzip", 1},
    {"gzip", "x-gzip", 1},
    {"X-Gzip;q=0", "gzip", 0},
    {"x-compress", "compress", 1},
    {"compress", "x-compress", 1},
    {"x-br", "br", 0},
    /* Weights. */
    {"gzip;q=1", "gzip", 1},
    {"gzip;q=1.000", "gzip", 1},
    {"gzip;q=0.001", "gzip", 1},
    {"gzip;q=0.5, br;q=0.9", "gzip", 1},
    {"gzip;q=0", "gzip", 0},
    {"gzip;q=0.", "gzip", 0},
    {"gzip;q=0.0", "gzip", 0},
    {"gzip;q=0.000", "gzip", 0},
    {"gzip;Q=0", "gzip", 0},
    {"gzip ; q=0", "gzip", 0},
    {"gzip\t;\tq=0\t", "gzip", 0},
    {"gzip;q=0, br", "gzip", 0},
    {"gzip;q=0, br", "br", 1},
    {"br;q=0, gzip", "gzip", 1},
    /* No weight, or none of 0: forbids nothing. */
    {"gzip;", "gzip", 1},
    {"gzip;q", "gzip", 1},
    {"gzip;q=", "gzip", 1},
    {"gzip;q=x", "gzip", 1},
    {"gzip;q=-0", "gzip", 1},
    {"gzip;q=00", "gzip", 1},
    {"gzip;q=0x", "gzip", 1},
    {"gzip;xq=0", "gzip", 1},
    {"gzip;level=0", "gzip", 1},
    {"gzip;level=9;q=0", "gzip", 0},
    {"gzip;q=0;level=9", "gzip", 0},
    /* What is not listed. */
    {"*", "gzip", 1},
    {"*", "identity", 1},
    {"br, *", "gzip", 1},
    {"*;q=0", "gzip", 0},
    {"*;q=0", "identity", 0},
    {"*;q=0.0", "identity", 0},
    {"*;q=0.1", "gzip", 1},
    {"*;q=0, gzip", "gzip", 1},
    {"gzip, *;q=0", "gzip", 1},
    {"gzip, *;q=0", "br", 0},
    {"gzip, *;q=0", "identity", 0},
    {"gzip;q=0, *", "gzip", 0},
    {"*, gzip;q=0", "gzip", 0},
    {"*, gzip;q=0", "br", 1},
    /* Identity. */
    {"identity;q=0", "identity", 0},
    {"identity;q=0.000", "identity", 0},
    {"identity;q=0, gzip", "gzip", 1},
    {"identity;q=0, *", "identity", 0},
    {"identity, *;q=0", "identity", 1},
    {"*;q=0, identity;q=0.1", "identity", 1},
    {"identity", "gzip", 0},
    /* Twice. */
    {"gzip;q=0, gzip", "gzip", 1},
    {"gzip, gzip;q=0", "gzip", 1},
    {"gzip;q=0, x-gzip;q=0", "gzip", 0},
};

static void
test_accepts(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(accepts); i++) {
        const char *accept = accepts[i].accept;
        int accepted =
            coding_accepts(accept, accept == NULL ? 0 : strlen(accept),
                           accepts[i].name, strlen(accepts[i].name));

        if (accepted != accepts[i].accepted) {
            fail_msg("%s against \"%s\"", accepts[i].name,
                     accept == NULL ? "(absent)" : accept);
        }
    }
}

/* ---- Chains ---------------------------------------------------------- */

static void
test_chains(void **state)
{
    static const struct {
        const char *list;
        const char *encoders;
    } rows[] = {
        {"", ""},
        {"identity", ""},
        {"identity, identity", ""},
        {"gzip", "gzip"},
        {"x-gzip", "gzip"},
        {"GZIP", "gzip"},
        {"identity, gzip , identity,", "gzip"},
        {"deflate", "zlib"},
        {"deflate", "rawdeflate"},
        {"br", "br"},
        {"zstd", "zstd"},
        {"zstd", "zstd_checksum"},
        {"gzip, gzip", "gzip gzip"},
        {"gzip, br", "gzip br"},
        {"br, gzip", "br gzip"},
        {"deflate, zstd", "rawdeflate zstd"},
        {"gzip, br, zstd", "gzip br zstd"},
        {"zstd, deflate, gzip", "zstd zlib gzip"},
        {"gzip, gzip, gzip", "gzip gzip gzip"},
    };
    static const size_t sizes[] = {0, 1, 300, 20000};

    (void)state;
    for (size_t i = 0; i < COUNT(rows) * COUNT(sizes); i++) {
        struct vector_buf data = {0};
        struct vector_buf body;

        play_make(&data, i % 3 == 0 ? PLAY_RANDOM : PLAY_TEXT,
                  sizes[i % COUNT(sizes)]);
        body = encode(rows[i / COUNT(sizes)].encoders, &data);
        expect_content(rows[i / COUNT(sizes)].list, &body, &data);
        vector_buf_clear(&data);
        vector_buf_clear(&body);
    }
}

/* The wrong way round, no chain works. */
static void
test_order(void **state)
{
    struct vector_buf data = {0};
    struct vector_buf body;
    struct found found;

    (void)state;
    play_make(&data, PLAY_TEXT, 500);
    body = encode("gzip br", &data);
    found = undo_in_cuts("br, gzip", CEILING, &body);
    assert_int_equal(found.result, GRPCFRAME_RESULT_CORRUPT);
    assert_int_equal(found.failed, 0);
    assert_int_equal(found.decoded, 0);
    assert_true(found.is_other);
    vector_buf_clear(&data);
    vector_buf_clear(&body);
}

static void
test_members(void **state)
{
    struct vector_buf data = {0};
    struct vector_buf body = {0};

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct vector_buf part = {0};

        play_make(&part, PLAY_TEXT, 100 * (size_t)i);
        play_encode(&body, "gzip", &part);
        vector_buf_add(&data, part.data, part.len);
        vector_buf_clear(&part);
    }
    expect_content("gzip", &body, &data);
    vector_buf_clear(&data);
    vector_buf_clear(&body);
}

/* A body of no bytes holds no bytes, and takes no decoder. */
static void
test_no_body(void **state)
{
    struct vector_buf body = {0};
    struct grpcframe_pool *small;
    struct coding coding;
    struct found found = undo("gzip, br", CEILING, &body, 0, 0);

    (void)state;
    assert_int_equal(found.result, GRPCFRAME_RESULT_OK);
    assert_int_equal(found.decoded, 0);
    assert_int_equal(grpcframe_pool_new(&small, 0), 0);
    coding_open(&coding, small, "gzip", 4, CEILING, NULL, NULL);
    assert_int_equal(coding_finish(&coding), GRPCFRAME_RESULT_OK);
    coding_clear(&coding);
    grpcframe_pool_free(small);
}

static void
test_unknown(void **state)
{
    static const char *const lists[] = {
        "compress",           "aws-chunked",  "gzip, x-made-up",
        "x-made-up, gzip",    "gzip;level=1", "gzip br",
        "br, br, br, br",     "gzip, gzip, gzip, gzip, gzip",
        "gzip, \"identity\"",
    };
    struct vector_buf data = {0};
    struct vector_buf body;

    (void)state;
    play_make(&data, PLAY_TEXT, 100);
    body = encode("gzip", &data);
    for (size_t i = 0; i < COUNT(lists); i++) {
        struct found found = undo(lists[i], CEILING, &body, 10, 10);

        assert_int_equal(found.result, GRPCFRAME_RESULT_UNAVAILABLE);
        assert_int_equal(found.decoded, 0);
        assert_false(found.is_other);
        vector_buf_clear(&found.output);
    }
    vector_buf_clear(&data);
    vector_buf_clear(&body);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_accepts),
        cmocka_unit_test(test_chains),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_members),
        cmocka_unit_test(test_no_body),
        cmocka_unit_test(test_unknown),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
