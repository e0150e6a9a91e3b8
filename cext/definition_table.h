/* The transposition table of definitions: what is proved about positions met before.
 *
 * A bucket is one cache line of two entries. The whole key is stored, so that no two positions are
 * ever taken for each other. Threads read and write without locks: `check` ties key and facts
 * together, and an entry that another thread is half through writing does not match and counts as
 * absent.
 */
#ifndef ZERMELO_DEFINITION_TABLE_H
#define ZERMELO_DEFINITION_TABLE_H

#include "definition_play.h"

enum { DEF_NO_MOVE = -1 };

typedef struct {
    u64 high, low; /* the key */
    u64 check;     /* key and facts tied together */
    u64 facts;     /* lo 8 | hi 8 | move 16 | effort 8 | age 8 bits, from the lowest */
} def_entry;

_Static_assert(sizeof(def_entry) == 32, "two entries fit into a cache line");

typedef struct {
    int lo, hi;
    int move; /* the best known, DEF_NO_MOVE: none */
    int effort;
} def_facts;

typedef struct {
    def_entry *entries;
    u64 mask; /* buckets of two entries - 1 */
    int age;
} def_table;

static inline u64 def_hash(u128 key) { return hash_boards((u64)key, (u64)(key >> 64)); }

static inline u64 def_check(u64 hash, u64 facts) {
    return (hash | 1) ^ facts * 0x9fb21c651e98df25ULL;
}

static inline u64 def_pack(const def_facts *facts, int age) {
    return (u64)(uint8_t)facts->lo | (u64)(uint8_t)facts->hi << 8
           | (u64)(uint16_t)facts->move << 16 | (u64)(uint8_t)facts->effort << 32
           | (u64)(uint8_t)age << 40;
}

static inline void def_unpack(u64 packed, def_facts *facts) {
    facts->lo = (int8_t)packed;
    facts->hi = (int8_t)(packed >> 8);
    facts->move = (int16_t)(packed >> 16);
    facts->effort = (uint8_t)(packed >> 32);
}

static inline def_entry *def_bucket(const def_table *table, u64 hash) {
    return table->entries + 2 * (hash & table->mask);
}

static inline void def_prefetch(const def_table *table, u128 key) {
    __builtin_prefetch(def_bucket(table, def_hash(key)));
}

/* The entry of a key, with its facts; NULL if there is none. */
static inline def_entry *def_probe(const def_table *table, u128 key, def_facts *facts) {
    u64 hash = def_hash(key);
    def_entry *entry = def_bucket(table, hash);
    for (int i = 0; i < 2; i++, entry++) {
        if (entry->low != (u64)key || entry->high != (u64)(key >> 64)) continue;
        u64 packed = entry->facts;
        if (entry->check != def_check(hash, packed)) continue;
        def_unpack(packed, facts);
        return entry;
    }
    return NULL;
}

static inline int def_effort(u64 nodes) { return last_bit(nodes | 1) + 1; }

/* Record a proved bound; what was known before stays true with it. The first entry of a bucket
 * keeps what was most expensive during this search, the second takes whatever comes. */
static void def_store(def_table *table, u128 key, int lo, int hi, int move, u64 nodes) {
    u64 hash = def_hash(key);
    def_facts facts = {lo, hi, move, def_effort(nodes)}, old;
    def_entry *bucket = def_bucket(table, hash), *entry = def_probe(table, key, &old);
    if (entry) {
        if (old.lo > lo) facts.lo = old.lo;
        if (old.hi < hi) facts.hi = old.hi;
        if (old.effort > facts.effort) facts.effort = old.effort;
        if (move == DEF_NO_MOVE) facts.move = old.move;
    } else {
        u64 first = bucket->facts;
        entry = bucket + 1;
        if (facts.effort >= (int)(uint8_t)(first >> 32)
            || (uint8_t)(first >> 40) != (uint8_t)table->age) {
            bucket[1] = bucket[0];
            entry = bucket;
        }
    }
    u64 packed = def_pack(&facts, table->age);
    entry->low = (u64)key;
    entry->high = (u64)(key >> 64);
    entry->facts = packed;
    entry->check = def_check(hash, packed);
}

#endif
