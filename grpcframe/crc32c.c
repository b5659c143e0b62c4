/* SPDX-License-Identifier: MIT */
/*
 * Owns the checksum of snappy's framing format, for reading and for writing.
 * Knows nothing of chunks.
 */
#include "crc32c.h"

/* Computed, not stored: 8 KiB of constants would be most of this file. */
void
grpcframe_crc32c_init(struct grpcframe_crc32c *crc32c)
{
    uint32_t(*table)[256] = crc32c->table;

    for (unsigned i = 0; i < 256; i++) {
        uint32_t crc = i;

        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ ((crc & 1) != 0 ? 0x82f63b78u : 0);
        table[0][i] = crc;
    }
    for (unsigned i = 0; i < 256; i++) {
        for (int k = 1; k < 8; k++) {
            uint32_t crc = table[k - 1][i];

            table[k][i] = crc >> 8 ^ table[0][crc & 0xff];
        }
    }
}

uint32_t
grpcframe_crc32c_masked(const struct grpcframe_crc32c *crc32c,
                        const uint8_t *p, size_t len)
{
    const uint32_t(*table)[256] = crc32c->table;
    uint32_t crc = 0xffffffffu;

    for (; len >= 8; len -= 8, p += 8) {
        crc ^= (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
               (uint32_t)p[3] << 24;
        crc = table[7][crc & 0xff] ^ table[6][crc >> 8 & 0xff] ^
              table[5][crc >> 16 & 0xff] ^ table[4][crc >> 24] ^
              table[3][p[4]] ^ table[2][p[5]] ^ table[1][p[6]] ^ table[0][p[7]];
    }
    for (; len > 0; len--, p++)
        crc = crc >> 8 ^ table[0][(crc ^ *p) & 0xff];
    crc = ~crc;
    /* Masked, as the CRC of data that holds CRCs is weak. */
    return (crc >> 15 | crc << 17) + 0xa282ead8u;
}
