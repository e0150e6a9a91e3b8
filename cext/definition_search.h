/* Searching by a compiled definition.
 *
 * Contract of every search below: a result <= alpha is an upper bound of the score for the side
 * to move, one >= beta a lower bound, one between them is the score. When `stop` is set the
 * result means nothing.
 */
#ifndef ZERMELO_DEFINITION_SEARCH_H
#define ZERMELO_DEFINITION_SEARCH_H

#include "definition_play.h"

enum { DEF_GO_ON, DEF_EXHAUSTED, DEF_ABORTED, DEF_TOO_DEEP };
enum { DEF_MOST_PLIES = 4096, DEF_ARENA = 1 << 20, DEF_NO_MOVE = -1 };

typedef struct {
    u128 key;
    u64 check; /* key and facts tied together: 0 means an empty entry */
    int8_t lo, hi;
    int16_t move;
    uint8_t effort, age;
    int16_t unused;
} def_entry;

_Static_assert(sizeof(def_entry) == 32, "two entries fit into a cache line");

typedef struct {
    u128 key;
    int32_t at;      /* the case */
    int32_t order;   /* the larger, the earlier */
    int8_t lo, hi;   /* what is known about the position after it */
    int8_t final;
} def_child;

typedef struct {
    const def_program *program;
    def_entry *entries;
    u64 mask; /* buckets of two entries - 1 */
    int age;
    int limit; /* the largest score */
    u64 nodes, budget; /* budget 0: none */
    volatile int stop;
    volatile int root_done;
    int32_t *moves;      /* an arena of cases */
    def_child *children; /* and one of children, used like a stack */
    int room;
    int32_t killer[DEF_MOST_PLIES][2];
    int32_t *history; /* for each side and move */
    int history_moves;
} def_search;

/* -- the table ------------------------------------------------------------------------------- */

static inline u64 def_hash(u128 key) {
    u64 h = hash_boards((u64)key, (u64)(key >> 64));
    return h ? h : 1;
}

static inline def_entry *def_probe(const def_search *search, u128 key) {
    u64 hash = def_hash(key);
    def_entry *entry = search->entries + 2 * (hash & search->mask);
    for (int i = 0; i < 2; i++)
        if (entry[i].check == hash && entry[i].key == key) return entry + i;
    return NULL;
}

static inline int def_effort(u64 nodes) { return last_bit(nodes | 1) + 1; }

/* Record a proved bound; what was known before stays true with it. The first entry of a bucket
 * keeps what was most expensive during this search, the second takes whatever comes. */
static void def_store(def_search *search, u128 key, int lo, int hi, int move, u64 nodes) {
    u64 hash = def_hash(key);
    def_entry *bucket = search->entries + 2 * (hash & search->mask), *entry = def_probe(search, key);
    int effort = def_effort(nodes);
    if (entry) {
        if (entry->lo > lo) lo = entry->lo;
        if (entry->hi < hi) hi = entry->hi;
        if (entry->effort > effort) effort = entry->effort;
        if (move == DEF_NO_MOVE) move = entry->move;
    } else if (effort >= bucket[0].effort || bucket[0].age != (uint8_t)search->age) {
        bucket[1] = bucket[0];
        entry = bucket;
    } else
        entry = bucket + 1;
    entry->key = key;
    entry->check = hash;
    entry->lo = (int8_t)lo;
    entry->hi = (int8_t)hi;
    entry->move = (int16_t)move;
    entry->effort = (uint8_t)effort;
    entry->age = (uint8_t)search->age;
}

/* -- stopping ---------------------------------------------------------------------------------- */

static inline int def_visit(def_search *search, int ply, int used) {
    search->nodes++;
    if (search->budget && search->nodes > search->budget && !search->stop)
        search->stop = DEF_EXHAUSTED;
    if ((ply >= DEF_MOST_PLIES || used + DEF_PASS > search->room) && !search->stop)
        search->stop = DEF_TOO_DEEP;
    return search->stop;
}

/* -- negamax with everything --------------------------------------------------------------------- */

/* The positions after all moves with what is known about them; the number of them. */
static DEF_APART int def_children(def_search *search, const def_state *state, const int32_t *cases, int found,
                        int ply, int hint, def_child *children) {
    const def_program *program = search->program;
    def_state after;
    int32_t replies[DEF_PASS];
    for (int i = 0; i < found; i++) {
        def_child *child = children + i;
        int move = program->cases[cases[i]].move, score;
        child->at = cases[i];
        child->final = 0;
        child->lo = (int8_t)-search->limit;
        child->hi = (int8_t)search->limit;
        child->key = 0;
        def_play(program, state, cases[i], &after);
        child->order = search->history[state->turn * search->history_moves + move];
        if (def_ended(program, &after, &score)) {
            child->final = 1;
            child->lo = child->hi = (int8_t)score;
        } else if (!after.passing) {
            child->key = def_table_key(program, &after);
            const def_entry *entry = def_probe(search, child->key);
            if (entry) {
                child->lo = entry->lo;
                child->hi = entry->hi;
            }
            /* Where games end only because a side cannot move: fewest replies first. */
            if (!program->end_count[0] && !program->end_count[1])
                child->order -= def_real_moves(program, &after, after.turn, replies, DEF_PASS)
                                << 19;
        }
        if (move == hint) child->order += 1 << 29;
        if (search->killer[ply][0] == move || search->killer[ply][1] == move)
            child->order += 1 << 27;
        child->order -= (child->lo + child->hi) * (1 << 20);
    }
    return found;
}

