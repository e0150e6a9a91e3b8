/* Conquest: can one side own every point of the board? For boards of up to 25 points.

   Iterative deepening: "the prover owns everything within so many plies" needs no history,
   since every ply leaves fewer, so states that can be reached in many ways are searched
   once. Only a yes is a proof; docs/go.md, "Conquest", says why it holds under every ko
   rule. A no means "not within these plies, by these means".

   Whether stones are unconditionally alive, and whether that makes every point certain,
   depends on one side's stones alone. So both are looked up, by the set of stones; and so
   is a lower bound for the moves that are left: how many stones, put anywhere, would make
   everything certain. */

#ifndef ZERMELO_GO_CONQUEST_H
#define ZERMELO_GO_CONQUEST_H

#include <string.h>

#include "go_board.h"

#define GO_CONQUEST_POINTS 25
#define GO_CONQUEST_PLIES 30 /* the deepest search */
#define GO_NEVER 31          /* plies within which an opponent who lives cannot be conquered */
#define GO_HOPELESS 99       /* stones missing where no stones would do */
#define GO_LINE 8            /* entries of a bucket: one cache line */
#define GO_COMPLETED_PLIES 6 /* so close to the end it is first asked whether stones could do */

/* An entry is one word, so that searches can share the table without locks:

       own stones 25 | other stones 25 | turn 1 | move 6 | plies 5 | won 1

   Stones are canonical and packed. `plies`: of a no, within how many it holds. */
#define GO_KEY_BITS 51
#define GO_KEY (((uint64_t)1 << GO_KEY_BITS) - 1)
#define GO_MOVE_SHIFT 51
#define GO_PLIES_SHIFT 57
#define GO_WON ((uint64_t)1 << 62)
#define GO_PACKED_PASS 62
#define GO_PACKED_NONE 63

enum { GO_PROVER, GO_OPPONENT };

typedef struct {
    go_size size;
    const uint8_t *missing; /* by packed stones: how many more make everything certain */
    const uint8_t *lives;   /* by packed stones, one bit: some of them are alive */
    uint64_t *table;
    uint64_t buckets; /* a power of two */
    int fewest;       /* boards with no more of the prover's stones may have been there before */
    uint64_t nodes, node_limit;
    volatile int stop;
    int stopped;
    int history[2][GO_PASS + 1];
    uint8_t killers[GO_CONQUEST_PLIES + 1][2];
} go_conquest;

/* The prover's stones come first, whoever moves. */
typedef struct {
    go_bits own, other;
    int ko, move, order, symmetry;
    uint64_t key;
} go_option;

/* A set of points without the moat, row after row. */
static inline uint32_t go_packed(const go_size *size, go_bits x)
{
    uint32_t packed = 0;
    int row;
    for (row = size->rows - 1; row >= 0; row--)
        packed = packed << size->cols | (uint32_t)(x >> 8 * row & ((1u << size->cols) - 1));
    return packed;
}

static inline go_bits go_unpacked(const go_size *size, uint32_t packed)
{
    go_bits x = 0;
    int row;
    for (row = 0; row < size->rows; row++)
        x |= (go_bits)(packed >> size->cols * row & ((1u << size->cols) - 1)) << 8 * row;
    return x;
}

/* -- what sets of stones are worth ------------------------------------------------------ */

/* Fill in `missing` and `lives` for all sets; larger sets have larger numbers. Returns 0 if
   somebody wants it to stop before the end. */
