/* A compiled definition: tables and bytecode, made by engine/definition_program.py.
 *
 * Sets of cells are masks of 64 bits where that suffices (DEF_SMALL), else of 128; plane[v] holds
 * the cells whose value is v, plane[0] the empty ones. A program is made on the machine that runs it, from a text whose limits were
 * checked; it never travels, so that offsets and indices need no checks here.
 */
#ifndef ZERMELO_DEFINITION_PROGRAM_H
#define ZERMELO_DEFINITION_PROGRAM_H

#include <stdint.h>
#include <string.h>

#include "bits.h"

typedef unsigned __int128 u128;
#ifdef DEF_SMALL
typedef u64 def_mask;
#else
typedef u128 def_mask;
#endif

enum { DEF_VALUES = 17, DEF_COUNTERS = 65, DEF_SYMMETRIES = 16, DEF_STACK = 64, DEF_PASS = 1000 };
/* The set of the pieces that may move: the pending one, all if there is none. */
enum { DEF_MOVABLE = 0 };

typedef struct {
    def_mask plane[DEF_VALUES];
    def_mask pending;
    int32_t counter[DEF_COUNTERS];
    int32_t turn, passing;
} def_state;

/* All cells of the mask must be in a set. */
typedef struct { int32_t set, mask; } def_test;
/* amount, condition: offsets of code; condition -1: always; fixed: the amount is a constant. */
typedef struct { int32_t counter, adds, amount, condition, most, fixed; } def_change;
/* guard: offset of code, -1: the tests suffice. again: -1 never, -2 always. chain: mask, -1: none.
 * turned: the value that enclosed enemies get. plain: it changes cells, and nothing else. source,
 * target: masks of the cells that a piece leaves and reaches. forfeits: a rule, -1: none; pieces
 * that could have used it instead are taken off. */
typedef struct {
    int32_t rule, move, test, tests, guard, lifts, turned, ray, rays, change, changes, chain, again,
        resets, plain, source, target, forfeits;
} def_case;
/* The cases of one move of one side, of which the first that applies happens. Where each of them
 * needs one value of a counter, list[offset + value] up to list[offset + value + 1] are those
 * that need this one; else counter is -1 and they are list[first] up to list[first + count]. */
typedef struct { int32_t counter, offset, first, count; } def_move;
/* Cases of one shape: they differ only in the cell where the shape lies, its anchor, so that
 * whole sets are shifted and joined to find all that apply.
 *   need, needs   cells of sets, each a number of cells behind the anchor
 *   guard         what else must hold, the same for all; -1: nothing
 *   cells         the mask of the anchors
 *   cases         at[cases + anchor] is the case
 *   earlier       the group of earlier cases of the same moves, which go first; -1: none
 *   flank         directions in which enemies must be enclosed; -1: none */
typedef struct { int32_t need, needs, guard, cells, cases, earlier, flank; } def_group;
typedef struct { int32_t set, shift; } def_need;
/* One direction: how far the next cell is, and the mask of the cells that have one. */
typedef struct { int32_t shift, mask; } def_way;
/* score: offset of code; condition likewise. */
typedef struct { int32_t condition, score; } def_end;
/* Groups number `first` up to `first + count`. */
typedef struct { int32_t first, count; } def_range;

