/* Reversi rules on bitboards: moves, flips, stable discs.
 *
 * Every board size uses the 8x8 layout of bits.h, smaller boards its upper left
 * corner. Squares beyond a smaller board stay empty, so a line that leaves the board
 * ends on an empty square and flips nothing: no kernel but stability needs the size.
 *
 * Each kernel exists in plain C and, where the compiler targets it, with AVX2 and BMI2, and
 * with AVX-512 where that is better. The module is compiled once for each; see setup.py.
 */
#ifndef ZERMELO_REVERSI_KERNELS_H
#define ZERMELO_REVERSI_KERNELS_H

#include "bits.h"
#if defined(__AVX2__) && defined(__BMI2__)
#include <immintrin.h>
#define KERNELS_AVX2 1
#else
#define KERNELS_AVX2 0
#endif
#if KERNELS_AVX2 && defined(__AVX512VL__) && defined(__AVX512CD__)
#define KERNELS_AVX512 1
#else
#define KERNELS_AVX512 0
#endif

/* The squares seen from a square, towards higher and towards lower bit numbers.
 * Direction d moves by STEP[d] bits:
 *
 *      9  8  7   (lower bits)
 *      1  .  1
 *      7  8  9   (higher bits)
 */
static const int STEP[4] = {1, 7, 8, 9};
typedef struct {
    u64 up[4], down[4];
} __attribute__((aligned(32))) Rays;
static Rays RAYS[64];

static inline int on_board(int row, int col) { return (row | col) >= 0 && row < 8 && col < 8; }

static void init_rays(void) {
    static const int DOWN[4] = {0, 1, 1, 1}, RIGHT[4] = {1, -1, 0, 1};
    for (int square = 0; square < 64; square++)
        for (int d = 0; d < 4; d++) {
            u64 up = 0, down = 0;
            for (int k = 1; k < 8; k++) {
                int row = square / 8 + k * DOWN[d], col = square % 8 + k * RIGHT[d];
                if (on_board(row, col)) up |= 1ULL << (8 * row + col);
                row = square / 8 - k * DOWN[d], col = square % 8 - k * RIGHT[d];
                if (on_board(row, col)) down |= 1ULL << (8 * row + col);
            }
            RAYS[square].up[d] = up;
            RAYS[square].down[d] = down;
        }
}

/* A set of squares as the kernels take it, so that sets from one kernel go to the next without a
 * detour: with AVX2 once in each of four lanes, one for each pair of opposite directions. Sets are
 * combined by the operators of C in either form. */
#if KERNELS_AVX2
typedef __m256i Lanes;

static inline Lanes in_all_lanes(u64 squares) { return _mm256_set1_epi64x((long long)squares); }

static inline u64 in_first_lane(Lanes squares) {
    return (u64)_mm_cvtsi128_si64(_mm256_castsi256_si128(squares));
}

/* The squares that are in any of the four lanes. */
static inline u64 in_any_lane(__m256i lanes) {
    __m128i half = _mm_or_si128(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256(lanes, 1));
    return (u64)_mm_cvtsi128_si64(_mm_or_si128(half, _mm_unpackhi_epi64(half, half)));
}

/* The same, in each of the lanes. */
static inline __m256i spread_any_lane(__m256i lanes) {
    lanes = _mm256_or_si256(lanes, _mm256_permute4x64_epi64(lanes, 0x4e));
    return _mm256_or_si256(lanes, _mm256_shuffle_epi32(lanes, 0x4e));
}

/* The squares that are in every lane, in each of them. */
static inline __m256i spread_every_lane(__m256i lanes) {
    lanes = _mm256_and_si256(lanes, _mm256_permute4x64_epi64(lanes, 0x4e));
    return _mm256_and_si256(lanes, _mm256_shuffle_epi32(lanes, 0x4e));
}
#else
typedef u64 Lanes;

static inline Lanes in_all_lanes(u64 squares) { return squares; }
static inline u64 in_first_lane(Lanes squares) { return squares; }
#endif

/* -- flips ------------------------------------------------------------------------- */