static inline void def_bring_best(def_child *children, int from, int count) {
    int best = from;
    for (int i = from + 1; i < count; i++)
        if (children[i].order > children[best].order) best = i;
    def_child taken = children[best];
    children[best] = children[from];
    children[from] = taken;
}

static void def_reward(def_search *search, int side, int move, int ply) {
    int32_t *history = search->history + side * search->history_moves;
    if (search->killer[ply][0] != move) {
        search->killer[ply][1] = search->killer[ply][0];
        search->killer[ply][0] = move;
    }
    history[move] += 64;
    if (history[move] > 1 << 24)
        for (int i = 0; i < search->history_moves; i++) history[i] >>= 1;
}

/* The score for the side to move, told apart within alpha < score < beta; fail-soft:
     result <= alpha            the score is at most the result (an upper bound)
     alpha < result < beta      the score is the result
     result >= beta             the score is at least the result (a lower bound)
   After a stop the result means nothing. `scout`: NegaScout, which asks null windows after the
   first move and asks again if needed. */
static int def_negamax(def_search *search, const def_state *state, int alpha, int beta, int ply,
                       int used, int scout) {
    if (def_visit(search, ply, used)) return 0;
    const def_program *program = search->program;
    int score, found = def_moves(program, state, search->moves + used, search->room - used, &score);
    if (found == DEF_OVER) return score;
    def_state after;
    if (found == DEF_ONLY_PASS) {
        def_pass(program, state, &after);
        return -def_negamax(search, &after, -beta, -alpha, ply + 1, used, scout);
    }
    u64 before = search->nodes;
    u128 key = def_table_key(program, state);
    const def_entry *entry = def_probe(search, key);
    int lo = -search->limit, hi = search->limit, hint = DEF_NO_MOVE;
    if (entry) {
        lo = entry->lo;
        hi = entry->hi;
        hint = entry->move;
        if (lo >= beta || lo == hi) return lo;
        if (hi <= alpha) return hi;
    }
    def_child *children = search->children + used;
    def_children(search, state, search->moves + used, found, ply, hint, children);
    /* Enhanced cut-off: what the table knows about one child may already suffice. */
    int best = -search->limit - 1, best_move = DEF_NO_MOVE;
    for (int i = 0; i < found; i++)
        if (-children[i].hi >= beta) {
            best = -children[i].hi;
            def_store(search, key, best, search->limit,
                      program->cases[children[i].at].move, 1);
            return best;
        }
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
                value = -def_negamax(search, &after, -low - 1, -low, ply + 1, used + found, 1);
                if (value > low && value < beta && !search->stop)
                    value = -def_negamax(search, &after, -beta, -value, ply + 1, used + found, 1);
            } else
                value = -def_negamax(search, &after, -beta, -low, ply + 1, used + found, scout);
        }
        if (search->stop) return 0;
        if (ply == 0) search->root_done++;
        if (value > best) {
            best = value;
            if (value > low) {
                best_move = program->cases[child->at].move;
                low = value;
            }
            if (low >= beta) {
                def_reward(search, state->turn, best_move, ply);
                break;
            }
        }
    }
    def_store(search, key, best > alpha ? best : -search->limit,
              best < beta ? best : search->limit, best_move, search->nodes - before);
    return best;
}

/* -- as in the textbooks: no table, moves as they come ------------------------------------------ */

static int def_minimax(def_search *search, const def_state *state, int ply, int used) {
    if (def_visit(search, ply, used)) return 0;
    const def_program *program = search->program;
    int score, found = def_moves(program, state, search->moves + used, search->room - used, &score);
    if (found == DEF_OVER) return state->turn ? -score : score;
    def_state after;
    if (found == DEF_ONLY_PASS) {
        def_pass(program, state, &after);
        return def_minimax(search, &after, ply + 1, used);
    }
    int best = state->turn ? search->limit + 1 : -search->limit - 1;
    for (int i = 0; i < found; i++) {
        def_play(program, state, search->moves[used + i], &after);
        int value = def_minimax(search, &after, ply + 1, used + found);
        if (search->stop) return 0;
        if (ply == 0) search->root_done++;
        if (state->turn ? value < best : value > best) best = value;
    }
    return best;
}

/* Scores for the first player: the first player maximises, the second minimises. Fail-soft, for
   the first player:
     result <= alpha            the score is at most the result (an upper bound)
     alpha < result < beta      the score is the result
     result >= beta             the score is at least the result (a lower bound)
   After a stop the result means nothing. */
static int def_alphabeta(def_search *search, const def_state *state, int alpha, int beta, int ply,
                         int used) {
    if (def_visit(search, ply, used)) return 0;
    const def_program *program = search->program;
    int score, found = def_moves(program, state, search->moves + used, search->room - used, &score);
    if (found == DEF_OVER) return state->turn ? -score : score;
    def_state after;
    if (found == DEF_ONLY_PASS) {
        def_pass(program, state, &after);
        return def_alphabeta(search, &after, alpha, beta, ply + 1, used);
    }
    int best = state->turn ? search->limit + 1 : -search->limit - 1;
    for (int i = 0; i < found; i++) {
        def_play(program, state, search->moves[used + i], &after);
        int value = def_alphabeta(search, &after, alpha, beta, ply + 1, used + found);
        if (search->stop) return 0;
        if (ply == 0) search->root_done++;
        if (state->turn) {
            if (value < best) best = value;
            if (best < beta) beta = best;
        } else {
            if (value > best) best = value;
            if (best > alpha) alpha = best;
        }
        if (alpha >= beta) break;
    }
    return best;
}

#endif
