# A dozen empties and more: the shared table, symmetry, moves ordered by looking ahead.
#
# Threads. All threads search the same root and meet in the shared table. So that they
# spread, each marks the position it is searching as busy; a thread that comes to a busy
# position leaves it for later and takes the next move of its list. When it returns, the
# other thread has usually put the answer into the table.

cdef enum:
    FOLD_EMPTIES = 14       # at least this many: symmetric positions share an entry
    SPLIT_EMPTIES = 14      # at least this many: threads avoid each other's positions


cdef inline u64 *busy_slot(Search *s, u64 hash) noexcept nogil:
    return <u64 *> &s.shared.busy[hash & (BUSY_SLOTS - 1)]


cdef inline bint others_search(Search *s, u64 hash) noexcept nogil:
    """Whether another thread is at a position; if not, say that this one is."""
    cdef u64 *slot = busy_slot(s, hash)
    if slot[0] == hash:
        return True
    slot[0] = hash
    return False


cdef inline void leave(Search *s, u64 hash) noexcept nogil:
    cdef u64 *slot = busy_slot(s, hash)
    if slot[0] == hash:
        slot[0] = 0


cdef inline u64 table_name(const Search *s, u64 *own, u64 *opponent, int empties,
                           int *symmetry) noexcept nogil:
    """Under which position and hash the shared table keeps a position."""
    symmetry[0] = 0
    if s.options.symmetry and empties >= FOLD_EMPTIES:
        symmetry[0] = fold(s, own, opponent)
    return hash_boards(own[0], opponent[0])


cdef bint enhanced_cut(const Search *s, u64 own, u64 opponent, const Candidates *moves, int beta,
                       int empties, int *score) noexcept nogil:
    """Whether the table knows a child that refutes the position at once.

    Then `score` is at least beta, and a lower bound of the position's score.
    """
    cdef u64 owns[MOST_CANDIDATES]
    cdef u64 opponents[MOST_CANDIDATES]
    cdef u64 hashes[MOST_CANDIDATES]
    cdef Facts facts
    cdef int i, symmetry
    # All buckets are asked for before the first is looked at: each comes from far away.
    for i in range(moves.count):
        owns[i] = own_after(opponent, &moves.item[i])
        opponents[i] = opponent_after(own, &moves.item[i])
        hashes[i] = table_name(s, &owns[i], &opponents[i], empties - 1, &symmetry)
        prefetch(bucket_of(s.table, hashes[i]))
    for i in range(moves.count):
        if probe(s.table, owns[i], opponents[i], hashes[i], &facts) and -facts.hi >= beta:
            score[0] = -facts.hi
            return True
    return False


cdef int search_below(Search *s, u64 own, u64 opponent, const Configuration *shown,
                      const Candidate *move, int alpha, int beta, int empties,
                      int parity) noexcept nogil:
    """The score of a move for the side that makes it.

    Fail-soft: <= alpha an upper bound, inside exact, >= beta a lower bound.
    """
    cdef u64 next_own = own_after(opponent, move)
    cdef u64 next_opponent = opponent_after(own, move)
    cdef u64 squares
    cdef Configuration after
    parity ^= s.quadrant[move.square]
    empties -= 1
    if empties <= MIDDLE_EMPTIES:
        squares = mobility(next_own, next_opponent, s.board & ~(next_own | next_opponent))
        return -search_middle_open(s, next_own, next_opponent, squares, -beta, -alpha, empties,
                                   parity)
    configure_move(s.evaluation, shown, move.square, move.turned, &after)
    return -search_upper(s, next_own, next_opponent, &after, -beta, -alpha, empties, parity)


cdef void value_moves(Search *s, u64 own, u64 opponent, const Configuration *shown,
                      Candidates *moves, int beta, int empties, int parity) noexcept nogil:
    """Value the moves that the table does not recommend."""
    cdef u64 empty
    cdef Candidate *move
    cdef int i
    if s.options.evaluation:
        value_by_cost(s, own, opponent, shown, moves, beta, empties)
        return
    for i in range(moves.count):
        move = &moves.item[i]
        if move.value < SECOND_HINT:
            empty = s.board & ~(own | opponent | <u64> 1 << move.square)
            move.value = middle_value(s, opponent_after(own, move), empty,
                                      mobility(own_after(opponent, move),
                                               opponent_after(own, move), empty),
                                      move.square, parity if s.options.parity else 0)


