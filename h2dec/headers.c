/* SPDX-License-Identifier: MIT */
/*
 * Owns header blocks: fragments of HEADERS, PUSH_PROMISE and CONTINUATION go
 * to the HPACK inflater of their direction as they arrive, its fields are kept
 * until the block is complete.  Which frames may follow is conn.c's.
 */
#include "conn.h"

#include <stdlib.h>
#include <string.h>

/* Memory above this is given back after a block, so that a connection that
 * once sent a large one stays small; ordinary blocks need less. */
#define STORE_KEEP 4096

#define STORE_TEXT_FIRST 256
#define STORE_FIELDS_FIRST 8

static void
store_free(struct field_store *store)
{
    free(store->text);
    free(store->fields);
    memset(store, 0, sizeof(*store));
}

static void
store_reset(struct field_store *store)
{
    if (store->text_cap > STORE_KEEP) {
        store_free(store);
    }
    store->text_len = 0;
    store->n_fields = 0;
}

static int
store_grow_text(struct field_store *store, size_t need)
{
    size_t cap = store->text_cap ? store->text_cap : STORE_TEXT_FIRST;
    char *text;

    while (cap < need) {
        cap *= 2;
    }
    if (cap == store->text_cap) {
        return 0;
    }
    text = malloc(cap);
    if (text == NULL) {
        return H2DEC_ERR_NOMEM;
    }
    if (store->text_len > 0) {
        memcpy(text, store->text, store->text_len);
    }
    for (size_t i = 0; i < store->n_fields; i++) {
        struct h2dec_field *field = &store->fields[i];

        field->name = text + (field->name - store->text);
        field->value = text + (field->value - store->text);
    }
    free(store->text);
    store->text = text;
    store->text_cap = cap;
    return 0;
}

static int
store_grow_fields(struct field_store *store)
{
    size_t cap = store->fields_cap ? store->fields_cap * 2
                                   : STORE_FIELDS_FIRST;
    struct h2dec_field *fields;

    if (store->n_fields < store->fields_cap) {
        return 0;
    }
    fields = realloc(store->fields, cap * sizeof(*fields));
    if (fields == NULL) {
        return H2DEC_ERR_NOMEM;
    }
    store->fields = fields;
    store->fields_cap = cap;
    return 0;
}

/* Adds a field for which there is room. */
static void
store_put(struct field_store *store, const nghttp2_nv *nv)
{
    struct h2dec_field *field = &store->fields[store->n_fields++];
    char *at = store->text + store->text_len;

    field->name = at;
    field->name_len = (uint32_t)nv->namelen;
    memcpy(at, nv->name, nv->namelen);
    field->value = at + nv->namelen;
    field->value_len = (uint32_t)nv->valuelen;
    memcpy(at + nv->namelen, nv->value, nv->valuelen);
    store->text_len += nv->namelen + nv->valuelen;
}

/* Adds a field, making room for it, or counts it as omitted. */
static int
store_add(struct direction *dir, const nghttp2_nv *nv)
{
    struct field_store *store = &dir->store;
    size_t need = store->text_len + nv->namelen + nv->valuelen;

    if (need > H2DEC_FIELDS_LEN_MAX || store->n_fields == H2DEC_FIELDS_MAX) {
        dir->block.n_omitted++;
        return 0;
    }
    if (store_grow_text(store, need) != 0 || store_grow_fields(store) != 0) {
        return H2DEC_ERR_NOMEM;
    }
    store_put(store, nv);
    return 0;
}

static int
store_has_room(const struct field_store *store, const nghttp2_nv *nv)
{
    return store->n_fields < store->fields_cap &&
           store->text_cap - store->text_len >= nv->namelen + nv->valuelen;
}

static int
inflater_need(struct direction *dir)
{
    if (dir->inflater != NULL) {
        return 0;
    }
    /* It fails for want of memory only. */
    return nghttp2_hd_inflate_new(&dir->inflater) ? H2DEC_ERR_NOMEM : 0;
}

void
h2dec_headers_begin(struct direction *dir)
{
    memset(&dir->block, 0, sizeof(dir->block));
    dir->block.open = 1;
    dir->block.end_stream = dir->frame.type == H2DEC_HEADERS &&
                            (dir->frame.flags & H2DEC_FLAG_END_STREAM);
    dir->block.promise = dir->frame.type == H2DEC_PUSH_PROMISE;
    dir->block.frame_stream = dir->frame.stream_id;
    dir->block.about = dir->frame.stream_id;
    dir->block.offset = dir->frame.offset;
    dir->block.type = dir->frame.type;
    store_reset(&dir->store);
}

/* The table is out of step from here: nothing that follows can be decoded. */
static int
hpack_lose(struct h2dec_conn *conn, struct direction *dir, int error)
{
    /* The notice of the limit, or of the late start, has said it all. */
    int silent = dir->hpack_late || dir->table_told;

    if (error == NGHTTP2_ERR_NOMEM) {
        return H2DEC_ERR_NOMEM;
    }
    h2dec_headers_break(dir);
    if (silent) {
        return 0;
    }
    return h2dec_conn_fault(conn, dir, H2DEC_FAULT_HPACK, 0, 0,
                            "the header block cannot be decoded, or holds a "
                            "string of more than 65,536 bytes");
}

