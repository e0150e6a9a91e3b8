/* The transposition table of the Go engine: one entry is one cache line.

   An entry says about one state (stones, side to move, passes, ko point):

     bound    bound[GO_BLACK]: Black can force an area difference of at least this;
              bound[GO_WHITE]: White can hold it to at most this. Both are proved.
     effort   how much work each colour seems to need to prove its answer to the question
              about `target`. A hint: nothing is ever concluded from it.

   A *plain* entry (path = 0) holds wherever the masks allow it, a *path* entry only under
   the very history whose hash it carries; docs/go.md, "When a stored proof may be reused".
   The state is stored whole, so two states are never mistaken for one another.

   A new state takes the place of the one in its bucket that took the least work to find
   out, entries of earlier questions counting as cheaper. */

#ifndef ZERMELO_GO_TABLE_H
#define ZERMELO_GO_TABLE_H

#include <string.h>

#include "go_board.h"

#define GO_NO_MOVE 255
#define GO_PURE 0xffff /* the proof rests on no repetition at all */
#define GO_BUCKET 4
#define GO_MOST_EFFORT 60000
#define GO_UNPROVED_BLACK (-128)
#define GO_UNPROVED_WHITE 127

typedef struct {
    uint64_t black : 56, state : 8; /* canonical; `state` packs side, passes and ko */
    uint64_t white : 56, work : 8;  /* work: 1 + log2 of the nodes it took; 0: a free entry */
    uint64_t path;                  /* hash of the history, 0 for a plain entry */
    uint64_t keep_black : 56, move : 8; /* the winner's move, GO_PASS or GO_NO_MOVE */
    uint64_t keep_ko_black : 56, age : 8;
    uint64_t keep_white : 56, pure : 8; /* pure, bit c: colour c's proof rests on no repetition */
    uint64_t keep_ko_white : 56, target : 8;
    union {
        uint16_t effort[2];
        uint32_t order; /* of a path entry: the order in which its history was played */
    };
    int8_t bound[2];
    uint16_t depends; /* of a path entry: the first path index that its proofs rest on */
} go_entry;

_Static_assert(sizeof(go_entry) == 64, "an entry is a cache line");

typedef struct {
    go_entry *entries;
    uint64_t buckets; /* a power of two */
    uint8_t age;
} go_table;

/* A state as the table knows it. */
typedef struct {
    go_bits black, white;
    uint64_t path, hash;
    int state;
    int symmetry; /* that turns the board so */
} go_key;

static inline go_entry *go_bucket(const go_table *table, uint64_t hash)
{
    return table->entries + GO_BUCKET * (hash & (table->buckets - 1));
}

static inline void go_prefetch(const go_table *table, uint64_t hash)
{
    const char *bucket = (const char *)go_bucket(table, hash);
    __builtin_prefetch(bucket);
    __builtin_prefetch(bucket + 2 * sizeof(go_entry));
}

static inline int go_same(const go_entry *entry, const go_key *key)
{
    return entry->black == key->black && entry->white == key->white &&
           entry->state == (uint64_t)key->state && entry->path == key->path && entry->work;
}

static inline go_entry *go_find(const go_table *table, const go_key *key)
{
    go_entry *entry = go_bucket(table, key->hash);
    int i;
    for (i = 0; i < GO_BUCKET; i++, entry++)
        if (go_same(entry, key)) return entry;
    return 0;
}

/* The entry of this state, emptied if it is new. */
static inline go_entry *go_claim(go_table *table, const go_key *key)
{
    go_entry *entry = go_bucket(table, key->hash), *cheapest = entry;
    int i, cost, least = 1 << 20;
    for (i = 0; i < GO_BUCKET; i++, entry++) {
        if (go_same(entry, key)) {
            entry->age = table->age;
            return entry;
        }
        cost = entry->work ? 1 + entry->work + (entry->age == table->age ? 8 : 0) : 0;
        if (cost < least) {
            least = cost;
            cheapest = entry;
        }
    }
    memset(cheapest, 0, sizeof *cheapest);
    cheapest->black = key->black;
    cheapest->white = key->white;
    cheapest->state = (uint64_t)key->state;
    cheapest->path = key->path;
    cheapest->bound[0] = GO_UNPROVED_BLACK;
    cheapest->bound[1] = GO_UNPROVED_WHITE;
    cheapest->depends = GO_PURE;
    cheapest->move = GO_NO_MOVE;
    cheapest->work = 1;
    cheapest->age = table->age;
    return cheapest;
}

/* Whether an entry that comes from outside is of a position on this board. */
static inline int go_is_sound(const go_entry *entry, go_bits mask)
{
    return !(entry->black & entry->white) && !((entry->black | entry->white) & ~mask) &&
           (entry->move <= GO_PASS || entry->move == GO_NO_MOVE);
}

/* Put an entry of another table into this one, unless more work is in what is there. */
static inline void go_restore(go_table *table, const go_entry *entry)
{
    go_key key = {entry->black, entry->white, entry->path, 0, (int)entry->state, 0};
    go_entry *place;
    key.hash = go_hash(key.black, key.white, key.path + (uint64_t)key.state);
    place = go_claim(table, &key);
    if (place->work <= entry->work) {
        *place = *entry;
        place->age = table->age;
    }
}

#endif
