/* SPDX-License-Identifier: MIT */
/* tls_hello.c: hellos and alerts, whole and cut anywhere, in records of any
 * size, too long, and without memory. */
#include "tls_hello_rig.h"

/* allocations_left counts down to the one that fails; -1: none does. */
static long allocations_left = -1;

static int
is_out_of_memory(void)
{
    if (allocations_left < 0) {
        return 0;
    }
    return allocations_left-- == 0;
}

static void *
scarce_malloc(size_t size)
{
    return is_out_of_memory() ? NULL : malloc(size);
}

static void *
scarce_realloc(void *old, size_t size)
{
    return is_out_of_memory() ? NULL : realloc(old, size);
}

#define malloc scarce_malloc
#define realloc scarce_realloc
#include "../../proxy/tls_hello.c"
#undef malloc
#undef realloc

/* ---- What is said about whole streams -------------------------------- */

static const struct {
    const char *name;
    enum side side;
    const uint8_t *bytes;
    size_t len;
    const char *dump;
} table[] = {
    {"TLS 1.2 client", SIDE_CLIENT, BYTES(client_1_2),
     "need-more record=0301 hello legacy=0303 version=0303" NO_SUITE
     " sni=echo.test alpn=h2;http/1.1;"},
    {"TLS 1.3 client", SIDE_CLIENT, BYTES(client_1_3),
     "done record=0301 hello legacy=0303 version=0304" NO_SUITE
     " versions=dada,7f1c,0304,0303 sni=x<00>\"<ff>z.test."
     " alpn=<8a><8a>;h2;"},
    {"old client", SIDE_CLIENT, BYTES(client_old),
     "need-more record=0300 hello legacy=0301 version=0301" NO_SUITE},
    {"TLS 1.2 server", SIDE_SERVER, BYTES(server_1_2),
     "done record=0303 hello legacy=0303 version=0303 suite=c02f alpn=h2;"},
    {"TLS 1.3 server", SIDE_SERVER, BYTES(server_1_3),
     "done record=0303 hello legacy=0303 version=0304 suite=1302"
     " versions=0304 alpn-hidden"},
    {"retry", SIDE_SERVER, BYTES(server_retry),
     "done record=0303 retry hello legacy=0303 version=0304 suite=1302"
     " versions=0304 alpn-hidden"},
    {"retry only", SIDE_SERVER, BYTES(server_retry_only),
     "need-more record=0303 retry legacy=0303 version=0304 suite=1302"
     " versions=0304 alpn-hidden"},
    {"two retries", SIDE_SERVER, BYTES(server_retries_twice),
     "broken record=0303 retry legacy=0303 version=0304 suite=1302"
     " versions=0304 alpn-hidden"},
    {"retry, then refused", SIDE_SERVER, BYTES(server_retry_refused),
     "done record=0303 retry legacy=0303 version=0304 suite=1302"
     " versions=0304 alpn-hidden alert=2,47"},
    {"fatal alert", SIDE_SERVER, BYTES(alert_fatal),
     "done record=0301 alert=2,70"},
    {"close_notify", SIDE_SERVER, BYTES(alert_close),
     "done record=0303 alert=1,0"},
    {"warning, hello", SIDE_SERVER, BYTES(alert_warning),
     "done record=0303 hello legacy=0303 version=0304 suite=1302"
     " versions=0304 alpn-hidden alert=1,112"},
    {"hello, alert", SIDE_CLIENT, BYTES(alert_later),
     "done record=0301 hello legacy=0301 version=0301" NO_SUITE " alert=2,48"},
    {"alert amid a hello", SIDE_CLIENT, BYTES(alert_amid),
     "done record=0301 alert=2,80"},
    {"a client for a server", SIDE_SERVER, BYTES(client_1_2),
     "broken record=0301"},
    {"a server for a client", SIDE_CLIENT, BYTES(server_1_2),
     "broken record=0303"},
    {"nothing", SIDE_CLIENT, TEXT(""), "need-more"},
    {"HTTP/1.1", SIDE_CLIENT, TEXT("GET / HTTP/1.1\r\n"), "not-tls"},
    {"SSH", SIDE_SERVER, TEXT("SSH-2.0-OpenSSH_9.2\r\n"), "not-tls"},
    {"SSL 2.0", SIDE_CLIENT, TEXT("\x80\x2e\x01\x03\x01"), "not-tls"},
    {"version 2.1", SIDE_CLIENT, TEXT("\x16\x02\x01"), "not-tls"},
    {"version 3.5", SIDE_CLIENT, TEXT("\x16\x03\x05"), "not-tls"},
    {"heartbeat", SIDE_CLIENT, TEXT("\x18\x03\x03"), "not-tls"},
    {"record of 0", SIDE_CLIENT, TEXT("\x16\x03\x03\0\0"),
     "broken record=0303"},
    {"record of 16,385", SIDE_CLIENT, TEXT("\x16\x03\x03\x40\x01"),
     "broken record=0303"},
    {"alert of 0", SIDE_SERVER, TEXT("\x15\x03\x03\0\0"), "broken record=0303"},
    {"alert of 3", SIDE_SERVER, TEXT("\x15\x03\x03\0\x03\x02\x28\0"),
     "broken record=0303"},
    {"encrypted from the start", SIDE_CLIENT,
     TEXT("\x17\x03\x03\0\x04\x01\x02\x03\x04"), "done record=0303"},
    {"change_cipher_spec first", SIDE_SERVER, TEXT("\x14\x03\x03\0\x01\x01"),
     "done record=0303"},
    {"data amid a hello", SIDE_CLIENT,
     TEXT("\x16\x03\x01\0\x01\x01\x17\x03\x03\0\x01\0"), "broken record=0301"},
    {"no record after the first", SIDE_CLIENT,
     TEXT("\x16\x03\x01\0\x01\x01GET"), "broken record=0301"},
    {"empty hello", SIDE_CLIENT, TEXT("\x16\x03\x01\0\x04\x01\0\0\0"),
     "broken record=0301"},
    {"hello of 16 MiB", SIDE_CLIENT, TEXT("\x16\x03\x01\0\x04\x01\xff\xff\xff"),
     "too-long record=0301"},
};

