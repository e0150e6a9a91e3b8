/* From six to eleven or twelve empties (`middle_empties`): moves ordered by mobility and parity,
 * a small table per thread.
 *
 * Only null windows are searched here, as MTD(f) asks them: alpha, and beta = alpha + 1. The
 * functions are fail-soft:
 *
 *     result <= alpha:    the score is at most the result
 *     result > alpha:     the score is at least the result
 */
#ifndef ZERMELO_REVERSI_MIDDLE_H
#define ZERMELO_REVERSI_MIDDLE_H

#include "reversi_endgame.h"

enum {
    PLAIN_EMPTIES = 7,     /* at most this many: order by replies, parity and corners alone */
    TABLE_EMPTIES = 7,     /* at least this many: look into a table */
    ENHANCED_EMPTIES = 10, /* at least this many: look at what is known of the children */
    LOCAL_EMPTIES = 10,    /* at most this many: in the thread's own table */
    STOP_EMPTIES = 8,      /* at least this many: look whether to stop */
    MIDDLE_MOVES = 16,     /* more than there are moves then; a power of two */
    KEY_ZERO = 1 << 12,    /* keeps the keys of all moves above TRIED */
    HINTED = 1 << 20,      /* the value of the move that the table recommends */
    TRIED = 0
};

static inline Table *table_of(Search *s, int empties) {
    return empties <= LOCAL_EMPTIES ? &s->local : s->table;
}

/* What speaks for a move whatever it does: the last move in a quadrant, a corner. */
static inline int place_value(const Search *s, int square, int parity) {
    return (parity & s->quadrant[square] ? 8 : 0) + (s->corners >> square & 1 ? 12 : 0);
}

/* How promising a move is, given the position after it and the replies to it.
 *
 * Fastest first: what leaves the opponent few replies is searched quickly and often
 * refutes. Replies to a corner count double. */
static inline int middle_value(const Search *s, u64 opponent, u64 empty, u64 replies, int square,
                               int parity) {
    int value = -16 * (popcount(replies) + popcount(replies & s->corners));
    value -= 2 * popcount(potential_mobility(opponent, empty));
    return value + place_value(s, square, parity);
}

/* The greatest key; its lowest bits say which move it is of. */
static inline int best_key(const int *keys, int count) {
    int best = keys[0];
    for (int i = 1; i < count; i++) best = greater(best, keys[i]);
    return best;
}

/* The score with six empties; `squares` are the legal moves.
 *
 * Null window, fail-soft: <= alpha an upper bound, > alpha a lower bound. */
static int search_6(Search *s, u64 own, u64 opponent, u64 squares, int alpha, int parity) {
    u64 empty = s->board & ~(own | opponent);
    u64 turned[MIDDLE_MOVES];
    uint8_t square_of[MIDDLE_MOVES];
    int keys[MIDDLE_MOVES];
    int best = NOTHING, count = 0, score;
    int odd = s->options.parity ? parity : 0;
    s->nodes++;
    if (likely_stability_cut(s, own, opponent, alpha, 6, &score)) return score;
    if (!squares) {
        squares = mobility(opponent, own, empty);
        if (squares) return -search_6(s, opponent, own, squares, -alpha - 1, parity);
        return final_score(s, own, opponent);
    }
    for (; squares; squares &= squares - 1, count++) {
        int square = first_bit(squares);
        u64 bit = squares & (0 - squares);
        turned[count] = flips(own, opponent, square);
        u64 replies = mobility(opponent ^ turned[count], own ^ turned[count] ^ bit, empty ^ bit);
        square_of[count] = (uint8_t)square;
        int key = KEY_ZERO - 16 * popcount(replies) + place_value(s, square, odd);
        keys[count] = key * MIDDLE_MOVES + count;
    }
    for (int i = 0; i < count; i++) {
        int key = best_key(keys, count) & (MIDDLE_MOVES - 1);
        keys[key] = TRIED;
        int square = square_of[key];
        score = -solve_5(s, opponent ^ turned[key], own ^ turned[key] ^ bit_of(square), -alpha - 1,
                         parity ^ s->quadrant[square]);
        if (score > best) {
            best = score;
            if (best > alpha) break;
        }
    }
    return best;
}

/* The score; `squares` are the legal moves.
 *
 * Null window, fail-soft: <= alpha an upper bound, > alpha a lower bound. Means nothing if
 * `s->stopped` is set. */
