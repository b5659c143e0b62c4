/* SPDX-License-Identifier: MIT */
/* tls_hello.c: lengths that lie, contents that are forbidden, and mutants of
 * good bytes. */
#include "tls_hello_rig.h"

/* ---- Lengths that lie ------------------------------------------------ */

/* Each length inside a hello: where, its width, and what it is.  That of
 * supported_groups is not among them: 2 more would make another list of
 * extensions that is as good. */
static const struct {
    const char *name;
    enum side side;
    const uint8_t *bytes;
    size_t len;
    size_t at;
    unsigned width;
    unsigned value;
} lengths[] = {
    {"session ID", SIDE_CLIENT, BYTES(client_1_2), 43, 1, 0},
    {"cipher suites", SIDE_CLIENT, BYTES(client_1_2), 44, 2, 4},
    {"compression", SIDE_CLIENT, BYTES(client_1_2), 50, 1, 1},
    {"extensions", SIDE_CLIENT, BYTES(client_1_2), 52, 2, 53},
    {"server_name", SIDE_CLIENT, BYTES(client_1_2), 56, 2, 14},
    {"name list", SIDE_CLIENT, BYTES(client_1_2), 58, 2, 12},
    {"host name", SIDE_CLIENT, BYTES(client_1_2), 61, 2, 9},
    {"ALPN", SIDE_CLIENT, BYTES(client_1_2), 82, 2, 14},
    {"protocols", SIDE_CLIENT, BYTES(client_1_2), 84, 2, 12},
    {"first protocol", SIDE_CLIENT, BYTES(client_1_2), 86, 1, 2},
    {"second protocol", SIDE_CLIENT, BYTES(client_1_2), 89, 1, 8},
    {"extended_master_secret", SIDE_CLIENT, BYTES(client_1_2), 100, 2, 0},
    {"session_ticket", SIDE_CLIENT, BYTES(client_1_2), 104, 2, 1},
    {"session ID of 32", SIDE_CLIENT, BYTES(client_1_3), 43, 1, 32},
    {"supported_versions", SIDE_CLIENT, BYTES(client_1_3), 94, 2, 9},
    {"versions", SIDE_CLIENT, BYTES(client_1_3), 96, 1, 8},
    {"unknown name", SIDE_CLIENT, BYTES(client_1_3), 135, 2, 2},
    {"server's session ID", SIDE_SERVER, BYTES(server_1_2), 43, 1, 4},
    {"server's extensions", SIDE_SERVER, BYTES(server_1_2), 51, 2, 18},
    {"server's ALPN", SIDE_SERVER, BYTES(server_1_2), 64, 2, 5},
    {"server's protocols", SIDE_SERVER, BYTES(server_1_2), 66, 2, 3},
    {"server's protocol", SIDE_SERVER, BYTES(server_1_2), 68, 1, 2},
    {"server's version", SIDE_SERVER, BYTES(server_1_3), 57, 2, 2},
};

static void
put_number(uint8_t *at, unsigned width, unsigned value)
{
    for (unsigned i = 0; i < width; i++) {
        at[i] = (uint8_t)(value >> 8 * (width - 1 - i));
    }
}

/* Feeds |bytes| with the number at |at| changed. */
static void
dump_lie(struct dump *dump, enum side side, const uint8_t *bytes, size_t len,
         size_t at, unsigned width, unsigned value)
{
    uint8_t copy[256];

    assert_true(len <= sizeof(copy));
    memcpy(copy, bytes, len);
    put_number(copy + at, width, value);
    dump_whole(dump, side, copy, len);
}

/* A lie about a length leaves no fact: everything has to fit. */
static void
test_lies(void **state)
{
    struct dump dump;

    (void)state;
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        unsigned value = lengths[i].value;
        unsigned most = (1u << 8 * lengths[i].width) - 1;
        const unsigned lies[] = {0,         1,         value - 1, value + 1,
                                 value + 2, value - 2, most / 2,  most};
        unsigned char expected[2];

        put_number(expected, lengths[i].width, value);
        assert_memory_equal(lengths[i].bytes + lengths[i].at, expected,
                            lengths[i].width);
        for (size_t j = 0; j < sizeof(lies) / sizeof(lies[0]); j++) {
            if ((lies[j] & most) != value) {
                dump_lie(&dump, lengths[i].side, lengths[i].bytes,
                         lengths[i].len, lengths[i].at, lengths[i].width,
                         lies[j]);
                if (strncmp(dump.text, "broken record=0301", 16) != 0 ||
                    dump.len != 18) {
                    fail_msg("%s of %u: %s", lengths[i].name, lies[j],
                             dump.text);
                }
            }
        }
    }
}

