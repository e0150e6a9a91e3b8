/* Playing by a compiled definition: moves, what they do, ends, keys. */
#ifndef ZERMELO_DEFINITION_PLAY_H
#define ZERMELO_DEFINITION_PLAY_H

#include "definition_program.h"

/* Kept out of recursive searches: their frames would grow by kilobytes. */
#define DEF_APART __attribute__((noinline))

enum { DEF_SETS = 64, DEF_STUCK_PASS = 2, DEF_STUCK_SCORE = 3 };

/* The case that happens for every legal move of a side, in no particular order. */
static DEF_APART int def_real_moves(const def_program *program, const def_state *state, int side,
                          int32_t *cases, int most) {
    def_mask sets[DEF_SETS];
    def_sets(program, state, sets);
    int found = 0;
    for (int i = 0; i < program->anchor_count[side]; i++) {
        const def_anchor *anchor = program->anchors[side] + i;
        const int32_t *offset = program->offset + anchor->first;
        def_mask cells = program->masks[anchor->cells] & sets[anchor->set];
        for (; cells; cells &= cells - 1) {
            int cell = def_first(cells);
            for (int at = offset[cell]; at < offset[cell + 1]; at++) {
                if (!def_applies(program, state, sets, program->cases + program->anchored[at]))
                    continue;
                cases[found++] = program->anchored[at];
                if (found == most) return found;
            }
        }
    }
    for (int i = 0; i < program->move_count[side] && found < most; i++) {
        const def_move *move = program->moves[side] + i;
        for (int at = move->first; at < move->first + move->count; at++)
            if (def_applies(program, state, sets, program->cases + at)) {
                cases[found++] = at;
                break;
            }
    }
    return found;
}

/* Whether an end or the limit is reached; if so, the score for the side to move. */
static DEF_APART int def_ended(const def_program *program, const def_state *state, int *score) {
    int side = state->turn;
    if (program->end_count[side]) {
        def_mask sets[DEF_SETS];
        def_sets(program, state, sets);
        for (int i = 0; i < program->end_count[side]; i++) {
            const def_end *end = program->ends[side] + i;
            if (def_run(program, state, sets, end->condition)) {
                *score = (int)def_run(program, state, sets, end->score);
                return 1;
            }
        }
    }
    if (program->limit_clock >= 0 && state->counter[program->limit_clock] >= program->limit_plies) {
        *score = program->limit_score;
        return 1;
    }
    return 0;
}

/* The score of a position whose side to move is stuck. */
static DEF_APART int def_stuck_score(const def_program *program, const def_state *state) {
    if (program->stuck < DEF_STUCK_PASS) return program->stuck;
    def_mask sets[DEF_SETS];
    def_sets(program, state, sets);
    return (int)def_run(program, state, sets, program->score[state->turn]);
}

/* Only what the program uses: most have three planes and few counters. */
static inline void def_copy(const def_program *program, const def_state *before,
                            def_state *state) {
    for (int v = 0; v < program->values; v++) state->plane[v] = before->plane[v];
    for (int i = 0; i < program->counters; i++) state->counter[i] = before->counter[i];
}

static inline void def_set_cells(const def_program *program, def_state *state, def_mask mask,
                                 int value) {
    for (int v = 0; v < program->values; v++) state->plane[v] &= ~mask;
    state->plane[value] |= mask;
}

static DEF_APART void def_play(const def_program *program, const def_state *before, int at,
                     def_state *state) {
    const def_case *c = program->cases + at;
    int side = before->turn;
    def_mask turned = c->rays ? def_turned(program, before, side, c->ray, c->rays) : 0;
    def_copy(program, before, state);
    state->pending = 0;
    if (c->lifts) def_set_cells(program, state, state->plane[c->lifts], 0);
    const def_put *put = program->puts + c->put;
    for (int i = 0; i < c->puts; i++)
        def_set_cells(program, state, program->masks[put[i].mask], put[i].value);
    if (turned) def_set_cells(program, state, turned, put[0].value);
    def_mask sets[DEF_SETS];
    if (c->changes || c->again >= 0 || c->chain >= 0) def_sets(program, state, sets);
    for (int i = 0; i < c->changes; i++) {
        const def_change *change = program->changes + c->change + i;
        if (change->condition >= 0 && !def_run(program, state, sets, change->condition)) continue;
        int64_t value = def_run(program, state, sets, change->amount);
        if (change->adds) value += state->counter[change->counter];
        if (value > change->most) value = change->most;
        state->counter[change->counter] = value < 0 ? 0 : (int32_t)value;
    }
    if (program->limit_clock >= 0) {
        int32_t *clock = state->counter + program->limit_clock;
        if (c->resets) *clock = 0;
        else if (*clock < program->limit_plies) ++*clock;
    }
    int again = 0;
    if (c->chain >= 0) {
        state->pending = program->masks[c->chain];
        const int32_t *range = program->rule_start[side] + 2 * c->rule;
        for (int i = 0; i < range[1] && !again; i++) {
            const def_case *other = program->cases + program->rule_cases[range[0] + i];
            again = other->chain >= 0 && def_applies(program, state, sets, other);
        }
        if (!again) state->pending = 0;
    }
    if (!again)
        again = c->again == -2 || (c->again >= 0 && def_run(program, state, sets, c->again) != 0);
    state->turn = !side;
    state->passing = again;
}