void
h2dec_headers_break(struct direction *dir)
{
    dir->block.broken = 1;
    dir->block.known = NULL;
    dir->hpack_lost = 1;
    store_reset(&dir->store);
}

/* Feeds the inflater; |final| closes the block. */
static int
inflate(struct h2dec_conn *conn, struct direction *dir, const uint8_t *data,
        size_t len, int final)
{
    int rv = inflater_need(dir);

    if (rv != 0) {
        return rv;
    }
    for (;;) {
        nghttp2_nv nv;
        int flags = 0;
        ssize_t n = nghttp2_hd_inflate_hd2(dir->inflater, &nv, &flags, data,
                                           len, final);

        if (n < 0) {
            return hpack_lose(conn, dir, (int)n);
        }
        data += n;
        len -= (size_t)n;
        if (flags & NGHTTP2_HD_INFLATE_EMIT) {
            dir->block.list_bytes += nv.namelen + nv.valuelen;
            if (store_has_room(&dir->store, &nv)) {
                store_put(&dir->store, &nv);
            } else if (store_add(dir, &nv) != 0) {
                return H2DEC_ERR_NOMEM;
            }
        } else if (len == 0 || (flags & NGHTTP2_HD_INFLATE_FINAL)) {
            break;
        }
    }
    if (final) {
        nghttp2_hd_inflate_end_headers(dir->inflater);
    }
    return 0;
}

/* Whether the fragment that ends here is all of the block. */
static int
is_whole(const struct direction *dir, size_t len)
{
    return dir->left == 0 && dir->block.block_bytes == len &&
           dir->frame.type != H2DEC_CONTINUATION &&
           (dir->frame.flags & H2DEC_FLAG_END_HEADERS);
}

int
h2dec_headers_fragment(struct h2dec_conn *conn, struct direction *dir,
                       const uint8_t *data, size_t len)
{
    dir->block.block_bytes += len;
    if (dir->hpack_lost || len == 0) {
        return 0;
    }
    if (!is_whole(dir, len)) {
        h2dec_recent_forget(&dir->recent);
        return inflate(conn, dir, data, len, 0);
    }
    dir->block.known = h2dec_recent_find(&dir->recent, data, len);
    if (dir->block.known != NULL) {
        dir->block.list_bytes = dir->block.known->text_len;
        return 0;
    }
    h2dec_recent_offer(&dir->recent, data, len);
    return inflate(conn, dir, data, len, 0);
}

static int
status_is_informational(const struct h2dec_headers *headers)
{
    for (size_t i = 0; i < headers->n_fields; i++) {
        const struct h2dec_field *field = &headers->fields[i];

        if (field->name_len == 7 && memcmp(field->name, ":status", 7) == 0) {
            return field->value_len == 3 && field->value[0] == '1';
        }
    }
    return 0;
}

static enum h2dec_block
block_kind(const struct direction *dir, const struct h2dec_stream *stream,
           const struct h2dec_headers *headers)
{
    unsigned before = stream == NULL ? 0 : stream->blocks[dir->side];

    if (dir->block.promise) {
        return H2DEC_BLOCK_PROMISE;
    }
    if (dir->side == H2DEC_SERVER && status_is_informational(headers)) {
        return H2DEC_BLOCK_INFORMATIONAL;
    }
    if (before > 0) {
        return H2DEC_BLOCK_TRAILERS;
    }
    return dir->side == H2DEC_CLIENT ? H2DEC_BLOCK_REQUEST
                                     : H2DEC_BLOCK_RESPONSE;
}

static void
block_count(struct h2dec_conn *conn, struct direction *dir,
            struct h2dec_stream *stream, enum h2dec_block kind)
{
    struct h2dec_stream *carrier = stream;
    enum h2dec_side side;

    if (dir->block.promise) {
        carrier = h2dec_stream_find(&conn->streams, dir->block.frame_stream);
    }
    if (carrier != NULL) {
        carrier->ledger[dir->side].header_list_bytes +=
            dir->block.list_bytes;
    }
    if (stream == NULL || kind == H2DEC_BLOCK_INFORMATIONAL) {
        return;
    }
    side = dir->block.promise ? H2DEC_CLIENT : dir->side;
    if (stream->blocks[side] == 0) {
        stream->headers_us[side] = conn->now_us;
    }
    if (stream->blocks[side] < UINT8_MAX) {
        stream->blocks[side]++;
    }
    if (!dir->block.promise) {
        h2dec_conn_count(conn, stream);
    }
}

