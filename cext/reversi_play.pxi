# Playing with the trained evaluation: a fixed number of plies and nothing added, unlike the
# look ahead of proofs, which does not count forced passes.

cdef int look_trained(Search *s, u64 own, u64 opponent, const Configuration *shown, int empties,
                      int plies, int alpha, int beta, u64 node_budget) noexcept nogil:
    """The trained evaluation `plies` plies ahead, in grains; a forced pass is one of them.

    Fail-soft, about that evaluation: <= alpha an upper bound, inside exact, >= beta a lower
    bound. Means nothing once more than the node budget is spent.
    """
    cdef u64 empty = s.board & ~(own | opponent)
    cdef u64 squares = mobility(own, opponent, empty)
    cdef u64 replies
    cdef Candidates moves
    cdef Candidate *move
    cdef Configuration after
    cdef int best = -WIDEST
    cdef int i
    s.nodes += 1
    if s.nodes > node_budget:
        return alpha
    if not squares:
        if not mobility(opponent, own, empty):
            return GRAINS * final_score(s, own, opponent)
        configure_pass(s.evaluation, shown, &after)
        return -look_trained(s, opponent, own, &after, empties, max(0, plies - 1), -beta, -alpha,
                             node_budget)
    if plies == 0:
        replies = mobility(opponent, own, empty)
        return estimate(s.evaluation, shown, empties, popcount(squares), popcount(replies))
    list_moves(own, opponent, squares, &moves)
    if plies > 1:
        for i in range(moves.count):
            move = &moves.item[i]
            move.value = -popcount(mobility(own_after(opponent, move), opponent_after(own, move),
                                            empty ^ (<u64> 1 << move.square)))
    for i in range(moves.count):
        if plies > 1:
            take_best(&moves, i)
        move = &moves.item[i]
        configure_move(s.evaluation, shown, move.square, move.turned, &after)
        best = max(best, -look_trained(
            s, own_after(opponent, move), opponent_after(own, move), &after, empties - 1,
            plies - 1, -beta, -alpha, node_budget))
        alpha = max(alpha, best)
        if alpha >= beta:
            break
    return best
