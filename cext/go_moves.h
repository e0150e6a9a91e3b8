/* Moves of a state, and how promising they look: hints only, never part of a proof. */

#ifndef ZERMELO_GO_MOVES_H
#define ZERMELO_GO_MOVES_H

#include "go_path.h"

typedef struct {
    int captured;
    int liberty; /* empty points next to the stone */
    int enemy;   /* enemy stones next to it */
    int friend;
    int centre;  /* points within two steps */
    int eye;     /* the price of filling an eye of one's own: a waiting move at best */
    int history; /* in 1/256 */
    int killer;
    int shape;
} go_move_weights;

typedef struct {
    int stones, liberties, second_liberties, chains, edge;
} go_shape_weights;

/* Found by random search on questions on 3x4 to 4x5 boards, for Black and White. Black,
   who usually has to kill, connects; White spreads out to stay hard to kill. */
static const go_move_weights GO_MOVE_WEIGHTS[2] = {
    {24, 4, 3, 12, 1, 90, 12, 59, 3},
    {24, 4, 3, 0, 12, 6, 16, 60, 3},
};
static const go_shape_weights GO_SHAPE_WEIGHTS = {2, 2, 1, 4, 2};

/* Chains minus holes: points - pairs + squares of a set of stones.

       # # #        8 points, 8 pairs, no square: one chain, one hole
       # . #
       # # #  */
static inline int go_euler(go_bits x)
{
    int pairs = go_count(x & x >> 1) + go_count(x & x >> 8);
    return go_count(x) - pairs + go_count(x & x >> 1 & x >> 8 & x >> 9);
}

/* How well Black stands, by the looks: many liberties, few chains, holes, not on the edge. */
static inline int go_shape(const go_search *s, const go_bits stones[2])
{
    const go_shape_weights *weight = &GO_SHAPE_WEIGHTS;
    go_bits empty = s->size.mask & ~(stones[0] | stones[1]), near, next;
    int shape = 0, colour, value;
    for (colour = 0; colour < 2; colour++) {
        near = go_grow(stones[colour]) & empty;
        next = go_grow(near) & empty & ~near;
        value = weight->stones * go_count(stones[colour]) + weight->liberties * go_count(near) +
                weight->second_liberties * go_count(next) -
                weight->chains * go_euler(stones[colour]) -
                weight->edge * go_count(stones[colour] & s->edge);
        shape += colour == GO_BLACK ? value : -value;
    }
    return shape;
}

static inline int go_order(
    const go_search *s, const go_state *state, const go_child *child, int at)
{
    const go_move_weights *weight = &GO_MOVE_WEIGHTS[state->turn];
    go_bits stone = (go_bits)1 << child->move, around = go_touching(&s->size, stone);
    go_bits mine = child->state.stones[state->turn], theirs = child->state.stones[!state->turn];
    int order = weight->captured * child->captured +
                weight->liberty * go_count(around & ~(mine | theirs)) +
                weight->enemy * go_count(around & theirs) +
                weight->friend * go_count(around & mine) +
                weight->centre * go_count(go_grow(around) & s->size.mask);
    if (!(around & ~mine)) order -= weight->eye;
    order += weight->shape * (state->turn == GO_BLACK ? child->shape : -child->shape);
    if (s->options.history) order += s->history[state->turn][child->move] * weight->history >> 8;
    if (s->options.killers) {
        if (s->killers[at][0] == child->move) order += weight->killer;
        else if (s->killers[at][1] == child->move) order += weight->killer * 2 / 3;
    }
    return order;
}

/* All moves, repetitions included; a pass comes last. */
static inline int go_generate(
    const go_search *s, const go_state *state, int at, go_child *children)
{
    go_bits left = s->size.mask & ~(state->stones[0] | state->stones[1]);
    int me = state->turn, count = 0, stones = go_count(state->stones[0] | state->stones[1]);
    go_child *child;
    while (left) {
        int point = go_first(left);
        left &= left - 1;
        if (point == state->ko) continue;
        child = &children[count];
        child->state = *state;
        if (!go_play(&s->size, &child->state.stones[me], &child->state.stones[!me], point,
                     &child->state.ko))
            continue;
        child->state.turn = !me;
        child->state.passes = 0;
        child->move = point;
        child->captured =
            stones + 1 - go_count(child->state.stones[0] | child->state.stones[1]);
        child->takes_ko = child->state.ko != GO_NO_KO;
        child->shape = s->options.shape ? go_shape(s, child->state.stones) : 0;
        child->order = go_order(s, state, child, at);
        count++;
    }
    child = &children[count++];
    child->state = *state;
    child->state.turn = !me;
    child->state.passes++;
    child->state.ko = GO_NO_KO;
    child->move = GO_PASS;
    child->captured = child->takes_ko = 0;
    child->shape = s->options.shape ? go_shape(s, child->state.stones) : 0;
    child->order = 0;
    return count;
}

/* Remember a move that won. */
static inline void go_reward(go_search *s, const go_state *state, int at, int move)
{
    int colour, i;
    if (s->killers[at][0] != move) {
        s->killers[at][1] = s->killers[at][0];
        s->killers[at][0] = (uint8_t)move;
    }
    s->history[state->turn][move] += 64;
    if (s->history[state->turn][move] > 1 << 12)
        for (colour = 0; colour < 2; colour++)
            for (i = 0; i < 65; i++) s->history[colour][i] >>= 1;
}

/* Another question: what won before says little. */
static inline void go_forget_moves(go_search *s)
{
    memset(s->killers, 0, sizeof s->killers);
    memset(s->history, 0, sizeof s->history);
}

#endif
