/* Bit operations on 8x8 boards; square = 8 * row + column, a1 is bit 0.
 *
 *     a  b  c  d  e  f  g  h
 * 1   0  1  2  3  4  5  6  7
 * 2   8  9 10 11 12 13 14 15
 *    ...
 * 8  56 57 58 59 60 61 62 63
 */
#ifndef ZERMELO_BITS_H
#define ZERMELO_BITS_H

#include <stdint.h>
#include <stdlib.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

typedef uint64_t u64;
typedef uint16_t u16;

/* Where the compiler shall not decide by size: what a search does all the time, and what it does
 * seldom and would take the registers of the rest. */
#define ALWAYS_INLINE inline __attribute__((always_inline))
#define NEVER_INLINE __attribute__((noinline))

_Static_assert(sizeof(u64) == 8, "a board is 64 bits");

static inline int popcount(u64 b) { return __builtin_popcountll(b); }
static inline int first_bit(u64 b) { return __builtin_ctzll(b); }
static inline int last_bit(u64 b) { return 63 - __builtin_clzll(b); }
static inline u64 rotate_left(u64 b, int n) { return (b << n) | (b >> (64 - n)); }

/* Rows upside down. */
static inline u64 mirror_rows(u64 b) { return __builtin_bswap64(b); }

/* Columns left to right: swap neighbours, then pairs, then halves of every byte. */
static inline u64 mirror_cols(u64 b) {
    b = ((b >> 1) & 0x5555555555555555ULL) | ((b & 0x5555555555555555ULL) << 1);
    b = ((b >> 2) & 0x3333333333333333ULL) | ((b & 0x3333333333333333ULL) << 2);
    return ((b >> 4) & 0x0f0f0f0f0f0f0f0fULL) | ((b & 0x0f0f0f0f0f0f0f0fULL) << 4);
}

/* Rows become columns: exchange 1x1, then 2x2, then 4x4 blocks across the diagonal. */
static inline u64 transpose(u64 b) {
    u64 t = (b ^ (b >> 7)) & 0x00aa00aa00aa00aaULL;
    b ^= t ^ (t << 7);
    t = (b ^ (b >> 14)) & 0x0000cccc0000ccccULL;
    b ^= t ^ (t << 14);
    t = (b ^ (b >> 28)) & 0x00000000f0f0f0f0ULL;
    return b ^ t ^ (t << 28);
}

/* Well spread 64 bits of the two boards of a position. */
static inline u64 hash_boards(u64 own, u64 opponent) {
    u64 h = (own + 0x9e3779b97f4a7c15ULL) * 0xd6e8feb86659fd93ULL;
    h = rotate_left(h, 32) ^ (opponent * 0xa0761d6478bd642fULL);
    h *= 0xe7037ed1a0b428dbULL;
    return h ^ (h >> 31);
}

/* A stop flag that several threads set: only the first change from `before` counts. */
static inline void change_once(volatile int *flag, int before, int after) {
    (void)__sync_bool_compare_and_swap(flag, before, after);
}

/* Zeroed memory, in huge pages where the system has them: what a search accesses at random
 * misses in the page tables otherwise, and each such miss costs as much as the access itself.
 * From 64 KiB on it is rounded up to whole huge pages of 2 MiB. NULL when there is not enough.
 * Released with free(). */
static inline void *allocate_table(size_t bytes) {
    void *memory = NULL;
    size_t alignment = (size_t)1 << 21;
    if (bytes < (size_t)1 << 16)
        alignment = 64;
    else
        bytes = (bytes + alignment - 1) & ~(alignment - 1);
    if (posix_memalign(&memory, alignment, bytes)) return NULL;
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (alignment > 64) (void)madvise(memory, bytes, MADV_HUGEPAGE);
#endif
    __builtin_memset(memory, 0, bytes);
    return memory;
}

#endif
