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
 *   4. Where nothing gains, a move in a line that lacks two is in a chain: k such lines, each of
 *      which shares a cell with the next. At its ends are cells of lines that lack more, or of no
 *      other line. V is the score of whoever moves when all its cells are filled. Filled at one
 *      end, a chain of three or more loses k - 2 lines by 3, and then, by 1, the other side takes
 *      two more and goes on, or fills the last cell, so that the first takes these two and goes on:
 *      -(k - 2 + |2 + V|). Filled elsewhere it leaves the other side both ways as well. Of two
 *      lines -(2 + V) by 2, filled between them, and at an end -|2 + V|, which is no more. Of one
 *      line -(1 + V). Chains without ends: -(k - 4 + |4 + V|) in the same way from four lines on,
 *      for fewer -(k + V). The one exception is a chain that leads at both ends to one line which
 *      lacks three: that one becomes part of it.
 * So of each chain one move is tried, and the search goes on where the chain is gone.
 */
#ifndef ZERMELO_DEFINITION_FILLING_H
#define ZERMELO_DEFINITION_FILLING_H

#include "definition_search.h"

enum { DEF_MOST_FILLED = 64 };
/* Threads go different ways from this many empty cells on; what is put off is behind all else. */
enum { DEF_LEAST_SHARED = 12 };
#define DEF_PUT_OFF ((int64_t)1 << 50)
/* What speaks for a move: it leaves the other side nothing to gain; each line through it, and again
 * if the line has nothing filled; each cell that it makes give something, since then fewer moves
 * are left to try. Against it: each line that the other side can take after it. */
enum { DEF_SAFE = 1 << 26, DEF_UNTOUCHED = 1 << 17, DEF_SPOILT = 1 << 16, DEF_GIVEN = 1 << 20 };

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

/* -- chains and joints ------------------------------------------------------------------------ */

/* Lines that lack two cells, each of which shares one with the next. Cells that are in no such line
 * are chains without lines. */
typedef struct {
    u64 cells;
    int32_t ends[2]; /* the lines it leads to; -1: none. Of a loop both are a line of its own */
    int32_t looped;
    int32_t length; /* lines */
    int32_t kept;   /* lines that whoever takes them may leave, so that the other side goes on */
    int32_t cell;   /* than which nothing is better to open it with; DEF_NO_MOVE: not known */
} def_fill_chain;

typedef struct {
    def_fill_chain chains[DEF_MOST_FILLED];
    int count;
    u64 joints; /* the lines that lack more than two cells */
    int8_t lack[DEF_MOST_FILLED]; /* how many each line lacks */
} def_fill_graph;

/* The other line that a cell is in; -1: none. */
static inline int def_line_beyond(const def_program *program, int cell, int line) {
    const int32_t *lines = program->lines_of + 2 * cell;
    return lines[0] == line ? lines[1] : lines[0];
}

/* The chains and joints of a position in which nothing gains. */
static DEF_APART void def_find_chains(const def_program *program, u64 empty,
                                      def_fill_graph *graph) {
    u64 waiting = 0;
    graph->joints = 0;
    graph->count = 0;
    for (int i = 0; i < program->fill_line_count; i++) {
        graph->lack[i] = (int8_t)popcount(program->fill_lines[i] & empty);
        waiting |= (u64)(graph->lack[i] == 2) << i;
        graph->joints |= (u64)(graph->lack[i] > 2) << i;
    }
    while (waiting) {
        def_fill_chain *chain = graph->chains + graph->count++;
        const int first = first_bit(waiting);
        const u64 both = program->fill_lines[first] & empty;
        int tips[2] = {first_bit(both), last_bit(both)}, *ends = chain->ends;
        waiting &= waiting - 1;
        chain->cells = both;
        chain->length = 1;
        chain->looped = 0;
        for (int i = 0; i < 2 && !chain->looped; i++) {
            int line = first;
            while ((ends[i] = def_line_beyond(program, tips[i], line)) >= 0
                   && waiting >> ends[i] & 1) {
                line = ends[i];
                waiting &= ~((u64)1 << line);
                u64 next = program->fill_lines[line] & empty & ~((u64)1 << tips[i]);
                chain->cells |= next;
                chain->length++;
                tips[i] = first_bit(next);
            }
            chain->looped = ends[i] == first;
        }
        chain->cell = tips[0];
        if (chain->looped) chain->kept = chain->length > 3 ? 4 : 0;
        else {
            chain->kept = chain->length > 2 ? 2 : 0;
            if (chain->length == 2)
                chain->cell = first_bit(chain->cells & ~((u64)1 << tips[0] | (u64)1 << tips[1]));
            if (ends[0] >= 0 && ends[0] == ends[1] && graph->lack[ends[0]] == 3)
                chain->cell = DEF_NO_MOVE;
        }
    }
}

