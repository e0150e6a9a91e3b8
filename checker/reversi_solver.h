/* The checker's own solver: is the score of a position above alpha?
 *
 * Alpha-beta with an empty window, a table of what was found, and the move first that
 * leaves the opponent the least. It knows nothing of the engine's evaluation, its selective
 * passes or its stability tables: it is meant to be read.
 */
#ifndef ZERMELO_CHECKER_REVERSI_SOLVER_H
#define ZERMELO_CHECKER_REVERSI_SOLVER_H

#include <stdlib.h>

#include "reversi_board.h"
#include "reversi_table.h"

/* With fewer empty squares than this, looking things up costs more than it saves. */
#define TABLE_EMPTIES 7
/* With fewer than this, so does counting replies. */
#define SORT_EMPTIES 5
/* From this number of empty squares on, the table is asked for the positions after the moves. */
#define CHILD_TABLE_EMPTIES 9
/* From LOOK_EMPTIES empty squares on, moves are ordered by how the position looks after them;
 * above LOOK_AHEAD_EMPTIES, for every two empty squares a ply further ahead. */
#define LOOK_EMPTIES 10
#define LOOK_AHEAD_EMPTIES 12
#define MOST_PLIES_AHEAD 5

/* What counts when moves are ordered. None of it is part of a proof. */
#define MOBILITY_WEIGHT 2
#define OPEN_WEIGHT 1
#define CORNER_WEIGHT 8
#define ODD_WEIGHT 2
#define FIRST_OF_ALL (-1000000)
#define CERTAIN 1000

typedef struct {
    Rules rules;
    Table table;
    uint64_t nodes;
    volatile int stop;
} Solver;

typedef struct {
    Board own, opponent; /* after the move, seen by the side that moves next */
    int square, order;
} Step;

/* One empty square: whoever can put a disc there does. Exact. */
static inline int score_last(const Rules *rules, Board own, Board opponent, int square) {
    Board turned = turned_by(rules, own, opponent, square);
    if (turned) return count(own) - count(opponent) + 2 * count(turned) + 1;
    turned = turned_by(rules, opponent, own, square);
    if (turned) return count(own) - count(opponent) - 2 * count(turned) - 1;
    return final_score(rules, own, opponent);
}

/* The empty squares in quarters of the board that have an odd number of them: who moves
 * there first often moves there last. */
static inline Board odd_squares(const Rules *rules, Board empty) {
    Board odd = 0;
    for (int at = 0; at < QUARTERS; at++) {
        Board there = empty & rules->quarter[at];
        if (count(there) & 1) odd |= there;
    }
    return odd;
}

/* Few empty squares: try them as they come, those in odd quarters first. Fail-soft:
 *
 *     result <= alpha:    the score is at most the result
 *     result > alpha:     the score is at least the result
 *
 * The window is empty, so nothing lies inside it. */
COUNTS_BITS static int search_few(Solver *solver, Board own, Board opponent, int alpha,
                                  int passed) {
    const Rules *rules = &solver->rules;
    Board empty = rules->mask & ~(own | opponent);
    solver->nodes++;
    if (!(empty & (empty - 1))) {
        if (!empty) return final_score(rules, own, opponent);
        return score_last(rules, own, opponent, lowest(empty));
    }
    int best = -SQUARES - 1;
    Board odd = odd_squares(rules, empty);
    while (empty) {
        int square = lowest(odd ? odd : empty);
        empty &= ~(1ULL << square), odd &= ~(1ULL << square);
        Board turned = turned_by(rules, own, opponent, square);
        if (!turned) continue;
        int score = -search_few(solver, opponent ^ turned, own | turned | 1ULL << square,
                                -alpha - 1, 0);
        if (score > best) {
            best = score;
            if (best > alpha) return best;
        }
    }
    if (best >= -SQUARES) return best;
    if (passed) return final_score(rules, own, opponent);
    return -search_few(solver, opponent, own, -alpha - 1, 1);
}

static int search(Solver *solver, Board own, Board opponent, int alpha);

/* The squares next to a disc, and those under it. */
static inline Board beside(Board b) {
    b |= (b << 1 & 0xFEFEFEFEFEFEFEFEULL) | (b >> 1 & 0x7F7F7F7F7F7F7F7FULL);
    return b | b << 8 | b >> 8;
}

/* How a position looks: moves, the squares that may become moves, corners. */
static inline int look(const Rules *rules, Board own, Board opponent) {
    Board empty = rules->mask & ~(own | opponent);
    return MOBILITY_WEIGHT * (count(placements(rules, own, opponent))
                              - count(placements(rules, opponent, own)))
         + OPEN_WEIGHT * (count(beside(opponent) & empty) - count(beside(own) & empty))
         + CORNER_WEIGHT * (count(own & rules->corners) - count(opponent & rules->corners));
}

/* The same after the best moves of both sides, `plies` plies ahead. It is no part of a proof.
 * About that look, fail-hard below and fail-soft above:
 *
 *     result <= alpha:          it is at most the result
 *     alpha < result < beta:    it is the result
 *     result >= beta:           it is at least the result */
