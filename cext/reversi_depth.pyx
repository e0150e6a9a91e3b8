# cython: language_level=3
"""Reversi to a fixed depth with a textbook evaluation; see reversi_depth.h."""

from libc.stdint cimport uint64_t
from libc.string cimport memset

ctypedef uint64_t u64

cdef extern from "reversi_depth.h" nogil:
    enum:
        FEATURES
        WORST
    ctypedef struct Geometry:
        u64 board
    ctypedef struct Depth:
        Geometry geometry
        int weight[11]
        int table[64]
        u64 nodes
        u64 node_budget
    void init_kernels()
    int init_depth(Depth *d, int rows, int cols)
    void free_geometry(Geometry *geometry)
    u64 flips(u64 own, u64 opponent, int square)
    u64 mobility(u64 own, u64 opponent, u64 empty)
    int feature_sum(const Depth *d, u64 own, u64 opponent)
    int look(Depth *d, u64 own, u64 opponent, int plies, int alpha, int beta)

init_kernels()


cdef class DepthSearch:
    """Moves by looking a number of plies ahead. Not for several threads at once."""

    cdef Depth depth
    cdef bint ready

    def __cinit__(self, int rows, int cols, list weights, list table):
        memset(&self.depth, 0, sizeof(Depth))
        if len(weights) != FEATURES or len(table) != 64:
            raise ValueError("wrong number of weights")
        if not init_depth(&self.depth, rows, cols):
            raise MemoryError
        self.ready = True
        for i in range(FEATURES):
            self.depth.weight[i] = weights[i]
        for i in range(64):
            self.depth.table[i] = table[i]

    def __dealloc__(self):
        if self.ready:
            free_geometry(&self.depth.geometry)

    def evaluate(self, u64 own, u64 opponent):
        """What a position looks worth to the side to move, without any look ahead."""
        return feature_sum(&self.depth, own, opponent)

    def choose(self, u64 own, u64 opponent, int plies, list squares, u64 node_budget):
        """The first of the best moves among `squares`, in their order, its value and the nodes.

        The square is -1 where a pass is all there is. The value is None where the budget
        did not suffice for all moves: then it is the best of those it did.
        """
        cdef int best = -WORST
        cdef int value
        cdef int chosen = -1
        cdef int square
        cdef u64 turned
        self.depth.nodes = 1
        self.depth.node_budget = node_budget
        if not squares:
            with nogil:
                best = -look(&self.depth, opponent, own, plies - 1, -WORST, WORST)
            return -1, best, self.depth.nodes
        for square in squares:
            turned = flips(own, opponent, square)
            with nogil:
                # A move that is only as good as the best so far is no better.
                value = -look(&self.depth, opponent & ~turned,
                              own | turned | <u64> 1 << square, plies - 1, -WORST, -best)
            if self.depth.nodes > node_budget and chosen >= 0:
                return chosen, None, self.depth.nodes
            if value > best or chosen < 0:
                best, chosen = value, square
        return chosen, best, self.depth.nodes
