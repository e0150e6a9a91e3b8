# The fast search: NegaScout with a transposition table, in three layers by empties.
#
#     many empties    search_upper   shared table, symmetry, moves ordered by the evaluation
#     some            search_middle  own small table, moves ordered by mobility and parity
#     few             search_few     parity only, then the specialised last four
#
# The contract of every function is the one stated in reversi_endgame.pxi. A search that
# was told to stop returns anything; callers look at `s.stopped` before they use it.

cdef enum:
    FEW_EMPTIES = 6         # at most this many: no ordering but parity
    LOCAL_EMPTIES = 10      # at most this many: the thread's own table
    MIDDLE_EMPTIES = 12     # at most this many: no evaluation
    FOLD_EMPTIES = 14       # at least this many: symmetric positions share an entry
    SPLIT_EMPTIES = 14      # at least this many: threads avoid each other's moves
    BUSY_SLOTS = 4096
    MOST_PLIES = 130        # a game of 60 discs with a pass after each, and some

cdef enum:                  # why a search stopped
    RUNNING = 0
    ABORTED = 1
    EXHAUSTED = 2

cdef struct Options:        # each technique can be switched off, to measure what it brings
    bint table
    bint symmetry
    bint stability
    bint enhanced           # enhanced transposition cut-offs
    bint parity
    bint evaluation

cdef struct Shared:         # what the threads of one search have in common
    volatile int stop
    u64 node_limit          # per thread
    u64 busy[BUSY_SLOTS]    # hashes of positions that some thread is searching

cdef struct Search:         # what one thread needs
    u64 nodes
    u64 board
    int squares
    bint empties_to_winner
    bint stopped
    u64 odd[16]             # squares of the quadrants with odd parity
    u64 around[64]
    uint8_t quadrant[64]
    u64 corners
    Options options
    Geometry *geometry
    Evaluation *evaluation
    Table *table
    Table local
    Shared *shared
    bint parallel
    int symmetries
    int mobility_weight

cdef struct Candidate:
    u64 turned
    int square
    int value

cdef struct Candidates:
    Candidate item[34]
    int count


cdef inline u64 transform(const Search *s, u64 b, int symmetry) noexcept nogil:
    if symmetry & 1:
        b = mirror_rows(b) >> 8 * (8 - s.geometry.rows)
    if symmetry & 2:
        b = mirror_cols(b) >> 8 - s.geometry.cols
    return transpose(b) if symmetry & 4 else b


cdef inline int fold(const Search *s, u64 *own, u64 *opponent) noexcept nogil:
    """Replace a position by the smallest of its symmetric images; which one, is returned."""
    cdef u64 best_own = own[0]
    cdef u64 best_opponent = opponent[0]
    cdef u64 image
    cdef u64 other
    cdef int best = 0
    cdef int symmetry
    for symmetry in range(1, s.symmetries):
        image = transform(s, own[0], symmetry)
        if image > best_own:
            continue
        other = transform(s, opponent[0], symmetry)
        if image < best_own or other < best_opponent:
            best_own = image
            best_opponent = other
            best = symmetry
    own[0] = best_own
    opponent[0] = best_opponent
    return best


cdef inline int fold_square(const Search *s, int square, int symmetry) noexcept nogil:
    if square == NO_MOVE or symmetry == 0:
        return square
    return first_bit(transform(s, <u64> 1 << square, symmetry))


cdef inline int unfold_square(const Search *s, int square, int symmetry) noexcept nogil:
    """The inverse of `fold_square`: transposing first turns rows into columns."""
    cdef int inverse = symmetry
    if square == NO_MOVE or symmetry == 0:
        return square
    if symmetry == 5:
        inverse = 6
    elif symmetry == 6:
        inverse = 5
    return first_bit(transform(s, <u64> 1 << square, inverse))


cdef inline int take_best(Candidates *moves, int done) noexcept nogil:
    """Bring the most promising of the moves not yet tried to place `done`."""
    cdef int best = done
    cdef int i
    cdef Candidate swap
    for i in range(done + 1, moves.count):
        if moves.item[i].value > moves.item[best].value:
            best = i
    if best != done:
        swap = moves.item[done]
        moves.item[done] = moves.item[best]
        moves.item[best] = swap
    return moves.item[done].square


cdef inline bint stability_cut(const Search *s, u64 own, u64 opponent, int alpha, int *score) noexcept nogil:
    """Whether the opponent's stable discs alone keep the score at or below alpha."""
    if 2 * popcount(opponent) < s.squares - alpha:
        return False
    score[0] = s.squares - 2 * popcount(stable_discs(s.geometry, opponent, own))
    return score[0] <= alpha


