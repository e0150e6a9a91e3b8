# The kernel for all definitions: programs made of tables, played and searched in C.

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.stdint cimport int8_t, int32_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset


cdef extern from "definition_core.h" nogil:
    enum:
        DEF_ARENA
        DEF_PASS
        DEF_ONLY_PASS
        DEF_OVER
        DEF_GO_ON
        DEF_EXHAUSTED
        DEF_ABORTED
        DEF_TOO_DEEP
    ctypedef struct u128:
        pass
    ctypedef struct def_mask:
        pass
    ctypedef struct def_state:
        int32_t turn
        int32_t passing
    ctypedef struct def_test:
        pass
    ctypedef struct def_put:
        pass
    ctypedef struct def_change:
        pass
    ctypedef struct def_case:
        int32_t move
    ctypedef struct def_move:
        pass
    ctypedef struct def_anchor:
        pass
    ctypedef struct def_end:
        pass
    ctypedef struct def_program:
        int32_t values, counters, cells, chains, stuck, limit_clock, limit_plies, limit_score
        int32_t sets, symmetries, bytes, exchanges
        const int32_t *code
        const def_mask *masks
        const int32_t *rays
        const def_test *tests
        const def_put *puts
        const def_change *changes
        const def_case *cases
        const def_move *moves[2]
        int32_t move_count[2]
        const def_anchor *anchors[2]
        int32_t anchor_count[2]
        const int32_t *offset
        const int32_t *anchored
        const def_end *ends[2]
        int32_t end_count[2]
        int32_t score[2]
        const int32_t *rule_cases
        const int32_t *rule_start[2]
        const uint32_t *set_values
        uint32_t own[2]
        const def_mask *beside
        const u128 *key_bytes
        const u128 *counter_weight
        const u128 *pending_weight
        int32_t exchange[16]
    ctypedef struct def_entry:
        uint64_t check
        int8_t lo, hi
        uint8_t effort
    ctypedef struct def_child:
        pass
    ctypedef struct def_search:
        const def_program *program
        def_entry *entries
        uint64_t mask
        int age, limit
        uint64_t nodes, budget
        int stop
        int root_done
        int32_t *moves
        def_child *children
        int room
        int32_t *history
        int history_moves
    void *allocate_table(size_t size)
    int def_decode(const def_program *, const int32_t *, uint64_t, uint64_t, def_state *)
    void def_key(const def_program *, const def_state *, int, uint64_t *, uint64_t *)
    int def_moves(const def_program *, const def_state *, int32_t *, int, int *)
    void def_play(const def_program *, const def_state *, int, def_state *)
    void def_pass(const def_program *, const def_state *, def_state *)
    int def_expand(const def_program *, const def_state *, int32_t *, int, u128 *)
    uint64_t def_perft(const def_program *, const def_state *, int, int32_t *, int, int *)
    int def_playout(const def_program *, const def_state *, int32_t *, int, uint64_t *,
                    uint64_t *)
    int def_negamax(def_search *, const def_state *, int, int, int, int, int)
    int def_minimax(def_search *, const def_state *, int, int)
    int def_alphabeta(def_search *, const def_state *, int, int, int, int)
    int def_ask(const def_search *, const def_state *, int *, int *)
    void def_tell(def_search *, const def_state *, int, int)
    void def_restore(def_search *, uint64_t, uint64_t, int, int, int)
    void def_forget_order(def_search *)
    int def_entry_key(const def_entry *, uint64_t *, uint64_t *)

STATUSES = {DEF_GO_ON: "solved", DEF_EXHAUSTED: "exhausted", DEF_ABORTED: "aborted",
            DEF_TOO_DEEP: "exhausted"}
PASS = DEF_PASS
_KEY_BYTES = 16


