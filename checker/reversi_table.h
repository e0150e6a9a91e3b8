/* What the checker has proved about positions, for all its threads.
 *
 * A slot's version is odd while a thread writes it and changes with every write. Whoever
 * reads compares it before and after, and takes nothing from a slot that was changed
 * meanwhile; whoever finds a slot being written leaves it alone. So nobody waits, and
 * nobody ever sees halves of two statements.
 */
#ifndef ZERMELO_CHECKER_REVERSI_TABLE_H
#define ZERMELO_CHECKER_REVERSI_TABLE_H

#include "reversi_board.h"

#define NO_MOVE 255

/* lo <= score <= hi; `best` is the move that refuted last. */
typedef struct {
    int8_t lo, hi;
    uint8_t best, unused;
} Known;

typedef struct {
    Board own, opponent;
    Known known;
    uint32_t version;
} Slot;

typedef struct {
    Slot *slots;
    Board index_mask;
} Table;

static inline Slot *find_slot(const Table *table, Board own, Board opponent) {
    Board mixed = own * 0x9E3779B97F4A7C15ULL ^ opponent * 0xC2B2AE3D27D4EB4FULL;
    mixed ^= mixed >> 29;
    mixed *= 0xBF58476D1CE4E5B9ULL;
    return &table->slots[mixed >> 32 & table->index_mask];
}

/* Whether the table knows something about the position, and what. */
static inline int recall(const Table *table, Board own, Board opponent, Known *known) {
    const Slot *slot = find_slot(table, own, opponent);
    uint32_t version = __atomic_load_n(&slot->version, __ATOMIC_ACQUIRE);
    Board there_own = __atomic_load_n(&slot->own, __ATOMIC_RELAXED);
    Board there_opponent = __atomic_load_n(&slot->opponent, __ATOMIC_RELAXED);
    __atomic_load(&slot->known, known, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return !(version & 1) && version == __atomic_load_n(&slot->version, __ATOMIC_RELAXED)
        && there_own == own && there_opponent == opponent && (own | opponent);
}

/* Add what was proved: a score above alpha is a lower bound, any other an upper one. */
static inline void remember(const Table *table, Board own, Board opponent, int alpha, int score,
                            int best) {
    Slot *slot = find_slot(table, own, opponent);
    uint32_t version = __atomic_load_n(&slot->version, __ATOMIC_RELAXED);
    if (version & 1
        || !__atomic_compare_exchange_n(&slot->version, &version, version + 1, 0,
                                        __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return;
    __atomic_thread_fence(__ATOMIC_RELEASE);
    Known known = {-SQUARES, SQUARES, NO_MOVE, 0};
    if (slot->own == own && slot->opponent == opponent) known = slot->known;
    if (score > alpha && score > known.lo) known.lo = (int8_t)score;
    if (score <= alpha && score < known.hi) known.hi = (int8_t)score;
    known.best = (uint8_t)best;
    __atomic_store_n(&slot->own, own, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->opponent, opponent, __ATOMIC_RELAXED);
    __atomic_store(&slot->known, &known, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->version, version + 2, __ATOMIC_RELEASE);
}

#endif
