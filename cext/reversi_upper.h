/* A dozen empties and more: the shared table, symmetry, moves ordered by looking ahead.
 *
 * Threads. All threads search the same root and meet in the shared table. So that they
 * spread, each marks the position it is searching as busy; a thread that comes to a busy
 * position leaves it for later and takes the next move of its list. When it returns, the
 * other thread has usually put the answer into the table.
 *
 * Presuming. Before a score is proved, passes find it out by presumption: where the evaluation
 * is far outside the window it is believed, from pass to pass less readily. What a pass finds lies
 * in the table under a salt of its own, so that no proof and no later pass ever rests on it: it
 * gives the first guess, and moves to try.
 */
#ifndef ZERMELO_REVERSI_UPPER_H
#define ZERMELO_REVERSI_UPPER_H

#include "reversi_lookahead.h"
#include "reversi_middle.h"

enum {
    SPLIT_EMPTIES = 14, /* at least this many: threads avoid each other's positions */
    LEAST_MARGIN = 4 * GRAINS, /* so far outside the window the first pass believes */
    PRESUMED_PLIES = 2 /* looked ahead for this; twice as many where more is at stake */
};

static inline volatile u64 *busy_slot(Search *s, u64 hash) {
    return &s->shared->busy[hash & (BUSY_SLOTS - 1)];
}

/* Whether another thread is at a position; if not, say that this one is. */
static inline bool others_search(Search *s, u64 hash) {
    volatile u64 *slot = busy_slot(s, hash);
    if (*slot == hash) return true;
    *slot = hash;
    return false;
}

static inline void leave(Search *s, u64 hash) {
    volatile u64 *slot = busy_slot(s, hash);
    if (*slot == hash) *slot = 0;
}

/* Where to keep what is found out about positions with so many empties: the middle search never
 * presumes anything. */
static inline Table *upper_table(const Search *s, int empties) {
    return s->trust && empties > s->middle_empties ? &s->presumed[s->trust - 1] : s->table;
}

/* Whether the evaluation, a few plies ahead, is so far outside the window that this pass
 * believes it; then `score` is the end of the window that it exceeds: alpha as a presumed upper
 * bound, beta as a presumed lower bound, neither of them proved. */
static bool presumed_cut(Search *s, u64 own, u64 opponent, const Configuration *shown, int alpha,
                         int beta, int empties, int *score) {
    int plies = empties <= s->middle_empties + 3 ? PRESUMED_PLIES : 2 * PRESUMED_PLIES;
    int margin = (TRUSTS + 1 - s->trust) * LEAST_MARGIN;
    int high = GRAINS * beta + margin, low = GRAINS * alpha - margin;
    int glance = look_at(s, own, opponent, shown, NULL, empties)->estimate;
    if (glance >= high - margin / 2) {
        *score = beta;
        return search_estimate(s, own, opponent, shown, empties, plies, high - 1, high) >= high;
    }
    if (glance <= low + margin / 2) {
        *score = alpha;
        return search_estimate(s, own, opponent, shown, empties, plies, low, low + 1) <= low;
    }
    return false;
}

typedef struct { /* under which names the table keeps the positions after all moves */
    u64 own[MOST_CANDIDATES], opponent[MOST_CANDIDATES], hash[MOST_CANDIDATES];
} Names;

/* Ask for the buckets of all children, long before they are looked at: each comes from far away.
 * They are asked for one right after the other, so that their page tables are walked at the same
 * time. */
static void prefetch_children(const Search *s, u64 own, u64 opponent, const Candidates *moves,
                              int empties, Names *names) {
    const Table *table = upper_table(s, empties - 1);
    int symmetry;
    for (int i = 0; i < moves->count; i++) {
        names->own[i] = own_after(opponent, &moves->item[i]);
        names->opponent[i] = opponent_after(own, &moves->item[i]);
        names->hash[i] = table_name(s, &names->own[i], &names->opponent[i], empties - 1, &symmetry);
    }
    for (int i = 0; i < moves->count; i++) __builtin_prefetch(bucket_of(table, names->hash[i]));
}

