# The algorithms as the books have them, to be compared: no endgame code, no trained
# shortcuts, every position down to the last is a node. The order of moves is chosen
# freely, each heuristic for itself or several together.

METHODS = ["minimax", "alphabeta", "negamax", "negascout", "mtdf"]
ORDERS = ["killer", "history", "transposition", "mobility", "discs", "corners", "c_squares",
          "x_squares", "frontier", "stable", "sandwiched", "wiped_out", "positional", "edges",
          "trained"]

cdef enum:
    KILLER = 1 << 0         # moves that refuted a sibling
    HISTORY = 1 << 1        # moves that refuted anywhere
    TRANSPOSITION = 1 << 2  # the best move of an earlier visit, and its bounds
    MOBILITY = 1 << 3
    DISCS = 1 << 4
    CORNERS = 1 << 5
    C_SQUARES = 1 << 6      # beside an empty corner, on the edge
    X_SQUARES = 1 << 7      # beside an empty corner, on the diagonal
    FRONTIER = 1 << 8       # discs next to an empty square
    STABLE = 1 << 9
    SANDWICHED = 1 << 10    # discs between two of the other side, on some line
    WIPED_OUT = 1 << 11     # a side without discs
    POSITIONAL = 1 << 12    # a table of squares
    EDGES = 1 << 13
    TRAINED = 1 << 14       # the trained evaluation
    MOST_PLIES = 130        # sixty discs, a pass after each, and some

cdef struct Textbook:
    int orders
    int best                # the best move at the root
    int killers[MOST_PLIES][2]
    int history[2][64]


cdef inline u64 next_to_corners(const Search *s, u64 occupied, bint diagonal) noexcept nogil:
    """The squares beside corners that are still empty: C squares, or X squares."""
    cdef u64 corners = s.corners & ~occupied
    cdef u64 around = 0
    cdef u64 edges = 0
    cdef int square
    while corners:
        square = first_bit(corners)
        corners &= corners - 1
        around |= s.around[square]
        edges |= s.around[square] & (s.around[square] << 9 | s.around[square] >> 9
                                     | s.around[square] << 7 | s.around[square] >> 7)
    return around & ~edges if diagonal else edges


cdef inline u64 sandwiched(u64 own, u64 opponent) noexcept nogil:
    """Own discs with opponent's discs directly on both sides, in any direction."""
    cdef u64 inner = opponent & <u64> 0x7e7e7e7e7e7e7e7e
    cdef u64 left = opponent & <u64> 0x7f7f7f7f7f7f7f7f     # may step to a higher column
    cdef u64 right = opponent & <u64> 0xfefefefefefefefe
    return own & (left << 1 & right >> 1 | opponent << 8 & opponent >> 8
                  | left << 9 & right >> 9 | right << 7 & left >> 7)


cdef inline int square_worth(const Search *s, int square) noexcept nogil:
    """A positional table for any board: corners best, their neighbours worst, edges good."""
    cdef int row = square // 8
    cdef int col = square % 8
    cdef int down = min(row, s.geometry.rows - 1 - row)
    cdef int right = min(col, s.geometry.cols - 1 - col)
    if down == 0 and right == 0:
        return 100
    if down <= 1 and right <= 1:
        return -50 if down and right else -20
    if down == 0 or right == 0:
        return 10
    return -2 if down == 1 or right == 1 else 1


cdef int feature_value(const Search *s, int orders, u64 own, u64 opponent) noexcept nogil:
    """The chosen features of a position, for `own`, each weighted to a similar size."""
    cdef u64 occupied = own | opponent
    cdef u64 empty = s.board & ~occupied
    cdef u64 squares
    cdef int value = 0
    if orders & MOBILITY:
        value += 10 * (popcount(mobility(own, opponent, empty))
                       - popcount(mobility(opponent, own, empty)))
    if orders & DISCS:
        value += popcount(own) - popcount(opponent)
    if orders & CORNERS:
        value += 50 * (popcount(own & s.corners) - popcount(opponent & s.corners))
    if orders & C_SQUARES:
        squares = next_to_corners(s, occupied, False)
        value -= 15 * (popcount(own & squares) - popcount(opponent & squares))
    if orders & X_SQUARES:
        squares = next_to_corners(s, occupied, True)
        value -= 30 * (popcount(own & squares) - popcount(opponent & squares))
    if orders & FRONTIER:
        squares = potential_mobility(empty, occupied)
        value -= 4 * (popcount(own & squares) - popcount(opponent & squares))
    if orders & STABLE:
        value += 20 * (popcount(stable_discs(s.geometry, own, opponent))
                       - popcount(stable_discs(s.geometry, opponent, own)))
    if orders & SANDWICHED:
        value -= 3 * (popcount(sandwiched(own, opponent)) - popcount(sandwiched(opponent, own)))
    if orders & WIPED_OUT:
        if not own:
            value -= 10000
        if not opponent:
            value += 10000
    if orders & EDGES:
        squares = s.board & ~(s.board << 8 & s.board >> 8 & s.board << 1 & s.board >> 1)
        value += 6 * (popcount(own & squares) - popcount(opponent & squares))
    if orders & POSITIONAL:
        squares = occupied
        while squares:
            if own >> first_bit(squares) & 1:
                value += square_worth(s, first_bit(squares))
            else:
                value -= square_worth(s, first_bit(squares))
            squares &= squares - 1
    return value


