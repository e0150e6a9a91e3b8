/* Looking ahead with the trained evaluation: what a position is worth, what a proof costs.
 *
 * Where moves are worth the time, the one to try first is the one whose proof is expected
 * to be cheapest. As with proof numbers, to *hold* the side to move below a score all its
 * moves must be answered, so their costs add up; to *reach* a score one move will do, so the
 * least counts. At the end of the look ahead a glance at the evaluation gives the cost.
 *
 * Costs are logarithms of nodes, in 1/256 bits. Two things keep the look ahead small. A sum
 * is no less than its parts, so it stops at a cost that is no longer competitive. And
 * probable cut-offs: a line that at a glance looks a bit or more worse than its neighbours
 * (as a move: more expensive; as a reply: cheaper to answer) is not looked into. Nothing
 * here proves anything: it only decides in which order proofs are tried.
 */
#ifndef ZERMELO_REVERSI_LOOKAHEAD_H
#define ZERMELO_REVERSI_LOOKAHEAD_H

#include "reversi_state.h"
#include <math.h>

enum {
    WIDEST = 128 * 64, /* grains beyond every estimate */
    MARGIN_STEPS = 512,
    MARGIN_GRAINS = 16, /* margin of the evaluation per step of MARGIN_COST */
    SUM_STEPS = 2048,
    BIT = 256,
    NEVER = 1 << 24, /* the cost of what cannot be proved */
    HOPELESS = 8,    /* discs below beta: probably no move will reach it */
    PROVED_EMPTIES = 14, /* at least this many: what the table has proved costs nothing */
    FIRST_HINT = 1 << 28, /* values of the moves that the table recommends */
    SECOND_HINT = 1 << 27
};

/* By margin of the evaluation over the score to reach: a proof is cheap when there is much
 * to spare, dear when it will probably fail. The errors of the evaluation are taken as
 * logistic. Fitted, like the constants of the glances, to the costs of recorded searches, but for
 * the slope of 34 a disc, which was chosen by the nodes that the order of moves takes. */
static int MARGIN_COST[MARGIN_STEPS];
/* By difference of two costs: by how much their sum exceeds the greater. */
static int SUM_COST[SUM_STEPS];

static void init_costs(void) {
    for (int step = 0; step < MARGIN_STEPS; step++) {
        double discs = (step - MARGIN_STEPS / 2) * MARGIN_GRAINS / (double)GRAINS;
        MARGIN_COST[step] = (int)(179 * log2(1 + exp(-discs / 6)) - 34 * discs);
    }
    for (int step = 0; step < SUM_STEPS; step++)
        SUM_COST[step] = (int)(BIT * log2(1 + exp2(-step / (double)BIT)));
}

/* The evaluation after `depth` plies of search, in grains. Proves nothing about the score.
 *
 * Fail-soft, about that evaluation: <= alpha an upper bound, inside exact, >= beta a lower
 * bound. */
static int search_estimate(Search *s, u64 own, u64 opponent, const Configuration *shown,
                           int empties, int depth, int alpha, int beta) {
    u64 empty = s->board & ~(own | opponent);
    u64 squares = mobility(own, opponent, empty);
    Candidates moves;
    Configuration after;
    int best = -WIDEST;
    s->nodes++;
    if (depth == 0 || !squares) {
        u64 replies = mobility(opponent, own, empty);
        if (squares)
            return estimate(s->evaluation, shown, empties, popcount(squares), popcount(replies));
        if (!replies) return GRAINS * final_score(s, own, opponent);
        configure_pass(s->evaluation, shown, &after);
        return -search_estimate(s, opponent, own, &after, empties, depth, -beta, -alpha);
    }
    list_moves(own, opponent, squares, &moves);
    if (depth > 1)
        for (int i = 0; i < moves.count; i++) {
            Candidate *move = &moves.item[i];
            move->value = -popcount(mobility(own_after(opponent, move), opponent_after(own, move),
                                             empty ^ bit_of(move->square)));
        }
    for (int i = 0; i < moves.count; i++) {
        if (depth > 1) take_best(&moves, i);
        const Candidate *move = &moves.item[i];
        configure_move(s->evaluation, shown, move->square, move->turned, &after);
        int score = -search_estimate(s, own_after(opponent, move), opponent_after(own, move),
                                     &after, empties - 1, depth - 1, -beta, -alpha);
        if (score > best) {
            best = score;
            if (best >= beta) break;
            alpha = greater(alpha, best);
        }
    }
    return best;
}

/* -- costs ------------------------------------------------------------------------- */

/* The cost of both together: logarithms of nodes, so not quite a sum. */
static inline int sum_costs(int a, int b) {
    int difference = a - b;
    if (difference < 0) difference = -difference, a = b;
    return difference < SUM_STEPS ? a + SUM_COST[difference] : a;
}

