/* Playing by a compiled definition: moves, what they do, ends, keys. */
#ifndef ZERMELO_DEFINITION_PLAY_H
#define ZERMELO_DEFINITION_PLAY_H

#include "definition_program.h"

/* Kept out of recursive searches: their frames would grow by kilobytes. */
#define DEF_APART __attribute__((noinline))

enum { DEF_SETS = 64, DEF_GROUPS = 1024, DEF_STUCK_PASS = 2, DEF_STUCK_SCORE = 3 };

/* -- which cases apply ------------------------------------------------------------------------ */

static inline def_mask def_shifted(def_mask cells, int shift) {
    return shift >= 0 ? cells >> shift : cells << -shift;
}

/* The cells from which, in one of the directions, enemies and then an own piece follow. */
static inline def_mask def_flanks(const def_program *program, const def_state *state, int side,
                                  int flank) {
    def_mask own = def_union(state, program->own[side]);
    def_mask enemy = def_union(state, program->own[!side]), found = 0;
    for (const def_way *way = program->ways + flank; way->shift; way++) {
        def_mask next = program->masks[way->mask], inner = enemy & next;
        def_mask run = def_shifted(own, way->shift) & inner, grown = run;
        while (grown) {
            grown = def_shifted(run, way->shift) & inner & ~run;
            run |= grown;
        }
        found |= def_shifted(run, way->shift) & next;
    }
    return found;
}

/* The anchors of a group whose cases apply, but for its guard. */
static inline def_mask def_lying(const def_program *program, const def_state *state,
                                 const def_mask *sets, int side, const def_group *group) {
    def_mask found = program->masks[group->cells];
    const def_need *need = program->needs + group->need;
    for (int i = 0; i < group->needs; i++) found &= sets[need[i].set] >> need[i].shift;
    if (found && group->flank >= 0) found &= def_flanks(program, state, side, group->flank);
    return found;
}

static int def_applies(const def_program *program, const def_state *state, const def_mask *sets,
                       const def_case *c) {
    const def_test *test = program->tests + c->test;
    for (int i = 0; i < c->tests; i++)
        if (program->masks[test[i].mask] & ~sets[test[i].set]) return 0;
    return c->guard < 0 || def_run(program, state, sets, c->guard) != 0;
}

/* Whether one of these groups has a case that applies. */
static int def_any_lies(const def_program *program, const def_state *state, const def_mask *sets,
                        int side, const def_range *range) {
    const def_group *group = program->groups + range->first;
    for (int i = 0; i < range->count; i++, group++)
        if (def_lying(program, state, sets, side, group)
            && (group->guard < 0 || def_run(program, state, sets, group->guard)))
            return 1;
    return 0;
}

static int def_can(const def_program *program, const def_state *state, const def_mask *sets,
                   int side, int rule) {
    if (def_any_lies(program, state, sets, side, program->rule_groups[side] + rule)) return 1;
    const def_range *others = program->rule_cases[side] + rule;
    for (int i = 0; i < others->count; i++)
        if (def_applies(program, state, sets,
                        program->cases + program->list[others->first + i]))
            return 1;
    return 0;
}

static DEF_APART int def_can_without_sets(const def_program *program, const def_state *state,
                                          int side, int rule) {
    def_mask sets[DEF_SETS];
    def_sets(program, state, sets);
    return def_can(program, state, sets, side, rule);
}

/* Whether a piece that has just moved can go on by the same rule. */
static int def_goes_on(const def_program *program, const def_state *state, const def_mask *sets,
                       int side, int rule) {
    if (def_any_lies(program, state, sets, side, program->rule_groups[side] + rule)) return 1;
    const def_range *others = program->rule_cases[side] + rule;
    for (int i = 0; i < others->count; i++) {
        const def_case *other = program->cases + program->list[others->first + i];
        if (other->chain >= 0 && def_applies(program, state, sets, other)) return 1;
    }
    return 0;
}

