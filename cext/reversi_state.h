/* What a reversi search carries along, and the steps all its layers share. */
#ifndef ZERMELO_REVERSI_STATE_H
#define ZERMELO_REVERSI_STATE_H

#include "reversi_evaluation.h"
#include "reversi_kernels.h"
#include "transposition.h"

#define MOST_CANDIDATES 60 /* every empty square, in positions that no game reaches */
#define BUSY_SLOTS 4096
#define GLANCES (1 << 12)  /* small enough to stay in the cache beside the thread's table */
#define LAST_IN_QUADRANT 8 /* what speaks for a move there; a reply less counts 16 */
#define ON_CORNER 12
#define MIDDLE_MOVES 16    /* more than there are moves in the middle search; a power of two */
#define KEY_UNIT (64 * MIDDLE_MOVES) /* what a point of a move's value adds to its key */
#define KEY_ZERO (1 << 12) /* keeps the keys of all moves above 0 */
#define MARGIN_STEPS 512
#define TRUSTS 3           /* passes that believe the evaluation less and less */
#define NOTHING (-127)     /* below every score: no move has been tried */
#define FOLD_EMPTIES 14    /* at least this many: symmetric positions share an entry */

enum { /* why a search stopped */
    RUNNING = 0,
    ABORTED = 1,   /* somebody asked */
    EXHAUSTED = 2, /* the node budget was reached */
    FINISHED = 3   /* another thread has the answer */
};

typedef struct { /* each technique can be switched off, to measure what it brings */
    bool table;
    bool symmetry;   /* symmetric positions share an entry of the table */
    bool stability;  /* cut-offs by stable discs */
    bool enhanced;   /* cut-offs by what the table knows of the children */
    bool parity;     /* odd quadrants first */
    bool evaluation; /* moves ordered by the trained evaluation */
    bool lookahead;  /* and by what comes after them */
    bool probable;   /* lines that look bad at a glance are not looked into */
    bool presumed;   /* passes that believe the evaluation come first */
} Options;

typedef struct { /* what the threads of one search have in common */
    volatile int stop;
    u64 node_budget;               /* for each thread */
    volatile u64 busy[BUSY_SLOTS]; /* hashes of positions that some thread is searching */
} Shared;

typedef struct { /* what a position shows without a search */
    u64 hash;          /* alone says which position it is: a wrong glance spoils an order, no proof */
    int16_t estimate;  /* for the side to move, in grains; of a finished game the score */
    uint8_t moves;     /* of the side to move */
    uint8_t replies;   /* what the other side could play */
    uint8_t reachable; /* empty squares beside the mover's discs */
    uint8_t replyable; /* and beside the other side's */
} Glance;
_Static_assert(sizeof(Glance) == 16, "four glances fill a cache line");

typedef struct { /* what a proof costs at a glance, in 1/256 bits of nodes */
    int an_empty;                                           /* for every empty square */
    int hold, hold_moves, hold_replyable;                   /* to hold the mover below a score */
    int reach, reach_moves, reach_replies, reach_reachable; /* to reach a score */
    int margin[MARGIN_STEPS]; /* by margin of the evaluation over the score to reach */
} Prices;

typedef struct { /* what one thread needs */
    u64 nodes;
    u64 board;
    u64 corners;
    u64 odd[16];                /* by parity: the squares of the quadrants it marks as odd */
    u64 around[64];             /* the neighbours of a square */
    uint8_t quadrant[64];       /* as a bit of the parity */
    Place place[64];            /* what the last empties need of each square */
    int place_key[16][64];      /* by parity: the key of a move that leaves no reply */
    int squares;
    int symmetries;
    int middle_empties; /* at most this many: search_middle */
    int root_empties;
    int root_move;          /* the best move so far at the root */
    int root_done;          /* how many moves of the root are settled */
    bool empties_to_winner; /* the WOF rule */
    bool parallel;          /* other threads search the same position */
    int trust;              /* in the evaluation: none in a proof, at most TRUSTS in a pass */
    bool stopped;
    Options options;
    Geometry *geometry;
    Evaluation *evaluation;
    const Prices *prices; /* of the look ahead */
    Table *table;
    Table *presumed; /* by trust less 1: in the same memory, each with a salt of its own */
    Table local; /* for few empties: small enough to stay in the cache */
    Shared *shared;
    Glance glances[GLANCES] __attribute__((aligned(64))); /* what this thread looked at last */
} Search;