/* The discs turned over by a disc of `own` on an empty square, given the rays from there.
 *
 * On each ray find the first square that is not the opponent's. If it is the mover's
 * (the *outflank*), the ray's squares before it are turned:
 *
 *     square >  o o o x . .          ray
 *               0 0 0 1 1 1          ray & ~opponent
 *               0 0 0 1 0 0          its first bit & own = outflank
 *               1 1 1 0 0 0          what lies before it
 */
#if KERNELS_AVX2
/* In each lane what is turned in two of the eight directions. */
static inline __m256i flips_by_lanes(__m256i mine, __m256i theirs, const Rays *rays) {
#if !KERNELS_AVX512
    const __m256i steps = _mm256_set_epi64x(9, 8, 7, 1);
    const __m256i steps2 = _mm256_set_epi64x(18, 16, 14, 2);
    const __m256i steps4 = _mm256_set_epi64x(36, 32, 28, 4);
#endif
    const __m256i zero = _mm256_setzero_si256();
    __m256i up = _mm256_load_si256((const __m256i *)rays->up);
    __m256i down = _mm256_load_si256((const __m256i *)rays->down);

    __m256i open = _mm256_andnot_si256(theirs, up);
    __m256i outflank = _mm256_and_si256(_mm256_and_si256(open, _mm256_sub_epi64(zero, open)), mine);
    /* (outflank - 1) & ray, or nothing where there is no outflank: adding the complement
     * of "is zero" subtracts one exactly from the lanes that are not. */
    __m256i none = _mm256_cmpeq_epi64(outflank, zero);
    __m256i before = _mm256_sub_epi64(_mm256_add_epi64(outflank, _mm256_set1_epi64x(-1)), none);
    __m256i turned = _mm256_and_si256(before, up);

    open = _mm256_andnot_si256(theirs, down);
#if KERNELS_AVX512
    /* Downwards the first square is the highest bit; a shift by 64 leaves none. */
    const __m256i top = _mm256_set1_epi64x((long long)(1ULL << 63));
    outflank = _mm256_and_si256(_mm256_srlv_epi64(top, _mm256_lzcnt_epi64(open)), mine);
#else
    /* Downwards the first square is the highest bit: smear it down the ray. */
    open = _mm256_or_si256(open, _mm256_srlv_epi64(open, steps));
    open = _mm256_or_si256(open, _mm256_srlv_epi64(open, steps2));
    open = _mm256_or_si256(open, _mm256_srlv_epi64(open, steps4));
    outflank = _mm256_and_si256(_mm256_andnot_si256(_mm256_srlv_epi64(open, steps), open), mine);
#endif
    before = _mm256_sub_epi64(zero, _mm256_add_epi64(outflank, outflank));
    return _mm256_or_si256(turned, _mm256_and_si256(before, down));
}

static inline Lanes flips_in_lanes(Lanes own, Lanes opponent, const Rays *rays) {
    return spread_any_lane(flips_by_lanes(own, opponent, rays));
}

static inline u64 flips_along(Lanes own, Lanes opponent, const Rays *rays) {
    return in_any_lane(flips_by_lanes(own, opponent, rays));
}
#else
static inline u64 flips_along(u64 own, u64 opponent, const Rays *rays) {
    u64 turned = 0;
    for (int d = 0; d < 4; d++) {
        u64 ray = rays->up[d], open = ray & ~opponent;
        u64 outflank = open & (0 - open) & own;
        if (outflank) turned |= (outflank - 1) & ray;
        ray = rays->down[d], open = ray & ~opponent;
        outflank = open ? (1ULL << last_bit(open)) & own : 0;
        turned |= (0 - outflank - outflank) & ray;
    }
    return turned;
}

static inline Lanes flips_in_lanes(Lanes own, Lanes opponent, const Rays *rays) {
    return flips_along(own, opponent, rays);
}
#endif

/* The discs turned over by a disc of `own` on an empty square. */
static inline u64 flips(u64 own, u64 opponent, int square) {
    return flips_along(in_all_lanes(own), in_all_lanes(opponent), &RAYS[square]);
}

/* -- moves ------------------------------------------------------------------------- */

