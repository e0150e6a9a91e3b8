/* The search and its table: what may be taken from it, where a result goes.

   docs/go.md, "When a stored proof may be reused", says why. */

#ifndef ZERMELO_GO_LOOKUP_H
#define ZERMELO_GO_LOOKUP_H

#include "go_path.h"

#define GO_PACKED_EVERYTHING (GO_EVERYTHING >> 8)

/* Entries for any history are folded by symmetry; those for one history are not, since
   the history would have to be turned with them. */
static inline go_key go_plain_key(const go_search *s, const go_state *state)
{
    go_key key = {state->stones[GO_BLACK], state->stones[GO_WHITE], 0, 0, 0, 0};
    int ko = state->ko;
    if (s->options.symmetry) {
        key.symmetry = go_canonical(&s->size, &key.black, &key.white);
        if (ko != GO_NO_KO)
            ko = go_first(go_turn(&s->size, (go_bits)1 << ko, key.symmetry));
    }
    key.state = state->turn | state->passes << 1 | (ko + 1) << 2;
    key.hash = go_hash(key.black, key.white, (uint64_t)key.state);
    return key;
}

static inline go_key go_path_key_of(const go_search *s, const go_state *state, int at)
{
    go_key key = {state->stones[GO_BLACK], state->stones[GO_WHITE], go_path_key(s, at), 0, 0, 0};
    key.state = state->turn | state->passes << 1 | (state->ko + 1) << 2;
    key.hash = go_hash(key.black, key.white, key.path + (uint64_t)key.state);
    return key;
}

static inline go_bits go_unpack(const go_search *s, go_bits bits, int symmetry)
{
    if (bits == GO_PACKED_EVERYTHING) return GO_EVERYTHING;
    return go_turn_back(&s->size, bits, symmetry);
}

static inline go_bits go_pack(const go_search *s, go_bits bits, int symmetry)
{
    if (bits == GO_EVERYTHING) return GO_PACKED_EVERYTHING;
    return go_turn(&s->size, bits, symmetry);
}

/* Who has reached his side of the target, by this entry. */
static inline int go_winner(const go_search *s, const go_entry *entry)
{
    if (entry->bound[GO_BLACK] >= s->target) return GO_BLACK;
    return entry->bound[GO_WHITE] < s->target ? GO_WHITE : GO_NOBODY;
}

static inline go_proof go_proof_of(
    const go_search *s, const go_entry *entry, int colour, int symmetry, int depends)
{
    go_bits keep = colour == GO_BLACK ? entry->keep_black : entry->keep_white;
    go_bits keep_ko = colour == GO_BLACK ? entry->keep_ko_black : entry->keep_ko_white;
    go_proof proof = {go_unpack(s, keep, symmetry), go_unpack(s, keep_ko, symmetry), depends,
                      entry->bound[colour]};
    return proof;
}

static inline int go_take_effort(const go_search *s, const go_entry *entry, uint32_t effort[2])
{
    if ((int8_t)entry->target != s->target || !entry->effort[0] || !entry->effort[1]) return 0;
    effort[0] = entry->effort[0];
    effort[1] = entry->effort[1];
    return 1;
}

/* Efforts from a proof that holds under some other history. */
static inline int go_guide(const go_search *s, go_child *child)
{
    const go_entry *entry = go_find(&s->table, &child->key);
    int winner = entry ? go_winner(s, entry) : GO_NOBODY;
    if (winner == GO_NOBODY) return 0;
    child->effort[winner] = 1;
    child->effort[!winner] = GO_MOST_EFFORT;
    return 1;
}

/* The colour that has won `child`, with its proof, or GO_NOBODY; *known tells whether the
   efforts were found. The child is path[at]. Of Black proof.value is a lower bound of the area
   difference, at least the target; of White an upper bound, below the target. */
