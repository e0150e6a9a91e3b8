/* Bitboard kernels of Go up to 7x7, plain C.

   Layout as in games/go_board.py: point = 8 * row + column, seven columns at most,
   so column 7 is a moat: a shift by one that leaves a row lands there and is masked.

       . . . . . . . |          x << 1 , x >> 1   right and left
       . . . . . . . |  moat    x << 8 , x >> 8   down and up
       . . . . . . . |

   Stones are told apart by role, not by colour: `own` moves, `other` answers. */

#ifndef ZERMELO_GO_BOARD_H
#define ZERMELO_GO_BOARD_H

#include <stdint.h>

typedef uint64_t go_bits;

#define GO_NO_KO (-1)
#define GO_PASS 64
#define GO_MAX_CHAINS 25 /* no two chains (or regions) touch: at most half of 49, rounded up */

typedef struct {
    go_bits mask;
    int rows, cols, points;
    int suicide; /* chains of two or more stones may be killed by their owner */
} go_size;

/* Without the instruction for it compilers call a function; this is quicker. */
static inline int go_count(go_bits x)
{
#ifdef __POPCNT__
    return __builtin_popcountll(x);
#else
    x -= x >> 1 & 0x5555555555555555ull;
    x = (x & 0x3333333333333333ull) + (x >> 2 & 0x3333333333333333ull);
    return (int)(((x + (x >> 4)) & 0x0f0f0f0f0f0f0f0full) * 0x0101010101010101ull >> 56);
#endif
}

static inline int go_first(go_bits x) { return __builtin_ctzll(x); }

/* The points of x and those next to it. */
static inline go_bits go_grow(go_bits x) { return x | x << 8 | x >> 8 | x << 1 | x >> 1; }

static inline go_bits go_touching(const go_size *size, go_bits x)
{
    return go_grow(x) & size->mask & ~x;
}

/* All points of `area` connected to `seed` within it. Two growths per round: most chains
   are short, and the second one saves a comparison. */
static inline go_bits go_flood(go_bits seed, go_bits area)
{
    go_bits filled = seed & area, before;
    do {
        before = filled;
        filled = go_grow(filled) & area;
        filled = go_grow(filled) & area;
    } while (filled != before);
    return filled;
}

static inline go_bits go_dead(const go_size *size, go_bits stones, go_bits other)
{
    go_bits empty = size->mask & ~(stones | other);
    return stones & ~go_flood(go_grow(empty), stones);
}

/* Put a stone of `own` on a point. Returns 0 where the rules forbid it (repetition is the
   caller's business); otherwise the boards are changed and *ko is set. */
static inline int go_play(const go_size *size, go_bits *own, go_bits *other, int point, int *ko)
{
    go_bits stone = (go_bits)1 << point, mine = *own | stone, theirs = *other;
    go_bits around = go_touching(size, stone), captured = 0, chain, left, touched;
    touched = around & theirs;
    while (touched) {
        chain = go_flood(touched & -touched, theirs);
        touched &= ~chain;
        if (!(go_grow(chain) & size->mask & ~(mine | theirs))) captured |= chain;
    }
    theirs &= ~captured;
    *ko = GO_NO_KO;
    if (!captured && !(around & ~(mine | theirs))) {
        chain = go_flood(stone, mine);
        if (!(go_grow(chain) & size->mask & ~(mine | theirs))) {
            if (!size->suicide || chain == stone) return 0;
            mine &= ~chain;
        }
    } else if (captured && !(captured & (captured - 1))) {
        left = around & ~theirs;
        if (left == captured && !(around & mine)) *ko = go_first(captured);
    }
    *own = mine;
    *other = theirs;
    return 1;
}

/* Own area minus the other's: stones and the empty regions that touch one colour only. */
static inline int go_area(const go_size *size, go_bits own, go_bits other)
{
    go_bits empty = size->mask & ~(own | other);
    go_bits near_own = go_flood(go_grow(own), empty), near_other = go_flood(go_grow(other), empty);
    return go_count(own | (near_own & ~near_other)) - go_count(other | (near_other & ~near_own));
}

/* Stones that live whatever the other side does, even while their owner answers attacks
   by playing inside: Benson's algorithm with one stricter condition. A region (a connected
   part of the points without own stones) is vital to a chain only if *every* point of it,
   not just every empty one, touches the chain. docs/go.md, "Unconditional life", says why. */