static inline int go_weigh_sets(
    const go_size *size, uint8_t *missing, uint8_t *lives, const volatile int *stop)
{
    uint32_t sets = (uint32_t)1 << size->points, i, left;
    int images = size->rows == size->cols ? 8 : 4, s, least;
    go_bits stones, alive;
    memset(missing, 255, sets);
    for (i = 0; i < sets; i++) {
        if (missing[i] != 255) continue; /* an image was there before */
        if (*stop) return 0;
        stones = go_unpacked(size, i);
        alive = go_alive(size, stones);
        for (s = 0; s < images; s++) {
            uint32_t image = go_packed(size, go_turn(size, stones, s));
            missing[image] = alive && go_territory(size, alive) == size->mask ? 0 : GO_HOPELESS;
            if (alive) lives[image >> 3] |= (uint8_t)(1u << (image & 7));
        }
    }
    for (i = sets; i-- > 0;) {
        if (!missing[i]) continue;
        if (*stop) return 0;
        least = GO_HOPELESS - 1;
        for (left = ~i & (sets - 1); left; left &= left - 1)
            if (missing[i | (left & -left)] < least) least = missing[i | (left & -left)];
        missing[i] = (uint8_t)(least + 1);
    }
    return 1;
}

static inline int go_missing(const go_conquest *c, go_bits own)
{
    return c->missing[go_packed(&c->size, own)];
}

static inline int go_lives(const go_conquest *c, uint32_t stones)
{
    return c->lives[stones >> 3] >> (stones & 7) & 1;
}

/* Whether so many stones on empty points could make everything certain. */
static int go_could_complete(const go_conquest *c, uint32_t own, uint32_t empty, int stones)
{
    uint32_t left;
    if (c->missing[own] > stones) return 0;
    if (!c->missing[own]) return 1;
    for (left = empty; left; left &= left - 1)
        if (go_could_complete(c, own | (left & -left), left & (left - 1), stones - 1)) return 1;
    return 0;
}

/* -- the table ------------------------------------------------------------------------- */

static inline void go_name(const go_conquest *c, go_option *option, int turn)
{
    go_bits own = option->own, other = option->other;
    option->symmetry = go_canonical(&c->size, &own, &other);
    option->key = (uint64_t)go_packed(&c->size, own) |
                  (uint64_t)go_packed(&c->size, other) << GO_CONQUEST_POINTS |
                  (uint64_t)turn << 2 * GO_CONQUEST_POINTS;
}

static inline uint64_t *go_line(const go_conquest *c, uint64_t key)
{
    return c->table + GO_LINE * (go_mix(key * 0x9e3779b97f4a7c15ull) & (c->buckets - 1));
}

/* The entry of a state, 0 if there is none. */
static inline uint64_t go_recall(const go_conquest *c, uint64_t key)
{
    const uint64_t *line = go_line(c, key);
    int i;
    for (i = 0; i < GO_LINE; i++) {
        uint64_t entry = line[i];
        if ((entry & GO_KEY) == key && entry >> GO_KEY_BITS) return entry;
    }
    return 0;
}

static inline int go_entry_plies(uint64_t entry) { return (int)(entry >> GO_PLIES_SHIFT & 31); }

/* Put an entry in the place of its state, or of the one that was searched least deep. */
static inline void go_put(const go_conquest *c, uint64_t entry)
{
    uint64_t *line = go_line(c, entry & GO_KEY);
    int i, place = 0, least = GO_NEVER + 1;
    for (i = 0; i < GO_LINE; i++) {
        if (((line[i] ^ entry) & GO_KEY) == 0 && line[i]) {
            place = i;
            break;
        }
        if (go_entry_plies(line[i]) < least) {
            least = go_entry_plies(line[i]);
            place = i;
        }
    }
    line[place] = entry;
}

static inline void go_record(
    const go_conquest *c, const go_option *state, int move, int plies, int won)
{
    uint64_t packed = GO_PACKED_NONE;
    if (state->ko != GO_NO_KO) return; /* entries are about states without a ban */
    if (move == GO_PASS) packed = GO_PACKED_PASS;
    else if (move >= 0)
        packed = (uint64_t)__builtin_ctz(
            go_packed(&c->size, go_turn(&c->size, (go_bits)1 << move, state->symmetry)));
    go_put(c, state->key | packed << GO_MOVE_SHIFT | (uint64_t)plies << GO_PLIES_SHIFT |
                  (won ? GO_WON : 0));
}

