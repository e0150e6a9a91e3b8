"""The checker's compiled reversi: rules, structure of certificates, a simple solver.

Shares no code with the engine; tests hold it against the reference rules in `games`.
"""

from os import urandom

from libc.stdint cimport int16_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free

cdef extern from "reversi_board.h" nogil:
    ctypedef uint64_t Board
    ctypedef struct Rules:
        Board mask
        int symmetries
    enum: PASS_MOVE
    void make_rules(Rules *rules, int rows, int cols, int wof)
    Board turned_by(const Rules *rules, Board own, Board opponent, int square)
    Board placements(const Rules *rules, Board own, Board opponent)
    int final_score(const Rules *rules, Board own, Board opponent)
    bint is_position(const Rules *rules, Board own, Board opponent)
    void make_canonical(const Rules *rules, Board *own, Board *opponent)

cdef extern from "reversi_structure.h" nogil:
    ctypedef struct Entries:
        const Rules *rules
        uint32_t number
        const uint8_t *keys
        const uint8_t *flags
        const uint8_t *moves
        const int16_t *bounds
        Board seed[2]
    ctypedef struct Fault:
        int kind
        Board own
        Board opponent
    int64_t find_first_fault "first_fault"(Entries *entries, Fault *fault)

cdef extern from "reversi_table.h" nogil:
    ctypedef struct Slot:
        pass
    ctypedef struct Table:
        Slot *slots
        Board index_mask

cdef extern from "reversi_solver.h" nogil:
    ctypedef struct Solver:
        Rules rules
        Table table
        uint64_t nodes
        int stop
    int search(Solver *solver, Board own, Board opponent, int alpha)


cdef bytes as_key(Board own, Board opponent):
    return (<object>own).to_bytes(8, "big") + (<object>opponent).to_bytes(8, "big")


cdef (Board, Board) from_key(bytes key):
    if len(key) != 16:
        raise ValueError("a key has 16 bytes")
    return int.from_bytes(key[:8], "big"), int.from_bytes(key[8:], "big")


cdef class ReversiRules:
    """The rules, and what follows from them about certificates."""

    cdef Rules rules

    def __init__(self, int rows, int cols, bint wof):
        make_rules(&self.rules, rows, cols, wof)

    def steps(self, bytes key):
        """Every move with the key of the position after it and, if the game is over there,
        its score for the side to move."""
        cdef Board own, opponent, moves, turned
        own, opponent = from_key(key)
        if not is_position(&self.rules, own, opponent):
            raise ValueError(f"key {key.hex()} is no position")
        moves = placements(&self.rules, own, opponent)
        if not moves:
            if not placements(&self.rules, opponent, own):
                return []
            return [self._step(PASS_MOVE, opponent, own)]
        cdef int square
        found = []
        for square in range(64):
            if moves >> square & 1:
                turned = turned_by(&self.rules, own, opponent, square)
                found.append(
                    self._step(square, opponent ^ turned, own | turned | <Board>1 << square)
                )
        return found

    cdef tuple _step(self, int move, Board own, Board opponent):
        if placements(&self.rules, own, opponent) or placements(&self.rules, opponent, own):
            return move, as_key(own, opponent), None
        return move, as_key(own, opponent), final_score(&self.rules, own, opponent)

    def canonical(self, bytes key):
        cdef Board own, opponent
        own, opponent = from_key(key)
        make_canonical(&self.rules, &own, &opponent)
        return as_key(own, opponent)

    def first_fault(
        self, const uint8_t[::1] keys, const uint8_t[::1] flags, const int16_t[::1] bounds,
        const uint8_t[::1] moves,
    ):
        """The first entry with a fault, what is wrong, and the key of the position that it
        concerns; None if there is none."""
        cdef Entries entries
        cdef Fault fault
        cdef int64_t at
        number = flags.shape[0]
        if keys.shape[0] != 16 * number or bounds.shape[0] != number or moves.shape[0] != number:
            raise ValueError("columns of different lengths")
        if not 0 < number < 0x7FFFFFFF:
            if number:
                raise ValueError(f"{number} entries are too many")
            return None
        entries.rules, entries.number = &self.rules, number
        entries.keys, entries.flags = &keys[0], &flags[0]
        entries.moves, entries.bounds = &moves[0], &bounds[0]
        entries.seed[0] = int.from_bytes(urandom(8), "big") | 1
        entries.seed[1] = int.from_bytes(urandom(8), "big") | 1
        with nogil:
            at = find_first_fault(&entries, &fault)
        if at < 0:
            raise MemoryError("no memory for the index of the certificate")
        return None if at == number else (at, fault.kind, as_key(fault.own, fault.opponent))


cdef class ReversiTable:
    """What was proved about positions of one game; any number of solvers may share it."""

    cdef Table table

    def __cinit__(self, int table_bits):
        self.table.slots = <Slot *>calloc(<size_t>1 << table_bits, sizeof(Slot))
        if not self.table.slots:
            raise MemoryError("no memory for the checker's table")
        self.table.index_mask = (<Board>1 << table_bits) - 1

    def __dealloc__(self):
        free(self.table.slots)


cdef class ReversiSolver:
    """Answers questions about positions, one at a time."""

    cdef Solver solver
    cdef ReversiTable table

    def __cinit__(self, int rows, int cols, bint wof, ReversiTable table not None):
        make_rules(&self.solver.rules, rows, cols, wof)
        self.table = table
        self.solver.table = table.table
        self.solver.nodes = 0
        self.solver.stop = 0

    @property
    def nodes(self):
        return self.solver.nodes

    def stop(self):
        """Make the running question, and all further ones, return None."""
        self.solver.stop = 1

    def at_least(self, bytes key, int bound):
        """Whether the score is at least `bound`; None once `stop` was called."""
        cdef Board own, opponent
        cdef int score
        own, opponent = from_key(key)
        if not is_position(&self.solver.rules, own, opponent):
            raise ValueError(f"key {key.hex()} is no position")
        with nogil:
            score = search(&self.solver, own, opponent, bound - 1)
        return None if self.solver.stop else score >= bound
