# distutils: language = c
"""The proof search for Go: can one side force an area difference of at least `target`?

`prove` answers yes only when a strategy exists under the literal rules from the given
state and history; a no means that none was found within so many plies and proves
nothing. docs/go.md explains why a yes may be reused, and under which histories.

Everything is seen from the *prover*: `own` are the prover's stones, `other` those of
the opponent, whichever of them is to move.
"""

from libc.stdint cimport uint8_t, uint16_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from zermelo.cext.go_board cimport (
    GO_BUCKET, GO_NEVER_FAILED, GO_NO_KO, GO_NO_MOVE, GO_PASS, GO_PURE, GO_UNPROVED,
    go_alive, go_area, go_bits, go_canonical, go_claim, go_count, go_entry, go_find,
    go_first, go_grow, go_hash, go_play, go_size, go_table, go_territory, go_turn, go_turn_back,
)

cdef enum:
    MAX_PATH = 1280   # boards of the history plus plies of the search
    MAX_DEPTH = 250
    MAX_MOVES = 50
    PSK = 0
    SSK = 1
    BASIC = 2
    FAILED = 0
    PROVED = 1
    STOPPED = 2

cdef go_bits EVERYTHING = ~(<go_bits>0)
cdef uint64_t NO_LIMIT = ~(<uint64_t>0)

cdef struct Past:
    go_bits own
    go_bits other
    int tag        # what else the ko rule compares
    int balance    # prover's passes minus the opponent's up to here

cdef struct State:
    go_bits own
    go_bits other
    int prover_to_move
    int passes
    int ko

cdef struct Child:
    State state
    int move
    int order
    int captured
    int takes_ko

cdef struct Proof:
    go_bits keep      # own stones on every board that the proof creates
    go_bits keep_ko   # own stones on every board that it creates by taking a ko
    int depends       # the first path index it rests on, GO_PURE if on none
    int value         # the area difference proved, at least the target

cdef struct Options:
    int table
    int symmetry
    int cutoffs      # enhanced transposition cut-offs
    int life         # unconditional life and territory
    int killers
    int history
    int rely         # an opponent's forbidden repetition may be part of a proof
    int share        # proofs may be reused under other histories, where that is sound
    int exact_fails  # compare a failure with every earlier board: slow, but complete
    unsigned int shuffle  # not 0: disturb the order of moves, in a way that this names
    int naive        # share every proof regardless of history: WRONG, for the tests

cdef struct Search:
    go_size size
    go_table table
    Options options
    int rule
    int cycle_passes
    int draw_value     # what a drawn cycle is worth to the prover, as area difference
    go_bits salt       # keeps provers apart where colours are not alike
    int target
    int first          # path[0..first-1] is the history before the root
    uint64_t nodes
    uint64_t node_limit
    int stop
    Past path[MAX_PATH]
    uint64_t sums[MAX_PATH]        # hash of path[0..i] as a set with multiplicity
    int last_capture[MAX_PATH]     # boards after this index cannot be the same as path[i]
    uint8_t killers[MAX_PATH][2]
    int history[2][65]


# -- repetition -----------------------------------------------------------------------

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


# -- the table --------------------------------------------------------------------------

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


# -- moves --------------------------------------------------------------------------------

cdef struct Weights:
    int captured
    int liberty    # empty points next to the stone
    int enemy      # enemy stones next to it
    int friend
    int centre     # points within two steps
    int eye        # the price of filling an eye of one's own: a waiting move at best
    int history    # in 1/256
    int killer

# Found by random search on five questions on 3x5 to 5x5 boards. The opponent spreads out
# to stay hard to kill, the prover connects.
cdef Weights WEIGHTS[2]
WEIGHTS[0] = Weights(24, 4, 3, 0, 12, 6, 16, 60)
WEIGHTS[1] = Weights(24, 4, 3, 12, 1, 90, 12, 84)


