"""The checker's compiled Go: all boards weighed where they are few, and a plain search."""

import threading

from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

cdef extern from "go_prover.h" nogil:
    ctypedef uint64_t Points
    enum: LONGEST_PATH
    enum: PSK
    enum: SSK
    enum: BASIC
    enum: MOST_POINTS
    ctypedef struct Rules:
        int rows
        int cols
        int ko_rule
        int cycle_passes
        int suicide
        int komi
        Points mask
    ctypedef struct State:
        Points black
        Points white
        int black_to_move
        int passes
        int ko
    ctypedef struct Boards:
        Rules rules
        uint32_t number
    ctypedef struct Ranks:
        const Boards *boards
        int prover_black
        int target
        uint8_t *stone
        uint8_t *answer
        uint8_t *enough
        int complete
        int *stop
    ctypedef struct Earlier:
        Points black
        Points white
        int tag
        int passes
    ctypedef struct Remembered:
        pass
    ctypedef struct Free:
        pass
    ctypedef struct FreeSearch:
        const Rules *rules
        Free *table
        uint64_t table_mask
        uint64_t nodes
        int *stop
    ctypedef struct Prover:
        Rules rules
        Earlier *path
        int length
        int prover_black
        int target
        int free_plies
        Remembered *table
        uint64_t table_mask
        uint64_t nodes
        int stop
        const Ranks *own
        const Ranks *other
        FreeSearch free
    bint make_boards(Boards *boards, int *stop)
    void forget_boards(Boards *boards)
    uint64_t weigh(Ranks *ranks)
    bint proves(Prover *prover, const State *state, int plies)

KO_RULES = {"psk": PSK, "ssk": SSK, "basic": BASIC}


cdef Rules rules_of(
    int rows, int cols, str ko, bint cycle_passes, bint suicide, int komi
) except *:
    cdef Rules rules = Rules(rows, cols, KO_RULES[ko], cycle_passes, suicide, komi, 0)
    for row in range(rows):
        for col in range(cols):
            rules.mask |= <Points>1 << (8 * row + col)
    return rules


cdef class GoRanks:
    """From which boards one side forces a score, and in how many plies."""

    cdef Ranks ranks
    cdef readonly object lock
    cdef bint weighed

    def __cinit__(self):
        self.lock = threading.Lock()

    def __dealloc__(self):
        free(self.ranks.stone)
        free(self.ranks.answer)
        free(self.ranks.enough)


cdef class GoBoards:
    """All boards of one small game, for every prover; several may use it at once."""

    cdef Boards boards
    cdef int stopped
    cdef bint made
    cdef object lock
    cdef dict known

    @staticmethod
    def weighs(int rows, int cols, bint cycle_passes):
        """Whether the game has few enough boards, and none is worth more by how it was
        reached."""
        return rows * cols <= MOST_POINTS and not cycle_passes

    def __cinit__(self, int rows, int cols, str ko, bint suicide, int komi):
        self.boards.rules = rules_of(rows, cols, ko, False, suicide, komi)
        self.lock = threading.Lock()
        self.known = {}

    def __dealloc__(self):
        forget_boards(&self.boards)

    def stop(self):
        self.stopped = 1

    cdef GoRanks ranks(self, bint prover_black, int target):
        """What a side can force, weighed when it is asked for first."""
        cdef GoRanks found
        cdef bint made = True
        with self.lock:
            if not self.made:
                with nogil:
                    made = make_boards(&self.boards, &self.stopped)
                if not made:
                    raise MemoryError("no memory for all boards of the game")
                self.made = not self.stopped
            found = self.known.setdefault((prover_black, target), GoRanks())
        with found.lock:
            if not found.weighed and not self.stopped:
                self.weigh(found, prover_black, target)
        return found

    cdef weigh(self, GoRanks found, bint prover_black, int target):
        cdef size_t number = self.boards.number + 1
        cdef Ranks *ranks = &found.ranks
        ranks.boards, ranks.stop = &self.boards, &self.stopped
        ranks.prover_black, ranks.target = prover_black, target
        ranks.stone = <uint8_t *>malloc(number)
        ranks.answer = <uint8_t *>malloc(number)
        ranks.enough = <uint8_t *>malloc(number)
        if not ranks.stone or not ranks.answer or not ranks.enough:
            raise MemoryError("no memory to weigh all boards of the game")
        with nogil:
            weigh(ranks)
        found.weighed = True


cdef class GoProver:
    """Looks for proofs in one game, with a table that lives as long as it does."""

    cdef Prover prover
    cdef GoBoards boards

    def __cinit__(
        self, int rows, int cols, str ko, bint cycle_passes, bint suicide, int komi,
        int table_bits, GoBoards boards,
    ):
        memset(&self.prover, 0, sizeof(Prover))
        self.prover.rules = rules_of(rows, cols, ko, cycle_passes, suicide, komi)
        self.boards = boards
        self.prover.table = <Remembered *>calloc(<size_t>1 << table_bits, sizeof(Remembered))
        self.prover.table_mask = (<uint64_t>1 << table_bits) - 1
        self.prover.free.rules = &self.prover.rules
        self.prover.free.stop = &self.prover.stop
        if boards is None:
            self.prover.free.table = <Free *>calloc(<size_t>1 << table_bits, sizeof(Free))
            self.prover.free.table_mask = self.prover.table_mask
        if not self.prover.table or (boards is None and not self.prover.free.table):
            raise MemoryError("no memory for the checker's table")

    def __dealloc__(self):
        free(self.prover.table)
        free(self.prover.free.table)

    @property
    def nodes(self):
        return self.prover.nodes + self.prover.free.nodes

    def stop(self):
        """Make the running search, and all further ones, end without a proof."""
        self.prover.stop = 1
        if self.boards is not None:
            self.boards.stop()

    @property
    def stopped(self):
        return bool(self.prover.stop)

    def proves(
        self, Points black, Points white, bint black_to_move, int passes, int ko, past,
        bint prover_black, int target, int plies, int free_plies,
    ):
        """Whether a side is seen to force a score within `plies` from a position, or from there
        on without needing the past: on large boards within `free_plies`.

        True:     a proof
        False:    not seen, or stopped; with more plies it may be

        `past` are its earlier boards: black, white, tag and pass balance of each.
        """
        cdef State state = State(black, white, black_to_move, passes, ko)
        cdef bint found
        if len(past) >= LONGEST_PATH:
            raise ValueError(f"a history of {len(past)} boards is too long")
        self.prover.length = 0
        for then_black, then_white, tag, balance in past:
            self.prover.path[self.prover.length] = Earlier(then_black, then_white, tag, -balance)
            self.prover.length += 1
        self.prover.prover_black, self.prover.target = prover_black, target
        self.prover.free_plies = free_plies
        own, other = self.weighed(prover_black, target), self.weighed(not prover_black, 1 - target)
        if self.boards is not None and self.boards.stopped:
            return False
        self.prover.own = NULL if own is None else &(<GoRanks>own).ranks
        self.prover.other = NULL if other is None else &(<GoRanks>other).ranks
        with nogil:
            found = proves(&self.prover, &state, plies)
        return found

    cdef GoRanks weighed(self, bint prover_black, int target):
        """What a side can force; None where that is of no use: see `Prover`."""
        if self.boards is None or (self.prover.rules.ko_rule == BASIC and target <= 0):
            return None
        return self.boards.ranks(prover_black, target)