/* Whether the table knows a child that refutes the position at once.
 *
 * Then `score` is at least beta, and a lower bound of the position's score. */
static bool enhanced_cut(const Search *s, const Names *names, int count, int beta, int empties,
                         int *score) {
    const Table *table = upper_table(s, empties - 1);
    Facts facts;
    for (int i = 0; i < count; i++)
        if (probe(table, names->own[i], names->opponent[i], names->hash[i], &facts) &&
            -facts.hi >= beta) {
            *score = -facts.hi;
            return true;
        }
    return false;
}

static int search_upper(Search *s, u64 own, u64 opponent, const Configuration *shown, int alpha,
                        int beta, int empties, int parity);

/* The score of a move for the side that makes it.
 *
 * Fail-soft: <= alpha an upper bound, inside exact, >= beta a lower bound. */
static int search_below(Search *s, u64 own, u64 opponent, const Configuration *shown,
                        const Candidate *move, int alpha, int beta, int empties, int parity) {
    u64 next_own = own_after(opponent, move), next_opponent = opponent_after(own, move);
    parity ^= s->quadrant[move->square];
    empties--;
    if (empties <= s->middle_empties) {
        u64 squares = mobility(next_own, next_opponent, s->board & ~(next_own | next_opponent));
        return -search_middle_open(s, next_own, next_opponent, squares, -beta, -alpha, empties,
                                   parity);
    }
    Configuration after;
    configure_move(s->evaluation, shown, move->square, move->turned, &after);
    return -search_upper(s, next_own, next_opponent, &after, -beta, -alpha, empties, parity);
}

/* Value the moves that the table does not recommend, without looking ahead. */
static void value_moves(Search *s, u64 own, u64 opponent, const Configuration *shown,
                        Candidates *moves, int beta, int empties, int parity) {
    if (s->options.evaluation) {
        value_at_a_glance(s, own, opponent, shown, moves, beta, empties);
        return;
    }
    for (int i = 0; i < moves->count; i++) {
        Candidate *move = &moves->item[i];
        if (move->value >= SECOND_HINT) continue;
        u64 next_own = own_after(opponent, move), next_opponent = opponent_after(own, move);
        u64 empty = s->board & ~(next_own | next_opponent);
        move->value = middle_value(s, next_opponent, empty,
                                   mobility(next_own, next_opponent, empty), move->square,
                                   s->options.parity ? parity : 0);
    }
}

/* The score; at the root the best move so far is in `s->root_move`. Fail-soft:
 *
 * result <= alpha:          the score is at most the result
 * alpha < result < beta:    the score is the result
 * result >= beta:           the score is at least the result
 *
 * Means nothing if `s->stopped` is set, proves nothing with any `s->trust`. */
