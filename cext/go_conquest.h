/* Conquest: can one side own every point of the board? For boards of up to 25 points.

   Every search has a reach: each ply takes GO_PLY of it, and a move of the prover takes the
   more the lower its prior is. So likely lines are followed far and unlikely ones not, and it
   needs no history, since every ply leaves less: states that can be reached in many ways are
   searched once. Only a yes is a proof; docs/go.md, "Conquest", says why it holds under every
   ko rule. A no means "not within this reach, by these means". */

#ifndef ZERMELO_GO_CONQUEST_H
#define ZERMELO_GO_CONQUEST_H

#include "go_move_prior.h"
#include "go_sets.h"

#define GO_CONQUEST_POINTS 25
#define GO_CONQUEST_PLIES 62 /* the deepest search */
#define GO_PLY 2             /* reach that a ply takes */
#define GO_NEVER 127         /* the reach within which an opponent who lives is not conquered */
#define GO_PRICE 13          /* a prior lower by this much takes a unit of reach more */
#define GO_LINE 8            /* entries of a bucket: one cache line */
#define GO_WEIGHED_PLIES 7   /* nearer to the end learned priors cost more than they save */
#define GO_COMPLETED_PLIES 6 /* so close to the end it is first asked whether stones could do */

/* An entry is one word, so that searches can share the table without locks:

       own stones 25 | other stones 25 | turn 1 | move 5 | worth 7 | won 1

   Stones are canonical and packed. `worth` is, of a no, the reach within which it holds; of a
   yes, five bits say how many stones the prover has at least on every board he creates on
   the way (`kept`), two how far it had to reach. */
#define GO_KEY_BITS 51
#define GO_KEY (((uint64_t)1 << GO_KEY_BITS) - 1)
#define GO_MOVE_SHIFT 51
#define GO_WORTH_SHIFT 56
#define GO_WON ((uint64_t)1 << 63)
#define GO_PACKED_PASS 30
#define GO_PACKED_NONE 31
#define GO_KEPT_BITS 5
#define GO_ALL_KEPT 31 /* on no board at all: no board is created */

enum { GO_PROVER, GO_OPPONENT };

/* A state whose answer the search has found, to learn from: the prover's stones come first,
   `last` is the move that led there. */
typedef struct {
    go_bits own, other;
    int turn, last, reach;
} go_sample;

typedef struct {
    go_sample *samples;
    int count, room;
    int every;           /* one state in this number is taken */
    int nearest, farthest; /* within this reach */
    uint64_t random;
} go_samples;

typedef struct {
    go_size size;
    const uint8_t *missing; /* by packed stones: how many more make everything certain */
    const uint8_t *lives;   /* by packed stones, one bit: some of them are alive */
    uint64_t *table;
    uint64_t buckets; /* a power of two */
    int fewest;       /* boards with no more of the prover's stones may have been there before */
    const go_shapes *shapes;
    const int16_t *weights[2]; /* of priors, by whose move it is; NULL: not learned yet */
    go_samples *samples;       /* states to learn from are put here; NULL: nobody learns */
    uint64_t nodes, node_budget;
    volatile int stop;
    int stopped;
    int history[2][GO_PASS + 1];
    uint8_t killers[GO_CONQUEST_PLIES + 1][2];
} go_conquest;

/* The prover's stones come first, whoever moves. */
typedef struct {
    go_bits own, other;
    int ko, move, symmetry;
    int missing, prior, order;
    uint64_t key;
} go_option;

/* -- what sets of stones are worth ------------------------------------------------------ */

static inline int go_missing(const go_conquest *c, go_bits own)
{
    return c->missing[go_packed(&c->size, own)];
}

static inline int go_lives(const go_conquest *c, uint32_t stones)
{
    return c->lives[stones >> 3] >> (stones & 7) & 1;
}

/* Whether `stones` stones on empty points could make everything certain.

       1: there are such points; whether the opponent leaves them is another question
       0: for certain not */
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

static inline int go_worth(uint64_t entry) { return (int)(entry >> GO_WORTH_SHIFT & 127); }

/* The reach of a no: within it nothing is to be found. */
static inline int go_no_reach(uint64_t entry) { return entry & GO_WON ? 0 : go_worth(entry); }

