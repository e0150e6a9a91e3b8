/* Searching by a compiled definition.
 *
 * Contract of every search below: a result <= alpha is an upper bound of the score for the side
 * to move, one >= beta a lower bound, one between them is the score. When the team is told to stop
 * the result means nothing.
 */
#ifndef ZERMELO_DEFINITION_SEARCH_H
#define ZERMELO_DEFINITION_SEARCH_H

#include "definition_connections.h"
#include "definition_lines.h"
#include "definition_table.h"

enum { DEF_GO_ON, DEF_EXHAUSTED, DEF_ABORTED, DEF_TOO_DEEP, DEF_ANSWERED };
enum { DEF_MOST_PLIES = 4096, DEF_ARENA = 1 << 20, DEF_BUSY = 1 << 10 };

typedef struct {
    u128 key;
    union {
        int64_t order;                       /* the larger, the earlier */
        struct { uint32_t proof, disproof; }; /* for whoever has this move */
    };
    int32_t at;    /* the case */
    int8_t lo, hi; /* what is known about the position after it */
    int8_t final;
    int8_t same; /* proof numbers only: the same side moves again */
} def_child;

/* What the threads of one search share. */
typedef struct {
    volatile int stop;
    volatile int root_done;
    volatile u64 nodes;
    u64 budget; /* 0: none */
    def_table table;
    volatile u64 busy[DEF_BUSY]; /* hashes of positions that threads are at, some of them */
} def_team;

/* One thread. */
typedef struct {
    const def_program *program;
    def_team *team;
    int thread;
    int limit; /* the largest score */
    u64 nodes;
    int batch;           /* nodes that are counted together, a power of two */
    int32_t *moves;      /* an arena of cases */
    def_child *children; /* and one of children, used like a stack */
    int room;
    int32_t *history; /* for each side and move */
    int history_moves;
    def_connections *connections; /* room for looking for them in Hex; else NULL */
} def_search;

static inline void def_stop(def_team *team, int reason) {
    change_once(&team->stop, DEF_GO_ON, reason);
}

/* Count a node; whether the search must stop. */
static inline int def_visit(def_search *search, int ply, int used) {
    def_team *team = search->team;
    search->nodes++;
    if (search->batch == 1) team->nodes++;
    else if (!(search->nodes & (u64)(search->batch - 1)))
        __sync_fetch_and_add(&team->nodes, (u64)search->batch);
    if (team->budget && team->nodes > team->budget) def_stop(team, DEF_EXHAUSTED);
    if (ply >= DEF_MOST_PLIES || used + DEF_PASS > search->room) def_stop(team, DEF_TOO_DEEP);
    return team->stop;
}

/* Say that a thread begins with a position, or is through with it. Whoever tries another move
 * instead and comes back later finds it in the table. Nothing but the order depends on it. */
static inline int def_is_busy(const def_team *team, u64 hash) {
    return team->busy[hash & (DEF_BUSY - 1)] == hash;
}
static inline void def_begin(def_team *team, u64 hash) { team->busy[hash & (DEF_BUSY - 1)] = hash; }
static inline void def_leave(def_team *team, u64 hash) {
    if (def_is_busy(team, hash)) team->busy[hash & (DEF_BUSY - 1)] = 0;
}

/* A few bits of the key of a child, by which it is known again in symmetric positions. */
static inline int def_tag_of(u64 hash) { return (int)(hash >> 49); }
static inline int def_tag(u128 key) { return def_tag_of(def_hash(key)); }

/* -- the order of moves -------------------------------------------------------------------------- */

/* What speaks for a move, measured by nodes (docs/decisions/0021): the move that was best before,
 * every line it threatens to complete, every piece it takes off the board, every reply that it
 * leaves not, then history, which decides between equals. Killers did not pay. */
enum {
    DEF_HINT_BIT = 40,
    DEF_THREAT = 1 << 26,
    DEF_TAKEN = 1 << 25,
    DEF_REPLY = 1 << 24,
    DEF_KNOWN = 1 << 20,
    DEF_MOST_HISTORY = 1 << 24,
    DEF_MOST_EFFORT = 20
};

/* The positions after all moves, with what the rules and the table tell about them. The place of
 * one whose lower bound for the mover is known to reach beta, as soon as one is (an enhanced
 * cut-off); else -1. */