cdef int order_of(const Search* s, const State* state, const Child* child, int at) noexcept nogil:
    """How promising a stone looks: its shape, then what cut before."""
    cdef const Weights* weight = &WEIGHTS[state.prover_to_move]
    cdef go_bits stone = <go_bits>1 << child.move
    cdef go_bits around = go_grow(stone) & s.size.mask & ~stone
    cdef go_bits mine = child.state.own, theirs = child.state.other
    cdef int order
    if not state.prover_to_move:
        mine, theirs = theirs, mine
    order = (
        weight.captured * child.captured
        + weight.liberty * go_count(around & ~(mine | theirs))
        + weight.enemy * go_count(around & theirs)
        + weight.friend * go_count(around & mine)
        + weight.centre * go_count(go_grow(around) & s.size.mask)
    )
    if not around & ~mine:
        order -= weight.eye
    if s.options.history:
        order += s.history[state.prover_to_move][child.move] * weight.history >> 8
    if s.options.killers:
        if s.killers[at][0] == child.move:
            order += weight.killer
        elif s.killers[at][1] == child.move:
            order += weight.killer * 2 // 3
    if s.options.shuffle:
        order += <int>(go_hash(stone, s.options.shuffle, at) & 15)
    return order


cdef int generate(
    const Search* s, const State* state, int at, int first_move, Child* children
) noexcept nogil:
    """All moves but repetitions of boards, ordered; a pass is one of them."""
    cdef go_bits left = s.size.mask & ~(state.own | state.other)
    cdef go_bits mine, theirs
    cdef int count = 0, point, i, stones = go_count(state.own | state.other)
    cdef Child* child
    cdef Child moved
    while left:
        point = go_first(left)
        left &= left - 1
        if point == state.ko:
            continue
        child = &children[count]
        mine = state.own if state.prover_to_move else state.other
        theirs = state.other if state.prover_to_move else state.own
        if not go_play(&s.size, &mine, &theirs, point, &child.state.ko):
            continue
        child.state.own = mine if state.prover_to_move else theirs
        child.state.other = theirs if state.prover_to_move else mine
        child.state.prover_to_move = not state.prover_to_move
        child.state.passes = 0
        child.move = point
        child.captured = stones + 1 - go_count(mine | theirs)
        child.takes_ko = child.state.ko != GO_NO_KO
        child.order = 1 << 20 if point == first_move else order_of(s, state, child, at)
        count += 1
    child = &children[count]
    child.state = state[0]
    child.state.prover_to_move = not state.prover_to_move
    child.state.passes = state.passes + 1
    child.state.ko = GO_NO_KO
    child.move = GO_PASS
    child.captured = 0
    child.takes_ko = 0
    child.order = 1 << 20 if first_move == GO_PASS else 0
    count += 1
    for point in range(1, count):
        moved = children[point]
        i = point
        while i > 0 and children[i - 1].order < moved.order:
            children[i] = children[i - 1]
            i -= 1
        children[i] = moved
    return count


# -- the search -----------------------------------------------------------------------------

cdef inline void reward(Search* s, const State* state, int at, int move, int depth) noexcept nogil:
    cdef int i, side
    if s.killers[at][0] != move:
        s.killers[at][1] = s.killers[at][0]
        s.killers[at][0] = <uint8_t>move
    s.history[state.prover_to_move][move] += depth * depth
    if s.history[state.prover_to_move][move] > 1 << 12:
        for side in range(2):
            for i in range(65):
                s.history[side][i] >>= 1


cdef int settle(Search* s, const State* state, int at, Proof* proof) noexcept nogil:
    """What can be told without a move: PROVED, FAILED (for good), or -1."""
    cdef go_bits alive
    cdef int area = 0, value
    proof.keep = EVERYTHING
    proof.keep_ko = EVERYTHING
    proof.depends = GO_PURE
    if state.passes:
        area = go_area(&s.size, state.own, state.other)
        if area >= s.target:
            if state.passes == 2 or state.prover_to_move:
                proof.value = area
                return PROVED
        elif state.passes == 2 or not state.prover_to_move:
            return FAILED
    if not s.options.life:
        return -1
    alive = go_alive(&s.size, state.own)
    if alive:
        value = 2 * go_count(go_territory(&s.size, alive)) - s.size.points
        if state.passes and not state.prover_to_move:
            value = min(value, area)  # the opponent may pass too and end the game as it stands
        if value >= s.target and usable(s, alive, EVERYTHING, not s.size.suicide, at):
            proof.value = value
            proof.keep = alive
            proof.depends = GO_PURE if not s.size.suicide else at
            return PROVED
    alive = go_alive(&s.size, state.other)
    if alive and s.size.points - 2 * go_count(go_territory(&s.size, alive)) < s.target:
        if new_for_opponent(s, alive, EVERYTHING, 1, at):
            proof.keep = alive
            return FAILED
    return -1