/* The first case of a move that applies; -1: none. */
static inline int def_case_of(const def_program *program, const def_state *state,
                              const def_mask *sets, const def_move *move) {
    const int32_t *at = program->list + move->first, *end = at + move->count;
    if (move->counter >= 0) {
        const int32_t *range = program->list + move->offset + state->counter[move->counter];
        at = program->list + range[0];
        end = program->list + range[1];
    }
    for (; at < end; at++)
        if (def_applies(program, state, sets, program->cases + *at)) return *at;
    return -1;
}

/* The case that happens for every legal move of a side, in no particular order; at most `most`. */
static DEF_APART int def_real_moves(const def_program *program, const def_state *state, int side,
                          int32_t *cases, int most) {
    def_mask sets[DEF_SETS], lying[DEF_GROUPS];
    def_sets(program, state, sets);
    int found = 0, guard = -1, holds = 1;
    const def_group *groups = program->groups + program->side_groups[side].first;
    for (int i = 0; i < program->side_groups[side].count; i++) {
        const def_group *group = groups + i;
        def_mask cells = def_lying(program, state, sets, side, group);
        if (cells && group->guard >= 0) {
            if (group->guard != guard) {
                guard = group->guard;
                holds = def_run(program, state, sets, guard) != 0;
            }
            if (!holds) cells = 0;
        }
        lying[i] = cells;
        const int32_t *at = program->at + group->cases;
        def_mask earlier = group->earlier >= 0 ? lying[group->earlier] : 0;
        for (; cells; cells &= cells - 1) {
            int found_case = at[def_first(cells)];
            if (earlier && (earlier & program->before[found_case])) continue;
            cases[found++] = found_case;
            if (found == most) return found;
        }
    }
    for (int i = 0; i < program->move_count[side] && found < most; i++) {
        int at = def_case_of(program, state, sets, program->moves[side] + i);
        if (at >= 0) cases[found++] = at;
    }
    return found;
}

/* About how many moves the side to move has; for ordering, so that earlier cases of the same move
 * are not looked for. */
static DEF_APART int def_mobility(const def_program *program, const def_state *state) {
    def_mask sets[DEF_SETS];
    def_sets(program, state, sets);
    int found = 0, guard = -1, holds = 1, side = state->turn;
    const def_group *group = program->groups + program->side_groups[side].first;
    for (int i = 0; i < program->side_groups[side].count; i++, group++) {
        def_mask cells = def_lying(program, state, sets, side, group);
        if (cells && group->guard >= 0 && group->guard != guard) {
            guard = group->guard;
            holds = def_run(program, state, sets, guard) != 0;
        }
        if (cells && (group->guard < 0 || holds)) found += def_bits(cells);
    }
    for (int i = 0; i < program->move_count[side]; i++)
        found += def_case_of(program, state, sets, program->moves[side] + i) >= 0;
    return found;
}

/* -- ends ------------------------------------------------------------------------------------- */

