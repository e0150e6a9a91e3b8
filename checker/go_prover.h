/* Go for the checker: can one side force a score within so many plies?
 *
 * Plain rules, plain search: one move where the prover is to move, every move where the
 * other side is, the game played to its end. Nothing is shared with the engine, and what
 * is remembered is kept apart by the whole set of earlier boards.
 *
 * Point = 8 * row + column; column 7 is never on a board, so that a step to the side that
 * leaves a row falls off.
 */
#ifndef ZERMELO_CHECKER_GO_PROVER_H
#define ZERMELO_CHECKER_GO_PROVER_H

#include <stdint.h>
#include <stdlib.h>

typedef uint64_t Points;

enum { PSK, SSK, BASIC };

#define NO_POINT (-1)
#define LONGEST_PATH 512
#define PROVED 0xFFFF

typedef struct {
    Points black, white;
    int black_to_move, passes, ko;
} State;

/* A board that was there, as far as the ko rule looks at it. */
typedef struct {
    Points black, white;
    int tag;
    /* Black's passes minus White's before it. */
    int passes;
} Earlier;

typedef struct {
    uint64_t key, check;
    uint16_t plies;
} Remembered;

typedef struct {
    int rows, cols, ko_rule, cycle_passes, suicide, komi;
    Points mask;
    Earlier path[LONGEST_PATH];
    int length;
    int prover_black, target;
    Remembered *table;
    uint64_t table_mask, nodes;
    volatile int stop;
} Prover;

static inline int how_many(Points p) { return __builtin_popcountll(p); }

static inline Points touching(const Prover *prover, Points p) {
    return (p << 8 | p >> 8 | p << 1 | p >> 1) & prover->mask & ~p;
}

static Points connected(const Prover *prover, Points seed, Points area) {
    Points found = seed & area, before;
    do {
        before = found;
        found |= touching(prover, found) & area;
    } while (found != before);
    return found;
}

static Points captured_of(const Prover *prover, Points stones, Points other) {
    Points empty = prover->mask & ~(stones | other);
    return stones & ~connected(prover, touching(prover, empty), stones);
}

static int area_of(const Prover *prover, Points stones, Points other) {
    if (!stones) return 0;
    Points empty = prover->mask & ~(stones | other);
    return how_many(stones | (empty & ~connected(prover, touching(prover, other), empty)));
}

/* What the prover scores if the game ends with this board. */
static int score_now(const Prover *prover, const State *state) {
    int black = area_of(prover, state->black, state->white)
              - area_of(prover, state->white, state->black) - prover->komi;
    return prover->prover_black ? black : -black;
}

static int tag_of(const Prover *prover, const State *state) {
    if (prover->ko_rule == PSK) return 0;
    if (prover->ko_rule == SSK) return state->black_to_move;
    return state->black_to_move | state->passes << 1 | (state->ko + 1) << 2;
}

static const Earlier *earlier_like(const Prover *prover, const State *state) {
    int tag = tag_of(prover, state);
    for (int at = prover->length; at--;) {
        const Earlier *earlier = &prover->path[at];
        if (earlier->black == state->black && earlier->white == state->white
            && earlier->tag == tag)
            return earlier;
    }
    return NULL;
}

/* The state after a stone, whose board may have been there before; 0 if it is illegal
 * for another reason. */
static int put_stone(const Prover *prover, const State *state, int point, State *after) {
    Points stone = 1ULL << point;
    if ((state->black | state->white) & stone || point == state->ko) return 0;
    Points own = (state->black_to_move ? state->black : state->white) | stone;
    Points other = state->black_to_move ? state->white : state->black;
    Points taken = captured_of(prover, other, own);
    other &= ~taken;
    Points lost = captured_of(prover, own, other);
    if (lost && (!prover->suicide || lost == stone)) return 0;
    own &= ~lost;
    after->ko = NO_POINT;
    if (prover->ko_rule == BASIC && how_many(taken) == 1
        && connected(prover, stone, own) == stone
        && (touching(prover, stone) & ~other) == taken)
        after->ko = __builtin_ctzll(taken);
    after->black = state->black_to_move ? own : other;
    after->white = state->black_to_move ? other : own;
    after->black_to_move = !state->black_to_move;
    after->passes = 0;
    return 1;
}

