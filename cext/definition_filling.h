/* Searching games of filling: cells are filled one by one, and who fills the last cell of a line
 * gains the line and goes on.
 *
 * The compiler has proved that a definition is of this kind, and that no cell is in more than two
 * lines (engine/definition_filling.py). What was gained so far does not matter for what can still
 * be gained, so that a position is the set of filled cells, and its score what the side to move
 * will gain more than the other. Cells that are in the same lines can be exchanged for each other.
 *
 * Which moves need not be tried. Let e be a cell that gains, and say that Y is its partner if e
 * and Y alone are missing from a line. V is the score of the side to move, G - X the position after
 * X is filled.
 *   1. A move X that does not gain, and is no partner of e, is no better than e: whoever plays X
 *      leaves e to the other side, and could have taken e and played X then.
 *   2. If e has no partner, nothing is better than e. A gaining move X can wait, unless X, e and a
 *      third cell alone are missing from a line; then e and X may change places, since neither is
 *      in a line besides that one and the one it completes.
 *   3. If Y is also one of the two cells Y and Z that are missing from another line, and Z does not
 *      gain, then again nothing is better than e. After Y the other side takes e, which completes
 *      two lines, and Z: V(G - Y) >= 3 + V(G - e - Y - Z). After e one may play Z, and the other
 *      side takes Y for two lines: V(G) >= 1 - 2 - V(G - e - Y - Z), which is more than -V(G - Y).
 *      A gaining move can wait as in 2; if it makes Z gain, both are ends of one chain, which may
 *      change places.
 * So in 2 and 3 e alone is tried; else all moves that gain, and the partner of one e.
 */
#ifndef ZERMELO_DEFINITION_FILLING_H
#define ZERMELO_DEFINITION_FILLING_H

#include "definition_search.h"

enum { DEF_MOST_FILLED = 64 };
/* What speaks for a move: it leaves the other side nothing to gain; each line through it, and again
 * if the line has nothing filled. Against it: each line that the other side can take after it. */
enum { DEF_SAFE = 1 << 26, DEF_UNTOUCHED = 1 << 20, DEF_GIVEN = 1 << 20 };

typedef struct {
    u64 missing_one;  /* cells that complete a line */
    u64 missing_two;  /* cells of lines that lack two */
} def_lacking;

static inline def_lacking def_lacks(const def_program *program, u64 empty) {
    def_lacking found = {0, 0};
    for (int i = 0; i < program->fill_line_count; i++) {
        u64 left = program->fill_lines[i] & empty, second = left & (left - 1);
        if (!left) continue;
        if (!second) found.missing_one |= left;
        else if (!(second & (second - 1))) found.missing_two |= left;
    }
    return found;
}

/* The lines that filling a cell completes. */
static inline int def_gain(const def_program *program, u64 empty, int cell) {
    const int32_t *lines = program->lines_of + 2 * cell;
    int gain = 0;
    for (int i = 0; i < 2 && lines[i] >= 0; i++)
        gain += (program->fill_lines[lines[i]] & empty) == (u64)1 << cell;
    return gain;
}

/* The cell that is missing from a line beside this one alone; 0: none. */
static inline u64 def_partner(const def_program *program, u64 empty, int cell) {
    const int32_t *lines = program->lines_of + 2 * cell;
    for (int i = 0; i < 2 && lines[i] >= 0; i++) {
        u64 others = program->fill_lines[lines[i]] & empty & ~((u64)1 << cell);
        if (others && !(others & (others - 1))) return others;
    }
    return 0;
}

/* A gaining cell than which nothing is better (2 and 3 above); 0: none. */
static inline u64 def_surely(const def_program *program, u64 empty, def_lacking lacking) {
    u64 alone = lacking.missing_one & ~lacking.missing_two;
    if (alone) return alone & -alone;
    for (u64 cells = lacking.missing_one; cells; cells &= cells - 1) {
        u64 taken = cells & -cells, partner = def_partner(program, empty, first_bit(cells));
        u64 behind = def_partner(program, empty & ~taken, first_bit(partner));
        if (behind && !(behind & lacking.missing_one)) return taken;
    }
    return 0;
}

/* The name in the table: the least of all images, with the first of twins filled first. No other
 * kind of key has anything in its lower half, where definitions have one kind of pieces. */
static inline u128 def_filling_key(const def_program *program, u64 filled) {
    u64 least = ~(u64)0;
    for (const int32_t *map = program->maps; *map >= 0; map++) {
        u64 image = (u64)def_image(program, *map, (def_mask)filled);
        const int32_t *twins = program->twins;
        for (int i = 0; i < program->twin_count; i++, twins += 2) {
            u64 out_of_order = image >> twins[1] & ~(image >> twins[0]) & 1;
            image ^= out_of_order << twins[0] | out_of_order << twins[1];
        }
        if (image < least) least = image;
    }
    return least + 1;
}

/* About how many lines the other side can take one after the other once a cell is filled. */
static DEF_APART int def_given(const def_program *program, u64 empty, int cell) {
    int given = 0;
    empty &= ~((u64)1 << cell);
    for (;;) {
        def_lacking lacking = def_lacks(program, empty);
        if (!lacking.missing_one) return given;
        for (u64 cells = lacking.missing_one; cells; cells &= cells - 1)
            given += def_gain(program, empty, first_bit(cells));
        empty &= ~lacking.missing_one;
    }
}