/* -- names of positions ----------------------------------------------------------------------- */

enum { DEF_MOST_JOINTS = 10, DEF_MOST_ARMS = 64, DEF_ROUNDS = 2, DEF_NAME_BITS = 126 };

/* A number that grows by digits; `bits` counts on when there is no room left. */
typedef struct {
    u128 digits;
    int bits;
} def_name;

static inline void def_append(def_name *name, int bits, u64 digits) {
    name->bits += bits;
    if (name->bits <= DEF_NAME_BITS) name->digits = name->digits << bits | digits;
}

static inline u64 def_mix(u64 word) {
    word *= 0x9fb21c651e98df25ULL;
    word ^= word >> 32;
    word *= 0xd6e8feb86659fd93ULL;
    return word ^ word >> 29;
}

/* Two joints, by their places, and the lines of the chain between them. */
typedef struct {
    int8_t from, to, length;
} def_arm;

/* What can be gained depends on nothing but which joints are joined by chains of which length, so
 * that is the name: joints in an order that does not depend on where they lie (neighbours tell
 * joints apart; equal ones may come in any order, and then a position has several names). 0: the
 * name has no room. The graph can be told again from its name, digit by digit: 1 0 or 1 1, as many
 * zeros as it has lines and a 1 for each chain or loop that leads to no joint; 0; then for each
 * joint its chains to joints that come before it: 1, the place of the other, as many zeros as it
 * has lines and a 1; then 0. */
static DEF_APART u128 def_graph_name(const def_program *program, u64 empty,
                                     const def_fill_graph *graph) {
    const int joints = popcount(graph->joints);
    if (joints > DEF_MOST_JOINTS) return 0;
    int8_t place[DEF_MOST_FILLED];
    def_arm arms[DEF_MOST_ARMS];
    u64 colours[DEF_MOST_JOINTS + 1], next[DEF_MOST_JOINTS + 1];
    int count = 0, at = 0, alone[DEF_MOST_FILLED], alone_count = 0;
    for (u64 lines = graph->joints; lines; lines &= lines - 1, at++) {
        place[first_bit(lines)] = (int8_t)(at + 1);
        colours[at + 1] = (u64)graph->lack[first_bit(lines)];
    }
    colours[0] = 1;
    u64 free_cells = empty;
    for (int i = 0; i < graph->count; i++) {
        const def_fill_chain *chain = graph->chains + i;
        free_cells &= ~chain->cells;
        if (chain->looped || (chain->ends[0] < 0 && chain->ends[1] < 0)) {
            int length = 2 * chain->length + chain->looped, j = alone_count++;
            for (; j && alone[j - 1] > length; j--) alone[j] = alone[j - 1];
            alone[j] = length;
            continue;
        }
        def_arm *arm = arms + count++;
        arm->from = chain->ends[0] < 0 ? 0 : place[chain->ends[0]];
        arm->to = chain->ends[1] < 0 ? 0 : place[chain->ends[1]];
        arm->length = (int8_t)chain->length;
    }
    for (; free_cells; free_cells &= free_cells - 1) {
        const int32_t *lines = program->lines_of + 2 * first_bit(free_cells);
        def_arm *arm = arms + count++;
        arm->from = lines[0] < 0 ? 0 : place[lines[0]];
        arm->to = lines[1] < 0 ? 0 : place[lines[1]];
        arm->length = 0;
    }
    for (int round = 0; round < DEF_ROUNDS && joints > 1; round++) {
        for (int i = 0; i <= joints; i++) next[i] = colours[i] * 3;
        for (int i = 0; i < count; i++) {
            const def_arm *arm = arms + i;
            next[arm->from] += def_mix(colours[arm->to] + (u64)arm->length);
            next[arm->to] += def_mix(colours[arm->from] + (u64)arm->length);
        }
        for (int i = 1; i <= joints; i++) colours[i] = def_mix(next[i]);
    }
    /* Places by colours. */
    int8_t order[DEF_MOST_JOINTS + 1], rank[DEF_MOST_JOINTS + 1];
    for (int i = 1; i <= joints; i++) {
        int j = i;
        for (; j > 1 && colours[order[j - 1]] > colours[i]; j--) order[j] = order[j - 1];
        order[j] = (int8_t)i;
    }
    for (int i = 1; i <= joints; i++) rank[order[i]] = (int8_t)i;
    rank[0] = 0;
    /* Chains by the later of their joints, the earlier, and length. */
    int sorted[DEF_MOST_ARMS];
    for (int i = 0; i < count; i++) {
        int one = rank[arms[i].from], other = rank[arms[i].to];
        int number = (one > other ? one << 8 | other : other << 8 | one) << 8 | arms[i].length;
        int j = i;
        for (; j && sorted[j - 1] > number; j--) sorted[j] = sorted[j - 1];
        sorted[j] = number;
    }
    def_name name = {1, 1};
    for (int i = 0; i < alone_count; i++)
        def_append(&name, 3 + alone[i] / 2, (u64)(2 | (alone[i] & 1)) << (alone[i] / 2 + 1) | 1);
    def_append(&name, 1, 0);
    at = 0;
    for (int i = 0; i <= joints; i++) {
        const int width = i ? last_bit((u64)i) + 1 : 0;
        for (; at < count && sorted[at] >> 16 == i; at++) {
            int length = sorted[at] & 255;
            def_append(&name, 1 + width, (u64)1 << width | (u64)(sorted[at] >> 8 & 255));
            def_append(&name, length + 1, 1);
        }
        def_append(&name, 1, 0);
    }
    if (name.bits > DEF_NAME_BITS) return 0;
    return name.digits >> 63 << 64 | (u64)1 << 63 | ((u64)name.digits & ~((u64)1 << 63));
}

