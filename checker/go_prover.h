/* Go for the checker: can one side force a score within so many plies?
 *
 * Plain rules, plain search: one move where the prover is to move, every move where the
 * other side is, the game played to its end. Nothing is shared with the engine. First a
 * proof is looked for that needs no ko rule and so few earlier boards that they can be
 * compared; failing that, one in which all that is remembered is kept apart by the whole
 * set of earlier boards.
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

/* What is known of a state where no ko rule holds: `plies` as above, the point that decided,
 * and what a proof keeps (see forces_freely). */
typedef struct {
    Points black, white, keep;
    uint32_t question;
    uint16_t plies;
    int8_t best;
} Free;

typedef struct {
    int rows, cols, ko_rule, cycle_passes, suicide, komi;
    Points mask;
    Earlier path[LONGEST_PATH];
    int length;
    int prover_black, target, free_plies;
    Remembered *table;
    Free *free_table;
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

/* A state and a question about it in the table of the game without a ko rule. */
static uint32_t question_of(const State *state, int prover_black, int target) {
    return 1u | (uint32_t)(state->black_to_move << 1 | state->passes << 2 | prover_black << 3
                           | (target + 128) << 4);
}

static Free *free_slot(const Prover *prover, const State *state, uint32_t question) {
    uint64_t key = scramble(state->black + scramble(state->white + scramble(question)));
    return &prover->free_table[key & prover->table_mask];
}

static int is_about(const Free *slot, const State *state, uint32_t question) {
    return slot->question == question && slot->black == state->black
        && slot->white == state->white;
}

/* Whether the prover forces the target within so many plies if there were no ko rule at all.
 *
 * Then he does so under superko, too, provided that no board he creates on the way was there
 * before. For let him always play towards the nearest end. Should he create a board X that
 * was there since the beginning, the way from there was longer than needed:
 *   - the same side was to move, without a pass: the same state, and as far from the end;
 *     after his own pass: the reply there can only be one that he can answer here;
 *   - he was to move: if X scores enough, he could have passed, and the opponent would have
 *     had the choice that he has now; if not, the opponent may pass now, the prover must have
 *     a stone to answer with, and could have put it then.
 * The opponent has all his legal moves, and some that superko forbids.
 *
 * `keep` gets the prover's stones that are on every board he creates: an earlier board that
 * lacks one of them is none of those. */
static int forces_freely(Prover *prover, const State *state, int plies, Points *keep) {
    prover->nodes++;
    if (!plies || prover->stop) return 0;
    uint32_t question = question_of(state, prover->prover_black, prover->target);
    Free *slot = free_slot(prover, state, question);
    int first = NO_POINT;
    if (is_about(slot, state, question)) {
        *keep = slot->keep;
        if (slot->plies == PROVED) return 1;
        if (slot->plies >= plies) return 0;
        first = slot->best;
    }
    uint32_t contrary = question_of(state, !prover->prover_black, 1 - prover->target);
    const Free *refuted = free_slot(prover, state, contrary);
    if (refuted->plies == PROVED && is_about(refuted, state, contrary)) return 0;
    int any = state->black_to_move == prover->prover_black, result = !any, best = NO_POINT;
    Points kept = ~0ULL, tried = state->black | state->white;
    /* The point that decided before, then the pass, then all other points. */
    for (int turn = first == NO_POINT ? 1 : 0; result != any;) {
        Points below = ~0ULL, created = ~0ULL;
        State after;
        int point = NO_POINT, holds;
        if (turn == 1) {
            turn = 2;
            after = (State){state->black, state->white, !state->black_to_move, state->passes + 1,
                            NO_POINT};
        } else {
            Points left = prover->mask & ~tried;
            if (!left) break;
            point = turn == 0 ? first : __builtin_ctzll(left);
            if (turn == 0) turn = 1;
            tried |= 1ULL << point;
            State free = *state;
            free.ko = NO_POINT;
            if (!put_stone(prover, &free, point, &after)) continue;
            after.ko = NO_POINT;
            if (any) created = state->black_to_move ? after.black : after.white;
        }
        holds = after.passes == 2 ? score_now(prover, &after) >= prover->target
                                  : forces_freely(prover, &after, plies - 1, &below);
        if (holds == any) result = any, best = point, kept = below & created;
        else if (holds) kept &= below;
    }
    if (prover->stop) return 0;
    *keep = kept;
    *slot = (Free){state->black, state->white, kept, question,
                   (uint16_t)(result ? PROVED : plies), (int8_t)best};
    return result;
}

/* The same under superko: as above, if no earlier board has all the stones that are kept. */
static int forces_simply(Prover *prover, const State *state) {
    Points keep;
    if (prover->ko_rule == BASIC || !forces_freely(prover, state, prover->free_plies, &keep))
        return 0;
    for (int at = 0; at < prover->length; at++) {
        const Earlier *earlier = &prover->path[at];
        if (earlier->black == state->black && earlier->white == state->white) continue;
        if (!(keep & ~(prover->prover_black ? earlier->black : earlier->white))) return 0;
    }
    return 1;
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

/* Whether the prover is seen to force the target within so many plies, or simply from there
 * on. A no means only that it is not seen. */
static int forces(Prover *prover, const State *state, int passes, int plies) {
    prover->nodes++;
    if (prover->stop || prover->length == LONGEST_PATH) return 0;
    if (forces_simply(prover, state)) return 1;
    if (!plies) return 0;
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
