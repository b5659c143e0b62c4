/* SPDX-License-Identifier: MIT */
/*
 * Owns the texts for the codes of grpcframe.h: errors of functions, results
 * of inflating.  Decides nothing.
 */
#include "grpcframe.h"

/* No default in the switches below: the compiler then names a code that was
 * added to an enum and forgotten here. */

const char *
grpcframe_strerror(int error)
{
    switch ((enum grpcframe_error)error) {
    case GRPCFRAME_OK:
        return "success";
    case GRPCFRAME_ERR_CALLBACK:
        return "stopped by a callback";
    case GRPCFRAME_ERR_INVALID:
        return "invalid argument";
    case GRPCFRAME_ERR_NOMEM:
        return "out of memory";
    }
    return "unknown error";
}

int
grpcframe_error_is_fatal(int error)
{
    return error <= -100;
}

const char *
grpcframe_result_reason(enum grpcframe_result result)
{
    switch (result) {
    case GRPCFRAME_RESULT_OK:
        return "decoded";
    case GRPCFRAME_RESULT_UNAVAILABLE:
        return "codec unavailable";
    case GRPCFRAME_RESULT_CORRUPT:
        return "corrupt data";
    case GRPCFRAME_RESULT_TRUNCATED:
        return "ends too early";
    case GRPCFRAME_RESULT_CHECKSUM:
        return "checksum mismatch";
    case GRPCFRAME_RESULT_TRAILING:
        return "trailing bytes";
    case GRPCFRAME_RESULT_LIMIT:
        return "decoded size limit";
    case GRPCFRAME_RESULT_MEMORY:
        return "memory limit";
    }
    return "unknown result";
}
