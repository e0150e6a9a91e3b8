/* Proof-number search, depth first (df-pn): can the side to move reach a threshold?
 *
 * The proof number of a position is how many unknown positions must at least turn out well before
 * the answer is yes, the disproof number before it is no. Seen by the side to move,
 *
 *     proof    = the least proof of its moves: one good move suffices
 *     disproof = the greatest disproof of its moves, and one for each other move that is open
 *
 * The disproof would be the sum in a tree. Here positions are reached in many ways, and a sum
 * would count the same unknown position once for each of them (docs/decisions/0029).
 * A move is proved if the reply's side cannot reach 1 - threshold. The most promising position is
 * always expanded next, and the search stays below a move as long as its numbers are the least.
 * Every definition ends, so that no position depends on itself.
 */
#ifndef ZERMELO_DEFINITION_PROOF_NUMBERS_H
#define ZERMELO_DEFINITION_PROOF_NUMBERS_H

#include "definition_search.h"

enum { DEF_INFINITE = (1 << 28) - 1 };

typedef struct { uint32_t proof, disproof; } def_numbers;

static inline u64 def_pack_numbers(def_numbers numbers, int threshold) {
    return (u64)numbers.proof | (u64)numbers.disproof << 28 | (u64)(uint8_t)threshold << 56;
}

/* The numbers of a position as the table has them; 0 if it has none for this threshold. */
static inline int def_look_up(const def_table *table, u128 key, int threshold,
                              def_numbers *numbers) {
    def_facts facts;
    if (!def_probe(table, key, &facts)) return 0;
    if (facts.lo >= threshold) *numbers = (def_numbers){0, DEF_INFINITE};
    else if (facts.hi < threshold) *numbers = (def_numbers){DEF_INFINITE, 0};
    else if (facts.numbers && (int8_t)(facts.numbers >> 56) == threshold) {
        numbers->proof = (uint32_t)facts.numbers & DEF_INFINITE;
        numbers->disproof = (uint32_t)(facts.numbers >> 28) & DEF_INFINITE;
    } else
        return 0;
    return 1;
}

static inline void def_settle(def_child *child, int reached) {
    child->final = 1;
    child->proof = reached ? 0 : DEF_INFINITE;
    child->disproof = reached ? DEF_INFINITE : 0;
}

/* The moves with their numbers for the side that has them; 1 if one of them proves the threshold,
 * which is then the first. */
static DEF_APART int def_options(def_search *search, const def_state *state, int found,
                                 int threshold, const int32_t *cases, def_child *children) {
    const def_program *program = search->program;
    const def_table *table = &search->team->table;
    const int placing = program->lines[0] >= 0;
    const def_mask threats = placing ? def_completing(program, state, !state->turn) : 0;
    def_state after[2];
    for (int i = 0; i < found; i++) {
        def_child *child = children + i;
        int score, now = 0;
        child->at = cases[i];
        child->key = 0;
        child->final = child->same = 0;
        def_play(program, state, cases[i], after);
        if (placing) {
            if (threats & def_playable(program, after)) {
                def_settle(child, threshold <= -1);
                continue;
            }
        } else if (def_ended(program, after, &score)) {
            def_settle(child, -score >= threshold);
            if (!child->proof) {
                children[0] = *child;
                return 1;
            }
            continue;
        }
        if (after[0].passing) {
            def_pass(program, after, after + 1);
            now = child->same = 1;
            if (def_ended(program, after + 1, &score)) {
                def_settle(child, score >= threshold);
                continue;
            }
        }
        child->key = def_table_key(program, after + now);
        def_prefetch(table, child->key);
        /* Who answers needs one good reply, and who moved must meet every reply. */
        uint32_t replies = 1;
        if (program->replies_vary) replies += (uint32_t)def_mobility(program, after + now);
        if (search->thread) replies += (uint32_t)(def_hash(child->key + (u128)search->thread) >> 62);
        child->proof = child->same ? 1 : replies;
        child->disproof = child->same ? replies : 1;
    }
    for (int i = 0; i < found; i++) {
        def_child *child = children + i;
        def_numbers known;
        if (child->final) {
            if (!child->proof) {
                children[0] = *child;
                return 1;
            }
            continue;
        }
        if (!def_look_up(table, child->key, child->same ? threshold : 1 - threshold, &known))
            continue;
        child->proof = child->same ? known.proof : known.disproof;
        child->disproof = child->same ? known.disproof : known.proof;
        if (!child->proof) {
            children[0] = *child;
            return 1;
        }
    }
    return 0;
}

