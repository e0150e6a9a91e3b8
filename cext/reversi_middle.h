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
    ENHANCED_EMPTIES = 10, /* at least this many: look at what is known of the children */
    LOCAL_EMPTIES = 10,    /* at most this many: in the thread's own table */
    STOP_EMPTIES = 8,      /* at least this many: look whether to stop */
    HINTED = 1 << 24,      /* puts the key of the move that the table recommends above all others */
    TRIED = 0              /* below the keys of all moves */
};

/* The moves of a position, in the order of their squares. A key is made of the value of a move, its
 * square and its place in the list, so that the greatest key names the best move:
 *
 *     key    (KEY_ZERO + value) * KEY_UNIT + square * MIDDLE_MOVES + place
 */
typedef struct {
    u64 turned[MIDDLE_MOVES];
    u64 replies[MIDDLE_MOVES];
    int keys[MIDDLE_MOVES];
    int count;
} MiddleMoves;

static inline int place_of(int key) { return key & (MIDDLE_MOVES - 1); }
static inline int square_of(int key) { return key / MIDDLE_MOVES & 63; }

static inline Table *table_of(Search *s, int empties) {
    return empties <= LOCAL_EMPTIES ? &s->local : s->table;
}

/* What speaks against a move, given the replies to it and the empty squares then beside the mover's
 * discs.
 *
 * Fastest first: what leaves the opponent few replies is searched quickly and often
 * refutes. Replies to a corner count double. */
static inline int middle_cost(const Search *s, u64 replies, u64 replyable) {
    return 16 * (popcount(replies) + popcount(replies & s->corners)) + 2 * popcount(replyable);
}

/* How promising a move is, given the position after it and the replies to it. */
static inline int middle_value(const Search *s, u64 opponent, u64 empty, u64 replies, int square,
                               int parity) {
    return s->place_key[parity][square] / KEY_UNIT - KEY_ZERO -
           middle_cost(s, replies, potential_mobility(opponent, empty));
}

/* The key of the best of the moves not yet tried, or TRIED. */
static inline int next_move(const MiddleMoves *moves) {
    int best = TRIED;
    for (int i = 0; i < moves->count; i++) {
        best = greater(best, moves->keys[i]);
        __asm__ volatile("" : "+r"(best)); /* vectors do not pay for so few moves */
    }
    return best;
}

/* List the moves to `squares`, and value them; the key of the best is returned. In nineteen of
 * twenty positions that a move refutes, no other is asked for.
 *
 * If `plain`, replies, parity and corners alone count. */
static inline int list_middle(const Search *s, u64 own, u64 opponent, u64 squares, u64 empty,
                              int parity, int hint, bool plain, MiddleMoves *moves) {
    u64 all = squares;
    int count = 0, best = TRIED;
    do {
        int square = first_bit(squares);
        Outcome brings = outcome(in_all_lanes(own), in_all_lanes(opponent), empty, square);
        int cost = plain ? 16 * popcount(brings.replies)
                         : middle_cost(s, brings.replies, brings.replyable);
        int key = s->place_key[parity][square] - cost * KEY_UNIT + count;
        moves->turned[count] = in_first_lane(brings.turned);
        moves->replies[count] = brings.replies;
        moves->keys[count] = key;
        best = greater(best, key);
        count++;
        squares &= squares - 1;
    } while (squares);
    moves->count = count;
    if (hint < NO_MOVE && all & bit_of(hint)) {
        int *hinted = &moves->keys[popcount(all & (bit_of(hint) - 1))];
        best = *hinted += HINTED;
    }
    return best;
}

/* The score with six empties; `squares` are the legal moves.
 *
 * Null window, fail-soft: <= alpha an upper bound, > alpha a lower bound. */
static int search_6(Search *s, u64 own, u64 opponent, u64 squares, int alpha, int parity) {
    u64 empty = s->board & ~(own | opponent);
    MiddleMoves moves;
    int best = NOTHING, score;
    s->nodes++;
    if (likely_stability_cut(s, own, opponent, alpha, 6, &score)) return score;
    if (!squares) return pass_many(s, own, opponent, alpha, 6, parity);
    int key = list_middle(s, own, opponent, squares, empty, s->options.parity ? parity : 0, NO_MOVE,
                          true, &moves);
    do {
        int i = place_of(key), square = square_of(key);
        u64 turned = moves.turned[i];
        score = -solve_5(s, opponent ^ turned, own ^ turned ^ bit_of(square), moves.replies[i],
                         -alpha - 1, parity ^ s->quadrant[square]);
        if (score > alpha) return score;
        best = greater(best, score);
        moves.keys[i] = TRIED;
    } while ((key = next_move(&moves)) != TRIED);
    return best;
}

