/* Searching games of lines in which every cell can be played from the start, or from when one
 * certain cell is filled, by both sides alike, until it is filled itself.
 *
 * The compiler has proved that (engine/definition_program.py, `_steady`), beside what
 * definition_lines.h says. So a position is two sets of stones, whose images under all symmetries
 * grow by a bit with every move; a side that has one cell to complete a line on must be answered
 * there, and one that has two has won. Keys are those of def_table_key.
 */
#ifndef ZERMELO_DEFINITION_LINE_SEARCH_H
#define ZERMELO_DEFINITION_LINE_SEARCH_H

#include "definition_search.h"

/* Below so many empty cells a position is searched quicker than looked up, and below so many the
 * positions after its moves are, which would be looked up for a cut-off. */
enum { DEF_LEAST_STORED = 8, DEF_LEAST_ENHANCED = 12 };
/* What a line through the cell of a move is worth, as order (see definition_search.h). */
enum { DEF_THROUGH = 1 << 17 };

typedef struct {
    def_mask stones[2][DEF_SYMMETRIES]; /* of each side, under each symmetry; the first is plain */
    def_mask open;    /* the cells that can be played */
    /* The empty cells on which the side that has just moved completes a line, and the other. */
    def_mask threats, own_threats;
    int turn;
} def_stones;

typedef struct {
    u128 key;
    u64 hash;
    int64_t order;
    def_mask threats;
    int32_t cell;
    int8_t lo, hi;
} def_reply;

/* The key of the position after the side to move has placed a stone. */
static inline u128 def_key_after(const def_program *program, const def_stones *at, int cell) {
    u128 least = ~(u128)0;
    const int side = at->turn;
    const int32_t *images = program->cell_image + cell;
    for (int i = 0; i < program->symmetries; i++, images += program->cells) {
        if (program->exchanges && program->exchange[i] == side) continue;
        def_mask grown = at->stones[side][i] | (def_mask)1 << *images, others = at->stones[!side][i];
        u128 key = side == program->swaps[i] ? def_join_planes(grown, others)
                                             : def_join_planes(others, grown);
        if (!program->exchanges) key |= (u128)!side << (64 + program->cells);
        if (key < least) least = key;
    }
    return least;
}

/* Whether a side can still get a line. */
static inline int def_has_open_line(const def_program *program, int side, def_mask cells) {
    const int32_t *table = program->code + program->lines[side], *shape = table + 1;
    def_mask any = 0;
    for (int i = 0; i < table[0]; i++, shape += 3 + shape[1]) {
        def_mask left = program->masks[shape[0]] & cells;
        for (int j = 0; j < shape[1]; j++) left &= cells >> shape[3 + j];
        any |= left;
    }
    return any != 0;
}

static void def_place(const def_program *program, const def_stones *at, int cell,
                      def_mask threats, def_stones *after) {
    const int side = at->turn;
    for (int i = 0; i < program->symmetries; i++) {
        after->stones[side][i] = at->stones[side][i]
                                 | (def_mask)1 << program->cell_image[i * program->cells + cell];
        after->stones[!side][i] = at->stones[!side][i];
    }
    after->open = (at->open & ~((def_mask)1 << cell)) | program->opened[cell];
    after->threats = threats;
    after->own_threats = at->threats & ~((def_mask)1 << cell);
    after->turn = !side;
}

/* Fail-soft, as def_negamax says, for a position in which nobody has a line and the side to move
 * completes none at once. `key`: its name in the table. */
