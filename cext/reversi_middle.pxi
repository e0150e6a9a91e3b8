# Five to a dozen empties: moves ordered by mobility and parity, a small table per thread.

cdef enum:
    FEW_EMPTIES = 4         # at most this many: the specialised functions
    PLAIN_EMPTIES = 7       # at most this many: order by replies and parity alone
    TABLE_EMPTIES = 6       # at least this many: look into a table
    STABLE_EMPTIES = 5      # at least this many: look for stable discs
    ENHANCED_EMPTIES = 10   # at least this many: look at what is known of the children
    LOCAL_EMPTIES = 10      # at most this many: in the thread's own table
    HINTED = 1 << 20        # the value of the move that the table recommends


cdef inline Table *table_of(Search *s, int empties) noexcept nogil:
    return &s.local if empties <= LOCAL_EMPTIES else s.table


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


cdef int search_middle(Search *s, u64 own, u64 opponent, u64 squares, int alpha, int beta,
                       int empties, int parity) noexcept nogil:
    """The score; `squares` are the legal moves. Fail-soft:

    result <= alpha:          the score is at most the result
    alpha < result < beta:    the score is the result
    result >= beta:           the score is at least the result

    Means nothing if `s.stopped` is set.
    """
    cdef u64 empty = s.board & ~(own | opponent)
    cdef u64 next_opponent, left, replies
    cdef u64 hashes[MOST_CANDIDATES]
    cdef Table *table
    cdef u64 start = s.nodes
    cdef u64 hash = 0
    cdef Candidates moves
    cdef Candidate *move
    cdef Facts facts
    cdef bint tabled = s.options.table and empties >= TABLE_EMPTIES
    cdef int best = NOTHING
    cdef int best_move = NO_MOVE
    cdef int hint = NO_MOVE
    cdef int lower = alpha
    cdef int score, i
    if empties <= FEW_EMPTIES:
        return solve_few(s, own, opponent, alpha, beta, empties, parity)
    s.nodes += 1
    if must_stop(s):
        return alpha
    if tabled:
        # Ask for the bucket now, so that it is there when the moves are listed.
        hash = hash_boards(own, opponent)
        prefetch(bucket_of(table_of(s, empties), hash))
    if s.options.stability and empties >= STABLE_EMPTIES \
            and stability_cut(s, own, opponent, alpha, &score):
        return score
    list_moves(own, opponent, squares, &moves)
    if tabled and probe(table_of(s, empties), own, opponent, hash, &facts):
        if facts.lo >= beta or facts.lo == facts.hi:
            return facts.lo
        if facts.hi <= alpha:
            return facts.hi
        hint = facts.best
    if not squares:
        replies = mobility(opponent, own, empty)
        if replies:
            return -search_middle(s, opponent, own, replies, -beta, -alpha, empties, parity)
        return final_score(s, own, opponent)
    table = table_of(s, empties - 1)
    for i in range(moves.count):
        move = &moves.item[i]
        left = empty ^ (<u64> 1 << move.square)
        next_opponent = opponent_after(own, move)
        if empties > TABLE_EMPTIES:
            hashes[i] = hash_boards(own_after(opponent, move), next_opponent)
            prefetch(bucket_of(table, hashes[i]))
        move.replies = mobility(own_after(opponent, move), next_opponent, left)
        if move.square == hint:
            move.value = HINTED
        elif empties <= PLAIN_EMPTIES:
            move.value = -16 * popcount(move.replies)
            if s.options.parity and parity & s.quadrant[move.square]:
                move.value += 8
        else:
            move.value = middle_value(s, next_opponent, left, move.replies, move.square,
                                      parity if s.options.parity else 0)
    if tabled and s.options.enhanced and empties >= ENHANCED_EMPTIES:
        for i in range(moves.count):
            move = &moves.item[i]
            if probe(table, own_after(opponent, move), opponent_after(own, move), hashes[i],
                     &facts) and -facts.hi >= beta:
                return -facts.hi
    for i in range(moves.count):
        take_best(&moves, i)
        move = &moves.item[i]
        score = -search_middle(s, own_after(opponent, move), opponent_after(own, move),
                               move.replies, -beta, -lower, empties - 1,
                               parity ^ s.quadrant[move.square])
        if s.stopped:
            return alpha
        if score > best:
            best = score
            best_move = move.square
            if best >= beta:
                break
            lower = max(lower, best)
    if tabled:
        store(table_of(s, empties), own, opponent, hash, best if best > alpha else -s.squares,
              best if best < beta else s.squares, best_move, log_effort(s.nodes - start))
    return best