static inline uint64_t scramble(uint64_t x) {
    x = (x ^ x >> 32) * 0xD6E8FEB86659FD93ULL;
    x = (x ^ x >> 32) * 0xD6E8FEB86659FD93ULL;
    return x ^ x >> 32;
}

/* Two independent hashes of the state, the set of earlier boards and the question. */
static void name_of(const Prover *prover, const State *state, uint64_t *key, uint64_t *check) {
    uint64_t rest = (uint64_t)(state->black_to_move | state->passes << 1 | (state->ko + 1) << 3
                               | prover->prover_black << 10 | (prover->target + 128) << 11);
    *key = scramble(state->black + scramble(state->white + scramble(rest)));
    *check = scramble(~state->white + scramble(~state->black ^ scramble(rest + 77)));
    for (int at = 0; at < prover->length; at++) {
        const Earlier *earlier = &prover->path[at];
        uint64_t one = scramble(earlier->black + scramble(earlier->white + earlier->tag));
        *key += one;
        *check += scramble(one ^ 0x9E3779B97F4A7C15ULL);
    }
}

static int forces(Prover *prover, const State *state, int passes, int plies);

/* Whether the prover still gets there after this child of the present state. `passes` is
 * Black's passes minus White's so far. */
static int child_forces(Prover *prover, const State *child, int passes, int plies) {
    if (child->passes == 2) return score_now(prover, child) >= prover->target;
    const Earlier *same = prover->ko_rule == BASIC ? earlier_like(prover, child) : NULL;
    if (!same) return forces(prover, child, passes, plies - 1);
    int balance = passes - same->passes, black = 0;
    if (prover->cycle_passes && balance)
        black = (balance > 0 ? 1 : -1) * prover->rows * prover->cols - prover->komi;
    return (prover->prover_black ? black : -black) >= prover->target;
}

/* Whether the prover is seen to force the target within so many plies. A no means only
 * that it is not seen. */
static int forces(Prover *prover, const State *state, int passes, int plies) {
    prover->nodes++;
    if (!plies || prover->stop || prover->length == LONGEST_PATH) return 0;
    uint64_t key, check;
    name_of(prover, state, &key, &check);
    Remembered *slot = &prover->table[key & prover->table_mask];
    int remembers = !prover->cycle_passes;
    if (remembers && slot->key == key && slot->check == check && slot->plies) {
        if (slot->plies == PROVED) return 1;
        if (slot->plies >= plies) return 0;
    }
    int any = state->black_to_move == prover->prover_black, result = !any;
    int added = !earlier_like(prover, state);
    if (added)
        prover->path[prover->length++] =
            (Earlier){state->black, state->white, tag_of(prover, state), passes};
    State child = {state->black, state->white, !state->black_to_move, state->passes + 1, NO_POINT};
    int passed = passes + (state->black_to_move ? 1 : -1);
    /* The pass first where it ends the game, else last: few proofs begin with one. */
    for (int turn = state->passes ? 0 : 1; turn < (state->passes ? 2 : 3) && result != any; turn++) {
        if (turn != 1) {
            if (child_forces(prover, &child, passed, plies) == any) result = any;
            continue;
        }
        for (Points empty = prover->mask & ~(state->black | state->white); empty;
             empty &= empty - 1) {
            State after;
            if (!put_stone(prover, state, __builtin_ctzll(empty), &after)) continue;
            if (prover->ko_rule != BASIC && earlier_like(prover, &after)) continue;
            if (child_forces(prover, &after, passes, plies) == any) {
                result = any;
                break;
            }
        }
    }
    if (added) prover->length--;
    if (prover->stop) return 0;
    if (remembers) *slot = (Remembered){key, check, (uint16_t)(result ? PROVED : plies)};
    return result;
}

#endif
