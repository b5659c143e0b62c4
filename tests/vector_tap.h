/* SPDX-License-Identifier: MIT */
/*
 * Plays a script - bytes, ends, times - to a tap and returns the lines it
 * wrote.  How the bytes are cut is a choice apart from the script, because
 * the lines must not depend on it.
 */
#ifndef VECTOR_TAP_H
#define VECTOR_TAP_H

#include "../proxy/observer.h"
#include "../proxy/tap.h"
#include "vector_buf.h"

/* VECTOR_TAP_CONN is the number of the connection in every test. */
#define VECTOR_TAP_CONN 7

/* VECTOR_TAP_START_US is the monotonic time at which the connection opens:
 * 2024-01-02T03:04:05Z with the wall offset the driver uses. */
#define VECTOR_TAP_START_US 1000000u
#define VECTOR_TAP_WALL_US 1704164645000000

/* enum vector_step_kind is what a step does. */
enum vector_step_kind { VECTOR_STEP_BYTES, VECTOR_STEP_EOF, VECTOR_STEP_CLOSE };

/* struct vector_step is one thing that happens on the connection. */
struct vector_step {
    /* kind is what happens. */
    enum vector_step_kind kind;
    /* from is the side that sends or ends; unused by CLOSE. */
    enum side from;
    /* reason is why the connection is over (CLOSE). */
    enum conn_reason reason;
    /* at_us is when, counted from the opening of the connection. */
    uint64_t at_us;
    /* bytes are what is sent (BYTES). */
    struct vector_buf bytes;
};

/* struct vector_script is a connection to be played. */
struct vector_script {
    /* steps are n_steps steps in order.  Ends that are missing at the end
     * are played by the driver: both sides' EOF, then client_closed. */
    struct vector_step *steps;
    size_t n_steps;
    /* config is what the tap is configured with. */
    struct tap_config config;
};

/* enum vector_cut_kind is a way to cut the bytes of a script. */
enum vector_cut_kind {
    VECTOR_CUT_WHOLE,  /* one feed a step */
    VECTOR_CUT_JOINED, /* neighbouring steps of one side and time together */
    VECTOR_CUT_BYTES,  /* one feed a byte */
    VECTOR_CUT_POINT,  /* as WHOLE, and one cut more */
    VECTOR_CUT_RANDOM, /* pieces of random length */
    VECTOR_CUT_END     /* as WHOLE, but a reset after so many bytes */
};

/* struct vector_cut says how to cut. */
struct vector_cut {
    /* kind is the way. */
    enum vector_cut_kind kind;
    /* point is where POINT cuts and END stops: before this byte of all bytes
     * sent. */
    size_t point;
    /* seed starts the generator of RANDOM. */
    uint32_t seed;
};

/* struct vector_run is what came of playing a script. */
struct vector_run {
    /* text holds the lines. */
    struct vector_buf text;
    /* is_started is 0 when the tap could not even be made (memory). */
    int is_started;
    /* n_lost counts events dropped for want of memory. */
    uint64_t n_lost;
};

/* vector_script_add appends a step and returns it for its bytes. */
struct vector_step *vector_script_add(struct vector_script *script,
                                      enum vector_step_kind kind,
                                      enum side from, uint64_t at_us);

/* vector_script_len returns how many bytes |script| sends. */
size_t vector_script_len(const struct vector_script *script);

/* vector_script_clear frees the steps of |script|. */
void vector_script_clear(struct vector_script *script);

/* vector_tap_play plays |script| cut as |cut| says; |run| is replaced. */
void vector_tap_play(const struct vector_script *script,
                     const struct vector_cut *cut, struct vector_run *run);

/* vector_tap_what_if (NULL at first) is what taps show messages to. */
extern struct what_if *vector_tap_what_if;

/* vector_cut_name returns a name for |cut| in messages; it is valid until
 * the next call. */
const char *vector_cut_name(const struct vector_cut *cut);

/* vector_tap_all_events is the mask of every event a tap can write. */
extern const unsigned vector_tap_all_events;

#endif
