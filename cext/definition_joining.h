/* Searching Hex: both sides place stones on any empty cell of a rhombus of hexagons, and who joins
 * two opposite sides of it has won.
 *
 * The compiler has proved that a definition is of this kind (engine/definition_joining.py). Two
 * theorems are taken for granted of such a board: never do both sides have their sides joined, and
 * on a full board one has. So a chain is as good as a win: stones of which each touches the next, or
 * shares two empty cells with it, no two of these pairs having a cell in common, from one side of
 * the board to the other. Whenever a cell of a pair is filled, the other is answered with.
 *
 * The carrier of a win is a set of empty cells within which the winner can play all its stones.
 * Whatever lies on other cells does not matter for it, so that:
 *   1. If a move of the side to move loses, its other moves outside the carrier of that loss lose
 *      as well: the same answers win.
 *   2. If it loses with all moves, the union of the carriers of the losses that leave no move is the
 *      carrier of the other side's win: to any move one of these losses has the answers.
 *   3. The carrier of a winning move is the carrier of what follows, and the move.
 * The carrier of a chain are its pairs.
 */
#ifndef ZERMELO_DEFINITION_JOINING_H
#define ZERMELO_DEFINITION_JOINING_H

#include "definition_search.h"

enum { DEF_BRIDGES = 6, DEF_HEXAGONS = 64 };
/* What speaks for a move, as order: each chain of the other side that needs its cell, few stones
 * that either side still needs on a way through it, and cells that it touches or shares two
 * neighbours with. */
enum { DEF_CUTS = 1 << 20, DEF_NEAR = 1 << 22, DEF_CENTRAL = 1 << 18 };

/* The two lowest of several cells. */
static inline u64 def_two_of(u64 cells) {
    u64 others = cells & (cells - 1);
    return (cells & -cells) | (others & -others);
}

static inline int def_has_two(u64 cells) { return (cells & (cells - 1)) != 0; }

/* Whether a side has a chain; if so, the empty cells it needs. */
static DEF_APART int def_chain(const def_program *program, int side, u64 stones, u64 empty,
                               u64 *needed) {
    const u64 begin = program->joined[2 * side], end = program->joined[2 * side + 1];
    u64 needs[DEF_HEXAGONS], used = 0, reached = stones & begin, waiting = reached;
    for (u64 cells = reached; cells; cells &= cells - 1) needs[first_bit(cells)] = 0;
    for (u64 cells = stones & ~begin; cells; cells &= cells - 1) {
        const int at = first_bit(cells);
        u64 pair = (u64)program->beside[at] & begin & empty & ~used;
        if (!def_has_two(pair)) continue;
        needs[at] = def_two_of(pair);
        used |= needs[at];
        waiting |= cells & -cells;
    }
    reached = waiting;
    while (waiting) {
        const int at = first_bit(waiting);
        waiting &= waiting - 1;
        if (end >> at & 1) {
            *needed = needs[at];
            return 1;
        }
        u64 last = (u64)program->beside[at] & end & empty & ~used;
        if (def_has_two(last)) {
            *needed = needs[at] | def_two_of(last);
            return 1;
        }
        u64 touching = (u64)program->beside[at] & stones & ~reached;
        reached |= touching;
        waiting |= touching;
        for (; touching; touching &= touching - 1) needs[first_bit(touching)] = needs[at];
        const int32_t *bridge = program->bridges + DEF_BRIDGES * at;
        const u64 *pairs = program->pairs + DEF_BRIDGES * at;
        for (int i = 0; i < DEF_BRIDGES && bridge[i] >= 0; i++) {
            const u64 stone = (u64)1 << bridge[i];
            if (!(stone & stones & ~reached) || pairs[i] & ~(empty & ~used)) continue;
            used |= pairs[i];
            needs[bridge[i]] = needs[at] | pairs[i];
            reached |= stone;
            waiting |= stone;
        }
    }
    return 0;
}

/* For each empty cell those that it touches, directly or through stones of a side. */
static DEF_APART void def_ways(const def_program *program, u64 stones, u64 empty, const u64 *edges,
                               u64 *ways, u64 *at_edge) {
    at_edge[0] = empty & edges[0];
    at_edge[1] = empty & edges[1];
    for (u64 cells = empty; cells; cells &= cells - 1)
        ways[first_bit(cells)] = (u64)program->beside[first_bit(cells)] & empty;
    while (stones) {
        u64 group = stones & -stones, beside, grown;
        for (;;) {
            beside = (u64)def_beside(program, (def_mask)group);
            grown = group | (beside & stones);
            if (grown == group) break;
            group = grown;
        }
        stones &= ~group;
        beside &= empty;
        for (int i = 0; i < 2; i++)
            if (group & edges[i]) at_edge[i] |= beside;
        for (u64 cells = beside; cells; cells &= cells - 1)
            ways[first_bit(cells)] |= beside & ~(cells & -cells);
    }
}

/* Add to each empty cell how many stones a side needs at least to join it with both edges, if the
 * other side always fills the best cell first: one more than from the second best of its
 * neighbours. */
