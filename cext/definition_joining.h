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
 * The carrier of a chain are its pairs. Connections of other kinds, with theirs, are found as
 * definition_connections.h says: a full one of the other side's edges is its win, a half one of the
 * edges of the side to move is a win of that, and to half ones of the other side's edges all moves
 * outside their carriers lose.
 */
#ifndef ZERMELO_DEFINITION_JOINING_H
#define ZERMELO_DEFINITION_JOINING_H

#include "definition_connections.h"
#include "definition_search.h"

enum { DEF_BRIDGES = 6, DEF_HEXAGONS = 64 };
/* Connections are looked for where so many cells are empty; with fewer, searching is faster. */
enum { DEF_CONNECT_FROM = 12 };
/* What speaks for a move, as order: few replies that do not lose at once, each connection of the
 * other side that needs its cell, few stones that either side still needs on a way through it, and
 * cells that it touches or shares two neighbours with. */
enum { DEF_REPLIES = 1 << 25, DEF_CUTS = 1 << 20, DEF_NEAR = 1 << 22, DEF_CENTRAL = 1 << 18 };

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
        def_mask touched_cells;
        const u64 group = (u64)def_grown(program, (def_mask)(stones & -stones), (def_mask)stones,
                                         &touched_cells);
        const u64 beside = (u64)touched_cells & empty;
        stones &= ~group;
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

/* The position after a stone. */
static inline void def_after_stone(const def_state *state, int cell, def_state *after) {
    const int side = state->turn;
    const u64 stone = (u64)1 << cell;
    after->plane[0] = (def_mask)((u64)state->plane[0] & ~stone);
    after->plane[1 + side] = (def_mask)((u64)state->plane[1 + side] | stone);
    after->plane[2 - side] = state->plane[2 - side];
    after->pending = 0;
    after->turn = !side;
    after->passing = 0;
}

/* How the edges of a side are connected; NULL: not known. */
static inline const def_pair *def_edges_of(const def_search *search, const def_state *state,
                                           int side) {
    return def_connect_edges(search->connections, search->program, side,
                             (u64)state->plane[1 + side], (u64)state->plane[0], 0);
}

/* The moves that do not lose at once, and what the others lose to. */
typedef struct {
    u64 cells;
    u64 losses;              /* the carriers of what rules all others out */
    int cuts[DEF_HEXAGONS]; /* for each cell, how many wins of the other side need it */
} def_must_play;

/* The other side wins with this carrier unless it is played in. */
static inline void def_must_meet(def_must_play *must, u64 carrier) {
    if (must->cells & ~carrier) must->losses |= carrier;
    must->cells &= carrier;
    for (; carrier; carrier &= carrier - 1) must->cuts[first_bit(carrier)]++;
}

/* Where the other side would have a chain after one more stone, one of the cells it needs must be
 * filled now. */
static DEF_APART void def_meet_chains(const def_program *program, const def_state *state,
                                      def_must_play *must) {
    const u64 empty = (u64)state->plane[0], other = (u64)state->plane[2 - state->turn];
    u64 needed;
    for (u64 cells = empty; cells && must->cells; cells &= cells - 1) {
        const u64 stone = cells & -cells;
        if (def_chain(program, !state->turn, other | stone, empty & ~stone, &needed))
            def_must_meet(must, needed | stone);
    }
}

/* And where its edges would be connected; `threats`: how they are. */
static inline void def_meet_threats(const def_pair *threats, def_must_play *must) {
    if (threats->full_count) {
        must->losses = threats->fulls[0];
        must->cells = 0;
    }
    for (int i = 0; i < threats->half_count && must->cells; i++)
        def_must_meet(must, threats->halves[i]);
}

/* A stone of the side to move that makes a chain, or connects its edges, with its carrier;
 * DEF_NO_MOVE: none was found. */
static DEF_APART int def_winning_stone(const def_search *search, const def_state *state, u64 tried,
                                       u64 *carrier) {
    const def_program *program = search->program;
    const u64 empty = (u64)state->plane[0], own = (u64)state->plane[1 + state->turn];
    u64 needed;
    for (u64 cells = tried; cells; cells &= cells - 1) {
        const u64 stone = cells & -cells;
        if (!def_chain(program, state->turn, own | stone, empty & ~stone, &needed)) continue;
        *carrier = needed | stone;
        return first_bit(cells);
    }
    if (popcount(empty) < DEF_CONNECT_FROM) return DEF_NO_MOVE;
    const def_pair *edges
        = def_connect_edges(search->connections, program, state->turn, own, empty, 1);
    if (edges && edges->full_count) {
        *carrier = edges->fulls[0];
        return first_bit(*carrier);
    }
    if (!edges || !edges->half_count) return DEF_NO_MOVE;
    *carrier = edges->halves[0];
    return edges->keys[0];
}

/* A move with what is known about the position after it. */
typedef struct {
    int64_t order; /* the larger, the earlier */
    def_pair edges; /* how the mover's edges are connected then */
} def_joining_move;

