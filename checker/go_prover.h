/* Go for the checker: can one side force a score within a number of plies, the past and all?
 *
 * Plain search: one move where the prover is to move, every move where the other side is,
 * the game played to its end, and all that is remembered kept apart by the whole set of
 * earlier boards. Most states need no such search, because the past decides nothing there:
 * `settled` knows them, on small boards by having weighed all boards (go_boards.h), on
 * larger ones by a search without a ko rule (go_free.h).
 */
#ifndef ZERMELO_CHECKER_GO_PROVER_H
#define ZERMELO_CHECKER_GO_PROVER_H

#include "go_boards.h"
#include "go_free.h"

#define LONGEST_PATH 512
#define MOST_MOVES 64

/* A board that was there, as far as the ko rule looks at it. */
typedef struct {
    Points black, white;
    int tag;
    /* Black's passes minus White's before it. */
    int passes;
} Earlier;

typedef struct {
    uint64_t key, check;
    uint16_t plies;
} Remembered;

typedef struct {
    Rules rules;
    Earlier path[LONGEST_PATH];
    int length;
    int prover_black, target, free_plies;
    Remembered *table;
    uint64_t table_mask, nodes;
    volatile int stop;
    /* Small boards: what the prover can force, and what the opponent can to prevent it. Under
     * `basic` only the one of them that wants more than 0, so that a cycle is no success. */
    const Ranks *own, *other;
    /* Larger ones. */
    FreeSearch free;
} Prover;

static int tag_of(const Prover *prover, const State *state) {
    if (prover->rules.ko_rule == PSK) return 0;
    if (prover->rules.ko_rule == SSK) return state->black_to_move;
    return state->black_to_move | state->passes << 1 | (state->ko + 1) << 2;
}

static State situation_of(const Earlier *earlier) {
    return (State){earlier->black, earlier->white, earlier->tag & 1, earlier->tag >> 1 & 1,
                   (earlier->tag >> 2) - 1};
}

static const Earlier *earlier_like(const Prover *prover, const State *state) {
    int tag = tag_of(prover, state);
    for (int at = prover->length; at--;) {
        const Earlier *earlier = &prover->path[at];
        if (earlier->black == state->black && earlier->white == state->white
            && earlier->tag == tag)
            return earlier;
    }
    return NULL;
}

static inline int is_board_of(const Earlier *earlier, const State *state) {
    return earlier->black == state->black && earlier->white == state->white;
}

/* Whether a side that forces its score if nothing is forbidden does so in spite of the past:
 * 1 is a proof, 0 is none.
 *
 * Let it play towards the nearest end. All states it meets are nearer to their ends than the
 * present one, so it creates no earlier board that is not, with the opponent to move. Boards
 * that come since the present state need no look: see forces_freely. */
static int forces_past_superko(const Prover *prover, const Ranks *ranks, const State *state) {
    int sure, plies = plies_to_end(ranks, state, &sure);
    if (plies == NEVER) return 0;
    for (int at = 0; at < prover->length; at++) {
        const Earlier *earlier = &prover->path[at];
        uint32_t board = number_of(ranks->boards, earlier->black, earlier->white);
        if (!is_board_of(earlier, state) && plies_of(ranks, board, 0, 0) < plies) return 0;
    }
    return 1;
}

/* The same under `basic`: no situation that was there may come back at all. */
static int forces_past_cycles(const Prover *prover, const Ranks *ranks, const State *state) {
    Chain chain = {.length = 0, .cut = 0};
    int sure, plies = plies_to_end(ranks, state, &sure);
    if (plies == NEVER) return 0;
    for (int at = 0; at < prover->length; at++) {
        State then = situation_of(&prover->path[at]);
        if (within(ranks, &then, plies - 1, &chain)) return 0;
    }
    return 1;
}

/* Under superko, by a search: as if nothing were forbidden, if no earlier board has all the
 * stones that are kept. 1 is a proof, 0 is none. */
static int forces_simply(Prover *prover, const State *state) {
    Points keep;
    prover->free.prover_black = prover->prover_black, prover->free.target = prover->target;
    if (!forces_freely(&prover->free, state, prover->free_plies, &keep)) return 0;
    for (int at = 0; at < prover->length; at++) {
        const Earlier *earlier = &prover->path[at];
        if (!is_board_of(earlier, state)
            && !(keep & ~(prover->prover_black ? earlier->black : earlier->white)))
            return 0;
    }
    return 1;
}

/* Who is seen to succeed without a search that knows the past:
 *
 *     1:     the prover forces the target: a proof
 *     -1:    his opponent prevents it: a proof
 *     0:     not seen */
