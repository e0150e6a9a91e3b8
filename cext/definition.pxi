# The kernel for all definitions: programs made of tables, played and searched in C.

cimport cython
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
        DEF_ANSWERED
    ctypedef struct u128:
        pass
    ctypedef struct def_mask:
        pass
    ctypedef struct def_state:
        int32_t turn
        int32_t passing
    ctypedef struct def_test:
        pass
    ctypedef struct def_change:
        pass
    ctypedef struct def_case:
        int32_t move, plain
    ctypedef struct def_move:
        pass
    ctypedef struct def_group:
        pass
    ctypedef struct def_need:
        pass
    ctypedef struct def_way:
        pass
    ctypedef struct def_end:
        pass
    ctypedef struct def_range:
        int32_t first, count
    ctypedef struct def_program:
        int32_t values, counters, cells, chains, stuck, limit_clock, limit_plies, limit_score
        int32_t sets, symmetries, bytes, exchanges, plane_keys
        const int32_t *code
        const def_mask *masks
        const int32_t *rays
        const def_test *tests
        const def_change *changes
        const def_case *cases
        const def_mask *effects
        const def_mask *before
        const def_move *moves[2]
        int32_t move_count[2]
        const int32_t *list
        const def_group *groups
        const def_need *needs
        const int32_t *at
        const def_way *ways
        def_range side_groups[2]
        const def_range *rule_groups[2]
        const def_range *rule_cases[2]
        const def_end *ends[2]
        int32_t end_count[2]
        int32_t score[2]
        const uint32_t *set_values
        uint32_t own[2]
        const def_mask *beside
        const u128 *key_bytes
        const u128 *counter_weight
        const u128 *pending_weight
        const def_mask *images
        int32_t exchange[16]
        int32_t plain_image[16]
        int32_t swaps[16]
        const def_mask *effect_images
        int32_t lines[2]
        int32_t steady, all_cells, line_length
        const def_mask *opened
        const int32_t *lines_through[2]
        const uint64_t *four_shapes[2]
        const int32_t *cell_image
        int32_t filling, fill_line_count, twin_count, fill_maps
        const uint64_t *fill_lines
        const int32_t *lines_of
        const int32_t *twins
        const uint64_t *elders
        const uint64_t *fill_images
        const int32_t *counter_most
        int32_t joining
        const int32_t *central
        const uint64_t *joined
        const int32_t *bridges
        const uint64_t *pairs
        int32_t replies_vary
    ctypedef struct def_entry:
        pass
    ctypedef struct def_facts:
        int lo, hi, move, effort
    ctypedef struct def_child:
        pass
    ctypedef struct def_connections:
        pass
    ctypedef struct def_pair:
        uint64_t fulls[8]
        uint64_t halves[16]
        int8_t keys[16]
        int8_t full_count, half_count
    ctypedef struct def_table:
        def_entry *entries
        uint64_t mask
        int age
    ctypedef struct def_team:
        int stop
        int root_done
        uint64_t nodes, budget
        def_table table
    ctypedef struct def_search:
        const def_program *program
        def_team *team
        int thread, limit, batch
        uint64_t nodes
        int32_t *moves
        def_child *children
        int room
        int32_t *history
        int history_moves
        def_connections *connections
    void *allocate_table(size_t size)
    int def_decode(const def_program *, const int32_t *, uint64_t, uint64_t, def_state *)
    void def_key(const def_program *, const def_state *, int, uint64_t *, uint64_t *)
    void def_make_effect_images(const def_program *, int, def_mask *)
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
    void def_restore(def_table *, uint64_t, uint64_t, int, int, int)
    void def_forget_order(def_search *)
    int def_entry_facts(const def_entry *, def_facts *, uint64_t *, uint64_t *)
    int def_prove(def_search *, const def_state *, int)
    void def_stop(def_team *, int)
    const def_pair *def_edges_of(const def_search *, const def_state *, int)

STATUSES = {DEF_GO_ON: "solved", DEF_EXHAUSTED: "exhausted", DEF_ABORTED: "aborted",
            DEF_TOO_DEEP: "exhausted", DEF_ANSWERED: "solved"}
PASS = DEF_PASS
_MOST_EFFECT_IMAGES = 1 << 16  # masks; more would take long to make and no cache would hold them
_BATCH = 64  # nodes that one of several threads counts together
_KEY_BYTES = 16


