# Five to eleven empties: moves ordered by mobility and parity, a small table per thread.
#
# Only null windows are searched here, as MTD(f) asks them: alpha, and beta = alpha + 1. The
# functions are fail-soft:
#
#     result <= alpha:    the score is at most the result
#     result > alpha:     the score is at least the result

cdef enum:
    FEW_EMPTIES = 4         # at most this many: the specialised functions
    PLAIN_EMPTIES = 7       # at most this many: order by replies and parity alone
    TABLE_EMPTIES = 6       # at least this many: look into a table
    ENHANCED_EMPTIES = 10   # at least this many: look at what is known of the children
    LOCAL_EMPTIES = 10      # at most this many: in the thread's own table
    STABLE_LEAD = 6         # alpha at least empties less this: look for stable discs
    STOP_EMPTIES = 8        # at least this many: look whether to stop
    MIDDLE_EMPTIES = 11     # at most this many: search_middle
    MIDDLE_MOVES = 16       # more than there are moves then; a power of two
    KEY_ZERO = 1 << 12      # keeps the keys of all moves above TRIED
    HINTED = 1 << 20        # the value of the move that the table recommends
    TRIED = 0


cdef inline Table *table_of(Search *s, int empties) noexcept nogil:
    return &s.local if empties <= LOCAL_EMPTIES else s.table


cdef inline bint middle_stability_cut(const Search *s, u64 own, u64 opponent, int alpha,
                                      int empties, int *score) noexcept nogil:
    """`stability_cut` where it is likely to be worth its time: `*score` is an upper bound."""
    return (s.options.stability and alpha >= empties - STABLE_LEAD
            and stability_cut(s, own, opponent, alpha, score))


cdef inline int middle_value(const Search *s, u64 opponent, u64 empty, u64 replies, int square,
                             int parity) noexcept nogil:
    """How promising a move is, given the position after it and the replies to it.

    Fastest first: what leaves the opponent few replies is searched quickly and often
    refutes. Replies to a corner count double.
    """
    cdef int value = -16 * (popcount(replies) + popcount(replies & s.corners))
    value -= 2 * popcount(potential_mobility(opponent, empty))
    if parity & s.quadrant[square]:
        value += 8
    if s.corners >> square & 1:
        value += 12
    return value


cdef inline int best_key(const int *keys, int count) noexcept nogil:
    """The greatest key; its lowest bits say which move it is of."""
    cdef int best = keys[0]
    cdef int i
    for i in range(1, count):
        best = max(best, keys[i])
    return best


cdef int search_shallow(Search *s, u64 own, u64 opponent, u64 squares, int alpha, int empties,
                        int parity) noexcept nogil:
    """The score with five empties or a little more; `squares` are the legal moves.

    Null window, fail-soft: <= alpha an upper bound, > alpha a lower bound.
    """
    cdef u64 empty = s.board & ~(own | opponent)
    cdef u64 turned[MIDDLE_MOVES]
    cdef u64 replies[MIDDLE_MOVES]
    cdef uint8_t square_of[MIDDLE_MOVES]
    cdef int keys[MIDDLE_MOVES]
    cdef u64 bit, next_own, next_opponent
    cdef int best = NOTHING
    cdef int count = 0
    cdef int odd = parity if s.options.parity else 0
    cdef int score, square, key, i
    s.nodes += 1
    if middle_stability_cut(s, own, opponent, alpha, empties, &score):
        return score
    if not squares:
        squares = mobility(opponent, own, empty)
        if squares:
            return -search_shallow(s, opponent, own, squares, -alpha - 1, empties, parity)
        return final_score(s, own, opponent)
    while squares:
        square = first_bit(squares)
        bit = squares & (0 - squares)
        squares ^= bit
        turned[count] = flips(own, opponent, square)
        replies[count] = mobility(opponent ^ turned[count], own ^ turned[count] ^ bit, empty ^ bit)
        square_of[count] = square
        key = KEY_ZERO - 16 * popcount(replies[count])
        if odd & s.quadrant[square]:
            key += 8
        keys[count] = key * MIDDLE_MOVES + count
        count += 1
    for i in range(count):
        key = best_key(keys, count) & (MIDDLE_MOVES - 1)
        keys[key] = TRIED
        square = square_of[key]
        next_own = opponent ^ turned[key]
        next_opponent = own ^ turned[key] ^ (<u64> 1 << square)
        if empties == FEW_EMPTIES + 1:
            score = -solve_4(s, next_own, next_opponent, -alpha - 1, parity ^ s.quadrant[square])
        else:
            score = -search_shallow(s, next_own, next_opponent, replies[key], -alpha - 1,
                                    empties - 1, parity ^ s.quadrant[square])
        if score > best:
            best = score
            if best > alpha:
                break
    return best


