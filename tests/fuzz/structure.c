/* The compiled checks of reversi certificates, under libFuzzer and the sanitizers.
 *
 * An input is: rows, columns, scoring, then entries of 20 bytes (key, flags, move, bound). The
 * entries are also sorted, so that the index and the search for replies are reached. Whatever
 * they are, nothing is read or written out of bounds, and every answer is a place of an entry.
 *
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined -Ichecker tests/fuzz/structure.c
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reversi_structure.h"

enum { ENTRY = 20, HEAD = 3, MOST = 256 };

static int by_key(const void *one, const void *other) { return memcmp(one, other, 17); }

static void require(int holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "%s\n", what);
    abort();
}

static void check(const Rules *rules, const uint8_t *entry, uint32_t number) {
    uint8_t keys[16 * MOST], flags[MOST], moves[MOST];
    int16_t bounds[MOST];
    for (uint32_t at = 0; at < number; at++, entry += ENTRY) {
        memcpy(keys + 16 * at, entry, 16);
        flags[at] = entry[16], moves[at] = entry[17];
        bounds[at] = (int16_t)(entry[18] << 8 | entry[19]);
    }
    Entries entries = {.rules = rules, .number = number, .keys = keys, .flags = flags,
                       .moves = moves, .bounds = bounds, .seed = {0x9E3779B97F4A7C15ULL, 77}};
    Fault fault = {0, 0, 0};
    int64_t at = first_fault(&entries, &fault);
    require(at >= 0 && at <= number, "no place of an entry");
    require((at == number) == !fault.kind, "a fault without a place, or the other way round");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < HEAD + ENTRY) return 0;
    static Rules rules;
    make_rules(&rules, 4 + data[0] % 5, 4 + data[1] % 5, data[2] & 1);
    uint32_t number = (uint32_t)((size - HEAD) / ENTRY);
    if (number > MOST) number = MOST;
    uint8_t sorted[ENTRY * MOST];
    memcpy(sorted, data + HEAD, (size_t)ENTRY * number);
    check(&rules, sorted, number);
    qsort(sorted, number, ENTRY, by_key);
    check(&rules, sorted, number);
    return 0;
}
