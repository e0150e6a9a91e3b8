/* Connections of one side in Hex that hold whatever the other side does, found by two rules
 * (V. Anshelevich, "A hierarchical approach to computer Hex", 2002).
 *
 * A point is an empty cell, stones that touch each other, or an edge of the board with the stones
 * that touch it. A full connection of two points has a carrier, a set of empty cells: if the other
 * side moves first, this side still joins the points by playing in the carrier only. (Of a point
 * that is an empty cell this says: once this side has a stone there.) A half connection is one
 * of which this side must play the first stone, its key. Points that touch are fully connected
 * without a carrier.
 *   1. Let x and z, and z and y, be fully connected, the carriers without a cell in common, neither
 *      x in the second nor y in the first. If z is stones, x and y are fully connected by both
 *      carriers: an answer belongs to the carrier that was played in. If z is an empty cell, they
 *      are half connected by both carriers and z, the key.
 *   2. If half connections of x and y have no cell in common, the points are fully connected by the
 *      union of their carriers: whatever cell the other side fills, one of them is left.
 * Lists of carriers are short; what does not fit is dropped, which loses a connection but never
 * makes a wrong one.
 */
#ifndef ZERMELO_DEFINITION_CONNECTIONS_H
#define ZERMELO_DEFINITION_CONNECTIONS_H

#include "definition_play.h"

enum {
    DEF_POINTS = 64,      /* at most */
    DEF_FULLS = 8,        /* full connections of two points */
    DEF_HALVES = 16,      /* and half ones */
    DEF_JOINED_HALVES = 4, /* half connections that one use of rule 2 takes */
    DEF_WAITING = 1 << 13 /* full connections that rule 1 was not yet used with */
};

typedef struct {
    u64 carrier;
    int8_t from, to;
} def_link;

typedef struct {
    u64 fulls[DEF_FULLS];
    u64 halves[DEF_HALVES];
    int8_t keys[DEF_HALVES]; /* cells */
    int8_t full_count, half_count;
} def_pair;

typedef struct {
    int points;              /* the last two are the edges */
    u64 cell[DEF_POINTS];    /* of an empty cell; of any other point 0 */
    u64 linked[DEF_POINTS];  /* points that one is fully connected with */
    def_pair pairs[DEF_POINTS][DEF_POINTS]; /* the lower point first */
    def_link waiting[DEF_WAITING];
    int first, last;
} def_connections;

static inline def_pair *def_pair_of(def_connections *all, int x, int y) {
    return x < y ? &all->pairs[x][y] : &all->pairs[y][x];
}

/* Whether a carrier is a part of this one. */
static inline int def_holds_part(const u64 *carriers, int count, u64 carrier) {
    for (int i = 0; i < count; i++)
        if (!(carriers[i] & ~carrier)) return 1;
    return 0;
}

/* The place of a new carrier: that of one which it is a part of, a free one, or that of the largest
 * if that is larger; -1: none. All others that it is a part of are taken out. */
static inline int def_make_room(u64 *carriers, int8_t *keys, int8_t *count, int most, u64 carrier) {
    int kept = 0, largest = 0, size = 0;
    for (int i = 0; i < *count; i++) {
        if (!(carrier & ~carriers[i])) continue;
        carriers[kept] = carriers[i];
        if (keys) keys[kept] = keys[i];
        if (popcount(carriers[i]) > size) {
            size = popcount(carriers[i]);
            largest = kept;
        }
        kept++;
    }
    *count = (int8_t)kept;
    if (kept < most) {
        *count = (int8_t)(kept + 1);
        return kept;
    }
    return popcount(carrier) < size ? largest : -1;
}

static void def_add_full(def_connections *all, int x, int y, u64 carrier) {
    def_pair *pair = def_pair_of(all, x, y);
    if (def_holds_part(pair->fulls, pair->full_count, carrier)) return;
    int at = def_make_room(pair->fulls, NULL, &pair->full_count, DEF_FULLS, carrier);
    if (at < 0) return;
    pair->fulls[at] = carrier;
    all->linked[x] |= (u64)1 << y;
    all->linked[y] |= (u64)1 << x;
    if (all->last < DEF_WAITING)
        all->waiting[all->last++] = (def_link){carrier, (int8_t)x, (int8_t)y};
}

/* Rule 2 with half connections number `from` and later: cells that all so far have in common, and
 * all of their cells. */
