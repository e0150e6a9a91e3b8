/* The last five empties: no table, no evaluation, squares in the order of parity.
 *
 * Only null windows are searched here: alpha, and beta = alpha + 1. The functions are fail-soft:
 *
 *     result <= alpha:    the score is at most the result
 *     result > alpha:     the score is at least the result
 *
 * The board is cut into four quadrants. The side that moves last in a region gains by it,
 * so squares in quadrants with an odd number of empties are tried first (`parity_of`).
 */
#ifndef ZERMELO_REVERSI_ENDGAME_H
#define ZERMELO_REVERSI_ENDGAME_H

#include "reversi_state.h"

enum {
    STABLE_LEAD = 6 /* alpha at least empties less this: look for stable discs */
};

/* One empty square: count what a disc there turns. The opponent has all the rest. Exact. */
static inline int score_last(Search *s, u64 own, const Place *last) {
    int score = 2 * popcount(own) - s->squares;
    int turned = last_flips(s->board, own, last);
    s->nodes++;
    if (turned & 255) return score + 2 * (turned & 255) + 2;
    if (turned) return score - 2 * (turned >> 8);
    /* The square stays empty: own discs + the opponent's = squares - 1. */
    score++;
    if (s->empties_to_winner && score != 0) score += score > 0 ? 1 : -1;
    return score;
}

/* Two empties and no move: the other side's turn, seen from the side to move. Not inlined, like all
 * that is done after a pass: it happens seldom and would take the registers of what happens often.
 *
 * Null window, fail-soft: <= alpha an upper bound, > alpha a lower bound. */
static __attribute__((noinline)) int pass_2(Search *s, u64 own, u64 opponent, int alpha,
                                            const Place *a, const Place *b) {
    u64 turned;
    int best = -NOTHING;
    s->nodes++;
    if ((turned = flips_along(opponent, own, &a->rays))) {
        best = score_last(s, own ^ turned, b);
        if (best <= alpha) return best;
    }
    if ((turned = flips_along(opponent, own, &b->rays)))
        return lesser(score_last(s, own ^ turned, a), best);
    return best != -NOTHING ? best : final_score(s, own, opponent);
}

/* Two empties. Null window, fail-soft: <= alpha an upper bound, > alpha a lower bound. */
static inline __attribute__((always_inline)) int solve_2(Search *s, u64 own, u64 opponent,
                                                         int alpha, const Place *a,
                                                         const Place *b) {
    u64 turned;
    int best = NOTHING;
    s->nodes++;
    if ((turned = flips_along(own, opponent, &a->rays))) {
        best = -score_last(s, opponent ^ turned, b);
        if (best > alpha) return best;
    }
    if ((turned = flips_along(own, opponent, &b->rays)))
        return greater(-score_last(s, opponent ^ turned, a), best);
    return best != NOTHING ? best : pass_2(s, own, opponent, alpha, a, b);
}

/* The place of a square. The compiler shall keep the address: it would find it anew for each use. */
static inline const Place *place_at(const Search *s, int square) {
    const Place *place = &s->place[square];
    __asm__("" : "+r"(place));
    return place;
}

static int solve_3(Search *s, u64 own, u64 opponent, int alpha, const Place *a, const Place *b,
                   const Place *c);

/* Three empties and no move. Null window, fail-soft: <= alpha an upper bound, > alpha a lower. */
static __attribute__((noinline)) int pass_3(Search *s, u64 own, u64 opponent, int alpha,
                                            const Place *a, const Place *b, const Place *c) {
    if (mobility(opponent, own, s->board & ~(own | opponent)))
        return -solve_3(s, opponent, own, -alpha - 1, a, b, c);
    return final_score(s, own, opponent);
}

/* Three empties, already in the order in which to try them.
 *
 * Null window, fail-soft: <= alpha an upper bound, > alpha a lower bound. */
static int solve_3(Search *s, u64 own, u64 opponent, int alpha, const Place *a, const Place *b,
                   const Place *c) {
    u64 turned;
    int best = NOTHING, score;
    s->nodes++;
    if ((turned = flips_along(own, opponent, &a->rays))) {
        best = -solve_2(s, opponent ^ turned, own ^ turned ^ a->bit, -alpha - 1, b, c);
        if (best > alpha) return best;
    }
    if ((turned = flips_along(own, opponent, &b->rays))) {
        score = -solve_2(s, opponent ^ turned, own ^ turned ^ b->bit, -alpha - 1, a, c);
        if (score > alpha) return score;
        best = greater(score, best);
    }
    if ((turned = flips_along(own, opponent, &c->rays))) {
        score = -solve_2(s, opponent ^ turned, own ^ turned ^ c->bit, -alpha - 1, a, b);
        return greater(score, best);
    }
    return best != NOTHING ? best : pass_3(s, own, opponent, alpha, a, b, c);
}

