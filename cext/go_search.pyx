# distutils: language = c
"""A table and the proof-number search on it (go_search.h), for Python.

A question is always whether Black can force an area difference of at least `target`,
whoever is to move.
"""

from libc.stdint cimport uint32_t, uint64_t, uintptr_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from zermelo.cext.go_board cimport (
    GO_BUCKET, GO_NO_MOVE, go_alive, go_area, go_bits, go_entry, go_is_sound, go_mix, go_play,
    go_restore, go_territory,
)
from zermelo.cext.go_search cimport (
    GO_BASIC, GO_BLACK, GO_INFINITE, GO_MAX_PATH, GO_NOBODY, GO_PSK, GO_SSK, GO_WHITE, go_child,
    go_forget_moves, go_generate, go_look_up, go_past_hash, go_plain_key, go_proof, go_prove,
    go_put_on_path, go_remember, go_search, go_settle, go_sift, go_state, go_tag,
)

cdef uint64_t NO_LIMIT = ~(<uint64_t>0)
cdef int LINE = 64  # bytes of a cache line
cdef int DUMPED_WORK = 3  # as in go_entry: four nodes or more
cdef int DEEPEST = 400  # plies that a search must be able to look ahead

RULES = {"psk": GO_PSK, "ssk": GO_SSK, "basic": GO_BASIC}
OPTIONS = ("symmetry", "life", "killers", "history", "shape", "share")