cdef int search_upper(Search *s, u64 own, u64 opponent, const Configuration *shown, int alpha,
                      int beta, int empties, int parity) noexcept nogil:
    """The score; at the root the best move so far is in `s.root_move`. Fail-soft:

    result <= alpha:          the score is at most the result
    alpha < result < beta:    the score is the result
    result >= beta:           the score is at least the result

    Means nothing if `s.stopped` is set.
    """
    cdef u64 empty = s.board & ~(own | opponent)
    cdef u64 squares
    cdef u64 start = s.nodes
    cdef u64 key_own = own
    cdef u64 key_opponent = opponent
    cdef u64 hash = 0
    cdef u64 busy = 0
    cdef Candidates moves
    cdef Candidate *move
    cdef Configuration after
    cdef Facts facts
    cdef int deferred[MOST_CANDIDATES]
    cdef bint parallel = s.parallel and empties >= SPLIT_EMPTIES
    cdef int symmetry = 0
    cdef int hint = NO_MOVE
    cdef int second = NO_MOVE
    cdef int best = NOTHING
    cdef int best_move = NO_MOVE
    cdef int lower = alpha
    cdef bint hinted
    cdef int score, turn, turns, i
    s.nodes += 1
    if must_stop(s):
        return alpha
    if s.options.stability and stability_cut(s, own, opponent, alpha, &score):
        return score
    if s.options.table:
        hash = table_name(s, &key_own, &key_opponent, empties, &symmetry)
        if probe(s.table, key_own, key_opponent, hash, &facts):
            if facts.lo >= beta or facts.lo == facts.hi:
                score = facts.lo
            elif facts.hi <= alpha:
                score = facts.hi
            else:
                score = NOTHING
            hint = unfold_square(s, facts.best, symmetry)
            second = unfold_square(s, facts.second, symmetry)
            if score != NOTHING:
                if empties == s.root_empties:
                    s.root_move = hint
                return score
    squares = mobility(own, opponent, empty)
    if not squares:
        if not mobility(opponent, own, empty):
            return final_score(s, own, opponent)
        configure_pass(s.evaluation, shown, &after)
        return -search_upper(s, opponent, own, &after, -beta, -alpha, empties, parity)
    list_moves(own, opponent, squares, &moves)
    if s.options.table and s.options.enhanced \
            and enhanced_cut(s, own, opponent, &moves, beta, empties, &score) \
            and empties != s.root_empties:
        return score
    for i in range(moves.count):
        move = &moves.item[i]
        move.value = (FIRST_HINT if move.square == hint
                      else SECOND_HINT if move.square == second else 0)
    # A recommended move is tried before any time is spent on ordering the others.
    hinted = hint != NO_MOVE
    if not hinted:
        value_moves(s, own, opponent, shown, &moves, beta, empties, parity)

    turn = 0
    turns = moves.count         # grows by one for each move left for later
    while turn < turns:
        if turn < moves.count:
            if turn == 1 and hinted:
                value_moves(s, own, opponent, shown, &moves, beta, empties, parity)
            take_best(&moves, turn)
            move = &moves.item[turn]
            busy = 0
            if parallel and turn > 0:
                busy = hash_boards(own_after(opponent, move), opponent_after(own, move))
                if others_search(s, busy):
                    deferred[turns - moves.count] = turn
                    turns += 1
                    turn += 1
                    continue
        else:
            busy = 0
            move = &moves.item[deferred[turn - moves.count]]
        # All moves but the first are expected to fail: a null window tells whether they do.
        if best == NOTHING or beta - lower == 1:
            score = search_below(s, own, opponent, shown, move, lower, beta, empties, parity)
        else:
            score = search_below(s, own, opponent, shown, move, lower, lower + 1, empties, parity)
            if lower < score < beta and not s.stopped:
                score = search_below(s, own, opponent, shown, move, score - 1, beta, empties,
                                     parity)
        if busy:
            leave(s, busy)
        if s.stopped:
            return alpha
        turn += 1
        if score > best:
            best = score
            best_move = move.square
            lower = max(lower, best)
        if empties == s.root_empties:
            s.root_move = best_move
            s.root_done = turn
        if best >= beta:
            break
    if s.options.table:
        store(s.table, key_own, key_opponent, hash, best if best > alpha else -s.squares,
              best if best < beta else s.squares, fold_square(s, best_move, symmetry),
              log_effort(s.nodes - start))
    return best