#define TABLE_LEN (sizeof(table) / sizeof(table[0]))

static void
test_whole(void **state)
{
    struct dump dump;

    (void)state;
    for (size_t i = 0; i < TABLE_LEN; i++) {
        dump_whole(&dump, table[i].side, table[i].bytes, table[i].len);
        check_dump(table[i].name, &dump, table[i].dump);
    }
}

/* In two pieces cut at every point, and in pieces of every size. */
static void
test_cuts(void **state)
{
    struct dump dump;

    (void)state;
    for (size_t i = 0; i < TABLE_LEN; i++) {
        for (size_t n = 1; n <= table[i].len; n++) {
            dump_fed(&dump, table[i].side, table[i].bytes, table[i].len, n,
                     table[i].len);
            check_dump(table[i].name, &dump, table[i].dump);
            dump_fed(&dump, table[i].side, table[i].bytes, table[i].len, n, n);
            check_dump(table[i].name, &dump, table[i].dump);
        }
    }
}

/* A hello is known with its last byte, and not before. */
static void
test_truncated(void **state)
{
    struct tls_hello hello;

    (void)state;
    for (size_t n = 0; n <= sizeof(client_1_2); n++) {
        tls_hello_init(&hello, SIDE_CLIENT);
        feed_piece(&hello, client_1_2, n);
        assert_int_equal(hello.state, TLS_HELLO_NEED_MORE);
        assert_int_equal(hello.has_hello, n == sizeof(client_1_2));
        assert_int_equal(hello.has_record, n >= 5);
        tls_hello_clear(&hello);
    }
}

/* After the end not a byte is looked at. */
static void
test_no_more(void **state)
{
    struct tls_hello hello;

    (void)state;
    for (size_t i = 0; i < TABLE_LEN; i++) {
        tls_hello_init(&hello, table[i].side);
        feed_piece(&hello, table[i].bytes, table[i].len);
        if (hello.state != TLS_HELLO_NEED_MORE) {
            enum tls_hello_state last = hello.state;

            assert_int_equal(tls_hello_feed(&hello, NULL, SIZE_MAX), last);
            assert_null(hello.message);
        }
        tls_hello_clear(&hello);
    }
}

/* ---- Records --------------------------------------------------------- */

/* Writes a message of |len| bytes to |out| as records of |size| at most, and
 * returns their length. */
static size_t
put_records(uint8_t *out, const uint8_t *message, size_t len, size_t size)
{
    size_t end = 0;

    for (size_t at = 0, n; at < len; at += n) {
        n = size < len - at ? size : len - at;
        memcpy(out + end, "\x16\x03\x01", 3);
        out[end + 3] = (uint8_t)(n >> 8);
        out[end + 4] = (uint8_t)n;
        memcpy(out + end + 5, message + at, n);
        end += 5 + n;
    }
    return end;
}

/* A hello may come in records of any size. */
static void
test_records(void **state)
{
    enum { LEN = sizeof(client_1_2) - 5 };
    uint8_t records[6 * LEN];
    struct dump whole, dump;

    (void)state;
    dump_whole(&whole, SIDE_CLIENT, BYTES(client_1_2));
    for (size_t size = 1; size <= LEN; size++) {
        size_t len = put_records(records, client_1_2 + 5, LEN, size);

        for (size_t step = 1; step < 9; step++) {
            dump_fed(&dump, SIDE_CLIENT, records, len, step, step);
            check_dump("in small records", &dump, whole.text);
        }
    }
}

/* Makes a hello of |len| bytes of client_1_2 by means of a padding extension,
 * which has the place of its session_ticket. */
