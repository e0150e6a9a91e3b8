/* All boards of a small Go game, and from which of them one side forces a score.
 *
 * The game weighed here has no past: under superko no board is forbidden, not even the one
 * before; under `basic` only taking a ko back at once is, and endless play is no success.
 * Then a state is worth the same however it was reached, and the plies to a forced end are
 * found for all states together, the nearest ends first. `go_prover.h` says what that
 * proves where there is a past.
 *
 * Boards that are images of each other are one board, named by a number. What is known of
 * one, for the side that wants to force the score (the prover):
 *   stone    plies to the end if he is to move and puts a stone,
 *   answer   plies to the end if the opponent is to move and puts a stone,
 *   enough   whether the board scores enough as it stands.
 * The other states follow from these: see `plies_of`.
 */
#ifndef ZERMELO_CHECKER_GO_BOARDS_H
#define ZERMELO_CHECKER_GO_BOARDS_H

#include "go_rules.h"

#define MOST_POINTS 16
#define MOST_IMAGES 8
#define NO_BOARD 0xFFFFFFFFu
#define NEVER 255
/* Bans that may follow each other: a ko taken while another one is banned, and so on. */
#define MOST_BANS 24

typedef struct {
    Rules rules;
    int points, images;
    int point_at[MOST_POINTS];
    /* Powers of three, in the order of the points. */
    uint32_t weight[MOST_POINTS], raw_boards;
    uint8_t image[MOST_IMAGES][MOST_POINTS];
    /* The number of each way to put stones, and one way for each number. */
    uint32_t *number_of, number;
    Points *black, *white;
    /* The boards after a stone: those of board `n` and a side begin at first[2 * n + side],
     * side 1 is Black. A move that makes a ban is not among them; then `bans` is set. */
    uint32_t *first, *after;
    uint8_t *bans;
} Boards;

typedef struct {
    const Boards *boards;
    int prover_black, target;
    uint8_t *stone, *answer, *enough;
    /* Whether states that are not won are known never to be: nothing was cut off. */
    int complete;
    volatile int *stop;
} Ranks;

/* The states with a ban on the way to one, in which each comes once. */
typedef struct {
    State states[MOST_BANS];
    int length;
    /* Whether the way was too long to be followed, and a no may be wrong. */
    int cut;
} Chain;

static uint32_t raw_of(const Boards *boards, Points black, Points white) {
    uint32_t raw = 0;
    for (int at = 0; at < boards->points; at++) {
        int point = boards->point_at[at];
        raw += boards->weight[at] * (uint32_t)((black >> point & 1) + 2 * (white >> point & 1));
    }
    return raw;
}

static inline uint32_t number_of(const Boards *boards, Points black, Points white) {
    return boards->number_of[raw_of(boards, black, white)];
}

static void lay_out(Boards *boards) {
    int rows = boards->rules.rows, cols = boards->rules.cols;
    boards->points = rows * cols;
    boards->images = rows == cols ? 8 : 4;
    boards->raw_boards = 1;
    for (int at = 0; at < boards->points; at++) {
        boards->point_at[at] = STRIDE * (at / cols) + at % cols;
        boards->weight[at] = boards->raw_boards;
        boards->raw_boards *= 3;
        for (int image = 0; image < boards->images; image++) {
            int row = at / cols, col = at % cols;
            if (image & 1) row = rows - 1 - row;
            if (image & 2) col = cols - 1 - col;
            boards->image[image][at] = (uint8_t)(image & 4 ? col * cols + row : row * cols + col);
        }
    }
}

