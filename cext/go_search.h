/* Proof-number search for Go: can Black force an area difference of at least `target`?

   Depth-first proof-number search (Nagai's df-pn) for both colours alike: every state has
   two *efforts*, Black's to prove a yes and White's to prove a no. The side to move needs
   one child, so its effort is the least of the children's; the other side needs all of
   them. There the largest counts, and one more for each further open child: a sum would
   count again and again what transpositions share.

   Answers are strategies under the literal rules from the given state and history.
   docs/go.md explains why a proof may be reused, and under which histories. */

#ifndef ZERMELO_GO_SEARCH_H
#define ZERMELO_GO_SEARCH_H

#include "go_lookup.h"
#include "go_moves.h"

#define GO_INFINITE (1u << 30)
#define GO_SHAPE_EFFORT 3 /* what a point of shape adds to the effort of the side behind */
#define GO_EMPTY_EFFORT 3 /* what an empty point adds to both efforts: more is left to play */

static const go_proof GO_NOTHING = {GO_EVERYTHING, GO_EVERYTHING, GO_PURE, 0};

/* Who is seen to have won without a further move:

       GO_BLACK:   the area difference is at least proof->value, which is >= target
       GO_WHITE:   it is at most proof->value, which is < target
       GO_NOBODY:  not seen; nothing is proved */
static inline int go_settle(go_search *s, const go_state *state, int at, go_proof *proof)
{
    int pure = s->options.share && !s->size.suicide, area = 0, colour, value;
    go_bits alive;
    *proof = GO_NOTHING;
    if (state->passes) {
        area = go_area(&s->size, state->stones[0], state->stones[1]);
        colour = area >= s->target ? GO_BLACK : GO_WHITE;
        if (state->passes == 2 || state->turn == colour) {
            proof->value = area;
            return colour;
        }
    }
    if (!s->options.life) return GO_NOBODY;
    for (colour = 0; colour < 2; colour++) {
        alive = go_alive(&s->size, state->stones[colour]);
        if (!alive) continue;
        value = 2 * go_count(go_territory(&s->size, alive)) - s->size.points;
        if (colour == GO_WHITE) value = -value;
        /* After a pass of this colour the other may pass too and end the game as it stands. */
        if (state->passes && state->turn != colour &&
            (colour == GO_BLACK ? area < value : area > value))
            value = area;
        if (colour != (value >= s->target ? GO_BLACK : GO_WHITE)) continue;
        if (!go_usable(s, colour, alive, GO_EVERYTHING, pure, at)) continue;
        proof->value = value;
        proof->keep = alive;
        proof->depends = pure ? GO_PURE : at;
        return colour;
    }
    return GO_NOBODY;
}

/* The winner's proof at a child as one of the parent. Superko looks at the boards the
   prover creates by a stone; a cycle may also end with a pass or an opponent's move. */
static inline go_proof go_lift(const go_search *s, const go_child *child, int mover, int winner)
{
    go_proof proof = child->proof;
    if (s->rule == GO_BASIC) {
        proof.keep &= child->state.stones[winner];
    } else if (mover == winner && child->move != GO_PASS) {
        proof.keep &= child->state.stones[winner];
        if (child->takes_ko) proof.keep_ko &= child->state.stones[winner];
    }
    return proof;
}

/* The proof of the side that has won every child; `depends`: what keeps further moves away. */
static inline go_proof go_join(
    const go_search *s, const go_child *children, int count, int mover, int depends)
{
    int winner = !mover, i;
    go_proof joined = GO_NOTHING, one;
    joined.depends = depends;
    joined.value = winner == GO_BLACK ? s->size.points : -s->size.points;
    for (i = 0; i < count; i++) {
        one = go_lift(s, &children[i], mover, winner);
        joined.keep &= one.keep;
        joined.keep_ko &= one.keep_ko;
        if (one.depends < joined.depends) joined.depends = one.depends;
        if (winner == GO_BLACK ? one.value < joined.value : one.value > joined.value)
            joined.value = one.value;
    }
    return joined;
}

/* Fill in repetitions and keys; drop moves that superko forbids. Returns how many are left
   and lowers *depends to the first board that forbade one. */
static inline int go_sift(
    go_search *s, const go_state *state, int at, int balance, go_child *children, int count,
    int *depends)
{
    int kept = 0, i;
    for (i = 0; i < count; i++) {
        go_child *child = &children[i];
        child->repeated = -1;
        child->balance = balance;
        if (child->move == GO_PASS) child->balance += state->turn == GO_BLACK ? 1 : -1;
        if (s->rule == GO_BASIC || child->move != GO_PASS)
            child->repeated = go_find_past(
                s, child->state.stones, go_tag(s, &child->state),
                child->captured ? at : s->last_capture[at]);
        if (s->rule != GO_BASIC && child->repeated >= 0) {
            if (child->repeated < *depends) *depends = child->repeated;
            continue;
        }
        child->key = go_plain_key(s, &child->state);
        go_prefetch(&s->table, child->key.hash);
        if (kept != i) children[kept] = *child;
        kept++;
    }
    return kept;
}

/* What is known of a child before it is searched: a winner (as in go_settle), or the efforts.
   Whether its outcome is certain is looked for when its turn comes; most never have one. */
