/* The transposition table of the Go engine.

   An entry says about one state and one prover (the side whose stones are `own`):

     proved   the prover can force an area difference of at least `value`;
     failed   no proof of `fail_value` was found within `fail_depth` plies. That is a
              hint to save work: nothing is ever concluded from it.

   A *plain* entry (path = 0) holds wherever the masks allow it, a *path* entry only under
   the very history whose hash it carries; docs/go.md, "When a stored proof may be reused".
   The state is stored whole, so two states are never mistaken for one another.

   A bucket has four entries. A new state takes the place of the one that took the least
   work to find out, entries of earlier questions counting as cheaper. */

#ifndef ZERMELO_GO_TABLE_H
#define ZERMELO_GO_TABLE_H

#include <string.h>

#include "go_board.h"

#define GO_UNPROVED (-128)
#define GO_NEVER_FAILED 127
#define GO_NO_MOVE 255
#define GO_PURE 0xffff /* the proof rests on no repetition at all */
#define GO_BUCKET 4

typedef struct {
    go_bits own, other; /* canonical; the top byte of `other` packs side, passes and ko */
    uint64_t path;      /* hash of the history, 0 for a plain entry */
    go_bits keep;       /* own stones on every board the proof creates */
    go_bits keep_ko;    /* own stones on every board it creates by taking a ko */
    go_bits fail_keep;  /* the other side's stones on every board its refutation creates */
    go_bits fail_keep_ko;
    uint16_t depends;   /* GO_PURE, or the first path index the proof rests on */
    int8_t value, fail_value;
    uint8_t fail_depth, move; /* the move in canonical orientation, GO_PASS or GO_NO_MOVE */
    uint8_t work;             /* work: 1 + log2 of the nodes it took; 0 marks a free entry */
    uint8_t age : 7, fail_exact : 1; /* fail_exact: found in the exact mode */
} go_entry;

typedef struct {
    go_entry *entries;
    uint64_t buckets; /* a power of two */
    uint8_t age;
} go_table;

static inline go_entry *go_bucket(const go_table *table, go_bits own, go_bits other, uint64_t path)
{
    return table->entries + GO_BUCKET * (go_hash(own, other, path) & (table->buckets - 1));
}

static inline go_entry *go_find(const go_table *table, go_bits own, go_bits other, uint64_t path)
{
    go_entry *entry = go_bucket(table, own, other, path);
    int i;
    for (i = 0; i < GO_BUCKET; i++, entry++)
        if (entry->own == own && entry->other == other && entry->path == path && entry->work)
            return entry;
    return 0;
}

/* The entry of this state, emptied if it is new. */
static inline go_entry *go_claim(go_table *table, go_bits own, go_bits other, uint64_t path)
{
    go_entry *entry = go_bucket(table, own, other, path), *cheapest = entry;
    int i, cost, least = 1 << 20;
    for (i = 0; i < GO_BUCKET; i++, entry++) {
        if (entry->own == own && entry->other == other && entry->path == path && entry->work) {
            entry->age = table->age & 127;
            return entry;
        }
        cost = entry->work ? 1 + entry->work + (entry->age == (table->age & 127) ? 8 : 0) +
                                 (entry->value != GO_UNPROVED ? 2 : 0)
                           : 0;
        if (cost < least) {
            least = cost;
            cheapest = entry;
        }
    }
    memset(cheapest, 0, sizeof *cheapest);
    cheapest->own = own;
    cheapest->other = other;
    cheapest->path = path;
    cheapest->depends = GO_PURE;
    cheapest->value = GO_UNPROVED;
    cheapest->fail_value = GO_NEVER_FAILED;
    cheapest->move = GO_NO_MOVE;
    cheapest->work = 1;
    cheapest->age = table->age & 127;
    return cheapest;
}

#endif