static int number_boards(Boards *boards, volatile int *stop) {
    const Rules *rules = &boards->rules;
    uint32_t capacity = 0;
    for (uint32_t raw = 0; raw < boards->raw_boards; raw++) boards->number_of[raw] = NO_BOARD;
    for (uint32_t raw = 0; raw < boards->raw_boards && !*stop; raw++) {
        if (boards->number_of[raw] != NO_BOARD) continue;
        Points black = 0, white = 0;
        uint32_t rest = raw, images[MOST_IMAGES] = {0};
        for (int at = 0; at < boards->points; at++, rest /= 3) {
            int colour = rest % 3;
            if (!colour) continue;
            *(colour == 1 ? &black : &white) |= 1ULL << boards->point_at[at];
            for (int image = 0; image < boards->images; image++)
                images[image] += (uint32_t)colour * boards->weight[boards->image[image][at]];
        }
        if (captured_of(rules, black, white) || captured_of(rules, white, black)) continue;
        if (boards->number == capacity) {
            capacity = capacity ? 2 * capacity : 1024;
            Points *more_black = realloc(boards->black, capacity * sizeof(Points));
            if (more_black) boards->black = more_black;
            Points *more_white = realloc(boards->white, capacity * sizeof(Points));
            if (more_white) boards->white = more_white;
            if (!more_black || !more_white) return 0;
        }
        boards->black[boards->number] = black;
        boards->white[boards->number] = white;
        for (int image = 0; image < boards->images; image++)
            boards->number_of[images[image]] = boards->number;
        boards->number++;
    }
    return 1;
}

static void list_moves(Boards *boards, volatile int *stop) {
    uint32_t found = 0;
    for (uint32_t at = 0; at < 2 * boards->number && !*stop; at++) {
        State after, state = {boards->black[at / 2], boards->white[at / 2], at & 1, 0, NO_POINT};
        boards->first[at] = found;
        for (Points empty = boards->rules.mask & ~(state.black | state.white); empty;
             empty &= empty - 1) {
            if (!put_stone(&boards->rules, &state, __builtin_ctzll(empty), &after)) continue;
            if (after.ko != NO_POINT) {
                boards->bans[at] = 1;
                continue;
            }
            boards->after[found++] = number_of(boards, after.black, after.white);
        }
    }
    boards->first[2 * boards->number] = found;
}

static void forget_boards(Boards *boards) {
    free(boards->number_of);
    free(boards->black);
    free(boards->white);
    free(boards->first);
    free(boards->after);
    free(boards->bans);
}

/* Fill in what follows from the rules; 0 without memory. */
static int make_boards(Boards *boards, volatile int *stop) {
    lay_out(boards);
    boards->number_of = malloc(boards->raw_boards * sizeof(uint32_t));
    if (!boards->number_of || !number_boards(boards, stop)) return 0;
    uint64_t most = 1;
    for (uint32_t board = 0; board < boards->number; board++)
        most += 2 * (uint64_t)how_many(boards->rules.mask
                                       & ~(boards->black[board] | boards->white[board]));
    boards->first = malloc((2ULL * boards->number + 1) * sizeof(uint32_t));
    boards->bans = calloc(2ULL * boards->number + 1, 1);
    boards->after = malloc(most * sizeof(uint32_t));
    if (!boards->first || !boards->bans || !boards->after) return 0;
    list_moves(boards, stop);
    return 1;
}

/* Plies to the end of a state without a ban; NEVER if the prover cannot force it. */
static inline int plies_of(const Ranks *ranks, uint32_t board, int prover_moves, int passes) {
    int stone = ranks->stone[board], answer = ranks->answer[board], enough = ranks->enough[board];
    if (prover_moves) {
        int passed = passes ? 1 : answer == NEVER ? NEVER : answer + 1;
        return enough && passed < stone ? passed : stone;
    }
    if (passes) return enough ? answer : NEVER;
    int after_pass = enough ? 2 : stone == NEVER ? NEVER : stone + 1;
    return after_pass > answer ? after_pass : answer;
}

static inline int enter_ban(Chain *chain, const State *state) {
    for (int at = 0; at < chain->length; at++) {
        const State *then = &chain->states[at];
        if (then->black == state->black && then->white == state->white && then->ko == state->ko
            && then->black_to_move == state->black_to_move)
            return 0;
    }
    if (chain->length == MOST_BANS) return chain->cut = 1, 0;
    chain->states[chain->length++] = *state;
    return 1;
}

/* Whether the prover forces the score from this state within `plies` plies. A state with a
 * ban is known by its children; one that comes back on the way leads nowhere.
 *
 *     1:    a proof
 *     0:    not by what is ranked so far; never, once the ranks are `complete` and no chain of
 *           bans was cut */
