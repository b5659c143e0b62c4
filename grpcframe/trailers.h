/* SPDX-License-Identifier: MIT */
/*
 * Internal: the text of a trailers frame of gRPC-Web, gathered for the reader
 * of message.c.  Not installed.
 */
#ifndef GRPCFRAME_TRAILERS_H
#define GRPCFRAME_TRAILERS_H

#include "grpcframe.h"

/* grpcframe_trailers_keep adds |len| bytes to the text of |reader|, a struct
 * grpcframe_reader, as far as limits allow.  Returns 0: a
 * grpcframe_output_cb. */
int grpcframe_trailers_keep(const uint8_t *data, size_t len, void *reader);

/* grpcframe_trailers_end gives the text of |reader| to its callback and drops
 * it.  Returns 0 or GRPCFRAME_ERR_CALLBACK. */
int grpcframe_trailers_end(struct grpcframe_reader *reader);

/* grpcframe_trailers_drop gives the memory of the text back. */
void grpcframe_trailers_drop(struct grpcframe_reader *reader);

#endif
