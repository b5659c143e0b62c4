/* SPDX-License-Identifier: MIT */
/*
 * Internal: the masked CRC32C of the framing format of snappy.  Not installed.
 */
#ifndef GRPCFRAME_CRC32C_H
#define GRPCFRAME_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* struct grpcframe_crc32c is what the sum is computed with. */
struct grpcframe_crc32c {
    /* table serves 8 bytes at a time. */
    uint32_t table[8][256];
};

/* grpcframe_crc32c_init fills the tables. */
void grpcframe_crc32c_init(struct grpcframe_crc32c *crc32c);

/* grpcframe_crc32c_masked returns the CRC of |len| bytes, masked as section 3
 * of the "Snappy framing format description" has it. */
uint32_t grpcframe_crc32c_masked(const struct grpcframe_crc32c *crc32c,
                                 const uint8_t *p, size_t len);

#endif