# -- few empties -----------------------------------------------------------------------

cdef int search_few(Search *s, u64 own, u64 opponent, int alpha, int beta, int empties,
                    int parity) noexcept nogil:
    cdef u64 empty = s.board & ~(own | opponent)
    cdef u64 moves = mobility(own, opponent, empty)
    cdef u64 group
    cdef u64 turned
    cdef int best = NOTHING
    cdef int square, score, half
    s.nodes += 1
    if not moves:
        if mobility(opponent, own, empty):
            return -search_few(s, opponent, own, -beta, -alpha, empties, parity)
        return final_score(s, own, opponent)
    for half in range(2):
        group = moves & s.odd[parity] if half == 0 else moves & ~s.odd[parity]
        while group:
            square = first_bit(group)
            group &= group - 1
            turned = flips(own, opponent, square)
            if empties == 5:
                score = -solve_4(s, opponent ^ turned, own ^ turned ^ (<u64> 1 << square),
                                 -beta, -alpha, parity ^ s.quadrant[square])
            else:
                score = -search_few(s, opponent ^ turned, own ^ turned ^ (<u64> 1 << square),
                                    -beta, -alpha, empties - 1, parity ^ s.quadrant[square])
            if score > best:
                best = score
                if best >= beta:
                    return best
                if best > alpha:
                    alpha = best
    return best


cdef int search_tiny(Search *s, u64 own, u64 opponent, int alpha, int beta, int empties,
                     int parity) noexcept nogil:
    """At most four empties, from any caller."""
    cdef u64 empty = s.board & ~(own | opponent)
    cdef int a, b, c
    if empties == 4:
        return solve_4(s, own, opponent, alpha, beta, parity)
    if empties == 0:
        s.nodes += 1
        return final_score(s, own, opponent)
    a = first_bit(empty)
    if empties == 1:
        return solve_1(s, own, a)
    empty &= empty - 1
    b = first_bit(empty)
    if empties == 2:
        return solve_2(s, own, opponent, alpha, beta, a, b)
    c = last_bit(empty)
    return solve_3(s, own, opponent, alpha, beta, a, b, c)


# -- some empties ----------------------------------------------------------------------

cdef inline int middle_value(const Search *s, u64 own, u64 opponent, u64 empty, int square,
                             int parity) noexcept nogil:
    """How promising a move is, given the position after it (`own` has the next turn).

    Fastest first: what leaves the opponent few replies is searched quickly and often
    refutes; replies to a corner count double.
    """
    cdef u64 replies = mobility(own, opponent, empty)
    cdef int value = -16 * (popcount(replies) + popcount(replies & s.corners))
    value -= 2 * popcount(potential_mobility(opponent, empty))
    if parity & s.quadrant[square]:
        value += 8
    return value


cdef int search_middle(Search *s, u64 own, u64 opponent, int alpha, int beta, int empties,
                       int parity) noexcept nogil:
    cdef u64 empty = s.board & ~(own | opponent)
    cdef u64 rest, hash, start
    cdef Candidates moves
    cdef Candidate *move
    cdef Facts facts
    cdef Table *table = s.table if empties > LOCAL_EMPTIES else &s.local
    cdef int score, i, square, lower
    cdef int best = NOTHING
    cdef int best_move = NO_MOVE
    cdef int hint = NO_MOVE
    if empties <= FEW_EMPTIES:
        if empties > 4:
            return search_few(s, own, opponent, alpha, beta, empties, parity)
        return search_tiny(s, own, opponent, alpha, beta, empties, parity)
    s.nodes += 1
    if s.nodes > s.shared.node_limit:
        s.shared.stop = EXHAUSTED
    if s.shared.stop:
        s.stopped = True
        return alpha
    if s.options.stability and stability_cut(s, own, opponent, alpha, &score):
        return score
    if s.options.table:
        hash = hash_boards(own, opponent)
        if probe(table, own, opponent, hash, &facts):
            if facts.lo >= beta or facts.lo == facts.hi:
                return facts.lo
            if facts.hi <= alpha:
                return facts.hi
            hint = facts.best
    rest = mobility(own, opponent, empty)
    if not rest:
        if mobility(opponent, own, empty):
            return -search_middle(s, opponent, own, -beta, -alpha, empties, parity)
        return final_score(s, own, opponent)
    start = s.nodes
    moves.count = 0
    while rest:
        square = first_bit(rest)
        rest &= rest - 1
        move = &moves.item[moves.count]
        moves.count += 1
        move.square = square
        move.turned = flips(own, opponent, square)
        if square == hint:
            move.value = 1 << 20
        else:
            move.value = middle_value(s, opponent ^ move.turned,
                                      own ^ move.turned ^ (<u64> 1 << square),
                                      empty ^ (<u64> 1 << square), square, parity)
    lower = alpha
    for i in range(moves.count):
        square = take_best(&moves, i)
        move = &moves.item[i]
        score = -search_middle(s, opponent ^ move.turned, own ^ move.turned ^ (<u64> 1 << square),
                               -beta, -lower, empties - 1, parity ^ s.quadrant[square])
        if s.stopped:
            return alpha
        if score > best:
            best = score
            best_move = square
            if best >= beta:
                break
            if best > lower:
                lower = best
    if s.options.table:
        store(table, own, opponent, hash, best if best > alpha else -s.squares,
              best if best < beta else s.squares, best_move, log_effort(s.nodes - start))
    return best


