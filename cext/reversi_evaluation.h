/* The trained evaluation: a sum of weights, one for what each pattern of squares shows.
 *
 * A pattern instance (say, the upper edge) shows a configuration, a number in base 3
 * with one digit a square: 0 own disc, 1 empty, 2 opponent's disc. With this choice the
 * other side sees, for the same discs,
 *
 *     configuration seen by the opponent = (3^length - 1) - configuration
 *
 * and a move changes a configuration by plain sums: a disc put down takes 1 from its
 * digit, a disc turned over takes 2. All instances are updated at once, as lanes of
 * 16-bit numbers, which the compiler turns into a few vector instructions.
 */
#ifndef ZERMELO_REVERSI_EVALUATION_H
#define ZERMELO_REVERSI_EVALUATION_H

#include "bits.h"
#include <string.h>

#define LANES 48         /* the most pattern instances a board may have */
#define MOST_MOVES 32    /* mobility beyond this counts as this */
#define GRAINS 64        /* units of a weight per disc */

typedef struct {
    u16 lane[LANES];
} __attribute__((aligned(32))) Configuration;

typedef struct {
    Configuration value[64];  /* the digit's worth of each square in each instance */
    Configuration complement; /* 3^length - 1 */
    uint32_t offset[LANES];   /* where an instance's weights start within a phase */
    uint32_t own_moves, opponent_moves; /* where the weights of mobility start */
    int instances;
    uint32_t phase_size;      /* weights per phase */
    uint8_t phase[65];        /* phase by number of empty squares */
    int16_t *weights;         /* NULL when there is no evaluation for this board */
} __attribute__((aligned(32))) Evaluation;

/* The configurations of a position, from scratch. */
static inline void configure(const Evaluation *e, u64 own, u64 opponent, u64 board,
                             Configuration *out) {
    memset(out, 0, sizeof *out);
    for (u64 rest = board & ~own; rest; rest &= rest - 1) {
        int square = first_bit(rest);
        int digit = opponent >> square & 1 ? 2 : 1;
        for (int i = 0; i < LANES; i++)
            out->lane[i] = (u16)(out->lane[i] + digit * e->value[square].lane[i]);
    }
}

/* The configurations after a move, as the side then to move sees them. */
static inline void configure_move(const Evaluation *e, const Configuration *before, int square,
                                  u64 turned, Configuration *after) {
    const Configuration *put = &e->value[square];
    Configuration change = {{0}};
    for (; turned; turned &= turned - 1) {
        const Configuration *value = &e->value[first_bit(turned)];
        for (int i = 0; i < LANES; i++) change.lane[i] = (u16)(change.lane[i] + value->lane[i]);
    }
    for (int i = 0; i < LANES; i++)
        after->lane[i] = (u16)(e->complement.lane[i] - before->lane[i] + put->lane[i] +
                               2 * change.lane[i]);
}

static inline void configure_pass(const Evaluation *e, const Configuration *before,
                                  Configuration *after) {
    for (int i = 0; i < LANES; i++)
        after->lane[i] = (u16)(e->complement.lane[i] - before->lane[i]);
}

/* The weights of what all instances show. One load each: where it was measured (Zen 4), gathers of
 * eight take longer. */
static inline int sum_weights(const Evaluation *e, const int16_t *weights,
                              const Configuration *c) {
    int sum = 0;
    for (int i = 0; i < e->instances; i++) sum += weights[e->offset[i] + c->lane[i]];
    return sum;
}

/* The estimated score for the side to move, in grains. */
static inline int estimate(const Evaluation *e, const Configuration *c, int empties, int own_moves,
                           int opponent_moves) {
    const int16_t *weights = e->weights + (size_t)e->phase[empties] * e->phase_size;
    int sum = weights[e->own_moves + (own_moves < MOST_MOVES ? own_moves : MOST_MOVES - 1)];
    sum += weights[e->opponent_moves +
                   (opponent_moves < MOST_MOVES ? opponent_moves : MOST_MOVES - 1)];
    return sum + sum_weights(e, weights, c);
}

#endif