/* Squares where a disc of `own` would turn something over, occupied ones excluded by
 * the caller. Runs of opponent discs are followed from own discs by doubling steps;
 * runs cannot wrap round because they contain no square of the outer columns. */
#if KERNELS_AVX2
/* In each lane what is reached in two of the eight directions; and what lies beside the opponent's
 * discs in these directions, which costs little more. */
static inline __m256i reach_by_lanes(__m256i mine, __m256i opponent, __m256i *beside) {
    const __m256i steps = _mm256_set_epi64x(9, 8, 7, 1);
    const __m256i steps2 = _mm256_set_epi64x(18, 16, 14, 2);
    const __m256i inner = _mm256_set_epi64x(0x7e7e7e7e7e7e7e7eLL, -1LL, 0x7e7e7e7e7e7e7e7eLL,
                                            0x7e7e7e7e7e7e7e7eLL);
    __m256i theirs = _mm256_and_si256(opponent, inner);

    __m256i up = _mm256_and_si256(theirs, _mm256_sllv_epi64(mine, steps));
    __m256i down = _mm256_and_si256(theirs, _mm256_srlv_epi64(mine, steps));
    up = _mm256_or_si256(up, _mm256_and_si256(theirs, _mm256_sllv_epi64(up, steps)));
    down = _mm256_or_si256(down, _mm256_and_si256(theirs, _mm256_srlv_epi64(down, steps)));
    __m256i above = _mm256_sllv_epi64(theirs, steps);
    *beside = _mm256_or_si256(above, _mm256_srlv_epi64(theirs, steps));
    __m256i pairs_up = _mm256_and_si256(theirs, above);
    __m256i pairs_down = _mm256_srlv_epi64(pairs_up, steps);
    up = _mm256_or_si256(up, _mm256_and_si256(pairs_up, _mm256_sllv_epi64(up, steps2)));
    down = _mm256_or_si256(down, _mm256_and_si256(pairs_down, _mm256_srlv_epi64(down, steps2)));
    up = _mm256_or_si256(up, _mm256_and_si256(pairs_up, _mm256_sllv_epi64(up, steps2)));
    down = _mm256_or_si256(down, _mm256_and_si256(pairs_down, _mm256_srlv_epi64(down, steps2)));
    return _mm256_or_si256(_mm256_sllv_epi64(up, steps), _mm256_srlv_epi64(down, steps));
}

static inline u64 reach(u64 own, u64 opponent) {
    __m256i beside;
    return in_any_lane(reach_by_lanes(in_all_lanes(own), in_all_lanes(opponent), &beside));
}
#else
static inline u64 reach(u64 own, u64 opponent) {
    u64 found = 0;
    for (int d = 0; d < 4; d++) {
        int step = STEP[d];
        u64 theirs = step == 8 ? opponent : opponent & 0x7e7e7e7e7e7e7e7eULL;
        u64 up = theirs & own << step, down = theirs & own >> step;
        up |= theirs & up << step, down |= theirs & down >> step;
        u64 pairs_up = theirs & theirs << step, pairs_down = pairs_up >> step;
        up |= pairs_up & up << 2 * step, down |= pairs_down & down >> 2 * step;
        up |= pairs_up & up << 2 * step, down |= pairs_down & down >> 2 * step;
        found |= up << step | down >> step;
    }
    return found;
}
#endif

/* The legal placements of `own` on the empty squares `empty`. */
static inline u64 mobility(u64 own, u64 opponent, u64 empty) {
    return reach(own, opponent) & empty;
}

/* Empty squares next to opponent discs: moves that may become possible later. */
static inline u64 potential_mobility(u64 opponent, u64 empty) {
    u64 sideways = opponent & 0x7e7e7e7e7e7e7e7eULL;
    u64 near = sideways << 1 | sideways >> 1 | opponent << 8 | opponent >> 8;
    near |= sideways << 7 | sideways >> 7 | sideways << 9 | sideways >> 9;
    return near & empty;
}

