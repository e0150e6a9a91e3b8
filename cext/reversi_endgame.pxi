# The last empties: no table, no evaluation, squares in the order of parity.
#
# Every function here and in the layers above that takes alpha and beta is fail-soft:
#
#     result <= alpha:          the score is at most the result
#     alpha < result < beta:    the score is the result
#     result >= beta:           the score is at least the result
#
# If `s.stopped` is set afterwards, the result means nothing and must not be stored.
#
# The board is cut into four quadrants. The side that moves last in a region gains by it,
# so squares in quadrants with an odd number of empties are tried first (`parity_of`).

cdef inline int score_last(Search *s, u64 own, int square) noexcept nogil:
    """One empty square: count what a disc there turns. The opponent has all the rest. Exact."""
    cdef int score = 2 * popcount(own) - s.squares
    cdef int turned = count_last_flips(own, square)
    s.nodes += 1
    if turned:
        return score + 2 * turned + 2
    turned = count_last_flips(s.board & ~own & ~(<u64> 1 << square), square)
    if turned:
        return score - 2 * turned
    # The square stays empty: own discs + the opponent's = squares - 1.
    score += 1
    if s.empties_to_winner and score != 0:
        score += 1 if score > 0 else -1
    return score


cdef inline int solve_2(Search *s, u64 own, u64 opponent, int alpha, int beta,
                        int a, int b) noexcept nogil:
    """Two empties. Fail-soft: <= alpha an upper bound, inside exact, >= beta a lower bound."""
    cdef u64 turned
    cdef int best = NOTHING
    cdef int score
    s.nodes += 1
    if s.around[a] & opponent:
        turned = flips(own, opponent, a)
        if turned:
            best = -score_last(s, opponent ^ turned, b)
            if best >= beta:
                return best
    if s.around[b] & opponent:
        turned = flips(own, opponent, b)
        if turned:
            score = -score_last(s, opponent ^ turned, a)
            return score if score > best else best
    if best != NOTHING:
        return best

    # No move: the other side's turn, seen from the side to move.
    best = -NOTHING
    s.nodes += 1
    if s.around[a] & own:
        turned = flips(opponent, own, a)
        if turned:
            best = score_last(s, own ^ turned, b)
            if best <= alpha:
                return best
    if s.around[b] & own:
        turned = flips(opponent, own, b)
        if turned:
            score = score_last(s, own ^ turned, a)
            return score if score < best else best
    if best != -NOTHING:
        return best
    return final_score(s, own, opponent)


cdef inline int solve_3(Search *s, u64 own, u64 opponent, int alpha, int beta,
                        int a, int b, int c) noexcept nogil:
    """Three empties, already in the order in which to try them.

    Fail-soft: <= alpha an upper bound, inside exact, >= beta a lower bound.
    """
    cdef u64 turned
    cdef int best = NOTHING
    cdef int score
    s.nodes += 1
    if s.around[a] & opponent:
        turned = flips(own, opponent, a)
        if turned:
            best = -solve_2(s, opponent ^ turned, own ^ turned ^ (<u64> 1 << a),
                            -beta, -alpha, b, c)
            if best >= beta:
                return best
            if best > alpha:
                alpha = best
    if s.around[b] & opponent:
        turned = flips(own, opponent, b)
        if turned:
            score = -solve_2(s, opponent ^ turned, own ^ turned ^ (<u64> 1 << b),
                             -beta, -alpha, a, c)
            if score >= beta:
                return score
            if score > best:
                best = score
                if best > alpha:
                    alpha = best
    if s.around[c] & opponent:
        turned = flips(own, opponent, c)
        if turned:
            score = -solve_2(s, opponent ^ turned, own ^ turned ^ (<u64> 1 << c),
                             -beta, -alpha, a, b)
            return score if score > best else best
    if best != NOTHING:
        return best
    if mobility(opponent, own, s.board & ~(own | opponent)):
        return -solve_3(s, opponent, own, -beta, -alpha, a, b, c)
    return final_score(s, own, opponent)


cdef int solve_4(Search *s, u64 own, u64 opponent, int alpha, int beta, int parity) noexcept nogil:
    """Four empties. Fail-soft: <= alpha an upper bound, inside exact, >= beta a lower bound."""
    cdef u64 empty = s.board & ~(own | opponent)
    cdef u64 first = empty & s.odd[parity]
    cdef u64 second = empty ^ first
    cdef int square[4]
    cdef int count = 0
    cdef int i, score, a, b, c
    cdef int best = NOTHING
    cdef u64 turned
    s.nodes += 1
    while first:
        square[count] = first_bit(first)
        first &= first - 1
        count += 1
    while second:
        square[count] = first_bit(second)
        second &= second - 1
        count += 1
    for i in range(4):
        if not s.around[square[i]] & opponent:
            continue
        turned = flips(own, opponent, square[i])
        if not turned:
            continue
        a = square[0] if i != 0 else square[1]
        b = square[1] if i > 1 else square[2]
        c = square[2] if i == 3 else square[3]
        # Two of the three left share a quadrant with each other or with the move: keep
        # the one that is alone in its quadrant in front.
        if s.quadrant[a] == s.quadrant[b]:
            score = -solve_3(s, opponent ^ turned, own ^ turned ^ (<u64> 1 << square[i]),
                             -beta, -alpha, c, a, b)
        elif s.quadrant[a] == s.quadrant[c]:
            score = -solve_3(s, opponent ^ turned, own ^ turned ^ (<u64> 1 << square[i]),
                             -beta, -alpha, b, a, c)
        else:
            score = -solve_3(s, opponent ^ turned, own ^ turned ^ (<u64> 1 << square[i]),
                             -beta, -alpha, a, b, c)
        if score > best:
            best = score
            if best >= beta:
                return best
            if best > alpha:
                alpha = best
    if best != NOTHING:
        return best
    if mobility(opponent, own, empty):
        return -solve_4(s, opponent, own, -beta, -alpha, parity)
    return final_score(s, own, opponent)


cdef int solve_few(Search *s, u64 own, u64 opponent, int alpha, int beta, int empties,
                   int parity) noexcept nogil:
    """At most four empties.

    Fail-soft: <= alpha an upper bound, inside exact, >= beta a lower bound.
    """
    cdef u64 empty = s.board & ~(own | opponent)
    cdef int a, b
    if empties == 4:
        return solve_4(s, own, opponent, alpha, beta, parity)
    if empties == 0:
        s.nodes += 1
        return final_score(s, own, opponent)
    a = first_bit(empty)
    if empties == 1:
        return score_last(s, own, a)
    b = last_bit(empty)
    if empties == 2:
        return solve_2(s, own, opponent, alpha, beta, a, b)
    empty ^= <u64> 1 << a | <u64> 1 << b
    return solve_3(s, own, opponent, alpha, beta, a, first_bit(empty), b)
