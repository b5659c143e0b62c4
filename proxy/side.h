/* SPDX-License-Identifier: MIT */
/* The two sides of a connection; also the index of everything kept for each
 * direction: bytes from the client are at SIDE_CLIENT. */
#ifndef SIDE_H
#define SIDE_H

enum side { SIDE_CLIENT = 0, SIDE_SERVER = 1 };

static inline enum side
side_other(enum side side)
{
    return side == SIDE_CLIENT ? SIDE_SERVER : SIDE_CLIENT;
}

/* side_name returns the value of `from` for |side|. */
static inline const char *
side_name(enum side side)
{
    return side == SIDE_CLIENT ? "client" : "server";
}

#endif