static int def_lines_go_on(def_search *search, const def_stones *at, u128 key, int alpha, int beta,
                           int ply, int used, int scout) {
    if (def_visit(search, ply, used)) return 0;
    const def_program *program = search->program;
    def_team *team = search->team;
    const int side = at->turn;
    const def_mask stones[2] = {at->stones[0][0], at->stones[1][0]};
    const def_mask empty = program->masks[program->all_cells] & ~(stones[0] | stones[1]);
    def_mask open = at->open, forced = open & at->threats;
    if (!open) return 0;
    if (forced) {
        if (forced & (forced - 1)) return -1;
        open = forced;
    }
    /* Who has no line left to complete does not win. */
    if (alpha >= 0 && !def_has_open_line(program, side, stones[side] | empty)) return 0;
    if (beta <= 0 && !def_has_open_line(program, !side, stones[!side] | empty)) return 0;
    const int left = def_bits(empty), stored = left >= DEF_LEAST_STORED;
    u64 before = search->nodes;
    int hint = DEF_NO_MOVE;
    def_facts facts;
    if (stored && def_probe(&team->table, key, &facts)) {
        if (facts.lo >= beta || facts.lo == facts.hi) return facts.lo;
        if (facts.hi <= alpha) return facts.hi;
        hint = facts.move;
    }
    def_reply replies[sizeof(def_mask) * 8];
    const int32_t *history = search->history + side * search->history_moves;
    int found = 0;
    for (; open; open &= open - 1) {
        def_reply *reply = replies + found;
        const int cell = def_first(open);
        const def_mask bit = (def_mask)1 << cell, opened = program->opened[cell];
        /* A move that opens a cell on which the other side completes a line loses. */
        if (at->threats & opened) continue;
        reply->threats = def_completing_of(program, side, stones[side] | bit, empty & ~bit);
        def_mask now = reply->threats & (at->open | opened);
        /* Two at once; the other side has none that it could complete instead. */
        if (now & (now - 1)) return 1;
        reply->cell = cell;
        reply->key = 0;
        reply->hash = 0;
        reply->lo = -1;
        reply->hi = 1;
        /* A move that lets the other side fill a cell on which this one completes a line wastes
         * a threat. */
        reply->order = history[cell] + (int64_t)DEF_THROUGH * program->lines_through[side][cell]
                       + (int64_t)DEF_THREAT * (def_bits(reply->threats)
                                                - ((at->own_threats & opened) != 0));
        if (stored) {
            reply->key = def_key_after(program, at, cell);
            reply->hash = def_hash(reply->key);
            __builtin_prefetch(def_bucket(&team->table, reply->hash));
        }
        found++;
    }
    if (!found) return -1;
    if (left >= DEF_LEAST_ENHANCED)
        for (int i = 0; i < found; i++) {
            def_reply *reply = replies + i;
            if (def_probe_hashed(&team->table, reply->key, reply->hash, &facts)) {
                reply->lo = (int8_t)facts.lo;
                reply->hi = (int8_t)facts.hi;
                if (-facts.hi >= beta) {
                    def_store(&team->table, key, -facts.hi, search->limit, def_tag_of(reply->hash), 1);
                    return -facts.hi;
                }
            }
            if (def_tag_of(reply->hash) == hint) reply->order += (int64_t)1 << DEF_HINT_BIT;
            reply->order -= (reply->lo + reply->hi) * DEF_KNOWN;
            if (search->thread)
                reply->order += (int64_t)(def_hash(reply->key + (u128)search->thread) >> 40);
        }
    int best = -search->limit - 1, low = alpha, tag = DEF_NO_MOVE;
    def_stones after;
    for (int i = 0; i < found; i++) {
        int first = i;
        for (int j = i + 1; j < found; j++)
            if (replies[j].order > replies[first].order) first = j;
        def_reply reply = replies[first];
        replies[first] = replies[i];
        int value = -reply.lo;
        if (value > low) {
            def_place(program, at, reply.cell, reply.threats, &after);
            if (scout && i && beta - low > 1) {
                value = -def_lines_go_on(search, &after, reply.key, -low - 1, -low, ply + 1, used,
                                         1);
                if (value > low && value < beta && !team->stop)
                    value = -def_lines_go_on(search, &after, reply.key, -beta, -value, ply + 1,
                                             used, 1);
            } else
                value = -def_lines_go_on(search, &after, reply.key, -beta, -low, ply + 1, used,
                                         scout);
        }
        if (team->stop) return 0;
        if (ply == 0 && !search->thread) team->root_done++;
        if (value > best) {
            best = value;
            if (value > low) {
                low = value;
                if (stored) tag = def_tag_of(reply.hash);
            }
            if (low >= beta) {
                def_reward(search, side, reply.cell, search->nodes - before);
                break;
            }
        }
    }
    if (stored)
        def_store(&team->table, key, best > alpha ? best : -search->limit,
                  best < beta ? best : search->limit, tag, search->nodes - before);
    return best;
}

/* Fail-soft, as def_negamax says, for a position that is not decided. */
static int def_search_lines(def_search *search, const def_state *state, int alpha, int beta,
                            int ply, int used, int scout) {
    const def_program *program = search->program;
    def_stones at;
    at.turn = state->turn;
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < program->symmetries; i++)
            at.stones[side][i] = def_image(program, i, state->plane[1 + side]);
    at.open = def_playable(program, state);
    at.threats = def_completing(program, state, !state->turn);
    at.own_threats = def_completing(program, state, state->turn);
    return def_lines_go_on(search, &at, def_table_key(program, state), alpha, beta, ply, used,
                           scout);
}

#endif
