# distutils: language = c
"""Can one side own the whole board? The search of go_conquest.h and its table, for Python.

The prover's stones come first everywhere, whatever their colour.
"""

from libc.stdint cimport uint8_t, uint64_t, uintptr_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from zermelo.cext.go_board cimport GO_NO_KO, go_bits, go_size


cdef extern from "go_conquest.h" nogil:
    enum:
        GO_CONQUEST_PLIES
        GO_CONQUEST_POINTS
        GO_LINE
        GO_NEVER
        GO_OPPONENT
        GO_PROVER
    uint64_t GO_WON
    ctypedef struct go_conquest:
        go_size size
        const uint8_t* missing
        const uint8_t* lives
        uint64_t* table
        uint64_t buckets
        int fewest
        uint64_t nodes
        uint64_t node_limit
        int stop
        int stopped
        int[2][65] history
        uint8_t[31][2] killers
    ctypedef struct go_option:
        go_bits own
        go_bits other
        int ko
        int symmetry
        uint64_t key
    int go_weigh_sets(const go_size*, uint8_t*, uint8_t*, const int*)
    int go_missing(const go_conquest*, go_bits)
    void go_name(const go_conquest*, go_option*, int)
    uint64_t go_recall(const go_conquest*, uint64_t)
    int go_entry_plies(uint64_t)
    int go_conquers(go_conquest*, const go_option*, int, int)
    int go_holds(go_conquest*, const go_option*, int, int)

cdef int LINE = 64  # bytes of a cache line
POINTS = GO_CONQUEST_POINTS


cdef class Conquest:
    """What sets of stones are worth, a table, and the search on both, for one board."""

    cdef go_conquest c
    cdef uint8_t* missing
    cdef uint8_t* lives
    cdef void* memory  # of the table, before it is aligned
    cdef bint weighed

    def __cinit__(self, int rows, int cols, int hash_mb):
        cdef size_t sets = <size_t>1 << rows * cols
        self.c.size.rows, self.c.size.cols, self.c.size.points = rows, cols, rows * cols
        for row in range(rows):
            self.c.size.mask |= <go_bits>((1 << cols) - 1) << 8 * row
        self.c.buckets = 1
        while self.c.buckets * 2 * LINE <= <uint64_t>hash_mb << 20:
            self.c.buckets *= 2
        self.missing = <uint8_t*>malloc(sets)
        self.lives = <uint8_t*>calloc(sets // 8 + 1, 1)
        self.memory = calloc(self.c.buckets + 1, LINE)
        if self.missing == NULL or self.lives == NULL or self.memory == NULL:
            raise MemoryError(f"no memory for a table of {hash_mb} MB")
        self.c.missing, self.c.lives = self.missing, self.lives
        self.c.table = <uint64_t*>((<uintptr_t>self.memory + LINE - 1) & ~<uintptr_t>(LINE - 1))

    def __dealloc__(self):
        free(self.missing)
        free(self.lives)
        free(self.memory)

    cdef bint _weigh(self):
        """Learn what sets of stones are worth; False if it was stopped."""
        if not self.weighed:
            with nogil:
                self.weighed = go_weigh_sets(
                    &self.c.size, self.missing, self.lives, &self.c.stop
                )
        return self.weighed

    cdef int _enter(self, own, other, bint own_to_move, int ko, go_option* state) except -1:
        """Name a state; the side to move."""
        cdef int turn = GO_PROVER if own_to_move else GO_OPPONENT
        state.own, state.other, state.ko = own, other, ko
        go_name(&self.c, state, turn)
        return turn

    def prove(self, own, other, bint own_to_move, int ko, int fewest, int plies, node_limit):
        """Whether the prover owns everything within so many plies, or None if the search was
        stopped; and the nodes. He creates no board with `fewest` stones of his or less."""
        cdef go_option state
        cdef int turn = self._enter(own, other, own_to_move, ko, &state)
        cdef int won
        if plies % 2 != own_to_move or not 0 < plies <= GO_CONQUEST_PLIES:
            raise ValueError(f"{plies} plies")
        if fewest > self.c.fewest:
            self.clear()  # what is in the table may create boards that must not come back
            self.c.fewest = fewest
        self.c.nodes, self.c.stopped = 0, 0
        if not self._weigh():
            return None, 0
        self.c.node_limit = node_limit
        with nogil:
            if go_missing(&self.c, state.own) > (plies + 1) // 2:
                won = 0
            elif turn == GO_PROVER:
                won = go_conquers(&self.c, &state, plies, 0)
            else:
                won = go_holds(&self.c, &state, plies, 0)
        return (None if self.c.stopped else bool(won)), self.c.nodes

    def known(self, own, other, bint own_to_move, int fewest):
        """True: everything is the prover's; False: never; None: nobody knows."""
        cdef go_option state
        if fewest > self.c.fewest:
            return None
        self._enter(own, other, own_to_move, GO_NO_KO, &state)
        cdef uint64_t entry = go_recall(&self.c, state.key)
        if entry & GO_WON:
            return True
        return False if go_entry_plies(entry) == GO_NEVER else None

    @property
    def nodes(self):
        """Nodes of the search that runs, or of the last one."""
        return self.c.nodes

    def stop(self):
        """Make the running search return; stays in force until `allow`."""
        self.c.stop = 1

    def allow(self):
        self.c.stop = 0

    def clear(self):
        memset(self.c.table, 0, self.c.buckets * LINE)
        memset(self.c.history, 0, sizeof(self.c.history))
        memset(self.c.killers, 0, sizeof(self.c.killers))
