/* Go for the checker: a search for proofs that need no ko rule, for boards too large to weigh
 * all of them. It is repeated with more plies until one side finds a proof.
 */
#ifndef ZERMELO_CHECKER_GO_FREE_H
#define ZERMELO_CHECKER_GO_FREE_H

#include "go_rules.h"

/* In place of a number of plies: there is a proof. */
#define PROVED 0xFFFF

/* What is known of a state where no ko rule holds: how many plies a search for a
 * proof has gone, the point that decided, and what a proof keeps (see forces_freely). */
typedef struct {
    Points black, white, keep;
    uint32_t question;
    uint16_t plies;
    int8_t best;
} Free;


typedef struct {
    const Rules *rules;
    int prover_black, target;
    Free *table;
    uint64_t table_mask, nodes;
    volatile int *stop;
} FreeSearch;

static inline uint64_t scramble(uint64_t x) {
    x = (x ^ x >> 32) * 0xD6E8FEB86659FD93ULL;
    x = (x ^ x >> 32) * 0xD6E8FEB86659FD93ULL;
    return x ^ x >> 32;
}

/* A state and a question about it in the table of the game without a ko rule. */
static uint32_t question_of(const State *state, int prover_black, int target) {
    return 1u | (uint32_t)(state->black_to_move << 1 | state->passes << 2 | prover_black << 3
                           | (target + 128) << 4);
}

static Free *free_slot(const FreeSearch *search, const State *state, uint32_t question) {
    uint64_t key = scramble(state->black + scramble(state->white + scramble(question)));
    return &search->table[key & search->table_mask];
}

static int is_about(const Free *slot, const State *state, uint32_t question) {
    return slot->question == question && slot->black == state->black
        && slot->white == state->white;
}

/* Whether the prover forces the target within `plies` plies if there were no ko rule at all:
 *
 *     1:    a proof
 *     0:    not seen within `plies` plies; with more he may
 *
 * Then he does so under superko, too, provided that no board he creates on the way was there
 * before. For let him always play towards the nearest end. Should he create a board X that
 * was there since the beginning, the way from there was longer than needed:
 *   - the same side was to move, without a pass: the same state, and as far from the end;
 *     after his own pass: the reply there can only be one that he can answer here;
 *   - he was to move: if X scores enough, he could have passed, and the opponent would have
 *     had the choice that he has now; if not, the opponent may pass now, the prover must have
 *     a stone to answer with, and could have put it then.
 * The opponent has all his legal moves, and some that superko forbids.
 *
 * `keep` gets the prover's stones that are on every board he creates: an earlier board that
 * lacks one of them is none of those. */
static int forces_freely(FreeSearch *search, const State *state, int plies, Points *keep) {
    search->nodes++;
    if (!plies || *search->stop) return 0;
    uint32_t question = question_of(state, search->prover_black, search->target);
    Free *slot = free_slot(search, state, question);
    int first = NO_POINT;
    if (is_about(slot, state, question)) {
        *keep = slot->keep;
        if (slot->plies == PROVED) return 1;
        if (slot->plies >= plies) return 0;
        first = slot->best;
    }
    uint32_t contrary = question_of(state, !search->prover_black, 1 - search->target);
    const Free *refuted = free_slot(search, state, contrary);
    if (refuted->plies == PROVED && is_about(refuted, state, contrary)) return 0;
    int any = state->black_to_move == search->prover_black, result = !any, best = NO_POINT;
    Points kept = ~0ULL, tried = state->black | state->white;
    /* The point that decided before, then the pass, then all other points. */
    for (int turn = first == NO_POINT ? 1 : 0; result != any;) {
        Points below = ~0ULL, created = ~0ULL;
        State after;
        int point = NO_POINT, holds;
        if (turn == 1) {
            turn = 2;
            pass_turn(state, &after);
        } else {
            Points left = search->rules->mask & ~tried;
            if (!left) break;
            point = turn == 0 ? first : __builtin_ctzll(left);
            if (turn == 0) turn = 1;
            tried |= 1ULL << point;
            State free = *state;
            free.ko = NO_POINT;
            if (!put_stone(search->rules, &free, point, &after)) continue;
            after.ko = NO_POINT;
            if (any) created = state->black_to_move ? after.black : after.white;
        }
        holds = after.passes == 2 ? score_of(search->rules, after.black, after.white,
                                             search->prover_black) >= search->target
                                  : forces_freely(search, &after, plies - 1, &below);
        if (holds == any) result = any, best = point, kept = below & created;
        else if (holds) kept &= below;
    }
    if (*search->stop) return 0;
    *keep = kept;
    *slot = (Free){state->black, state->white, kept, question,
                   (uint16_t)(result ? PROVED : plies), (int8_t)best};
    return result;
}

#endif