typedef struct { /* a legal move at some node */
    u64 turned;
    int square;
    int value;
} Candidate;

typedef struct {
    Candidate item[MOST_CANDIDATES];
    int count;
} Candidates;

static Prices ORDER_PRICES;  /* for the order of moves */
static Prices EFFORT_PRICES; /* for what is told about nodes */

static inline int greater(int a, int b) { return a > b ? a : b; }
static inline int lesser(int a, int b) { return a < b ? a : b; }
static inline u64 bit_of(int square) { return 1ULL << square; }

static void init_search(Search *s, Geometry *geometry, bool empties_to_winner) {
    int rows = geometry->rows, cols = geometry->cols;
    s->geometry = geometry;
    s->board = geometry->board;
    s->squares = rows * cols;
    s->symmetries = rows == cols ? 8 : 4;
    /* Weights of larger boards do not fit into the cache beside the thread's table. */
    s->middle_empties = s->squares > 48 ? 12 : 11;
    s->empties_to_winner = empties_to_winner;
    s->prices = &ORDER_PRICES;
    for (int row = 0; row < rows; row++)
        for (int col = 0; col < cols; col++) {
            int square = 8 * row + col;
            int quadrant = 2 * (row >= rows / 2) + (col >= cols / 2);
            bool corner = (row == 0 || row == rows - 1) && (col == 0 || col == cols - 1);
            s->quadrant[square] = (uint8_t)(1 << quadrant);
            init_place(&s->place[square], geometry->board, square, quadrant);
            for (int parity = 0; parity < 16; parity++)
                if (parity >> quadrant & 1) s->odd[parity] |= bit_of(square);
            if (corner) s->corners |= bit_of(square);
            for (int parity = 0; parity < 16; parity++)
                s->place_key[parity][square] =
                    (KEY_ZERO + (parity >> quadrant & 1 ? LAST_IN_QUADRANT : 0) +
                     (corner ? ON_CORNER : 0)) * KEY_UNIT + square * MIDDLE_MOVES;
            for (int r = greater(row - 1, 0); r < lesser(row + 2, rows); r++)
                for (int c = greater(col - 1, 0); c < lesser(col + 2, cols); c++)
                    if (8 * r + c != square) s->around[square] |= bit_of(8 * r + c);
        }
}

/* One bit a quadrant, set when its number of empties is odd. */
static inline int parity_of(const Search *s, u64 own, u64 opponent) {
    int parity = 0;
    for (u64 empty = s->board & ~(own | opponent); empty; empty &= empty - 1)
        parity ^= s->quadrant[first_bit(empty)];
    return parity;
}

/* The score of a finished game under the rule of this board. */
static inline int final_score(const Search *s, u64 own, u64 opponent) {
    int difference = popcount(own) - popcount(opponent);
    if (s->empties_to_winner && difference != 0) {
        int empties = s->squares - popcount(own | opponent);
        return difference > 0 ? difference + empties : difference - empties;
    }
    return difference;
}

static inline bool must_stop(Search *s) {
    if (s->nodes > s->shared->node_budget) change_once(&s->shared->stop, RUNNING, EXHAUSTED);
    if (s->shared->stop != RUNNING) s->stopped = true;
    return s->stopped;
}

/* Whether the opponent has discs enough to keep the score at or below alpha if all were stable:
 * else no upper bound of `stability_cut` is that low. */
static inline bool stability_may_cut(const Search *s, u64 opponent, int alpha) {
    return s->options.stability && 2 * popcount(opponent) >= s->squares - alpha;
}

/* Whether the opponent's stable discs alone keep the score at or below alpha.
 *
 * Then `score` is at most alpha, and an upper bound of the position's score. */
static NEVER_INLINE bool stability_cut(const Search *s, u64 own, u64 opponent, int alpha,
                                       int *score) {
    *score = s->squares - 2 * popcount(stable_discs(s->geometry, opponent, own));
    return *score <= alpha;
}

/* -- moves ------------------------------------------------------------------------- */

/* After a move: the discs of the side then to move. */
static inline u64 own_after(u64 opponent, const Candidate *move) { return opponent ^ move->turned; }

