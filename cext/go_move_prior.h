/* The prior of a move, before any search: a sum of learned weights, one for each thing it shows.

   The weights are fitted so that the moves which held in earlier searches get the highest
   sums (engine/conquest_training.py): the difference of two sums is the logarithm of how much
   likelier one move is to be the right one. */

#ifndef ZERMELO_GO_MOVE_PRIOR_H
#define ZERMELO_GO_MOVE_PRIOR_H

#include <stdlib.h>

#include "go_board.h"

#define GO_UNIT 32 /* weights are whole numbers of 1/32 */

enum { GO_PLACE_KINDS = 6, GO_DISTANCES = 7, GO_LIBERTIES = 5 };

/* Where the weights of each thing start. */
enum {
    GO_SHOWS_RING = 0,                                         /* the eight points around */
    GO_SHOWS_CROSS = 1 << 16,                                  /* four points two away, place */
    GO_SHOWS_FIGHT = GO_SHOWS_CROSS + 256 * GO_PLACE_KINDS,    /* liberties, captures */
    GO_SHOWS_LAST = GO_SHOWS_FIGHT + GO_LIBERTIES * 3 * 6,     /* distance to the last move */
    GO_SHOWS_AIM = GO_SHOWS_LAST + GO_DISTANCES * GO_PLACE_KINDS, /* missing stones, atari */
    GO_SHOWS_RESCUE = GO_SHOWS_AIM + 6 * 3,                    /* own stones in atari, room */
    GO_WEIGHTS = GO_SHOWS_RESCUE + 3 * 5,
    GO_SHOWN = 6 /* things a move shows */
};

/* What does not depend on the stones. */
typedef struct {
    uint16_t ring[1 << 16]; /* the smallest of eight symmetric images */
    uint8_t cross[256];     /* likewise */
    uint8_t place[64];
    uint8_t distance[64][GO_PASS + 1];
} go_shapes;

typedef struct {
    go_bits own, other; /* before the move, of the side that moves */
    go_bits mine, theirs; /* after it */
    int point, last; /* `last`: the other side's move before */
    int missing, missing_before; /* the prover's stones, whoever moves */
} go_view;

/* The smallest image of `count` points in a circle, two bits each, a quarter turn being
   `quarter` of them. */
static inline int go_smallest_image(int circle, int count, int quarter)
{
    int smallest = circle, mirrored, turn, i;
    for (mirrored = 0; mirrored < 2; mirrored++)
        for (turn = 0; turn < count; turn += quarter) {
            int image = 0;
            for (i = 0; i < count; i++) {
                int from = ((mirrored ? count - i : i) + turn) % count;
                image |= (circle >> 2 * from & 3) << 2 * i;
            }
            if (image < smallest) smallest = image;
        }
    return smallest;
}

static inline int go_distance_kind(int a, int b)
{
    int rows = abs(a / 8 - b / 8), cols = abs(a % 8 - b % 8);
    if (b == GO_PASS) return 0;
    switch (rows + cols) {
    case 0: case 1: return 1;
    case 2: return rows == 1 ? 2 : 3;
    case 3: return rows && cols ? 4 : 5;
    default: return 6;
    }
}

static inline void go_draw_shapes(const go_size *size, go_shapes *shapes)
{
    static const uint8_t kinds[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}}; /* lines from the edge */
    int i, row, col, other;
    for (i = 0; i < 1 << 16; i++) shapes->ring[i] = (uint16_t)go_smallest_image(i, 8, 2);
    for (i = 0; i < 256; i++) shapes->cross[i] = (uint8_t)go_smallest_image(i, 4, 1);
    for (row = 0; row < size->rows; row++)
        for (col = 0; col < size->cols; col++) {
            int high = row < size->rows - 1 - row ? row : size->rows - 1 - row;
            int wide = col < size->cols - 1 - col ? col : size->cols - 1 - col;
            shapes->place[8 * row + col] = kinds[high > 2 ? 2 : high][wide > 2 ? 2 : wide];
            for (other = 0; other <= GO_PASS; other++)
                shapes->distance[8 * row + col][other] =
                    (uint8_t)go_distance_kind(8 * row + col, other);
        }
}

/* Points in a circle, two bits each: empty, own, other, off the board. */
static inline int go_circle(
    const go_size *size, const go_view *view, const int8_t (*steps)[2], int count)
{
    int circle = 0, i;
    for (i = 0; i < count; i++) {
        int row = view->point / 8 + steps[i][0], col = view->point % 8 + steps[i][1], at = 3;
        if (row >= 0 && col >= 0 && row < size->rows && col < size->cols) {
            int bit = 8 * row + col;
            at = (int)(view->own >> bit & 1) | (int)(view->other >> bit & 1) << 1;
        }
        circle |= at << 2 * i;
    }
    return circle;
}

static inline int go_liberties(const go_size *size, go_bits chain, go_bits stones)
{
    int liberties = go_count(go_grow(chain) & size->mask & ~stones);
    return liberties < GO_LIBERTIES ? liberties : GO_LIBERTIES - 1;
}

static inline int go_at_most(int x, int most) { return x < most ? x : most; }

/* The places of the weights of what a move shows. */
static inline void go_show(
    const go_size *size, const go_shapes *shapes, const go_view *view, int *shown)
{
    static const int8_t ring[8][2] = {{-1, 0}, {-1, 1}, {0, 1}, {1, 1},
                                      {1, 0}, {1, -1}, {0, -1}, {-1, -1}};
    static const int8_t cross[4][2] = {{-2, 0}, {0, 2}, {2, 0}, {0, -2}};
    go_bits stone = (go_bits)1 << view->point, near = go_grow(stone), touched, chain;
    go_bits before = view->own | view->other, after = view->mine | view->theirs;
    int place = shapes->place[view->point], aim = view->missing - view->missing_before + 2;
    int fewest = GO_LIBERTIES, atari = 0, rescued = 0, liberties;
    for (touched = near & view->theirs; touched; touched &= ~chain) {
        chain = go_flood(touched & -touched, view->theirs);
        liberties = go_liberties(size, chain, after);
        if (liberties < fewest) fewest = liberties;
        if (liberties == 1) atari += go_count(chain);
    }
    for (touched = near & view->own; touched; touched &= ~chain) {
        chain = go_flood(touched & -touched, view->own);
        if (go_liberties(size, chain, before) == 1) rescued += go_count(chain);
    }
    liberties = go_liberties(size, go_flood(stone, view->mine), after);
    shown[0] = GO_SHOWS_RING + shapes->ring[go_circle(size, view, ring, 8)];
    shown[1] = GO_SHOWS_CROSS + 256 * place + shapes->cross[go_circle(size, view, cross, 4)];
    shown[2] = GO_SHOWS_FIGHT + 18 * liberties +
               6 * go_at_most(go_count(view->other & ~view->theirs), 2) + fewest;
    shown[3] = GO_SHOWS_LAST + GO_PLACE_KINDS * shapes->distance[view->point][view->last] + place;
    shown[4] = GO_SHOWS_AIM + 3 * (aim < 0 ? 0 : go_at_most(aim, 5)) + go_at_most(atari, 2);
    shown[5] = GO_SHOWS_RESCUE + 5 * go_at_most(rescued, 2) +
               go_count(near & size->mask & ~before) - 1;
}

static inline int go_move_prior(
    const go_size *size, const go_shapes *shapes, const int16_t *weights, const go_view *view)
{
    int shown[GO_SHOWN], sum = 0, i;
    go_show(size, shapes, view, shown);
    for (i = 0; i < GO_SHOWN; i++) sum += weights[shown[i]];
    return sum;
}

#endif