/* `mobility`, and what `potential_mobility` says of the same side. */
#if KERNELS_AVX2
static inline u64 both_mobilities(u64 own, u64 opponent, u64 empty, u64 *potential) {
    __m256i beside;
    __m256i found = reach_by_lanes(in_all_lanes(own), in_all_lanes(opponent), &beside);
    *potential = in_any_lane(beside) & empty;
    return in_any_lane(found) & empty;
}
#else
static inline u64 both_mobilities(u64 own, u64 opponent, u64 empty, u64 *potential) {
    *potential = potential_mobility(opponent, empty);
    return mobility(own, opponent, empty);
}
#endif

/* -- both -------------------------------------------------------------------------- */

/* What the order of moves needs to know about a move. */
typedef struct {
    Lanes turned;
    u64 replies;   /* where the opponent may then play */
    u64 replyable; /* the empty squares then beside the mover's discs: `potential_mobility` */
} Outcome;

/* What a disc of `own` on an empty square brings; `empty` are the empty squares before it. */
#if KERNELS_AVX2
static inline Outcome outcome(Lanes own, Lanes opponent, u64 empty, int square) {
    u64 bit = 1ULL << square;
    Lanes turned = flips_in_lanes(own, opponent, &RAYS[square]), beside;
    Lanes found = reach_by_lanes(opponent ^ turned, own ^ in_all_lanes(bit) ^ turned, &beside);
    empty ^= bit;
    return (Outcome){turned, in_any_lane(found) & empty, in_any_lane(beside) & empty};
}
#else
static inline Outcome outcome(Lanes own, Lanes opponent, u64 empty, int square) {
    u64 bit = 1ULL << square, turned = flips(own, opponent, square);
    u64 next_opponent = own ^ turned ^ bit;
    empty ^= bit;
    return (Outcome){turned, mobility(opponent ^ turned, next_opponent, empty),
                     potential_mobility(next_opponent, empty)};
}
#endif

/* -- stable discs ------------------------------------------------------------------ */

/* What stability needs to know about a board of a certain size. */
typedef struct {
    u64 board;                  /* its squares */
    u64 outer_rows, outer_cols; /* first and last row, first and last column */
    int rows, cols;
    uint8_t (*row_edge)[256]; /* row_edge[own][opponent]: stable own discs of an outer row */
    uint8_t (*col_edge)[256]; /* the same for an outer column */
} Geometry;

/* Discs turned on a line of `length` squares that may have gaps. */
static int line_flips(int own, int opponent, int place, int length) {
    int turned = 0;
    for (int way = -1; way <= 1; way += 2) {
        int at = place + way, run = 0;
        while (at >= 0 && at < length && opponent >> at & 1) run |= 1 << at, at += way;
        if (at >= 0 && at < length && own >> at & 1) turned |= run;
    }
    return turned;
}

/* Own discs of an edge that no sequence of moves along the edge can turn. A disc may
 * be put on any empty square: it may turn discs on other lines, which we do not see. */
static int edge_stable(uint8_t (*known)[256], uint8_t (*done)[256], int own, int opponent,
                       int length) {
    if (done[own][opponent]) return known[own][opponent];
    int stable = own;
    for (int place = 0; place < length && stable; place++) {
        int bit = 1 << place;
        if ((own | opponent) & bit) continue;
        int turned = line_flips(own, opponent, place, length);
        stable &= edge_stable(known, done, own | turned | bit, opponent & ~turned, length);
        turned = line_flips(opponent, own, place, length);
        stable &= edge_stable(known, done, own & ~turned, opponent | turned | bit, length);
    }
    done[own][opponent] = 1;
    known[own][opponent] = (uint8_t)stable;
    return stable;
}

static uint8_t (*make_edge_table(int length))[256] {
    uint8_t(*known)[256] = calloc(256, 256), (*done)[256] = calloc(256, 256);
    if (known && done)
        for (int own = 0; own < 1 << length; own++)
            for (int opponent = 0; opponent < 1 << length; opponent++)
                if (!(own & opponent)) edge_stable(known, done, own, opponent, length);
    free(done);
    return known;
}

/* What a disc on the last empty square turns on one line, for each line length, place on it
 * and set of the mover's discs: by the mover, and << 8 by the other side in its place. */
