"""The reversi engine's C headers, as Cython sees them: what its `.pxi` files use of each."""

from libc.stdint cimport int8_t, int16_t, int32_t, uint8_t, uint16_t, uint32_t, uint64_t

ctypedef uint64_t u64

cdef extern from "bits.h" nogil:
    int popcount(u64 b)
    int first_bit(u64 b)
    u64 hash_boards(u64 own, u64 opponent)
    void change_once(volatile int *flag, int before, int after)
    void *allocate_table(size_t size)

cdef extern from "reversi_kernels.h" nogil:
    ctypedef struct Geometry:
        u64 board
        int rows
        int cols
    int KERNELS_AVX2
    int KERNELS_AVX512
    void init_kernels()
    bint init_geometry(Geometry *geometry, int rows, int cols)
    void free_geometry(Geometry *geometry)
    u64 flips(u64 own, u64 opponent, int square)
    u64 mobility(u64 own, u64 opponent, u64 empty)
    u64 potential_mobility(u64 opponent, u64 empty)
    u64 stable_discs(const Geometry *geometry, u64 own, u64 opponent)

cdef extern from "reversi_evaluation.h" nogil:
    enum:
        LANES
        MOST_MOVES
        GRAINS
    ctypedef struct Configuration:
        uint16_t lane[48]
    ctypedef struct Evaluation:
        Configuration value[64]
        Configuration complement
        uint32_t offset[48]
        uint32_t own_moves
        uint32_t opponent_moves
        int instances
        uint32_t phase_size
        uint8_t phase[65]
        int16_t *weights
    void configure(const Evaluation *e, u64 own, u64 opponent, u64 board, Configuration *out)
    void configure_move(const Evaluation *e, const Configuration *before, int square, u64 turned,
                        Configuration *after)
    void configure_pass(const Evaluation *e, const Configuration *before, Configuration *after)
    int estimate(const Evaluation *e, const Configuration *c, int empties, int own_moves,
                 int opponent_moves)

cdef extern from "transposition.h" nogil:
    enum:
        NO_MOVE
    ctypedef struct Entry:
        u64 own
        u64 opponent
        u64 facts
        u64 check
    ctypedef struct Table:
        Entry *entries
        u64 mask
        u64 salt
        int age
    ctypedef struct Facts:
        int lo
        int hi
        int best
        int effort
    u64 buckets_in(size_t size)
    bint open_table(Table *table, size_t size)
    void clear_table(Table *table)
    Facts unpack_facts(u64 packed)
    int effort_of(u64 packed)
    u64 checksum(const Table *table, u64 hash, u64 packed)
    bint probe(const Table *table, u64 own, u64 opponent, u64 hash, Facts *facts)
    void store(Table *table, u64 own, u64 opponent, u64 hash, int lo, int hi, int best, int effort)
    int log_effort(u64 nodes)

cdef extern from "reversi_state.h" nogil:
    enum:
        MOST_CANDIDATES
        TRUSTS
        NOTHING
        RUNNING
        ABORTED
        EXHAUSTED
        FINISHED
    ctypedef struct Options:
        bint table
        bint symmetry
        bint stability
        bint enhanced
        bint parity
        bint evaluation
        bint lookahead
        bint probable
        bint presumed
    ctypedef struct Shared:
        int stop
        u64 node_budget
        u64 busy[4096]
    ctypedef struct Glance:
        pass
    ctypedef struct Search:
        u64 nodes
        u64 board
        u64 corners
        u64 around[64]
        int squares
        int root_empties
        int root_move
        int root_done
        bint empties_to_winner
        bint parallel
        int trust
        bint stopped
        Options options
        Geometry *geometry
        Evaluation *evaluation
        Table *table
        Table *presumed
        Table local
        Shared *shared
        Glance glances[4096]
    ctypedef struct Candidate:
        u64 turned
        int square
        int value
    ctypedef struct Candidates:
        Candidate item[60]
        int count
    void init_search(Search *s, Geometry *geometry, bint empties_to_winner)
    int parity_of(const Search *s, u64 own, u64 opponent)
    int final_score(const Search *s, u64 own, u64 opponent)
    bint must_stop(Search *s)
    u64 own_after(u64 opponent, const Candidate *move)
    u64 opponent_after(u64 own, const Candidate *move)
    void list_moves(u64 own, u64 opponent, u64 squares, Candidates *moves)
    void take_best(Candidates *moves, int done)
    int fold(const Search *s, u64 *own, u64 *opponent)
    int fold_square(const Search *s, int square, int symmetry)
    int unfold_square(const Search *s, int square, int symmetry)
    u64 table_name(const Search *s, u64 *own, u64 *opponent, int empties, int *symmetry)

cdef extern from "reversi_middle.h" nogil:
    int middle_value(const Search *s, u64 opponent, u64 empty, u64 replies, int square, int parity)

cdef extern from "reversi_lookahead.h" nogil:
    enum:
        WIDEST
        BIT
        NEVER
    void init_costs()
    int search_estimate(Search *s, u64 own, u64 opponent, const Configuration *shown, int empties,
                        int depth, int alpha, int beta)
    void expected_efforts(Search *s, u64 own, u64 opponent, int score, int *reach, int *hold)

cdef extern from "reversi_upper.h" nogil:
    int search_upper(Search *s, u64 own, u64 opponent, const Configuration *shown, int alpha,
                     int beta, int empties, int parity)