/* The numbers of the position, the place of its best move and the second best proof. */
static inline def_numbers def_sum_up(const def_child *children, int found, int *best,
                                     uint32_t *second, uint32_t *others) {
    uint32_t least = DEF_INFINITE + 1, next = DEF_INFINITE, most = 0, open = 0;
    *best = 0;
    for (int i = 0; i < found; i++) {
        uint32_t proof = children[i].proof, disproof = children[i].disproof;
        if (proof < least
            || (proof == least && disproof < children[*best].disproof)) {
            if (least < next) next = least;
            least = proof;
            *best = i;
        } else if (proof < next)
            next = proof;
        open += disproof != 0;
        if (disproof > most) most = disproof;
    }
    *second = next;
    *others = open ? open - 1 : 0;
    def_numbers numbers = {least, most};
    if (numbers.proof && open) {
        u64 sum = (u64)most + *others;
        numbers.disproof = sum < DEF_INFINITE ? (uint32_t)sum : DEF_INFINITE - 1;
    }
    if (!numbers.proof) numbers.disproof = DEF_INFINITE;
    if (!numbers.disproof) numbers.proof = DEF_INFINITE;
    return numbers;
}

/* The position is not decided. Expand the most promising one below it until the proof number reaches `proof`, or the disproof
 * number `disproof`; what they are then. After a stop they mean nothing. */
static def_numbers def_expand_best(def_search *search, const def_state *state, int threshold,
                                   uint32_t proof, uint32_t disproof, int ply, int used) {
    const def_program *program = search->program;
    def_team *team = search->team;
    def_numbers numbers = {1, 1};
    if (def_visit(search, ply, used)) return numbers;
    u64 before = search->nodes;
    u128 key = def_table_key(program, state);
    int32_t *cases = search->moves + used;
    def_child *children = search->children + used;
    def_state after, again;
    int found = def_real_moves(program, state, state->turn, cases, DEF_PASS), score;
    if (!found) {
        int32_t any;
        if (program->stuck != DEF_STUCK_PASS
            || !def_real_moves(program, state, !state->turn, &any, 1)) {
            int reached = def_stuck_score(program, state) >= threshold;
            return reached ? (def_numbers){0, DEF_INFINITE} : (def_numbers){DEF_INFINITE, 0};
        }
        def_pass(program, state, &after);
        if (def_decided(program, &after, &score)) {
            int reached = -score >= threshold;
            return reached ? (def_numbers){0, DEF_INFINITE} : (def_numbers){DEF_INFINITE, 0};
        }
        def_numbers reply = def_expand_best(search, &after, 1 - threshold, disproof, proof, ply + 1,
                                            used);
        return (def_numbers){reply.disproof, reply.proof};
    }
    int best = 0;
    if (def_options(search, state, found, threshold, cases, children))
        numbers = (def_numbers){0, DEF_INFINITE};
    else
        for (;;) {
            uint32_t second, others;
            numbers = def_sum_up(children, found, &best, &second, &others);
            if (numbers.proof >= proof || numbers.disproof >= disproof || !numbers.proof
                || !numbers.disproof)
                break;
            def_child *child = children + best;
            /* A quarter more than the second best: who comes back at once forgets too much. */
            uint32_t patience = second < DEF_INFINITE ? second + second / 4 + 1 : DEF_INFINITE;
            uint32_t below = patience < proof ? patience : proof;
            uint32_t above = disproof < DEF_INFINITE ? disproof - others : DEF_INFINITE;
            def_play(program, state, child->at, &after);
            const def_state *next = &after;
            if (child->same) {
                def_pass(program, &after, &again);
                next = &again;
            }
            def_numbers reply = child->same
                ? def_expand_best(search, next, threshold, below, above, ply + 2, used + found)
                : def_expand_best(search, next, 1 - threshold, above, below, ply + 1, used + found);
            if (team->stop) return numbers;
            child->proof = child->same ? reply.proof : reply.disproof;
            child->disproof = child->same ? reply.disproof : reply.proof;
        }
    int tag = numbers.disproof ? def_tag(children[best].key) : DEF_NO_MOVE;
    def_record(&team->table, key, numbers.proof ? -search->limit : threshold,
               numbers.disproof ? search->limit : threshold - 1, tag, search->nodes - before,
               def_pack_numbers(numbers, threshold), 0);
    return numbers;
}

/* The threshold if the side to move can reach it, else one less; nothing after a stop. */
static int def_prove(def_search *search, const def_state *state, int threshold) {
    const def_program *program = search->program;
    def_state after;
    int score;
    if (def_decided(program, state, &score)) {
        def_visit(search, 0, 0);
        return score >= threshold ? threshold : threshold - 1;
    }
    if (state->passing) {
        def_pass(program, state, &after);
        return -def_prove(search, &after, 1 - threshold);
    }
    def_facts facts;
    if (def_probe(&search->team->table, def_table_key(program, state), &facts)) {
        if (facts.lo >= threshold) return threshold;
        if (facts.hi < threshold) return threshold - 1;
    }
    def_numbers numbers =
        def_expand_best(search, state, threshold, DEF_INFINITE, DEF_INFINITE, 0, 0);
    return numbers.proof ? threshold - 1 : threshold;
}

#endif