static inline int def_untouched(const def_program *program, u64 filled, int cell) {
    const int32_t *lines = program->lines_of + 2 * cell;
    int found = 0;
    for (int i = 0; i < 2 && lines[i] >= 0; i++)
        found += program->fill_lines[lines[i]] & filled ? 1 : 2;
    return found;
}

/* How much more than the other the side to move gains from here on. Fail-soft, as
 * def_negamax says. `left`:
 * lines that are not complete; all of them will be, so that the score is odd if they are. */
static int def_fill(def_search *search, u64 filled, int left, int turn, int alpha, int beta,
                    int ply, int used) {
    if (def_visit(search, ply, used)) return 0;
    const def_program *program = search->program;
    def_team *team = search->team;
    u64 empty = program->masks[program->all_cells] & ~filled;
    def_lacking lacking;
    int gained = 0;
    for (;;) {
        if (left <= alpha) return gained + left;
        if (-left >= beta) return gained - left;
        if (!left) return gained;
        lacking = def_lacks(program, empty);
        u64 taken = lacking.missing_one ? def_surely(program, empty, lacking) : 0;
        if (!taken) break;
        int gain = def_gain(program, empty, first_bit(taken));
        gained += gain;
        left -= gain;
        alpha -= gain;
        beta -= gain;
        empty &= ~taken;
        filled |= taken;
    }
    const u128 key = def_filling_key(program, filled);
    const u64 before = search->nodes;
    int lo = -left, hi = left, hint = DEF_NO_MOVE;
    def_facts facts;
    if (def_probe(&team->table, key, &facts)) {
        if (facts.lo >= beta || facts.lo == facts.hi) return gained + facts.lo;
        if (facts.hi <= alpha) return gained + facts.hi;
        if (facts.lo > lo) lo = facts.lo;
        if (facts.hi < hi) hi = facts.hi;
        hint = facts.move;
    }
    u64 tried = empty;
    if (lacking.missing_one)
        tried = lacking.missing_one | def_partner(program, empty, first_bit(lacking.missing_one));
    struct { int64_t order; int32_t cell; } moves[DEF_MOST_FILLED];
    const int32_t *history = search->history + turn * search->history_moves;
    int found = 0;
    for (; tried; tried &= tried - 1) {
        const int cell = first_bit(tried);
        if (program->elders[cell] & empty) continue;
        const u64 bit = (u64)1 << cell;
        int64_t order = history[cell]
                        + (int64_t)DEF_UNTOUCHED * def_untouched(program, filled, cell);
        if (bit & lacking.missing_one) order += 2 * (int64_t)DEF_SAFE;
        else if (!(bit & lacking.missing_two)) order += (int64_t)DEF_SAFE;
        else order -= (int64_t)DEF_GIVEN * def_given(program, empty, cell);
        if (cell == hint) order += (int64_t)1 << DEF_HINT_BIT;
        /* Threads that went the same way would find the same. */
        if (search->thread)
            order += (int64_t)(def_hash((u128)filled << 64 | (bit + search->thread)) >> 44);
        moves[found].cell = cell;
        moves[found].order = order;
        found++;
    }
    int best = -search->limit - 1, best_cell = DEF_NO_MOVE, low = alpha;
    for (int i = 0; i < found; i++) {
        int first = i;
        for (int j = i + 1; j < found; j++)
            if (moves[j].order > moves[first].order) first = j;
        const int cell = moves[first].cell;
        moves[first] = moves[i];
        const int gain = def_gain(program, empty, cell);
        const u64 after = filled | (u64)1 << cell;
        int value = gain
            ? gain + def_fill(search, after, left - gain, turn, low - gain, beta - gain, ply + 1,
                              used)
            : -def_fill(search, after, left, !turn, -beta, -low, ply + 1, used);
        if (team->stop) return 0;
        if (ply == 0 && !search->thread) team->root_done++;
        if (value > best) {
            best = value;
            if (value > low) {
                best_cell = cell;
                low = value;
            }
            if (low >= beta) {
                def_reward(search, turn, cell, search->nodes - before);
                break;
            }
        }
    }
    /* The score is odd exactly if `left` is. */
    if (best > alpha) lo = (best - left) & 1 ? best + 1 : best;
    if (best < beta) hi = (best - left) & 1 ? best - 1 : best;
    def_store(&team->table, key, lo, hi, best_cell, search->nodes - before);
    return gained + (best >= beta ? lo : best <= alpha ? hi : best);
}

/* Whether the counters have room for all that can still be gained. */
static inline int def_is_filling(const def_program *program, const def_state *state, int *left) {
    *left = 0;
    if (!program->filling) return 0;
    for (int i = 0; i < program->fill_line_count; i++)
        *left += (program->fill_lines[i] & (u64)state->plane[0]) != 0;
    return state->counter[0] + *left <= program->counter_most[0]
           && state->counter[1] + *left <= program->counter_most[1];
}

/* Fail-soft, as def_negamax says, for a position that is not decided, and whose side to move need not
 * pass. */
static int def_search_filling(def_search *search, const def_state *state, int left, int alpha,
                              int beta, int ply, int used) {
    int ahead = state->counter[state->turn] - state->counter[!state->turn];
    return ahead + def_fill(search, (u64)state->plane[1], left, state->turn, alpha - ahead,
                            beta - ahead, ply, used);
}

#endif
