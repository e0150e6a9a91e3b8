# Looking ahead with the trained evaluation: what a position is worth, what a proof costs.
#
# Where moves are worth the time, the one to try first is the one whose proof is expected
# to be cheapest. As with proof numbers, to *hold* the side to move below a score all its
# moves must be answered, so their costs add up; to *reach* a score one move will do, so the
# least counts. At the end of the look ahead a glance at the evaluation gives the cost.
#
# Costs are logarithms of nodes, in 1/256 bits. Two things keep the look ahead small. A sum
# is no less than its parts, so it stops at a cost that is no longer competitive. And
# probable cut-offs: a line that at a glance looks a bit or more worse than its neighbours
# (as a move: more expensive; as a reply: cheaper to answer) is not looked into. Nothing
# here proves anything: it only decides in which order proofs are tried.

cdef enum:
    WIDEST = 128 * 64       # grains beyond every estimate
    MARGIN_STEPS = 512
    MARGIN_GRAINS = 16      # margin of the evaluation per step of MARGIN_COST
    SUM_STEPS = 2048
    BIT = 256
    NEVER = 1 << 24         # the cost of what cannot be proved
    HOPELESS = 8            # discs below beta: probably no move will reach it

# By margin of the evaluation over the score to reach: a proof is cheap when there is much
# to spare, dear when it will probably fail. The errors of the evaluation are taken as
# logistic. Fitted, like the constants of the glances, to the costs of recorded searches.
cdef int MARGIN_COST[MARGIN_STEPS]
# By difference of two costs: by how much their sum exceeds the greater.
cdef int SUM_COST[SUM_STEPS]


