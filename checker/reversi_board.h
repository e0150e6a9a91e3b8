/* Reversi for the checker: moves, flips, scores, symmetries.
 *
 * Nothing here comes from the engine's kernels, on purpose: a mistake in one would have
 * to be made twice to pass. Where the engine looks along rays for the first square that
 * ends a run, this lets the carry of an addition run through it.
 *
 * Square = 8 * row + column; smaller boards lie in the upper left corner, and the squares
 * beyond them stay empty.
 */
#ifndef ZERMELO_CHECKER_REVERSI_BOARD_H
#define ZERMELO_CHECKER_REVERSI_BOARD_H

#include <stdint.h>

/* Functions that count bits all the time are compiled twice, for processors that can do
 * that in one instruction and for all others; the loader chooses. */
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__)
#define COUNTS_BITS __attribute__((target_clones("avx2", "popcnt", "default")))
#else
#define COUNTS_BITS
#endif

typedef uint64_t Board;

/* One number for each way: four are worked on at once where the processor can do that. */
#define WAYS 4
typedef Board Ways __attribute__((vector_size(8 * WAYS), aligned(8)));

#define SQUARES 64
#define PASS_MOVE 64
#define QUARTERS 4

static const int WAY_ROW[WAYS] = {0, 1, 1, 1}, WAY_COL[WAYS] = {1, -1, 0, 1};

typedef struct {
    int rows, cols, wof, symmetries;
    Board mask, corners, quarter[QUARTERS];
    /* The squares seen from a square towards higher squares, along each way; the same for
     * the board upside down, without the row; and the row towards lower squares. */
    Ways ray[SQUARES], ray_down[SQUARES];
    Board row_down[SQUARES];
    uint8_t image[8][SQUARES];
} Rules;

static inline int count(Board b) { return __builtin_popcountll(b); }

static inline int lowest(Board b) { return __builtin_ctzll(b); }

static void make_rules(Rules *rules, int rows, int cols, int wof) {
    rules->rows = rows, rules->cols = cols, rules->wof = wof;
    rules->symmetries = rows == cols ? 8 : 4;
    rules->mask = 0;
    for (int at = 0; at < QUARTERS; at++) rules->quarter[at] = 0;
    for (int square = 0; square < SQUARES; square++) {
        int row = square / 8, col = square % 8;
        int inside = row < rows && col < cols;
        if (inside) {
            rules->mask |= 1ULL << square;
            rules->quarter[2 * (row >= rows / 2) + (col >= cols / 2)] |= 1ULL << square;
        }
        for (int way = 0; way < WAYS; way++) {
            Board ray = 0;
            int r = row + WAY_ROW[way], c = col + WAY_COL[way];
            for (; r < 8 && c >= 0 && c < 8; r += WAY_ROW[way], c += WAY_COL[way])
                ray |= 1ULL << (8 * r + c);
            rules->ray[square][way] = ray;
            rules->ray_down[square][way] = way ? ray : 0;
        }
        rules->row_down[square] = ((1ULL << square) - 1) & 0xFFULL << 8 * row;
        for (int turn = 0; turn < rules->symmetries; turn++) {
            int r = turn & 1 ? rows - 1 - row : row, c = turn & 2 ? cols - 1 - col : col;
            int place = turn & 4 ? 8 * c + r : 8 * r + c;
            rules->image[turn][square] = (uint8_t)(inside ? place : square);
        }
    }
    rules->corners = 1ULL | 1ULL << (cols - 1) | 1ULL << 8 * (rows - 1)
                   | 1ULL << (8 * (rows - 1) + cols - 1);
}

/* The discs that a disc put down turns over along rays towards higher squares.
 *
 * Everything that is not on the ray counts as full, so that a one added at the ray's first
 * square is carried through the opponent's discs to the first square that is not theirs:
 *
 *     ray           . X O O O _      (_ is where the disc is put)
 *     opponent      0 0 1 1 1
 *     plus one      0 1 0 0 0        our disc there: it closes the run in
 */
static inline Board turned_along(const Ways *along, Board own, Board opponent) {
    Ways ray = *along;
    Ways end = ((opponent | ~ray) + (ray & -ray)) & ray & own;
    Ways turned = ray & (end + (Ways)(end != 0));
    return (turned[0] | turned[1]) | (turned[2] | turned[3]);
}

static inline Board upside_down(Board b) { return __builtin_bswap64(b); }

/* The discs that a disc on an empty square turns over; none where it may not be put.
 *
 * Upside down, a way to lower squares is one to higher squares, but for the row: there the
 * highest square below that is not the opponent's must be ours. */
static inline Board turned_by(const Rules *rules, Board own, Board opponent, int square) {
    Board turned = turned_along(&rules->ray[square], own, opponent);
    turned |= upside_down(turned_along(&rules->ray_down[square ^ 56], upside_down(own),
                                       upside_down(opponent)));
    Board row = rules->row_down[square], other = row & ~opponent;
    if (other) {
        Board end = 1ULL << (63 - __builtin_clzll(other));
        if (end & own) turned |= row & ~(end | (end - 1));
    }
    return turned;
}

/* The empty squares where the side `own` may put a disc. */
static inline Board placements(const Rules *rules, Board own, Board opponent) {
    const Ways step = {1, 7, 8, 9};
    /* A run cannot go on through the left or right edge, except up and down. */
    const Board inner = 0x7E7E7E7E7E7E7E7EULL;
    Ways through = opponent & (Ways){inner, inner, ~0ULL, inner};
    Ways up = own << step & through, down = own >> step & through;
    up |= up << step & through;
    down |= down >> step & through;
    /* From here on two squares at a time. */
    Ways twice = step + step, up_2 = through & through << step, down_2 = through & through >> step;
    up |= up << twice & up_2;
    down |= down >> twice & down_2;
    up |= up << twice & up_2;
    down |= down >> twice & down_2;
    Ways reached = up << step | down >> step;
    return ((reached[0] | reached[1]) | (reached[2] | reached[3])) & rules->mask
         & ~(own | opponent);
}

/* The score of a finished game for the side `own`. */
static inline int final_score(const Rules *rules, Board own, Board opponent) {
    int difference = count(own) - count(opponent);
    if (!rules->wof || !difference) return difference;
    int empty = count(rules->mask & ~(own | opponent));
    return difference > 0 ? difference + empty : difference - empty;
}

static inline int is_position(const Rules *rules, Board own, Board opponent) {
    return !(own & opponent) && !((own | opponent) & ~rules->mask);
}

static inline Board turned_board(const uint8_t *image, Board board) {
    Board result = 0;
    for (; board; board &= board - 1) result |= 1ULL << image[lowest(board)];
    return result;
}

/* The smallest of the symmetric positions: the one that a certificate tells. */
static inline void make_canonical(const Rules *rules, Board *own, Board *opponent) {
    Board least_own = *own, least_opponent = *opponent;
    for (int turn = 1; turn < rules->symmetries; turn++) {
        Board turned_own = turned_board(rules->image[turn], *own);
        if (turned_own > least_own) continue;
        Board turned_opponent = turned_board(rules->image[turn], *opponent);
        if (turned_own < least_own || turned_opponent < least_opponent)
            least_own = turned_own, least_opponent = turned_opponent;
    }
    *own = least_own, *opponent = least_opponent;
}

#endif
