/* Whether every statement of a reversi certificate follows from the others.
 *
 * Each entry is looked at by itself: its position, its move or all replies, and the
 * entries of the positions these lead to. A disc is put in every move and nobody passes
 * twice in a row, so no chain of reasons can come back to where it began.
 */
#ifndef ZERMELO_CHECKER_REVERSI_STRUCTURE_H
#define ZERMELO_CHECKER_REVERSI_STRUCTURE_H

#include <stdlib.h>
#include <string.h>

#include "reversi_board.h"

#define AT_MOST 1
#define LEAF 2
#define NO_MOVE_BYTE 255
#define NOWHERE 0xFFFFFFFFu

/* The same numbers as in structure.py. */
enum {
    SOUND,
    NO_POSITION,
    NOT_CANONICAL,
    OUT_OF_ORDER,
    BAD_BOUND,
    BAD_KIND,
    GAME_OVER,
    ILLEGAL_MOVE,
    MISSING,
    TOO_WEAK,
    WRONG_SCORE
};

typedef struct {
    const Rules *rules;
    uint32_t number;
    const uint8_t *keys, *flags, *moves;
    const int16_t *bounds;
    /* Where the entries of a position begin, by a hash of it. The seeds are random odd
     * numbers, so that nobody can make a file whose positions fall into few places. */
    uint32_t *index;
    uint32_t index_mask;
    int index_shift;
    Board seed[2];
} Entries;

/* The position that the fault is about, besides the entry itself. */
typedef struct {
    int kind;
    Board own, opponent;
} Fault;

static inline Board big_endian(const uint8_t *bytes) {
    Board result = 0;
    for (int at = 0; at < 8; at++) result = result << 8 | bytes[at];
    return result;
}

static inline void position_of(const Entries *entries, uint32_t at, Board *own, Board *opponent) {
    *own = big_endian(entries->keys + 16ULL * at);
    *opponent = big_endian(entries->keys + 16ULL * at + 8);
}

/* Multiply and shift: two positions fall into one place of m with a chance of at most 2 / m,
 * whichever they are. */
static inline uint32_t place_of(const Entries *entries, Board own, Board opponent) {
    Board mixed = own * entries->seed[0] + opponent * entries->seed[1];
    return (uint32_t)(mixed >> entries->index_shift);
}

static inline int same_position(const Entries *entries, uint32_t one, uint32_t other) {
    return !memcmp(entries->keys + 16ULL * one, entries->keys + 16ULL * other, 16);
}

/* Of each position the first entry; the other kind of bound, if there is one, is the next. */
static int make_index(Entries *entries) {
    uint64_t size = 16;
    entries->index_shift = 64 - 4;
    for (; size < 2ULL * entries->number; size *= 2) entries->index_shift--;
    entries->index = malloc(size * sizeof(uint32_t));
    if (!entries->index) return 0;
    for (uint64_t at = 0; at < size; at++) entries->index[at] = NOWHERE;
    entries->index_mask = (uint32_t)(size - 1);
    for (uint32_t at = 0; at < entries->number; at++) {
        Board own, opponent;
        position_of(entries, at, &own, &opponent);
        uint32_t place = place_of(entries, own, opponent);
        while (entries->index[place] != NOWHERE
               && !same_position(entries, entries->index[place], at))
            place = (place + 1) & entries->index_mask;
        if (entries->index[place] == NOWHERE) entries->index[place] = at;
    }
    return 1;
}

/* The entry that states a bound of this kind about a position, or NOWHERE. */
static uint32_t find_entry(const Entries *entries, Board own, Board opponent, int at_most) {
    uint32_t place = place_of(entries, own, opponent);
    for (; entries->index[place] != NOWHERE; place = (place + 1) & entries->index_mask) {
        uint32_t at = entries->index[place];
        Board there_own, there_opponent;
        position_of(entries, at, &there_own, &there_opponent);
        if (there_own != own || there_opponent != opponent) continue;
        if ((entries->flags[at] & AT_MOST) == at_most) return at;
        if (at + 1 == entries->number || !same_position(entries, at, at + 1)) return NOWHERE;
        return (entries->flags[at + 1] & AT_MOST) == at_most ? at + 1 : NOWHERE;
    }
    return NOWHERE;
}

/* Whether the position is stated, or its score known, to be good enough for its parent:
 * worth at least `needed`, or at most that. */
static int check_child(const Entries *entries, Board own, Board opponent, int at_most,
                       int needed, Fault *fault) {
    const Rules *rules = entries->rules;
    if (!placements(rules, own, opponent) && !placements(rules, opponent, own)) {
        int score = final_score(rules, own, opponent);
        fault->own = own, fault->opponent = opponent;
        if (at_most ? score <= needed : score >= needed) return SOUND;
        return WRONG_SCORE;
    }
    make_canonical(rules, &own, &opponent);
    fault->own = own, fault->opponent = opponent;
    uint32_t at = find_entry(entries, own, opponent, at_most);
    if (at == NOWHERE) return MISSING;
    int bound = entries->bounds[at];
    return (at_most ? bound <= needed : bound >= needed) ? SOUND : TOO_WEAK;
}

static int check_entry(const Entries *entries, uint32_t at, Fault *fault) {
    const Rules *rules = entries->rules;
    Board own, opponent;
    position_of(entries, at, &own, &opponent);
    fault->own = own, fault->opponent = opponent;
    int flags = entries->flags[at], at_most = flags & AT_MOST, leaf = flags & LEAF;
    int move = entries->moves[at], bound = entries->bounds[at];
    if (!is_position(rules, own, opponent)) return NO_POSITION;
    Board least_own = own, least_opponent = opponent;
    make_canonical(rules, &least_own, &least_opponent);
    if (least_own != own || least_opponent != opponent) return NOT_CANONICAL;
    if (at) {
        Board before_own, before_opponent;
        position_of(entries, at - 1, &before_own, &before_opponent);
        int later = before_own != own ? before_own < own
                  : before_opponent != opponent ? before_opponent < opponent
                  : (entries->flags[at - 1] & AT_MOST) < at_most;
        if (!later) return OUT_OF_ORDER;
    }
    int top = rules->rows * rules->cols;
    if (bound < -top || bound > top) return BAD_BOUND;
    if (flags & ~(AT_MOST | LEAF)) return BAD_KIND;
    if ((move == NO_MOVE_BYTE) != (at_most || leaf)) return BAD_KIND;
    Board moves = placements(rules, own, opponent);
    if (!moves && !placements(rules, opponent, own)) return GAME_OVER;
    if (leaf) return SOUND;
    if (!moves) {
        if (!at_most && move != PASS_MOVE) return ILLEGAL_MOVE;
        return check_child(entries, opponent, own, !at_most, -bound, fault);
    }
    if (!at_most) {
        if (move >= SQUARES || !(moves >> move & 1)) return ILLEGAL_MOVE;
        moves = 1ULL << move;
    }
    for (; moves; moves &= moves - 1) {
        int square = lowest(moves);
        Board turned = turned_by(rules, own, opponent, square);
        int kind = check_child(entries, opponent ^ turned, own | turned | 1ULL << square,
                               !at_most, -bound, fault);
        if (kind) return kind;
    }
    return SOUND;
}

/* The first entry with a fault, or the number of entries; -1 without memory. */
static int64_t first_fault(Entries *entries, Fault *fault) {
    if (!make_index(entries)) return -1;
    uint32_t at = 0;
    for (; at < entries->number; at++)
        if ((fault->kind = check_entry(entries, at, fault))) break;
    free(entries->index);
    return at;
}

#endif