/* What is filled, of twins the first ones first, and its images under all symmetries, which keep
 * that order. */
typedef struct {
    u64 filled;
    u64 images[DEF_SYMMETRIES];
} def_fills;

static inline u64 def_sort_twins(const def_program *program, u64 filled) {
    const int32_t *twins = program->twins;
    for (int i = 0; i < program->twin_count; i++, twins += 2) {
        u64 out_of_order = filled >> twins[1] & ~(filled >> twins[0]) & 1;
        filled ^= out_of_order << twins[0] | out_of_order << twins[1];
    }
    return filled;
}

/* What is filled when these cells are, too. */
static inline void def_fill_cells(const def_program *program, const def_fills *before, u64 cells,
                                  def_fills *after) {
    const int maps = program->fill_maps;
    after->filled = before->filled | cells;
    for (int i = 0; i < maps; i++) after->images[i] = before->images[i];
    for (; cells; cells &= cells - 1) {
        const u64 *bits = program->fill_images + maps * first_bit(cells);
        for (int i = 0; i < maps; i++) after->images[i] |= bits[i];
    }
}

static inline void def_fills_of(const def_program *program, u64 filled, def_fills *fills) {
    const def_fills none = {0};
    def_fill_cells(program, &none, def_sort_twins(program, filled), fills);
}

/* The name of a position by its cells: the least image. No other kind of key has anything in its
 * lower half, where definitions have one kind of pieces, nor names of graphs their highest bit
 * there. */
static inline u128 def_key_by_cells(const def_program *program, const def_fills *fills, u64 cells) {
    /* Images have at most 63 bits. Compilers know how to compare several signed ones at once. */
    int64_t least = INT64_MAX;
    def_fills after;
    def_fill_cells(program, fills, cells, &after);
    for (int i = 0; i < program->fill_maps; i++) {
        const int64_t image = (int64_t)after.images[i];
        least = image < least ? image : least;
    }
    return (u128)least + 1;
}