static int search_upper(Search *s, u64 own, u64 opponent, const Configuration *shown, int alpha,
                        int beta, int empties, int parity) {
    u64 empty = s->board & ~(own | opponent);
    u64 start = s->nodes, key_own = own, key_opponent = opponent, hash = 0;
    Candidates moves;
    Names names;
    Configuration after;
    Facts facts;
    int deferred[MOST_CANDIDATES];
    bool parallel = s->parallel && empties >= SPLIT_EMPTIES;
    int symmetry = 0, hint = NO_MOVE, second = NO_MOVE;
    int best = NOTHING, best_move = NO_MOVE, lower = alpha, score;
    s->nodes++;
    if (must_stop(s)) return alpha;
    if (stability_may_cut(s, opponent, alpha) && stability_cut(s, own, opponent, alpha, &score))
        return score;
    if (s->options.table) {
        hash = table_name(s, &key_own, &key_opponent, empties, &symmetry);
        if (probe(upper_table(s, empties), key_own, key_opponent, hash, &facts) ||
            (s->trust && probe(s->table, key_own, key_opponent, hash, &facts))) {
            score = facts.lo >= beta || facts.lo == facts.hi ? facts.lo
                    : facts.hi <= alpha                      ? facts.hi
                                                             : NOTHING;
            hint = unfold_square(s, facts.best, symmetry);
            second = unfold_square(s, facts.second, symmetry);
            if (score != NOTHING) {
                if (empties == s->root_empties) s->root_move = hint;
                return score;
            }
        }
        for (int i = s->trust; i < TRUSTS && hint == NO_MOVE && s->options.presumed; i++)
            if (probe(&s->presumed[i], key_own, key_opponent, hash, &facts)) {
                hint = unfold_square(s, facts.best, symmetry);
                second = unfold_square(s, facts.second, symmetry);
            }
    }
    u64 squares = mobility(own, opponent, empty);
    if (!squares) {
        if (!mobility(opponent, own, empty)) return final_score(s, own, opponent);
        configure_pass(s->evaluation, shown, &after);
        return -search_upper(s, opponent, own, &after, -beta, -alpha, empties, parity);
    }
    if (s->trust && empties != s->root_empties &&
        presumed_cut(s, own, opponent, shown, alpha, beta, empties, &score))
        return score;
    list_moves(own, opponent, squares, &moves);
    bool enhanced = s->options.table && s->options.enhanced && empties != s->root_empties;
    if (enhanced) prefetch_children(s, own, opponent, &moves, empties, &names);
    for (int i = 0; i < moves.count; i++) {
        Candidate *move = &moves.item[i];
        move->value = move->square == hint     ? FIRST_HINT
                      : move->square == second ? SECOND_HINT
                                               : 0;
    }
    /* A recommended move is tried before any time is spent on ordering the others. */
    bool hinted = hint != NO_MOVE;
    /* A glance at the moves takes about as long as the buckets of the children, and is needed in
     * nineteen of twenty positions: few are cut off by what is known of the children. */
    if (!hinted) value_moves(s, own, opponent, shown, &moves, beta, empties, parity);
    if (enhanced && enhanced_cut(s, &names, moves.count, beta, empties, &score)) return score;
    if (!hinted) look_into_moves(s, own, opponent, shown, &moves, beta, empties);

    int turn = 0, turns = moves.count; /* grows by one for each move left for later */
    while (turn < turns) {
        const Candidate *move;
        u64 busy = 0;
        if (turn < moves.count) {
            if (turn == 1 && hinted) {
                value_moves(s, own, opponent, shown, &moves, beta, empties, parity);
                look_into_moves(s, own, opponent, shown, &moves, beta, empties);
            }
            take_best(&moves, turn);
            move = &moves.item[turn];
            if (parallel && turn > 0) {
                busy = hash_boards(own_after(opponent, move), opponent_after(own, move));
                if (others_search(s, busy)) {
                    deferred[turns - moves.count] = turn;
                    turns++;
                    turn++;
                    continue;
                }
            }
        } else {
            move = &moves.item[deferred[turn - moves.count]];
        }
        /* All moves but the first are expected to fail: a null window tells whether they do. */
        if (best == NOTHING || beta - lower == 1) {
            score = search_below(s, own, opponent, shown, move, lower, beta, empties, parity);
        } else {
            score = search_below(s, own, opponent, shown, move, lower, lower + 1, empties, parity);
            if (lower < score && score < beta && !s->stopped)
                score = search_below(s, own, opponent, shown, move, score - 1, beta, empties,
                                     parity);
        }
        if (busy) leave(s, busy);
        if (s->stopped) return alpha;
        turn++;
        if (score > best) {
            best = score;
            best_move = move->square;
            lower = greater(lower, best);
        }
        if (empties == s->root_empties) {
            s->root_move = best_move;
            s->root_done = turn - (turns - moves.count); /* without the turns that only deferred */
        }
        if (best >= beta) break;
    }
    if (s->options.table)
        store(upper_table(s, empties), key_own, key_opponent, hash,
              best > alpha ? best : -s->squares, best < beta ? best : s->squares,
              fold_square(s, best_move, symmetry), log_effort(s->nodes - start));
    return best;
}

#endif