@cython.no_gc  # it holds numbers alone; a collector would clear them before they are freed
cdef class Core:
    """One program with a transposition table and one or more threads that search with it;
    positions go in and out as keys."""

    cdef def_program program
    cdef def_team team
    cdef def_search *searches
    cdef readonly int threads
    cdef list _owned
    cdef readonly int max_score

    def __cinit__(self):
        self._owned = []
        self.searches = NULL
        self.threads = 0
        memset(&self.team, 0, sizeof(def_team))

    def __init__(self, dict parts, int max_score, size_t table_bytes, int threads=1):
        """`parts` as engine/definition_program.py makes them."""
        cdef uint64_t buckets = 1
        cdef int at
        self._read(parts)
        self.max_score = max_score
        while buckets * 2 * 2 * sizeof(def_entry) <= table_bytes:
            buckets *= 2
        self.team.table.mask = buckets - 1
        self.team.table.entries = <def_entry *> allocate_table(buckets * 2 * sizeof(def_entry))
        self.searches = <def_search *> calloc(threads, sizeof(def_search))
        if self.team.table.entries == NULL or self.searches == NULL:
            raise MemoryError(f"no memory for a table of {table_bytes >> 20} MB")
        self.threads = threads
        for at in range(threads):
            self._open_search(&self.searches[at], at)

    cdef int _open_search(self, def_search *search, int thread) except -1:
        search.program = &self.program
        search.team = &self.team
        search.thread = thread
        search.limit = self.max_score
        search.batch = 1 if self.threads == 1 else _BATCH
        search.room = DEF_ARENA
        search.history_moves = DEF_PASS + 1
        search.moves = <int32_t *> malloc(DEF_ARENA * sizeof(int32_t))
        search.children = <def_child *> malloc(DEF_ARENA * sizeof(def_child))
        search.history = <int32_t *> calloc(2 * (DEF_PASS + 1), sizeof(int32_t))
        if search.moves == NULL or search.children == NULL or search.history == NULL:
            raise MemoryError("no memory for a search")
        if self.program.joining:
            search.connections = <def_connections *> malloc(sizeof(def_connections))
            if search.connections == NULL:
                raise MemoryError("no memory for a search")
        return 0

    cdef int _read(self, dict parts) except -1:
        cdef def_program *program = &self.program
        memset(program, 0, sizeof(def_program))
        (program.values, program.counters, program.cells, program.chains, program.stuck,
         program.limit_clock, program.limit_plies, program.limit_score) = parts["facts"]
        program.code = <const int32_t *> self._keep(parts["code"])
        program.masks = <const def_mask *> self._keep(parts["masks"])
        program.rays = <const int32_t *> self._keep(parts["rays"])
        program.tests = <const def_test *> self._keep(parts["tests"])
        program.changes = <const def_change *> self._keep(parts["changes"])
        program.cases = <const def_case *> self._keep(parts["cases"])
        program.effects = <const def_mask *> self._keep(parts["effects"])
        program.before = <const def_mask *> self._keep(parts["before"])
        program.list = <const int32_t *> self._keep(parts["list"])
        program.groups = <const def_group *> self._keep(parts["groups"])
        program.needs = <const def_need *> self._keep(parts["needs"])
        program.at = <const int32_t *> self._keep(parts["at"])
        program.ways = <const def_way *> self._keep(parts["ways"])
        for side in range(2):
            program.moves[side] = <const def_move *> self._keep(parts["moves"][side])
            program.move_count[side] = len(parts["moves"][side]) // sizeof(def_move)
            program.side_groups[side].first, program.side_groups[side].count = (
                parts["side_groups"][side])
            program.rule_groups[side] = <const def_range *> self._keep(parts["rule_groups"][side])
            program.rule_cases[side] = <const def_range *> self._keep(parts["rule_cases"][side])
            program.ends[side] = <const def_end *> self._keep(parts["ends"][side])
            program.end_count[side] = len(parts["ends"][side]) // sizeof(def_end)
            program.score[side] = parts["scores"][side]
            program.own[side] = parts["own"][side]
            program.lines[side] = parts["lines"][side]
        program.set_values = <const uint32_t *> self._keep(parts["sets"])
        program.sets = len(parts["sets"]) // sizeof(uint32_t)
        program.beside = <const def_mask *> self._keep(parts["beside"])
        program.key_bytes = <const u128 *> self._keep(parts["key_bytes"])
        program.bytes = parts["bytes"]
        program.counter_weight = <const u128 *> self._keep(parts["counter_weights"])
        program.pending_weight = <const u128 *> self._keep(parts["pending_weights"])
        program.plane_keys = parts["plane_keys"]
        program.replies_vary = parts["replies_vary"]
        program.steady = parts["steady"]
        program.opened = <const def_mask *> self._keep(parts["opened"])
        program.line_length = parts["line_length"]
        for side in range(2):
            program.lines_through[side] = <const int32_t *> self._keep(
                parts["lines_through"][side])
            program.four_shapes[side] = <const uint64_t *> self._keep(parts["four_shapes"][side])
        program.all_cells = parts["all_cells"]
        program.cell_image = <const int32_t *> self._keep(parts["cell_images"])
        program.images = <const def_mask *> self._keep(parts["images"])
        program.symmetries = len(parts["exchanges"])
        for at in range(program.symmetries):
            program.exchange[at] = parts["exchanges"][at]
            program.exchanges |= program.exchange[at]
            program.plain_image[at] = parts["plain_images"][at]
            program.swaps[at] = parts["swaps"][at]
        self._image_effects(len(parts["cases"]) // sizeof(def_case))
        program.filling = parts["filling"] and program.plane_keys
        program.fill_line_count = parts["fill_line_count"]
        program.twin_count = parts["twin_count"]
        program.fill_lines = <const uint64_t *> self._keep(parts["fill_lines"])
        program.lines_of = <const int32_t *> self._keep(parts["lines_of"])
        program.twins = <const int32_t *> self._keep(parts["twins"])
        program.elders = <const uint64_t *> self._keep(parts["elders"])
        program.fill_maps = parts["fill_maps"]
        program.fill_images = <const uint64_t *> self._keep(parts["fill_images"])
        program.joining = parts["joining"] and program.plane_keys
        program.central = <const int32_t *> self._keep(parts["central"])
        program.joined = <const uint64_t *> self._keep(parts["joined"])
        program.bridges = <const int32_t *> self._keep(parts["bridges"])
        program.pairs = <const uint64_t *> self._keep(parts["pairs"])
        program.counter_most = <const int32_t *> self._keep(parts["most"])
        return 0

    cdef int _image_effects(self, size_t cases) except -1:
        """What moves change in every image, where that is all they change."""
        cdef def_program *program = &self.program
        cdef size_t at, masks = 3 * cases * program.symmetries
        if not program.plane_keys or masks > _MOST_EFFECT_IMAGES:
            return 0
        for at in range(cases):
            if not program.cases[at].plain:
                return 0
        program.effect_images = <const def_mask *> self._keep(bytes(masks * sizeof(def_mask)))
        def_make_effect_images(program, cases, <def_mask *> program.effect_images)
        return 0

    def __dealloc__(self):
        cdef int at
        free(self.team.table.entries)
        for at in range(self.threads):
            free(self.searches[at].moves)
            free(self.searches[at].children)
            free(self.searches[at].history)
            free(self.searches[at].connections)
        free(self.searches)
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
        if not def_decode(&self.program, self.program.counter_most, int.from_bytes(key[:8], "big"),
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
        cdef int found = def_moves(&self.program, &state, self.searches[0].moves, DEF_ARENA, &score)
        if found == DEF_OVER:
            return score
        if found == DEF_ONLY_PASS:
            def_pass(&self.program, &state, &after)
            return [(PASS, self._key(&after, False))]
        result = []
        for at in range(found):
            def_play(&self.program, &state, self.searches[0].moves[at], &after)
            result.append((self.program.cases[self.searches[0].moves[at]].move,
                           self._key(&after, False)))
        return sorted(result)

    def canonical(self, bytes key):
        """The smallest key of all symmetric positions."""
        cdef def_state state
        self._state(key, &state)
        return self._key(&state, True)

    def connections(self, bytes key, int side):
        """How a side's edges are connected in Hex: carriers, as masks, of what holds whoever
        moves, and pairs of first cell and carrier of what holds if this side moves."""
        cdef def_state state
        cdef const def_pair *edges
        self._state(key, &state)
        edges = def_edges_of(self.searches, &state, side) if self.program.joining else NULL
        if edges == NULL:
            return [], []
        return ([edges.fulls[at] for at in range(edges.full_count)],
                [(edges.keys[at], edges.halves[at]) for at in range(edges.half_count)])

    def perft(self, bytes key, int depth):
        """Lines of play of so many plies; a game that ends earlier is one line."""
        cdef def_state state
        cdef uint64_t lines
        self._state(key, &state)
        self.team.stop = DEF_GO_ON
        with nogil:
            lines = def_perft(&self.program, &state, depth, self.searches[0].moves, DEF_ARENA,
                              &self.team.stop)
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
                score = def_playout(&self.program, &state, self.searches[0].moves, DEF_ARENA, &seed,
                                    &plies)
                wins += score > 0
                draws += score == 0
        return wins, draws, games - wins - draws, plies

    def chances(self, bytes key, int threshold, int games, uint64_t seed):
        """Random games: how many reach the threshold for the side to move, and plies in all."""
        cdef def_state state
        cdef uint64_t plies = 0
        cdef int game, score, reached = 0
        self._state(key, &state)
        seed = seed * <uint64_t> 0x9e3779b97f4a7c15 | 1
        with nogil:
            for game in range(games):
                score = def_playout(&self.program, &state, self.searches[0].moves, DEF_ARENA,
                                    &seed, &plies)
                reached += (-score if state.turn else score) >= threshold
        return reached, plies

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
                found = def_expand(&self.program, &state, self.searches[0].moves, DEF_PASS,
                                   children)
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
        cdef int at
        self.team.nodes = 0
        self.team.budget = 0 if node_budget is None else node_budget
        self.team.stop = DEF_GO_ON
        self.team.root_done = 0
        self.team.table.age += 1
        for at in range(self.threads):
            self.searches[at].nodes = 0
            def_forget_order(&self.searches[at])

    def ask_again(self):
        """Let the threads search once more after one of them has answered."""
        if self.team.stop == DEF_ANSWERED:
            self.team.stop = DEF_GO_ON
        self.team.root_done = 0

    def run(self, bytes key, str algorithm, int alpha, int beta, int thread=0):
        """The score for the side to move; None if the search was stopped.

        Fail-soft: at most alpha, it is an upper bound; at least beta, a lower bound; between
        them, exact. Of several threads the first that answers stops the others.
        """
        cdef def_state state
        cdef int score
        cdef bint scout = algorithm == "negascout"
        cdef def_search *search = &self.searches[thread]
        self._state(key, &state)
        if algorithm == "minimax":
            with nogil:
                score = def_minimax(search, &state, 0, 0)
        elif algorithm == "alphabeta":
            with nogil:
                if state.turn:
                    score = def_alphabeta(search, &state, -beta, -alpha, 0, 0)
                else:
                    score = def_alphabeta(search, &state, alpha, beta, 0, 0)
        elif algorithm == "pns":
            with nogil:
                score = def_prove(search, &state, beta)
        else:
            with nogil:
                score = def_negamax(search, &state, alpha, beta, 0, 0, scout)
        if self.team.stop:
            return None
        if self.threads > 1:
            def_stop(&self.team, DEF_ANSWERED)
        return -score if state.turn and algorithm in ("minimax", "alphabeta") else score

    def abort(self):
        if self.team.stop in (DEF_GO_ON, DEF_ANSWERED):
            self.team.stop = DEF_ABORTED

    @property
    def status(self):
        return STATUSES[self.team.stop]

    @property
    def nodes(self):
        return self.team.nodes

    @property
    def root_done(self):
        return self.team.root_done

    # -- the table ------------------------------------------------------------------------

    def ask(self, bytes key):
        """Proved bounds of a position, None if there are none."""
        cdef def_state state
        cdef int lo = 0, hi = 0
        self._state(key, &state)
        return (lo, hi) if def_ask(self.searches, &state, &lo, &hi) else None

    def tell(self, bytes key, int lo, int hi):
        cdef def_state state
        self._state(key, &state)
        def_tell(self.searches, &state, lo, hi)

    def dump(self, int least_effort):
        """Entries that took at least 2^(effort - 1) nodes: 16 bytes of key, lo, hi, effort."""
        cdef uint64_t at, high = 0, low = 0
        cdef def_facts facts
        records = []
        for at in range(2 * (self.team.table.mask + 1)):
            if (def_entry_facts(self.team.table.entries + at, &facts, &high, &low)
                    and facts.effort >= least_effort):
                records.append(
                    high.to_bytes(8, "big") + low.to_bytes(8, "big")
                    + bytes((facts.lo & 255, facts.hi & 255, facts.effort))
                )
        return b"".join(records)

    def load(self, const uint8_t[::1] records):
        cdef Py_ssize_t at
        for at in range(0, records.shape[0] - 18, 19):
            key = bytes(records[at:at + 16])
            def_restore(&self.team.table, int.from_bytes(key[:8], "big"),
                        int.from_bytes(key[8:], "big"), <int8_t> records[at + 16],
                        <int8_t> records[at + 17], records[at + 18])

    def clear(self):
        memset(self.team.table.entries, 0, 2 * (self.team.table.mask + 1) * sizeof(def_entry))
