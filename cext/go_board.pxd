"""The Go kernels and the table (go_board.h, go_table.h) as Cython sees them."""

from libc.stdint cimport int8_t, uint8_t, uint16_t, uint64_t


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
    go_bits go_turn_back(const go_size*, go_bits, int)
    int go_canonical(const go_size*, go_bits*, go_bits*)
    uint64_t go_hash(go_bits, go_bits, uint64_t)


cdef extern from "go_table.h" nogil:
    enum:
        GO_UNPROVED
        GO_NEVER_FAILED
        GO_NO_MOVE
        GO_PURE
        GO_BUCKET
    ctypedef struct go_entry:
        go_bits own
        go_bits other
        uint64_t path
        go_bits keep
        go_bits keep_ko
        go_bits fail_keep
        go_bits fail_keep_ko
        uint16_t depends
        int8_t value
        int8_t fail_value
        uint8_t fail_depth
        uint8_t move
        uint8_t work
        uint8_t age
        uint8_t fail_exact
    ctypedef struct go_table:
        go_entry* entries
        uint64_t buckets
        uint8_t age
    go_entry* go_find(const go_table*, go_bits, go_bits, uint64_t)
    go_entry* go_claim(go_table*, go_bits, go_bits, uint64_t)
