"""The C kernels of reversi, as Cython sees them."""

from libc.stdint cimport int8_t, int16_t, int32_t, uint8_t, uint16_t, uint32_t, uint64_t

ctypedef uint64_t u64

cdef extern from "bits.h" nogil:
    int popcount(u64 b)
    int first_bit(u64 b)
    int last_bit(u64 b)
    u64 mirror_rows(u64 b)
    u64 mirror_cols(u64 b)
    u64 transpose(u64 b)
    u64 hash_boards(u64 own, u64 opponent)
    void change_once(volatile int *flag, int before, int after)
    void *allocate_table(size_t size)
    void prefetch "__builtin_prefetch" (const void *address)

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
    int count_last_flips(u64 own, int square)
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
        int32_t used[48]
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