static inline go_bits go_alive(const go_size *size, go_bits own)
{
    go_bits chains[GO_MAX_CHAINS], borders[GO_MAX_CHAINS], regions[GO_MAX_CHAINS];
    go_bits left, region, alive = own;
    int n_chains = 0, n_regions = 0, changed, i, r, vital;
    for (left = size->mask & ~own; left; left &= ~region) {
        region = go_flood(left & -left, left);
        /* A region with a point that touches no own stone is vital to nobody. */
        if (!(region & ~go_grow(own))) regions[n_regions++] = region;
    }
    if (n_regions < 2) return 0;
    for (left = own; left; left &= ~chains[n_chains++]) {
        chains[n_chains] = go_flood(left & -left, left);
        borders[n_chains] = go_grow(chains[n_chains]);
    }
    do {
        changed = 0;
        for (i = 0; i < n_chains; i++) {
            if (!chains[i]) continue;
            vital = 0;
            for (r = 0; r < n_regions; r++) vital += !(regions[r] & ~borders[i]);
            if (vital >= 2) continue;
            changed = 1;
            alive &= ~chains[i];
            chains[i] = 0;
            for (r = 0; r < n_regions; r++)
                if (regions[r] & borders[i]) regions[r--] = regions[--n_regions];
        }
    } while (changed && alive);
    return alive;
}

/* The points that are certain to be own area when the game ends, given `alive` stones:
   these and every region between them in which the other side can never have two eyes. An
   eye needs an inner point, one that touches no alive stone, and two eyes need two inner
   points apart from each other:

       # # # # # #
       # . . . . #      # alive, o inner, . touches an alive stone
       # . o o . #      the two inner points touch each other: one eye at most,
       # . . . . #      so the region is secure
       # # # # # #

   On boards one point wide capturing in such a region could start a ko, so there no
   inner point is allowed. */
static inline go_bits go_territory(const go_size *size, go_bits alive)
{
    go_bits near = go_grow(alive), left = size->mask & ~alive, region, inner, secure = alive;
    int wide = size->rows > 1 && size->cols > 1;
    while (left) {
        region = go_flood(left & -left, left);
        left &= ~region;
        inner = region & ~near;
        if (!inner || (wide && go_count(inner) <= 2 && !(inner & ~go_grow(inner & -inner))))
            secure |= region;
    }
    return secure;
}

/* -- symmetries: bit 0 mirrors columns, bit 1 mirrors rows, bit 2 transposes (first) ------ */

static inline go_bits go_mirror_columns(const go_size *size, go_bits x)
{
    const go_bits k1 = 0x5555555555555555ull, k2 = 0x3333333333333333ull, k4 = 0x0f0f0f0f0f0f0f0full;
    x = (x >> 1 & k1) | (x & k1) << 1;
    x = (x >> 2 & k2) | (x & k2) << 2;
    x = (x >> 4 & k4) | (x & k4) << 4;
    return x >> (8 - size->cols);
}

static inline go_bits go_mirror_rows(const go_size *size, go_bits x)
{
    return __builtin_bswap64(x) >> 8 * (8 - size->rows);
}

static inline go_bits go_transpose(go_bits x)
{
    go_bits t;
    t = (x ^ x >> 7) & 0x00aa00aa00aa00aaull;
    x ^= t ^ t << 7;
    t = (x ^ x >> 14) & 0x0000cccc0000ccccull;
    x ^= t ^ t << 14;
    t = (x ^ x >> 28) & 0x00000000f0f0f0f0ull;
    return x ^ t ^ t << 28;
}

static inline go_bits go_turn(const go_size *size, go_bits x, int symmetry)
{
    if (symmetry & 4) x = go_transpose(x);
    if (symmetry & 1) x = go_mirror_columns(size, x);
    if (symmetry & 2) x = go_mirror_rows(size, x);
    return x;
}

static inline go_bits go_turn_back(const go_size *size, go_bits x, int symmetry)
{
    if (symmetry & 2) x = go_mirror_rows(size, x);
    if (symmetry & 1) x = go_mirror_columns(size, x);
    if (symmetry & 4) x = go_transpose(x);
    return x;
}

/* The symmetry that makes (own, other) smallest. */
static inline int go_canonical(const go_size *size, go_bits *own, go_bits *other)
{
    int last = size->rows == size->cols ? 8 : 4, best = 0, s;
    go_bits a = *own, b = *other, x, y;
    for (s = 1; s < last; s++) {
        x = go_turn(size, *own, s);
        if (x > a) continue;
        y = go_turn(size, *other, s);
        if (x < a || y < b) {
            a = x;
            b = y;
            best = s;
        }
    }
    *own = a;
    *other = b;
    return best;
}

static inline uint64_t go_mix(uint64_t x)
{
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93ull;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93ull;
    return x ^ x >> 32;
}

static inline uint64_t go_hash(go_bits own, go_bits other, uint64_t rest)
{
    return go_mix(own * 0x9e3779b97f4a7c15ull + go_mix(other + 0xbf58476d1ce4e5b9ull * (rest + 1)));
}

#endif
