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
    MARGIN_GRAINS = 16, /* margin of the evaluation per step of its price */
    SUM_STEPS = 2048,
    BIT = 256,
    NEVER = 1 << 24, /* the cost of what cannot be proved */
    HOPELESS = 8,    /* discs below beta: probably no move will reach it */
    PROVED_EMPTIES = 14, /* at least this many: what the table has proved costs nothing */
    FIRST_HINT = 1 << 28, /* values of the moves that the table recommends */
    SECOND_HINT = 1 << 27
};

/* By difference of two costs: by how much their sum exceeds the greater. */
static int SUM_COST[SUM_STEPS];

/* By margin of the evaluation over the score to reach: a proof is cheap when there is much
 * to spare, dear when it will probably fail. The errors of the evaluation are taken as
 * logistic. */
static void init_margins(Prices *prices, double doubt, double doubtful_discs, double a_disc) {
    for (int step = 0; step < MARGIN_STEPS; step++) {
        double discs = (step - MARGIN_STEPS / 2) * MARGIN_GRAINS / (double)GRAINS;
        prices->margin[step] =
            (int)(doubt * log2(1 + exp(-discs / doubtful_discs)) - a_disc * discs);
    }
}

/* The prices of the order were fitted to the costs of recorded searches, but for that of a disc of
 * margin, which was chosen by the nodes that the order of moves takes. Those of efforts were fitted
 * to the answers of a simulated fleet on 6x7; as an order they are worse. */