cdef void init_costs() noexcept:
    cdef double discs
    cdef int step
    for step in range(MARGIN_STEPS):
        discs = (step - MARGIN_STEPS // 2) * MARGIN_GRAINS / <double> GRAINS
        MARGIN_COST[step] = <int> (179 * log2(1 + exp(-discs / 6)) - 29 * discs)
    for step in range(SUM_STEPS):
        SUM_COST[step] = <int> (BIT * log2(1 + exp2(-step / <double> BIT)))


cdef int search_estimate(Search *s, u64 own, u64 opponent, const Configuration *shown, int empties,
                         int depth, int alpha, int beta) noexcept nogil:
    """The evaluation after `depth` plies of search, in grains. Proves nothing about the score.

    Fail-soft, about that evaluation: <= alpha an upper bound, inside exact, >= beta a lower
    bound.
    """
    cdef u64 empty = s.board & ~(own | opponent)
    cdef u64 squares = mobility(own, opponent, empty)
    cdef u64 replies
    cdef Candidates moves
    cdef Candidate *move
    cdef Configuration after
    cdef int best = -WIDEST
    cdef int score, i
    s.nodes += 1
    if depth == 0 or not squares:
        replies = mobility(opponent, own, empty)
        if squares:
            return estimate(s.evaluation, shown, empties, popcount(squares), popcount(replies))
        if not replies:
            return GRAINS * final_score(s, own, opponent)
        configure_pass(s.evaluation, shown, &after)
        return -search_estimate(s, opponent, own, &after, empties, depth, -beta, -alpha)
    list_moves(own, opponent, squares, &moves)
    if depth > 1:
        for i in range(moves.count):
            move = &moves.item[i]
            move.value = -popcount(mobility(own_after(opponent, move), opponent_after(own, move),
                                            empty ^ (<u64> 1 << move.square)))
    for i in range(moves.count):
        if depth > 1:
            take_best(&moves, i)
        move = &moves.item[i]
        configure_move(s.evaluation, shown, move.square, move.turned, &after)
        score = -search_estimate(s, own_after(opponent, move), opponent_after(own, move), &after,
                                 empties - 1, depth - 1, -beta, -alpha)
        if score > best:
            best = score
            if best >= beta:
                break
            alpha = max(alpha, best)
    return best


# -- costs -----------------------------------------------------------------------------

cdef inline int sum_costs(int a, int b) noexcept nogil:
    """The cost of both together: logarithms of nodes, so not quite a sum."""
    cdef int difference = a - b
    if difference < 0:
        difference = -difference
        a = b
    return a + SUM_COST[difference] if difference < SUM_STEPS else a


cdef inline int margin_cost(int margin) noexcept nogil:
    return MARGIN_COST[max(0, min(margin // MARGIN_GRAINS + MARGIN_STEPS // 2, MARGIN_STEPS - 1))]


cdef inline Glance *look_at(Search *s, u64 own, u64 opponent, const Configuration *before,
                            const Candidate *move, int empties) noexcept nogil:
    """What a position shows at a glance; it came from another by a move, or by none (NULL).

    The look ahead of a position meets again most of what its parent's met, so the thread keeps
    what it saw last.
    """
    cdef Glance *glance = &s.glances[hash_boards(own, opponent) & (GLANCES - 1)]
    cdef Configuration after
    cdef u64 empty
    if glance.own == own and glance.opponent == opponent:
        return glance
    s.nodes += 1
    empty = s.board & ~(own | opponent)
    glance.own = own
    glance.opponent = opponent
    glance.moves = popcount(mobility(own, opponent, empty))
    glance.replies = popcount(mobility(opponent, own, empty))
    glance.reachable = popcount(potential_mobility(own, empty))
    glance.replyable = popcount(potential_mobility(opponent, empty))
    if move == NULL:
        glance.estimate = estimate(s.evaluation, before, empties, glance.moves, glance.replies)
    else:
        configure_move(s.evaluation, before, move.square, move.turned, &after)
        glance.estimate = estimate(s.evaluation, &after, empties, glance.moves, glance.replies)
    return glance


cdef inline int glance_hold(const Search *s, const Glance *glance, int score,
                            int empties) noexcept nogil:
    """The cost of proving that the side to move gets at most `-score`, at a glance."""
    if not glance.moves and not glance.replies:
        return 0 if final_score(s, glance.opponent, glance.own) >= score else NEVER
    return (192 * empties - 220 + margin_cost(-GRAINS * score - glance.estimate)
            + 95 * glance.moves + 23 * glance.replyable)


cdef inline int glance_reach(const Search *s, const Glance *glance, int score,
                             int empties) noexcept nogil:
    """The cost of proving that the side to move gets at least `score`, at a glance."""
    if not glance.moves and not glance.replies:
        return 0 if final_score(s, glance.own, glance.opponent) >= score else NEVER
    return (192 * empties - 107 + margin_cost(glance.estimate - GRAINS * score)
            - 9 * glance.moves + 54 * glance.replies + 18 * glance.reachable)


cdef int cost_to_hold(Search *s, u64 own, u64 opponent, const Configuration *shown, int score,
                      int empties, int depth, int limit) noexcept nogil:
    """The cost of `glance_hold` after `depth` plies, for comparison with `limit`. An estimate:

    result < limit:     the cost
    result >= limit:    the cost is no less than the limit; by how much more is not told
    """
    cdef u64 empty = s.board & ~(own | opponent)
    cdef u64 squares = mobility(own, opponent, empty)
    cdef Candidates moves
    cdef Candidate *move
    cdef Configuration after
    cdef int total = -NEVER
    cdef int dearest = -NEVER
    cdef int i
    if not squares and mobility(opponent, own, empty):
        configure_pass(s.evaluation, shown, &after)
        return cost_to_reach(s, opponent, own, &after, score, empties, depth, limit)
    if not squares:
        return glance_hold(s, look_at(s, own, opponent, shown, NULL, empties), score, empties)
    s.nodes += 1
    list_moves(own, opponent, squares, &moves)
    for i in range(moves.count):
        move = &moves.item[i]
        move.value = glance_reach(s, look_at(s, own_after(opponent, move),
                                             opponent_after(own, move), shown, move, empties - 1),
                                  score, empties - 1)
        dearest = max(dearest, move.value)
        total = sum_costs(total, move.value)
    if depth == 1 or s.options.probable and total >= limit + BIT // 2:
        return total
    total = -NEVER
    for i in range(moves.count):
        take_best(&moves, i)
        move = &moves.item[i]
        if move.value >= dearest - BIT or not s.options.probable:
            configure_move(s.evaluation, shown, move.square, move.turned, &after)
            move.value = cost_to_reach(s, own_after(opponent, move), opponent_after(own, move),
                                       &after, score, empties - 1, depth - 1, limit)
        total = sum_costs(total, move.value)
        if total >= limit:
            break
    return total


cdef int cost_to_reach(Search *s, u64 own, u64 opponent, const Configuration *shown, int score,
                       int empties, int depth, int limit) noexcept nogil:
    """The cost of `glance_reach` after `depth` plies, for comparison with `limit`. An estimate:

    result < limit:     the cost
    result >= limit:    the cost is no less than the limit; by how much more is not told
    """
    cdef u64 empty = s.board & ~(own | opponent)
    cdef u64 squares = mobility(own, opponent, empty)
    cdef Candidates moves
    cdef Candidate *move
    cdef Configuration after
    cdef int cheapest = NEVER
    cdef int i
    if not squares and mobility(opponent, own, empty):
        configure_pass(s.evaluation, shown, &after)
        return cost_to_hold(s, opponent, own, &after, score, empties, depth, limit)
    if not squares:
        return glance_reach(s, look_at(s, own, opponent, shown, NULL, empties), score, empties)
    s.nodes += 1
    list_moves(own, opponent, squares, &moves)
    for i in range(moves.count):
        move = &moves.item[i]
        move.value = -glance_hold(s, look_at(s, own_after(opponent, move),
                                             opponent_after(own, move), shown, move, empties - 1),
                                  score, empties - 1)
        cheapest = min(cheapest, -move.value)
    if depth == 1 or s.options.probable and cheapest >= limit + BIT // 2:
        return cheapest
    for i in range(moves.count):
        take_best(&moves, i)
        move = &moves.item[i]
        if -move.value > cheapest + BIT and s.options.probable:
            break
        configure_move(s.evaluation, shown, move.square, move.turned, &after)
        limit = min(limit, cost_to_hold(s, own_after(opponent, move), opponent_after(own, move),
                                        &after, score, empties - 1, depth - 1, limit))
    return limit


# -- the order of moves ----------------------------------------------------------------

cdef inline int plies_ahead(Search *s, u64 own, u64 opponent, const Configuration *shown,
                            int beta, int empties) noexcept nogil:
    """How far to look ahead: the more is at stake, the farther.

    Where probably no move reaches beta, all will be searched and their order hardly matters.
    """
    cdef int plies
    if empties < 13 or not s.options.lookahead:
        return 0
    plies = 1 if empties < 15 else 2 if empties < 18 else 4 if empties < 24 else 6
    if look_at(s, own, opponent, shown, NULL, empties).estimate < GRAINS * (beta - HOPELESS):
        return max(plies - 2, 0)
    return plies


cdef void value_by_cost(Search *s, u64 own, u64 opponent, const Configuration *shown,
                        Candidates *moves, int beta, int empties) noexcept nogil:
    """Give every move its expected cost, negated; those the table recommends keep theirs."""
    cdef int plies = plies_ahead(s, own, opponent, shown, beta, empties)
    cdef Candidate *move
    cdef Configuration after
    cdef int cheapest = NEVER
    cdef int least = NEVER
    cdef int i
    for i in range(moves.count):
        move = &moves.item[i]
        if move.value < SECOND_HINT:
            move.value = -glance_hold(s, look_at(s, own_after(opponent, move),
                                                 opponent_after(own, move), shown, move,
                                                 empties - 1), beta, empties - 1)
            cheapest = min(cheapest, -move.value)
    if plies == 0:
        return
    for i in range(moves.count):
        take_best(moves, i)
        move = &moves.item[i]
        if move.value >= SECOND_HINT:
            continue
        if -move.value > cheapest + 2 * BIT and s.options.probable:
            move.value -= NEVER     # behind all that were looked into
            continue
        configure_move(s.evaluation, shown, move.square, move.turned, &after)
        # Second and third choices matter too: their costs are told apart up to half a bit.
        move.value = -cost_to_hold(s, own_after(opponent, move), opponent_after(own, move),
                                   &after, beta, empties - 1, plies, least + BIT // 2)
        least = min(least, -move.value)