/* `search_middle` with the table; null window, fail-soft: <= alpha an upper bound, > alpha a lower
 * bound, and nothing if `s->stopped` is set. `plain` is constant: with seven empties the moves are
 * valued by less, and the next position has no table. */
static ALWAYS_INLINE int search_tabled(Search *s, u64 own, u64 opponent, u64 squares, int alpha,
                                       int empties, int parity, bool plain) {
    u64 empty = s->board & ~(own | opponent);
    u64 start = s->nodes, hash = 0;
    MiddleMoves moves;
    Facts facts;
    Table *table = table_of(s, empties);
    bool tabled = s->options.table;
    int best = NOTHING, best_move = NO_MOVE, hint = NO_MOVE, score;
    s->nodes++;
    if (!plain && empties >= STOP_EMPTIES && must_stop(s)) return alpha;
    if (tabled) {
        /* Ask for the bucket now, so that it is there when it is read. */
        hash = hash_boards(own, opponent);
        __builtin_prefetch(bucket_of(table, hash));
    }
    if (likely_stability_cut(s, own, opponent, alpha, empties, &score)) return score;
    if (tabled && probe(table, own, opponent, hash, &facts)) {
        if (facts.lo > alpha) return facts.lo;
        if (facts.hi <= alpha) return facts.hi;
        hint = facts.best;
    }
    if (!squares) return pass_many(s, own, opponent, alpha, empties, parity);
    int key = list_middle(s, own, opponent, squares, empty, s->options.parity ? parity : 0, hint,
                          plain, &moves);
    if (!plain && tabled && s->options.enhanced && empties >= ENHANCED_EMPTIES) {
        const Table *children = table_of(s, empties - 1);
        for (int k = 0; k < moves.count; k++) {
            u64 next_own = opponent ^ moves.turned[k];
            u64 next_opponent = own ^ moves.turned[k] ^ bit_of(square_of(moves.keys[k]));
            if (probe(children, next_own, next_opponent, hash_boards(next_own, next_opponent),
                      &facts) && -facts.hi > alpha)
                return -facts.hi;
        }
    }
    do {
        int i = place_of(key), square = square_of(key);
        u64 next_own = opponent ^ moves.turned[i];
        u64 next_opponent = own ^ moves.turned[i] ^ bit_of(square);
        int next_parity = parity ^ s->quadrant[square];
        if (plain)
            score = -search_6(s, next_own, next_opponent, moves.replies[i], -alpha - 1,
                              next_parity);
        else
            score = -search_middle(s, next_own, next_opponent, moves.replies[i], -alpha - 1,
                                   empties - 1, next_parity);
        if (s->stopped) return alpha;
        best_move = score > best ? square : best_move;
        best = greater(score, best);
        if (best > alpha) break;
        moves.keys[i] = TRIED;
    } while ((key = next_move(&moves)) != TRIED);
    if (tabled)
        store(table, own, opponent, hash, best > alpha ? best : -s->squares,
              best <= alpha ? best : s->squares, best_move, log_effort(s->nodes - start));
    return best;
}

/* The score with seven empties; `squares` are the legal moves.
 *
 * Null window, fail-soft: <= alpha an upper bound, > alpha a lower bound. Means nothing if
 * `s->stopped` is set. */
static int search_7(Search *s, u64 own, u64 opponent, u64 squares, int alpha, int parity) {
    return search_tabled(s, own, opponent, squares, alpha, 7, parity, true);
}

/* The score; `squares` are the legal moves.
 *
 * Null window, fail-soft: <= alpha an upper bound, > alpha a lower bound. Means nothing if
 * `s->stopped` is set. */
static int search_middle(Search *s, u64 own, u64 opponent, u64 squares, int alpha, int empties,
                         int parity) {
    if (empties > 7) return search_tabled(s, own, opponent, squares, alpha, empties, parity, false);
    if (empties == 7) return search_7(s, own, opponent, squares, alpha, parity);
    if (empties == 6) return search_6(s, own, opponent, squares, alpha, parity);
    return solve_few(s, own, opponent, squares, alpha, empties, parity);
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