COUNTS_BITS static int look_ahead(const Rules *rules, Board own, Board opponent, int plies,
                                  int alpha, int beta) {
    if (!plies) return look(rules, own, opponent);
    Board moves = placements(rules, own, opponent);
    if (!moves) {
        if (!placements(rules, opponent, own)) return CERTAIN * final_score(rules, own, opponent);
        return -look_ahead(rules, opponent, own, plies - 1, -beta, -alpha);
    }
    for (; moves && alpha < beta; moves &= moves - 1) {
        int square = lowest(moves);
        Board turned = turned_by(rules, own, opponent, square);
        int score = -look_ahead(rules, opponent ^ turned, own | turned | 1ULL << square,
                                plies - 1, -beta, -alpha);
        if (score > alpha) alpha = score;
    }
    return alpha;
}

/* The lower, the earlier a move is tried: what the opponent can reply, how that looks to him. */
static inline int order_of(const Rules *rules, const Step *step, Board odd, int empties) {
    Board replies = placements(rules, step->own, step->opponent);
    int order = MOBILITY_WEIGHT * count(replies);
    if (empties < LOOK_EMPTIES) {
        Board square = 1ULL << step->square;
        return order - (square & odd ? ODD_WEIGHT : 0)
             + CORNER_WEIGHT / 2 * (count(replies & rules->corners)
                                    - count(square & rules->corners));
    }
    int plies = (empties - LOOK_AHEAD_EMPTIES) / 2;
    if (plies > MOST_PLIES_AHEAD) plies = MOST_PLIES_AHEAD;
    return order + look_ahead(rules, step->own, step->opponent, plies < 0 ? 0 : plies,
                              -CERTAIN * SQUARES, CERTAIN * SQUARES);
}

/* The moves of a position with their order. Their number, or -1 if the table has one that
 * is good enough; then `enough` is above alpha, and a lower bound of the score. */
static inline int list_steps(const Solver *solver, Board own, Board opponent, Board moves,
                             int first, int empties, int alpha, Step *steps, int *enough) {
    const Rules *rules = &solver->rules;
    int found = 0;
    for (; moves; moves &= moves - 1) {
        Step *step = &steps[found++];
        step->square = lowest(moves);
        Board turned = turned_by(rules, own, opponent, step->square);
        step->own = opponent ^ turned;
        step->opponent = own | turned | 1ULL << step->square;
        Known known;
        if (empties >= CHILD_TABLE_EMPTIES
            && recall(&solver->table, step->own, step->opponent, &known) && -known.hi > alpha) {
            *enough = -known.hi;
            return -1;
        }
    }
    Board odd = odd_squares(rules, rules->mask & ~(own | opponent));
    for (int at = 0; at < found; at++)
        steps[at].order = steps[at].square == first ? FIRST_OF_ALL
                                                    : order_of(rules, &steps[at], odd, empties);
    return found;
}

/* Best score among the moves, or the first above alpha; `best_square` says which. Fail-soft:
 *
 *     result <= alpha:    the score is at most the result
 *     result > alpha:     the score is at least the result
 *
 * Means nothing once `stop` is set. */
static inline int search_steps(Solver *solver, Step *steps, int number, int alpha,
                               int *best_square) {
    int best = -SQUARES - 1;
    for (int at = 0; at < number; at++) {
        int next = at;
        for (int other = at + 1; other < number; other++)
            if (steps[other].order < steps[next].order) next = other;
        Step step = steps[next];
        steps[next] = steps[at];
        int score = -search(solver, step.own, step.opponent, -alpha - 1);
        if (solver->stop) return 0;
        if (score > best) {
            best = score;
            *best_square = step.square;
            if (best > alpha) return best;
        }
    }
    return best;
}

/* Is the score above alpha? Fail-soft:
 *
 *     result <= alpha:    the score is at most the result
 *     result > alpha:     the score is at least the result
 *
 * Means nothing once `stop` is set. */
COUNTS_BITS static int search(Solver *solver, Board own, Board opponent, int alpha) {
    const Rules *rules = &solver->rules;
    int empties = count(rules->mask & ~(own | opponent));
    if (empties < SORT_EMPTIES) return search_few(solver, own, opponent, alpha, 0);
    if (solver->stop) return 0;
    solver->nodes++;
    int first = NO_MOVE, tabled = empties >= TABLE_EMPTIES;
    Known known;
    if (tabled && recall(&solver->table, own, opponent, &known)) {
        if (known.lo > alpha) return known.lo;
        if (known.hi <= alpha) return known.hi;
        first = known.best;
    }
    Board moves = placements(rules, own, opponent);
    int score, best = NO_MOVE;
    if (!moves) {
        if (!placements(rules, opponent, own)) return final_score(rules, own, opponent);
        score = -search(solver, opponent, own, -alpha - 1);
    } else {
        Step steps[SQUARES];
        int number = list_steps(solver, own, opponent, moves, first, empties, alpha, steps, &score);
        if (number < 0) return score;
        score = search_steps(solver, steps, number, alpha, &best);
    }
    if (tabled && !solver->stop) remember(&solver->table, own, opponent, alpha, score, best);
    return score;
}

#endif
