"""The search and its table: what may be taken from it, where a result goes.

Included by go_search.pyx; docs/go.md, "When a stored proof may be reused", says why.
"""

cdef inline int key_of(
    const Search* s, const State* state, int turned, go_bits* own, go_bits* other
) noexcept nogil:
    """The state as the table knows it; returns the symmetry that turns it so.

    Entries for any history are folded by symmetry; those for one history are not,
    since the history would have to be turned with them.
    """
    cdef int symmetry = 0, ko = state.ko
    own[0] = state.own
    other[0] = state.other
    if turned and s.options.symmetry:
        symmetry = go_canonical(&s.size, own, other)
        if ko != GO_NO_KO:
            ko = go_first(go_turn(&s.size, <go_bits>1 << ko, symmetry))
    own[0] |= s.salt
    other[0] |= <go_bits>(state.prover_to_move | state.passes << 1 | (ko + 1) << 2) << 56
    return symmetry


cdef inline go_bits turn_back(const Search* s, go_bits bits, int symmetry) noexcept nogil:
    return bits if bits == EVERYTHING else go_turn_back(&s.size, bits, symmetry)


cdef inline go_bits turn(const Search* s, go_bits bits, int symmetry) noexcept nogil:
    return bits if bits == EVERYTHING else go_turn(&s.size, bits, symmetry)


cdef int look_up(
    const Search* s, const State* state, int at, int depth, Proof* proof, int* move
) noexcept nogil:
    """PROVED with the proof, FAILED if a failure is on record, else -1."""
    cdef go_bits own, other, keep, keep_ko
    cdef int symmetry = key_of(s, state, 1, &own, &other), pure, failed = 0
    cdef go_entry* entry = go_find(&s.table, own, other, 0)
    if entry != NULL:
        if entry.move < GO_PASS:
            move[0] = go_first(go_turn_back(&s.size, <go_bits>1 << entry.move, symmetry))
        else:
            move[0] = entry.move
        if entry.value >= s.target:
            keep = turn_back(s, entry.keep, symmetry)
            keep_ko = turn_back(s, entry.keep_ko, symmetry)
            pure = entry.depends == GO_PURE
            if usable(s, keep, keep_ko, pure, at):
                proof.keep = keep
                proof.keep_ko = keep_ko
                proof.depends = GO_PURE if pure else at
                proof.value = entry.value
                return PROVED
        if (s.target >= entry.fail_value and depth <= entry.fail_depth
                and (entry.fail_exact or not s.options.exact_fails)):
            proof.depends = GO_PURE
            proof.keep = turn_back(s, entry.fail_keep, symmetry)
            proof.keep_ko = turn_back(s, entry.fail_keep_ko, symmetry)
            failed = new_for_opponent(s, proof.keep, proof.keep_ko, 1, at)
    if not s.options.naive:
        key_of(s, state, 0, &own, &other)
        entry = go_find(&s.table, own, other, path_key(s, at))
        if entry != NULL:
            if entry.value >= s.target:
                proof.keep = entry.keep
                proof.keep_ko = entry.keep_ko
                proof.depends = entry.depends
                proof.value = entry.value
                return PROVED
            if not failed and s.target >= entry.fail_value and depth <= entry.fail_depth:
                proof.depends = entry.depends
                proof.keep = entry.fail_keep
                proof.keep_ko = entry.fail_keep_ko
                failed = 1
    return FAILED if failed else -1


cdef inline uint8_t log2_of(uint64_t nodes) noexcept nogil:
    cdef uint8_t log = 1
    while nodes > 1:
        nodes >>= 1
        log += 1
    return log


cdef void remember(
    Search* s, const State* state, int at, int depth, int outcome, const Proof* proof, int move,
    uint64_t work
) noexcept nogil:
    """Record a proof or a failure, where it belongs: for all histories or for this one."""
    cdef go_bits own, other
    cdef int symmetry
    cdef uint64_t path = 0
    cdef go_entry* entry
    if s.options.naive:
        path = 0
    elif proof.depends < at or not s.options.share:
        path = path_key(s, at)
    symmetry = key_of(s, state, path == 0, &own, &other)
    entry = go_claim(&s.table, own, other, path)
    if log2_of(work) > entry.work:
        entry.work = log2_of(work)
    if move < GO_PASS:
        move = go_first(go_turn(&s.size, <go_bits>1 << move, symmetry))
    if outcome == FAILED:
        if entry.fail_value != s.target or entry.fail_depth < depth:
            entry.fail_value = <signed char>s.target
            entry.fail_depth = <uint8_t>depth
            entry.fail_keep = turn(s, proof.keep, symmetry)
            entry.fail_keep_ko = turn(s, proof.keep_ko, symmetry)
            entry.fail_exact = s.options.exact_fails
        if entry.value == GO_UNPROVED:
            entry.move = <uint8_t>move
            entry.depends = <uint16_t>proof.depends
        return
    entry.value = <signed char>proof.value
    entry.keep = turn(s, proof.keep, symmetry)
    entry.keep_ko = turn(s, proof.keep_ko, symmetry)
    entry.depends = <uint16_t>max(proof.depends, 0)
    entry.move = <uint8_t>move
