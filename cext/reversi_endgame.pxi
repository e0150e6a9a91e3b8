# The last empties: no table, no evaluation, squares in the order of parity.
#
# Only null windows are searched here: alpha, and beta = alpha + 1. The functions are fail-soft:
#
#     result <= alpha:    the score is at most the result
#     result > alpha:     the score is at least the result
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


cdef inline int solve_2(Search *s, u64 own, u64 opponent, int alpha, int a, int b) noexcept nogil:
    """Two empties. Null window, fail-soft: <= alpha an upper bound, > alpha a lower bound."""
    cdef u64 turned
    cdef int best = NOTHING
    cdef int score
    s.nodes += 1
    if s.around[a] & opponent:
        turned = flips(own, opponent, a)
        if turned:
            best = -score_last(s, opponent ^ turned, b)
            if best > alpha:
                return best
    if s.around[b] & opponent:
        turned = flips(own, opponent, b)
        if turned:
            score = -score_last(s, opponent ^ turned, a)
            return max(score, best)
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
            return min(score, best)
    if best != -NOTHING:
        return best
    return final_score(s, own, opponent)


cdef int solve_3(Search *s, u64 own, u64 opponent, int alpha, int a, int b, int c) noexcept nogil:
    """Three empties, already in the order in which to try them.

    Null window, fail-soft: <= alpha an upper bound, > alpha a lower bound.
    """
    cdef u64 turned
    cdef int best = NOTHING
    cdef int score
    s.nodes += 1
    if s.around[a] & opponent:
        turned = flips(own, opponent, a)
        if turned:
            best = -solve_2(s, opponent ^ turned, own ^ turned ^ (<u64> 1 << a), -alpha - 1, b, c)
            if best > alpha:
                return best
    if s.around[b] & opponent:
        turned = flips(own, opponent, b)
        if turned:
            score = -solve_2(s, opponent ^ turned, own ^ turned ^ (<u64> 1 << b), -alpha - 1, a, c)
            if score > alpha:
                return score
            best = max(score, best)
    if s.around[c] & opponent:
        turned = flips(own, opponent, c)
        if turned:
            score = -solve_2(s, opponent ^ turned, own ^ turned ^ (<u64> 1 << c), -alpha - 1, a, b)
            return max(score, best)
    if best != NOTHING:
        return best
    if mobility(opponent, own, s.board & ~(own | opponent)):
        return -solve_3(s, opponent, own, -alpha - 1, a, b, c)
    return final_score(s, own, opponent)


cdef inline int try_of_4(Search *s, u64 own, u64 opponent, int alpha, int square, int a, int b,
                         int c) noexcept nogil:
    """The score of a move with four empties, three of them left after it; NOTHING if illegal.

    Null window, fail-soft: <= alpha an upper bound, > alpha a lower bound.
    """
    cdef u64 turned
    cdef int swap
    if not s.around[square] & opponent:
        return NOTHING
    turned = flips(own, opponent, square)
    if not turned:
        return NOTHING
    # Two of the three left may share a quadrant: the one that is alone in its own comes first.
    if s.quadrant[a] == s.quadrant[b]:
        swap = c
        c = b
        b = a
        a = swap
    elif s.quadrant[a] == s.quadrant[c]:
        swap = a
        a = b
        b = swap
    return -solve_3(s, opponent ^ turned, own ^ turned ^ (<u64> 1 << square), -alpha - 1, a, b, c)


cdef inline int take_first(u64 *first, u64 *second) noexcept nogil:
    """Remove a square from the first set, or when that is empty from the second."""
    cdef u64 chosen = first[0] if first[0] else second[0]
    cdef u64 bit = chosen & (0 - chosen)
    first[0] &= ~bit
    second[0] &= ~bit
    return first_bit(chosen)


cdef int solve_4(Search *s, u64 own, u64 opponent, int alpha, int parity) noexcept nogil:
    """Four empties. Null window, fail-soft: <= alpha an upper bound, > alpha a lower bound."""
    cdef u64 empty = s.board & ~(own | opponent)
    cdef u64 first = empty & s.odd[parity]
    cdef u64 second = empty ^ first
    cdef int a = take_first(&first, &second)
    cdef int b = take_first(&first, &second)
    cdef int c = take_first(&first, &second)
    cdef int d = take_first(&first, &second)
    cdef int best
    s.nodes += 1
    best = try_of_4(s, own, opponent, alpha, a, b, c, d)
    if best > alpha:
        return best
    best = max(best, try_of_4(s, own, opponent, alpha, b, a, c, d))
    if best > alpha:
        return best
    best = max(best, try_of_4(s, own, opponent, alpha, c, a, b, d))
    if best > alpha:
        return best
    best = max(best, try_of_4(s, own, opponent, alpha, d, a, b, c))
    if best != NOTHING:
        return best
    if mobility(opponent, own, empty):
        return -solve_4(s, opponent, own, -alpha - 1, parity)
    return final_score(s, own, opponent)


cdef int solve_few(Search *s, u64 own, u64 opponent, int alpha, int empties,
                   int parity) noexcept nogil:
    """At most four empties. Null window, fail-soft: <= alpha an upper bound, > alpha a lower."""
    cdef u64 empty = s.board & ~(own | opponent)
    cdef int a, b
    if empties == 4:
        return solve_4(s, own, opponent, alpha, parity)
    if empties == 0:
        s.nodes += 1
        return final_score(s, own, opponent)
    a = first_bit(empty)
    if empties == 1:
        return score_last(s, own, a)
    b = last_bit(empty)
    if empties == 2:
        return solve_2(s, own, opponent, alpha, a, b)
    empty ^= <u64> 1 << a | <u64> 1 << b
    return solve_3(s, own, opponent, alpha, a, first_bit(empty), b)