static DEF_APART int def_children(def_search *search, const def_state *state, int found, int hint,
                                  int alpha, int beta, const int32_t *cases,
                                  def_child *children) {
    const def_program *program = search->program;
    const def_table *table = &search->team->table;
    const int32_t *history = search->history + state->turn * search->history_moves;
    const int placing = program->lines[0] >= 0;
    const def_mask threats = placing ? def_completing(program, state, !state->turn) : 0;
    const int empty = def_bits(state->plane[0]);
    def_state after;
    def_images images;
    if (program->effect_images) def_images_before(program, state, &images);
    for (int i = 0; i < found; i++) {
        def_child *child = children + i;
        int move = program->cases[cases[i]].move, score;
        child->at = cases[i];
        child->final = 0;
        child->lo = (int8_t)-search->limit;
        child->hi = (int8_t)search->limit;
        child->key = 0;
        child->order = history[move];
        def_play(program, state, cases[i], &after);
        if (placing) {
            /* No move wins at once here; one after which the other side can loses. */
            if (threats & def_playable(program, &after)) {
                child->final = 1;
                child->lo = child->hi = 1;
                continue;
            }
            child->order += (int64_t)DEF_THREAT
                            * def_bits(def_completing(program, &after, state->turn));
        } else if (def_ended(program, &after, &score)) {
            child->final = 1;
            child->lo = child->hi = (int8_t)score;
            if (-score >= beta) return i;
            continue;
        }
        child->order += (int64_t)DEF_TAKEN * (def_bits(after.plane[0]) - empty);
        if (after.passing) continue;
        child->key = program->effect_images ? def_key_of_image(program, &images, cases[i])
                                            : def_table_key(program, &after);
        def_prefetch(table, child->key);
    }
    for (int i = 0; i < found; i++) {
        def_child *child = children + i;
        def_facts facts;
        if (child->final) continue;
        const u64 hash = def_hash(child->key);
        if (child->key && def_probe_hashed(table, child->key, hash, &facts)) {
            child->lo = (int8_t)facts.lo;
            child->hi = (int8_t)facts.hi;
            if (-facts.hi >= beta) return i;
        }
        if (def_tag_of(hash) == hint) child->order += (int64_t)1 << DEF_HINT_BIT;
        child->order -= (child->lo + child->hi) * DEF_KNOWN;
        /* Threads that went the same way would find the same. */
        if (search->thread)
            child->order += (int64_t)(def_hash(child->key + (u128)search->thread) >> 40);
    }
    if (!program->replies_vary) return -1;
    /* Counting replies is dear, so it comes when no cut-off was found, for what will be searched. */
    for (int i = 0; i < found; i++) {
        def_child *child = children + i;
        if (child->final || !child->key || -child->lo <= alpha) continue;
        def_play(program, state, child->at, &after);
        child->order -= (int64_t)DEF_REPLY * def_mobility(program, &after);
    }
    return -1;
}

static inline void def_bring_best(def_child *children, int from, int count) {
    int best = from;
    for (int i = from + 1; i < count; i++)
        if (children[i].order > children[best].order) best = i;
    def_child taken = children[best];
    children[best] = children[from];
    children[from] = taken;
}

/* A move has cut off a search of `nodes` nodes: the more it took, the more it is worth elsewhere. */
static void def_reward(def_search *search, int side, int move, u64 nodes) {
    int32_t *history = search->history + side * search->history_moves;
    int effort = def_effort(nodes);
    history[move] += 1 << (effort < DEF_MOST_EFFORT ? effort : DEF_MOST_EFFORT);
    if (history[move] > DEF_MOST_HISTORY)
        for (int i = 0; i < search->history_moves; i++) history[i] >>= 1;
}

/* -- negamax with everything --------------------------------------------------------------------- */

static int def_go_on(def_search *search, const def_state *state, u128 key, int alpha, int beta,
                     int ply, int used, int scout);
static int def_search_lines(def_search *search, const def_state *state, int alpha, int beta,
                            int ply, int used, int scout);
static inline int def_is_filling(const def_program *program, const def_state *state, int *left);
static int def_search_filling(def_search *search, const def_state *state, int left, int alpha,
                              int beta, int ply, int used);
