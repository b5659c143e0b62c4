/* SPDX-License-Identifier: MIT */
/*
 * Owns the playing of scripts to a tap.  It does not look at what comes out.
 */
#include "vector_tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../proxy/lane.h"
#include "vector_alloc.h"

const unsigned vector_tap_all_events = (1u << EVENT_KINDS) - 1;

/* struct player is a script being played. */
struct player {
    /* tap is what is played to. */
    struct tap *tap;
    /* cut is how, at the number of bytes sent so far. */
    const struct vector_cut *cut;
    size_t at;
    /* state is that of the random generator. */
    uint32_t state;
    /* joined collects bytes of one side and time. */
    struct vector_buf joined;
    /* joined_from and joined_us are that side and time. */
    enum side joined_from;
    uint64_t joined_us;
};

struct vector_step *
vector_script_add(struct vector_script *script, enum vector_step_kind kind,
                  enum side from, uint64_t at_us)
{
    struct vector_step *step;

    script->steps =
        vector_grow(script->steps, script->n_steps + 1, sizeof(*script->steps));
    step = &script->steps[script->n_steps++];
    memset(step, 0, sizeof(*step));
    step->kind = kind;
    step->from = from;
    step->at_us = at_us;
    return step;
}

size_t
vector_script_len(const struct vector_script *script)
{
    size_t len = 0;

    for (size_t i = 0; i < script->n_steps; i++) {
        len += script->steps[i].bytes.len;
    }
    return len;
}

void
vector_script_clear(struct vector_script *script)
{
    for (size_t i = 0; i < script->n_steps; i++) {
        vector_buf_clear(&script->steps[i].bytes);
    }
    free(script->steps);
    script->steps = NULL;
    script->n_steps = 0;
}

static uint32_t
player_random(struct player *player)
{
    player->state ^= player->state << 13;
    player->state ^= player->state >> 17;
    player->state ^= player->state << 5;
    return player->state;
}

/* player_piece returns how many of the next |len| bytes go in one feed. */
static size_t
player_piece(struct player *player, size_t len)
{
    size_t piece = len;

    switch (player->cut->kind) {
    case VECTOR_CUT_BYTES:
        piece = 1;
        break;
    case VECTOR_CUT_POINT:
        if (player->at < player->cut->point &&
            player->cut->point - player->at < len) {
            piece = player->cut->point - player->at;
        }
        break;
    case VECTOR_CUT_RANDOM:
        piece = 1 + player_random(player) % 40;
        break;
    case VECTOR_CUT_WHOLE:
    case VECTOR_CUT_JOINED:
    case VECTOR_CUT_END:
        break;
    }
    return piece < len ? piece : len;
}

/* player_feed gives the tap each piece in memory of its own, so that a read
 * past its end, or of a piece before, is seen by a memory checker. */
static void
player_feed(struct player *player, enum side from, const uint8_t *data,
            size_t len, uint64_t at_us)
{
    while (len > 0) {
        size_t piece = player_piece(player, len);
        int armed = vector_alloc_pause();
        uint8_t *copy = vector_alloc(piece);

        memcpy(copy, data, piece);
        vector_alloc_resume(armed);
        tap_observer.bytes(player->tap, from, copy, piece,
                           VECTOR_TAP_START_US + at_us);
        free(copy);
        data += piece;
        len -= piece;
        player->at += piece;
    }
}

static void
player_flush(struct player *player)
{
    if (player->joined.len > 0) {
        player_feed(player, player->joined_from, player->joined.data,
                    player->joined.len, player->joined_us);
        player->joined.len = 0;
    }
}

static void
player_bytes(struct player *player, const struct vector_step *step)
{
    size_t len = step->bytes.len;
    int armed;

    if (player->cut->kind == VECTOR_CUT_END &&
        len > player->cut->point - player->at) {
        len = player->cut->point - player->at;
    }
    if (player->cut->kind != VECTOR_CUT_JOINED) {
        player_feed(player, step->from, step->bytes.data, len, step->at_us);
        return;
    }
    if (player->joined_from != step->from || player->joined_us != step->at_us) {
        player_flush(player);
    }
    player->joined_from = step->from;
    player->joined_us = step->at_us;
    armed = vector_alloc_pause();
    vector_buf_add(&player->joined, step->bytes.data, step->bytes.len);
    vector_alloc_resume(armed);
}

