"""The proof-number search (go_path.h to go_search.h) as Cython sees it."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from zermelo.cext.go_board cimport go_bits, go_entry, go_key, go_size, go_table


cdef extern from "go_search.h" nogil:
    enum:
        GO_MAX_PATH
        GO_BLACK
        GO_WHITE
        GO_NOBODY
        GO_PSK
        GO_SSK
        GO_BASIC
        GO_INFINITE
    ctypedef struct go_state:
        go_bits stones[2]
        int turn
        int passes
        int ko
    ctypedef struct go_past:
        go_bits stones[2]
        int tag
        int balance
    ctypedef struct go_proof:
        go_bits keep
        go_bits keep_ko
        int depends
        int value
    ctypedef struct go_child:
        go_state state
        int move
        int captured
        int repeated
        int balance
        go_key key
        go_proof proof
    ctypedef struct go_options:
        int symmetry
        int life
        int killers
        int history
        int shape
        int share
        int naive
    ctypedef struct go_search:
        go_size size
        go_bits edge
        go_table table
        go_options options
        int rule
        int cycle_passes
        int draw_value
        int target
        int first
        uint64_t nodes
        uint64_t node_budget
        int stop
        int stopped
        go_past* path
        uint64_t* sums
        uint64_t* orders
        int* last_capture
        int used
        go_child* arena
    int go_tag(const go_search*, const go_state*)
    uint64_t go_past_hash(const go_search*, const go_past*)
    go_key go_plain_key(const go_search*, const go_state*)
    int go_look_up(const go_search*, go_child*, int, int*)
    void go_remember(
        go_search*, const go_state*, int, int, const go_proof*, int, uint64_t
    )
    void go_put_on_path(go_search*, int, const go_state*, int)
    int go_generate(const go_search*, const go_state*, int, go_child*)
    int go_sift(go_search*, const go_state*, int, int, go_child*, int, int*)
    void go_forget_moves(go_search*)
    int go_settle(go_search*, const go_state*, int, go_proof*)
    void go_prove(
        go_search*, const go_state*, int, int, const uint32_t*, uint32_t*, go_proof*
    )