static inline int go_assess(go_search *s, go_child *child, int at, int mover, int top)
{
    int winner, known, value, shape, rest;
    child->unseen = 0;
    if (child->repeated >= 0 && child->state.passes < 2) {
        value = go_cycle_value(s, child->repeated, child->balance);
        child->proof = GO_NOTHING;
        child->proof.depends = child->repeated;
        child->proof.value = value;
        return value >= s->target ? GO_BLACK : GO_WHITE;
    }
    go_put_on_path(s, at, &child->state, child->balance);
    winner = go_look_up(s, child, at, &known);
    if (winner != GO_NOBODY || known) return winner;
    if (child->state.passes) {
        s->nodes++;
        winner = go_settle(s, &child->state, at, &child->proof);
        if (winner != GO_NOBODY) return winner;
    } else {
        child->unseen = 1;
    }
    shape = GO_SHAPE_EFFORT * child->shape;
    rest = s->size.points - go_count(child->state.stones[0] | child->state.stones[1]);
    child->effort[GO_BLACK] = 1 + GO_EMPTY_EFFORT * rest + (shape < 0 ? -shape : 0);
    child->effort[GO_WHITE] = 1 + GO_EMPTY_EFFORT * rest + (shape > 0 ? shape : 0);
    child->effort[mover] += (uint32_t)(top - child->order);
    return GO_NOBODY;
}

/* Look for a certain outcome of a child, which is path[at], before it is expanded: a winner as
   in go_settle. What was seen is remembered: it will be met again, and most children are not
   looked at. */
static inline int go_see(go_search *s, go_child *child, int at)
{
    int winner = go_settle(s, &child->state, at, &child->proof);
    child->unseen = 0;
    if (winner != GO_NOBODY) {
        s->nodes++;
        child->effort[winner] = 0;
        child->effort[!winner] = GO_INFINITE;
        go_remember(s, &child->state, at, winner, &child->proof, GO_NO_MOVE, 1);
    }
    return winner;
}

/* Search until a colour has won, or one's effort reaches its limit. path[at] is this state,
   everything before it is on the path. Fail-soft around the target:

       effort[GO_BLACK] == 0:  the area difference is at least proof->value, which is >= target
       effort[GO_WHITE] == 0:  it is at most proof->value, which is < target
       neither is 0:           an effort has reached its limit, and nothing is proved

   If s->stopped is set, nothing is proved, and `effort` may not have been written. */
static void go_prove(
    go_search *s, const go_state *state, int at, int balance, const uint32_t limit[2],
    uint32_t effort[2], go_proof *proof)
{
    int me = state->turn, you = !me, won = -1, depends = GO_PURE, top = 0, count, i;
    uint64_t before = s->nodes;
    go_child *children = s->arena + s->used, *child;
    if (s->stop || s->nodes >= s->node_budget) {
        s->stopped = 1;
        return;
    }
    s->nodes++;
    if (s->used + GO_MAX_MOVES > GO_ARENA || at + 2 >= GO_MAX_PATH) {
        effort[0] = effort[1] = GO_MOST_EFFORT; /* too deep: there must be a shorter way */
        return;
    }
    count = go_generate(s, state, at, children);
    count = go_sift(s, state, at, balance, children, count, &depends);
    for (i = 0; i < count; i++)
        if (i == 0 || children[i].order > top) top = children[i].order;
    for (i = 0; i < count && won < 0; i++) {
        int winner = go_assess(s, &children[i], at + 1, me, top);
        if (winner == GO_NOBODY) continue;
        children[i].effort[winner] = 0;
        children[i].effort[!winner] = GO_INFINITE;
        if (winner == me) won = i;
    }
    while (won < 0) {
        uint32_t least = GO_INFINITE, second = GO_INFINITE, most = 0, below[2];
        int open = 0, best = -1;
        for (i = 0; i < count; i++) {
            child = &children[i];
            if (!child->effort[you]) continue;
            open++;
            if (child->effort[you] > most) most = child->effort[you];
            if (best < 0 || child->effort[me] < least ||
                (child->effort[me] == least && child->order > children[best].order)) {
                second = least;
                least = child->effort[me];
                best = i;
            } else if (child->effort[me] < second) {
                second = child->effort[me];
            }
        }
        if (!open) break;
        effort[me] = least;
        effort[you] = most + (uint32_t)open - 1;
        if (effort[me] >= limit[me] || effort[you] >= limit[you]) {
            go_note_effort(s, state, at, effort, s->nodes - before);
            return;
        }
        /* Stay with this child until another one looks twice as easy. */
        below[me] = 2 * second + 1 < limit[me] ? 2 * second + 1 : limit[me];
        below[you] = limit[you] - (uint32_t)(open - 1);
        child = &children[best];
        go_put_on_path(s, at + 1, &child->state, child->balance);
        if (child->unseen && go_see(s, child, at + 1) != GO_NOBODY) {
            if (!child->effort[me]) won = best;
            continue;
        }
        s->last_capture[at + 1] = child->captured ? at : s->last_capture[at];
        s->used += count;
        go_prove(s, &child->state, at + 1, child->balance, below, child->effort, &child->proof);
        s->used -= count;
        if (s->stopped) {
            go_note_effort(s, state, at, effort, s->nodes - before);
            return;
        }
        if (!child->effort[me]) won = best;
    }
    if (won >= 0) {
        *proof = go_lift(s, &children[won], me, me);
        go_reward(s, state, at, children[won].move);
    } else {
        *proof = go_join(s, children, count, me, depends);
    }
    effort[won >= 0 ? me : you] = 0;
    effort[won >= 0 ? you : me] = GO_INFINITE;
    go_remember(s, state, at, won >= 0 ? me : you, proof,
                won >= 0 ? children[won].move : GO_NO_MOVE, s->nodes - before);
}

#endif
