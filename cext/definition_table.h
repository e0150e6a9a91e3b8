/* The transposition table of definitions: what is proved about positions met before.
 *
 * A bucket is one cache line of two entries. The whole key is stored, so that no two positions are
 * ever taken for each other. Threads read and write without locks: the halves of the key are stored
 * mixed with what is told about the position, so that an entry which another thread is half through
 * writing shows another key and counts as absent.
 */
#ifndef ZERMELO_DEFINITION_TABLE_H
#define ZERMELO_DEFINITION_TABLE_H

#include "definition_play.h"

enum { DEF_NO_MOVE = -1 };

typedef struct {
    u64 high, low; /* the key, mixed with the other two */
    /* lo 8 | hi 8 | move 16 | effort 8 | age 8 bits, from the lowest; DEF_PRESENT; DEF_CARRIED */
    u64 facts;
    /* Of proof-number search: proof 28 | disproof 28 | threshold 8 bits; 0: none. With DEF_CARRIED
     * the carrier of a win (definition_joining.h). */
    u64 numbers;
} def_entry;

_Static_assert(sizeof(def_entry) == 32, "two entries fit into a cache line");

#define DEF_PRESENT ((u64)1 << 48)
#define DEF_CARRIED ((u64)1 << 49)

typedef struct {
    int lo, hi;
    int move; /* the best known, DEF_NO_MOVE: none */
    int effort;
    u64 numbers;
    u64 carrier; /* 0: not known */
} def_facts;

typedef struct {
    def_entry *entries;
    u64 mask; /* buckets of two entries - 1 */
    int age;
} def_table;

static inline u64 def_hash(u128 key) { return hash_boards((u64)key, (u64)(key >> 64)); }

/* What the halves of the key are mixed with: each with both words, so that no word of another
 * position goes unnoticed. */
static inline u64 def_mixed_high(u64 facts, u64 numbers) {
    return facts ^ numbers * 0x9fb21c651e98df25ULL;
}

static inline u64 def_mixed_low(u64 facts, u64 numbers) {
    return facts * 0xd6e8feb86659fd93ULL ^ numbers;
}

static inline u64 def_pack(const def_facts *facts, int age) {
    return (u64)(uint8_t)facts->lo | (u64)(uint8_t)facts->hi << 8
           | (u64)(uint16_t)facts->move << 16 | (u64)(uint8_t)facts->effort << 32
           | (u64)(uint8_t)age << 40 | DEF_PRESENT;
}

/* The facts of an entry and the key that it shows; 0 if nothing was ever written there. */
static inline int def_entry_facts(const def_entry *entry, def_facts *facts, u64 *high, u64 *low) {
    u64 packed = entry->facts, numbers = entry->numbers;
    *high = entry->high ^ def_mixed_high(packed, numbers);
    *low = entry->low ^ def_mixed_low(packed, numbers);
    facts->lo = (int8_t)packed;
    facts->hi = (int8_t)(packed >> 8);
    facts->move = (int16_t)(packed >> 16);
    facts->effort = (uint8_t)(packed >> 32);
    facts->carrier = packed & DEF_CARRIED ? numbers : 0;
    facts->numbers = packed & DEF_CARRIED ? 0 : numbers;
    return (packed & DEF_PRESENT) != 0;
}

static inline def_entry *def_bucket(const def_table *table, u64 hash) {
    return table->entries + 2 * (hash & table->mask);
}

static inline void def_prefetch(const def_table *table, u128 key) {
    __builtin_prefetch(def_bucket(table, def_hash(key)));
}

/* The entry of a key with this hash, with its facts; NULL if there is none. */
static inline def_entry *def_probe_hashed(const def_table *table, u128 key, u64 hash,
                                          def_facts *facts) {
    def_entry *entry = def_bucket(table, hash);
    for (int i = 0; i < 2; i++, entry++) {
        u64 high, low;
        if (def_entry_facts(entry, facts, &high, &low) && low == (u64)key
            && high == (u64)(key >> 64))
            return entry;
    }
    return NULL;
}

static inline def_entry *def_probe(const def_table *table, u128 key, def_facts *facts) {
    return def_probe_hashed(table, key, def_hash(key), facts);
}

static inline int def_effort(u64 nodes) { return last_bit(nodes | 1) + 1; }

/* Record a proved bound, and numbers if there are any, or a carrier (`kind` is DEF_CARRIED then,
 * else 0); what was known before stays true with it. The first entry of a bucket keeps what was most
 * expensive during this search, the second takes whatever comes. */
static void def_record(def_table *table, u128 key, int lo, int hi, int move, u64 nodes,
                       u64 numbers, u64 kind) {
    def_facts facts = {lo, hi, move, def_effort(nodes), 0, 0}, old;
    def_entry *bucket = def_bucket(table, def_hash(key)), *entry = def_probe(table, key, &old);
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
    u64 packed = def_pack(&facts, table->age) | kind;
    entry->facts = packed;
    entry->numbers = numbers;
    entry->high = (u64)(key >> 64) ^ def_mixed_high(packed, numbers);
    entry->low = (u64)key ^ def_mixed_low(packed, numbers);
}

static inline void def_store(def_table *table, u128 key, int lo, int hi, int move, u64 nodes) {
    def_record(table, key, lo, hi, move, nodes, 0, 0);
}

#endif