static DEF_APART void def_add_distances(const def_program *program, u64 stones, u64 empty,
                                        const u64 *edges, int *distances) {
    u64 ways[DEF_HEXAGONS], at_edge[2];
    def_ways(program, stones, empty, edges, ways, at_edge);
    for (int i = 0; i < 2; i++) {
        u64 reached = 0, next = at_edge[i];
        int distance = 1;
        for (; next; distance++) {
            reached |= next;
            for (u64 cells = next; cells; cells &= cells - 1)
                distances[first_bit(cells)] += distance;
            next = 0;
            for (u64 cells = empty & ~reached; cells; cells &= cells - 1)
                if (def_has_two(ways[first_bit(cells)] & reached)) next |= cells & -cells;
        }
        for (u64 cells = empty & ~reached; cells; cells &= cells - 1)
            distances[first_bit(cells)] += distance + 1;
    }
}

/* The cells whose images are in this set. */
static inline u64 def_preimage(const def_program *program, int symmetry, u64 image, u64 cells) {
    u64 found = 0;
    for (; cells; cells &= cells - 1) {
        const int at = program->cell_image[symmetry * program->cells + first_bit(cells)];
        if (image >> at & 1) found |= cells & -cells;
    }
    return found;
}

/* Fail-soft, as def_negamax says, for a position in which the other side has no chain. `carrier`:
 * of the win of whoever wins. */
static int def_connect(def_search *search, const def_state *state, int alpha, int beta, int ply,
                       int used, u64 *carrier) {
    *carrier = (u64)state->plane[0];
    if (def_visit(search, ply, used)) return 0;
    const def_program *program = search->program;
    def_team *team = search->team;
    const int side = state->turn;
    const u64 own = (u64)state->plane[1 + side], other = (u64)state->plane[2 - side];
    const u64 empty = (u64)state->plane[0];
    const u64 before = search->nodes;
    int symmetry = 0, hint = DEF_NO_MOVE;
    const u128 key = def_name_by(program, state, &symmetry);
    def_facts facts;
    if (def_probe(&team->table, key, &facts)) {
        if (facts.carrier) *carrier = def_preimage(program, symmetry, facts.carrier, empty);
        if (facts.lo >= beta || facts.lo == facts.hi) return facts.lo;
        if (facts.hi <= alpha) return facts.hi;
        hint = facts.move;
    }
    /* Where the other side would have a chain after one more stone, one of the cells it needs must
     * be filled now. */
    int cuts[DEF_HEXAGONS] = {0};
    u64 tried = empty, losses = 0, needed;
    for (u64 cells = empty; cells && tried; cells &= cells - 1) {
        const u64 stone = cells & -cells;
        if (!def_chain(program, !side, other | stone, empty & ~stone, &needed)) continue;
        needed |= stone;
        if (tried & ~needed) losses |= needed;
        tried &= needed;
        for (; needed; needed &= needed - 1) cuts[first_bit(needed)]++;
    }
    int best = -1, best_cell = DEF_NO_MOVE;
    for (u64 cells = tried; cells && best < 0; cells &= cells - 1) {
        const u64 stone = cells & -cells;
        if (!def_chain(program, side, own | stone, empty & ~stone, &needed)) continue;
        best = 1;
        best_cell = first_bit(cells);
        *carrier = needed | stone;
    }
    const int32_t *history = search->history + side * search->history_moves;
    int distances[DEF_HEXAGONS] = {0};
    if (tried && best < beta)
        for (int i = 0; i < 2; i++)
            def_add_distances(program, i == side ? own : other, empty, program->joined + 2 * i,
                              distances);
    while (tried && best < beta) {
        int64_t order = INT64_MIN;
        int cell = 0;
        for (u64 cells = tried; cells; cells &= cells - 1) {
            const int at = first_bit(cells);
            int64_t found = history[at] + (int64_t)DEF_CUTS * cuts[at]
                            - (int64_t)DEF_NEAR * distances[at]
                            + (int64_t)DEF_CENTRAL * program->central[at];
            if (at == hint) found += (int64_t)1 << DEF_HINT_BIT;
            if (search->thread) found += (int64_t)(def_hash(key + (u128)(search->thread + at)) >> 46);
            if (found > order) {
                order = found;
                cell = at;
            }
        }
        const u64 stone = (u64)1 << cell;
        tried &= ~stone;
        def_state after;
        after.plane[0] = (def_mask)(empty & ~stone);
        after.plane[1 + side] = (def_mask)(own | stone);
        after.plane[2 - side] = (def_mask)other;
        after.pending = 0;
        after.turn = !side;
        after.passing = 0;
        u64 carried;
        int value = -def_connect(search, &after, -beta, -alpha, ply + 1, used, &carried);
        if (team->stop) return 0;
        if (ply == 0 && !search->thread) team->root_done++;
        if (value > best) {
            best = value;
            best_cell = cell;
            def_reward(search, side, cell, search->nodes - before);
        }
        if (value >= beta) *carrier = carried | stone;
        else {
            tried &= carried;
            losses |= carried;
        }
    }
    if (best < beta) *carrier = losses;
    const int lo = best > alpha ? best : -1, hi = best < beta ? best : 1;
    const int proved = lo == hi;
    def_record(&team->table, key, lo, hi, best_cell, search->nodes - before,
               proved ? (u64)def_image(program, symmetry, (def_mask)*carrier) : 0,
               proved ? DEF_CARRIED : 0);
    return best;
}

/* Fail-soft, as def_negamax says, for a position that is not decided. */
static int def_search_joining(def_search *search, const def_state *state, int alpha, int beta,
                              int ply, int used) {
    u64 needed;
    if (def_chain(search->program, !state->turn, (u64)state->plane[2 - state->turn],
                  (u64)state->plane[0], &needed)) {
        def_visit(search, ply, used);
        return -1;
    }
    return def_connect(search, state, alpha, beta, ply, used, &needed);
}

#endif
