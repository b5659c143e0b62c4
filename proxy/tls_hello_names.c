/* SPDX-License-Identifier: MIT */
/*
 * Owns the names of TLS versions and alerts.  Where the numbers come from is
 * tls_hello.c's.
 */
#include "tls_hello.h"

const char *
tls_hello_version_name(uint16_t version)
{
    switch (version) {
    case 0x0300:
        return "SSL 3.0";
    case 0x0301:
        return "TLS 1.0";
    case 0x0302:
        return "TLS 1.1";
    case 0x0303:
        return "TLS 1.2";
    case 0x0304:
        return "TLS 1.3";
    default:
        return NULL;
    }
}

const char *
tls_hello_alert_name(uint8_t description)
{
    static const struct {
        uint8_t description; /* the number on the wire */
        const char *name;    /* its name */
    } names[] = {
        {0, "close_notify"},
        {10, "unexpected_message"},
        {20, "bad_record_mac"},
        {21, "decryption_failed"},
        {22, "record_overflow"},
        {30, "decompression_failure"},
        {40, "handshake_failure"},
        {41, "no_certificate"},
        {42, "bad_certificate"},
        {43, "unsupported_certificate"},
        {44, "certificate_revoked"},
        {45, "certificate_expired"},
        {46, "certificate_unknown"},
        {47, "illegal_parameter"},
        {48, "unknown_ca"},
        {49, "access_denied"},
        {50, "decode_error"},
        {51, "decrypt_error"},
        {60, "export_restriction"},
        {70, "protocol_version"},
        {71, "insufficient_security"},
        {80, "internal_error"},
        {86, "inappropriate_fallback"},
        {90, "user_canceled"},
        {100, "no_renegotiation"},
        {109, "missing_extension"},
        {110, "unsupported_extension"},
        {111, "certificate_unobtainable"},
        {112, "unrecognized_name"},
        {113, "bad_certificate_status_response"},
        {114, "bad_certificate_hash_value"},
        {115, "unknown_psk_identity"},
        {116, "certificate_required"},
        {120, "no_application_protocol"},
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (names[i].description == description) {
            return names[i].name;
        }
    }
    return NULL;
}
