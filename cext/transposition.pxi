# The transposition table: what is proved about positions met before.
#
# A bucket is one cache line of two entries:
#
#     entry   own 8 | opponent 8 | facts 8 | check 8   bytes
#     facts   lo 8 | hi 8 | best 8 | second 8 | effort 8 | age 8   bits, from the lowest
#
# The whole position is stored, so no two positions are ever taken for each other. Threads
# read and write without locks; `check` ties the four words together, and an entry that
# another thread is half through writing does not match and counts as absent. The same holds
# between processes that map one table. `salt` is different for every game, so that entries
# of several games can live in one table and never match each other's positions.
#
# Replacement: the first entry keeps what was most expensive to find out (`effort`, the
# logarithm of the nodes spent) during this search or the last; the second takes whatever
# comes. What the first gives up moves to the second.

cdef enum:
    NO_MOVE = 64

cdef struct Entry:
    u64 own
    u64 opponent
    u64 facts
    u64 check

cdef struct Table:
    Entry *entries
    u64 mask         # number of buckets - 1
    u64 salt         # part of every check
    int age

cdef struct Facts:
    int lo
    int hi
    int best
    int second
    int effort


cdef u64 buckets_in(size_t size) noexcept nogil:
    """How many buckets a table of at most `size` bytes has: a power of two."""
    cdef u64 buckets = 1
    while buckets * 2 * 2 * sizeof(Entry) <= size:
        buckets *= 2
    return buckets


cdef bint open_table(Table *table, size_t size) noexcept nogil:
    """A table of its own; false when there is no memory for it."""
    cdef u64 buckets = buckets_in(size)
    table.mask = buckets - 1
    table.entries = <Entry *> allocate_table(buckets * 2 * sizeof(Entry))
    return table.entries != NULL


cdef void clear_table(Table *table) noexcept nogil:
    memset(table.entries, 0, (table.mask + 1) * 2 * sizeof(Entry))


cdef inline u64 pack_facts(int lo, int hi, int best, int second, int effort,
                           int age) noexcept nogil:
    return (<u64> <uint8_t> lo | <u64> <uint8_t> hi << 8 | <u64> best << 16 | <u64> second << 24
            | <u64> effort << 32 | <u64> <uint8_t> age << 40)


cdef inline void unpack_facts(u64 packed, Facts *facts) noexcept nogil:
    facts.lo = <int8_t> (packed & 255)
    facts.hi = <int8_t> (packed >> 8 & 255)
    facts.best = packed >> 16 & 255
    facts.second = packed >> 24 & 255
    facts.effort = packed >> 32 & 255


cdef inline u64 checksum(const Table *table, u64 hash, u64 packed) noexcept nogil:
    return table.salt ^ hash ^ packed * <u64> 0x9fb21c651e98df25


cdef inline Entry *bucket_of(const Table *table, u64 hash) noexcept nogil:
    return table.entries + 2 * (hash & table.mask)


cdef inline bint probe(const Table *table, u64 own, u64 opponent, u64 hash,
                       Facts *facts) noexcept nogil:
    """Whether anything is stored about this position; if so, `facts` says what."""
    cdef Entry *entry = bucket_of(table, hash)
    cdef int slot
    cdef u64 packed
    for slot in range(2):
        if entry.own == own and entry.opponent == opponent:
            packed = entry.facts
            if entry.check == checksum(table, hash, packed):
                unpack_facts(packed, facts)
                return True
        entry += 1
    return False


cdef inline void write_entry(const Table *table, Entry *entry, u64 own, u64 opponent, u64 hash,
                             u64 packed) noexcept nogil:
    entry.own = own
    entry.opponent = opponent
    entry.facts = packed
    entry.check = checksum(table, hash, packed)


cdef inline int effort_of(u64 packed) noexcept nogil:
    return packed >> 32 & 255


cdef inline int age_of(u64 packed) noexcept nogil:
    return packed >> 40 & 255


cdef inline void store(Table *table, u64 own, u64 opponent, u64 hash, int lo, int hi,
                       int best, int effort) noexcept nogil:
    """Record a proved bound; what was known about the position before stays true with it."""
    cdef Entry *first = bucket_of(table, hash)
    cdef Entry *entry = first
    cdef Facts old
    cdef int second = NO_MOVE
    cdef int slot
    cdef bint raises
    for slot in range(2):
        if entry.own == own and entry.opponent == opponent \
                and entry.check == checksum(table, hash, entry.facts):
            unpack_facts(entry.facts, &old)
            raises = lo > old.lo
            lo = max(lo, old.lo)
            hi = min(hi, old.hi)
            effort = max(effort, old.effort)
            if best == NO_MOVE or best == old.best:
                best = old.best
                second = old.second
            elif raises or old.best == NO_MOVE:
                second = old.best
            else:
                # Only a bound from above is new: the move that proved `lo` stays in front.
                second = best
                best = old.best
            write_entry(table, entry, own, opponent, hash,
                        pack_facts(lo, hi, best, second, effort, table.age))
            return
        entry += 1
    cdef u64 packed = pack_facts(lo, hi, best, second, effort, table.age)
    if effort >= effort_of(first.facts) or age_of(first.facts) != <uint8_t> table.age:
        first[1] = first[0]
        write_entry(table, first, own, opponent, hash, packed)
    else:
        write_entry(table, first + 1, own, opponent, hash, packed)


cdef inline int log_effort(u64 nodes) noexcept nogil:
    """The effort byte of a subtree: the number of bits of its node count."""
    return last_bit(nodes | 1) + 1