/* After a move: the discs of the side that made it. */
static inline u64 opponent_after(u64 own, const Candidate *move) {
    return own ^ move->turned ^ bit_of(move->square);
}

static inline void list_moves(u64 own, u64 opponent, u64 squares, Candidates *moves) {
    moves->count = 0;
    for (; squares; squares &= squares - 1) {
        Candidate *move = &moves->item[moves->count++];
        move->square = first_bit(squares);
        move->turned = flips(own, opponent, move->square);
    }
}

/* Bring the most promising of the moves not yet tried to place `done`. */
static inline void take_best(Candidates *moves, int done) {
    int best = done;
    for (int i = done + 1; i < moves->count; i++)
        if (moves->item[i].value > moves->item[best].value) best = i;
    if (best != done) {
        Candidate swap = moves->item[done];
        moves->item[done] = moves->item[best];
        moves->item[best] = swap;
    }
}

/* -- symmetry ----------------------------------------------------------------------
 *
 * A symmetry is three bits, applied in this order: 1 rows mirrored, 2 columns mirrored,
 * 4 rows and columns exchanged (square boards only). */

static inline u64 turn_rows(const Search *s, u64 b) {
    return mirror_rows(b) >> 8 * (8 - s->geometry->rows);
}

static inline u64 turn_cols(const Search *s, u64 b) {
    return mirror_cols(b) >> (8 - s->geometry->cols);
}

static inline u64 transform(const Search *s, u64 b, int symmetry) {
    if (symmetry & 1) b = turn_rows(s, b);
    if (symmetry & 2) b = turn_cols(s, b);
    return symmetry & 4 ? transpose(b) : b;
}

/* All images of a set of squares, by symmetry. A mirrored row is a mirrored column of the exchanged
 * board, so rows and columns are exchanged once. */
static inline void images_of(const Search *s, u64 b, u64 images[8]) {
    images[0] = b;
    images[1] = turn_rows(s, b);
    images[2] = turn_cols(s, b);
    images[3] = turn_rows(s, images[2]);
    if (s->symmetries < 8) return;
    images[4] = transpose(b);
    images[5] = turn_cols(s, images[4]);
    images[6] = turn_rows(s, images[4]);
    images[7] = turn_rows(s, images[5]);
}

/* Replace a position by the smallest of its symmetric images; which one, is returned. */
static inline int fold(const Search *s, u64 *own, u64 *opponent) {
    u64 images[8], least = *own;
    int best = 0, alike = 0;
    images_of(s, *own, images);
    /* Which one is least cannot be guessed, so nothing branches on it. */
    for (int symmetry = 1; symmetry < s->symmetries; symmetry++) {
        u64 image = images[symmetry];
        alike = image < least ? 0 : alike + (image == least);
        best = image < least ? symmetry : best;
        least = image < least ? image : least;
    }
    u64 least_opponent = transform(s, *opponent, best);
    for (int symmetry = best + 1; alike && symmetry < s->symmetries; symmetry++)
        if (images[symmetry] == least) {
            u64 image = transform(s, *opponent, symmetry);
            alike--;
            best = image < least_opponent ? symmetry : best;
            least_opponent = image < least_opponent ? image : least_opponent;
        }
    *own = least;
    *opponent = least_opponent;
    return best;
}

static inline int fold_square(const Search *s, int square, int symmetry) {
    if (square == NO_MOVE || symmetry == 0) return square;
    return first_bit(transform(s, bit_of(square), symmetry));
}

/* The inverse of `fold_square`.
 *
 * Undone in reverse order, a mirrored row is a mirrored column of the exchanged board:
 * all symmetries are their own inverses but the two quarter turns, 5 and 6. */
static inline int unfold_square(const Search *s, int square, int symmetry) {
    if (symmetry == 5 || symmetry == 6) symmetry = 11 - symmetry;
    return fold_square(s, square, symmetry);
}

/* Under which position and hash the shared table keeps a position. */
static inline u64 table_name(const Search *s, u64 *own, u64 *opponent, int empties,
                             int *symmetry) {
    *symmetry = s->options.symmetry && empties >= FOLD_EMPTIES ? fold(s, own, opponent) : 0;
    return hash_boards(*own, *opponent);
}

#endif