static u16 LAST_TURNED[4096];
static u16 LAST_START[9][8]; /* by length and place: where the sets of discs start */

static void init_last_turned(void) {
    u16 at = 0;
    for (int length = 1; length <= 8; length++)
        for (int place = 0; place < length; place++) {
            LAST_START[length][place] = at;
            int others = ((1 << length) - 1) & ~(1 << place);
            for (int own = 0; own < 1 << length; own++) {
                int mine = own & others, theirs = others & ~own;
                int turned = popcount((u64)line_flips(mine, theirs, place, length));
                int turned_back = popcount((u64)line_flips(theirs, mine, place, length));
                LAST_TURNED[at++] = (u16)(turned | turned_back << 8);
            }
        }
}

static void init_kernels(void) {
    init_rays();
    init_last_turned();
}

/* What the search of the last empty squares needs to know of each, in one place. */
typedef struct {
    Rays rays;
    u64 line[4];                /* the lines through the square, on this board */
    const u16 *last_turned[4];  /* of each line: the part of LAST_TURNED for length and place */
    u64 bit;
    u64 quadrant;               /* as a bit of the parity */
} __attribute__((aligned(32))) Place;

static inline void init_place(Place *place, u64 board, int square, int quadrant) {
    place->rays = RAYS[square];
    place->bit = 1ULL << square;
    place->quadrant = 1ULL << quadrant;
    for (int d = 0; d < 4; d++) {
        u64 down = RAYS[square].down[d] & board;
        place->line[d] = place->bit | down | (RAYS[square].up[d] & board);
        place->last_turned[d] = LAST_TURNED + LAST_START[popcount(place->line[d])][popcount(down)];
    }
}

/* How many discs a disc on the last empty square of the board turns over: a disc of `own`, and
 * << 8 one of the other side, which has all the rest. */
#if KERNELS_AVX2
static inline int last_flips(u64 board, u64 own, const Place *place) {
    u16 turned = 0;
    for (int d = 0; d < 4; d++) turned += place->last_turned[d][_pext_u64(own, place->line[d])];
    return turned;
}
#else
static inline int last_flips(u64 board, u64 own, const Place *place) {
    u64 other = board & ~own & ~place->bit;
    u64 turned = flips_along(own, other, &place->rays);
    return turned ? popcount(turned) : popcount(flips_along(other, own, &place->rays)) << 8;
}
#endif

static int init_geometry(Geometry *g, int rows, int cols) {
    g->rows = rows, g->cols = cols;
    u64 row = (1ULL << cols) - 1, col = 0;
    for (int r = 0; r < rows; r++) col |= 1ULL << 8 * r;
    g->outer_rows = row | row << 8 * (rows - 1);
    g->outer_cols = col | col << (cols - 1);
    g->board = col * row;
    g->row_edge = make_edge_table(cols);
    g->col_edge = make_edge_table(rows);
    return g->row_edge && g->col_edge;
}

static void free_geometry(Geometry *g) {
    free(g->row_edge);
    free(g->col_edge);
}

/* The first column of a board as a byte, row 1 in bit 0. */
static inline int first_column(u64 b) {
    return (int)((b & 0x0101010101010101ULL) * 0x0102040810204080ULL >> 56);
}

/* A byte as the first column of a board. Bit 7 goes its own way: as a factor it would
 * meet bit 0 in the product and carry. */
static inline u64 as_column(int byte) {
    u64 spread = (u64)(byte & 127) * 0x0002040810204081ULL & 0x0101010101010101ULL;
    return spread | (u64)(byte >> 7) << 56;
}

static inline u64 stable_edges(const Geometry *g, u64 own, u64 opponent) {
    int last_row = 8 * (g->rows - 1), last_col = g->cols - 1;
    u64 top = g->row_edge[own & 255][opponent & 255];
    u64 bottom = g->row_edge[own >> last_row & 255][opponent >> last_row & 255];
    int left = g->col_edge[first_column(own)][first_column(opponent)];
    int right = g->col_edge[first_column(own >> last_col)][first_column(opponent >> last_col)];
    return top | bottom << last_row | as_column(left) | as_column(right) << last_col;
}

