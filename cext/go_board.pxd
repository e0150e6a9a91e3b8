"""The Go kernels, the table and the search (go_*.h) as Cython sees them."""

from libc.stdint cimport uint8_t, uint64_t


cdef extern from "go_board.h" nogil:
    ctypedef uint64_t go_bits
    enum:
        GO_NO_KO
        GO_PASS
    ctypedef struct go_size:
        go_bits mask
        int rows
        int cols
        int points
        int suicide
    int go_count(go_bits)
    int go_first(go_bits)
    go_bits go_grow(go_bits)
    go_bits go_flood(go_bits, go_bits)
    go_bits go_dead(const go_size*, go_bits, go_bits)
    int go_play(const go_size*, go_bits*, go_bits*, int, int*)
    int go_area(const go_size*, go_bits, go_bits)
    go_bits go_alive(const go_size*, go_bits)
    go_bits go_territory(const go_size*, go_bits)
    go_bits go_turn(const go_size*, go_bits, int)
    int go_canonical(const go_size*, go_bits*, go_bits*)
    uint64_t go_mix(uint64_t)


cdef extern from "go_table.h" nogil:
    enum:
        GO_NO_MOVE
        GO_BUCKET
    ctypedef struct go_entry:
        uint8_t work
    ctypedef struct go_key:
        uint64_t hash
    ctypedef struct go_table:
        go_entry* entries
        uint64_t buckets
        uint8_t age
    int go_is_sound(const go_entry*, go_bits)
    void go_restore(go_table*, const go_entry*)