cdef int prove(Search* s, const State* state, int at, int depth, int balance,
               Proof* proof) noexcept nogil:
    """Whether the prover can force `target` from here within `depth` plies.

    path[at] is this state, everything before it is on the path. On PROVED, `proof`
    says what the proof rests on.
    """
    cdef Child children[MAX_MOVES]
    cdef Child* child
    cdef Proof below
    cdef int count, i, outcome, repeated, move = GO_NO_MOVE, hint, passed
    cdef uint64_t before = s.nodes
    s.nodes += 1
    if s.stop or s.nodes > s.node_limit:
        return STOPPED
    outcome = settle(s, state, at, proof)
    if outcome >= 0:
        return outcome
    if depth <= 0:
        return FAILED
    if s.options.table:
        outcome = look_up(s, state, at, depth, proof, &move)
        if outcome >= 0:
            return outcome
    count = generate(s, state, at, move, children)
    if s.options.table and s.options.cutoffs and depth > 1:
        # The opponent needs one child that is known to fail, the prover one that is proved.
        for i in range(count):
            child = &children[i]
            repeated = find_repetition(
                s, &child.state, at if child.captured else s.last_capture[at]
            )
            if repeated >= 0:
                continue
            put_on_path(s, at + 1, &child.state, balance)
            outcome = look_up(s, &child.state, at + 1, depth - 1, &below, &hint)
            if outcome == (PROVED if state.prover_to_move else FAILED):
                children[i].order = 1 << 21
                if i:
                    children[0], children[i] = children[i], children[0]
                break
    proof.keep = EVERYTHING
    proof.keep_ko = EVERYTHING
    proof.depends = GO_PURE
    proof.value = s.size.points
    for i in range(count):
        child = &children[i]
        repeated = -1
        if s.rule == BASIC or child.move != GO_PASS:
            repeated = find_repetition(
                s, &child.state, at if child.captured else s.last_capture[at]
            )
        passed = 0
        if child.move == GO_PASS:
            passed = 1 if state.prover_to_move else -1
        if repeated >= 0 and s.rule != BASIC:
            if state.prover_to_move or s.options.rely:
                proof.depends = min(proof.depends, repeated)
                continue
        if repeated >= 0 and s.rule == BASIC and child.state.passes < 2:
            below.keep = EVERYTHING
            below.keep_ko = EVERYTHING
            below.depends = repeated
            below.value = cycle_value(s, repeated, balance + passed)
            outcome = PROVED if s.options.rely and below.value >= s.target else FAILED
        else:
            put_on_path(s, at + 1, &child.state, balance + passed)
            s.last_capture[at + 1] = at if child.captured else s.last_capture[at]
            outcome = prove(s, &child.state, at + 1, depth - 1, balance + passed, &below)
        if outcome == STOPPED:
            return STOPPED
        if outcome == PROVED:
            # Superko looks at the prover's stones; a cycle may also end with a pass.
            if s.rule == BASIC or (state.prover_to_move and child.move != GO_PASS):
                below.keep &= child.state.own
            if child.takes_ko and state.prover_to_move and s.rule != BASIC:
                below.keep_ko &= child.state.own
        else:
            if s.rule == BASIC or (not state.prover_to_move and child.move != GO_PASS):
                below.keep &= child.state.other
            if child.takes_ko and not state.prover_to_move and s.rule != BASIC:
                below.keep_ko &= child.state.other
        if state.prover_to_move and outcome == PROVED:
            proof[0] = below
            reward(s, state, at, child.move, depth)
            if s.options.table:
                remember(s, state, at, depth, PROVED, proof, child.move, s.nodes - before)
            return PROVED
        if not state.prover_to_move and outcome == FAILED:
            proof[0] = below
            reward(s, state, at, child.move, depth)
            if s.options.table:
                remember(s, state, at, depth, FAILED, proof, child.move, s.nodes - before)
            return FAILED
        proof.depends = min(proof.depends, below.depends)
        proof.keep &= below.keep
        proof.keep_ko &= below.keep_ko
        if outcome == PROVED:
            proof.value = min(proof.value, below.value)
    outcome = FAILED if state.prover_to_move else PROVED
    if s.options.table:
        remember(s, state, at, depth, outcome, proof, move, s.nodes - before)
    return outcome