static inline int go_look_up(const go_search *s, go_child *child, int at, int *known)
{
    const go_entry *entry;
    go_key key;
    int winner, pure;
    *known = 0;
    if (s->options.share) {
        entry = go_find(&s->table, &child->key);
        if (entry) {
            winner = go_winner(s, entry);
            if (winner != GO_NOBODY) {
                pure = entry->pure >> winner & 1;
                child->proof = go_proof_of(
                    s, entry, winner, child->key.symmetry, pure ? GO_PURE : at);
                if (go_usable(s, winner, child->proof.keep, child->proof.keep_ko, pure, at))
                    return winner;
            }
            *known = go_take_effort(s, entry, child->effort);
        }
    }
    if (s->options.naive) return GO_NOBODY;
    key = go_path_key_of(s, &child->state, at);
    entry = go_find(&s->table, &key);
    winner = entry ? go_winner(s, entry) : GO_NOBODY;
    if (winner != GO_NOBODY) {
        /* The same boards in another order: the index says nothing, so assume the worst. */
        int in_order = s->options.share && entry->order == (uint32_t)s->orders[at];
        child->proof = go_proof_of(s, entry, winner, 0, in_order ? entry->depends : 0);
    } else if (!s->options.share) {
        *known = (entry && go_take_effort(s, entry, child->effort)) || go_guide(s, child);
    }
    return winner;
}

static inline uint64_t go_log2(uint64_t nodes)
{
    return nodes < 2 ? 1 : 64 - (uint64_t)__builtin_clzll(nodes);
}

static inline go_entry *go_entry_for(
    go_search *s, const go_state *state, int at, int plain, uint64_t work, int *symmetry)
{
    go_key key = plain ? go_plain_key(s, state) : go_path_key_of(s, state, at);
    go_entry *entry = go_claim(&s->table, &key);
    *symmetry = key.symmetry;
    if (go_log2(work) > entry->work) entry->work = go_log2(work);
    return entry;
}

/* Record a proof where it belongs: for all histories or for this one. */
static inline void go_remember(
    go_search *s, const go_state *state, int at, int winner, const go_proof *proof, int move,
    uint64_t work)
{
    int plain = s->options.naive || (proof->depends >= at && s->options.share), symmetry;
    go_entry *entry = go_entry_for(s, state, at, plain, work, &symmetry);
    go_bits keep = go_pack(s, proof->keep, symmetry);
    go_bits keep_ko = go_pack(s, proof->keep_ko, symmetry);
    entry->bound[winner] = (int8_t)proof->value;
    if (winner == GO_BLACK) {
        entry->keep_black = keep;
        entry->keep_ko_black = keep_ko;
    } else {
        entry->keep_white = keep;
        entry->keep_ko_white = keep_ko;
    }
    entry->pure = (entry->pure & ~(1u << winner)) | (uint64_t)(proof->depends == GO_PURE) << winner;
    if (move < GO_PASS) move = go_first(go_turn(&s->size, (go_bits)1 << move, symmetry));
    entry->move = (uint64_t)move;
    if (!plain && s->options.share) {
        int other_order = entry->depends != GO_PURE && entry->order != (uint32_t)s->orders[at];
        int depends = proof->depends < 0 || other_order ? 0 : proof->depends;
        if (depends < entry->depends) entry->depends = (uint16_t)depends;
        entry->order = (uint32_t)s->orders[at];
    }
}

/* Record how much work seems to be left. */
static inline void go_note_effort(
    go_search *s, const go_state *state, int at, const uint32_t effort[2], uint64_t work)
{
    int plain = s->options.share || s->options.naive, symmetry, c;
    go_entry *entry = go_entry_for(s, state, at, plain, work, &symmetry);
    for (c = 0; c < 2; c++)
        entry->effort[c] = (uint16_t)(effort[c] < GO_MOST_EFFORT ? effort[c] : GO_MOST_EFFORT);
    entry->target = (uint8_t)s->target;
}

#endif
