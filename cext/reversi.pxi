# The reversi engine as Python sees it: `Core` works on bare integers and bytes.
# zermelo.engine.reversi wraps it in the words of the Engine interface.

from cpython.mem cimport PyMem_Calloc, PyMem_Free
from libc.stdlib cimport free
from libc.string cimport memset

from zermelo.cext.reversi_kernels cimport *

include "transposition.pxi"
include "reversi_search.pxi"
include "reversi_endgame.pxi"

init_kernels()

INSTRUCTIONS = "avx2" if KERNELS_AVX2 else "plain"


cdef class Core:
    cdef Geometry geometry
    cdef Evaluation evaluation
    cdef Table table
    cdef Shared shared
    cdef Search search
    cdef object weights

    def __cinit__(self, int rows, int cols, bint wof, size_t hash_bytes, instances=None,
                  weights=None):
        if not init_geometry(&self.geometry, rows, cols):
            raise MemoryError("no memory for the stability tables")
        if not open_table(&self.table, hash_bytes) or not open_table(&self.search.local, 1 << 19):
            raise MemoryError(f"no memory for a table of {hash_bytes >> 20} MB")
        cdef Search *s = &self.search
        cdef int square, row, col, quadrant
        s.geometry = &self.geometry
        s.evaluation = &self.evaluation
        s.table = &self.table
        s.shared = &self.shared
        s.board = self.geometry.board
        s.squares = rows * cols
        s.empties_to_winner = wof
        s.symmetries = 8 if rows == cols else 4
        s.mobility_weight = 32
        s.options.table = s.options.symmetry = s.options.stability = True
        s.options.enhanced = s.options.parity = True
        for square in range(64):
            row, col = square // 8, square % 8
            if row >= rows or col >= cols:
                continue
            quadrant = (row >= rows // 2) * 2 + (col >= cols // 2)
            s.quadrant[square] = 1 << quadrant
            for mask in range(16):
                if mask >> quadrant & 1:
                    s.odd[mask] |= <u64> 1 << square
            if row in (0, rows - 1) and col in (0, cols - 1):
                s.corners |= <u64> 1 << square
            for r in range(max(row - 1, 0), min(row + 2, rows)):
                for c in range(max(col - 1, 0), min(col + 2, cols)):
                    if 8 * r + c != square:
                        s.around[square] |= <u64> 1 << 8 * r + c
        self.shared.node_limit = <u64> -1
        if instances is not None:
            self.set_patterns(instances, weights)

    def __dealloc__(self):
        free_geometry(&self.geometry)
        free(self.table.entries)
        free(self.search.local.entries)

    cdef set_patterns(self, instances, weights):
        cdef Evaluation *e = &self.evaluation
        cdef int16_t[::1] view
        e.instances = len(instances)
        for i, (offset, squares) in enumerate(instances):
            e.offset[i] = offset
            for power, square in enumerate(squares):
                e.value[square].lane[i] = 3 ** power
            e.complement.lane[i] = 3 ** len(squares) - 1
        e.own_moves = max(offset + 3 ** len(squares) for offset, squares in instances)
        e.opponent_moves = e.own_moves + MOST_MOVES
        e.phase_size = e.opponent_moves + MOST_MOVES
        for i in range(65):
            e.phase[i] = i // 3
        if weights is not None:
            self.weights = view = weights
            e.weights = &view[0]
            self.search.options.evaluation = True

    @property
    def phase_size(self):
        return self.evaluation.phase_size

    def configure(self, u64[::1] own, u64[::1] opponent, uint16_t[:, ::1] out):
        cdef Py_ssize_t i
        cdef int k
        cdef Configuration c
        cdef u64 empty
        with nogil:
            for i in range(own.shape[0]):
                configure(&self.evaluation, own[i], opponent[i], self.geometry.board, &c)
                for k in range(self.evaluation.instances):
                    out[i, k] = c.lane[k]
                empty = self.geometry.board & ~(own[i] | opponent[i])
                k = self.evaluation.instances
                out[i, k] = min(popcount(mobility(own[i], opponent[i], empty)), MOST_MOVES - 1)
                out[i, k + 1] = min(popcount(mobility(opponent[i], own[i], empty)), MOST_MOVES - 1)

    def solve(self, u64 own, u64 opponent, int alpha, int beta):
        cdef Search *s = &self.search
        cdef Configuration shown
        cdef int score
        s.nodes = 0
        s.stopped = False
        self.shared.stop = RUNNING
        configure(&self.evaluation, own, opponent, self.geometry.board, &shown)
        with nogil:
            score = search_upper(s, own, opponent, &shown, alpha, beta,
                                 popcount(self.geometry.board & ~(own | opponent)),
                                 parity_of(s, own, opponent))
        return score, s.nodes

    def clear(self):
        clear_table(&self.table)
        clear_table(&self.search.local)

    def option(self, name, int value):
        if name == "mobility_weight":
            self.search.mobility_weight = value
        elif name == "evaluation":
            self.search.options.evaluation = value
        elif name == "stability":
            self.search.options.stability = value
        elif name == "symmetry":
            self.search.options.symmetry = value
        elif name == "enhanced":
            self.search.options.enhanced = value
        elif name == "table":
            self.search.options.table = value

    def generate(self, u64[::1] own_out, u64[::1] opponent_out, int8_t[::1] score_out, u64 seed,
                 int solve_at, int depth, int random_plies, int noise):
        cdef Py_ssize_t count = 0
        with nogil:
            while count + 64 < own_out.shape[0]:
                count += play_game(&self.search, &own_out[count], &opponent_out[count],
                                   &score_out[count], &seed, solve_at, depth, random_plies, noise)
        return count


cdef inline u64 next_random(u64 *state) noexcept nogil:
    """SplitMix64."""
    cdef u64 z
    state[0] += <u64> 0x9e3779b97f4a7c15
    z = state[0]
    z = (z ^ z >> 30) * <u64> 0xbf58476d1ce4e5b9
    z = (z ^ z >> 27) * <u64> 0x94d049bb133111eb
    return z ^ z >> 31


cdef int play_game(Search *s, u64 *own_out, u64 *opponent_out, int8_t *score_out, u64 *seed,
                   int solve_at, int depth, int random_plies, int noise) noexcept nogil:
    cdef int row = s.geometry.rows // 2 - 1
    cdef int col = s.geometry.cols // 2 - 1
    cdef u64 corner = <u64> 1 << 8 * row + col
    cdef u64 own = corner << 1 | corner << 8
    cdef u64 opponent = corner | corner << 9
    cdef u64 empty, moves, turned, swap
    cdef int count = 0
    cdef int ply = 0
    cdef int empties, square, score, best, chosen, value, i
    cdef Configuration shown, after
    cdef Facts facts
    while True:
        empty = s.board & ~(own | opponent)
        empties = popcount(empty)
        moves = mobility(own, opponent, empty)
        if not moves:
            if not mobility(opponent, own, empty):
                score = final_score(s, own, opponent)
                break
            swap = own
            own = opponent
            opponent = swap
            if count:
                own_out[count] = 0
                opponent_out[count] = 0
                count += 1
            continue
        if empties <= solve_at:
            configure(s.evaluation, own, opponent, s.board, &shown)
            score = exact_score(s, own, opponent, &shown, empties)
            own_out[count] = own
            opponent_out[count] = opponent
            score_out[count] = score
            # label backwards
            i = count
            while i > 0:
                i -= 1
                score = -score
                score_out[i] = score
            count += 1
            # drop passes
            best = 0
            for i in range(count):
                if own_out[i] | opponent_out[i]:
                    own_out[best] = own_out[i]
                    opponent_out[best] = opponent_out[i]
                    score_out[best] = score_out[i]
                    best += 1
            return best
        if ply >= random_plies:
            own_out[count] = own
            opponent_out[count] = opponent
            count += 1
        if ply < random_plies or next_random(seed) % 1000 < <u64> noise:
            i = next_random(seed) % <u64> popcount(moves)
            while i:
                moves &= moves - 1
                i -= 1
            chosen = first_bit(moves)
            if ply >= random_plies:
                # A random move makes the score meaningless for what came before.
                count = 0
        else:
            configure(s.evaluation, own, opponent, s.board, &shown)
            best = -1 << 30
            chosen = NO_MOVE
            while moves:
                square = first_bit(moves)
                moves &= moves - 1
                turned = flips(own, opponent, square)
                if s.options.evaluation:
                    configure_move(s.evaluation, &shown, square, turned, &after)
                    value = -search_estimate(s, opponent ^ turned, own ^ turned ^ (<u64> 1 << square),
                                             &after, empties - 1, depth, -GRAINS * 128, GRAINS * 128)
                else:
                    value = middle_value(s, opponent ^ turned, own ^ turned ^ (<u64> 1 << square),
                                         empty ^ (<u64> 1 << square), square, 0)
                value = 4 * value + next_random(seed) % 128
                if value > best:
                    best = value
                    chosen = square
        turned = flips(own, opponent, chosen)
        swap = own ^ turned ^ (<u64> 1 << chosen)
        own = opponent ^ turned
        opponent = swap
        ply += 1
    return 0


cdef int exact_score(Search *s, u64 own, u64 opponent, Configuration *shown, int empties) noexcept nogil:
    cdef int lo = -s.squares
    cdef int hi = s.squares
    cdef int guess = 0
    cdef int threshold
    if s.options.evaluation:
        guess = search_estimate(s, own, opponent, shown, empties, 0, -1 << 20, 1 << 20) // GRAINS
    while lo < hi:
        threshold = max(lo + 1, min(hi, guess))
        guess = search_upper(s, own, opponent, shown, threshold - 1, threshold, empties,
                             parity_of(s, own, opponent))
        if guess >= threshold:
            lo = guess
            guess += 1
        else:
            hi = guess
    return lo


cdef int parity_of(const Search *s, u64 own, u64 opponent) noexcept nogil:
    cdef u64 empty = s.board & ~(own | opponent)
    cdef int parity = 0
    while empty:
        parity ^= s.quadrant[first_bit(empty)]
        empty &= empty - 1
    return parity
