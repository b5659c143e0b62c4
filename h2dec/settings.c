/* SPDX-License-Identifier: MIT */
/*
 * Owns SETTINGS: reading parameters, and when they come into force.  A
 * parameter binds the other side from that side's ACK on (RFC 9113, section
 * 6.5.3), so it waits in the direction of the side it binds.
 */
#include "conn.h"

#include <string.h>

#define SETTING_HEADER_TABLE_SIZE 1
#define SETTING_ENABLE_PUSH 2
#define SETTING_MAX_CONCURRENT_STREAMS 3
#define SETTING_INITIAL_WINDOW_SIZE 4
#define SETTING_MAX_FRAME_SIZE 5
#define SETTING_MAX_HEADER_LIST_SIZE 6

/* Bounds of MAX_FRAME_SIZE (section 6.5.2). */
#define MAX_FRAME_SIZE_LEAST 16384
#define MAX_FRAME_SIZE_MOST 16777215

void
h2dec_settings_begin(struct direction *dir)
{
    static const struct pending empty = { .acks = 1 };

    dir->settings = empty;
    dir->n_entries = 0;
    dir->n_entries_omitted = 0;
    dir->settings_told = 0;
}

/* Checks a value against section 6.5.2; NULL when it is allowed. */
static const char *
value_fault(uint16_t id, uint32_t value, enum h2dec_fault_code *code)
{
    *code = H2DEC_FAULT_SETTINGS;
    if (id == SETTING_ENABLE_PUSH && value > 1) {
        return "ENABLE_PUSH is neither 0 nor 1";
    }
    if (id == SETTING_MAX_FRAME_SIZE && (value < MAX_FRAME_SIZE_LEAST ||
                                         value > MAX_FRAME_SIZE_MOST)) {
        return "MAX_FRAME_SIZE is outside 16384..16777215";
    }
    if (id == SETTING_INITIAL_WINDOW_SIZE && value > 0x7fffffffu) {
        *code = H2DEC_FAULT_FLOW_CONTROL;
        return "INITIAL_WINDOW_SIZE is above 2^31-1";
    }
    return NULL;
}

static void
announce(struct announced *parameter, uint32_t value)
{
    if (!parameter->is_set || value < parameter->least) {
        parameter->least = value;
    }
    if (!parameter->is_set || value > parameter->most) {
        parameter->most = value;
    }
    parameter->last = value;
    parameter->is_set = 1;
}

/* What |later| announced comes on top of what |parameter| has. */
static void
announce_more(struct announced *parameter, const struct announced *later)
{
    if (later->is_set) {
        announce(parameter, later->least);
        announce(parameter, later->most);
        parameter->last = later->last;
    }
}

/* Takes a valid parameter. */
static void
take(struct h2dec_conn *conn, struct direction *dir, uint16_t id,
     uint32_t value)
{
    /* It limits what the other side opens. */
    struct h2dec_concurrency *other =
        &conn->opened[dir->side == H2DEC_CLIENT ? H2DEC_SERVER
                                                : H2DEC_CLIENT];

    switch (id) {
    case SETTING_HEADER_TABLE_SIZE:
        announce(&dir->settings.table, value);
        break;
    case SETTING_MAX_CONCURRENT_STREAMS:
        other->limit = value;
        other->has_limit = 1;
        break;
    case SETTING_INITIAL_WINDOW_SIZE:
        announce(&dir->settings.window, value);
        break;
    case SETTING_MAX_FRAME_SIZE:
        dir->settings.max_frame_size = value;
        break;
    case SETTING_MAX_HEADER_LIST_SIZE:
        announce(&dir->settings.list, value);
        break;
    default:
        break;
    }
}

int
h2dec_settings_entry(struct h2dec_conn *conn, struct direction *dir)
{
    uint16_t id = h2dec_frame_u16(dir->small);
    uint32_t value = h2dec_frame_u32(dir->small + 2);
    enum h2dec_fault_code code;
    const char *reason = value_fault(id, value, &code);

    if (dir->n_entries < H2DEC_SETTINGS_MAX) {
        dir->entries[dir->n_entries].id = id;
        dir->entries[dir->n_entries].value = value;
        dir->n_entries++;
    } else {
        dir->n_entries_omitted++;
    }
    if (reason != NULL) {
        unsigned told = dir->settings_told;

        /* Those that have a fault are below 8. */
        dir->settings_told |= (uint8_t)(1u << id);
        return told >> id & 1
                   ? 0
                   : h2dec_conn_fault(conn, dir, code, value, 0, reason);
    }
    take(conn, dir, id, value);
    return 0;
}