/* Remove a square from the first set, or when that is empty from the second. */
static inline int take_first(u64 *first, u64 *second) {
    u64 chosen = *first ? *first : *second, bit = chosen & (0 - chosen);
    *first &= ~bit;
    *second &= ~bit;
    return first_bit(chosen);
}

static int search_middle(Search *s, u64 own, u64 opponent, u64 squares, int alpha, int empties,
                         int parity);

/* Four empties or more, and no move.
 *
 * Null window, fail-soft: <= alpha an upper bound, > alpha a lower bound. */
static __attribute__((noinline)) int pass_many(Search *s, u64 own, u64 opponent, int alpha,
                                               int empties, int parity) {
    u64 squares = mobility(opponent, own, s->board & ~(own | opponent));
    if (squares) return -search_middle(s, opponent, own, squares, -alpha - 1, empties, parity);
    return final_score(s, own, opponent);
}

/* Four empties; `squares` are the legal moves.
 *
 * Null window, fail-soft: <= alpha an upper bound, > alpha a lower bound. */
static int solve_4(Search *s, u64 own, u64 opponent, u64 squares, int alpha, int parity) {
    u64 empty = s->board & ~(own | opponent);
    u64 first = squares & s->odd[parity], second = squares ^ first;
    int best = NOTHING;
    s->nodes++;
    if (!squares) return pass_many(s, own, opponent, alpha, 4, parity);
    do {
        const Place *move = place_at(s, take_first(&first, &second));
        u64 turned = flips_along(own, opponent, &move->rays), rest = empty ^ move->bit;
        /* If two of the three left share a quadrant, the one alone in its own comes first. */
        const Place *a = place_at(s, first_bit(rest & s->odd[parity ^ move->quadrant]));
        rest ^= a->bit;
        int score = -solve_3(s, opponent ^ turned, own ^ turned ^ move->bit, -alpha - 1, a,
                             place_at(s, first_bit(rest)), place_at(s, last_bit(rest)));
        if (score > alpha) return score;
        best = greater(best, score);
    } while (first | second);
    return best;
}

/* `stability_cut` where it is likely to be worth its time: `*score` is an upper bound. */
static inline bool likely_stability_cut(const Search *s, u64 own, u64 opponent, int alpha,
                                        int empties, int *score) {
    return alpha >= empties - STABLE_LEAD && stability_may_cut(s, opponent, alpha) &&
           stability_cut(s, own, opponent, alpha, score);
}

/* Five empties: ordering the moves would cost more time than the nodes it saves. `squares` are the
 * legal moves.
 *
 * Null window, fail-soft: <= alpha an upper bound, > alpha a lower bound. */
static int solve_5(Search *s, u64 own, u64 opponent, u64 squares, int alpha, int parity) {
    int best = NOTHING, score;
    s->nodes++;
    if (likely_stability_cut(s, own, opponent, alpha, 5, &score)) return score;
    if (!squares) return pass_many(s, own, opponent, alpha, 5, parity);
    u64 empty = s->board & ~(own | opponent);
    u64 first = squares & s->odd[parity], second = squares ^ first;
    do {
        int square = take_first(&first, &second);
        Outcome brings = outcome(own, opponent, empty, square);
        score = -solve_4(s, opponent ^ brings.turned, own ^ brings.turned ^ bit_of(square),
                         brings.replies, -alpha - 1, parity ^ s->quadrant[square]);
        if (score > alpha) return score;
        best = greater(best, score);
    } while (first | second);
    return best;
}

/* At most five empties; `squares` are the legal moves. Null window, fail-soft: <= alpha an upper bound, > alpha a lower. */
static int solve_few(Search *s, u64 own, u64 opponent, u64 squares, int alpha, int empties,
                     int parity) {
    u64 empty = s->board & ~(own | opponent);
    if (empties == 5) return solve_5(s, own, opponent, squares, alpha, parity);
    if (empties == 4) return solve_4(s, own, opponent, squares, alpha, parity);
    if (empties == 0) {
        s->nodes++;
        return final_score(s, own, opponent);
    }
    const Place *a = &s->place[first_bit(empty)], *b = &s->place[last_bit(empty)];
    if (empties == 1) return score_last(s, own, a);
    if (empties == 2) return solve_2(s, own, opponent, alpha, a, b);
    return solve_3(s, own, opponent, alpha, a, &s->place[first_bit(empty ^ a->bit ^ b->bit)], b);
}

#endif