/* Cells that filling one makes give something: those of its lines that lack three. */
static inline int def_spoilt(const def_program *program, u64 empty, u64 safe, int cell) {
    const int32_t *lines = program->lines_of + 2 * cell;
    u64 spoilt = 0;
    for (int i = 0; i < 2 && lines[i] >= 0; i++) {
        const u64 left = program->fill_lines[lines[i]] & empty;
        if (popcount(left) == 3) spoilt |= left;
    }
    return popcount(spoilt & safe & ~((u64)1 << cell));
}

static inline int def_untouched(const def_program *program, u64 filled, int cell) {
    const int32_t *lines = program->lines_of + 2 * cell;
    int found = 0;
    for (int i = 0; i < 2 && lines[i] >= 0; i++)
        found += program->fill_lines[lines[i]] & filled ? 1 : 2;
    return found;
}

/* -- the search ------------------------------------------------------------------------------- */

typedef struct {
    u128 key;      /* of the position after it, by its cells; 0: not looked for */
    int64_t order; /* the larger, the earlier */
    const def_fill_chain *chain; /* that it opens; NULL: none, or not as usual */
    int32_t cell;
    int8_t lo, hi; /* what it is worth for whoever makes it */
} def_fill_move;

/* The moves that need be tried, not sorted; how many there are. */
static DEF_APART int def_list_fills(const def_search *search, const def_fills *fills, int left,
                                    def_lacking lacking, const def_fill_graph *graph, int turn,
                                    def_fill_move *moves) {
    const def_program *program = search->program;
    const u64 filled = fills->filled, empty = program->masks[program->all_cells] & ~filled;
    const int32_t *history = search->history + turn * search->history_moves;
    const u64 giving_none = empty & ~lacking.missing_two;
    u64 tried = empty;
    int found = 0;
    if (lacking.missing_one)
        tried = lacking.missing_one | def_partner(program, empty, first_bit(lacking.missing_one));
    for (int i = 0; i < graph->count; i++) {
        const def_fill_chain *chain = graph->chains + i;
        if (chain->cell == DEF_NO_MOVE) continue;
        def_fill_move *move = moves + found++;
        tried &= ~chain->cells;
        move->key = def_key_by_cells(program, fills, chain->cells);
        move->chain = chain;
        move->cell = chain->cell;
        move->order = history[chain->cell] - (int64_t)DEF_GIVEN * chain->length;
    }
    for (; tried; tried &= tried - 1) {
        const int cell = first_bit(tried);
        if (program->elders[cell] & empty) continue;
        const u64 bit = (u64)1 << cell;
        def_fill_move *move = moves + found++;
        const int safe = !lacking.missing_one && !(bit & lacking.missing_two);
        move->key = safe ? def_key_by_cells(program, fills, bit) : 0;
        move->chain = NULL;
        move->cell = cell;
        move->order = history[cell]
                      + (int64_t)DEF_UNTOUCHED * def_untouched(program, filled, cell)
                      + (int64_t)DEF_SPOILT * (safe ? def_spoilt(program, empty, giving_none, cell) : 0)
                      + (int64_t)DEF_SAFE * (bit & lacking.missing_one   ? 2
                                             : bit & lacking.missing_two ? 0
                                                                         : 1);
    }
    for (int i = 0; i < found; i++) {
        moves[i].lo = (int8_t)-left;
        moves[i].hi = (int8_t)left;
        if (moves[i].key) def_prefetch(&search->team->table, moves[i].key);
    }
    return found;
}

/* What opening a chain is worth for whoever does, if V is so much when it is gone. */
static inline int def_opened(const def_fill_chain *chain, int value) {
    value += chain->kept;
    return chain->kept - chain->length - (chain->kept && value < 0 ? -value : value);
}

/* What the table knows about the moves. The place of one that is known to suffice for beta; -1:
 * none. */