static inline int margin_cost(int margin) {
    int step = margin / MARGIN_GRAINS + MARGIN_STEPS / 2;
    return MARGIN_COST[greater(0, lesser(step, MARGIN_STEPS - 1))];
}

static inline Glance *glance_slot(Search *s, u64 hash) { return &s->glances[hash & (GLANCES - 1)]; }

/* Ask for what was seen of the positions after all moves, before the first is looked at. */
static inline void prefetch_glances(Search *s, u64 own, u64 opponent, const Candidates *moves) {
    for (int i = 0; i < moves->count; i++)
        __builtin_prefetch(glance_slot(s, hash_boards(own_after(opponent, &moves->item[i]),
                                                      opponent_after(own, &moves->item[i]))));
}

/* What a position shows at a glance; it came from another by a move, or by none (NULL).
 *
 * The look ahead of a position meets again most of what its parent's met, so the thread keeps
 * what it saw last. */
static inline Glance *look_at(Search *s, u64 own, u64 opponent, const Configuration *before,
                              const Candidate *move, int empties) {
    u64 hash = hash_boards(own, opponent);
    Glance *glance = glance_slot(s, hash);
    if (glance->hash == hash) return glance;
    s->nodes++;
    u64 empty = s->board & ~(own | opponent);
    glance->hash = hash;
    u64 reachable, replyable;
    glance->moves = (uint8_t)popcount(both_mobilities(own, opponent, empty, &replyable));
    glance->replies = (uint8_t)popcount(both_mobilities(opponent, own, empty, &reachable));
    glance->reachable = (uint8_t)popcount(reachable);
    glance->replyable = (uint8_t)popcount(replyable);
    if (!glance->moves && !glance->replies) {
        glance->estimate = (int16_t)(GRAINS * final_score(s, own, opponent));
        return glance;
    }
    Configuration after;
    if (move) configure_move(s->evaluation, before, move->square, move->turned, &after);
    glance->estimate = (int16_t)estimate(s->evaluation, move ? &after : before, empties,
                                         glance->moves, glance->replies);
    return glance;
}

/* The cost of proving that the side to move gets at most `-score`, at a glance. */
static inline int glance_hold(const Glance *glance, int score, int empties) {
    if (!glance->moves && !glance->replies)
        return -glance->estimate >= GRAINS * score ? 0 : NEVER;
    return 192 * empties - 169 + margin_cost(-GRAINS * score - glance->estimate) +
           95 * glance->moves + 23 * glance->replyable;
}

/* The cost of proving that the side to move gets at least `score`, at a glance. */
static inline int glance_reach(const Glance *glance, int score, int empties) {
    if (!glance->moves && !glance->replies)
        return glance->estimate >= GRAINS * score ? 0 : NEVER;
    return 192 * empties - 56 + margin_cost(glance->estimate - GRAINS * score) -
           9 * glance->moves + 54 * glance->replies + 18 * glance->reachable;
}

/* Whether the table knows that the side to move gets at least `score`: 1, gets less: -1, neither: 0.
 * Without this the look ahead would charge for what a transposition has paid. */
static inline int proved(const Search *s, u64 own, u64 opponent, int score, int empties) {
    Facts facts;
    int symmetry;
    if (!s->options.table || empties < PROVED_EMPTIES) return 0;
    u64 hash = table_name(s, &own, &opponent, empties, &symmetry);
    if (!probe(s->table, own, opponent, hash, &facts)) return 0;
    return facts.lo >= score ? 1 : facts.hi < score ? -1 : 0;
}

static int cost_to_reach(Search *s, u64 own, u64 opponent, const Configuration *shown, int score,
                         int empties, int depth, int limit);

/* The cost of `glance_hold` after `depth` plies, for comparison with `limit`. An estimate:
 *
 * result < limit:     the cost
 * result >= limit:    the cost is no less than the limit; by how much more is not told */
static int cost_to_hold(Search *s, u64 own, u64 opponent, const Configuration *shown, int score,
                        int empties, int depth, int limit) {
    u64 empty = s->board & ~(own | opponent);
    u64 squares = mobility(own, opponent, empty);
    Candidates moves;
    Configuration after;
    int total = -NEVER, dearest = -NEVER;
    int known = proved(s, own, opponent, 1 - score, empties);
    if (known) return known < 0 ? 0 : NEVER;
    if (!squares && mobility(opponent, own, empty)) {
        configure_pass(s->evaluation, shown, &after);
        return cost_to_reach(s, opponent, own, &after, score, empties, depth, limit);
    }
    if (!squares)
        return glance_hold(look_at(s, own, opponent, shown, NULL, empties), score, empties);
    s->nodes++;
    list_moves(own, opponent, squares, &moves);
    prefetch_glances(s, own, opponent, &moves);
    for (int i = 0; i < moves.count; i++) {
        Candidate *move = &moves.item[i];
        move->value = glance_reach(look_at(s, own_after(opponent, move), opponent_after(own, move),
                                           shown, move, empties - 1), score, empties - 1);
        dearest = greater(dearest, move->value);
        total = sum_costs(total, move->value);
    }
    if (depth == 1 || (s->options.probable && total >= limit + BIT / 2)) return total;
    total = -NEVER;
    for (int i = 0; i < moves.count; i++) {
        take_best(&moves, i);
        Candidate *move = &moves.item[i];
        if (move->value >= dearest - BIT || !s->options.probable) {
            configure_move(s->evaluation, shown, move->square, move->turned, &after);
            move->value = cost_to_reach(s, own_after(opponent, move), opponent_after(own, move),
                                        &after, score, empties - 1, depth - 1, limit);
        }
        total = sum_costs(total, move->value);
        if (total >= limit) break;
    }
    return total;
}

