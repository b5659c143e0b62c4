/* SPDX-License-Identifier: MIT */
/*
 * A relay: one connection from a client and the one to the server that
 * belongs to it.  Bytes go from each side to the other unchanged and at once;
 * an observer is shown them afterwards.  It knows no protocol.
 *
 * A relay ends and frees itself; its owner learns of that by
 * worker_list_remove.
 */
#ifndef RELAY_H
#define RELAY_H

#include <stdint.h>

struct relay;
struct worker;
struct worker_message;

/* RELAY_BACKLOG_HIGH is where a side is no longer read because the other does
 * not take its bytes; reading resumes at half of it.  Two reads' worth, so
 * that a fast pair never waits for the loop; with the read that crosses it
 * RELAY_BACKLOG_HIGH + WORKER_BUFFER_SIZE bounds a direction. */
#define RELAY_BACKLOG_HIGH (512u << 10)

/* struct relay_link puts a relay into its worker's list. */
struct relay_link {
    /* previous and next are NULL at the ends. */
    struct relay *previous;
    struct relay *next;
};

/* relay_start relays the connection of |message|, whose socket is now the
 * relay's, until either side ends it. */
void relay_start(struct worker *worker, const struct worker_message *message,
                 uint64_t now_us);

/* relay_link returns the place of |relay| in the list of its worker. */
struct relay_link *relay_link(struct relay *relay);

/* relay_touched_us returns when bytes last moved; relay_touch sets it. */
uint64_t relay_touched_us(const struct relay *relay);
void relay_touch(struct relay *relay, uint64_t now_us);

/* relay_reconsider is called when the worker starts or stops holding traffic;
 * in the latter case it may end the relay. */
void relay_reconsider(struct relay *relay, uint64_t now_us);

/* relay_probe looks for a reset of a side from which no event would come;
 * only needed where the event base reports no edges.  It may end the
 * relay. */
void relay_probe(struct relay *relay, uint64_t now_us);

/* relay_stop ends |relay| because grpctap stops, after a last try to pass on
 * what it holds. */
void relay_stop(struct relay *relay, uint64_t now_us);

/* relay_expire ends |relay| because nothing moved for too long; while the
 * server is not reached its time does not run. */
void relay_expire(struct relay *relay, uint64_t now_us);

#endif
