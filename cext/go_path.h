/* Repetition: the path, what comes back on it, and which proofs that leaves usable. */

#ifndef ZERMELO_GO_PATH_H
#define ZERMELO_GO_PATH_H

#include "go_table.h"

#define GO_MAX_PATH 1280  /* boards of the history plus plies of the search */
#define GO_ARENA 30000    /* children of all nodes on the path together */
#define GO_MAX_MOVES 50
#define GO_EVERYTHING (~(go_bits)0)

enum { GO_BLACK, GO_WHITE, GO_NOBODY = -1 };
enum { GO_PSK, GO_SSK, GO_BASIC };

typedef struct {
    go_bits stones[2];
    int turn, passes, ko;
} go_state;

typedef struct {
    go_bits stones[2];
    int tag;     /* what else the ko rule compares */
    int balance; /* Black's passes minus White's up to here */
} go_past;

/* One colour's proof that it reaches its side of the target. */
typedef struct {
    go_bits keep;    /* the prover's stones on every board that the proof creates */
    go_bits keep_ko; /* the same over the boards that it creates by taking a ko */
    int depends;     /* the first path index it rests on, GO_PURE if on none */
    int value;       /* the area difference proved */
} go_proof;

typedef struct {
    go_state state;
    int move, order, shape, captured, takes_ko;
    int unseen;         /* whether nobody has looked yet if its outcome is certain */
    int repeated;       /* the path index of the same situation, -1 if there is none */
    int balance;        /* passes, as in go_past */
    go_key key;         /* plain */
    uint32_t effort[2]; /* 0: this colour has won, and `proof` is its proof */
    go_proof proof;
} go_child;

typedef struct {
    int symmetry;
    int life;    /* unconditional life and territory */
    int killers;
    int history; /* of moves, for their order */
    int shape;   /* liberties, edges and holes, for the order and the first efforts */
    int share;   /* proofs may be reused under other histories, where that is sound; without
                    it they only tell what to try first */
    int naive;   /* share every proof regardless of history: WRONG, for the tests */
} go_options;

typedef struct {
    go_size size;
    go_bits edge;
    go_table table;
    go_options options;
    int rule, cycle_passes;
    int draw_value; /* what a drawn cycle is worth, as area difference */
    int target;     /* Black must reach it, White prevent it */
    int first;      /* path[0..first-1] is the history before the root */
    uint64_t nodes, node_budget;
    volatile int stop; /* somebody wants the search to end */
    int stopped;       /* it does */
    go_past path[GO_MAX_PATH];
    uint64_t sums[GO_MAX_PATH];     /* hash of path[0..i-1] as a set */
    uint64_t orders[GO_MAX_PATH];   /* hash of path[0..i-1] as a sequence */
    int last_capture[GO_MAX_PATH];  /* boards after this index cannot be the same as path[i] */
    uint8_t killers[GO_MAX_PATH][2];
    int history[2][65];
    int used; /* children in the arena */
    go_child arena[GO_ARENA];
} go_search;

static inline int go_tag(const go_search *s, const go_state *state)
{
    int black_to_move = state->turn == GO_BLACK;
    if (s->rule == GO_PSK) return 0;
    if (s->rule == GO_SSK) return black_to_move;
    return black_to_move | state->passes << 1 | (state->ko + 1) << 2;
}

/* The latest path index up to `last` with this situation, or -1. */
static inline int go_find_past(const go_search *s, const go_bits *stones, int tag, int last)
{
    const go_past *past = s->path + last;
    int i;
    for (i = last; i >= 0; i--, past--)
        if (past->stones[0] == stones[0] && past->stones[1] == stones[1] && past->tag == tag)
            return i;
    return -1;
}

/* Names the history of path[at] in the table; never 0, which means any history. */
static inline uint64_t go_path_key(const go_search *s, int at)
{
    uint64_t key = s->sums[at] + 0x9e3779b97f4a7c15ull;
    if (!s->options.share) key += 2; /* proofs that share others are no good here */
    if (s->cycle_passes)
        key += (uint64_t)(s->path[at].balance + 1024) * 0xbf58476d1ce4e5b9ull;
    return key ? key : 1;
}

/* What the end by repetition of path[index] is worth. */
static inline int go_cycle_value(const go_search *s, int index, int balance)
{
    int passed = balance - s->path[index].balance;
    if (!s->cycle_passes || !passed) return s->draw_value;
    return passed > 0 ? s->size.points : -s->size.points;
}

static inline uint64_t go_past_hash(const go_search *s, const go_past *past)
{
    uint64_t tag = (uint64_t)past->tag;
    if (s->cycle_passes) tag |= (uint64_t)(past->balance + 1024) << 16;
    return go_hash(past->stones[0], past->stones[1], tag + 77);
}

/* As `Go._can_come_back`: which boards a history must mention. */
static inline int go_can_come_back(const go_search *s, const go_past *past)
{
    if (s->size.suicide) return 1;
    if (s->rule == GO_SSK) return past->stones[past->tag ? GO_WHITE : GO_BLACK] != 0;
    return (past->stones[0] | past->stones[1]) != 0;
}

/* Make `state` path[at], after path[at - 1], and hash the history before it: as the set of
   boards that `Go.history` lists, and as the sequence of boards on the path. */
static inline void go_put_on_path(go_search *s, int at, const go_state *state, int balance)
{
    const go_past *before = &s->path[at - 1];
    uint64_t hash = go_past_hash(s, before);
    int passed = before->stones[0] == state->stones[0] && before->stones[1] == state->stones[1];
    s->path[at].stones[0] = state->stones[0];
    s->path[at].stones[1] = state->stones[1];
    s->path[at].tag = go_tag(s, state);
    s->path[at].balance = balance;
    s->orders[at] = go_mix(s->orders[at - 1] + hash);
    s->sums[at] = s->sums[at - 1];
    if ((s->rule == GO_PSK && passed) || !go_can_come_back(s, before)) return;
    if (s->rule == GO_SSK && go_find_past(s, before->stones, before->tag, at - 2) >= 0) return;
    s->sums[at] += hash;
}

/* Whether a colour's proof found elsewhere holds at path[at]: it must create no board that
   was there before. Boards before the root count in any case; those since then only for
   proofs that rest on a repetition, or that take a ko (docs/go.md, theorem 2). */
static inline int go_usable(
    const go_search *s, int colour, go_bits keep, go_bits keep_ko, int pure, int at)
{
    int i;
    if (s->options.naive) return 1;
    for (i = 0; i < s->first; i++)
        if (!(keep & ~s->path[i].stones[colour])) return 0;
    if (pure) keep = keep_ko;
    if (keep != GO_EVERYTHING)
        for (i = s->first; i < at; i++)
            if (!(keep & ~s->path[i].stones[colour])) return 0;
    return 1;
}

#endif
