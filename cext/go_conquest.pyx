# distutils: language = c
"""Can one side own the whole board? The search of go_conquest.h and its table, for Python.

The prover's stones come first everywhere, whatever their colour.
"""

from cpython.mem cimport PyMem_Calloc, PyMem_Free
from libc.stdint cimport int16_t, uint8_t, uint64_t, uintptr_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from zermelo.cext.go_board cimport GO_NO_KO, GO_PASS, go_alive, go_bits, go_first, go_play, go_size


cdef extern from "go_move_prior.h" nogil:
    enum:
        GO_SHOWN
        GO_UNIT
        GO_WEIGHTS
    ctypedef struct go_shapes:
        pass
    ctypedef struct go_view:
        go_bits own
        go_bits other
        go_bits mine
        go_bits theirs
        int point
        int last
        int missing
        int missing_before
    void go_draw_shapes(const go_size*, go_shapes*)
    void go_show(const go_size*, const go_shapes*, const go_view*, int*)


cdef extern from "go_sets.h" nogil:
    enum:
        GO_ANSWERS
    int go_finishes(const go_size*, go_bits, go_bits, int)
    int go_weigh_sets(const go_size*, uint8_t*, uint8_t*, const int*)


cdef extern from "go_conquest.h" nogil:
    enum:
        GO_CONQUEST_PLIES
        GO_CONQUEST_POINTS
        GO_LINE
        GO_NEVER
        GO_OPPONENT
        GO_PLY
        GO_PROVER
    ctypedef struct go_sample:
        go_bits own
        go_bits other
        int turn
        int last
        int reach
    ctypedef struct go_samples:
        go_sample* samples
        int count
        int room
        int every
        int nearest
        int farthest
        uint64_t random
    ctypedef struct go_conquest:
        go_size size
        const uint8_t* missing
        const uint8_t* lives
        uint64_t* table
        uint64_t buckets
        int fewest
        const go_shapes* shapes
        const int16_t* weights[2]
        go_samples* samples
        uint64_t nodes
        uint64_t node_budget
        int stop
        int stopped
        int[2][65] history
        uint8_t[63][2] killers
    ctypedef struct go_option:
        go_bits own
        go_bits other
        int ko
        int move
        int symmetry
        int missing
        uint64_t key
    int go_missing(const go_conquest*, go_bits)
    void go_name(const go_conquest*, go_option*, int)
    uint64_t go_recall(const go_conquest*, uint64_t)
    int go_kept(const go_conquest*, uint64_t)
    int go_no_reach(uint64_t)
    int go_recorded_move(const go_conquest*, const go_option*)
    int go_certain(const go_conquest*, const go_option*)
    int go_conquers(go_conquest*, const go_option*, int, int)
    int go_holds(go_conquest*, const go_option*, int, int)

cdef int LINE = 64  # bytes of a cache line
ANSWERS = GO_ANSWERS
POINTS = GO_CONQUEST_POINTS
DEEPEST = GO_CONQUEST_PLIES
UNIT = GO_UNIT
WEIGHTS = GO_WEIGHTS