static uint8_t *
make_long(size_t len)
{
    enum { OLD = sizeof(client_1_2) - 5, EXTENSIONS = 52 - 5 };
    uint8_t *message = calloc(1, len);
    size_t more = len - OLD;
    size_t extensions = 53 + more, padding = 1 + more;

    assert_non_null(message);
    memcpy(message, client_1_2 + 5, OLD);
    message[2] = (uint8_t)((len - 4) >> 8);
    message[3] = (uint8_t)(len - 4);
    assert_int_equal(message[EXTENSIONS + 1], 53);
    message[EXTENSIONS] = (uint8_t)(extensions >> 8);
    message[EXTENSIONS + 1] = (uint8_t)extensions;
    message[OLD - 4] = 21;
    message[OLD - 3] = (uint8_t)(padding >> 8);
    message[OLD - 2] = (uint8_t)padding;
    return message;
}

static void
check_long(size_t len, size_t record, size_t step, const char *expected)
{
    uint8_t *message = make_long(len);
    uint8_t *records = malloc(6 * len);
    struct dump dump;

    assert_non_null(records);
    dump_fed(&dump, SIDE_CLIENT, records,
             put_records(records, message, len, record), step, step);
    check_dump("long hello", &dump, expected);
    free(message);
    free(records);
}

/* A post-quantum key share takes a hello over a TCP segment; the limit holds
 * to the byte. */
static void
test_long(void **state)
{
    static const size_t steps[] = {1, 1448, 65536};
    const char *known = table[0].dump;

    (void)state;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        check_long(1800, 16384, steps[i], known);
        check_long(2048, 512, steps[i], known);
        check_long(2049, 16384, steps[i], known);
        check_long(TLS_HELLO_MESSAGE_MAX, 16384, steps[i], known);
        check_long(TLS_HELLO_MESSAGE_MAX, 1, steps[i], known);
        check_long(TLS_HELLO_MESSAGE_MAX + 1, 16384, steps[i],
                   "too-long record=0301");
    }
}

/* Memory follows what has come, and goes when the hello is known. */
static void
test_memory(void **state)
{
    static const uint8_t liar[] = "\x16\x03\x01\x40\0\x01\0\x3f\xfc\x03\x03";
    struct tls_hello hello;

    (void)state;
    tls_hello_init(&hello, SIDE_CLIENT);
    feed_piece(&hello, liar, 5);
    assert_null(hello.message);
    feed_piece(&hello, liar + 5, sizeof(liar) - 1 - 5);
    assert_int_equal(hello.state, TLS_HELLO_NEED_MORE);
    assert_true(hello.message_size <= 2048);
    tls_hello_clear(&hello);

    feed_piece(&hello, BYTES(client_old));
    assert_int_equal(hello.has_hello, 1);
    assert_null(hello.message);
    assert_null(hello.kept); /* nothing to keep */
    tls_hello_clear(&hello);
}

/* Each allocation fails in turn: that is said, and no fact is half known. */
static void
test_no_memory(void **state)
{
    uint8_t *message = make_long(5000);
    uint8_t records[5100];
    size_t len = put_records(records, message, 5000, 2000);
    long n_failed = 0;
    struct dump dump;

    (void)state;
    free(message);
    for (;; n_failed++) {
        allocations_left = n_failed;
        dump_fed(&dump, SIDE_CLIENT, records, len, 1000, 1000);
        if (allocations_left >= 0) {
            break;
        }
        check_dump("no memory", &dump, "no-memory record=0301");
    }
    allocations_left = -1;
    check_dump("enough memory", &dump, table[0].dump);
    assert_int_equal(n_failed, 4); /* 2,048, 4,096, 8,192, and what is kept */
}

/* ---- Names ----------------------------------------------------------- */

static void
test_names(void **state)
{
    unsigned n_alerts = 0;

    (void)state;
    for (unsigned i = 0; i < 256; i++) {
        n_alerts += tls_hello_alert_name((uint8_t)i) != NULL;
    }
    assert_int_equal(n_alerts, 34);
    assert_string_equal(tls_hello_alert_name(0), "close_notify");
    assert_string_equal(tls_hello_alert_name(48), "unknown_ca");
    assert_string_equal(tls_hello_alert_name(120), "no_application_protocol");
    assert_null(tls_hello_alert_name(255));
    assert_string_equal(tls_hello_version_name(0x0300), "SSL 3.0");
    assert_string_equal(tls_hello_version_name(0x0304), "TLS 1.3");
    assert_null(tls_hello_version_name(0x0305));
    assert_null(tls_hello_version_name(0x7f1c));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),     cmocka_unit_test(test_cuts),
        cmocka_unit_test(test_truncated), cmocka_unit_test(test_no_more),
        cmocka_unit_test(test_records),   cmocka_unit_test(test_long),
        cmocka_unit_test(test_memory),    cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