cdef void order_moves(Search *s, Textbook *book, u64 own, u64 opponent, Candidates *moves, int ply,
                      int hint) noexcept nogil:
    cdef Candidate *move
    cdef Configuration shown
    cdef u64 next_own, next_opponent, empty
    cdef int i
    for i in range(moves.count):
        move = &moves.item[i]
        next_own = own_after(opponent, move)
        next_opponent = opponent_after(own, move)
        move.value = -feature_value(s, book.orders, next_own, next_opponent)
        if book.orders & TRAINED and s.options.evaluation:
            empty = s.board & ~(next_own | next_opponent)
            configure(s.evaluation, next_own, next_opponent, s.board, &shown)
            move.value -= estimate(s.evaluation, &shown, popcount(empty),
                                   popcount(mobility(next_own, next_opponent, empty)),
                                   popcount(mobility(next_opponent, next_own, empty)))
        if book.orders & HISTORY:
            # Scaled to the size of the features, so that it joins and does not swamp them.
            move.value += min(book.history[ply & 1][move.square] >> 6, 60)
        if book.orders & KILLER:
            if move.square == book.killers[ply][0]:
                move.value += 1 << 20
            elif move.square == book.killers[ply][1]:
                move.value += 1 << 19
        if move.square == hint:
            move.value += 1 << 24


cdef inline void remember_refutation(Textbook *book, int square, int ply,
                                     int empties) noexcept nogil:
    if book.killers[ply][0] != square:
        book.killers[ply][1] = book.killers[ply][0]
        book.killers[ply][0] = square
    book.history[ply & 1][square] += empties * empties


cdef inline bint can_move(const Search *s, u64 own, u64 opponent) noexcept nogil:
    return mobility(own, opponent, s.board & ~(own | opponent)) != 0


cdef int book_minimax(Search *s, Textbook *book, u64 own, u64 opponent, int ply,
                      bint maximise) noexcept nogil:
    """The score for the side that moved first, who maximises. Exact: there are no cut-offs.

    Means nothing if `s.stopped` is set, as with all searches below.
    """
    cdef Candidates moves
    cdef int best = NOTHING if maximise else -NOTHING
    cdef int score, i
    s.nodes += 1
    if must_stop(s):
        return 0
    list_moves(own, opponent, mobility(own, opponent, s.board & ~(own | opponent)), &moves)
    if moves.count == 0:
        if can_move(s, opponent, own):
            return book_minimax(s, book, opponent, own, ply + 1, not maximise)
        score = final_score(s, own, opponent)
        return score if maximise else -score
    for i in range(moves.count):
        score = book_minimax(s, book, own_after(opponent, &moves.item[i]),
                             opponent_after(own, &moves.item[i]), ply + 1, not maximise)
        if (score > best) if maximise else (score < best):
            best = score
            if ply == 0:
                book.best = moves.item[i].square
    return best


cdef int book_alphabeta(Search *s, Textbook *book, u64 own, u64 opponent, int alpha, int beta,
                        int ply, bint maximise) noexcept nogil:
    """Alpha-beta with a maximiser and a minimiser; the score is the maximiser's. Fail-hard:

    result == alpha:          the score is at most alpha
    alpha < result < beta:    the score is the result
    result == beta:           the score is at least beta
    """
    cdef Candidates moves
    cdef int empties = popcount(s.board & ~(own | opponent))
    cdef int score, i
    s.nodes += 1
    if must_stop(s):
        return alpha
    list_moves(own, opponent, mobility(own, opponent, s.board & ~(own | opponent)), &moves)
    if moves.count == 0:
        if can_move(s, opponent, own):
            return book_alphabeta(s, book, opponent, own, alpha, beta, ply + 1, not maximise)
        score = final_score(s, own, opponent)
        return max(alpha, min(beta, score if maximise else -score))
    order_moves(s, book, own, opponent, &moves, ply, NO_MOVE)
    for i in range(moves.count):
        if book.orders:
            take_best(&moves, i)
        score = book_alphabeta(s, book, own_after(opponent, &moves.item[i]),
                               opponent_after(own, &moves.item[i]), alpha, beta, ply + 1,
                               not maximise)
        if maximise and score > alpha:
            alpha = score
            if ply == 0:
                book.best = moves.item[i].square
        elif not maximise and score < beta:
            beta = score
        if alpha >= beta:
            remember_refutation(book, moves.item[i].square, ply, empties)
            break
    return alpha if maximise else beta