static inline int go_recorded_move(const go_conquest *c, const go_option *state)
{
    uint64_t entry = go_recall(c, state->key);
    uint32_t packed = (uint32_t)(entry >> GO_MOVE_SHIFT & 63);
    if (!entry || packed == GO_PACKED_NONE) return -1;
    if (packed == GO_PACKED_PASS) return GO_PASS;
    return go_first(go_turn_back(
        &c->size, go_unpacked(&c->size, (uint32_t)1 << packed), state->symmetry));
}

/* -- moves: what to try first ------------------------------------------------------------ */

static inline int go_promise(const go_conquest *c, int turn, int move, int ply, int recorded)
{
    int order = c->history[turn][move] / 16;
    if (move == recorded) order += 1 << 20;
    if (c->killers[ply][0] == move) order += 60;
    else if (c->killers[ply][1] == move) order += 30;
    return order;
}

static inline void go_praise(go_conquest *c, int turn, int move, int ply, int plies)
{
    int i;
    if (c->killers[ply][0] != move) {
        c->killers[ply][1] = c->killers[ply][0];
        c->killers[ply][0] = (uint8_t)move;
    }
    c->history[turn][move] += plies;
    if (c->history[turn][move] > 1 << 12)
        for (i = 0; i <= GO_PASS; i++) c->history[turn][i] /= 2;
}

/* Move the most promising of options[first..] to options[first]. */
static inline const go_option *go_pick(go_option *options, int first, int count)
{
    int best = first, i;
    go_option option;
    for (i = first + 1; i < count; i++)
        if (options[i].order > options[best].order) best = i;
    option = options[best];
    options[best] = options[first];
    options[first] = option;
    return &options[first];
}

static inline void go_name_all(const go_conquest *c, go_option *options, int count, int turn)
{
    int i;
    for (i = 0; i < count; i++) {
        go_name(c, &options[i], turn);
        __builtin_prefetch(go_line(c, options[i].key));
    }
}

/* -- the search ------------------------------------------------------------------------ */

static int go_holds(go_conquest *c, const go_option *state, int plies, int ply);

/* The points where a stone would make stones of the opponent alive. */
static inline go_bits go_threats(const go_conquest *c, go_bits other, go_bits empty)
{
    uint32_t stones = go_packed(&c->size, other), left = go_packed(&c->size, empty), found = 0;
    for (; left; left &= left - 1)
        if (go_lives(c, stones | (left & -left))) found |= left & -left;
    return go_unpacked(&c->size, found);
}

/* Whether boards with the alive ones of these stones, and one more, were never there before:
   such are the boards that keep what is certain. */
static inline int go_counts_as_new(const go_conquest *c, go_bits own)
{
    return !c->fewest || go_count(go_alive(&c->size, own)) >= c->fewest;
}

/* Whether the prover, to move, owns everything within so many plies (an odd number). */
static int go_conquers(go_conquest *c, const go_option *state, int plies, int ply)
{
    go_option options[GO_CONQUEST_POINTS];
    go_bits empty = c->size.mask & ~(state->own | state->other), left, threats;
    int count = 0, recorded = -1, move = -1, named = plies > 3, i, kept;
    c->nodes++;
    if (named) recorded = go_recorded_move(c, state);
    threats = plies > 1 ? go_threats(c, state->other, empty) : 0;
    for (left = empty; left; left &= left - 1) {
        go_option *option = &options[count];
        int point = go_first(left), missing;
        if (point == state->ko) continue;
        option->own = state->own;
        option->other = state->other;
        if (!go_play(&c->size, &option->own, &option->other, point, &option->ko)) continue;
        if (go_count(option->own) <= c->fewest) continue;
        /* A threat to live has to be answered, on the spot or by a capture. */
        if (threats & ~((go_bits)1 << point) && option->other == state->other) continue;
        missing = go_missing(c, option->own);
        if (!missing && go_counts_as_new(c, option->own)) {
            if (named) go_record(c, state, point, plies, 1);
            return 1;
        }
        if (missing > (plies - 1) / 2) continue;
        option->move = point;
        option->order = go_promise(c, GO_PROVER, point, ply, recorded) - 40 * missing +
                        20 * go_count(state->other & ~option->other) +
                        3 * go_count(go_grow((go_bits)1 << point) & state->other);
        count++;
    }
    if (plies == 1) return 0;
    if (named) {
        go_name_all(c, options, count, GO_OPPONENT);
        for (i = kept = 0; i < count && move < 0; i++) {
            uint64_t entry = go_recall(c, options[i].key);
            if (entry & GO_WON) {
                move = options[i].move; /* with a ban the opponent has still fewer answers */
            } else if (options[i].ko != GO_NO_KO || go_entry_plies(entry) < plies - 1) {
                options[kept++] = options[i];
            }
        }
        count = kept;
    }
    for (i = 0; i < count && move < 0; i++) {
        const go_option *option = go_pick(options, i, count);
        if (go_holds(c, option, plies - 1, ply + 1)) move = option->move;
        if (c->stopped) return 0;
    }
    if (move >= 0) go_praise(c, GO_PROVER, move, ply, plies);
    if (named) go_record(c, state, move, plies, move >= 0);
    return move >= 0;
}