static DEF_APART int def_ask_fills(const def_search *search, int left, int hint, int beta,
                                   def_fill_move *moves, int found) {
    for (int i = 0; i < found; i++) {
        def_fill_move *move = moves + i;
        const def_fill_chain *chain = move->chain;
        def_facts facts;
        if (!move->key) continue;
        const int most = chain ? left - chain->length : left;
        int lo = -most, hi = most;
        const u64 hash = def_hash(move->key);
        if (def_probe_hashed(&search->team->table, move->key, hash, &facts)) {
            if (facts.lo > lo) lo = facts.lo;
            if (facts.hi < hi) hi = facts.hi;
        }
        if (!chain) {
            move->lo = (int8_t)-hi;
            move->hi = (int8_t)-lo;
        } else {
            const int one = def_opened(chain, lo), other = def_opened(chain, hi);
            move->lo = (int8_t)(one < other ? one : other);
            move->hi = (int8_t)(one > other ? one : other);
            if (chain->kept && lo + chain->kept < 0 && hi + chain->kept > 0)
                move->hi = (int8_t)(chain->kept - chain->length);
        }
        if (move->lo >= beta) return i;
        if (def_tag_of(hash) == hint) move->order += (int64_t)1 << DEF_HINT_BIT;
    }
    return -1;
}

static int def_fill(def_search *search, const def_fills *fills, u128 key, int left, int turn,
                    int alpha, int beta, int ply, int used);

/* What opening a chain is worth, by what is left when it is gone. Fail-soft. */
static int def_open_chain(def_search *search, const def_fill_chain *chain, const def_fills *fills,
                          u128 key, int left, int turn, int alpha, int beta, int ply, int used) {
    def_fills after;
    def_fill_cells(search->program, fills, chain->cells, &after);
    const int kept = chain->kept, taken = chain->length - kept;
    left -= chain->length;
    if (!kept)
        return -taken - def_fill(search, &after, key, left, !turn, -beta - taken, -alpha - taken,
                                 ply, used);
    /* The score is -(taken + |kept + V|), more than alpha if |kept + V| is less than: */
    const int most = -alpha - taken;
    if (most <= 0) return -taken;
    int value;
    if (beta - alpha == 1) {
        const int least = 1 - most - kept, greatest = most - 1 - kept;
        value = def_fill(search, &after, key, left, !turn, greatest, greatest + 1, ply, used);
        if (value > greatest) return -(taken + kept + value);
        value = def_fill(search, &after, key, left, !turn, least - 1, least, ply, used);
        return value < least ? kept + value - taken : beta;
    }
    value = kept + def_fill(search, &after, key, left, !turn, -most - kept, most - kept, ply, used);
    return -(taken + (value < 0 ? -value : value));
}

/* What a move is worth. Fail-soft. */
static int def_try_fill(def_search *search, const def_fill_move *move, const def_fills *fills,
                        int left, int turn, int alpha, int beta, int ply, int used) {
    const def_program *program = search->program;
    if (move->chain)
        return def_open_chain(search, move->chain, fills, move->key, left, turn, alpha, beta, ply,
                              used);
    const int gain = def_gain(program, program->masks[program->all_cells] & ~fills->filled,
                              move->cell);
    def_fills after;
    def_fill_cells(program, fills, (u64)1 << move->cell, &after);
    return gain ? gain + def_fill(search, &after, 0, left - gain, turn, alpha - gain, beta - gain,
                                  ply, used)
                : -def_fill(search, &after, move->key, left, !turn, -beta, -alpha, ply, used);
}

/* How much more than the other the side to move gains from here on. Fail-soft, as
 * def_negamax says. `left`:
 * lines that are not complete; all of them will be, so that the score is odd if they are.
 * `key`: by its cells, if that is known, else 0. */