static int settled(Prover *prover, const State *state) {
    if (state->passes == 2)
        return score_of(&prover->rules, state->black, state->white, prover->prover_black)
            >= prover->target ? 1 : -1;
    int basic = prover->rules.ko_rule == BASIC;
    if (!prover->own && !prover->other) return !basic && forces_simply(prover, state);
    if (!basic) {
        if (forces_past_superko(prover, prover->own, state)) return 1;
        return forces_past_superko(prover, prover->other, state) ? -1 : 0;
    }
    /* Who cannot force more than 0 even without a past cannot with one: a situation that
     * comes back is worth 0. */
    const Ranks *ranks = prover->own ? prover->own : prover->other;
    int success = ranks == prover->own ? 1 : -1, sure;
    if (plies_to_end(ranks, state, &sure) == NEVER) return sure ? -success : 0;
    return forces_past_cycles(prover, ranks, state) ? success : 0;
}

/* Two independent hashes of the state, the set of earlier boards and the question. */
static void name_of(const Prover *prover, const State *state, uint64_t *key, uint64_t *check) {
    uint64_t rest = (uint64_t)(state->black_to_move | state->passes << 1 | (state->ko + 1) << 3
                               | prover->prover_black << 10 | (prover->target + 128) << 11);
    *key = scramble(state->black + scramble(state->white + scramble(rest)));
    *check = scramble(~state->white + scramble(~state->black ^ scramble(rest + 77)));
    for (int at = 0; at < prover->length; at++) {
        const Earlier *earlier = &prover->path[at];
        uint64_t one = scramble(earlier->black + scramble(earlier->white + earlier->tag));
        *key += one;
        *check += scramble(one ^ 0x9E3779B97F4A7C15ULL);
    }
}

/* The states after all moves, stones first: few proofs begin with a pass, unless it ends the
 * game. */
static int list_children(const Prover *prover, const State *state, State *children) {
    int number = 0;
    if (state->passes) pass_turn(state, &children[number++]);
    for (Points empty = prover->rules.mask & ~(state->black | state->white); empty;
         empty &= empty - 1) {
        State *after = &children[number];
        if (!put_stone(&prover->rules, state, __builtin_ctzll(empty), after)) continue;
        if (prover->rules.ko_rule == BASIC || !earlier_like(prover, after)) number++;
    }
    if (!state->passes) pass_turn(state, &children[number++]);
    return number;
}

/* What a situation that comes back means to the prover, as in `settled`. */
static int settled_by_cycle(const Prover *prover, const Earlier *earlier, int passes) {
    int balance = passes - earlier->passes, black = 0;
    if (prover->rules.cycle_passes && balance)
        black = (balance > 0 ? 1 : -1) * prover->rules.rows * prover->rules.cols
              - prover->rules.komi;
    return (prover->prover_black ? black : -black) >= prover->target ? 1 : -1;
}

/* Whether the prover is seen to force the target within `plies` plies, or simply from there
 * on. `passes` is Black's passes minus White's so far.
 *
 *     1:    a proof
 *     0:    not seen within `plies` plies; with more he may */
static int forces(Prover *prover, const State *state, int passes, int plies) {
    prover->nodes++;
    if (prover->stop || prover->length == LONGEST_PATH || !plies) return 0;
    uint64_t key, check;
    name_of(prover, state, &key, &check);
    Remembered *slot = &prover->table[key & prover->table_mask];
    int remembers = !prover->rules.cycle_passes;
    if (remembers && slot->key == key && slot->check == check && slot->plies) {
        if (slot->plies == PROVED) return 1;
        if (slot->plies >= plies) return 0;
    }
    int any = state->black_to_move == prover->prover_black, result = !any;
    int added = !earlier_like(prover, state);
    if (added)
        prover->path[prover->length++] =
            (Earlier){state->black, state->white, tag_of(prover, state), passes};
    int passed = passes + (state->black_to_move ? 1 : -1);
    State children[MOST_MOVES];
    int number = list_children(prover, state, children), open = 0;
    /* What is settled first; only if that decides nothing the others are searched. */
    for (int at = 0; at < number && result != any; at++) {
        State *child = &children[at];
        const Earlier *same = prover->rules.ko_rule == BASIC ? earlier_like(prover, child) : NULL;
        int known = same ? settled_by_cycle(prover, same, child->passes ? passed : passes)
                         : settled(prover, child);
        if (known == (any ? 1 : -1)) result = any;
        if (!known) children[open++] = *child;
    }
    for (int at = 0; at < open && result != any; at++)
        if (forces(prover, &children[at], children[at].passes ? passed : passes, plies - 1) == any)
            result = any;
    if (added) prover->length--;
    if (prover->stop) return 0;
    if (remembers) *slot = (Remembered){key, check, (uint16_t)(result ? PROVED : plies)};
    return result;
}

/* The same for a state that may be settled without any search: 1 is a proof, 0 is none. */
static int proves(Prover *prover, const State *state, int plies) {
    int known = settled(prover, state);
    return known ? known > 0 : forces(prover, state, 0, plies);
}

#endif
