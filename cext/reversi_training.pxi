# Positions to train the evaluation on, each with its score.

cdef inline u64 next_random(u64 *state) noexcept nogil:
    """SplitMix64: every state, consecutive ones too, gives well spread bits."""
    cdef u64 z
    state[0] += <u64> 0x9e3779b97f4a7c15
    z = state[0]
    z = (z ^ z >> 30) * <u64> 0xbf58476d1ce4e5b9
    z = (z ^ z >> 27) * <u64> 0x94d049bb133111eb
    return z ^ z >> 31


cdef int random_move(u64 moves, u64 *seed) noexcept nogil:
    cdef int skip = next_random(seed) % <u64> popcount(moves)
    while skip:
        moves &= moves - 1
        skip -= 1
    return first_bit(moves)


cdef int mobile_move(Search *s, u64 own, u64 opponent, u64 moves, u64 *seed) noexcept nogil:
    """A sensible move that needs no trained weights: few replies, a little noise."""
    cdef u64 empty = s.board & ~(own | opponent)
    cdef u64 turned, after, rest
    cdef int best = -1 << 30
    cdef int chosen = NO_MOVE
    cdef int square, value
    while moves:
        square = first_bit(moves)
        moves &= moves - 1
        turned = flips(own, opponent, square)
        after = own ^ turned ^ (<u64> 1 << square)
        rest = empty ^ (<u64> 1 << square)
        value = middle_value(s, after, rest, mobility(opponent ^ turned, after, rest), square, 0)
        value += next_random(seed) % 24
        if value > best:
            best = value
            chosen = square
    return chosen


cdef bint play_to(Search *s, u64 *own, u64 *opponent, u64 *seed, int target) noexcept nogil:
    """Play from the start to `target` empties; no if the game ended before.

    Each side plays at random in a share of its moves drawn anew for every game, because
    a search meets sensible and senseless play in every mixture.
    """
    cdef u64 corner = <u64> 1 << 8 * (s.geometry.rows // 2 - 1) + s.geometry.cols // 2 - 1
    cdef u64 empty, moves, turned, swap
    cdef u64 carelessness[2]
    cdef int square
    cdef int turn = 0
    carelessness[0] = next_random(seed) % 100
    carelessness[1] = next_random(seed) % 100
    own[0] = corner << 1 | corner << 8
    opponent[0] = corner | corner << 9
    while True:
        empty = s.board & ~(own[0] | opponent[0])
        moves = mobility(own[0], opponent[0], empty)
        if not moves and not mobility(opponent[0], own[0], empty):
            return False
        if moves and popcount(empty) <= target:
            return True
        turned = 0
        if moves:
            if next_random(seed) % 100 < carelessness[turn] or popcount(empty) > s.squares - 8:
                square = random_move(moves, seed)
            else:
                square = mobile_move(s, own[0], opponent[0], moves, seed)
            turned = flips(own[0], opponent[0], square)
            own[0] ^= turned ^ (<u64> 1 << square)
            opponent[0] ^= turned
        swap = own[0]
        own[0] = opponent[0]
        opponent[0] = swap
        turn ^= 1


cdef int sample_position(Search *s, u64 *own, u64 *opponent, u64 *seed, int fewest, int most,
                         int exact, int depth) noexcept nogil:
    """A random position and its score in grains: exact up to `exact` empties, else estimated."""
    cdef int empties = fewest + next_random(seed) % <u64> (most - fewest + 1)
    cdef Configuration shown
    while not play_to(s, own, opponent, seed, empties):
        pass
    configure(s.evaluation, own[0], opponent[0], s.board, &shown)
    if empties <= exact:
        return GRAINS * exact_score(s, own[0], opponent[0], &shown, empties)
    return search_estimate(s, own[0], opponent[0], &shown, empties, depth, -WIDEST, WIDEST)


cdef int exact_score(Search *s, u64 own, u64 opponent, const Configuration *shown,
                     int empties) noexcept nogil:
    """The exact score, by null windows from a first guess."""
    cdef int lo = -s.squares
    cdef int hi = s.squares
    cdef int guess = 0
    cdef int threshold
    if s.options.evaluation:
        guess = search_estimate(s, own, opponent, shown, empties, 0, -WIDEST, WIDEST) // GRAINS
    while lo < hi:
        threshold = max(lo + 1, min(hi, guess))
        guess = search_upper(s, own, opponent, shown, threshold - 1, threshold, empties,
                             parity_of(s, own, opponent))
        if guess >= threshold:
            lo = guess
        else:
            hi = guess
    return lo