cdef int book_negamax(Search *s, Textbook *book, u64 own, u64 opponent, int alpha, int beta,
                      int ply, bint scout) noexcept nogil:
    """Alpha-beta in one function; with `scout`, NegaScout's null windows. Fail-soft:

    result <= alpha:          the score is at most the result
    alpha < result < beta:    the score is the result
    result >= beta:           the score is at least the result
    """
    cdef u64 hash = hash_boards(own, opponent)
    cdef Candidates moves
    cdef Candidate *move
    cdef Facts facts
    cdef u64 start = s.nodes
    cdef int empties = popcount(s.board & ~(own | opponent))
    cdef int hint = NO_MOVE
    cdef int best = NOTHING
    cdef int best_move = NO_MOVE
    cdef int lower = alpha
    cdef int score, i
    s.nodes += 1
    if must_stop(s):
        return alpha
    list_moves(own, opponent, mobility(own, opponent, s.board & ~(own | opponent)), &moves)
    if moves.count == 0:
        if can_move(s, opponent, own):
            return -book_negamax(s, book, opponent, own, -beta, -alpha, ply + 1, scout)
        return final_score(s, own, opponent)
    if book.orders & TRANSPOSITION and probe(s.table, own, opponent, hash, &facts):
        hint = facts.best
        if ply == 0:
            book.best = hint
        if facts.lo >= beta or facts.lo == facts.hi:
            return facts.lo
        if facts.hi <= alpha:
            return facts.hi
    order_moves(s, book, own, opponent, &moves, ply, hint)
    for i in range(moves.count):
        if book.orders:
            take_best(&moves, i)
        move = &moves.item[i]
        if scout and i > 0 and beta - lower > 1:
            score = -book_negamax(s, book, own_after(opponent, move), opponent_after(own, move),
                                  -lower - 1, -lower, ply + 1, scout)
            if lower < score < beta:
                score = -book_negamax(s, book, own_after(opponent, move),
                                      opponent_after(own, move), -beta, 1 - score, ply + 1, scout)
        else:
            score = -book_negamax(s, book, own_after(opponent, move), opponent_after(own, move),
                                  -beta, -lower, ply + 1, scout)
        if s.stopped:
            return alpha
        if score > best:
            best = score
            best_move = move.square
            lower = max(lower, best)
            if ply == 0:
                book.best = best_move
            if best >= beta:
                remember_refutation(book, move.square, ply, empties)
                break
    if book.orders & TRANSPOSITION:
        store(s.table, own, opponent, hash, best if best > alpha else -s.squares,
              best if best < beta else s.squares, best_move, log_effort(s.nodes - start))
    return best


cdef int book_mtdf(Search *s, Textbook *book, u64 own, u64 opponent, int alpha,
                   int beta) noexcept nogil:
    """Null windows closing in on the score, starting from 0. Fail-hard below, fail-soft above:

    result == alpha:          the score is at most alpha
    alpha < result < beta:    the score is the result
    result >= beta:           the score is at least the result
    """
    cdef int lo = alpha
    cdef int hi = beta
    cdef int guess = 0
    cdef int threshold
    while lo < hi and not s.stopped:
        threshold = min(max(guess, lo + 1), hi)
        guess = book_negamax(s, book, own, opponent, threshold - 1, threshold, 0, False)
        if guess >= threshold:
            lo = guess
        else:
            hi = guess
    return lo


cdef int run_textbook(Search *s, Textbook *book, int method, u64 own, u64 opponent, int alpha,
                      int beta) noexcept nogil:
    """The score by one of METHODS. Fail-soft or fail-hard, in any case:

    result <= alpha:          the score is at most the result
    alpha < result < beta:    the score is the result
    result >= beta:           the score is at least the result

    Minimax knows no window: its result is exact.
    """
    cdef int ply
    book.best = NO_MOVE
    for ply in range(MOST_PLIES):
        book.killers[ply][0] = book.killers[ply][1] = NO_MOVE
    if method == 0:
        return book_minimax(s, book, own, opponent, 0, True)
    if method == 1:
        return book_alphabeta(s, book, own, opponent, alpha, beta, 0, True)
    if method == 4:
        return book_mtdf(s, book, own, opponent, alpha, beta)
    return book_negamax(s, book, own, opponent, alpha, beta, 0, method == 3)