static int def_fill(def_search *search, const def_fills *fills, u128 key, int left, int turn,
                    int alpha, int beta, int ply, int used) {
    if (def_visit(search, ply, used)) return 0;
    const def_program *program = search->program;
    def_team *team = search->team;
    u64 empty = program->masks[program->all_cells] & ~fills->filled, taken = 0;
    def_lacking lacking;
    int gained = 0;
    for (;;) {
        if (left <= alpha) return gained + left;
        if (-left >= beta) return gained - left;
        if (!left) return gained;
        lacking = def_lacks(program, empty);
        u64 sure = lacking.missing_one ? def_surely(program, empty, lacking) : 0;
        if (!sure) break;
        int gain = def_gain(program, empty, first_bit(sure));
        gained += gain;
        left -= gain;
        alpha -= gain;
        beta -= gain;
        empty &= ~sure;
        taken |= sure;
    }
    def_fills further;
    if (taken) {
        def_fill_cells(program, fills, taken, &further);
        fills = &further;
        key = 0;
    }
    if (!key) key = def_key_by_cells(program, fills, 0);
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
    def_fill_graph graph;
    u128 name = 0;
    graph.count = 0;
    if (!lacking.missing_one) {
        def_find_chains(program, empty, &graph);
        name = def_graph_name(program, empty, &graph);
    }
    if (name && def_probe(&team->table, name, &facts)) {
        if (facts.lo > lo) lo = facts.lo;
        if (facts.hi < hi) hi = facts.hi;
        if (lo >= beta || hi <= alpha || lo == hi) {
            def_store(&team->table, key, lo, hi, DEF_NO_MOVE, 1);
            return gained + (hi <= alpha ? hi : lo);
        }
    }
    def_fill_move moves[DEF_MOST_FILLED];
    const int found = def_list_fills(search, fills, left, lacking, &graph, turn, moves);
    const int enough = def_ask_fills(search, left, hint, beta, moves, found);
    int best = -search->limit - 1, tag = DEF_NO_MOVE, low = alpha;
    const int shared = popcount(empty) >= DEF_LEAST_SHARED;
    if (enough >= 0) {
        best = moves[enough].lo;
        tag = def_tag(moves[enough].key);
    }
    for (int i = 0; i < found && best < beta; i++) {
        int first = i;
        for (int j = i + 1; j < found; j++)
            if (moves[j].order > moves[first].order) first = j;
        const u64 hash = shared && moves[first].key ? def_hash(moves[first].key) : 0;
        /* What another thread is at can wait until it is known, unless all others are tried. */
        if (i && hash && moves[first].order > -DEF_PUT_OFF && def_is_busy(team, hash)) {
            moves[first].order -= 2 * DEF_PUT_OFF;
            i--;
            continue;
        }
        const def_fill_move move = moves[first];
        moves[first] = moves[i];
        int value = move.hi;
        if (value > low) {
            if (hash) def_begin(team, hash);
            value = def_try_fill(search, &move, fills, left, turn, low, beta, ply + 1, used);
            if (hash) def_leave(team, hash);
            if (team->stop) return 0;
        }
        if (ply == 0 && !search->thread) team->root_done++;
        if (value <= best) continue;
        best = value;
        if (value <= low) continue;
        tag = move.key ? def_tag(move.key) : DEF_NO_MOVE;
        low = value;
        if (low >= beta) def_reward(search, turn, move.cell, search->nodes - before);
    }
    /* The score is odd exactly if `left` is. */
    const int least = (best - left) & 1 ? best + 1 : best;
    const int most = (best - left) & 1 ? best - 1 : best;
    if (best > alpha && least > lo) lo = least;
    if (best < beta && most < hi) hi = most;
    def_store(&team->table, key, lo, hi, tag, search->nodes - before);
    if (name) def_store(&team->table, name, lo, hi, DEF_NO_MOVE, search->nodes - before);
    return gained + (best >= beta ? lo : best <= alpha ? hi : best);
}

/* What the table knows about a position in which so many lines are not complete: 0 if nothing. */
static int def_ask_filling(const def_search *search, u64 filled, int left, int *lo, int *hi) {
    const def_program *program = search->program;
    const u64 empty = program->masks[program->all_cells] & ~filled;
    def_fills fills;
    def_fill_graph graph;
    def_facts facts;
    u128 keys[2] = {0, 0};
    int known = 0;
    def_fills_of(program, filled, &fills);
    keys[0] = def_key_by_cells(program, &fills, 0);
    if (!def_lacks(program, empty).missing_one) {
        def_find_chains(program, empty, &graph);
        keys[1] = def_graph_name(program, empty, &graph);
    }
    *lo = -left;
    *hi = left;
    for (int i = 0; i < 2; i++) {
        if (!keys[i] || !def_probe(&search->team->table, keys[i], &facts)) continue;
        known = 1;
        if (facts.lo > *lo) *lo = facts.lo;
        if (facts.hi < *hi) *hi = facts.hi;
    }
    return known;
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
    def_fills fills;
    def_fills_of(search->program, (u64)state->plane[1], &fills);
    return ahead + def_fill(search, &fills, 0, left, state->turn, alpha - ahead, beta - ahead, ply,
                            used);
}

#endif