cdef class Core:
    """One program with a transposition table; positions go in and out as keys."""

    cdef def_program program
    cdef def_search *search
    cdef list _owned
    cdef const int32_t *most
    cdef readonly int max_score

    def __cinit__(self):
        self._owned = []
        self.search = NULL

    def __init__(self, dict parts, int max_score, size_t table_bytes):
        """`parts` as engine/definition_program.py makes them."""
        cdef def_program *program = &self.program
        cdef uint64_t buckets = 1
        memset(program, 0, sizeof(def_program))
        (program.values, program.counters, program.cells, program.chains, program.stuck,
         program.limit_clock, program.limit_plies, program.limit_score) = parts["facts"]
        program.code = <const int32_t *> self._keep(parts["code"])
        program.masks = <const def_mask *> self._keep(parts["masks"])
        program.rays = <const int32_t *> self._keep(parts["rays"])
        program.tests = <const def_test *> self._keep(parts["tests"])
        program.puts = <const def_put *> self._keep(parts["puts"])
        program.changes = <const def_change *> self._keep(parts["changes"])
        program.cases = <const def_case *> self._keep(parts["cases"])
        for side in range(2):
            program.moves[side] = <const def_move *> self._keep(parts["moves"][side])
            program.move_count[side] = len(parts["moves"][side]) // 12
            program.anchors[side] = <const def_anchor *> self._keep(parts["anchors"][side])
            program.anchor_count[side] = len(parts["anchors"][side]) // 12
            program.ends[side] = <const def_end *> self._keep(parts["ends"][side])
            program.end_count[side] = len(parts["ends"][side]) // 8
            program.score[side] = parts["scores"][side]
            program.rule_start[side] = <const int32_t *> self._keep(parts["rule_start"][side])
            program.own[side] = parts["own"][side]
        program.offset = <const int32_t *> self._keep(parts["offsets"])
        program.anchored = <const int32_t *> self._keep(parts["anchored"])
        program.rule_cases = <const int32_t *> self._keep(parts["rule_cases"])
        program.set_values = <const uint32_t *> self._keep(parts["sets"])
        program.sets = len(parts["sets"]) // 4
        program.beside = <const def_mask *> self._keep(parts["beside"])
        program.key_bytes = <const u128 *> self._keep(parts["key_bytes"])
        program.bytes = parts["bytes"]
        program.counter_weight = <const u128 *> self._keep(parts["counter_weights"])
        program.pending_weight = <const u128 *> self._keep(parts["pending_weights"])
        program.symmetries = len(parts["exchanges"])
        for at, exchange in enumerate(parts["exchanges"]):
            program.exchange[at] = exchange
            program.exchanges |= exchange
        self.most = <const int32_t *> self._keep(parts["most"])
        self.max_score = max_score
        self.search = <def_search *> calloc(1, sizeof(def_search))
        if self.search == NULL:
            raise MemoryError("no memory for a search")
        self.search.program = program
        while buckets * 2 * 2 * sizeof(def_entry) <= table_bytes:
            buckets *= 2
        self.search.mask = buckets - 1
        self.search.limit = max_score
        self.search.room = DEF_ARENA
        self.search.history_moves = DEF_PASS + 1
        self.search.entries = <def_entry *> allocate_table(buckets * 2 * sizeof(def_entry))
        self.search.moves = <int32_t *> malloc(DEF_ARENA * sizeof(int32_t))
        self.search.children = <def_child *> malloc(DEF_ARENA * sizeof(def_child))
        self.search.history = <int32_t *> calloc(2 * (DEF_PASS + 1), sizeof(int32_t))
        if (self.search.entries == NULL or self.search.moves == NULL
                or self.search.children == NULL or self.search.history == NULL):
            raise MemoryError(f"no memory for a table of {table_bytes >> 20} MB")

    def __dealloc__(self):
        if self.search != NULL:
            free(self.search.entries)
            free(self.search.moves)
            free(self.search.children)
            free(self.search.history)
            free(self.search)
        for address in self._owned:
            free(<void *> <size_t> address)

    cdef void *_keep(self, bytes data) except NULL:
        """A copy of the data, aligned for everything."""
        cdef size_t size = PyBytes_GET_SIZE(data)
        cdef void *memory = malloc(size + 16)
        if memory == NULL:
            raise MemoryError("no memory for a program")
        self._owned.append(<size_t> memory)
        memcpy(memory, PyBytes_AS_STRING(data), size)
        return memory

    cdef int _state(self, bytes key, def_state *state) except -1:
        if len(key) != _KEY_BYTES:
            raise ValueError(f"a key of {len(key)} bytes; it has {_KEY_BYTES}")
        if not def_decode(&self.program, self.most, int.from_bytes(key[:8], "big"),
                          int.from_bytes(key[8:], "big"), state):
            raise ValueError(f"key {key.hex()} is no position")
        return 0

    cdef bytes _key(self, const def_state *state, bint canonical):
        cdef uint64_t high, low
        def_key(&self.program, state, canonical, &high, &low)
        return high.to_bytes(8, "big") + low.to_bytes(8, "big")

    # -- playing ------------------------------------------------------------------------

    def children(self, bytes key):
        """Pairs of move and key after it, sorted; an int, the score, if the game is over."""
        cdef def_state state, after
        cdef int score = 0
        self._state(key, &state)
        cdef int found = def_moves(&self.program, &state, self.search.moves, DEF_ARENA, &score)
        if found == DEF_OVER:
            return score
        if found == DEF_ONLY_PASS:
            def_pass(&self.program, &state, &after)
            return [(PASS, self._key(&after, False))]
        result = []
        for at in range(found):
            def_play(&self.program, &state, self.search.moves[at], &after)
            result.append((self.program.cases[self.search.moves[at]].move,
                           self._key(&after, False)))
        return sorted(result)

    def canonical(self, bytes key):
        """The smallest key of all symmetric positions."""
        cdef def_state state
        self._state(key, &state)
        return self._key(&state, True)

    def perft(self, bytes key, int depth):
        """Lines of play of so many plies; a game that ends earlier is one line."""
        cdef def_state state
        cdef uint64_t lines
        self._state(key, &state)
        self.search.stop = DEF_GO_ON
        with nogil:
            lines = def_perft(&self.program, &state, depth, self.search.moves, DEF_ARENA,
                              &self.search.stop)
        return lines

    def playouts(self, bytes key, int games, uint64_t seed):
        """Random games: wins, draws and losses of the first player, and plies in all."""
        cdef def_state state
        cdef uint64_t plies = 0
        cdef int game, score, wins = 0, draws = 0
        self._state(key, &state)
        seed = seed * <uint64_t> 0x9e3779b97f4a7c15 | 1
        with nogil:
            for game in range(games):
                score = def_playout(&self.program, &state, self.search.moves, DEF_ARENA, &seed,
                                    &plies)
                wins += score > 0
                draws += score == 0
        return wins, draws, games - wins - draws, plies

    def expand(self, bytes keys):
        """Canonical children of many positions, flattened, and how many each has."""
        cdef def_state state
        cdef int found
        cdef u128 *children = <u128 *> malloc(16 * (DEF_PASS + 1))
        if children == NULL:
            raise MemoryError("no memory for children")
        parts, counts = [], []
        try:
            for at in range(0, len(keys), _KEY_BYTES):
                self._state(keys[at:at + _KEY_BYTES], &state)
                found = def_expand(&self.program, &state, self.search.moves, DEF_ARENA, children)
                raw = (<char *> children)[:16 * found]
                # Numbers are stored with the lowest byte first, keys with the highest.
                parts.append(raw[::-1])
                counts.append(found)
        finally:
            free(children)
        # Turning a row of numbers round turned their order round, too.
        return b"".join(
            b"".join(part[at:at + 16] for at in range(len(part) - 16, -1, -16)) for part in parts
        ), counts

    # -- searching ----------------------------------------------------------------------

    def prepare(self, node_budget):
        """Begin a new search: counters at zero, a new age of the table."""
        self.search.nodes = 0
        self.search.budget = 0 if node_budget is None else node_budget
        self.search.stop = DEF_GO_ON
        self.search.root_done = 0
        self.search.age += 1
        def_forget_order(self.search)

    def run(self, bytes key, str algorithm, int alpha, int beta):
        """The score for the side to move; None if the search was stopped.

        Fail-soft: at most alpha, it is an upper bound; at least beta, a lower bound; between
        them, exact.
        """
        cdef def_state state
        cdef int score
        cdef bint scout = algorithm == "negascout"
        self._state(key, &state)
        self.search.root_done = 0
        if algorithm == "minimax":
            with nogil:
                score = def_minimax(self.search, &state, 0, 0)
        elif algorithm == "alphabeta":
            with nogil:
                if state.turn:
                    score = def_alphabeta(self.search, &state, -beta, -alpha, 0, 0)
                else:
                    score = def_alphabeta(self.search, &state, alpha, beta, 0, 0)
        else:
            with nogil:
                score = def_negamax(self.search, &state, alpha, beta, 0, 0, scout)
        if self.search.stop:
            return None
        return -score if state.turn and algorithm in ("minimax", "alphabeta") else score

    def abort(self):
        if not self.search.stop:
            self.search.stop = DEF_ABORTED

    @property
    def status(self):
        return STATUSES[self.search.stop]

    @property
    def nodes(self):
        return self.search.nodes

    @property
    def root_done(self):
        return self.search.root_done

    # -- the table ------------------------------------------------------------------------

    def ask(self, bytes key):
        """Proved bounds of a position, None if there are none."""
        cdef def_state state
        cdef int lo = 0, hi = 0
        self._state(key, &state)
        return (lo, hi) if def_ask(self.search, &state, &lo, &hi) else None

    def tell(self, bytes key, int lo, int hi):
        cdef def_state state
        self._state(key, &state)
        def_tell(self.search, &state, lo, hi)

    def dump(self, int least_effort):
        """Entries that took at least 2^(effort - 1) nodes: 16 bytes of key, lo, hi, effort."""
        cdef uint64_t at, high = 0, low = 0
        cdef def_entry *entry
        records = []
        for at in range(2 * (self.search.mask + 1)):
            entry = self.search.entries + at
            if entry.check and entry.effort >= least_effort:
                def_entry_key(entry, &high, &low)
                records.append(high.to_bytes(8, "big") + low.to_bytes(8, "big") + bytes(
                    (entry.lo & 255, entry.hi & 255, entry.effort)
                ))
        return b"".join(records)

    def load(self, const uint8_t[::1] records):
        cdef Py_ssize_t at
        for at in range(0, records.shape[0] - 18, 19):
            key = bytes(records[at:at + 16])
            def_restore(self.search, int.from_bytes(key[:8], "big"),
                        int.from_bytes(key[8:], "big"), <int8_t> records[at + 16],
                        <int8_t> records[at + 17], records[at + 18])

    def clear(self):
        memset(self.search.entries, 0, 2 * (self.search.mask + 1) * sizeof(def_entry))