/* Whether an end or the limit is reached; if so, the score for the side to move. */
static DEF_APART int def_ended(const def_program *program, const def_state *state, int *score) {
    int side = state->turn;
    for (int i = 0; i < program->end_count[side]; i++) {
        const def_end *end = program->ends[side] + i;
        if (def_run(program, state, NULL, end->condition)) {
            *score = (int)def_run(program, state, NULL, end->score);
            return 1;
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
    return (int)def_run(program, state, NULL, program->score[state->turn]);
}

/* -- what moves do ---------------------------------------------------------------------------- */

static inline void def_set_cells(const def_program *program, def_state *state, def_mask mask,
                                 int value) {
    for (int v = 0; v < program->values; v++) state->plane[v] &= ~mask;
    state->plane[value] |= mask;
}

/* The pieces of the side to move that could use a rule. */
static def_mask def_able(const def_program *program, const def_state *state, int rule) {
    const int side = state->turn;
    const def_range *groups = program->rule_groups[side] + rule;
    const def_range *others = program->rule_cases[side] + rule;
    def_mask sets[DEF_SETS], found = 0;
    def_sets(program, state, sets);
    for (int i = 0; i < groups->count; i++) {
        const def_group *group = program->groups + groups->first + i;
        def_mask cells = def_lying(program, state, sets, side, group);
        if (cells && group->guard >= 0 && !def_run(program, state, sets, group->guard)) continue;
        for (; cells; cells &= cells - 1)
            found |= program->masks[program->cases[program->at[group->cases + def_first(cells)]]
                                        .source];
    }
    for (int i = 0; i < others->count; i++) {
        const def_case *other = program->cases + program->list[others->first + i];
        if (def_applies(program, state, sets, other)) found |= program->masks[other->source];
    }
    return found;
}

/* Take off what a case forfeits, where it is after the move; `kept`: cells that the move left as
 * they were. */
static DEF_APART void def_forfeit(const def_program *program, const def_state *before,
                                  const def_case *c, def_mask kept, def_state *state) {
    const def_mask able = def_able(program, before, c->forfeits);
    def_mask lost = able & kept;
    if (able & program->masks[c->source]) lost |= program->masks[c->target];
    def_set_cells(program, state, lost, 0);
}

/* Everything about a move but cells: counters, the clock of the limit, who is next. */
static DEF_APART void def_play_rest(const def_program *program, const def_case *c, int side,
                                    def_state *state) {
    def_mask sets[DEF_SETS];
    if (c->again >= 0 || c->chain >= 0 || c->changes) def_sets(program, state, sets);
    for (int i = 0; i < c->changes; i++) {
        const def_change *change = program->changes + c->change + i;
        if (change->condition >= 0 && !def_run(program, state, sets, change->condition)) continue;
        int64_t value = change->fixed ? change->amount
                                      : def_run(program, state, sets, change->amount);
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
        /* The pending piece is another one now: sets of pieces that may move are, too. */
        def_sets(program, state, sets);
        again = def_goes_on(program, state, sets, side, c->rule);
        if (!again) {
            state->pending = 0;
            def_sets(program, state, sets);
        }
    }
    if (!again)
        again = c->again == -2 || (c->again >= 0 && def_run(program, state, sets, c->again) != 0);
    state->passing = again;
}

static inline void def_play(const def_program *program, const def_state *before, int at,
                            def_state *state) {
    const def_case *c = program->cases + at;
    const int values = program->values;
    const def_mask *effect = program->effects + (size_t)at * (values + 1), kept = ~effect[0];
    state->pending = 0;
    state->turn = !before->turn;
    state->passing = 0;
    for (int v = 0; v < values; v++) state->plane[v] = (before->plane[v] & kept) | effect[1 + v];
    if (c->plain) return;
    for (int i = 0; i < program->counters; i++) state->counter[i] = before->counter[i];
    if (c->lifts) {
        /* The pieces go to the empty cells before anything is put. */
        def_mask lifted = state->plane[c->lifts] & ~effect[1 + c->lifts];
        state->plane[c->lifts] &= ~lifted;
        state->plane[0] |= lifted;
    }
    if (c->rays) {
        def_mask turned = def_turned(program, before, before->turn, c->ray, c->rays);
        def_set_cells(program, state, turned, c->turned);
    }
    if (c->forfeits >= 0) def_forfeit(program, before, c, kept, state);
    if (c->changes || program->limit_clock >= 0 || c->chain >= 0 || c->again != -1)
        def_play_rest(program, c, before->turn, state);
}

/* Only what the program uses: most have three planes and few counters. */
static inline void def_copy(const def_program *program, const def_state *before,
                            def_state *state) {
    for (int v = 0; v < program->values; v++) state->plane[v] = before->plane[v];
    for (int i = 0; i < program->counters; i++) state->counter[i] = before->counter[i];
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

/* The image of a set of cells under a symmetry. */
static inline def_mask def_image(const def_program *program, int symmetry, def_mask cells) {
    def_mask image = 0;
    const def_mask *table = program->images + (size_t)symmetry * program->bytes * 256;
    for (int i = 0; i < program->bytes; i++, cells >>= 8, table += 256)
        image |= table[cells & 255];
    return image;
}

/* Counters and the pending piece of the image, as the last digits of its number. */
static inline u64 def_digits(const def_program *program, const def_state *state, int symmetry) {
    u64 digits = 0;
    const u128 *weight = program->counter_weight + symmetry * program->counters;
    for (int i = 0; i < program->counters; i++)
        digits += (u64)weight[i] * (u64)state->counter[i];
    if (state->pending)
        digits += (u64)program->pending_weight[symmetry * program->cells
                                               + def_first(state->pending)];
    return digits;
}

static inline u128 def_join_planes(def_mask one, def_mask other) {
    return (u128)one << 64 | other;
}

/* The image of both planes under a symmetry. */
static inline void def_image_planes(const def_program *program, const def_state *state,
                                    int symmetry, def_mask *one, def_mask *other) {
    const int swaps = program->swaps[symmetry];
    const def_mask first = program->values > 1 ? state->plane[1] : 0;
    const def_mask second = program->values > 2 ? state->plane[2] : 0;
    *one = swaps ? second : first;
    *other = swaps ? first : second;
    if (program->plain_image[symmetry]) return;
    *one = def_image(program, symmetry, *one);
    *other = def_image(program, symmetry, *other);
}

/* A name of the position in the table, the same for all its images, of no other position. Where
 * sides can be exchanged only the images with the first player to move are looked at. Two planes
 * are the name where everything else has room above them; else the number of the key is.
 * `symmetry`: whose image has this name. */
static inline u128 def_name_by(const def_program *program, const def_state *state,
                               int *symmetry) {
    u128 least = ~(u128)0;
    for (int i = 0; i < program->symmetries; i++) {
        if (program->exchanges && program->exchange[i] != state->turn) continue;
        u128 number;
        if (program->plane_keys) {
            def_mask one, other;
            def_image_planes(program, state, i, &one, &other);
            number = def_join_planes(one, other);
            if (program->counters || state->pending || !program->exchanges) {
                u64 digits = def_digits(program, state, i) << 1
                             | (u64)(state->turn ^ program->exchange[i]);
                number |= (u128)digits << (64 + program->cells);
            }
        } else
            number = def_number(program, state, i);
        if (number < least) {
            least = number;
            *symmetry = i;
        }
    }
    return least;
}

static inline u128 def_table_key(const def_program *program, const def_state *state) {
    int symmetry;
    return def_name_by(program, state, &symmetry);
}

/* The images of a position under the symmetries by which positions after its moves are named. */
typedef struct {
    int count, turn; /* turn: after the moves */
    int32_t symmetry[DEF_SYMMETRIES];
    def_mask one[DEF_SYMMETRIES], other[DEF_SYMMETRIES];
} def_images;

static DEF_APART void def_images_before(const def_program *program, const def_state *state,
                                        def_images *images) {
    images->count = 0;
    images->turn = !state->turn;
    for (int i = 0; i < program->symmetries; i++) {
        if (program->exchanges && program->exchange[i] != images->turn) continue;
        int at = images->count++;
        images->symmetry[at] = i;
        def_image_planes(program, state, i, images->one + at, images->other + at);
    }
}

/* `def_table_key` of the position after a case, where all cases are plain: what it changes is
 * changed in the images. */
static inline u128 def_key_of_image(const def_program *program, const def_images *images, int at) {
    const def_mask *effects = program->effect_images + (size_t)at * program->symmetries * 3;
    u128 least = ~(u128)0;
    for (int i = 0; i < images->count; i++) {
        const def_mask *effect = effects + 3 * images->symmetry[i];
        u128 number = def_join_planes((images->one[i] & ~effect[0]) | effect[1],
                                      (images->other[i] & ~effect[0]) | effect[2]);
        if (number < least) least = number;
    }
    return program->exchanges ? least : least | (u128)images->turn << (64 + program->cells);
}

/* The images of what each case changes, three masks for each symmetry: the cells, and those that
 * belong to either plane of the image afterwards. */
static void def_make_effect_images(const def_program *program, int cases, def_mask *images) {
    for (int at = 0; at < cases; at++) {
        const def_mask *effect = program->effects + (size_t)at * (program->values + 1);
        const def_mask one = program->values > 1 ? effect[2] : 0;
        const def_mask other = program->values > 2 ? effect[3] : 0;
        for (int i = 0; i < program->symmetries; i++, images += 3) {
            images[0] = def_image(program, i, effect[0]);
            images[1] = def_image(program, i, program->swaps[i] ? other : one);
            images[2] = def_image(program, i, program->swaps[i] ? one : other);
        }
    }
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