/* The stones kept in a yes that holds here: 0 if there is none, or if a board created on the
   way might have been there before. */
static inline int go_kept(const go_conquest *c, uint64_t entry)
{
    int kept = go_worth(entry) & GO_ALL_KEPT;
    return entry & GO_WON && kept > c->fewest ? kept : 0;
}

/* About the reach an entry took to find. */
static inline int go_depth(uint64_t entry)
{
    static const int depths[4] = {6 * GO_PLY, 10 * GO_PLY, 14 * GO_PLY, 20 * GO_PLY};
    return entry & GO_WON ? depths[go_worth(entry) >> GO_KEPT_BITS] : go_worth(entry);
}

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
        if (go_depth(line[i]) < least) {
            least = go_depth(line[i]);
            place = i;
        }
    }
    line[place] = entry;
}

/* Record a yes that keeps `kept` stones, or (kept 0) a no. */
static inline void go_record(
    const go_conquest *c, const go_option *state, int move, int reach, int kept)
{
    uint64_t packed = GO_PACKED_NONE, worth = (uint64_t)reach;
    int depth = reach / GO_PLY;
    if (state->ko != GO_NO_KO) return; /* entries are about states without a ban */
    if (move == GO_PASS) packed = GO_PACKED_PASS;
    else if (move >= 0)
        packed = (uint64_t)__builtin_ctz(
            go_packed(&c->size, go_turn(&c->size, (go_bits)1 << move, state->symmetry)));
    if (kept)
        worth = (uint64_t)kept |
                (uint64_t)((depth >= 10) + (depth >= 14) + (depth >= 20)) << GO_KEPT_BITS;
    go_put(c, state->key | packed << GO_MOVE_SHIFT | worth << GO_WORTH_SHIFT |
                  (kept ? GO_WON : 0));
}

static inline int go_recorded_move(const go_conquest *c, const go_option *state)
{
    uint64_t entry = go_recall(c, state->key);
    uint32_t packed = (uint32_t)(entry >> GO_MOVE_SHIFT & 31);
    if (!entry || packed == GO_PACKED_NONE) return -1;
    if (packed == GO_PACKED_PASS) return GO_PASS;
    return go_first(go_turn_back(
        &c->size, go_unpacked(&c->size, (uint32_t)1 << packed), state->symmetry));
}

/* -- moves: what to try first ------------------------------------------------------------ */

/* What has helped elsewhere: the move recorded for this state, killers, history. */
static inline int go_custom(const go_conquest *c, int turn, int move, int ply, int recorded)
{
    int order = c->history[turn][move] / (16 * GO_PLY);
    if (move == recorded) order += 1 << 20;
    if (c->killers[ply][0] == move) order += 60;
    else if (c->killers[ply][1] == move) order += 30;
    return order;
}

/* Set `prior` and `order` of an option of the side to move in `state`. */
static inline void go_rate(const go_conquest *c, const go_option *state, go_option *option,
                           int turn, int reach, int ply, int recorded)
{
    go_bits near = go_grow((go_bits)1 << option->move), taken;
    int custom = go_custom(c, turn, option->move, ply, recorded);
    if (c->weights[turn] && reach >= GO_WEIGHED_PLIES * GO_PLY) {
        go_view view = {state->own, state->other, option->own, option->other,
                        option->move, state->move, option->missing, state->missing};
        if (turn == GO_OPPONENT) {
            view.own = state->other, view.other = state->own;
            view.mine = option->other, view.theirs = option->own;
        }
        option->prior = go_move_prior(&c->size, c->shapes, c->weights[turn], &view);
        option->order = option->prior + (custom < 1 << 20 ? custom / 8 : custom);
        return;
    }
    taken = turn == GO_PROVER ? state->other & ~option->other : state->own & ~option->own;
    option->order = custom + 20 * go_count(taken) + (state->move < GO_PASS && near >> state->move & 1 ? 10 : 0);
    if (turn == GO_PROVER)
        option->order += 3 * go_count(near & state->other) - 40 * option->missing;
    else
        option->order += 4 * go_count(near & c->size.mask & ~(state->own | state->other));
}

