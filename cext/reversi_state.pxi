# What a reversi search carries along, and the steps all its layers share.

cdef enum:
    MOST_CANDIDATES = 60    # every empty square, in positions that no game reaches
    BUSY_SLOTS = 4096
    GLANCES = 1 << 12       # small enough to stay in the cache beside the thread's table
    NOTHING = -127          # below every score: no move has been tried
    FIRST_HINT = 1 << 28    # values of the moves that the table recommends
    SECOND_HINT = 1 << 27

cdef enum:                  # why a search stopped
    RUNNING = 0
    ABORTED = 1             # somebody asked
    EXHAUSTED = 2           # the node budget was reached
    FINISHED = 3            # another thread has the answer

cdef struct Options:        # each technique can be switched off, to measure what it brings
    bint table
    bint symmetry           # symmetric positions share an entry of the table
    bint stability          # cut-offs by stable discs
    bint enhanced           # cut-offs by what the table knows of the children
    bint parity             # odd quadrants first
    bint evaluation         # moves ordered by the trained evaluation
    bint lookahead          # and by what comes after them
    bint probable           # lines that look bad at a glance are not looked into

cdef struct Shared:         # what the threads of one search have in common
    volatile int stop
    u64 node_budget          # for each thread
    volatile u64 busy[BUSY_SLOTS]   # hashes of positions that some thread is searching

cdef struct Glance:         # what a position shows without a search
    u64 own
    u64 opponent
    int16_t estimate        # for the side to move, in grains
    uint8_t moves           # of the side to move
    uint8_t replies         # what the other side could play
    uint8_t reachable       # empty squares beside the mover's discs
    uint8_t replyable       # and beside the other side's

cdef struct Search:         # what one thread needs
    u64 nodes
    u64 board
    u64 corners
    u64 odd[16]             # by parity: the squares of the quadrants it marks as odd
    u64 around[64]          # the neighbours of a square
    uint8_t quadrant[64]    # as a bit of the parity
    int squares
    int symmetries
    int root_empties
    int root_move           # the best move so far at the root
    int root_done           # how many moves of the root are settled
    bint empties_to_winner  # the WOF rule
    bint parallel           # other threads search the same position
    bint stopped
    Options options
    Geometry *geometry
    Evaluation *evaluation
    Table *table
    Table local             # for few empties: small enough to stay in the cache
    Shared *shared
    Glance glances[GLANCES]     # what this thread looked at last

cdef struct Candidate:      # a legal move at some node
    u64 turned
    u64 replies             # the moves of the other side after it, where they were looked at
    int square
    int value

cdef struct Candidates:
    Candidate item[MOST_CANDIDATES]
    int count