static int search_middle(Search *s, u64 own, u64 opponent, u64 squares, int alpha, int empties,
                         int parity) {
    u64 empty = s->board & ~(own | opponent);
    u64 turned[MIDDLE_MOVES], replies[MIDDLE_MOVES];
    uint8_t square_of[MIDDLE_MOVES];
    int keys[MIDDLE_MOVES];
    u64 start = s->nodes, hash = 0;
    Facts facts;
    bool tabled = s->options.table;
    int odd = s->options.parity ? parity : 0;
    int best = NOTHING, best_move = NO_MOVE, hint = NO_MOVE, count = 0, score;
    if (empties < TABLE_EMPTIES) {
        if (empties < 6) return solve_few(s, own, opponent, alpha, empties, parity);
        return search_6(s, own, opponent, squares, alpha, parity);
    }
    s->nodes++;
    if (empties >= STOP_EMPTIES && must_stop(s)) return alpha;
    if (tabled) {
        /* Ask for the bucket now, so that it is there when it is read. */
        hash = hash_boards(own, opponent);
        __builtin_prefetch(bucket_of(table_of(s, empties), hash));
    }
    if (likely_stability_cut(s, own, opponent, alpha, empties, &score)) return score;
    if (tabled && probe(table_of(s, empties), own, opponent, hash, &facts)) {
        if (facts.lo > alpha) return facts.lo;
        if (facts.hi <= alpha) return facts.hi;
        hint = facts.best;
    }
    if (!squares) {
        squares = mobility(opponent, own, empty);
        if (squares) return -search_middle(s, opponent, own, squares, -alpha - 1, empties, parity);
        return final_score(s, own, opponent);
    }
    for (; squares; squares &= squares - 1, count++) {
        int square = first_bit(squares), key;
        u64 bit = squares & (0 - squares);
        turned[count] = flips(own, opponent, square);
        u64 next_opponent = own ^ turned[count] ^ bit;
        replies[count] = mobility(opponent ^ turned[count], next_opponent, empty ^ bit);
        square_of[count] = (uint8_t)square;
        if (square == hint) {
            key = HINTED;
        } else if (empties <= PLAIN_EMPTIES) {
            key = KEY_ZERO - 16 * popcount(replies[count]) + place_value(s, square, odd);
        } else {
            key = KEY_ZERO +
                  middle_value(s, next_opponent, empty ^ bit, replies[count], square, odd);
        }
        keys[count] = key * MIDDLE_MOVES + count;
    }
    if (tabled && s->options.enhanced && empties >= ENHANCED_EMPTIES) {
        const Table *table = table_of(s, empties - 1);
        for (int i = 0; i < count; i++) {
            u64 next_own = opponent ^ turned[i];
            u64 next_opponent = own ^ turned[i] ^ bit_of(square_of[i]);
            if (probe(table, next_own, next_opponent, hash_boards(next_own, next_opponent),
                      &facts) && -facts.hi > alpha)
                return -facts.hi;
        }
    }
    for (int i = 0; i < count; i++) {
        int key = best_key(keys, count) & (MIDDLE_MOVES - 1);
        keys[key] = TRIED;
        int square = square_of[key];
        score = -search_middle(s, opponent ^ turned[key], own ^ turned[key] ^ bit_of(square),
                               replies[key], -alpha - 1, empties - 1,
                               parity ^ s->quadrant[square]);
        if (s->stopped) return alpha;
        if (score > best) {
            best = score;
            best_move = square;
            if (best > alpha) break;
        }
    }
    if (tabled)
        store(table_of(s, empties), own, opponent, hash, best > alpha ? best : -s->squares,
              best <= alpha ? best : s->squares, best_move, log_effort(s->nodes - start));
    return best;
}

/* The score in any window, by null windows that climb from alpha.
 *
 * Fail-soft: <= alpha an upper bound, inside exact, >= beta a lower bound. */
static int search_middle_open(Search *s, u64 own, u64 opponent, u64 squares, int alpha, int beta,
                              int empties, int parity) {
    int score = search_middle(s, own, opponent, squares, alpha, empties, parity);
    while (alpha < score && score < beta && !s->stopped) {
        alpha = score;
        score = search_middle(s, own, opponent, squares, alpha, empties, parity);
        if (score <= alpha) return alpha;
    }
    return score;
}

#endif
