/* Reversi to a fixed depth with a textbook evaluation: for playing, not for proofs.
 *
 * A depth of N is N plies, a forced pass is one of them, and nothing is added. The value of a
 * position is a sum of features, each the difference of both sides times its weight. Where
 * the game is over the score counts FINAL times, so that no feature outweighs a win.
 */
#ifndef ZERMELO_REVERSI_DEPTH_H
#define ZERMELO_REVERSI_DEPTH_H

#include "reversi_kernels.h"

enum {
    DISCS, MOBILE, CORNERS, C_SQUARES, X_SQUARES, FRONTIER, STABLE, SANDWICHED, WIPED_OUT,
    POSITIONAL, EDGES, FEATURES
};

enum { FINAL = 1000000, WORST = 1 << 30, DEPTH_SORTED = 3, MOST_PLACES = 34 };

typedef struct {
    Geometry geometry;
    u64 corners, edges, c_squares, x_squares;
    int weight[FEATURES];
    int table[64];            /* the positional table */
    u64 nodes, node_budget;   /* spent, and allowed; the search gives up beyond */
} Depth;

/* The neighbours of squares, in all eight directions, and the squares themselves. */
static inline u64 with_neighbours(u64 squares) {
    u64 wide = squares | (squares & 0xfefefefefefefefeULL) >> 1
               | (squares & 0x7f7f7f7f7f7f7f7fULL) << 1;
    return wide | wide << 8 | wide >> 8;
}

static int init_depth(Depth *d, int rows, int cols) {
    if (!init_geometry(&d->geometry, rows, cols)) return 0;
    const Geometry *g = &d->geometry;
    d->corners = g->outer_rows & g->outer_cols;
    d->edges = g->outer_rows | g->outer_cols;
    u64 near = with_neighbours(d->corners) & g->board & ~d->corners;
    d->c_squares = near & d->edges; /* weak as long as the corner is empty */
    d->x_squares = near & ~d->edges;
    return 1;
}

/* Own discs with discs of the other side directly on both sides, in some direction. */
static inline u64 between(u64 own, u64 opponent) {
    u64 left = opponent & 0x7f7f7f7f7f7f7f7fULL, right = opponent & 0xfefefefefefefefeULL;
    return own & ((left << 1 & right >> 1) | (opponent << 8 & opponent >> 8)
                  | (left << 9 & right >> 9) | (right << 7 & left >> 7));
}

static inline int difference(u64 squares, u64 own, u64 opponent) {
    return popcount(own & squares) - popcount(opponent & squares);
}

/* What a position looks worth to `own`. */
static int feature_sum(const Depth *d, u64 own, u64 opponent) {
    const int *w = d->weight;
    u64 empty = d->geometry.board & ~(own | opponent);
    int value = w[DISCS] ? w[DISCS] * (popcount(own) - popcount(opponent)) : 0;
    if (w[MOBILE])
        value += w[MOBILE] * (popcount(mobility(own, opponent, empty))
                              - popcount(mobility(opponent, own, empty)));
    if (w[CORNERS]) value += w[CORNERS] * difference(d->corners, own, opponent);
    if (w[C_SQUARES])
        value += w[C_SQUARES]
                 * difference(with_neighbours(d->corners & empty) & d->c_squares, own, opponent);
    if (w[X_SQUARES])
        value += w[X_SQUARES]
                 * difference(with_neighbours(d->corners & empty) & d->x_squares, own, opponent);
    if (w[FRONTIER])
        value += w[FRONTIER] * difference(with_neighbours(empty), own, opponent);
    if (w[STABLE])
        value += w[STABLE] * (popcount(stable_discs(&d->geometry, own, opponent))
                              - popcount(stable_discs(&d->geometry, opponent, own)));
    if (w[SANDWICHED])
        value += w[SANDWICHED]
                 * (popcount(between(own, opponent)) - popcount(between(opponent, own)));
    if (w[WIPED_OUT]) value += w[WIPED_OUT] * ((own != 0) - (opponent != 0));
    if (w[EDGES]) value += w[EDGES] * difference(d->edges, own, opponent);
    if (w[POSITIONAL]) {
        int sum = 0;
        for (u64 left = own; left; left &= left - 1) sum += d->table[first_bit(left)];
        for (u64 left = opponent; left; left &= left - 1) sum -= d->table[first_bit(left)];
        value += w[POSITIONAL] * sum;
    }
    return value;
}

/* Search `plies` more. Fail-soft:
 *
 * result <= alpha:          the value is at most the result
 * alpha < result < beta:    the value is the result
 * result >= beta:           the value is at least the result
 *
 * Means nothing once more than the node budget is spent.
 */
static int look(Depth *d, u64 own, u64 opponent, int plies, int alpha, int beta) {
    u64 empty = d->geometry.board & ~(own | opponent);
    u64 moves = mobility(own, opponent, empty);
    if (++d->nodes > d->node_budget) return alpha;
    if (!moves) {
        if (!mobility(opponent, own, empty))
            return FINAL * (popcount(own) - popcount(opponent));
        if (!plies) return feature_sum(d, own, opponent);
        return -look(d, opponent, own, plies - 1, -beta, -alpha);
    }
    if (!plies) return feature_sum(d, own, opponent);
    int count = 0;
    struct { u64 own, opponent; int replies; } child[MOST_PLACES];
    for (; moves; moves &= moves - 1) {
        int square = first_bit(moves);
        u64 turned = flips(own, opponent, square);
        u64 next_own = opponent & ~turned, next_opponent = own | turned | 1ULL << square;
        int replies = 0, at = count++;
        if (plies >= DEPTH_SORTED) {
            u64 reach = mobility(next_own, next_opponent,
                                 d->geometry.board & ~(next_own | next_opponent));
            /* Few replies first, and those that win a corner. */
            replies = popcount(reach) + popcount(reach & d->corners)
                      - 8 * (int)(d->corners >> square & 1);
            for (; at && child[at - 1].replies > replies; at--) child[at] = child[at - 1];
        }
        child[at].own = next_own, child[at].opponent = next_opponent;
        child[at].replies = replies;
    }
    int best = -WORST;
    for (int i = 0; i < count; i++) {
        int value = -look(d, child[i].own, child[i].opponent, plies - 1, -beta, -alpha);
        if (value > best) best = value;
        if (best > alpha) alpha = best;
        if (alpha >= beta) break;
    }
    return best;
}

#endif