/* The lengths around a hello: of the message, and of the record. */
static void
test_outer_lies(void **state)
{
    const char *broken = "broken record=0301";
    struct dump dump;

    (void)state;
    dump_lie(&dump, SIDE_CLIENT, BYTES(client_1_2), 6, 3, 97);
    check_dump("message too small", &dump, broken);
    dump_lie(&dump, SIDE_CLIENT, BYTES(client_1_2), 6, 3, 99);
    check_dump("message too large", &dump, "need-more record=0301");
    dump_lie(&dump, SIDE_CLIENT, BYTES(client_1_3), 6, 3, 145);
    check_dump("message too large, then another record", &dump, broken);
    dump_lie(&dump, SIDE_CLIENT, BYTES(client_1_3), 3, 2, 149);
    check_dump("record too large", &dump,
               "broken record=0301 hello legacy=0303 version=0304" NO_SUITE
               " versions=dada,7f1c,0304,0303 sni=x<00>\"<ff>z.test."
               " alpn=<8a><8a>;h2;");
    dump_lie(&dump, SIDE_CLIENT, BYTES(client_1_3), 3, 2, 147);
    check_dump("record too small", &dump, broken);
}

/* ---- Contents that are forbidden ------------------------------------- */

/* What may not be in the place of the extensions of client_1_2. */
static const struct {
    const char *name;
    const uint8_t *bytes;
    size_t len;
} forbidden[] = {
    {"two server_name", TEXT("\0\0\0\x06\0\x04\0\0\x01x\0\0\0\x06\0\x04\0\0"
                             "\x01y")},
    {"two ALPN", TEXT("\0\x10\0\x04\0\x02\x01x\0\x10\0\x04\0\x02\x01y")},
    {"two supported_versions", TEXT("\0\x2b\0\x03\x02\x03\x04"
                                    "\0\x2b\0\x03\x02\x03\x03")},
    {"empty server_name", TEXT("\0\0\0\0")},
    {"empty name list", TEXT("\0\0\0\x02\0\0")},
    {"empty host name", TEXT("\0\0\0\x05\0\x03\0\0\0")},
    {"empty ALPN", TEXT("\0\x10\0\0")},
    {"no protocol", TEXT("\0\x10\0\x02\0\0")},
    {"empty protocol", TEXT("\0\x10\0\x03\0\x01\0")},
    {"no version", TEXT("\0\x2b\0\x01\0")},
    {"half a version", TEXT("\0\x2b\0\x04\x03\x03\x04\x03")},
    {"half an extension", TEXT("\0\x17\0")},
};

/* What may not follow its random. */
static const struct {
    const char *name;
    const uint8_t *bytes;
    size_t len;
} forbidden_rest[] = {
    {"session ID of 33", TEXT("\x21"
                              "0123456789abcdef0123456789abcdef0"
                              "\0\x02\0\x0a\x01\0")},
    {"no cipher suite", TEXT("\0\0\0\x01\0")},
    {"half a cipher suite", TEXT("\0\0\x03\0\x0a\0\x01\0")},
    {"no compression", TEXT("\0\0\x02\0\x0a\0")},
    {"nothing", TEXT("")},
};

/* Feeds client_1_2 with |bytes| in the place of all from |start| on. */
static void
dump_rest(struct dump *dump, size_t start, const uint8_t *bytes, size_t len)
{
    uint8_t hello[256];

    memcpy(hello, client_1_2, start);
    memcpy(hello + start, bytes, len);
    put_number(hello + 6, 3, (unsigned)(start + len - 9));
    put_number(hello + 3, 2, (unsigned)(start + len - 5));
    dump_whole(dump, SIDE_CLIENT, hello, start + len);
}

/* Feeds client_1_2 with |bytes| in the place of its extensions. */
static void
dump_extensions(struct dump *dump, const uint8_t *bytes, size_t len)
{
    uint8_t list[128];

    put_number(list, 2, (unsigned)len);
    memcpy(list + 2, bytes, len);
    dump_rest(dump, 52, list, 2 + len);
}

