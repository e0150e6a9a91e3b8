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

/* The empty cells on which a stone of this side would complete a line. */
static DEF_APART def_mask def_completing(const def_program *program, const def_state *state,
                                         int side) {
    const int32_t *table = program->code + program->lines[side], *shape = table + 1;
    def_mask stones = def_union(state, program->own[side]), found = 0;
    for (int i = 0; i < table[0]; i++, shape += 2 + shape[1]) {
        /* ahead[j]: lines that have all their cells behind cell j. */
        def_mask ahead[DEF_LONGEST_LINE], behind = program->masks[shape[0]];
        int last = shape[1];
        ahead[last] = behind;
        for (int j = last; j > 0; j--) ahead[j - 1] = ahead[j] & stones >> shape[1 + j];
        for (int j = 0; j <= last; j++) {
            int distance = j ? shape[1 + j] : 0;
            found |= (behind & ahead[j]) << distance;
            behind &= stones >> distance;
            if (!behind) break;
        }
    }
    return found & state->plane[0];
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

#endif