typedef struct {
    int32_t values, counters, cells, chains, stuck, limit_clock, limit_plies, limit_score,
        sets, symmetries;
    const int32_t *code;
    const def_mask *masks;
    const int32_t *rays;
    const def_test *tests;
    const def_change *changes;
    const def_case *cases;
    const def_mask *effects; /* for each case the cells it changes, and those of each value after */
    const def_mask *before;  /* for each case the anchors of earlier cases of its move */
    const def_move *moves[2];
    int32_t move_count[2];
    const int32_t *list;
    const def_group *groups;
    const def_need *needs;
    const int32_t *at;
    const def_way *ways;
    def_range side_groups[2];
    /* For each side and rule the groups and the other cases, for `can` and for chains. */
    const def_range *rule_groups[2];
    const def_range *rule_cases[2];
    const def_end *ends[2];
    int32_t end_count[2];
    int32_t score[2];
    const uint32_t *set_values; /* bit v: plane v belongs to the set; 0: see DEF_MOVABLE */
    uint32_t own[2];
    const def_mask *beside;
    /* Symmetries: what a byte of a plane adds to the number of the image. */
    const u128 *key_bytes; /* [symmetry][value][byte][256] */
    int32_t bytes;
    const u128 *counter_weight; /* [symmetry][counter] */
    const u128 *pending_weight; /* [symmetry][cell] */
    int32_t exchange[DEF_SYMMETRIES];
    int32_t exchanges; /* whether one of them exchanges the sides */
    /* Whether two planes and what remains fit into a key as they are, and their images. */
    int32_t plane_keys;
    const def_mask *images; /* [symmetry][byte][256] */
    int32_t plain_image[DEF_SYMMETRIES]; /* whether every cell stays where it is */
    int32_t swaps[DEF_SYMMETRIES];       /* whether the two planes change places */
    /* [case][symmetry][3], where all cases are plain and these are not too many; else NULL. */
    const def_mask *effect_images;
    /* Placing a stone that completes a line wins: the code of the lines, -1: not this kind. */
    int32_t lines[2];
    /* Of that kind, and cells can be played by both sides until they are filled: for each cell
     * those that can be played as soon as it is filled (definition_line_search.h). */
    int32_t steady;
    const def_mask *opened;
    const int32_t *lines_through[2]; /* for each cell */
    /* Where all lines have this length, and up to four shapes of equal distances: where lines of
     * each shape begin, and the distances, for each side; 0: not so. */
    int32_t line_length;
    const u64 *four_shapes[2];
    /* Games of filling (definition_filling.h): their lines, for each cell the two that it is in (-1:
     * none), pairs of cells that are in the same lines, for each cell its twins before it, and for each
     * cell the bits that it has under all symmetries, which keep the order of twins; the first of
     * them is there several times if their number is no multiple of four. */
    int32_t filling, fill_line_count, twin_count, fill_maps;
    const u64 *fill_lines;
    const int32_t *lines_of;
    const int32_t *twins;
    const u64 *elders;
    const u64 *fill_images; /* [cell][symmetry] */
    const int32_t *counter_most;
    /* Hex (definition_joining.h): the two sides of the board that each player joins, and for each
     * cell up to six (-1 behind them) with which it shares two neighbours, these, and how many
     * cells it touches or shares two neighbours with. */
    int32_t joining;
    const int32_t *central;
    const u64 *joined;
    const int32_t *bridges;
    const u64 *pairs;
    int32_t all_cells;           /* the mask of the whole board */
    const int32_t *cell_image;   /* [symmetry][cell] */
    int32_t replies_vary; /* 0: a side always has a move for every empty cell, and no other */
} def_program;

enum {
    OP_END, OP_CONST, OP_COUNTER, OP_SUM, OP_LARGEST, OP_COUNT, OP_LINES, OP_ADD, OP_SUB, OP_MUL,
    OP_DIV, OP_MOD, OP_LT, OP_LE, OP_EQ, OP_NE, OP_NOT, OP_AND_JUMP, OP_OR_JUMP, OP_MASK, OP_PLANE,
    OP_PENDING, OP_ISECT, OP_UNION, OP_MINUS, OP_BESIDE, OP_IN_LINES, OP_WITHIN, OP_CONNECTED,
    OP_CAN, OP_OUTFLANKS, OP_ANY, OP_NONE, OP_ANY_LINES,
    OP_MEETS, OP_LACKS
};

#ifdef DEF_SMALL
static inline int def_bits(def_mask mask) { return popcount(mask); }
static inline int def_first(def_mask mask) { return first_bit(mask); }
static inline int def_last(def_mask mask) { return last_bit(mask); }
#else
static inline int def_bits(def_mask mask) {
    return popcount((u64)mask) + popcount((u64)(mask >> 64));
}

static inline int def_first(def_mask mask) {
    return (u64)mask ? first_bit((u64)mask) : 64 + first_bit((u64)(mask >> 64));
}

static inline int def_last(def_mask mask) {
    return (u64)(mask >> 64) ? 64 + last_bit((u64)(mask >> 64)) : last_bit((u64)mask);
}
#endif

static inline def_mask def_union(const def_state *state, uint32_t values) {
    def_mask found = 0;
    for (; values; values &= values - 1) found |= state->plane[__builtin_ctz(values)];
    return found;
}

static inline def_mask def_beside(const def_program *program, def_mask cells) {
    def_mask found = 0;
    for (; cells; cells &= cells - 1) found |= program->beside[def_first(cells)];
    return found;
}