/* By direction (STEP) and k: the squares that have no neighbour STEP << k bits above, or below. */
static const u64 NONE_ABOVE[3][4] __attribute__((aligned(32))) = {
    {0x8080808080808080ULL, 0xff01010101010101ULL, 0xff00000000000000ULL, 0xff80808080808080ULL},
    {0xc0c0c0c0c0c0c0c0ULL, 0xffff030303030303ULL, 0xffff000000000000ULL, 0xffffc0c0c0c0c0c0ULL},
    {0xf0f0f0f0f0f0f0f0ULL, 0xffffffff0f0f0f0fULL, 0xffffffff00000000ULL, 0xfffffffff0f0f0f0ULL},
};
static const u64 NONE_BELOW[3][4] __attribute__((aligned(32))) = {
    {0x0101010101010101ULL, 0x80808080808080ffULL, 0x00000000000000ffULL, 0x01010101010101ffULL},
    {0x0303030303030303ULL, 0xc0c0c0c0c0c0ffffULL, 0x000000000000ffffULL, 0x030303030303ffffULL},
    {0x0f0f0f0f0f0f0f0fULL, 0xf0f0f0f0ffffffffULL, 0x00000000ffffffffULL, 0x0f0f0f0fffffffffULL},
};

/* A lower bound on `own` discs that can never be turned again: on a stable edge, or in
 * all four directions on a full line, at the border, or beside a stable own disc. Squares beyond
 * the board count as full. */
static u64 stable_discs(const Geometry *g, u64 own, u64 opponent) {
    u64 full = own | opponent | ~g->board, border = g->outer_rows | g->outer_cols;
    /* A border disc is safe across the border but still needs a stable edge along it. */
    u64 stable = stable_edges(g, own, opponent);
#if KERNELS_AVX2
    const __m256i steps = _mm256_set_epi64x(9, 8, 7, 1);
    __m256i lines = in_all_lanes(full);
    for (int k = 0; k < 3; k++) {
        __m256i shift = _mm256_slli_epi64(steps, k);
        __m256i above = _mm256_load_si256((const __m256i *)NONE_ABOVE[k]);
        __m256i below = _mm256_load_si256((const __m256i *)NONE_BELOW[k]);
        above = _mm256_or_si256(_mm256_srlv_epi64(lines, shift), above);
        below = _mm256_or_si256(_mm256_sllv_epi64(lines, shift), below);
        lines = _mm256_and_si256(lines, _mm256_and_si256(above, below));
    }
    lines = _mm256_or_si256(lines, _mm256_set_epi64x((long long)border, (long long)g->outer_rows,
                                                     (long long)border, (long long)g->outer_cols));
    __m256i mine = in_all_lanes(own), before;
    __m256i discs = in_all_lanes(stable) | (mine & spread_every_lane(lines));
    do {
        before = discs;
        __m256i safe = _mm256_or_si256(_mm256_sllv_epi64(discs, steps),
                                       _mm256_srlv_epi64(discs, steps));
        discs |= mine & spread_every_lane(safe | lines);
    } while (!_mm256_testc_si256(before, discs));
    return in_first_lane(discs);
#else
    u64 lines[4] = {full, full, full, full};
    for (int d = 0; d < 4; d++)
        for (int k = 0; k < 3; k++)
            lines[d] &= (lines[d] >> (STEP[d] << k) | NONE_ABOVE[k][d]) &
                        (lines[d] << (STEP[d] << k) | NONE_BELOW[k][d]);
    lines[0] |= g->outer_cols, lines[1] |= border, lines[2] |= g->outer_rows, lines[3] |= border;
    stable |= own & lines[0] & lines[1] & lines[2] & lines[3];
    for (u64 before = 0; stable != before;) {
        u64 safe = own;
        before = stable;
        for (int d = 0; d < 4; d++) safe &= stable << STEP[d] | stable >> STEP[d] | lines[d];
        stable |= safe;
    }
    return stable;
#endif
}

#endif