static int def_search_joining(def_search *search, const def_state *state, int ply, int used);

/* The score for the side to move, told apart within alpha < score < beta; fail-soft:
     result <= alpha            the score is at most the result (an upper bound)
     alpha < result < beta      the score is the result
     result >= beta             the score is at least the result (a lower bound)
   After a stop the result means nothing. `scout`: NegaScout, which asks null windows after the
   first move and asks again if needed. */
static int def_negamax(def_search *search, const def_state *state, int alpha, int beta, int ply,
                       int used, int scout) {
    int score, left;
    if (def_decided(search->program, state, &score)) {
        def_visit(search, ply, used);
        return score;
    }
    if (search->program->steady)
        return def_search_lines(search, state, alpha, beta, ply, used, scout);
    if (search->program->joining) return def_search_joining(search, state, ply, used);
    if (!state->passing && def_is_filling(search->program, state, &left))
        return def_search_filling(search, state, left, alpha, beta, ply, used);
    return def_go_on(search, state, 0, alpha, beta, ply, used, scout);
}

/* The same for a position that is not decided: fail-soft, as `def_negamax` says. `key`: its name in
 * the table if that is known, else 0. */
static int def_go_on(def_search *search, const def_state *state, u128 key, int alpha, int beta,
                     int ply, int used, int scout) {
    if (def_visit(search, ply, used)) return 0;
    const def_program *program = search->program;
    def_team *team = search->team;
    def_state after;
    if (state->passing) {
        def_pass(program, state, &after);
        return -def_negamax(search, &after, -beta, -alpha, ply + 1, used, scout);
    }
    u64 before = search->nodes;
    if (!key) key = def_table_key(program, state);
    int hint = DEF_NO_MOVE;
    def_facts facts;
    if (def_probe(&team->table, key, &facts)) {
        if (facts.lo >= beta || facts.lo == facts.hi) return facts.lo;
        if (facts.hi <= alpha) return facts.hi;
        hint = facts.move;
    }
    int32_t *cases = search->moves + used;
    int found = def_real_moves(program, state, state->turn, cases, DEF_PASS);
    if (!found) {
        int32_t any;
        if (program->stuck == DEF_STUCK_PASS
            && def_real_moves(program, state, !state->turn, &any, 1)) {
            def_pass(program, state, &after);
            return -def_negamax(search, &after, -beta, -alpha, ply + 1, used, scout);
        }
        return def_stuck_score(program, state);
    }
    def_child *children = search->children + used;
    int enough = def_children(search, state, found, hint, alpha, beta, cases, children);
    if (enough >= 0) {
        int value = -children[enough].hi;
        def_store(&team->table, key, value, search->limit, def_tag(children[enough].key), 1);
        return value;
    }
    int best = -search->limit - 1, best_move = -1, tag = DEF_NO_MOVE;
    int low = alpha;
    for (int i = 0; i < found; i++) {
        def_bring_best(children, i, found);
        const def_child *child = children + i;
        int value;
        if (child->final) value = -child->lo;
        else if (-child->lo <= low) value = -child->lo; /* it cannot be better than that */
        else {
            def_play(program, state, child->at, &after);
            if (scout && i && beta - low > 1) {
                value = -def_go_on(search, &after, child->key, -low - 1, -low, ply + 1,
                                   used + found, 1);
                if (value > low && value < beta && !team->stop)
                    value = -def_go_on(search, &after, child->key, -beta, -value, ply + 1,
                                       used + found, 1);
            } else
                value = -def_go_on(search, &after, child->key, -beta, -low, ply + 1, used + found,
                                   scout);
        }
        if (team->stop) return 0;
        if (ply == 0 && !search->thread) team->root_done++;
        if (value > best) {
            best = value;
            if (value > low) {
                best_move = program->cases[child->at].move;
                tag = child->final ? DEF_NO_MOVE : def_tag(child->key);
                low = value;
            }
            if (low >= beta) {
                def_reward(search, state->turn, best_move, search->nodes - before);
                break;
            }
        }
    }
    def_store(&team->table, key, best > alpha ? best : -search->limit,
              best < beta ? best : search->limit, tag, search->nodes - before);
    return best;
}

#endif