cdef int search_middle(Search *s, u64 own, u64 opponent, u64 squares, int alpha, int empties,
                       int parity) noexcept nogil:
    """The score; `squares` are the legal moves.

    Null window, fail-soft: <= alpha an upper bound, > alpha a lower bound. Means nothing if
    `s.stopped` is set.
    """
    cdef u64 empty = s.board & ~(own | opponent)
    cdef u64 turned[MIDDLE_MOVES]
    cdef u64 replies[MIDDLE_MOVES]
    cdef uint8_t square_of[MIDDLE_MOVES]
    cdef int keys[MIDDLE_MOVES]
    cdef u64 bit, next_own, next_opponent
    cdef u64 start = s.nodes
    cdef u64 hash = 0
    cdef Table *table
    cdef Facts facts
    cdef bint tabled = s.options.table
    cdef int odd = parity if s.options.parity else 0
    cdef int best = NOTHING
    cdef int best_move = NO_MOVE
    cdef int hint = NO_MOVE
    cdef int count = 0
    cdef int score, square, key, i
    if empties < TABLE_EMPTIES:
        if empties <= FEW_EMPTIES:
            return solve_few(s, own, opponent, alpha, empties, parity)
        return search_shallow(s, own, opponent, squares, alpha, empties, parity)
    s.nodes += 1
    if empties >= STOP_EMPTIES and must_stop(s):
        return alpha
    if tabled:
        # Ask for the bucket now, so that it is there when it is read.
        hash = hash_boards(own, opponent)
        prefetch(bucket_of(table_of(s, empties), hash))
    if middle_stability_cut(s, own, opponent, alpha, empties, &score):
        return score
    if tabled and probe(table_of(s, empties), own, opponent, hash, &facts):
        if facts.lo > alpha:
            return facts.lo
        if facts.hi <= alpha:
            return facts.hi
        hint = facts.best
    if not squares:
        squares = mobility(opponent, own, empty)
        if squares:
            return -search_middle(s, opponent, own, squares, -alpha - 1, empties, parity)
        return final_score(s, own, opponent)
    while squares:
        square = first_bit(squares)
        bit = squares & (0 - squares)
        squares ^= bit
        turned[count] = flips(own, opponent, square)
        next_opponent = own ^ turned[count] ^ bit
        replies[count] = mobility(opponent ^ turned[count], next_opponent, empty ^ bit)
        square_of[count] = square
        if square == hint:
            key = HINTED
        elif empties <= PLAIN_EMPTIES:
            key = KEY_ZERO - 16 * popcount(replies[count])
            if odd & s.quadrant[square]:
                key += 8
        else:
            key = KEY_ZERO + middle_value(s, next_opponent, empty ^ bit, replies[count], square,
                                          odd)
        keys[count] = key * MIDDLE_MOVES + count
        count += 1
    if tabled and s.options.enhanced and empties >= ENHANCED_EMPTIES:
        table = table_of(s, empties - 1)
        for i in range(count):
            next_own = opponent ^ turned[i]
            next_opponent = own ^ turned[i] ^ (<u64> 1 << square_of[i])
            if probe(table, next_own, next_opponent, hash_boards(next_own, next_opponent),
                     &facts) and -facts.hi > alpha:
                return -facts.hi
    for i in range(count):
        key = best_key(keys, count) & (MIDDLE_MOVES - 1)
        keys[key] = TRIED
        square = square_of[key]
        score = -search_middle(s, opponent ^ turned[key],
                               own ^ turned[key] ^ (<u64> 1 << square), replies[key], -alpha - 1,
                               empties - 1, parity ^ s.quadrant[square])
        if s.stopped:
            return alpha
        if score > best:
            best = score
            best_move = square
            if best > alpha:
                break
    if tabled:
        store(table_of(s, empties), own, opponent, hash, best if best > alpha else -s.squares,
              best if best <= alpha else s.squares, best_move, log_effort(s.nodes - start))
    return best


cdef int search_middle_open(Search *s, u64 own, u64 opponent, u64 squares, int alpha, int beta,
                            int empties, int parity) noexcept nogil:
    """The score in any window, by null windows that climb from alpha.

    Fail-soft: <= alpha an upper bound, inside exact, >= beta a lower bound.
    """
    cdef int score = search_middle(s, own, opponent, squares, alpha, empties, parity)
    while alpha < score < beta and not s.stopped:
        alpha = score
        score = search_middle(s, own, opponent, squares, alpha, empties, parity)
        if score <= alpha:
            return alpha
    return score
