/* The transposition table: what is proved about positions met before.
 *
 * A bucket is one cache line of two entries:
 *
 *     entry   own 8 | opponent 8 | facts 8 | check 8   bytes
 *     facts   lo 8 | hi 8 | best 8 | second 8 | effort 8 | age 8   bits, from the lowest
 *
 * The whole position is stored, so no two positions are ever taken for each other. Threads
 * read and write without locks; `check` ties the four words together, and an entry that
 * another thread is half through writing does not match and counts as absent. The same holds
 * between processes that map one table. `salt` is different for every game, so that entries
 * of several games can live in one table and never match each other's positions.
 *
 * Replacement: the first entry keeps what was most expensive to find out (`effort`, the
 * logarithm of the nodes spent) during this search or the last; the second takes whatever
 * comes. What the first gives up moves to the second.
 */
#ifndef ZERMELO_TRANSPOSITION_H
#define ZERMELO_TRANSPOSITION_H

#include "bits.h"
#include <stdbool.h>
#include <string.h>

#define NO_MOVE 64

typedef struct {
    u64 own;
    u64 opponent;
    u64 facts;
    u64 check;
} Entry;

typedef struct {
    Entry *entries;
    u64 mask; /* number of buckets - 1 */
    u64 salt; /* part of every check */
    int age;
} Table;

typedef struct {
    int lo;
    int hi;
    int best;
    int second;
    int effort;
} Facts;

/* How many buckets a table of at most `size` bytes has: a power of two. */
static inline u64 buckets_in(size_t size) {
    u64 buckets = 1;
    while (buckets * 2 * 2 * sizeof(Entry) <= size) buckets *= 2;
    return buckets;
}

/* A table of its own; false when there is no memory for it. */
static inline bool open_table(Table *table, size_t size) {
    u64 buckets = buckets_in(size);
    table->mask = buckets - 1;
    table->entries = allocate_table(buckets * 2 * sizeof(Entry));
    return table->entries != NULL;
}

static inline void clear_table(Table *table) {
    memset(table->entries, 0, (table->mask + 1) * 2 * sizeof(Entry));
}

static inline u64 pack_facts(int lo, int hi, int best, int second, int effort, int age) {
    return (u64)(uint8_t)lo | (u64)(uint8_t)hi << 8 | (u64)best << 16 | (u64)second << 24 |
           (u64)effort << 32 | (u64)(uint8_t)age << 40;
}

static inline Facts unpack_facts(u64 packed) {
    return (Facts){(int8_t)(packed & 255), (int8_t)(packed >> 8 & 255), packed >> 16 & 255,
                   packed >> 24 & 255, packed >> 32 & 255};
}

static inline u64 checksum(const Table *table, u64 hash, u64 packed) {
    return table->salt ^ hash ^ packed * 0x9fb21c651e98df25ULL;
}

static inline Entry *bucket_of(const Table *table, u64 hash) {
    return table->entries + 2 * (hash & table->mask);
}

/* Whether anything is stored about this position; if so, `facts` says what. */
static inline bool probe(const Table *table, u64 own, u64 opponent, u64 hash, Facts *facts) {
    const Entry *entry = bucket_of(table, hash);
    for (int slot = 0; slot < 2; slot++, entry++)
        if (entry->own == own && entry->opponent == opponent) {
            u64 packed = entry->facts;
            if (entry->check == checksum(table, hash, packed)) {
                *facts = unpack_facts(packed);
                return true;
            }
        }
    return false;
}

static inline void write_entry(const Table *table, Entry *entry, u64 own, u64 opponent, u64 hash,
                               u64 packed) {
    entry->own = own;
    entry->opponent = opponent;
    entry->facts = packed;
    entry->check = checksum(table, hash, packed);
}

static inline int effort_of(u64 packed) { return packed >> 32 & 255; }
static inline int age_of(u64 packed) { return packed >> 40 & 255; }

/* Record a proved bound; what was known about the position before stays true with it. */
static inline void store(Table *table, u64 own, u64 opponent, u64 hash, int lo, int hi, int best,
                         int effort) {
    Entry *first = bucket_of(table, hash), *entry = first;
    int second = NO_MOVE;
    for (int slot = 0; slot < 2; slot++, entry++) {
        if (entry->own != own || entry->opponent != opponent ||
            entry->check != checksum(table, hash, entry->facts))
            continue;
        Facts old = unpack_facts(entry->facts);
        bool raises = lo > old.lo;
        if (lo < old.lo) lo = old.lo;
        if (hi > old.hi) hi = old.hi;
        if (effort < old.effort) effort = old.effort;
        if (best == NO_MOVE || best == old.best) {
            best = old.best;
            second = old.second;
        } else if (raises || old.best == NO_MOVE) {
            second = old.best;
        } else {
            /* Only a bound from above is new: the move that proved `lo` stays in front. */
            second = best;
            best = old.best;
        }
        write_entry(table, entry, own, opponent, hash,
                    pack_facts(lo, hi, best, second, effort, table->age));
        return;
    }
    u64 packed = pack_facts(lo, hi, best, second, effort, table->age);
    if (effort >= effort_of(first->facts) || age_of(first->facts) != (uint8_t)table->age) {
        first[1] = first[0];
        write_entry(table, first, own, opponent, hash, packed);
    } else {
        write_entry(table, first + 1, own, opponent, hash, packed);
    }
}

/* The effort byte of a subtree: the number of bits of its node count. */
static inline int log_effort(u64 nodes) { return last_bit(nodes | 1) + 1; }

#endif
