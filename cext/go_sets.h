/* What sets of one side's stones are worth, for boards of up to 25 points.

   Which stones are unconditionally alive, and whether that makes every point of the board
   certain, depends on one side's stones alone. So it is looked up by the set of stones, and
   with it a lower bound: how many stones, put anywhere, are missing until all is certain. */

#ifndef ZERMELO_GO_SETS_H
#define ZERMELO_GO_SETS_H

#include <string.h>

#include "go_board.h"

#define GO_HOPELESS 99 /* stones missing where no stones would do */
#define GO_ANSWERS 3   /* answers within which the owner may have to finish his area */

/* A set of points without the moat, row after row. */
static inline uint32_t go_packed(const go_size *size, go_bits x)
{
    uint32_t packed = 0;
    int row;
    for (row = size->rows - 1; row >= 0; row--)
        packed = packed << size->cols | (uint32_t)(x >> 8 * row & ((1u << size->cols) - 1));
    return packed;
}

static inline go_bits go_unpacked(const go_size *size, uint32_t packed)
{
    go_bits x = 0;
    int row;
    for (row = 0; row < size->rows; row++)
        x |= (go_bits)(packed >> size->cols * row & ((1u << size->cols) - 1)) << 8 * row;
    return x;
}

/* Whether the owner of `alive` stones gets every point though the other side, with stones on
   `other`, moves first: after each of its moves he answers, at most `answers` times, next to
   his alive stones and to an inner point of a region that is not yet secure.

       # # # # # # #        # alive, o inner; . touches an alive stone
       # . . . . . #        The two outer o are two eyes, perhaps. The owner will put
       # . o o o . #        a stone above or below the middle; the other side can take
       # . . . . . #        one of these points, not both.
       # # # # # # #

   His answers are connected to alive stones, so nothing can forbid or undo them. Stones of
   the other side matter only where he would answer, now or later: on points that are not
   secure.

       1: a proof
       0: not within that number of answers; with more, or in another way, he may */
static int go_finishes(const go_size *size, go_bits alive, go_bits other, int answers)
{
    go_bits open = size->mask & ~go_territory(size, alive), near = go_grow(alive);
    go_bits points, last = 0, left, block, more;
    if (!open) return 1;
    if (!answers) return 0;
    points = open & near & ~other & go_grow(open & ~near);
    if (!(points & (points - 1))) return 0;
    for (left = points; left; left &= left - 1)
        if (go_territory(size, alive | (left & -left)) == size->mask) {
            if (last) return 1; /* two ways to finish at once */
            last = left & -left;
        }
    if (answers == 1) return 0;
    /* If one answer would finish, it is there that a stone of the other side matters. */
    for (block = last ? last : open & ~other; block; block &= block - 1) {
        go_bits taken = block & -block;
        int held = 0;
        for (more = points & ~taken; more && !held; more &= more - 1)
            held = go_finishes(size, alive | (more & -more), other | taken, answers - 1);
        if (!held) return 0;
    }
    return 1;
}

/* Fill in `missing` and `lives` for all sets; larger sets have larger numbers. Returns 0 if
   somebody wants it to stop before the end. */
static inline int go_weigh_sets(
    const go_size *size, uint8_t *missing, uint8_t *lives, const volatile int *stop)
{
    uint32_t sets = (uint32_t)1 << size->points, i, left;
    int images = size->rows == size->cols ? 8 : 4, s, least;
    go_bits stones, alive;
    uint8_t worth;
    memset(missing, 255, sets);
    for (i = 0; i < sets; i++) {
        if (missing[i] != 255) continue; /* an image was there before */
        if (*stop) return 0;
        stones = go_unpacked(size, i);
        alive = go_alive(size, stones);
        worth = alive && go_finishes(size, alive, 0, GO_ANSWERS) ? 0 : GO_HOPELESS;
        for (s = 0; s < images; s++) {
            uint32_t image = go_packed(size, go_turn(size, stones, s));
            missing[image] = worth;
            if (alive) lives[image >> 3] |= (uint8_t)(1u << (image & 7));
        }
    }
    for (i = sets; i-- > 0;) {
        if (!missing[i]) continue;
        if (*stop) return 0;
        least = GO_HOPELESS - 1;
        for (left = ~i & (sets - 1); left; left &= left - 1)
            if (missing[i | (left & -left)] < least) least = missing[i | (left & -left)];
        missing[i] = (uint8_t)(least + 1);
    }
    return 1;
}

#endif