static void def_join_halves(def_connections *all, int x, int y, const u64 *halves, int count,
                            int from, u64 common, u64 cells, int more) {
    for (int i = from; i < count; i++) {
        const u64 left = common & halves[i];
        if (left == common) continue;
        if (!left) def_add_full(all, x, y, cells | halves[i]);
        else if (more > 1)
            def_join_halves(all, x, y, halves, count, i + 1, left, cells | halves[i], more - 1);
    }
}

static void def_add_half(def_connections *all, int x, int y, u64 carrier, int key) {
    def_pair *pair = def_pair_of(all, x, y);
    if (def_holds_part(pair->fulls, pair->full_count, carrier)
        || def_holds_part(pair->halves, pair->half_count, carrier))
        return;
    int at = def_make_room(pair->halves, pair->keys, &pair->half_count, DEF_HALVES, carrier);
    if (at < 0) return;
    pair->halves[at] = carrier;
    pair->keys[at] = (int8_t)key;
    def_join_halves(all, x, y, pair->halves, pair->half_count, 0, carrier, carrier,
                    DEF_JOINED_HALVES - 1);
}

/* The points of a side, and which of them touch. 0: too many. */
static int def_set_points(def_connections *all, const def_program *program, int side, u64 stones,
                          u64 empty) {
    u64 touched[DEF_POINTS]; /* the empty cells beside a point */
    int count = 0, place[DEF_POINTS];
    const u64 *edges = program->joined + 2 * side;
    for (u64 cells = empty; cells; cells &= cells - 1, count++) {
        if (count == DEF_POINTS - 2) return 0;
        place[first_bit(cells)] = count;
        all->cell[count] = cells & -cells;
        touched[count] = (u64)program->beside[first_bit(cells)] & empty;
    }
    u64 ends[2] = {edges[0] & empty, edges[1] & empty};
    for (u64 left = stones; left;) {
        def_mask touched_cells;
        const u64 group = (u64)def_grown(program, (def_mask)(left & -left), (def_mask)stones,
                                         &touched_cells);
        const u64 beside = (u64)touched_cells & empty;
        left &= ~group;
        int at_edge = 0;
        for (int i = 0; i < 2; i++)
            if (group & edges[i]) {
                ends[i] |= beside;
                at_edge = 1;
            }
        if (at_edge) continue;
        if (count == DEF_POINTS - 2) return 0;
        all->cell[count] = 0;
        touched[count++] = beside;
    }
    for (int i = 0; i < 2; i++) {
        all->cell[count] = 0;
        touched[count++] = ends[i];
    }
    all->points = count;
    all->first = all->last = 0;
    for (int x = 0; x < count; x++) {
        all->linked[x] = 0;
        for (int y = x + 1; y < count; y++)
            all->pairs[x][y].full_count = all->pairs[x][y].half_count = 0;
    }
    for (int x = 0; x < count; x++)
        for (u64 cells = touched[x]; cells; cells &= cells - 1) {
            const int y = place[first_bit(cells)];
            if (x > y) def_add_full(all, x, y, 0);
        }
    return 1;
}

/* All that rule 1 makes of a full connection of x and z with those of z and others. */
static inline void def_join_at(def_connections *all, int x, int z, u64 carrier) {
    for (u64 others = all->linked[z] & ~((u64)1 << x); others; others &= others - 1) {
        const int y = first_bit(others);
        const def_pair *pair = def_pair_of(all, z, y);
        if (carrier & all->cell[y]) continue;
        for (int i = 0; i < pair->full_count; i++) {
            const u64 second = pair->fulls[i];
            if (second & (carrier | all->cell[x])) continue;
            if (all->cell[z])
                def_add_half(all, x, y, carrier | second | all->cell[z], first_bit(all->cell[z]));
            else def_add_full(all, x, y, carrier | second);
        }
    }
}

/* How the edges of a side are connected; NULL if that was not looked for, as there are too many
 * points. Stops at the first full connection, or if `half` at the first half one. */
static DEF_APART const def_pair *def_connect_edges(def_connections *all, const def_program *program,
                                                   int side, u64 stones, u64 empty, int half) {
    if (!def_set_points(all, program, side, stones, empty)) return NULL;
    const def_pair *edges = def_pair_of(all, all->points - 2, all->points - 1);
    while (all->first < all->last && !edges->full_count && !(half && edges->half_count)) {
        const def_link link = all->waiting[all->first++];
        if (link.to < all->points - 2) def_join_at(all, link.from, link.to, link.carrier);
        if (link.from < all->points - 2) def_join_at(all, link.to, link.from, link.carrier);
    }
    return edges;
}

#endif