/* What speaks for each of the moves, by their cells. */
static DEF_APART void def_look_ahead(def_search *search, const def_state *state,
                                     const def_must_play *must, u128 key, int hint,
                                     def_joining_move *moves) {
    const def_program *program = search->program;
    const int side = state->turn;
    const u64 empty = (u64)state->plane[0], own = (u64)state->plane[1 + side];
    const int32_t *history = search->history + side * search->history_moves;
    int distances[DEF_HEXAGONS] = {0};
    for (int i = 0; i < 2; i++)
        def_add_distances(program, (u64)state->plane[1 + i], empty, program->joined + 2 * i,
                          distances);
    for (u64 cells = must->cells; cells; cells &= cells - 1) {
        const int at = first_bit(cells);
        const u64 stone = cells & -cells;
        def_joining_move *move = moves + at;
        move->order = history[at] + (int64_t)DEF_CUTS * must->cuts[at]
                      - (int64_t)DEF_NEAR * distances[at]
                      + (int64_t)DEF_CENTRAL * program->central[at];
        if (at == hint) move->order += (int64_t)1 << DEF_HINT_BIT;
        if (search->thread)
            move->order += (int64_t)(def_hash(key + (u128)(search->thread + at)) >> 46);
        move->edges.full_count = move->edges.half_count = 0;
        if (popcount(empty) <= DEF_CONNECT_FROM) continue;
        const def_pair *edges = def_connect_edges(search->connections, program, side, own | stone,
                                                  empty & ~stone, 0);
        if (!edges) continue;
        move->edges = *edges;
        def_must_play replies = {empty & ~stone, 0, {0}};
        def_meet_threats(edges, &replies);
        move->order -= (int64_t)DEF_REPLIES * popcount(replies.cells);
    }
}

/* Tell the table that a stone wins with this carrier, so that who looks for the move finds it. */
static DEF_APART void def_record_loss(def_search *search, const def_state *state, int cell,
                                      u64 carrier) {
    const u64 left = carrier & ~((u64)1 << cell);
    if (!left) return; /* the game is over then */
    def_state after;
    int symmetry = 0;
    def_after_stone(state, cell, &after);
    const u128 key = def_name_by(search->program, &after, &symmetry);
    def_record(&search->team->table, key, -1, -1, DEF_NO_MOVE, 1,
               (u64)def_image(search->program, symmetry, (def_mask)left), DEF_CARRIED);
}

/* Whether the side to move wins: 1, else -1, with the carrier of the win. In a position in which
 * the other side has no chain. `threats`: how the edges of the other side are connected; NULL: not
 * known. */
static int def_connect(def_search *search, const def_state *state, const def_pair *threats, int ply,
                       int used, u64 *carrier) {
    const def_program *program = search->program;
    def_team *team = search->team;
    const u64 empty = (u64)state->plane[0];
    *carrier = empty;
    if (def_visit(search, ply, used)) return 0;
    const u64 before = search->nodes;
    int symmetry = 0, hint = DEF_NO_MOVE;
    const u128 key = def_name_by(program, state, &symmetry);
    def_facts facts;
    if (def_probe(&team->table, key, &facts)) {
        if (facts.carrier) *carrier = def_preimage(program, symmetry, facts.carrier, empty);
        if (facts.lo == facts.hi) return facts.lo;
        hint = facts.move;
    }
    def_must_play must = {empty, 0, {0}};
    def_meet_chains(program, state, &must);
    int best_cell = def_winning_stone(search, state, must.cells, carrier);
    int best = best_cell == DEF_NO_MOVE ? -1 : 1;
    if (best > 0) def_record_loss(search, state, best_cell, *carrier);
    if (best < 0 && popcount(empty) >= DEF_CONNECT_FROM) {
        if (!threats) threats = def_edges_of(search, state, !state->turn);
        if (threats) def_meet_threats(threats, &must);
    }
    def_joining_move moves[DEF_HEXAGONS];
    if (best < 0) def_look_ahead(search, state, &must, key, hint, moves);
    while (must.cells && best < 0) {
        int cell = first_bit(must.cells);
        for (u64 cells = must.cells; cells; cells &= cells - 1)
            if (moves[first_bit(cells)].order > moves[cell].order) cell = first_bit(cells);
        const u64 stone = (u64)1 << cell;
        must.cells &= ~stone;
        def_state after;
        u64 carried;
        def_after_stone(state, cell, &after);
        best = -def_connect(search, &after, &moves[cell].edges, ply + 1, used, &carried);
        if (team->stop) return 0;
        if (ply == 0 && !search->thread) team->root_done++;
        if (best > 0) {
            best_cell = cell;
            *carrier = carried | stone;
            def_reward(search, state->turn, cell, search->nodes - before);
        } else {
            must.cells &= carried;
            must.losses |= carried;
        }
    }
    if (best < 0) *carrier = must.losses;
    def_record(&team->table, key, best, best, best_cell, search->nodes - before,
               (u64)def_image(program, symmetry, (def_mask)*carrier), DEF_CARRIED);
    return best;
}

/* The score of a position that is not decided. */
static int def_search_joining(def_search *search, const def_state *state, int ply, int used) {
    u64 needed;
    if (def_chain(search->program, !state->turn, (u64)state->plane[2 - state->turn],
                  (u64)state->plane[0], &needed)) {
        def_visit(search, ply, used);
        return -1;
    }
    return def_connect(search, state, NULL, ply, used, &needed);
}

#endif
