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

/* Two empties and no move: the other side's turn, seen from the side to move.
 *
 * Null window, fail-soft: <= alpha an upper bound, > alpha a lower bound. */
static NEVER_INLINE int pass_2(Search *s, Lanes own, Lanes opponent, int alpha, const Place *a,
                               const Place *b) {
    u64 mine = in_first_lane(own), turned;
    int best = -NOTHING;
    s->nodes++;
    if ((turned = flips_along(opponent, own, &a->rays))) {
        best = score_last(s, mine ^ turned, b);
        if (best <= alpha) return best;
    }
    if ((turned = flips_along(opponent, own, &b->rays)))
        return lesser(score_last(s, mine ^ turned, a), best);
    return best != -NOTHING ? best : final_score(s, mine, in_first_lane(opponent));
}

/* Two empties. Null window, fail-soft: <= alpha an upper bound, > alpha a lower bound. */
static ALWAYS_INLINE int solve_2(Search *s, Lanes own, Lanes opponent, int alpha, const Place *a,
                                 const Place *b) {
    u64 turned;
    int best = NOTHING;
    s->nodes++;
    if ((turned = flips_along(own, opponent, &a->rays))) {
        best = -score_last(s, in_first_lane(opponent) ^ turned, b);
        if (best > alpha) return best;
    }
    if ((turned = flips_along(own, opponent, &b->rays)))
        return greater(-score_last(s, in_first_lane(opponent) ^ turned, a), best);
    return best != NOTHING ? best : pass_2(s, own, opponent, alpha, a, b);
}

/* The place of a square. The compiler shall keep the address: it would find it anew for each use. */
static inline const Place *place_at(const Search *s, int square) {
    const Place *place = &s->place[square];
    __asm__("" : "+r"(place));
    return place;
}

static int solve_3(Search *s, Lanes own, Lanes opponent, int alpha, const Place *a, const Place *b,
                   const Place *c);

/* Three empties and no move. Null window, fail-soft: <= alpha an upper bound, > alpha a lower. */
static NEVER_INLINE int pass_3(Search *s, Lanes own, Lanes opponent, int alpha, const Place *a,
                               const Place *b, const Place *c) {
    u64 mine = in_first_lane(own), theirs = in_first_lane(opponent);
    if (mobility(theirs, mine, s->board & ~(mine | theirs)))
        return -solve_3(s, opponent, own, -alpha - 1, a, b, c);
    return final_score(s, mine, theirs);
}

/* The score of a move with three empties, two of them left after it; NOTHING if illegal.
 *
 * Null window, fail-soft: <= alpha an upper bound, > alpha a lower bound. */
static ALWAYS_INLINE int try_of_3(Search *s, Lanes own, Lanes opponent, int alpha,
                                  const Place *move, const Place *a, const Place *b) {
    Lanes turned = flips_in_lanes(own, opponent, &move->rays);
    if (!in_first_lane(turned)) return NOTHING;
    return -solve_2(s, opponent ^ turned, own ^ in_all_lanes(move->bit) ^ turned, -alpha - 1, a, b);
}

/* Three empties, already in the order in which to try them.
 *
 * Null window, fail-soft: <= alpha an upper bound, > alpha a lower bound. */
static int solve_3(Search *s, Lanes own, Lanes opponent, int alpha, const Place *a, const Place *b,
                   const Place *c) {
    s->nodes++;
    int best = try_of_3(s, own, opponent, alpha, a, b, c);
    if (best > alpha) return best;
    best = greater(best, try_of_3(s, own, opponent, alpha, b, a, c));
    if (best > alpha) return best;
    best = greater(best, try_of_3(s, own, opponent, alpha, c, a, b));
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
static NEVER_INLINE int pass_many(Search *s, u64 own, u64 opponent, int alpha, int empties,
                                  int parity) {
    u64 squares = mobility(opponent, own, s->board & ~(own | opponent));
    if (squares) return -search_middle(s, opponent, own, squares, -alpha - 1, empties, parity);
    return final_score(s, own, opponent);
}

/* Four empties; `squares` are the legal moves.
 *
 * Null window, fail-soft: <= alpha an upper bound, > alpha a lower bound. */
static int solve_4(Search *s, Lanes own, Lanes opponent, u64 empty, u64 squares, int alpha,
                   int parity) {
    u64 first = squares & s->odd[parity], second = squares ^ first;
    int best = NOTHING;
    s->nodes++;
    if (!squares)
        return pass_many(s, in_first_lane(own), in_first_lane(opponent), alpha, 4, parity);
    do {
        const Place *move = place_at(s, take_first(&first, &second));
        Lanes turned = flips_in_lanes(own, opponent, &move->rays);
        u64 rest = empty ^ move->bit;
        /* If two of the three left share a quadrant, the one alone in its own comes first. */
        const Place *a = place_at(s, first_bit(rest & s->odd[parity ^ move->quadrant]));
        rest ^= a->bit;
        int score = -solve_3(s, opponent ^ turned, own ^ in_all_lanes(move->bit) ^ turned,
                             -alpha - 1, a, place_at(s, first_bit(rest)),
                             place_at(s, last_bit(rest)));
        if (score > alpha) return score;
        best = greater(best, score);
    } while (first | second);
    return best;
}

/* `stability_cut` where it is likely to be worth its time: `*score` is an upper bound. The less there
 * is to search, the more discs the opponent must have to spare, because few are stable. */
static inline bool likely_stability_cut(const Search *s, u64 own, u64 opponent, int alpha,
                                        int empties, int *score) {
    int sixteenths = empties <= 5 ? 4 : empties == 6 ? 3 : empties <= 8 ? 2 : 1;
    return alpha >= empties - STABLE_LEAD &&
           stability_may_cut(s, opponent, alpha - s->squares * sixteenths / 16) &&
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
    Lanes mine = in_all_lanes(own), theirs = in_all_lanes(opponent);
    do {
        int square = take_first(&first, &second);
        Outcome brings = outcome(mine, theirs, empty, square);
        score = -solve_4(s, theirs ^ brings.turned,
                         mine ^ in_all_lanes(bit_of(square)) ^ brings.turned,
                         empty ^ bit_of(square), brings.replies, -alpha - 1,
                         parity ^ s->quadrant[square]);
        if (score > alpha) return score;
        best = greater(best, score);
    } while (first | second);
    return best;
}

/* At most five empties; `squares` are the legal moves.
 *
 * Null window, fail-soft: <= alpha an upper bound, > alpha a lower bound. */
static int solve_few(Search *s, u64 own, u64 opponent, u64 squares, int alpha, int empties,
                     int parity) {
    u64 empty = s->board & ~(own | opponent);
    Lanes mine = in_all_lanes(own), theirs = in_all_lanes(opponent);
    if (empties == 5) return solve_5(s, own, opponent, squares, alpha, parity);
    if (empties == 4) return solve_4(s, mine, theirs, empty, squares, alpha, parity);
    if (empties == 0) {
        s->nodes++;
        return final_score(s, own, opponent);
    }
    const Place *a = place_at(s, first_bit(empty)), *b = place_at(s, last_bit(empty));
    if (empties == 1) return score_last(s, own, a);
    if (empties == 2) return solve_2(s, mine, theirs, alpha, a, b);
    return solve_3(s, mine, theirs, alpha, a, place_at(s, first_bit(empty ^ a->bit ^ b->bit)), b);
}

#endif