/* Adds |settings| to what |dir| will have acknowledged one day. */
static void
pending_push(struct direction *dir, const struct pending *settings)
{
    struct pending *last;

    if (dir->n_pending < H2DEC_PENDING_MAX) {
        dir->pending[dir->n_pending] = *settings;
        dir->n_pending++;
        return;
    }
    last = &dir->pending[H2DEC_PENDING_MAX - 1];
    if (last->acks < UINT32_MAX) {
        last->acks++;
    }
    announce_more(&last->table, &settings->table);
    announce_more(&last->window, &settings->window);
    announce_more(&last->list, &settings->list);
    if (settings->max_frame_size != 0) {
        last->max_frame_size = settings->max_frame_size;
    }
}

/* |dir| has acknowledged the oldest SETTINGS of the other side. */
static int
pending_apply(struct h2dec_conn *conn, struct direction *dir)
{
    struct pending oldest;

    if (dir->n_pending == 0) {
        return 0;
    }
    dir->pending[0].acks--;
    if (dir->pending[0].acks > 0) {
        return 0;
    }
    oldest = dir->pending[0];
    dir->n_pending--;
    for (unsigned i = 0; i < dir->n_pending; i++) {
        dir->pending[i] = dir->pending[i + 1];
    }
    if (oldest.max_frame_size != 0) {
        dir->max_frame_size = oldest.max_frame_size;
    }
    if (oldest.list.is_set) {
        dir->list_limit = oldest.list.last;
    }
    if (oldest.window.is_set) {
        dir->flow.initial = oldest.window.last;
        h2dec_window_initial(conn, dir, dir->flow.sent, dir->frame.offset);
    }
    return oldest.table.is_set ? h2dec_headers_table(conn, dir, &oldest.table)
                               : 0;
}

int
h2dec_settings_end(struct h2dec_conn *conn, struct direction *dir)
{
    struct h2dec_settings settings = {
        .side = dir->side,
        .ack = dir->frame.flags & H2DEC_FLAG_ACK ? 1 : 0,
        .entries = dir->entries,
        .n_entries = dir->n_entries,
        .n_omitted = dir->n_entries_omitted,
    };
    struct direction *other;
    int rv;

    if (settings.ack) {
        rv = pending_apply(conn, dir);
        if (rv != 0) {
            return rv;
        }
    } else {
        other = &conn->dir[dir->side == H2DEC_CLIENT];
        pending_push(other, &dir->settings);
        if (dir->settings.window.is_set) {
            h2dec_window_initial(conn, other, dir->settings.window.last,
                                 dir->frame.offset);
        }
    }
    if (conn->callbacks->settings == NULL) {
        return 0;
    }
    return conn->callbacks->settings(&settings, conn->user)
               ? H2DEC_ERR_CALLBACK
               : 0;
}

int
h2dec_settings_upgrade(struct h2dec_conn *conn, const uint8_t *settings,
                       size_t len)
{
    struct direction *client = &conn->dir[H2DEC_CLIENT];
    struct direction *server = &conn->dir[H2DEC_SERVER];
    int rv = 0;

    h2dec_settings_begin(client);
    for (; len >= 6 && rv == 0; settings += 6, len -= 6) {
        memcpy(client->small, settings, 6);
        rv = h2dec_settings_entry(conn, client);
    }
    if (rv == 0) {
        /* The 101 is the acknowledgement (RFC 7540, section 3.2.1). */
        pending_push(server, &client->settings);
        if (client->settings.window.is_set) {
            h2dec_window_initial(conn, server, client->settings.window.last,
                                 client->offset_base);
        }
        rv = pending_apply(conn, server);
    }
    return rv;
}

uint32_t
h2dec_settings_frame_limit(const struct direction *dir)
{
    uint32_t limit = dir->max_frame_size;

    for (unsigned i = 0; i < dir->n_pending; i++) {
        if (dir->pending[i].max_frame_size > limit) {
            limit = dir->pending[i].max_frame_size;
        }
    }
    return limit;
}

uint64_t
h2dec_settings_list_limit(const struct direction *dir)
{
    uint64_t limit = dir->list_limit;

    for (unsigned i = 0; i < dir->n_pending; i++) {
        const struct announced *list = &dir->pending[i].list;

        if (list->is_set && list->most > limit) {
            limit = list->most;
        }
    }
    return limit;
}