static int within(const Ranks *ranks, const State *state, int plies, Chain *chain) {
    const Boards *boards = ranks->boards;
    int prover_moves = state->black_to_move == ranks->prover_black, result = !prover_moves;
    uint32_t board = number_of(boards, state->black, state->white);
    if (state->ko == NO_POINT)
        return plies_of(ranks, board, prover_moves, state->passes) <= plies;
    if ((plies_of(ranks, board, !prover_moves, 1) <= plies - 1) == prover_moves)
        return prover_moves;
    if (plies < 1 || !enter_ban(chain, state)) return 0;
    for (Points empty = boards->rules.mask & ~(state->black | state->white);
         empty && result != prover_moves; empty &= empty - 1) {
        State after;
        if (put_stone(&boards->rules, state, __builtin_ctzll(empty), &after)
            && within(ranks, &after, plies - 1, chain) == prover_moves)
            result = prover_moves;
    }
    chain->length--;
    return result;
}

/* Whether putting a stone here, any one of the prover's or all of the opponent's, leads to
 * states that are won within `plies` plies: 1 is a proof, 0 is none (see `within`). */
static int stones_lead(const Ranks *ranks, uint32_t board, int black_moves, int plies,
                       int *cut) {
    Chain chain = {.length = 0, .cut = 0};
    const Boards *boards = ranks->boards;
    int any = black_moves == ranks->prover_black;
    uint64_t side = 2ULL * board + (uint64_t)black_moves;
    for (uint32_t at = boards->first[side]; at < boards->first[side + 1]; at++)
        if ((plies_of(ranks, boards->after[at], !any, 0) <= plies) == any) return any;
    if (!boards->bans[side]) return !any;
    State after, state = {boards->black[board], boards->white[board], black_moves, 0, NO_POINT};
    for (Points empty = boards->rules.mask & ~(state.black | state.white); empty;
         empty &= empty - 1)
        if (put_stone(&boards->rules, &state, __builtin_ctzll(empty), &after)
            && after.ko != NO_POINT && within(ranks, &after, plies, &chain) == any)
            return any;
    *cut |= chain.cut;
    return !any;
}

/* Mark the states with `rank` from which a stone leads to ends `plies` plies away; how many. */
static uint64_t sweep(Ranks *ranks, int rank, int plies, int *cut) {
    uint64_t found = 0;
    for (uint32_t board = 0; board < ranks->boards->number && !*ranks->stop; board++) {
        if (ranks->stone[board] == NEVER
            && stones_lead(ranks, board, ranks->prover_black, plies, cut))
            ranks->stone[board] = (uint8_t)rank, found++;
        if (ranks->answer[board] == NEVER
            && stones_lead(ranks, board, !ranks->prover_black, plies, cut))
            ranks->answer[board] = (uint8_t)rank, found++;
    }
    return found;
}

/* Weigh all boards; how many times a board was found won. */
static uint64_t weigh(Ranks *ranks) {
    const Boards *boards = ranks->boards;
    uint64_t found = 0;
    for (uint32_t board = 0; board < boards->number; board++) {
        ranks->stone[board] = ranks->answer[board] = NEVER;
        ranks->enough[board] = score_of(&boards->rules, boards->black[board], boards->white[board],
                                        ranks->prover_black) >= ranks->target;
    }
    /* What one sweep finds may matter two plies later, or further on behind bans. */
    int quiet = 0, patience = 2 + (boards->rules.ko_rule == BASIC ? MOST_BANS : 0), cut = 0;
    for (int rank = 1; rank < NEVER - 1 && quiet < patience && !*ranks->stop; rank++) {
        uint64_t now = sweep(ranks, rank, rank - 1, &cut);
        quiet = now ? 0 : quiet + 1;
        found += now;
    }
    /* Nothing more is to be found, however many plies are allowed. */
    cut = 0;
    ranks->complete = !sweep(ranks, NEVER, NEVER - 1, &cut) && !cut && !*ranks->stop;
    return found;
}

/* Plies to the end of any state; NEVER if none is known. Then *sure tells whether there is
 * none at all. */
static int plies_to_end(const Ranks *ranks, const State *state, int *sure) {
    Chain chain = {.length = 0, .cut = 0};
    int most = NEVER - 1, least = 1;
    if (!within(ranks, state, most, &chain)) {
        *sure = ranks->complete && !chain.cut;
        return NEVER;
    }
    while (least < most) {
        int middle = (least + most) / 2;
        if (within(ranks, state, middle, &chain)) most = middle;
        else least = middle + 1;
    }
    return least;
}

#endif