static void init_costs(void) {
    ORDER_PRICES = (Prices){.an_empty = 192,
                            .hold = -169, .hold_moves = 95, .hold_replyable = 23,
                            .reach = -56, .reach_moves = -9, .reach_replies = 54,
                            .reach_reachable = 18};
    init_margins(&ORDER_PRICES, 179, 6, 34);
    EFFORT_PRICES = (Prices){.an_empty = 118,
                             .hold = -125, .hold_moves = 100, .hold_replyable = 26,
                             .reach = -171, .reach_moves = -3, .reach_replies = 86,
                             .reach_reachable = 27};
    init_margins(&EFFORT_PRICES, 167, 5.3, 29.5);
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

static inline int margin_cost(const Prices *prices, int margin) {
    int step = margin / MARGIN_GRAINS + MARGIN_STEPS / 2;
    return prices->margin[greater(0, lesser(step, MARGIN_STEPS - 1))];
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
static inline int glance_hold(const Prices *prices, const Glance *glance, int score, int empties) {
    if (!glance->moves && !glance->replies)
        return -glance->estimate >= GRAINS * score ? 0 : NEVER;
    return prices->an_empty * empties + prices->hold +
           margin_cost(prices, -GRAINS * score - glance->estimate) +
           prices->hold_moves * glance->moves + prices->hold_replyable * glance->replyable;
}

/* The cost of proving that the side to move gets at least `score`, at a glance. */
static inline int glance_reach(const Prices *prices, const Glance *glance, int score,
                               int empties) {
    if (!glance->moves && !glance->replies)
        return glance->estimate >= GRAINS * score ? 0 : NEVER;
    return prices->an_empty * empties + prices->reach +
           margin_cost(prices, glance->estimate - GRAINS * score) +
           prices->reach_moves * glance->moves + prices->reach_replies * glance->replies +
           prices->reach_reachable * glance->reachable;
}

typedef struct { /* under which name the table keeps a position, if it is `asked` about it */
    u64 own, opponent, hash;
    bool asked;
} Name;

/* Ask for the bucket of a position. It comes from far away, and only one position in fifty turns
 * out to be proved, so the moves are listed and looked at before `proved` reads it. */
static inline Name prefetch_proved(const Search *s, u64 own, u64 opponent, int empties) {
    Name name = {own, opponent, 0, s->options.table && empties >= PROVED_EMPTIES};
    int symmetry;
    if (name.asked) {
        name.hash = table_name(s, &name.own, &name.opponent, empties, &symmetry);
        __builtin_prefetch(bucket_of(s->table, name.hash));
    }
    return name;
}

/* Whether the table knows that the side to move gets at least `score`: 1, gets less: -1, neither: 0.
 * Without this the look ahead would charge for what a transposition has paid. */
static inline int proved(const Search *s, const Name *name, int score) {
    Facts facts;
    if (!name->asked || !probe(s->table, name->own, name->opponent, name->hash, &facts)) return 0;
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
    if (!squares && mobility(opponent, own, empty)) {
        configure_pass(s->evaluation, shown, &after);
        return cost_to_reach(s, opponent, own, &after, score, empties, depth, limit);
    }
    if (!squares)
        return glance_hold(s->prices, look_at(s, own, opponent, shown, NULL, empties), score,
                           empties);
    Name name = prefetch_proved(s, own, opponent, empties);
    s->nodes++;
    list_moves(own, opponent, squares, &moves);
    prefetch_glances(s, own, opponent, &moves);
    for (int i = 0; i < moves.count; i++) {
        Candidate *move = &moves.item[i];
        move->value = glance_reach(s->prices, look_at(s, own_after(opponent, move),
                                                      opponent_after(own, move), shown, move,
                                                      empties - 1), score, empties - 1);
        dearest = greater(dearest, move->value);
        total = sum_costs(total, move->value);
    }
    int known = proved(s, &name, 1 - score);
    if (known) return known < 0 ? 0 : NEVER;
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
    if (!squares && mobility(opponent, own, empty)) {
        configure_pass(s->evaluation, shown, &after);
        return cost_to_hold(s, opponent, own, &after, score, empties, depth, limit);
    }
    if (!squares)
        return glance_reach(s->prices, look_at(s, own, opponent, shown, NULL, empties), score,
                            empties);
    Name name = prefetch_proved(s, own, opponent, empties);
    s->nodes++;
    list_moves(own, opponent, squares, &moves);
    prefetch_glances(s, own, opponent, &moves);
    for (int i = 0; i < moves.count; i++) {
        Candidate *move = &moves.item[i];
        move->value = -glance_hold(s->prices, look_at(s, own_after(opponent, move),
                                                      opponent_after(own, move), shown, move,
                                                      empties - 1), score, empties - 1);
        cheapest = lesser(cheapest, -move->value);
    }
    int known = proved(s, &name, score);
    if (known) return known > 0 ? 0 : NEVER;
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

/* -- efforts ----------------------------------------------------------------------- */

/* The nodes that an answer probably takes, in 1/256 bits, by its cost at EFFORT_PRICES. */
static inline int effort_of_cost(int cost) {
    return cost >= NEVER ? cost : greater(0, 712 + cost * 290 / BIT);
}

/* What proving a score of at least and of less than `score` probably takes, in 1/256 bits of nodes.
 * With an empty table, so that it is the same whatever was searched before. The answer that looks
 * cheaper two plies ahead is looked into farther than the other: it is probably the one found. */
static void expected_efforts(Search *s, u64 own, u64 opponent, int score, int *reach, int *hold) {
    Configuration shown;
    u64 empty = s->board & ~(own | opponent);
    int empties = popcount(empty);
    int plies = s->squares > 48 ? 4 : 5; /* a ply more takes two or three times as long */
    bool tabled = s->options.table;
    s->options.table = false;
    s->prices = &EFFORT_PRICES;
    configure(s->evaluation, own, opponent, s->board, &shown);
    *reach = cost_to_reach(s, own, opponent, &shown, score, empties, 2, NEVER);
    *hold = cost_to_hold(s, own, opponent, &shown, 1 - score, empties, 2, NEVER);
    if (mobility(own, opponent, empty) || mobility(opponent, own, empty)) {
        if (*reach < *hold)
            *reach = cost_to_reach(s, own, opponent, &shown, score, empties, plies, NEVER);
        else
            *hold = cost_to_hold(s, own, opponent, &shown, 1 - score, empties, plies, NEVER);
        *reach = effort_of_cost(*reach);
        *hold = effort_of_cost(*hold);
    }
    s->prices = &ORDER_PRICES;
    s->options.table = tabled;
}

/* -- the order of moves ------------------------------------------------------------ */

/* How far to look ahead: the more is at stake, the farther.
 *
 * Where probably no move reaches beta, all will be searched and their order hardly matters. */
static inline int plies_ahead(Search *s, u64 own, u64 opponent, const Configuration *shown,
                              int beta, int empties) {
    int above = empties - s->middle_empties;
    if (above < 3 || !s->options.lookahead || !s->options.evaluation) return 0;
    int plies = above < 5 ? 1 : above < 8 ? 2 : above < 14 ? 4 : 6;
    const Glance *glance = look_at(s, own, opponent, shown, NULL, empties);
    return glance->estimate < GRAINS * (beta - HOPELESS) ? greater(plies - 2, 0) : plies;
}

/* Give every move its cost at a glance, negated; those the table recommends keep theirs. */
static void value_at_a_glance(Search *s, u64 own, u64 opponent, const Configuration *shown,
                              Candidates *moves, int beta, int empties) {
    prefetch_glances(s, own, opponent, moves);
    for (int i = 0; i < moves->count; i++) {
        Candidate *move = &moves->item[i];
        if (move->value < SECOND_HINT)
            move->value = -glance_hold(s->prices, look_at(s, own_after(opponent, move),
                                                          opponent_after(own, move), shown, move,
                                                          empties - 1), beta, empties - 1);
    }
}

/* Give those moves that at a glance are among the cheapest the cost that looking ahead tells. */
static void look_into_moves(Search *s, u64 own, u64 opponent, const Configuration *shown,
                            Candidates *moves, int beta, int empties) {
    int plies = plies_ahead(s, own, opponent, shown, beta, empties);
    int cheapest = NEVER, least = NEVER;
    Configuration after;
    if (plies == 0) return;
    for (int i = 0; i < moves->count; i++)
        if (moves->item[i].value < SECOND_HINT)
            cheapest = lesser(cheapest, -moves->item[i].value);
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
