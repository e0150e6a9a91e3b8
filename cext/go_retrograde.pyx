"""Go with all positions in memory: what each side can force, by retrograde analysis.

An oracle for tests and benchmarks, for boards of up to 16 points. It shares the stone-level
kernels with the engine, but no search, no table, no unconditional life and no history.

For every state (board, side to move, passes, ko point) `floor` is the least fixed point
of minimax, started at `bottom` everywhere: the best score Black can force *in finitely
many moves*, `bottom` standing for "the game never ends".

* With the ko rule and bottom 0 this settles ``ko=basic,cycle=draw``: Black can force
  t > 0 exactly when floor >= t (docs/go.md, "Cycles that draw").
* Without a ko rule and bottom -points it bounds the value of *every* rule set from
  below (docs/go.md, theorem 1).
"""

from libc.stdint cimport int8_t, int32_t, uint64_t
from libc.stdlib cimport calloc, free

from zermelo.cext.go_board cimport (
    GO_NO_KO, go_area, go_bits, go_canonical, go_dead, go_first, go_play, go_size, go_turn,
)

cdef enum:
    MAX_SIDE = 7
    POINTS = 16


cdef class Retrograde:
    cdef go_size size
    cdef bint ko_rule
    cdef int bottom
    cdef int32_t* ids           # ternary code of a board -> id of its canonical board
    cdef go_bits* black         # by id
    cdef go_bits* white
    cdef int8_t* fresh          # [id, side]: no pass before
    cdef int8_t* passed         # [id, side]: one pass before
    cdef int8_t* banned         # [id, side, point]: with a ko on that point
    cdef int row_code[1 << MAX_SIDE]
    cdef int row_scale
    cdef readonly int boards    # legal boards up to symmetry
    cdef readonly uint64_t legal
    cdef readonly int sweeps

    def __cinit__(self, int rows, int cols, *, bint ko_rule=True, int bottom=0):
        if rows * cols > POINTS:
            raise ValueError(f"{rows}x{cols} is too large to hold all positions")
        self.size.rows, self.size.cols, self.size.points = rows, cols, rows * cols
        for row in range(rows):
            self.size.mask |= <go_bits>((1 << cols) - 1) << 8 * row
        self.ko_rule, self.bottom = ko_rule, bottom
        for bits in range(1 << MAX_SIDE):
            self.row_code[bits] = sum(3 ** col for col in range(MAX_SIDE) if bits >> col & 1)
        self.row_scale = 1
        for _ in range(cols):
            self.row_scale *= 3
        cdef size_t codes = 1
        for _ in range(rows):
            codes *= self.row_scale
        self.ids = <int32_t*>calloc(codes, sizeof(int32_t))
        if self.ids == NULL:
            raise MemoryError("no memory for all boards")
        with nogil:
            self._number(0)
        self.black = <go_bits*>calloc(self.boards, sizeof(go_bits))
        self.white = <go_bits*>calloc(self.boards, sizeof(go_bits))
        self.fresh = <int8_t*>calloc(self.boards, 2)
        self.passed = <int8_t*>calloc(self.boards, 2)
        self.banned = <int8_t*>calloc(self.boards, 2 * POINTS)
        if not (self.black and self.white and self.fresh and self.passed and self.banned):
            raise MemoryError("no memory for all states")
        with nogil:
            self._number(1)
            self._iterate()

    def __dealloc__(self):
        free(self.ids)
        free(self.black)
        free(self.white)
        free(self.fresh)
        free(self.passed)
        free(self.banned)

    def all_boards(self):
        """Every legal board up to symmetry, as (black, white)."""
        return [(self.black[i], self.white[i]) for i in range(self.boards)]

    def floor(self, black, white, bint black_to_move, int passes=0, int ko=-1):
        """What Black can force from here: exact, as the least fixed point defines it."""
        cdef go_bits b = black, w = white
        if passes == 2:
            return max(self.bottom, go_area(&self.size, b, w))
        return self._value(b, w, black_to_move, passes, ko)

    cdef int _code(self, go_bits black, go_bits white) noexcept nogil:
        cdef int code = 0, row, scale = 1
        for row in range(self.size.rows):
            code += scale * (self.row_code[black >> 8 * row & 127]
                             + 2 * self.row_code[white >> 8 * row & 127])
            scale *= self.row_scale
        return code

    cdef void _number(self, int fill) noexcept nogil:
        """Count the canonical legal boards, or write them down."""
        cdef int digits[POINTS]
        cdef go_bits black = 0, white = 0, stone, b, w
        cdef int i, code
        self.boards = 0
        self.legal = 0
        for i in range(POINTS):
            digits[i] = 0
        while True:
            if not go_dead(&self.size, black, white) and not go_dead(&self.size, white, black):
                self.legal += 1
                b, w = black, white
                if go_canonical(&self.size, &b, &w) == 0:
                    code = self._code(black, white)
                    self.ids[code] = self.boards
                    if fill:
                        self.black[self.boards] = black
                        self.white[self.boards] = white
                    self.boards += 1
            i = 0  # count up in base three: empty, black, white
            while i < self.size.points:
                stone = <go_bits>1 << (8 * (i // self.size.cols) + i % self.size.cols)
                digits[i] += 1
                if digits[i] == 1:
                    black |= stone
                    break
                if digits[i] == 2:
                    black &= ~stone
                    white |= stone
                    break
                white &= ~stone
                digits[i] = 0
                i += 1
            if i == self.size.points:
                return

    cdef inline int _value(
        self, go_bits black, go_bits white, int side, int passes, int ko
    ) noexcept nogil:
        cdef int symmetry = go_canonical(&self.size, &black, &white)
        cdef int32_t at = 2 * self.ids[self._code(black, white)] + side
        if passes:
            return self.passed[at]
        if ko == GO_NO_KO or not self.ko_rule:
            return self.fresh[at]
        ko = go_first(go_turn(&self.size, <go_bits>1 << ko, symmetry))
        return self.banned[at * POINTS + (ko >> 3) * self.size.cols + (ko & 7)]

    cdef void _iterate(self) noexcept nogil:
        cdef int i, side, changed = 1
        for i in range(2 * self.boards):
            self.fresh[i] = self.passed[i] = <int8_t>self.bottom
        for i in range(2 * POINTS * self.boards):
            self.banned[i] = <int8_t>self.bottom
        self.sweeps = 0
        while changed:
            changed = 0
            for i in range(self.boards):  # full boards first: values flow back from the end
                for side in range(2):
                    changed |= self._update(self.boards - 1 - i, side)
            self.sweeps += 1

    cdef int _update(self, int32_t board, int side) noexcept nogil:
        """One step of minimax for a board and side, with every pass and ko state."""
        cdef int values[64]
        cdef int best, best_banned, point, ko, value, other, final, changed = 0
        cdef int32_t at = 2 * board + side
        cdef go_bits empty = self.size.mask & ~(self.black[board] | self.white[board]), left
        cdef go_bits mine, theirs
        cdef int worst = -100 if side else 100
        best = worst
        left = empty
        while left:
            point = go_first(left)
            left &= left - 1
            mine = self.black[board] if side else self.white[board]
            theirs = self.white[board] if side else self.black[board]
            values[point] = worst
            if not go_play(&self.size, &mine, &theirs, point, &ko):
                continue
            if side:
                value = self._value(mine, theirs, 0, 0, ko)
            else:
                value = self._value(theirs, mine, 1, 0, ko)
            values[point] = value
            best = max(best, value) if side else min(best, value)
        other = self.passed[at ^ 1]
        final = max(self.bottom, go_area(&self.size, self.black[board], self.white[board]))
        changed |= raise_to(&self.passed[at], max(best, final) if side else min(best, final))
        changed |= raise_to(&self.fresh[at], max(best, other) if side else min(best, other))
        left = empty
        while left and self.ko_rule:
            ko = go_first(left)
            left &= left - 1
            best_banned = other
            mine = empty & ~(<go_bits>1 << ko)
            while mine:
                point = go_first(mine)
                mine &= mine - 1
                if side:
                    best_banned = max(best_banned, values[point])
                else:
                    best_banned = min(best_banned, values[point])
            changed |= raise_to(
                &self.banned[at * POINTS + (ko >> 3) * self.size.cols + (ko & 7)], best_banned
            )
        return changed


cdef inline int raise_to(int8_t* value, int better) noexcept nogil:
    if better <= value[0]:
        return 0
    value[0] = <int8_t>better
    return 1