static inline void def_pass(const def_program *program, const def_state *before,
                            def_state *state) {
    def_copy(program, before, state);
    state->pending = before->pending;
    state->turn = !before->turn;
    state->passing = 0;
}

/* What can be done: the number of cases, or one of these. */
enum { DEF_OVER = 0, DEF_ONLY_PASS = -1 };

static DEF_APART int def_moves(const def_program *program, const def_state *state, int32_t *cases,
                            int most, int *score) {
    if (def_ended(program, state, score)) return DEF_OVER;
    if (state->passing) return DEF_ONLY_PASS;
    int found = def_real_moves(program, state, state->turn, cases, most);
    if (found) return found;
    if (program->stuck == DEF_STUCK_PASS) {
        int32_t any;
        if (def_real_moves(program, state, !state->turn, &any, 1)) return DEF_ONLY_PASS;
    }
    *score = def_stuck_score(program, state);
    return DEF_OVER;
}

/* -- keys ----------------------------------------------------------------------------------- */

/* The number of the image of a position under a symmetry, as games/definition/game.py has it. */
static inline u128 def_number(const def_program *program, const def_state *state, int symmetry) {
    u128 number = 0;
    const u128 *table = program->key_bytes
        + (size_t)symmetry * program->values * program->bytes * 256;
    for (int value = 1; value < program->values; value++) {
        const u128 *row = table + (size_t)value * program->bytes * 256;
        def_mask plane = state->plane[value];
        for (int byte = 0; plane; byte++, plane >>= 8) number += row[256 * byte + (int)(plane & 255)];
    }
    const u128 *weight = program->counter_weight + symmetry * program->counters;
    for (int i = 0; i < program->counters; i++) number += weight[i] * (u128)state->counter[i];
    if (state->pending)
        number += program->pending_weight[symmetry * program->cells + def_first(state->pending)];
    return number << 2 | (u128)((state->turn ^ program->exchange[symmetry]) << 1 | state->passing);
}

/* The smallest number of all images: the canonical form that the game interface means. */
static inline u128 def_canonical(const def_program *program, const def_state *state) {
    u128 least = def_number(program, state, 0);
    for (int i = 1; i < program->symmetries; i++) {
        u128 number = def_number(program, state, i);
        if (number < least) least = number;
    }
    return least;
}

/* The smallest number of the images with the first player to move, where sides can be
 * exchanged: half the work, and as good a name for the table. */
static inline u128 def_table_key(const def_program *program, const def_state *state) {
    u128 least = ~(u128)0;
    for (int i = 0; i < program->symmetries; i++) {
        if (program->exchanges && program->exchange[i] != state->turn) continue;
        u128 number = def_number(program, state, i);
        if (number < least) least = number;
    }
    return least;
}

/* -- counting --------------------------------------------------------------------------------- */

static u64 def_perft(const def_program *program, const def_state *state, int depth, int32_t *arena,
                     int room, volatile int *stop) {
    if (depth == 0 || *stop) return 1;
    int score, found = def_moves(program, state, arena, room, &score);
    if (found == DEF_OVER) return 1;
    def_state after;
    if (found == DEF_ONLY_PASS) {
        def_pass(program, state, &after);
        return def_perft(program, &after, depth - 1, arena, room, stop);
    }
    if (depth == 1) return (u64)found;
    u64 lines = 0;
    for (int i = 0; i < found; i++) {
        def_play(program, state, arena[i], &after);
        lines += def_perft(program, &after, depth - 1, arena + found, room - found, stop);
    }
    return lines;
}

static inline u64 def_random(u64 *seed) {
    u64 x = *seed;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return *seed = x;
}

/* One random game to its end: the score for the first player; plies are counted. */
static int def_playout(const def_program *program, const def_state *start, int32_t *arena,
                       int room, u64 *seed, u64 *plies) {
    def_state states[2];
    int now = 0;
    states[0] = *start;
    for (;;) {
        int score, found = def_moves(program, states + now, arena, room, &score);
        if (found == DEF_OVER) return states[now].turn ? -score : score;
        ++*plies;
        if (found == DEF_ONLY_PASS) def_pass(program, states + now, states + !now);
        else {
            int at = (int)((def_random(seed) >> 32) * (u64)found >> 32);
            def_play(program, states + now, arena[at], states + !now);
        }
        now = !now;
    }
}

#endif