# -- many empties ----------------------------------------------------------------------

cdef int search_estimate(Search *s, u64 own, u64 opponent, const Configuration *shown, int empties,
                         int depth, int alpha, int beta) noexcept nogil:
    """The evaluation after `depth` plies of search, in grains. Proves nothing."""
    cdef u64 empty = s.board & ~(own | opponent)
    cdef u64 moves = mobility(own, opponent, empty)
    cdef u64 replies, turned
    cdef Configuration after
    cdef int best = -GRAINS * 128
    cdef int square, score
    s.nodes += 1
    if depth == 0 or not moves:
        replies = mobility(opponent, own, empty)
        if not moves:
            if not replies:
                return GRAINS * final_score(s, own, opponent)
            configure_pass(s.evaluation, shown, &after)
            return -search_estimate(s, opponent, own, &after, empties, depth, -beta, -alpha)
        return estimate(s.evaluation, shown, empties, popcount(moves), popcount(replies))
    while moves:
        square = first_bit(moves)
        moves &= moves - 1
        turned = flips(own, opponent, square)
        configure_move(s.evaluation, shown, square, turned, &after)
        score = -search_estimate(s, opponent ^ turned, own ^ turned ^ (<u64> 1 << square), &after,
                                 empties - 1, depth - 1, -beta, -alpha)
        if score > best:
            best = score
            if best >= beta:
                return best
            if best > alpha:
                alpha = best
    return best


cdef inline int ordering_depth(int empties) noexcept nogil:
    """How deep to look before ordering the moves: the more is at stake, the deeper."""
    if empties >= 22:
        return 2
    return 1 if empties >= 16 else 0


cdef inline bint mark_busy(Search *s, u64 hash) noexcept nogil:
    """Tell the other threads that this one searches a position; no if another does."""
    cdef u64 *slot = &s.shared.busy[hash & (BUSY_SLOTS - 1)]
    if slot[0] == hash:
        return False
    slot[0] = hash
    return True


cdef inline void unmark_busy(Search *s, u64 hash) noexcept nogil:
    cdef u64 *slot = &s.shared.busy[hash & (BUSY_SLOTS - 1)]
    if slot[0] == hash:
        slot[0] = 0


cdef int search_child(Search *s, u64 own, u64 opponent, const Configuration *shown,
                      const Candidate *move, int alpha, int beta, int empties, int parity,
                      bint first) noexcept nogil:
    """The value of a move; all but the first are tried with a null window first."""
    cdef u64 next_own = opponent ^ move.turned
    cdef u64 next_opponent = own ^ move.turned ^ (<u64> 1 << move.square)
    cdef int next_parity = parity ^ s.quadrant[move.square]
    cdef Configuration after
    cdef int score
    if s.evaluation.weights != NULL:
        configure_move(s.evaluation, shown, move.square, move.turned, &after)
    if first or beta - alpha == 1:
        return -search_upper(s, next_own, next_opponent, &after, -beta, -alpha, empties - 1,
                             next_parity)
    score = -search_upper(s, next_own, next_opponent, &after, -alpha - 1, -alpha, empties - 1,
                          next_parity)
    if s.stopped or score <= alpha or score >= beta:
        return score
    return -search_upper(s, next_own, next_opponent, &after, -beta, -score, empties - 1,
                         next_parity)


cdef inline u64 child_hash(Search *s, u64 own, u64 opponent, int empties, u64 *folded_own,
                           u64 *folded_opponent) noexcept nogil:
    """The table's name for a position."""
    folded_own[0] = own
    folded_opponent[0] = opponent
    if s.options.symmetry and empties >= FOLD_EMPTIES:
        fold(s, folded_own, folded_opponent)
    return hash_boards(folded_own[0], folded_opponent[0])


