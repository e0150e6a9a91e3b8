/* What Cython calls: keys as two halves, programs and searches behind pointers. */
#ifndef ZERMELO_DEFINITION_CORE_H
#define ZERMELO_DEFINITION_CORE_H

#include "definition_filling.h"
#include "definition_joining.h"
#include "definition_line_search.h"
#include "definition_proof_numbers.h"
#include "definition_textbook.h"

static inline u128 def_join(u64 high, u64 low) { return (u128)high << 64 | low; }

/* The position of a key; 0 if there is none. `most` holds the largest value of every counter. */
static int def_decode(const def_program *program, const int32_t *most, u64 high, u64 low,
                      def_state *state) {
    u128 number = def_join(high, low);
    memset(state, 0, sizeof *state);
    state->passing = (int)(number & 1);
    state->turn = (int)(number >> 1 & 1);
    number >>= 2;
    if (program->chains) {
        int at = (int)(number % (u128)(program->cells + 1));
        number /= (u128)(program->cells + 1);
        if (at) state->pending = (def_mask)1 << (at - 1);
    }
    for (int i = program->counters - 1; i >= 0; i--) {
        state->counter[i] = (int32_t)(number % (u128)(most[i] + 1));
        number /= (u128)(most[i] + 1);
    }
    for (int cell = program->cells - 1; cell >= 0; cell--) {
        state->plane[number % (u128)program->values] |= (def_mask)1 << cell;
        number /= (u128)program->values;
    }
    return number == 0;
}

static inline void def_key(const def_program *program, const def_state *state, int canonical,
                           u64 *high, u64 *low) {
    u128 key = canonical ? def_canonical(program, state) : def_number(program, state, 0);
    *high = (u64)(key >> 64);
    *low = (u64)key;
}

static inline int def_by_key(const void *one, const void *other) {
    const u128 a = *(const u128 *)one, b = *(const u128 *)other;
    return a < b ? -1 : a > b;
}

/* The canonical children of a position, sorted and distinct; the number of them. */
static int def_expand(const def_program *program, const def_state *state, int32_t *arena, int room,
                      u128 *children) {
    int score, found = def_moves(program, state, arena, room, &score);
    def_state after;
    if (found == DEF_ONLY_PASS) {
        def_pass(program, state, &after);
        children[0] = def_canonical(program, &after);
        return 1;
    }
    for (int i = 0; i < found; i++) {
        def_play(program, state, arena[i], &after);
        children[i] = def_canonical(program, &after);
    }
    qsort(children, (size_t)found, sizeof *children, def_by_key);
    int distinct = 0;
    for (int i = 0; i < found; i++)
        if (!i || children[i] != children[distinct - 1]) children[distinct++] = children[i];
    return distinct;
}

/* What the table knows about a position: 0 if nothing. */
static int def_ask(const def_search *search, const def_state *state, int *lo, int *hi) {
    const def_program *program = search->program;
    const def_table *table = &search->team->table;
    def_facts facts;
    int left;
    if (state->passing) {
        /* Keys are of positions in which the side to move has moves. */
        def_state after;
        def_pass(program, state, &after);
        int known = def_ask(search, &after, hi, lo);
        *lo = -*lo;
        *hi = -*hi;
        return known;
    }
    if (def_is_filling(program, state, &left)
        && def_ask_filling(search, (u64)state->plane[1], left, lo, hi)) {
        int ahead = state->counter[state->turn] - state->counter[!state->turn];
        *lo += ahead;
        *hi += ahead;
        return 1;
    }
    if (!def_probe(table, def_table_key(program, state), &facts)) return 0;
    *lo = facts.lo;
    *hi = facts.hi;
    return 1;
}

static void def_tell(def_search *search, const def_state *state, int lo, int hi) {
    const def_program *program = search->program;
    def_table *table = &search->team->table;
    const u64 dear = (u64)1 << 40; /* nodes: what was told is not forgotten before all else */
    int left;
    if (state->passing) {
        def_state after;
        def_pass(program, state, &after);
        def_tell(search, &after, -hi, -lo);
        return;
    }
    if (def_is_filling(program, state, &left)) {
        int ahead = state->counter[state->turn] - state->counter[!state->turn];
        int least = lo - ahead, most = hi - ahead;
        def_fills fills;
        def_fills_of(program, (u64)state->plane[1], &fills);
        def_store(table, def_key_by_cells(program, &fills, 0),
                  least < -left ? -left : least, most > left ? left : most, DEF_NO_MOVE, dear);
    }
    def_store(table, def_table_key(program, state), lo, hi, DEF_NO_MOVE, dear);
}

/* Forget which moves were good in another search. */
static void def_forget_order(def_search *search) {
    memset(search->history, 0, 2 * sizeof *search->history * (size_t)search->history_moves);
}

/* Put the entry of a checkpoint back. */
static void def_restore(def_table *table, u64 high, u64 low, int lo, int hi, int effort) {
    def_store(table, def_join(high, low), lo, hi, DEF_NO_MOVE,
              effort > 0 && effort < 62 ? (u64)1 << (effort - 1) : 1);
}

#endif