/* Whether the prover owns everything within so many plies (an even number) whatever the
   opponent, to move, does. */
static int go_holds(go_conquest *c, const go_option *state, int plies, int ply)
{
    go_option options[GO_CONQUEST_POINTS + 1], *option;
    go_bits empty = c->size.mask & ~(state->own | state->other), left;
    int count = 0, recorded = -1, move = -1, within = plies, i, kept;
    if (c->stop || c->nodes >= c->node_limit) {
        c->stopped = 1;
        return 0;
    }
    c->nodes++;
    if (plies <= GO_COMPLETED_PLIES &&
        !go_could_complete(c, go_packed(&c->size, state->own), go_packed(&c->size, empty),
                           plies / 2))
        return 0;
    if (plies > 2) recorded = go_recorded_move(c, state);
    for (left = empty; left; left &= left - 1) {
        int point = go_first(left);
        if (point == state->ko) continue;
        option = &options[count];
        option->own = state->own;
        option->other = state->other;
        if (!go_play(&c->size, &option->other, &option->own, point, &option->ko)) continue;
        if (go_lives(c, go_packed(&c->size, option->other))) {
            move = point;
            within = GO_NEVER;
            break;
        }
        if (option->own != state->own && go_missing(c, option->own) > plies / 2) {
            move = point;
            continue;
        }
        option->move = point;
        option->order = go_promise(c, GO_OPPONENT, point, ply, recorded) +
                        20 * go_count(state->own & ~option->own) +
                        4 * go_count(go_grow((go_bits)1 << point) & empty);
        count++;
    }
    if (move < 0 && state->other) { /* otherwise the prover passes too, and owns everything */
        option = &options[count++];
        *option = *state;
        option->ko = GO_NO_KO;
        option->move = GO_PASS;
        option->order = go_promise(c, GO_OPPONENT, GO_PASS, ply, recorded);
    }
    if (move < 0 && plies > 4) {
        go_name_all(c, options, count, GO_PROVER);
        for (i = kept = 0; i < count && move < 0; i++) {
            uint64_t entry = go_recall(c, options[i].key);
            if (entry & GO_WON && options[i].ko == GO_NO_KO) continue;
            if (entry && !(entry & GO_WON) && go_entry_plies(entry) >= plies - 1)
                move = options[i].move; /* with a ban the prover has still fewer moves */
            else options[kept++] = options[i];
        }
        count = kept;
    }
    for (i = 0; i < count && move < 0; i++) {
        const go_option *picked = go_pick(options, i, count);
        if (!go_conquers(c, picked, plies - 1, ply + 1)) move = picked->move;
        if (c->stopped) return 0;
    }
    if (move >= 0) go_praise(c, GO_OPPONENT, move, ply, plies);
    if (plies > 2) go_record(c, state, move, within, move < 0);
    return move < 0;
}

#endif