# -- for Python -------------------------------------------------------------------------------

RULES = {"psk": PSK, "ssk": SSK, "basic": BASIC}
OPTIONS = ("table", "symmetry", "cutoffs", "life", "killers", "history", "rely", "share")


cdef class Prover:
    """A table and the search on it, for one board and one set of rules."""

    cdef Search* s

    def __cinit__(
        self, int rows, int cols, str ko, bint cycle_passes, bint suicide, int hash_mb
    ):
        self.s = <Search*>calloc(1, sizeof(Search))
        if self.s == NULL:
            raise MemoryError("no memory for a Go search")
        self.s.size.rows = rows
        self.s.size.cols = cols
        self.s.size.points = rows * cols
        self.s.size.suicide = suicide
        for row in range(rows):
            self.s.size.mask |= <go_bits>((1 << cols) - 1) << 8 * row
        self.s.rule = RULES[ko]
        self.s.cycle_passes = cycle_passes
        self.s.table.buckets = 1
        while self.s.table.buckets * 2 * GO_BUCKET * sizeof(go_entry) <= <uint64_t>hash_mb << 20:
            self.s.table.buckets *= 2
        self.s.table.entries = <go_entry*>calloc(
            self.s.table.buckets * GO_BUCKET, sizeof(go_entry)
        )
        if self.s.table.entries == NULL:
            raise MemoryError(f"no memory for a table of {hash_mb} MB")
        self.set_options()

    def __dealloc__(self):
        if self.s != NULL:
            free(self.s.table.entries)
            free(self.s)

    def set_options(
        self, *, table=True, symmetry=True, cutoffs=True, life=True, killers=True, history=True,
        rely=True, share=True, exact_fails=False, shuffle=0, naive=False,
    ):
        o = &self.s.options
        o.table, o.symmetry, o.cutoffs, o.killers = table, symmetry, cutoffs, killers
        o.history, o.rely, o.share, o.naive = history, rely, share, naive
        o.exact_fails, o.shuffle = exact_fails or not share, shuffle
        # An owner may fill and clear his own chains for ever, so nothing is unconditional.
        o.life = life and not (self.s.rule == BASIC and self.s.size.suicide)

    cdef int _enter(self, own, other, int prover_to_move, int passes, int ko, past,
                    int salt, State* state) except -1:
        """Put a position with its history on the path; the index of the position."""
        cdef int at = 0
        s = self.s
        if len(past) > MAX_PATH - MAX_DEPTH - 2:
            raise ValueError(f"a history of {len(past)} boards is too long")
        s.sums[0] = 0
        for before in past:
            s.path[at].own, s.path[at].other, s.path[at].tag, s.path[at].balance = before
            s.sums[at + 1] = s.sums[at] + past_hash(s, &s.path[at])
            at += 1
        state.own, state.other, state.prover_to_move = own, other, prover_to_move
        state.passes, state.ko = passes, ko
        s.path[at].own, s.path[at].other = own, other
        s.path[at].tag = tag_of(s, state)
        s.path[at].balance = 0
        s.last_capture[at] = at - 1
        s.first = at
        s.salt = <go_bits>salt << 56
        return at

    def prove(
        self, own, other, bint prover_to_move, int passes, int ko, past, *, int target,
        int depth, int draw_value=0, int salt=0, node_limit=None,
    ):
        """One search to a fixed depth: the area difference proved, or None; and the nodes."""
        cdef State state
        cdef Proof proof
        cdef int outcome, at = self._enter(
            own, other, prover_to_move, passes, ko, past, salt, &state
        )
        s = self.s
        if depth > MAX_DEPTH:
            raise ValueError(f"depth {depth} is too much")
        s.target, s.draw_value = target, draw_value
        s.nodes, s.node_limit = 0, NO_LIMIT if node_limit is None else node_limit
        with nogil:
            outcome = prove(s, &state, at, depth, 0, &proof)
        return (proof.value if outcome == PROVED else None), s.nodes

    def known(
        self, own, other, bint prover_to_move, int passes, int ko, past, *, int salt=0
    ):
        """The area difference proved for the prover without a search, or None."""
        cdef State state
        cdef Proof proof
        cdef int move = GO_NO_MOVE
        cdef int at = self._enter(own, other, prover_to_move, passes, ko, past, salt, &state)
        best = None
        self.s.target = -self.s.size.points
        if settle(self.s, &state, at, &proof) == PROVED:
            best = proof.value
            self.s.target = proof.value + 1
        if look_up(self.s, &state, at, MAX_DEPTH + 1, &proof, &move) == PROVED:
            best = proof.value
        return best

    def seed(
        self, own, other, bint prover_to_move, int passes, int ko, past, *, int value,
        int salt=0,
    ):
        """Trust that the prover can force `value` here, under this very history."""
        cdef State state
        cdef Proof proof
        cdef int move
        cdef int at = self._enter(own, other, prover_to_move, passes, ko, past, salt, &state)
        self.s.target = value
        if look_up(self.s, &state, at, MAX_DEPTH + 1, &proof, &move) == PROVED:
            return
        # Nobody knows which boards the proof creates or what it rests on: assume all.
        proof.keep = proof.keep_ko = 0
        proof.depends = -1
        proof.value = value
        remember(self.s, &state, at, 0, PROVED, &proof, GO_NO_MOVE, 1 << 20)

    def play_stone(self, own, other, int point):
        """The kernel's (own, other, ko) after a stone of `own`, or None if it is illegal."""
        cdef go_bits mine = own, theirs = other
        cdef int ko
        if not go_play(&self.s.size, &mine, &theirs, point, &ko):
            return None
        return mine, theirs, ko

    def secure(self, own):
        """The kernel's (unconditionally alive stones, certain area) of these stones."""
        alive = go_alive(&self.s.size, own)
        return alive, go_territory(&self.s.size, alive)

    def area(self, own, other):
        """The kernel's area difference."""
        return go_area(&self.s.size, own, other)

    def new_question(self):
        """Age the table and forget which moves cut, as for another position."""
        self.s.table.age += 1
        memset(self.s.killers, 0, sizeof(self.s.killers))
        memset(self.s.history, 0, sizeof(self.s.history))

    def forget_failures(self):
        """Drop all hints that something could not be proved; proofs stay."""
        cdef uint64_t i
        for i in range(self.s.table.buckets * GO_BUCKET):
            self.s.table.entries[i].fail_value = GO_NEVER_FAILED

    @property
    def nodes(self):
        """Nodes of the search that runs, or of the last one."""
        return self.s.nodes

    def stop(self):
        """Make the running search return; stays in force until `allow`."""
        self.s.stop = 1

    def allow(self):
        self.s.stop = 0

    def dump(self):
        """All proofs in the table, as bytes for `load`."""
        cdef uint64_t i, size = self.s.table.buckets * GO_BUCKET
        cdef go_entry* entry
        records = bytearray()
        for i in range(size):
            entry = &self.s.table.entries[i]
            if entry.work and entry.value != GO_UNPROVED:
                records += (<char*>entry)[:sizeof(go_entry)]
        return bytes(records)

    def load(self, const unsigned char[::1] records):
        """Put dumped proofs into the table."""
        cdef Py_ssize_t at
        cdef go_entry entry
        cdef go_entry* place
        for at in range(0, records.shape[0] - <Py_ssize_t>sizeof(go_entry) + 1, sizeof(go_entry)):
            memcpy(&entry, &records[at], sizeof(go_entry))
            place = go_claim(&self.s.table, entry.own, entry.other, entry.path)
            if place.value < entry.value:
                place[0] = entry
                place.age = self.s.table.age

    def clear(self):
        memset(self.s.table.entries, 0, self.s.table.buckets * GO_BUCKET * sizeof(go_entry))