/* The stones that are joined with these, by way of stones; `touched`: all cells beside them. */
static inline def_mask def_grown(const def_program *program, def_mask group, def_mask stones,
                                 def_mask *touched) {
    for (;;) {
        *touched = def_beside(program, group);
        const def_mask grown = group | (*touched & stones);
        if (grown == group) return group;
        group = grown;
    }
}

static inline int def_connected(const def_program *program, def_mask cells, def_mask one, def_mask other) {
    def_mask reached = cells & one, edge = reached;
    while (edge && !(reached & other)) {
        edge = def_beside(program, edge) & cells & ~reached;
        reached |= edge;
    }
    return (reached & other) != 0;
}

/* The enemies on a ray between its start and the nearest own piece.
 * A ray is: its mask, 1 if its cells ascend, 0 if they descend, -1 if neither, their number, they. */
static inline def_mask def_enclosed(const def_program *program, def_mask own, def_mask enemy,
                                    const int32_t *ray) {
    def_mask cells = program->masks[ray[0]];
    if (ray[1] >= 0) {
        def_mask others = cells & ~enemy, nearest;
        if (!(others & own)) return 0;
        if (ray[1]) {
            nearest = others & -others;
            return nearest & own ? cells & (nearest - 1) : 0;
        }
        nearest = (def_mask)1 << def_last(others);
        return nearest & own ? cells & ~(nearest | (nearest - 1)) : 0;
    }
    def_mask found = 0;
    for (int at = 3; at < 3 + ray[2]; at++) {
        def_mask cell = (def_mask)1 << ray[at];
        if (enemy & cell) found |= cell;
        else return own & cell ? found : 0;
    }
    return 0;
}

/* All enemies that rays enclose. */
static inline def_mask def_turned(const def_program *program, const def_state *state, int side,
                                  int ray, int rays) {
    def_mask own = def_union(state, program->own[side]);
    def_mask enemy = def_union(state, program->own[!side]), found = 0;
    const int32_t *at = program->rays + ray;
    for (; rays; rays--, at += at[2] + 3) found |= def_enclosed(program, own, enemy, at);
    return found;
}

static int def_can(const def_program *program, const def_state *state, const def_mask *sets,
                   int side, int rule);
static int def_can_without_sets(const def_program *program, const def_state *state, int side,
                                int rule);

static inline int64_t def_floor(int64_t a, int64_t b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }

/* Where lines of one shape begin that are inside. A shape is the mask of all beginnings, a number
 * and as many distances. Cells at equal distances: what is left of the set is shifted onto itself
 * again and again. Others have the negative number, and the set is shifted by each distance. */
static inline def_mask def_line_begins(const def_program *program, def_mask inside,
                                       const int32_t *shape) {
    def_mask left = inside;
    if (shape[1] >= 0)
        for (int j = 0; j < shape[1]; j++) left &= left >> shape[2 + j];
    else
        for (int j = 0; j < -shape[1]; j++) left &= inside >> shape[2 + j];
    return left & program->masks[shape[0]];
}

static inline const int32_t *def_next_shape(const int32_t *shape) {
    return shape + 2 + (shape[1] < 0 ? -shape[1] : shape[1]);
}

