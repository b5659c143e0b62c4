/* SPDX-License-Identifier: MIT */
/* Owns the texts of this library's errors, and nothing else. */
#include "h1dec.h"

static const char *
error_text(enum h1dec_error error)
{
    /* No default: the compiler names a code that is forgotten here. */
    switch (error) {
    case H1DEC_OK:
        return "success";
    case H1DEC_ERR_CALLBACK:
        return "stopped by a callback";
    case H1DEC_ERR_NOMEM:
        return "out of memory";
    case H1DEC_ERR_EXCHANGES:
        return "too many requests wait for a response";
    }
    return "unknown error";
}

const char *
h1dec_strerror(int error)
{
    return error_text((enum h1dec_error)error);
}