/* What a move of the prover takes from the reach beyond its ply. */
static inline int go_price(const go_conquest *c, const go_option *option, int best, int rank,
                           int reach)
{
    int price;
    if (!rank) return 0;
    if (!c->weights[GO_PROVER] || reach < GO_WEIGHED_PLIES * GO_PLY) return rank + 1;
    price = (best - option->prior) / GO_PRICE;
    return price > rank ? price : rank;
}

static inline void go_praise(go_conquest *c, int turn, int move, int ply, int reach)
{
    int i;
    if (c->killers[ply][0] != move) {
        c->killers[ply][1] = c->killers[ply][0];
        c->killers[ply][0] = (uint8_t)move;
    }
    c->history[turn][move] += reach;
    if (c->history[turn][move] > GO_PLY << 12)
        for (i = 0; i <= GO_PASS; i++) c->history[turn][i] /= 2;
}

/* Move the option of highest order in options[first..] to options[first]. */
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

/* -- samples to learn from --------------------------------------------------------------- */

static inline void go_take_sample(go_samples *samples, const go_option *state, int turn, int reach)
{
    go_sample *sample;
    if (!samples || state->ko != GO_NO_KO || samples->count == samples->room) return;
    if (reach < samples->nearest || reach > samples->farthest) return;
    samples->random = samples->random * 6364136223846793005ull + 1442695040888963407ull;
    if ((samples->random >> 33) % (uint64_t)samples->every) return;
    sample = &samples->samples[samples->count++];
    sample->own = state->own;
    sample->other = state->other;
    sample->turn = turn;
    sample->last = state->move;
    sample->reach = reach;
}

/* -- the search ------------------------------------------------------------------------ */

static int go_holds(go_conquest *c, const go_option *state, int reach, int ply);

/* The points where a stone would make stones of the opponent alive. */
static inline go_bits go_threats(const go_conquest *c, go_bits other, go_bits empty)
{
    uint32_t stones = go_packed(&c->size, other), left = go_packed(&c->size, empty), found = 0;
    for (; left; left &= left - 1)
        if (go_lives(c, stones | (left & -left))) found |= left & -left;
    return go_unpacked(&c->size, found);
}

/* Whether every point is certain to be the prover's, the opponent being to move:

       > 0: a proof; the least stones of his on boards he creates from here on, this included
       0:   not seen, or such a board might have been there before */
static inline int go_certain(const go_conquest *c, const go_option *option)
{
    go_bits alive;
    int kept;
    if (option->missing) return 0;
    alive = go_alive(&c->size, option->own);
    kept = go_at_most(go_count(option->own), go_count(alive) + 1);
    return kept > c->fewest && go_finishes(&c->size, alive, option->other, GO_ANSWERS) ? kept : 0;
}

/* Whether the prover, to move, owns everything within this reach:

       > 0: a proof; the least stones of his on boards he creates on the way
       0:   not found within this reach by these means; with more he may

   Means nothing if c->stopped is set. */
static int go_conquers(go_conquest *c, const go_option *state, int reach, int ply)
{
    go_option options[GO_CONQUEST_POINTS];
    go_bits empty = c->size.mask & ~(state->own | state->other), left, threats;
    const go_option *chosen = NULL;
    int count = 0, recorded = -1, named = reach >= 4 * GO_PLY || !ply, best = 0, kept = 0, i;
    c->nodes++;
    if (named) recorded = go_recorded_move(c, state);
    threats = reach >= 2 * GO_PLY ? go_threats(c, state->other, empty) : 0;
    for (left = empty; left; left &= left - 1) {
        go_option *option = &options[count];
        int point = go_first(left);
        if (point == state->ko) continue;
        option->own = state->own;
        option->other = state->other;
        if (!go_play(&c->size, &option->own, &option->other, point, &option->ko)) continue;
        if (go_count(option->own) <= c->fewest) continue;
        /* A threat to live has to be answered, on the spot or by a capture. */
        if (threats & ~((go_bits)1 << point) && option->other == state->other) continue;
        option->missing = go_missing(c, option->own);
        option->move = point;
        if ((kept = go_certain(c, option)) != 0) {
            if (named) go_record(c, state, point, reach, kept);
            return kept;
        }
        if (option->missing > (reach - GO_PLY) / (2 * GO_PLY)) continue;
        go_rate(c, state, option, GO_PROVER, reach, ply, recorded);
        count++;
    }
    if (reach < 3 * GO_PLY) return 0;
    if (named) {
        go_name_all(c, options, count, GO_OPPONENT);
        for (i = 0; i < count && !kept; i++) /* with a ban the opponent has still fewer answers */
            if ((kept = go_kept(c, go_recall(c, options[i].key))) != 0) chosen = &options[i];
    }
    for (i = 0; i < count && !kept; i++) {
        const go_option *option = go_pick(options, i, count);
        uint64_t entry;
        int left_over;
        if (!i) best = option->prior;
        left_over = reach - GO_PLY - go_price(c, option, best, i, reach);
        if (option->missing > left_over / (2 * GO_PLY) || left_over < 2 * GO_PLY) continue;
        entry = named ? go_recall(c, option->key) : 0;
        if (option->ko == GO_NO_KO && go_no_reach(entry) >= left_over) continue;
        kept = go_kept(c, entry);
        if (!kept) kept = go_holds(c, option, left_over, ply + 1);
        if (kept) chosen = option;
        if (c->stopped) return 0;
    }
    if (kept) {
        kept = go_at_most(kept, go_count(chosen->own));
        go_praise(c, GO_PROVER, chosen->move, ply, reach);
        go_take_sample(c->samples, state, GO_PROVER, reach);
    }
    if (named) go_record(c, state, kept ? chosen->move : -1, reach, kept);
    return kept;
}