/* The value of a term; sets may be NULL, and are then made where a term needs them. */
static int64_t def_run(const def_program *program, const def_state *state, const def_mask *sets,
                       int at) {
    int64_t number[DEF_STACK];
    def_mask cells[DEF_STACK];
    int n = 0, c = 0;
    const int32_t *code = program->code;
    for (;;) {
        const int32_t *o = code + at;
        switch (o[0]) {
        case OP_END: return number[n - 1];
        case OP_CONST: number[n++] = o[1]; at += 2; break;
        case OP_COUNTER: number[n++] = state->counter[o[1]]; at += 2; break;
        case OP_SUM: {
            int64_t sum = 0;
            for (int i = 0; i < o[1]; i++) sum += state->counter[o[2 + i]];
            number[n++] = sum;
            at += 2 + o[1];
            break;
        }
        case OP_LARGEST: {
            int i = o[1];
            while (i && !state->counter[o[1 + i]]) i--;
            number[n++] = i;
            at += 2 + o[1];
            break;
        }
        case OP_COUNT: number[n++] = def_bits(cells[--c]); at += 1; break;
        case OP_LINES: {
            def_mask inside = cells[--c];
            int64_t lines = 0;
            const int32_t *shape = o + 3;
            for (int i = 0; i < o[2]; i++, shape = def_next_shape(shape))
                lines += def_bits(def_line_begins(program, inside, shape));
            number[n++] = lines;
            at += o[1];
            break;
        }
        case OP_ANY_LINES: {
            def_mask inside = cells[--c], any = 0;
            const int32_t *shape = o + 3;
            for (int i = 0; i < o[2]; i++, shape = def_next_shape(shape))
                any |= def_line_begins(program, inside, shape);
            number[n++] = any != 0;
            at += o[1];
            break;
        }
        case OP_MEETS:
            number[n++] = (state->plane[o[1]] & program->masks[o[2]]) != 0;
            at += 3;
            break;
        case OP_LACKS: number[n++] = !state->plane[o[1]]; at += 2; break;
        case OP_ANY: number[n++] = cells[--c] != 0; at += 1; break;
        case OP_NONE: number[n++] = cells[--c] == 0; at += 1; break;
        case OP_IN_LINES: {
            def_mask inside = cells[c - 1], found = 0;
            const def_mask *line = program->masks + o[1];
            for (int i = 0; i < o[2]; i++)
                if ((line[i] & ~inside) == 0) found |= line[i];
            cells[c - 1] = found;
            at += 3;
            break;
        }
        case OP_ADD: n--; number[n - 1] += number[n]; at += 1; break;
        case OP_SUB: n--; number[n - 1] -= number[n]; at += 1; break;
        case OP_MUL: n--; number[n - 1] *= number[n]; at += 1; break;
        case OP_DIV: number[n - 1] = def_floor(number[n - 1], o[1]); at += 2; break;
        case OP_MOD: number[n - 1] -= def_floor(number[n - 1], o[1]) * o[1]; at += 2; break;
        case OP_LT: n--; number[n - 1] = number[n - 1] < number[n]; at += 1; break;
        case OP_LE: n--; number[n - 1] = number[n - 1] <= number[n]; at += 1; break;
        case OP_EQ: n--; number[n - 1] = number[n - 1] == number[n]; at += 1; break;
        case OP_NE: n--; number[n - 1] = number[n - 1] != number[n]; at += 1; break;
        case OP_NOT: number[n - 1] = !number[n - 1]; at += 1; break;
        case OP_AND_JUMP:
            if (number[n - 1]) { n--; at += 2; }
            else at = o[1];
            break;
        case OP_OR_JUMP:
            if (number[n - 1]) at = o[1];
            else { n--; at += 2; }
            break;
        case OP_MASK: cells[c++] = program->masks[o[1]]; at += 2; break;
        case OP_PLANE: cells[c++] = state->plane[o[1]]; at += 2; break;
        case OP_PENDING: cells[c++] = state->pending; at += 1; break;
        case OP_ISECT: c--; cells[c - 1] &= cells[c]; at += 1; break;
        case OP_UNION: c--; cells[c - 1] |= cells[c]; at += 1; break;
        case OP_MINUS: c--; cells[c - 1] &= ~cells[c]; at += 1; break;
        case OP_BESIDE: cells[c - 1] = def_beside(program, cells[c - 1]); at += 1; break;
        case OP_WITHIN: number[n++] = (program->masks[o[1]] & ~cells[--c]) == 0; at += 2; break;
        case OP_CONNECTED:
            c--;
            number[n++] = def_connected(program, cells[c], program->masks[o[1]],
                                        program->masks[o[2]]);
            at += 3;
            break;
        case OP_CAN:
            number[n++] = sets ? def_can(program, state, sets, o[1], o[2])
                               : def_can_without_sets(program, state, o[1], o[2]);
            at += 3;
            break;
        default: /* OP_OUTFLANKS */
            number[n++] = def_turned(program, state, o[1], o[2], o[3]) != 0;
            at += 4;
        }
    }
}

static inline void def_sets(const def_program *program, const def_state *state, def_mask *sets) {
    for (int i = 0; i < program->sets; i++) {
        uint32_t values = program->set_values[i];
        if (values == DEF_MOVABLE) sets[i] = state->pending ? state->pending : ~(def_mask)0;
        else sets[i] = def_union(state, values);
    }
}

#endif