cdef int search_upper(Search *s, u64 own, u64 opponent, const Configuration *shown, int alpha,
                      int beta, int empties, int parity) noexcept nogil:
    cdef u64 empty = s.board & ~(own | opponent)
    cdef u64 rest, hash, start, key_own, key_opponent, next_own, next_opponent, next_hash
    cdef u64 hashes[34]
    cdef Candidates moves
    cdef Candidate *move
    cdef Configuration after
    cdef Facts facts
    cdef int score, i, square, lower, deferred, pass_number
    cdef int symmetry = 0
    cdef int best = NOTHING
    cdef int best_move = NO_MOVE
    cdef int hint = NO_MOVE
    cdef int second = NO_MOVE
    cdef bint first = True
    cdef bint parallel
    if empties <= MIDDLE_EMPTIES:
        return search_middle(s, own, opponent, alpha, beta, empties, parity)
    s.nodes += 1
    if s.nodes > s.shared.node_limit:
        s.shared.stop = EXHAUSTED
    if s.shared.stop:
        s.stopped = True
        return alpha
    if s.options.stability and stability_cut(s, own, opponent, alpha, &score):
        return score
    key_own = own
    key_opponent = opponent
    if s.options.table:
        if s.options.symmetry and empties >= FOLD_EMPTIES:
            symmetry = fold(s, &key_own, &key_opponent)
        hash = hash_boards(key_own, key_opponent)
        if probe(s.table, key_own, key_opponent, hash, &facts):
            if facts.lo >= beta or facts.lo == facts.hi:
                return facts.lo
            if facts.hi <= alpha:
                return facts.hi
            hint = unfold_square(s, facts.best, symmetry)
            second = unfold_square(s, facts.second, symmetry)
    rest = mobility(own, opponent, empty)
    if not rest:
        if not mobility(opponent, own, empty):
            return final_score(s, own, opponent)
        if s.evaluation.weights != NULL:
            configure_pass(s.evaluation, shown, &after)
        return -search_upper(s, opponent, own, &after, -beta, -alpha, empties, parity)

    start = s.nodes
    moves.count = 0
    while rest:
        square = first_bit(rest)
        rest &= rest - 1
        move = &moves.item[moves.count]
        moves.count += 1
        move.square = square
        move.turned = flips(own, opponent, square)
        next_own = opponent ^ move.turned
        next_opponent = own ^ move.turned ^ (<u64> 1 << square)
        move.value = 0
        if s.options.table and s.options.enhanced and empties - 1 > MIDDLE_EMPTIES:
            next_hash = child_hash(s, next_own, next_opponent, empties - 1, &key_own, &key_opponent)
            if probe(s.table, key_own, key_opponent, next_hash, &facts):
                if -facts.hi >= beta:
                    return -facts.hi
    key_own = own
    key_opponent = opponent
    if symmetry:
        fold(s, &key_own, &key_opponent)
    for i in range(moves.count):
        move = &moves.item[i]
        square = move.square
        next_own = opponent ^ move.turned
        next_opponent = own ^ move.turned ^ (<u64> 1 << square)
        if square == hint:
            move.value = 1 << 28
        elif square == second:
            move.value = 1 << 27
        elif s.options.evaluation:
            configure_move(s.evaluation, shown, square, move.turned, &after)
            move.value = -search_estimate(s, next_own, next_opponent, &after, empties - 1,
                                          ordering_depth(empties), -GRAINS * 128, GRAINS * 128)
            move.value -= s.mobility_weight * popcount(
                mobility(next_own, next_opponent, empty ^ (<u64> 1 << square)))
        else:
            move.value = middle_value(s, next_own, next_opponent, empty ^ (<u64> 1 << square),
                                      square, parity)
    lower = alpha
    parallel = s.parallel and empties >= SPLIT_EMPTIES
    for i in range(moves.count):
        square = take_best(&moves, i)
        move = &moves.item[i]
        score = search_child(s, own, opponent, shown, move, lower, beta, empties, parity, first)
        first = False
        if s.stopped:
            return alpha
        if score > best:
            best = score
            best_move = square
            if best >= beta:
                break
            if best > lower:
                lower = best
    if s.options.table:
        store(s.table, key_own, key_opponent, hash, best if best > alpha else -s.squares,
              best if best < beta else s.squares, fold_square(s, best_move, symmetry),
              log_effort(s.nodes - start))
    return best
