"""The checker's compiled Go: a plain search for proofs, history and all."""

from libc.stdint cimport uint64_t
from libc.stdlib cimport calloc, free

cdef extern from "go_prover.h" nogil:
    ctypedef uint64_t Points
    enum: LONGEST_PATH
    enum: PSK
    enum: SSK
    enum: BASIC
    ctypedef struct State:
        Points black
        Points white
        int black_to_move
        int passes
        int ko
    ctypedef struct Earlier:
        Points black
        Points white
        int tag
        int passes
    ctypedef struct Remembered:
        pass
    ctypedef struct Free:
        pass
    ctypedef struct Prover:
        int rows
        int cols
        int ko_rule
        int cycle_passes
        int suicide
        int komi
        Points mask
        Earlier *path
        int length
        int prover_black
        int target
        int free_plies
        Remembered *table
        Free *free_table
        uint64_t table_mask
        uint64_t nodes
        int stop
    bint forces(Prover *prover, const State *state, int passes, int plies)

KO_RULES = {"psk": PSK, "ssk": SSK, "basic": BASIC}


cdef class GoProver:
    """Looks for proofs in one game, with a table that lives as long as it does."""

    cdef Prover prover

    def __cinit__(
        self, int rows, int cols, str ko, bint cycle_passes, bint suicide, int komi, int table_bits
    ):
        self.prover.rows, self.prover.cols = rows, cols
        self.prover.ko_rule = KO_RULES[ko]
        self.prover.cycle_passes = cycle_passes
        self.prover.suicide = suicide
        self.prover.komi = komi
        self.prover.mask = 0
        for row in range(rows):
            for col in range(cols):
                self.prover.mask |= <Points>1 << (8 * row + col)
        self.prover.table = <Remembered *>calloc(<size_t>1 << table_bits, sizeof(Remembered))
        self.prover.free_table = <Free *>calloc(<size_t>1 << table_bits, sizeof(Free))
        if not self.prover.table or not self.prover.free_table:
            raise MemoryError("no memory for the checker's table")
        self.prover.table_mask = (<uint64_t>1 << table_bits) - 1
        self.prover.nodes = 0
        self.prover.stop = 0

    def __dealloc__(self):
        free(self.prover.table)
        free(self.prover.free_table)

    @property
    def nodes(self):
        return self.prover.nodes

    def stop(self):
        """Make the running search, and all further ones, end without a proof."""
        self.prover.stop = 1

    @property
    def stopped(self):
        return bool(self.prover.stop)

    def forces(
        self, Points black, Points white, bint black_to_move, int passes, int ko, past,
        bint prover_black, int target, int plies, int free_plies,
    ):
        """Whether a side is seen to force a score within so many plies from a position, or
        from there on within so many plies more without needing a ko rule.

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
        with nogil:
            found = forces(&self.prover, &state, 0, plies)
        return found