/* Whether the prover owns everything within this reach whatever the opponent, to move, does:

       > 0: a proof; the least stones of the prover's on boards he creates on the way
       0:   not found within this reach by these means; recorded with a reach of GO_NEVER
            where the opponent lives, so that no reach is enough

   Means nothing if c->stopped is set. */
static int go_holds(go_conquest *c, const go_option *state, int reach, int ply)
{
    go_option options[GO_CONQUEST_POINTS + 1], *option;
    go_bits empty = c->size.mask & ~(state->own | state->other), left;
    int count = 0, recorded = -1, move = -1, within = reach, i, open;
    int kept = GO_ALL_KEPT;
    if (c->stop || c->nodes >= c->node_budget) {
        c->stopped = 1;
        return 0;
    }
    c->nodes++;
    if (reach <= GO_COMPLETED_PLIES * GO_PLY &&
        !go_could_complete(c, go_packed(&c->size, state->own), go_packed(&c->size, empty),
                           reach / (2 * GO_PLY)))
        return 0;
    if (reach >= 3 * GO_PLY) recorded = go_recorded_move(c, state);
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
        option->missing = option->own == state->own ? state->missing : go_missing(c, option->own);
        if (option->missing > reach / (2 * GO_PLY)) {
            move = point;
            continue;
        }
        option->move = point;
        go_rate(c, state, option, GO_OPPONENT, reach, ply, recorded);
        count++;
    }
    if (move < 0 && state->other) { /* otherwise the prover passes too, and owns everything */
        option = &options[count++];
        *option = *state;
        option->ko = GO_NO_KO;
        option->move = GO_PASS;
        option->order = go_custom(c, GO_OPPONENT, GO_PASS, ply, recorded);
    }
    if (move < 0 && reach >= 5 * GO_PLY) {
        go_name_all(c, options, count, GO_PROVER);
        for (i = open = 0; i < count && move < 0; i++) {
            uint64_t entry = go_recall(c, options[i].key);
            if (go_kept(c, entry) && options[i].ko == GO_NO_KO)
                kept = go_at_most(kept, go_kept(c, entry));
            else if (go_no_reach(entry) >= reach - GO_PLY)
                move = options[i].move; /* with a ban the prover has still fewer moves */
            else options[open++] = options[i];
        }
        count = open;
    }
    for (i = 0; i < count && move < 0; i++) {
        const go_option *picked = go_pick(options, i, count);
        int kept_so = go_conquers(c, picked, reach - GO_PLY, ply + 1);
        if (c->stopped) return 0;
        if (kept_so) kept = go_at_most(kept, kept_so);
        else move = picked->move;
    }
    if (move >= 0) {
        kept = 0;
        go_praise(c, GO_OPPONENT, move, ply, reach);
        if (within == reach) go_take_sample(c->samples, state, GO_OPPONENT, reach);
    }
    if (reach >= 3 * GO_PLY || !ply) go_record(c, state, move, within, kept);
    return kept;
}

#endif
