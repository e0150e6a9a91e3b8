/* Searching as in the textbooks: no table, moves as they come.
 *
 * Scores are for the first player, who maximises; the second minimises.
 */
#ifndef ZERMELO_DEFINITION_TEXTBOOK_H
#define ZERMELO_DEFINITION_TEXTBOOK_H

#include "definition_search.h"

static int def_minimax(def_search *search, const def_state *state, int ply, int used) {
    if (def_visit(search, ply, used)) return 0;
    const def_program *program = search->program;
    int score, found = def_moves(program, state, search->moves + used, search->room - used, &score);
    if (found == DEF_OVER) return state->turn ? -score : score;
    def_state after;
    if (found == DEF_ONLY_PASS) {
        def_pass(program, state, &after);
        return def_minimax(search, &after, ply + 1, used);
    }
    int best = state->turn ? search->limit + 1 : -search->limit - 1;
    for (int i = 0; i < found; i++) {
        def_play(program, state, search->moves[used + i], &after);
        int value = def_minimax(search, &after, ply + 1, used + found);
        if (search->team->stop) return 0;
        if (ply == 0) search->team->root_done++;
        if (state->turn ? value < best : value > best) best = value;
    }
    return best;
}

/* Scores for the first player: the first player maximises, the second minimises. Fail-soft, for
   the first player:
     result <= alpha            the score is at most the result (an upper bound)
     alpha < result < beta      the score is the result
     result >= beta             the score is at least the result (a lower bound)
   After a stop the result means nothing. */
static int def_alphabeta(def_search *search, const def_state *state, int alpha, int beta, int ply,
                         int used) {
    if (def_visit(search, ply, used)) return 0;
    const def_program *program = search->program;
    int score, found = def_moves(program, state, search->moves + used, search->room - used, &score);
    if (found == DEF_OVER) return state->turn ? -score : score;
    def_state after;
    if (found == DEF_ONLY_PASS) {
        def_pass(program, state, &after);
        return def_alphabeta(search, &after, alpha, beta, ply + 1, used);
    }
    int best = state->turn ? search->limit + 1 : -search->limit - 1;
    for (int i = 0; i < found; i++) {
        def_play(program, state, search->moves[used + i], &after);
        int value = def_alphabeta(search, &after, alpha, beta, ply + 1, used + found);
        if (search->team->stop) return 0;
        if (ply == 0) search->team->root_done++;
        if (state->turn) {
            if (value < best) best = value;
            if (best < beta) beta = best;
        } else {
            if (value > best) best = value;
            if (best > alpha) alpha = best;
        }
        if (alpha >= beta) break;
    }
    return best;
}

#endif
