"""Repetition: the path, what comes back on it, and which proofs that leaves usable.

Included by go_search.pyx.
"""

cdef inline int tag_of(const Search* s, const State* state) noexcept nogil:
    if s.rule == PSK:
        return 0
    if s.rule == SSK:
        return state.prover_to_move
    return state.prover_to_move | state.passes << 1 | (state.ko + 1) << 2


cdef inline int find_past(const Search* s, const Past* wanted, int last) noexcept nogil:
    """The latest path index up to `last` with this situation, or -1."""
    cdef int i
    for i in range(last, -1, -1):
        if s.path[i].own == wanted.own and s.path[i].other == wanted.other:
            if s.path[i].tag == wanted.tag:
                return i
    return -1


cdef inline int find_repetition(const Search* s, const State* state, int last) noexcept nogil:
    cdef Past wanted
    wanted.own = state.own
    wanted.other = state.other
    wanted.tag = tag_of(s, state)
    return find_past(s, &wanted, last)


cdef inline uint64_t path_key(const Search* s, int at) noexcept nogil:
    """Names the history of path[at] in the table; never 0, which means any history."""
    cdef uint64_t key = s.sums[at] + <uint64_t>0x9e3779b97f4a7c15ULL
    if s.options.exact_fails:  # failures of the quick mode are no good here
        key += 2
    if s.cycle_passes:
        key += <uint64_t>(s.path[at].balance + 1024) * <uint64_t>0xbf58476d1ce4e5b9ULL
    return key if key else 1


cdef inline int cycle_value(const Search* s, int index, int balance) noexcept nogil:
    """What the end by repetition of path[index] is worth to the prover."""
    cdef int passed = balance - s.path[index].balance
    if not s.cycle_passes or passed == 0:
        return s.draw_value
    return s.size.points if passed > 0 else -s.size.points


cdef inline uint64_t past_hash(const Search* s, const Past* past) noexcept nogil:
    cdef uint64_t tag = past.tag
    if s.cycle_passes:
        tag |= <uint64_t>(past.balance + 1024) << 16
    return go_hash(past.own, past.other, tag + 77)


cdef inline int can_come_back(const Search* s, const Past* past) noexcept nogil:
    """As `Go._can_come_back`: which boards a history must mention."""
    if s.size.suicide:
        return 1
    if s.rule == SSK:
        return (past.other if past.tag else past.own) != 0
    return past.own | past.other != 0


cdef inline void put_on_path(Search* s, int at, const State* state, int balance) noexcept nogil:
    """Make `state` path[at], after path[at - 1], and hash the history before it.

    The hash is the sum over the same set of boards that `Go.history` lists.
    """
    cdef Past* before = &s.path[at - 1]
    cdef int passed = before.own == state.own and before.other == state.other
    s.path[at].own = state.own
    s.path[at].other = state.other
    s.path[at].tag = tag_of(s, state)
    s.path[at].balance = balance
    s.sums[at] = s.sums[at - 1]
    if (s.rule == PSK and passed) or not can_come_back(s, before):
        return
    if s.rule == SSK and find_past(s, before, at - 2) >= 0:
        return
    s.sums[at] += past_hash(s, before)


cdef inline int usable(
    const Search* s, go_bits keep, go_bits keep_ko, int pure, int at
) noexcept nogil:
    """Whether a proof found elsewhere holds at path[at]: it must create no board that was
    there before. Boards before the root count in any case; those since then only for
    proofs that rest on a repetition, or that take a ko (docs/go.md, theorem 2)."""
    cdef int i
    if s.options.naive:
        return 1
    for i in range(s.first):
        if not keep & ~s.path[i].own:
            return 0
    if pure:
        keep = keep_ko
    if keep != EVERYTHING:
        for i in range(s.first, at):
            if not keep & ~s.path[i].own:
                return 0
    return 1


cdef inline int new_for_opponent(
    const Search* s, go_bits keep, go_bits keep_ko, int pure, int at
) noexcept nogil:
    """Whether no earlier board had all these stones of the opponent."""
    cdef int i
    if pure and not s.options.exact_fails:
        keep = keep_ko
    if keep == EVERYTHING:
        return 1
    for i in range(at):
        if not keep & ~s.path[i].other:
            return 0
    return 1
