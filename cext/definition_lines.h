/* Games of lines: stones are placed one by one, and who completes a line has won.
 *
 * The compiler has proved that a definition is of this kind (engine/definition_program.py): every
 * case puts one own stone on the empty cell it is anchored at, and the only end is that the side
 * which has just moved has a line. So who wins at once, and which cells would win, is seen without
 * playing a move.
 */
#ifndef ZERMELO_DEFINITION_LINES_H
#define ZERMELO_DEFINITION_LINES_H

#include "definition_play.h"

enum { DEF_LONGEST_LINE = 16 };

/* The cells that are missing from lines of `length` cells at equal distances, of which the others
 * are stones. Inlined for each length, so that nothing loops. */
static inline __attribute__((always_inline)) def_mask def_missing(
    def_mask stones, def_mask begins, int distance, int length) {
    def_mask cells[DEF_LONGEST_LINE], ahead[DEF_LONGEST_LINE], found = 0;
    for (int j = 0; j < length; j++) cells[j] = stones >> j * distance;
    ahead[length - 1] = begins;
    for (int j = length - 1; j > 0; j--) ahead[j - 1] = ahead[j] & cells[j];
    def_mask behind = ~(def_mask)0;
    for (int j = 0; j < length; j++) {
        found |= (behind & ahead[j]) << j * distance;
        behind &= cells[j];
    }
    return found;
}

/* The same for lines of any shape: how far each further cell is from the first. */
static DEF_APART def_mask def_missing_of(def_mask stones, def_mask begins, const int32_t *distances,
                                         int further) {
    /* ahead[j]: lines that have all their cells behind cell j. */
    def_mask ahead[DEF_LONGEST_LINE], behind = begins, found = 0;
    ahead[further] = begins;
    for (int j = further; j > 0; j--) ahead[j - 1] = ahead[j] & stones >> distances[j - 1];
    for (int j = 0; j <= further && behind; j++) {
        int distance = j ? distances[j - 1] : 0;
        found |= (behind & ahead[j]) << distance;
        behind &= stones >> distance;
    }
    return found;
}

/* The empty cells on which a stone of this side would complete a line. A shape is the mask of where
 * its lines begin, the number of further cells, the distance between neighbours (0: not equal),
 * and how far each is from the first. */
#if defined(DEF_SMALL) && defined(__AVX2__)
typedef u64 def_four __attribute__((vector_size(32)));

/* The same for four shapes of lines at once. */
static inline __attribute__((always_inline)) def_mask def_missing_of_four(
    def_mask stones, const u64 *shapes, int length) {
    def_four cells[DEF_LONGEST_LINE], ahead[DEF_LONGEST_LINE], begins, apart, shift, found;
    memcpy(&begins, shapes, sizeof begins);
    memcpy(&apart, shapes + 4, sizeof apart);
    cells[0] = (def_four){stones, stones, stones, stones};
    for (int j = 1; j < length; j++) cells[j] = cells[j - 1] >> apart;
    ahead[length - 1] = begins;
    for (int j = length - 1; j > 0; j--) ahead[j - 1] = ahead[j] & cells[j];
    found = ahead[0];
    shift = apart;
    for (int j = 1; j < length; j++, shift += apart) {
        found |= (cells[0] & ahead[j]) << shift;
        cells[0] &= cells[j];
    }
    return found[0] | found[1] | found[2] | found[3];
}
#endif

static inline def_mask def_completing_of(const def_program *program, int side, def_mask stones,
                                         def_mask empty) {
    const int32_t *table = program->code + program->lines[side], *shape = table + 1;
    def_mask found = 0;
#if defined(DEF_SMALL) && defined(__AVX2__)
    if (program->line_length == 4)
        return empty & def_missing_of_four(stones, program->four_shapes[side], 4);
    if (program->line_length == 3)
        return empty & def_missing_of_four(stones, program->four_shapes[side], 3);
#endif
    for (int i = 0; i < table[0]; i++, shape += 3 + shape[1]) {
        def_mask begins = program->masks[shape[0]];
        switch (shape[2] ? shape[1] + 1 : 0) {
        case 3: found |= def_missing(stones, begins, shape[2], 3); break;
        case 4: found |= def_missing(stones, begins, shape[2], 4); break;
        case 5: found |= def_missing(stones, begins, shape[2], 5); break;
        default: found |= def_missing_of(stones, begins, shape + 3, shape[1]);
        }
    }
    return found & empty;
}

static DEF_APART def_mask def_completing(const def_program *program, const def_state *state,
                                         int side) {
    return def_completing_of(program, side, def_union(state, program->own[side]),
                             state->plane[0]);
}

/* The cells on which the side to move can place a stone. */
static inline def_mask def_playable(const def_program *program, const def_state *state) {
    def_mask sets[DEF_SETS], found = 0;
    const def_range *range = program->side_groups + state->turn;
    def_sets(program, state, sets);
    for (int i = 0; i < range->count; i++)
        found |= def_lying(program, state, sets, state->turn, program->groups + range->first + i);
    return found;
}

/* Whether the score is known without a move being tried: the game is over, or the side to move
 * completes a line at once. */
static inline int def_decided(const def_program *program, const def_state *state, int *score) {
    if (def_ended(program, state, score)) return 1;
    *score = 1;
    return program->lines[0] >= 0
           && (def_playable(program, state) & def_completing(program, state, state->turn)) != 0;
}

#endif
