# The compiled reversi engine as Python sees it: `Core` works on bare integers and bytes.
# `zermelo.engine.reversi` wraps it in the words of the Engine interface.
#
# Each instruction set is a module of its own that includes this file; see setup.py.

from array import array

from libc.stdlib cimport free
from libc.string cimport memcpy, memset

from zermelo.cext.reversi_search cimport *

include "reversi_play.pxi"
include "reversi_textbook.pxi"
include "reversi_training.pxi"

cdef enum:
    LOCAL_BYTES = 1 << 18
    EXPECTED_PLIES = 4      # how deep to look for a first guess
    KEPT_EFFORT = 60        # more than any search: what was given stays in the table
    RECORD_BYTES = 24       # of a dumped entry: own, opponent, facts
    PRESUMED_SALT = 0x70726573756d6564  # of what no proof may rest on

init_kernels()
init_costs()

#: The instruction set this module was compiled for.
INSTRUCTIONS = "avx512" if KERNELS_AVX512 else "avx2" if KERNELS_AVX2 else "plain"
STATUS = {RUNNING: "solved", FINISHED: "solved", ABORTED: "aborted", EXHAUSTED: "exhausted"}


cdef class Core:
    """The search on one board: a table, and one searcher for each thread."""

    cdef Geometry geometry
    cdef Table table
    cdef Table presumed[TRUSTS]  # by trust less 1: the same memory, by other salts
    cdef Shared *shared
    cdef Evaluation *evaluation
    cdef Search *searches
    cdef readonly int threads
    cdef u64[::1] memory        # where the table lies, if it is not our own
    cdef bint borrowed          # whether it does

    def __cinit__(self, int rows, int cols, bint wof, int threads, size_t hash_bytes,
                  u64[::1] memory=None, u64 salt=0):
        """With `memory`, the table lies there, beside other engines' entries of other salts."""
        cdef int i
        self.threads = threads
        self.shared = <Shared *> allocate_table(sizeof(Shared))
        self.evaluation = <Evaluation *> allocate_table(sizeof(Evaluation))
        self.searches = <Search *> allocate_table(threads * sizeof(Search))
        if not (self.shared and self.evaluation and self.searches
                and init_geometry(&self.geometry, rows, cols)
                and (memory is not None or open_table(&self.table, hash_bytes))):
            raise MemoryError(f"no memory for a table of {hash_bytes >> 20} MB")
        if memory is not None:
            self.memory = memory
            self.borrowed = True
            self.table.entries = <Entry *> &memory[0]
            self.table.mask = buckets_in(memory.shape[0] * sizeof(u64)) - 1
            self.table.salt = salt
        for i in range(TRUSTS):
            self.presumed[i] = self.table
            self.presumed[i].salt ^= PRESUMED_SALT + i
        for i in range(threads):
            init_search(&self.searches[i], &self.geometry, wof)
            self.searches[i].evaluation = self.evaluation
            self.searches[i].table = &self.table
            self.searches[i].presumed = self.presumed
            self.searches[i].shared = self.shared
            self.searches[i].parallel = threads > 1
            if not open_table(&self.searches[i].local, LOCAL_BYTES):
                raise MemoryError("no memory for the table of a thread")
        self.set_options()

    def __dealloc__(self):
        cdef int i
        if self.searches:
            for i in range(self.threads):
                free(self.searches[i].local.entries)
        free_geometry(&self.geometry)
        if not self.borrowed:
            free(self.table.entries)
        free(self.searches)
        if self.evaluation:
            free(self.evaluation.weights)
        free(self.evaluation)
        free(self.shared)

    # -- set-up ------------------------------------------------------------------------

    def set_options(self, bint table=True, bint symmetry=True, bint stability=True,
                    bint enhanced=True, bint parity=True, bint evaluation=True,
                    bint lookahead=True, bint probable=True, bint presumed=True):
        """Switch techniques on and off; none changes a result."""
        cdef int i
        for i in range(self.threads):
            self.searches[i].options.table = table
            self.searches[i].options.symmetry = symmetry
            self.searches[i].options.stability = stability
            self.searches[i].options.enhanced = enhanced
            self.searches[i].options.parity = parity
            self.searches[i].options.evaluation = evaluation and self.evaluation.weights != NULL
            self.searches[i].options.lookahead = lookahead
            self.searches[i].options.probable = probable
            self.searches[i].options.presumed = (presumed and table
                                                 and self.evaluation.weights != NULL)

    def set_patterns(self, instances, int phase_span):
        """Define the pattern instances: for each, where its weights start, and its squares."""
        cdef Evaluation *e = self.evaluation
        if len(instances) > LANES:
            raise ValueError(f"{len(instances)} pattern instances; at most {LANES} fit")
        free(e.weights)
        memset(e, 0, sizeof(Evaluation))
        e.instances = len(instances)
        for i, (offset, squares) in enumerate(instances):
            e.offset[i] = offset
            e.complement.lane[i] = 3 ** len(squares) - 1
            for power, square in enumerate(squares):
                e.value[square].lane[i] = 3 ** power
        e.own_moves = max(offset + 3 ** len(squares) for offset, squares in instances)
        e.opponent_moves = e.own_moves + MOST_MOVES
        e.phase_size = e.opponent_moves + MOST_MOVES
        for i in range(65):
            e.phase[i] = i // phase_span

    def set_weights(self, const int16_t[::1] weights):
        """The weights of all phases, one after the other, in grains."""
        cdef int i
        if weights.shape[0] < (self.evaluation.phase[64] + 1) * self.evaluation.phase_size:
            raise ValueError(f"{weights.shape[0]} weights are too few")
        free(self.evaluation.weights)
        self.evaluation.weights = <int16_t *> allocate_table(weights.nbytes)
        if self.evaluation.weights == NULL:
            raise MemoryError(f"no memory for {weights.shape[0]} weights")
        memcpy(self.evaluation.weights, &weights[0], weights.nbytes)
        for i in range(self.threads):
            memset(self.searches[i].glances, 0, sizeof(self.searches[i].glances))
        self.set_options()

    # -- rules -------------------------------------------------------------------------

    def moves(self, u64 own, u64 opponent):
        """The legal placements, each with the position after it: (square, own, opponent)."""
        cdef Candidates moves
        cdef int i
        list_moves(own, opponent, mobility(own, opponent, self.geometry.board & ~(own | opponent)),
                   &moves)
        return [(moves.item[i].square, own_after(opponent, &moves.item[i]),
                 opponent_after(own, &moves.item[i])) for i in range(moves.count)]

    def stable(self, u64 own, u64 opponent):
        return stable_discs(&self.geometry, own, opponent)

    def canonical(self, u64 own, u64 opponent):
        fold(self.searches, &own, &opponent)
        return own, opponent

    def perft(self, u64 own, u64 opponent, int depth):
        """Lines of `depth` plies; a pass is a ply, a game that ends earlier counts once."""
        cdef u64 count
        with nogil:
            count = perft(self.geometry.board, own, opponent, depth)
        return count

    def expand(self, const uint8_t[::1] keys):
        """The canonical children of positions given by key: their keys, and how many each has."""
        cdef Py_ssize_t parents = keys.shape[0] // 16
        cdef u64 own, opponent
        cdef Py_ssize_t i
        cdef int count
        cdef Py_ssize_t total = 0
        children = bytearray(parents * MOST_CANDIDATES * 16)
        counts = [0] * parents
        cdef uint8_t[::1] out = children
        for i in range(parents):
            own = read_board(&keys[16 * i])
            opponent = read_board(&keys[16 * i + 8])
            if own & opponent or (own | opponent) & ~self.geometry.board:
                raise ValueError(f"key {i} is no position of this board")
            count = expand(self.searches, own, opponent, &out[16 * total])
            counts[i] = count
            total += count
        del out
        del children[16 * total:]
        return bytes(children), counts

    # -- solving -----------------------------------------------------------------------

    def prepare(self, int empties, node_budget=None, age=None):
        """Before the threads of a search call `run`.

        What is in the table is older than this search, unless `age` says how old it is.
        """
        cdef int i
        self.shared.stop = RUNNING
        memset(<void *> self.shared.busy, 0, sizeof(self.shared.busy))
        self.limit(node_budget)
        self.table.age = self.table.age + 1 if age is None else age & 255
        for i in range(TRUSTS):
            self.presumed[i].age = self.table.age
        for i in range(self.threads):
            self.searches[i].nodes = 0
            self.searches[i].stopped = False
            self.searches[i].trust = 0
            self.searches[i].root_move = NO_MOVE
            self.searches[i].root_done = 0
            self.searches[i].root_empties = empties

    def limit(self, node_budget):
        """Stop when about this number of nodes were visited since `prepare`; None is no limit."""
        self.shared.node_budget = <u64> -1
        if node_budget is not None:
            self.shared.node_budget = max(node_budget // self.threads, 1)

    def presume(self, int trust):
        """Begin a pass in which `run` proves nothing, or end it (0); whether there are passes here.

        The more trust in the evaluation, the quicker the pass: at most TRUSTS.
        """
        cdef int i
        for i in range(self.threads):
            self.searches[i].trust = trust if self.searches[i].options.presumed else 0
        return self.searches[0].options.presumed

    def turn_to(self, int empties):
        """Go on with another position of the same search, without a node budget."""
        cdef int i
        self.shared.node_budget = <u64> -1
        for i in range(self.threads):
            self.searches[i].root_move = NO_MOVE
            self.searches[i].root_empties = empties

    def run(self, int thread, u64 own, u64 opponent, int alpha, int beta):
        """One thread's search: score and best move, or None if it was stopped. Fail-soft:

        score <= alpha:          the true score is at most this
        alpha < score < beta:    the true score
        score >= beta:           the true score is at least this

        All this is only likely in a pass that presumes.
        """
        cdef Search *s = &self.searches[thread]
        cdef Configuration shown
        cdef int score
        cdef int empties = popcount(self.geometry.board & ~(own | opponent))
        with nogil:
            s.stopped = False
            configure(self.evaluation, own, opponent, self.geometry.board, &shown)
            score = search_upper(s, own, opponent, &shown, alpha, beta, empties,
                                 parity_of(s, own, opponent))
            if s.parallel and not s.stopped:
                change_once(&s.shared.stop, RUNNING, FINISHED)
        return None if s.stopped else (score, s.root_move)

    def resume(self):
        """After an answer, before the next question of the same search."""
        change_once(&self.shared.stop, FINISHED, RUNNING)

    def abort(self):
        self.shared.stop = ABORTED

    @property
    def status(self):
        return STATUS[self.shared.stop]

    @property
    def nodes(self):
        return sum(self.searches[i].nodes for i in range(self.threads))

    @property
    def root_done(self):
        return max(self.searches[i].root_done for i in range(self.threads))

    def textbook(self, u64 own, u64 opponent, str algorithm, int alpha, int beta, orders):
        """Score and best move by an algorithm as the books have it, moves in the given orders;
        None if it was stopped. Fail-soft or fail-hard: see `run_textbook`.
        """
        cdef Search *s = self.searches
        cdef Textbook book
        cdef int score
        memset(&book, 0, sizeof(book))
        for order in orders:
            book.orders |= 1 << ORDERS.index(order)
        cdef int method = METHODS.index(algorithm)
        with nogil:
            score = run_textbook(s, &book, method, own, opponent, alpha, beta)
        return None if s.stopped else (score, book.best)

    def guess(self, u64 own, u64 opponent):
        """An estimate of the score; None without weights."""
        cdef int grains
        if self.evaluation.weights == NULL:
            return None
        with nogil:
            grains = expected_grains(self.searches, own, opponent, EXPECTED_PLIES)
        return round(grains / GRAINS)

    def look(self, u64 own, u64 opponent, int plies, int alpha, int beta, u64 node_budget):
        """The trained evaluation `plies` plies ahead, in grains, and the nodes this took; fail-soft
        and see `look_trained`. None without weights."""
        cdef Search *s = self.searches
        cdef Configuration shown
        cdef u64 before = s.nodes
        cdef int grains
        if self.evaluation.weights == NULL:
            return None
        with nogil:
            configure(s.evaluation, own, opponent, s.board, &shown)
            grains = look_trained(s, own, opponent, &shown, popcount(s.board & ~(own | opponent)),
                                  plies, alpha, beta, before + node_budget)
        return grains, s.nodes - before

    def efforts(self, u64 own, u64 opponent, int threshold):
        """What proving a score of at least and of less than `threshold` probably costs, in bits
        (log2 of nodes); None without weights."""
        cdef int reach, hold
        if self.evaluation.weights == NULL:
            return None
        with nogil:
            expected_efforts(self.searches, own, opponent, threshold, &reach, &hold)
        return reach / <double> BIT, hold / <double> BIT

    def guess_all(self, const u64[:, ::1] boards, int plies):
        """What many positions (own, opponent) are worth, looking so many plies ahead, without the
        GIL meanwhile; None without weights."""
        cdef Py_ssize_t count = boards.shape[0]
        cdef Py_ssize_t i
        if self.evaluation.weights == NULL or not count:
            return None
        cdef int[::1] grains = array("i", bytes(count * sizeof(int)))
        with nogil:
            for i in range(count):
                grains[i] = expected_grains(self.searches, boards[i, 0], boards[i, 1], plies)
        return [round(grains[i] / GRAINS) for i in range(count)]

    def efforts_all(self, const u64[:, ::1] boards, const int[::1] thresholds):
        """`efforts` for many positions (own, opponent), without the GIL meanwhile."""
        cdef Py_ssize_t count = min(boards.shape[0], thresholds.shape[0])
        cdef Py_ssize_t i
        if self.evaluation.weights == NULL or not count:
            return None
        cdef int[::1] costs = array("i", bytes(2 * count * sizeof(int)))
        with nogil:
            for i in range(count):
                expected_efforts(self.searches, boards[i, 0], boards[i, 1], thresholds[i],
                                 &costs[2 * i], &costs[2 * i + 1])
        return [(costs[2 * i] / <double> BIT, costs[2 * i + 1] / <double> BIT)
                for i in range(count)]

    # -- the table ---------------------------------------------------------------------

    def clear(self):
        cdef int i
        clear_table(&self.table)
        for i in range(self.threads):
            clear_table(&self.searches[i].local)
            memset(self.searches[i].glances, 0, sizeof(self.searches[i].glances))

    def tell(self, u64 own, u64 opponent, int lo, int hi):
        """Put what is known about a position into the table, to stay."""
        cdef int symmetry
        cdef int empties = popcount(self.geometry.board & ~(own | opponent))
        cdef u64 hash = table_name(self.searches, &own, &opponent, empties, &symmetry)
        store(&self.table, own, opponent, hash, lo, hi, NO_MOVE, KEPT_EFFORT)

    def ask(self, u64 own, u64 opponent):
        """What the table knows about a position: lo, hi, best move; None if nothing."""
        cdef int symmetry
        cdef Facts facts
        cdef int empties = popcount(self.geometry.board & ~(own | opponent))
        cdef u64 hash = table_name(self.searches, &own, &opponent, empties, &symmetry)
        if not probe(&self.table, own, opponent, hash, &facts):
            return None
        return facts.lo, facts.hi, unfold_square(self.searches, facts.best, symmetry)

    def dump(self, int least_effort):
        """All entries that took at least 2^least_effort nodes, as bytes."""
        cdef u64 i
        cdef u64 count = 0
        cdef u64 entries = 2 * (self.table.mask + 1)
        cdef Entry *entry
        for i in range(entries):
            count += worth_keeping(&self.table, &self.table.entries[i], least_effort)
        records = bytearray(count * RECORD_BYTES)
        if not count:
            return bytes(records)
        cdef u64[::1] out = memoryview(records).cast("Q")
        cdef u64 at = 0
        for i in range(entries):
            entry = &self.table.entries[i]
            if worth_keeping(&self.table, entry, least_effort) and at < 3 * count:
                out[at] = entry.own
                out[at + 1] = entry.opponent
                out[at + 2] = entry.facts
                at += 3
        del out
        return bytes(records)

    def load(self, const uint8_t[::1] records):
        """Put dumped entries back; `ValueError`, and none is, if one of them cannot be true."""
        cdef const u64[::1] words
        cdef Facts facts
        cdef Py_ssize_t i
        cdef int most = self.searches[0].squares
        if records.shape[0] == 0:
            return
        if records.shape[0] % RECORD_BYTES:
            raise ValueError("half a record")
        words = memoryview(records).cast("Q")
        for i in range(0, words.shape[0] - 2, 3):
            facts = unpack_facts(words[i + 2])
            if (words[i] & words[i + 1] or (words[i] | words[i + 1]) & ~self.geometry.board
                    or not -most <= facts.lo <= facts.hi <= most
                    or (facts.best > 63 and facts.best != NO_MOVE)):
                raise ValueError("a record of no position")
        for i in range(0, words.shape[0] - 2, 3):
            facts = unpack_facts(words[i + 2])
            store(&self.table, words[i], words[i + 1], hash_boards(words[i], words[i + 1]),
                  facts.lo, facts.hi, facts.best, facts.effort)

    # -- training ----------------------------------------------------------------------

    def sample(self, u64[::1] own, u64[::1] opponent, int16_t[::1] score, u64 seed, int fewest,
               int most, int exact, int depth):
        """Fill the arrays with random positions of `fewest` to `most` empties and their scores.

        Scores are in grains: exact up to `exact` empties, beyond that by a search of `depth`
        plies with the weights set so far.
        """
        cdef Py_ssize_t i
        self.prepare(0)
        with nogil:
            for i in range(own.shape[0]):
                score[i] = sample_position(self.searches, &own[i], &opponent[i], &seed, fewest,
                                           most, exact, depth)

    def configurations(self, const u64[::1] own, const u64[::1] opponent, uint16_t[:, ::1] out):
        """What each pattern instance shows, and how many moves both sides have, by position."""
        cdef Evaluation *e = self.evaluation
        cdef Configuration shown
        cdef Py_ssize_t i
        cdef u64 empty
        cdef int k
        with nogil:
            for i in range(own.shape[0]):
                configure(e, own[i], opponent[i], self.geometry.board, &shown)
                for k in range(e.instances):
                    out[i, k] = shown.lane[k]
                empty = self.geometry.board & ~(own[i] | opponent[i])
                k = e.instances
                out[i, k] = min(popcount(mobility(own[i], opponent[i], empty)), MOST_MOVES - 1)
                out[i, k + 1] = min(popcount(mobility(opponent[i], own[i], empty)), MOST_MOVES - 1)


cdef int expected_grains(Search *s, u64 own, u64 opponent, int plies) noexcept nogil:
    """The evaluation after so many plies, in grains."""
    cdef Configuration shown
    cdef int empties = popcount(s.board & ~(own | opponent))
    configure(s.evaluation, own, opponent, s.board, &shown)
    return search_estimate(s, own, opponent, &shown, empties, plies, -WIDEST, WIDEST)


cdef bint worth_keeping(const Table *table, const Entry *entry, int least_effort) noexcept nogil:
    """Whether to dump an entry: it is ours, took some effort, and was not torn in writing."""
    cdef u64 hash = hash_boards(entry.own, entry.opponent)
    return (effort_of(entry.facts) > least_effort
            and entry.check == checksum(table, hash, entry.facts))


cdef u64 perft(u64 board, u64 own, u64 opponent, int depth) noexcept nogil:
    cdef u64 empty = board & ~(own | opponent)
    cdef u64 squares
    cdef u64 count = 0
    cdef Candidates moves
    cdef int i
    if depth == 0:
        return 1
    squares = mobility(own, opponent, empty)
    if not squares:
        if mobility(opponent, own, empty):
            return perft(board, opponent, own, depth - 1)
        return 1
    if depth == 1:
        return popcount(squares)
    list_moves(own, opponent, squares, &moves)
    for i in range(moves.count):
        count += perft(board, own_after(opponent, &moves.item[i]),
                       opponent_after(own, &moves.item[i]), depth - 1)
    return count


cdef u64 read_board(const uint8_t *key) noexcept nogil:
    """Half a key: eight bytes, the most significant first."""
    cdef u64 board = 0
    cdef int i
    for i in range(8):
        board = board << 8 | key[i]
    return board


cdef void write_board(uint8_t *key, u64 board) noexcept nogil:
    cdef int i
    for i in range(8):
        key[i] = board >> 8 * (7 - i) & 255


cdef int expand(const Search *s, u64 own, u64 opponent, uint8_t *out) noexcept nogil:
    """Write the keys of the distinct canonical children; how many there are."""
    cdef u64 empty = s.board & ~(own | opponent)
    cdef u64 squares = mobility(own, opponent, empty)
    cdef u64 owns[MOST_CANDIDATES]
    cdef u64 opponents[MOST_CANDIDATES]
    cdef Candidates moves
    cdef int count = 0
    cdef int i, k
    if not squares:
        if not mobility(opponent, own, empty):
            return 0
        owns[0] = opponent
        opponents[0] = own
        fold(s, &owns[0], &opponents[0])
        count = 1
    else:
        list_moves(own, opponent, squares, &moves)
        for i in range(moves.count):
            owns[count] = own_after(opponent, &moves.item[i])
            opponents[count] = opponent_after(own, &moves.item[i])
            fold(s, &owns[count], &opponents[count])
            k = 0
            while owns[k] != owns[count] or opponents[k] != opponents[count]:
                k += 1
            if k == count:
                count += 1
    for i in range(count):
        write_board(out + 16 * i, owns[i])
        write_board(out + 16 * i + 8, opponents[i])
    return count
