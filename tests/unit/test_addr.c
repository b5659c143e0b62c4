/* SPDX-License-Identifier: MIT */
/* Tests proxy/addr.c: every form of an address, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>

#include <cmocka.h>

#include "../../proxy/addr.h"

/* struct good is an address and what is understood. */
struct good {
    /* text is as on the command line. */
    const char *text;
    /* host and port are as parsed. */
    const char *host;
    uint16_t port;
    /* again is as printed. */
    const char *again;
};

static void
test_inet(void **state)
{
    static const struct good table[] = {
        { "8080", "127.0.0.1", 8080, "127.0.0.1:8080" },
        { "0", "127.0.0.1", 0, "127.0.0.1:0" },
        { ":0", "127.0.0.1", 0, "127.0.0.1:0" },
        { ":8080", "127.0.0.1", 8080, "127.0.0.1:8080" },
        { "65535", "127.0.0.1", 65535, "127.0.0.1:65535" },
        { "00080", "127.0.0.1", 80, "127.0.0.1:80" },
        { "0.0.0.0:1", "0.0.0.0", 1, "0.0.0.0:1" },
        { "localhost:50051", "localhost", 50051, "localhost:50051" },
        { "my_host-1.example:9", "my_host-1.example", 9,
          "my_host-1.example:9" },
        { "[::1]:80", "::1", 80, "[::1]:80" },
        { "[::]:0", "::", 0, "[::]:0" },
        { "[2001:db8::7]:443", "2001:db8::7", 443, "[2001:db8::7]:443" },
        { "[::ffff:1.2.3.4]:5", "::ffff:1.2.3.4", 5, "[::ffff:1.2.3.4]:5" },
        { "[fe80::1%lo]:80", "fe80::1%lo", 80, "[fe80::1%lo]:80" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        char again[ADDR_TEXT_MAX];
        struct addr addr;

        assert_null(addr_parse(&addr, table[i].text));
        assert_int_equal(addr.kind, ADDR_INET);
        assert_string_equal(addr.host, table[i].host);
        assert_int_equal(addr.port, table[i].port);
        addr_format(&addr, again);
        assert_string_equal(again, table[i].again);
    }
}

static void
test_refused(void **state)
{
    static const char *const table[] = {
        "",
        ":",
        "x",
        "80x",
        "-1",
        "+1",
        " 80",
        "80 ",
        "65536",
        "99999999999999999999999",
        "*:80",
        "host:",
        "host:80x",
        "host:65536",
        "host: 80",
        "ho st:80",
        "http://host:80",
        "::1:80",
        "::1",
        "[::1]",
        "[::1]:",
        "[::1]80",
        "[::1]:80:",
        "[::1:80",
        "[]:80",
        "[host]:80",
        "[127.0.0.1]:80",
        "[fe80::1%]:80",
        "[1:2:3:4:5:6:7:8:9]:80",
        "unix:",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct addr addr;

        if (addr_parse(&addr, table[i]) == NULL)
            fail_msg("'%s' was accepted", table[i]);
    }
}

static void
test_host_length(void **state)
{
    char text[ADDR_HOST_MAX + 8];
    struct addr addr;

    (void)state;
    memset(text, 'h', sizeof(text));
    memcpy(text + ADDR_HOST_MAX - 1, ":80", 4);
    assert_null(addr_parse(&addr, text));
    assert_int_equal(strlen(addr.host), ADDR_HOST_MAX - 1);
    memset(text, 'h', sizeof(text));
    memcpy(text + ADDR_HOST_MAX, ":80", 4);
    assert_string_equal(addr_parse(&addr, text), "the host is too long");
}

static void
test_unix(void **state)
{
    const size_t max = sizeof(((struct sockaddr_un *)0)->sun_path);
    char text[256] = "unix:", again[ADDR_TEXT_MAX];
    struct addr addr;

    (void)state;
    assert_null(addr_parse(&addr, "unix:/run/a b:1.sock"));
    assert_int_equal(addr.kind, ADDR_UNIX);
    assert_string_equal(addr.path, "/run/a b:1.sock");
    addr_format(&addr, again);
    assert_string_equal(again, "unix:/run/a b:1.sock");

    memset(text + 5, 'p', max - 1);
    text[5 + max - 1] = '\0';
    assert_null(addr_parse(&addr, text));
    addr_format(&addr, again);
    assert_string_equal(again, text);
    text[5 + max - 1] = 'p';
    text[5 + max] = '\0';
    assert_non_null(addr_parse(&addr, text));
}

static void
test_format_inet(void **state)
{
    struct sockaddr_in sin = { .sin_family = AF_INET,
                               .sin_port = htons(50051) };
    struct sockaddr_in6 sin6 = { .sin6_family = AF_INET6,
                                 .sin6_port = htons(1) };
    char text[ADDR_TEXT_MAX], want[ADDR_TEXT_MAX], name[IF_NAMESIZE];

    (void)state;
    inet_pton(AF_INET, "192.0.2.255", &sin.sin_addr);
    addr_format_socket((struct sockaddr *)&sin, sizeof(sin), text);
    assert_string_equal(text, "192.0.2.255:50051");

    inet_pton(AF_INET6, "fe80::1", &sin6.sin6_addr);
    addr_format_socket((struct sockaddr *)&sin6, sizeof(sin6), text);
    assert_string_equal(text, "[fe80::1]:1");
    sin6.sin6_scope_id = 1; /* the first interface, which has some name */
    assert_non_null(if_indextoname(1, name));
    (void)snprintf(want, sizeof(want), "[fe80::1%%%s]:1", name);
    addr_format_socket((struct sockaddr *)&sin6, sizeof(sin6), text);
    assert_string_equal(text, want);
    sin6.sin6_scope_id = 999999; /* none has this index */
    addr_format_socket((struct sockaddr *)&sin6, sizeof(sin6), text);
    assert_string_equal(text, "[fe80::1%999999]:1");
}

static void
test_format_unix(void **state)
{
    const socklen_t base = offsetof(struct sockaddr_un, sun_path);
    struct sockaddr_un sun = { .sun_family = AF_UNIX };
    char text[ADDR_TEXT_MAX];

    (void)state;
    addr_format_socket((struct sockaddr *)&sun, base, text);
    assert_string_equal(text, "unix:");
    memcpy(sun.sun_path, "/a", 3);
    addr_format_socket((struct sockaddr *)&sun, base + 3, text);
    assert_string_equal(text, "unix:/a");
    memcpy(sun.sun_path, "\0abs", 4);
    addr_format_socket((struct sockaddr *)&sun, base + 4, text);
    assert_string_equal(text, "unix:@abs");
    /* A path may fill its field and then has no NUL. */
    memset(sun.sun_path, 'p', sizeof(sun.sun_path));
    addr_format_socket((struct sockaddr *)&sun, sizeof(sun), text);
    assert_int_equal(strlen(text), 5 + sizeof(sun.sun_path));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inet),        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_host_length), cmocka_unit_test(test_unix),
        cmocka_unit_test(test_format_inet), cmocka_unit_test(test_format_unix),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