cdef void init_search(Search *s, Geometry *geometry, bint empties_to_winner) noexcept:
    cdef int rows = geometry.rows
    cdef int cols = geometry.cols
    cdef int square, row, col, quadrant, parity, r, c
    s.geometry = geometry
    s.board = geometry.board
    s.squares = rows * cols
    s.symmetries = 8 if rows == cols else 4
    s.empties_to_winner = empties_to_winner
    for row in range(rows):
        for col in range(cols):
            square = 8 * row + col
            quadrant = 2 * (row >= rows // 2) + (col >= cols // 2)
            s.quadrant[square] = 1 << quadrant
            for parity in range(16):
                if parity >> quadrant & 1:
                    s.odd[parity] |= <u64> 1 << square
            if (row == 0 or row == rows - 1) and (col == 0 or col == cols - 1):
                s.corners |= <u64> 1 << square
            for r in range(max(row - 1, 0), min(row + 2, rows)):
                for c in range(max(col - 1, 0), min(col + 2, cols)):
                    if 8 * r + c != square:
                        s.around[square] |= <u64> 1 << 8 * r + c


cdef int parity_of(const Search *s, u64 own, u64 opponent) noexcept nogil:
    """One bit a quadrant, set when its number of empties is odd."""
    cdef u64 empty = s.board & ~(own | opponent)
    cdef int parity = 0
    while empty:
        parity ^= s.quadrant[first_bit(empty)]
        empty &= empty - 1
    return parity


cdef inline int final_score(const Search *s, u64 own, u64 opponent) noexcept nogil:
    """The score of a finished game under the rule of this board."""
    cdef int difference = popcount(own) - popcount(opponent)
    if s.empties_to_winner and difference != 0:
        if difference > 0:
            return difference + s.squares - popcount(own | opponent)
        return difference - s.squares + popcount(own | opponent)
    return difference


cdef inline bint must_stop(Search *s) noexcept nogil:
    if s.nodes > s.shared.node_budget:
        change_once(&s.shared.stop, RUNNING, EXHAUSTED)
    if s.shared.stop != RUNNING:
        s.stopped = True
    return s.stopped


cdef inline bint stability_cut(const Search *s, u64 own, u64 opponent, int alpha,
                               int *score) noexcept nogil:
    """Whether the opponent's stable discs alone keep the score at or below alpha.

    Then `score` is at most alpha, and an upper bound of the position's score.
    """
    if 2 * popcount(opponent) < s.squares - alpha:
        return False
    score[0] = s.squares - 2 * popcount(stable_discs(s.geometry, opponent, own))
    return score[0] <= alpha


# -- moves -----------------------------------------------------------------------------

cdef inline u64 own_after(u64 opponent, const Candidate *move) noexcept nogil:
    """After a move: the discs of the side then to move."""
    return opponent ^ move.turned


cdef inline u64 opponent_after(u64 own, const Candidate *move) noexcept nogil:
    """After a move: the discs of the side that made it."""
    return own ^ move.turned ^ (<u64> 1 << move.square)


cdef inline void list_moves(u64 own, u64 opponent, u64 squares, Candidates *moves) noexcept nogil:
    cdef Candidate *move
    moves.count = 0
    while squares:
        move = &moves.item[moves.count]
        moves.count += 1
        move.square = first_bit(squares)
        move.turned = flips(own, opponent, move.square)
        squares &= squares - 1


cdef inline void take_best(Candidates *moves, int done) noexcept nogil:
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


# -- symmetry --------------------------------------------------------------------------
#
# A symmetry is three bits, applied in this order: 1 rows mirrored, 2 columns mirrored,
# 4 rows and columns exchanged (square boards only).

cdef inline u64 transform(const Search *s, u64 b, int symmetry) noexcept nogil:
    if symmetry & 1:
        b = mirror_rows(b) >> 8 * (8 - s.geometry.rows)
    if symmetry & 2:
        b = mirror_cols(b) >> (8 - s.geometry.cols)
    return transpose(b) if symmetry & 4 else b


cdef inline int fold(const Search *s, u64 *own, u64 *opponent) noexcept nogil:
    """Replace a position by the smallest of its symmetric images; which one, is returned."""
    cdef u64 best_own = own[0]
    cdef u64 best_opponent = opponent[0]
    cdef u64 image_own, image_opponent
    cdef int best = 0
    cdef int symmetry
    for symmetry in range(1, s.symmetries):
        image_own = transform(s, own[0], symmetry)
        if image_own > best_own:
            continue
        image_opponent = transform(s, opponent[0], symmetry)
        if image_own < best_own or image_opponent < best_opponent:
            best_own = image_own
            best_opponent = image_opponent
            best = symmetry
    own[0] = best_own
    opponent[0] = best_opponent
    return best


cdef inline int fold_square(const Search *s, int square, int symmetry) noexcept nogil:
    if square == NO_MOVE or symmetry == 0:
        return square
    return first_bit(transform(s, <u64> 1 << square, symmetry))


cdef inline int unfold_square(const Search *s, int square, int symmetry) noexcept nogil:
    """The inverse of `fold_square`.

    Undone in reverse order, a mirrored row is a mirrored column of the exchanged board:
    all symmetries are their own inverses but the two quarter turns, 5 and 6.
    """
    if symmetry == 5 or symmetry == 6:
        symmetry = 11 - symmetry
    return fold_square(s, square, symmetry)