/* player_end plays the ends that the script left out and closes; the tap is
 * gone after it. */
static void
player_end(struct player *player, const int *ended, enum conn_reason reason,
           uint64_t at_us, int is_explicit)
{
    uint64_t now = VECTOR_TAP_START_US + at_us;

    player_flush(player);
    for (int i = 0; i < 2 && !is_explicit; i++) {
        if (!ended[i]) {
            tap_observer.eof(player->tap, (enum side)i, now);
        }
    }
    tap_observer.closed(player->tap, reason, NULL, now);
    player->tap = NULL;
}

/* player_is_over returns 1 when END stops here. */
static int
player_is_over(const struct player *player)
{
    return player->cut->kind == VECTOR_CUT_END &&
           player->at >= player->cut->point;
}

static void
player_steps(struct player *player, const struct vector_script *script)
{
    int ended[2] = {0, 0};
    uint64_t at_us = 0;

    for (size_t i = 0; i < script->n_steps; i++) {
        const struct vector_step *step = &script->steps[i];

        at_us = step->at_us;
        if (player_is_over(player)) {
            player_end(player, ended, CONN_CLIENT_RESET, at_us, 1);
            return;
        }
        if (step->kind == VECTOR_STEP_BYTES) {
            player_bytes(player, step);
        } else if (step->kind == VECTOR_STEP_EOF) {
            player_flush(player);
            tap_observer.eof(player->tap, step->from,
                             VECTOR_TAP_START_US + at_us);
            ended[step->from] = 1;
        } else {
            player_end(player, ended, step->reason, at_us, 1);
            return;
        }
    }
    player_end(player, ended, CONN_CLIENT_CLOSED, at_us, 0);
}

static int
player_start(struct player *player, struct tap_shared *shared)
{
    player->tap = tap_new(shared, VECTOR_TAP_CONN, "127.0.0.1:40000",
                          VECTOR_TAP_START_US);
    if (player->tap == NULL) {
        return 0;
    }
    tap_observer.opened(player->tap, "127.0.0.1:50051", 250,
                        VECTOR_TAP_START_US);
    return 1;
}

static void
run_collect(struct vector_run *run, const struct lane *lane)
{
    run->n_lost = 0;
    for (int i = 0; i < EVENT_KINDS; i++) {
        run->n_lost += lane->lost[i];
    }
    run->text.len = 0;
    vector_buf_add(&run->text, lane->data, lane->len);
}

struct what_if *vector_tap_what_if;

void
vector_tap_play(const struct vector_script *script,
                const struct vector_cut *cut, struct vector_run *run)
{
    struct tap_config config = script->config;
    struct player player;
    struct lane lane;
    struct tap_shared *shared;
    int armed;

    memset(&player, 0, sizeof(player));
    player.cut = cut;
    player.state = cut->seed * 2654435761u + 88172645u;
    lane_init(&lane, NULL);
    config.what_if = vector_tap_what_if;
    shared = tap_shared_new(&config, &lane, NULL,
                            VECTOR_TAP_WALL_US - VECTOR_TAP_START_US);
    run->is_started = shared != NULL && player_start(&player, shared);
    if (run->is_started) {
        player_steps(&player, script);
    }
    armed = vector_alloc_pause();
    run_collect(run, &lane);
    vector_alloc_resume(armed);
    if (shared != NULL) {
        tap_shared_free(shared);
    }
    lane_clear(&lane);
    vector_buf_clear(&player.joined);
}

const char *
vector_cut_name(const struct vector_cut *cut)
{
    static char name[64];

    switch (cut->kind) {
    case VECTOR_CUT_WHOLE:
        return "whole";
    case VECTOR_CUT_JOINED:
        return "joined";
    case VECTOR_CUT_BYTES:
        return "byte by byte";
    case VECTOR_CUT_POINT:
        snprintf(name, sizeof(name), "cut at %zu", cut->point);
        return name;
    case VECTOR_CUT_RANDOM:
        snprintf(name, sizeof(name), "random cuts, seed %u", cut->seed);
        return name;
    case VECTOR_CUT_END:
        snprintf(name, sizeof(name), "reset after %zu bytes", cut->point);
        return name;
    }
    return "?";
}