static void
test_forbidden(void **state)
{
    struct dump dump;

    (void)state;
    for (size_t i = 0; i < sizeof(forbidden) / sizeof(forbidden[0]); i++) {
        dump_extensions(&dump, forbidden[i].bytes, forbidden[i].len);
        check_dump(forbidden[i].name, &dump, "broken record=0301");
    }
    for (size_t i = 0; i < sizeof(forbidden_rest) / sizeof(forbidden_rest[0]);
         i++) {
        dump_rest(&dump, 43, forbidden_rest[i].bytes, forbidden_rest[i].len);
        check_dump(forbidden_rest[i].name, &dump, "broken record=0301");
    }
    dump_rest(&dump, 43, TEXT("\0\0\x02\0\x0a\x01\0"));
    check_dump("no list of extensions", &dump,
               "need-more record=0301 hello legacy=0303 version=0303" NO_SUITE);
    dump_extensions(&dump, TEXT(""));
    check_dump("no extension", &dump,
               "need-more record=0301 hello legacy=0303 version=0303" NO_SUITE);
    dump_extensions(&dump, TEXT("\0\x2b\0\x03\x02\x0a\x0a"));
    check_dump("GREASE alone", &dump,
               "need-more record=0301 hello legacy=0303 version=0000" NO_SUITE
               " versions=0a0a");
    dump_extensions(&dump, TEXT("\0\0\0\x0a\0\x08\0\0\x01x\0\0\x01y"));
    check_dump("two host names", &dump,
               "need-more record=0301 hello legacy=0303 version=0303" NO_SUITE
               " sni=x");
}

/* ---- Mutations ------------------------------------------------------- */

static uint32_t
next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* Changes, removes or doubles some bytes; returns the new length. */
static size_t
mutate(uint8_t *bytes, size_t len, size_t size, uint32_t *seed)
{
    for (uint32_t n = 1 + next_random(seed) % 4; n > 0 && len > 1; n--) {
        size_t at = next_random(seed) % len;
        size_t few = 1 + next_random(seed) % 4;

        few = few < len - at ? few : len - at;
        switch (next_random(seed) % 5) {
        case 0:
            bytes[at] = (uint8_t)next_random(seed);
            break;
        case 1:
            bytes[at] = (uint8_t)(bytes[at] + 1);
            break;
        case 2:
            bytes[at] = (uint8_t)(bytes[at] - 1);
            break;
        case 3:
            memmove(bytes + at, bytes + at + few, len - at - few);
            len -= few;
            break;
        default:
            few = len + few <= size ? few : 0;
            memmove(bytes + at + few, bytes + at, len - at);
            len += few;
        }
    }
    return len;
}

/* What mutants are made of. */
static const struct {
    enum side side;
    const uint8_t *bytes;
    size_t len;
} seeds[] = {
    {SIDE_CLIENT, BYTES(client_1_2)},
    {SIDE_CLIENT, BYTES(client_1_3)},
    {SIDE_CLIENT, BYTES(client_old)},
    {SIDE_CLIENT, BYTES(alert_later)},
    {SIDE_CLIENT, BYTES(alert_amid)},
    {SIDE_SERVER, BYTES(server_1_2)},
    {SIDE_SERVER, BYTES(server_1_3)},
    {SIDE_SERVER, BYTES(server_retry)},
    {SIDE_SERVER, BYTES(alert_fatal)},
    {SIDE_SERVER, BYTES(alert_warning)},
    {SIDE_SERVER, BYTES(server_retries_twice)},
    {SIDE_SERVER, BYTES(server_retry_refused)},
};

/* Whatever it is, cuts do not matter, and the sanitizer is content. */
static void
test_mutations(void **state)
{
    uint32_t seed = 7, n_known = 0;

    (void)state;
    for (uint32_t run = 0; run < 60000; run++) {
        size_t i = run % (sizeof(seeds) / sizeof(seeds[0]));
        uint8_t bytes[512];
        struct dump whole, cut;
        size_t len = seeds[i].len, step;

        memcpy(bytes, seeds[i].bytes, len);
        len = mutate(bytes, len, sizeof(bytes), &seed);
        dump_whole(&whole, seeds[i].side, bytes, len);
        step = 1 + next_random(&seed) % 40;
        dump_fed(&cut, seeds[i].side, bytes, len,
                 next_random(&seed) % (len + 1), step);
        check_dump("mutant", &cut, whole.text);
        n_known += strstr(whole.text, " hello") != NULL;
    }
    /* Many go deep, and many do not. */
    assert_in_range(n_known, 6000, 54000);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lies),
        cmocka_unit_test(test_outer_lies),
        cmocka_unit_test(test_forbidden),
        cmocka_unit_test(test_mutations),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
