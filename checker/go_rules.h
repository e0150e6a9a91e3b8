/* Go for the checker: stones, captures, area. Plain rules; nothing is shared with the engine.
 *
 * Point = 8 * row + column; column 7 is never on a board, so that a step to the side that
 * leaves a row falls off.
 */
#ifndef ZERMELO_CHECKER_GO_RULES_H
#define ZERMELO_CHECKER_GO_RULES_H

#include <stdint.h>
#include <stdlib.h>

typedef uint64_t Points;

enum { PSK, SSK, BASIC };

#define NO_POINT (-1)
#define STRIDE 8

typedef struct {
    int rows, cols, ko_rule, cycle_passes, suicide, komi;
    Points mask;
} Rules;

typedef struct {
    Points black, white;
    int black_to_move, passes, ko;
} State;

static inline int how_many(Points p) { return __builtin_popcountll(p); }

static inline Points touching(const Rules *rules, Points p) {
    return (p << STRIDE | p >> STRIDE | p << 1 | p >> 1) & rules->mask & ~p;
}

static inline Points connected(const Rules *rules, Points seed, Points area) {
    Points found = seed & area, before;
    do {
        before = found;
        found |= touching(rules, found) & area;
    } while (found != before);
    return found;
}

static inline Points captured_of(const Rules *rules, Points stones, Points other) {
    Points empty = rules->mask & ~(stones | other);
    return stones & ~connected(rules, touching(rules, empty), stones);
}

static inline int area_of(const Rules *rules, Points stones, Points other) {
    if (!stones) return 0;
    Points empty = rules->mask & ~(stones | other);
    return how_many(stones | (empty & ~connected(rules, touching(rules, other), empty)));
}

/* What a side scores if the game ends with this board. */
static inline int score_of(const Rules *rules, Points black, Points white, int for_black) {
    int score = area_of(rules, black, white) - area_of(rules, white, black) - rules->komi;
    return for_black ? score : -score;
}

/* The state after a stone, whose board may have been there before; 0 if it is illegal
 * for another reason. */
static inline int put_stone(const Rules *rules, const State *state, int point, State *after) {
    Points stone = 1ULL << point;
    if ((state->black | state->white) & stone || point == state->ko) return 0;
    Points own = (state->black_to_move ? state->black : state->white) | stone;
    Points other = state->black_to_move ? state->white : state->black;
    Points taken = captured_of(rules, other, own);
    other &= ~taken;
    Points lost = captured_of(rules, own, other);
    if (lost && (!rules->suicide || lost == stone)) return 0;
    own &= ~lost;
    after->ko = NO_POINT;
    if (rules->ko_rule == BASIC && how_many(taken) == 1
        && connected(rules, stone, own) == stone
        && (touching(rules, stone) & ~other) == taken)
        after->ko = __builtin_ctzll(taken);
    after->black = state->black_to_move ? own : other;
    after->white = state->black_to_move ? other : own;
    after->black_to_move = !state->black_to_move;
    after->passes = 0;
    return 1;
}

static inline void pass_turn(const State *state, State *after) {
    *after = (State){state->black, state->white, !state->black_to_move, state->passes + 1,
                     NO_POINT};
}

#endif