cdef class Prover:
    """A table and the search on it, for one board and one set of rules."""

    cdef go_search* s
    cdef void* memory  # of the table, before it is aligned

    def __cinit__(
        self, int rows, int cols, str ko, bint cycle_passes, bint suicide, int hash_mb
    ):
        self.s = <go_search*>calloc(1, sizeof(go_search))
        if self.s == NULL:
            raise MemoryError("no memory for a Go search")
        self.s.size.rows = rows
        self.s.size.cols = cols
        self.s.size.points = rows * cols
        self.s.size.suicide = suicide
        for row in range(rows):
            self.s.size.mask |= <go_bits>((1 << cols) - 1) << 8 * row
        mask = self.s.size.mask
        self.s.edge = mask & ~(mask << 1 & mask >> 1 & mask << 8 & mask >> 8)
        self.s.rule = RULES[ko]
        self.s.cycle_passes = cycle_passes
        cdef uint64_t bucket = GO_BUCKET * sizeof(go_entry)
        self.s.table.buckets = 1
        while self.s.table.buckets * 2 * bucket <= <uint64_t>hash_mb << 20:
            self.s.table.buckets *= 2
        self.memory = calloc(self.s.table.buckets * bucket + LINE, 1)
        if self.memory == NULL:
            raise MemoryError(f"no memory for a table of {hash_mb} MB")
        self.s.table.entries = <go_entry*>(
            (<uintptr_t>self.memory + LINE - 1) & ~<uintptr_t>(LINE - 1)
        )
        self.set_options()

    def __dealloc__(self):
        free(self.memory)
        free(self.s)

    def set_options(
        self, *, symmetry=True, life=True, killers=True, history=True, shape=True, share=True,
        naive=False,
    ):
        o = &self.s.options
        o.symmetry, o.killers, o.history, o.shape = symmetry, killers, history, shape
        o.share, o.naive = share, naive
        # An owner may fill and clear his own chains for ever, so nothing is unconditional.
        o.life = life and not (self.s.rule == GO_BASIC and self.s.size.suicide)

    cdef int _enter(
        self, black, white, bint black_to_move, int passes, int ko, past, go_state* state
    ) except -1:
        """Put a position with its history on the path; the index of the position."""
        cdef int at = 0
        cdef uint64_t hash
        s = self.s
        if len(past) > GO_MAX_PATH - DEEPEST:
            raise ValueError(f"a history of {len(past)} boards is too long")
        s.sums[0] = s.orders[0] = 0
        for before in past:
            (s.path[at].stones[0], s.path[at].stones[1], s.path[at].tag,
             s.path[at].balance) = before
            hash = go_past_hash(s, &s.path[at])
            s.sums[at + 1] = s.sums[at] + hash
            s.orders[at + 1] = go_mix(s.orders[at] + hash)
            at += 1
        state.stones[GO_BLACK], state.stones[GO_WHITE] = black, white
        state.turn = GO_BLACK if black_to_move else GO_WHITE
        state.passes, state.ko = passes, ko
        s.path[at].stones[0], s.path[at].stones[1] = black, white
        s.path[at].tag = go_tag(s, state)
        s.path[at].balance = 0
        s.last_capture[at] = at - 1
        s.first = at
        return at

    def prove(
        self, black, white, bint black_to_move, int passes, int ko, past, *, int target,
        int draw_value=0, node_budget=None,
    ):
        """A bound of the area difference, and the nodes that it took. Fail-soft:

        bound >= target:    Black can force at least this
        bound < target:     White can hold it to at most this
        None:               the search was stopped, and nothing is proved
        """
        cdef go_state state
        cdef go_proof proof
        cdef uint32_t[2] effort
        cdef uint32_t[2] limit
        cdef int at = self._enter(black, white, black_to_move, passes, ko, past, &state)
        cdef int winner
        s = self.s
        s.target, s.draw_value = target, draw_value
        s.nodes, s.node_budget = 0, NO_LIMIT if node_budget is None else node_budget
        s.used = s.stopped = 0
        limit[0] = limit[1] = GO_INFINITE
        with nogil:
            winner = go_settle(s, &state, at, &proof)
            if winner == GO_NOBODY:
                go_prove(s, &state, at, 0, limit, effort, &proof)
        return (None if s.stopped else proof.value), s.nodes

    def known(self, black, white, bint black_to_move, int passes, int ko, past):
        """What is proved without a search: (lo, hi) of the area difference."""
        cdef go_child child
        cdef int[2] bounds
        cdef int at = self._enter(black, white, black_to_move, passes, ko, past, &child.state)
        child.key = go_plain_key(self.s, &child.state)
        self._known(&child, at, bounds)
        return bounds[0], bounds[1]

    def known_below(self, black, white, bint black_to_move, int passes, int ko, past):
        """What is proved about children and grandchildren: (moves, (lo, hi)) of the area
        difference, where it is more than the rules tell."""
        cdef go_state state
        cdef int at = self._enter(black, white, black_to_move, passes, ko, past, &state)
        found = []
        self.s.used = 0
        self._known_below(&state, at, 0, (), found)
        return found

    cdef _known_below(self, const go_state* state, int at, int balance, moves, list found):
        cdef go_child* children = self.s.arena + self.s.used
        cdef go_child* child
        cdef int[2] bounds
        cdef int points = self.s.size.points, depends = 0, i
        cdef int count = go_generate(self.s, state, at, children)
        count = go_sift(self.s, state, at, balance, children, count, &depends)
        self.s.used += count
        for i in range(count):
            child = &children[i]
            if child.repeated >= 0 or child.state.passes == 2:
                continue  # the game is over
            go_put_on_path(self.s, at + 1, &child.state, child.balance)
            self.s.last_capture[at + 1] = at if child.captured else self.s.last_capture[at]
            self._known(child, at + 1, bounds)
            line = (*moves, child.move)
            if bounds[0] > -points or bounds[1] < points:
                found.append((line, (bounds[0], bounds[1])))
            if not moves:
                self._known_below(&child.state, at + 1, child.balance, line, found)
        self.s.used -= count

    cdef void _known(self, go_child* child, int at, int* bounds) noexcept:
        """Ask for more than is known, from either side, until nobody can tell."""
        cdef go_proof proof
        bounds[0], bounds[1] = -self.s.size.points, self.s.size.points
        self.s.target = bounds[0] + 1
        while self.s.target <= bounds[1] and self._won(child, at, &proof) == GO_BLACK:
            bounds[0] = proof.value
            self.s.target = bounds[0] + 1
        self.s.target = bounds[1]
        while self.s.target > bounds[0] and self._won(child, at, &proof) == GO_WHITE:
            bounds[1] = proof.value
            self.s.target = bounds[1]

    cdef int _won(self, go_child* child, int at, go_proof* proof) noexcept:
        """The winner by rules, life or table; `proof.value` is the bound as in `prove`."""
        cdef int found, winner = go_settle(self.s, &child.state, at, proof)
        if winner == GO_NOBODY:
            winner = go_look_up(self.s, child, at, &found)
            proof[0] = child.proof
        return winner

    def seed(
        self, black, white, bint black_to_move, int passes, int ko, past, *, int value,
        bint by_black,
    ):
        """Trust that a colour can force or hold `value` here, under this very history."""
        cdef go_child child
        cdef go_proof proof
        cdef int at = self._enter(black, white, black_to_move, passes, ko, past, &child.state)
        cdef int winner = GO_BLACK if by_black else GO_WHITE
        child.key = go_plain_key(self.s, &child.state)
        self.s.target = value if by_black else value + 1
        if self._won(&child, at, &proof) == winner:
            return
        # Nobody knows which boards the proof creates or what it rests on: assume all.
        proof.keep = proof.keep_ko = 0
        proof.depends = -1
        proof.value = value
        go_remember(self.s, &child.state, at, winner, &proof, GO_NO_MOVE, 1 << 20)

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
        """Age the table and forget which moves won, as for another position."""
        self.s.table.age += 1
        go_forget_moves(self.s)

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
        """What the table knows, as bytes for `load`: all that took some work to find out."""
        cdef uint64_t i, size = self.s.table.buckets * GO_BUCKET
        cdef go_entry* entry
        records = bytearray()
        for i in range(size):
            entry = &self.s.table.entries[i]
            if entry.work >= DUMPED_WORK:
                records += (<char*>entry)[:sizeof(go_entry)]
        return bytes(records)

    def load(self, const unsigned char[::1] records):
        """Put what was dumped into the table; `ValueError`, and nothing is, if an entry is of
        no position of this board."""
        cdef Py_ssize_t at
        cdef go_entry entry
        if records.shape[0] % <Py_ssize_t>sizeof(go_entry):
            raise ValueError("half an entry")
        for at in range(0, records.shape[0], sizeof(go_entry)):
            memcpy(&entry, &records[at], sizeof(go_entry))
            if not go_is_sound(&entry, self.s.size.mask):
                raise ValueError("an entry of no position")
        for at in range(0, records.shape[0] - <Py_ssize_t>sizeof(go_entry) + 1, sizeof(go_entry)):
            memcpy(&entry, &records[at], sizeof(go_entry))
            go_restore(&self.s.table, &entry)

    def clear(self):
        memset(self.s.table.entries, 0, self.s.table.buckets * GO_BUCKET * sizeof(go_entry))
        go_forget_moves(self.s)