cdef class Conquest:
    """What sets of stones are worth, a table, and the search on both, for one board."""

    cdef go_conquest c
    cdef uint8_t* missing
    cdef uint8_t* lives
    cdef void* memory  # of the table, before it is aligned
    cdef bint weighed
    cdef go_shapes shapes
    cdef object weights  # keeps alive what c.weights points to

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
        go_draw_shapes(&self.c.size, &self.shapes)
        self.c.shapes = &self.shapes
        self.c.table = <uint64_t*>((<uintptr_t>self.memory + LINE - 1) & ~<uintptr_t>(LINE - 1))

    def __dealloc__(self):
        free(self.missing)
        free(self.lives)
        free(self.memory)

    def learned(self, const int16_t[:] prover, const int16_t[:] opponent):
        """Use learned move priors; `WEIGHTS` numbers for each of the two."""
        if len(prover) != GO_WEIGHTS or len(opponent) != GO_WEIGHTS:
            raise ValueError(f"{len(prover)} and {len(opponent)} weights; {GO_WEIGHTS} are needed")
        self.weights = prover, opponent
        self.c.weights[GO_PROVER], self.c.weights[GO_OPPONENT] = &prover[0], &opponent[0]

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
        state.own, state.other, state.ko, state.move = own, other, ko, GO_PASS
        state.missing = go_missing(&self.c, state.own)
        go_name(&self.c, state, turn)
        return turn

    def prove(self, own, other, bint own_to_move, int ko, int fewest, int plies, node_budget):
        """Whether the prover owns everything within `plies`, and the nodes that it took.

        True:     a proof; he creates no board with `fewest` stones of his or less
        False:    not found; with more plies he may (`known` tells where he never does)
        None:     the search was stopped, and nothing is known
        """
        cdef go_option state
        cdef int turn, won
        if plies % 2 != own_to_move or not 0 < plies <= GO_CONQUEST_PLIES:
            raise ValueError(f"{plies} plies")
        self.c.nodes, self.c.stopped, self.c.fewest = 0, 0, fewest
        if not self._weigh():
            return None, 0
        turn = self._enter(own, other, own_to_move, ko, &state)
        self.c.node_budget = node_budget
        with nogil:
            won = self._search(&state, turn, GO_PLY * plies)
        return (None if self.c.stopped else bool(won)), self.c.nodes

    cdef int _search(self, const go_option* state, int turn, int reach) noexcept nogil:
        """Positive: a proof. 0: not found within this reach. See go_conquers and go_holds."""
        if state.missing > (reach + GO_PLY) // (2 * GO_PLY):
            return 0
        if turn == GO_PROVER:
            return go_conquers(&self.c, state, reach, 0)
        return go_holds(&self.c, state, reach, 0)

    def known(self, own, other, bint own_to_move, int fewest):
        """True: everything is the prover's; False: never; None: nobody knows."""
        cdef go_option state
        if not self.weighed:
            return None
        self.c.fewest = fewest
        self._enter(own, other, own_to_move, GO_NO_KO, &state)
        cdef uint64_t entry = go_recall(&self.c, state.key)
        if go_kept(&self.c, entry):
            return True
        return False if go_no_reach(entry) == GO_NEVER else None

    def move(self, own, other, int fewest):
        """Where the prover, to move, goes on with a known yes; None if there is none."""
        cdef go_option state
        if not self.known(own, other, True, fewest):
            return None
        self._enter(own, other, True, GO_NO_KO, &state)
        return go_recorded_move(&self.c, &state)

    def finishes(self, own, other, int answers):
        """Whether alive ones among `own` get every point, the other side being to move, with
        at most `answers` answers of their owner. True is a proof, False is not."""
        cdef go_bits alive = go_alive(&self.c.size, own)
        return alive != 0 and go_finishes(&self.c.size, alive, other, answers) != 0

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

    # -- learning -----------------------------------------------------------------------

    def sample(self, own, other, bint own_to_move, int plies, node_budget, int room, int every,
               int nearest, int farthest, uint64_t seed):
        """Search, deepening, and return states whose answers were found on the way, as tuples
        (own, other, turn, last, reach): turn 0 those the prover won, turn 1 those he lost."""
        cdef go_samples samples
        memset(&samples, 0, sizeof(samples))
        samples.room, samples.every, samples.random = room, every, seed
        samples.nearest, samples.farthest = GO_PLY * nearest, GO_PLY * farthest
        samples.samples = <go_sample*>PyMem_Calloc(room, sizeof(go_sample))
        if samples.samples == NULL:
            raise MemoryError(f"no memory for {room} samples")
        self.c.samples = &samples
        try:
            spent, depth = 0, 1 if own_to_move else 2
            while depth <= plies and spent < node_budget:
                won, nodes = self.prove(
                    own, other, own_to_move, GO_NO_KO, 0, depth, node_budget - spent
                )
                spent, depth = spent + nodes, depth + 2
                if won:
                    break
            return [
                (s.own, s.other, s.turn, s.last, s.reach)
                for s in samples.samples[:samples.count]
            ]
        finally:
            self.c.samples = NULL
            PyMem_Free(samples.samples)

    def lesson(self, own, other, int turn, int last, int reach, node_budget):
        """For each move of a sample: what it shows, and whether it serves its side within the
        reach that is left; moves about which the node budget leaves nothing known are left out."""
        cdef go_option state, option
        cdef go_view view
        cdef int[GO_SHOWN] shown
        cdef go_bits left
        cdef int point
        cdef bint won
        if not self._weigh():
            return []
        self._enter(own, other, turn == GO_PROVER, GO_NO_KO, &state)
        moves = []
        left = self.c.size.mask & ~(state.own | state.other)
        while left:
            point = go_first(left)
            left &= left - 1
            view.point, view.last, view.missing_before = point, last, state.missing
            if turn == GO_PROVER:
                view.own, view.other = state.own, state.other
            else:
                view.own, view.other = state.other, state.own
            view.mine, view.theirs = view.own, view.other
            if not go_play(&self.c.size, &view.mine, &view.theirs, point, &option.ko):
                continue
            if turn == GO_PROVER:
                self._enter(view.mine, view.theirs, False, option.ko, &option)
            else:
                self._enter(view.theirs, view.mine, True, option.ko, &option)
            option.move, view.missing = point, option.missing
            go_show(&self.c.size, &self.shapes, &view, shown)
            self.c.nodes, self.c.stopped, self.c.node_budget = 0, 0, node_budget
            won = turn == GO_PROVER and go_certain(&self.c, &option)
            won = won or self._search(&option, 1 - turn, reach - GO_PLY) > 0
            if not self.c.stopped:
                moves.append(([shown[i] for i in range(GO_SHOWN)], won == (turn == GO_PROVER)))
        return moves