/* What the other side has announced is advice, but it may refuse more. */
static int
list_check(struct h2dec_conn *conn, struct direction *dir,
           const struct h2dec_headers *headers)
{
    struct h2dec_fault fault = {
        .code = H2DEC_FAULT_HEADER_LIST,
        .stream_id = dir->block.frame_stream,
        .type = dir->block.type,
        .offset = dir->block.offset,
        .value = headers->list_bytes +
                 (headers->n_fields + headers->n_omitted) *
                     H2DEC_FIELD_OVERHEAD,
        .limit = h2dec_settings_list_limit(dir),
        .reason = "the header list is longer than the other side takes",
    };

    if (!headers->known || fault.value <= fault.limit) {
        return 0;
    }
    return h2dec_conn_report(conn, dir, &fault);
}

/* The block as it is reported; what kind it is, is still to be seen. */
static struct h2dec_headers
block_headers(const struct direction *dir)
{
    struct h2dec_headers headers = {
        .side = dir->side,
        .stream_id = dir->block.about,
        .end_stream = dir->block.end_stream,
        .known = !dir->block.broken && !dir->hpack_lost,
        .fields = dir->store.fields,
        .n_fields = dir->store.n_fields,
        .n_omitted = dir->block.n_omitted,
        .list_bytes = dir->block.list_bytes,
        .block_bytes = dir->block.block_bytes,
    };

    if (dir->block.known != NULL) {
        headers.fields = dir->block.known->fields;
        headers.n_fields = dir->block.known->n_fields;
        headers.mark = &dir->block.known->mark;
    }
    return headers;
}

static int
block_report(struct h2dec_conn *conn, struct direction *dir)
{
    struct h2dec_stream *stream =
        h2dec_stream_find(&conn->streams, dir->block.about);
    struct h2dec_headers headers = block_headers(dir);
    int rv = list_check(conn, dir, &headers);

    headers.block = block_kind(dir, stream, &headers);

    /* What became of the window before a side began is no stall. */
    if (rv == 0 && stream != NULL && !dir->block.promise) {
        rv = h2dec_window_catch_up(conn, dir, stream);
    }
    if (rv != 0) {
        return rv;
    }
    block_count(conn, dir, stream, headers.block);
    if (conn->callbacks->headers != NULL &&
        conn->callbacks->headers(&headers, stream, conn->user) != 0) {
        return H2DEC_ERR_CALLBACK;
    }
    if (stream != NULL && headers.end_stream) {
        return h2dec_conn_end_side(conn, stream, dir->side);
    }
    if (stream != NULL && !dir->block.promise) {
        h2dec_window_sent(conn, dir, stream);
    }
    return 0;
}

int
h2dec_headers_end(struct h2dec_conn *conn, struct direction *dir)
{
    int rv = 0;

    if (!dir->hpack_lost && dir->block.known == NULL) {
        rv = inflate(conn, dir, NULL, 0, 1);
        if (rv == 0 && !dir->block.broken && dir->block.n_omitted == 0) {
            dir->block.known = h2dec_recent_keep(
                &dir->recent, dir->store.fields, dir->store.n_fields,
                dir->store.text, dir->store.text_len);
        }
    }
    if (rv == 0) {
        rv = block_report(conn, dir);
    }
    dir->block.open = 0;
    store_reset(&dir->store);
    return rv;
}

/* Sets one value, bounded by what we are ready to follow. */
static int
table_set(struct h2dec_conn *conn, struct direction *dir, uint32_t value)
{
    int rv;

    if (value > H2DEC_TABLE_SIZE_MAX) {
        rv = 0;
        if (!dir->table_told) {
            dir->table_told = 1;
            rv = h2dec_conn_fault(conn, dir, H2DEC_FAULT_TABLE_LIMIT, value,
                                  H2DEC_TABLE_SIZE_MAX,
                                  "the HPACK table allowed is larger than "
                                  "what is followed");
        }
        if (rv != 0) {
            return rv;
        }
        value = H2DEC_TABLE_SIZE_MAX;
    }
    rv = nghttp2_hd_inflate_change_table_size(dir->inflater, value);
    return rv == 0 ? 0 : hpack_lose(conn, dir, rv);
}

int
h2dec_headers_table(struct h2dec_conn *conn, struct direction *dir,
                    const struct announced *table)
{
    int rv;

    if (dir->hpack_lost) {
        return 0;
    }
    h2dec_recent_forget(&dir->recent);
    rv = inflater_need(dir);
    /* The encoder must signal the smallest size it passed through, then the
     * last one (RFC 7541, section 4.2): the inflater checks both. */
    if (rv == 0 && table->least != table->last) {
        rv = table_set(conn, dir, table->least);
    }
    if (rv == 0) {
        rv = table_set(conn, dir, table->last);
    }
    return rv;
}

void
h2dec_headers_clear(struct direction *dir)
{
    store_free(&dir->store);
    h2dec_recent_clear(&dir->recent);
    if (dir->inflater != NULL) {
        nghttp2_hd_inflate_del(dir->inflater);
        dir->inflater = NULL;
    }
}