/* The cost of `glance_reach` after `depth` plies, for comparison with `limit`. An estimate:
 *
 * result < limit:     the cost
 * result >= limit:    the cost is no less than the limit; by how much more is not told */
static int cost_to_reach(Search *s, u64 own, u64 opponent, const Configuration *shown, int score,
                         int empties, int depth, int limit) {
    u64 empty = s->board & ~(own | opponent);
    u64 squares = mobility(own, opponent, empty);
    Candidates moves;
    Configuration after;
    int cheapest = NEVER;
    int known = proved(s, own, opponent, score, empties);
    if (known) return known > 0 ? 0 : NEVER;
    if (!squares && mobility(opponent, own, empty)) {
        configure_pass(s->evaluation, shown, &after);
        return cost_to_hold(s, opponent, own, &after, score, empties, depth, limit);
    }
    if (!squares)
        return glance_reach(look_at(s, own, opponent, shown, NULL, empties), score, empties);
    s->nodes++;
    list_moves(own, opponent, squares, &moves);
    prefetch_glances(s, own, opponent, &moves);
    for (int i = 0; i < moves.count; i++) {
        Candidate *move = &moves.item[i];
        move->value = -glance_hold(look_at(s, own_after(opponent, move), opponent_after(own, move),
                                           shown, move, empties - 1), score, empties - 1);
        cheapest = lesser(cheapest, -move->value);
    }
    if (depth == 1 || (s->options.probable && cheapest >= limit + BIT / 2)) return cheapest;
    for (int i = 0; i < moves.count; i++) {
        take_best(&moves, i);
        const Candidate *move = &moves.item[i];
        if (-move->value > cheapest + BIT && s->options.probable) break;
        configure_move(s->evaluation, shown, move->square, move->turned, &after);
        limit = lesser(limit, cost_to_hold(s, own_after(opponent, move), opponent_after(own, move),
                                           &after, score, empties - 1, depth - 1, limit));
    }
    return limit;
}

/* -- the order of moves ------------------------------------------------------------ */

/* How far to look ahead: the more is at stake, the farther.
 *
 * Where probably no move reaches beta, all will be searched and their order hardly matters. */
static inline int plies_ahead(Search *s, u64 own, u64 opponent, const Configuration *shown,
                              int beta, int empties) {
    int above = empties - s->middle_empties;
    if (above < 3 || !s->options.lookahead) return 0;
    int plies = above < 5 ? 1 : above < 8 ? 2 : above < 14 ? 4 : 6;
    const Glance *glance = look_at(s, own, opponent, shown, NULL, empties);
    return glance->estimate < GRAINS * (beta - HOPELESS) ? greater(plies - 2, 0) : plies;
}

/* Give every move its expected cost, negated; those the table recommends keep theirs. */
static void value_by_cost(Search *s, u64 own, u64 opponent, const Configuration *shown,
                          Candidates *moves, int beta, int empties) {
    int plies = plies_ahead(s, own, opponent, shown, beta, empties);
    int cheapest = NEVER, least = NEVER;
    Configuration after;
    prefetch_glances(s, own, opponent, moves);
    for (int i = 0; i < moves->count; i++) {
        Candidate *move = &moves->item[i];
        if (move->value < SECOND_HINT) {
            move->value = -glance_hold(look_at(s, own_after(opponent, move),
                                               opponent_after(own, move), shown, move,
                                               empties - 1), beta, empties - 1);
            cheapest = lesser(cheapest, -move->value);
        }
    }
    if (plies == 0) return;
    for (int i = 0; i < moves->count; i++) {
        take_best(moves, i);
        Candidate *move = &moves->item[i];
        if (move->value >= SECOND_HINT) continue;
        if (-move->value > cheapest + 2 * BIT && s->options.probable) {
            move->value -= NEVER; /* behind all that were looked into */
            continue;
        }
        configure_move(s->evaluation, shown, move->square, move->turned, &after);
        /* Second and third choices matter too: their costs are told apart up to half a bit. */
        move->value = -cost_to_hold(s, own_after(opponent, move), opponent_after(own, move),
                                    &after, beta, empties - 1, plies, least + BIT / 2);
        least = lesser(least, -move->value);
    }
}

#endif
