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


include "go_repetition.pxi"
include "go_lookup.pxi"
include "go_moves.pxi"


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
