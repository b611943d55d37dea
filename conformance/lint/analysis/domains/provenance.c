/* provenance.c - sets of provenance, and the index and the arrays kept once that expressions and constraints are made of, too. */
#include "domains/values_private.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 1024, CHUNK_BYTES = 1 << 18 };

/* An index ------------------------------------------------------------------------------------------------------- */

static void index_insert(struct index *index, uint32_t n)
{
    size_t at = index->hashes[n];

    while (index->slots[at & (index->capacity - 1)])
        at++;
    index->slots[at & (index->capacity - 1)] = n;
}

static void index_resize(struct index *index, size_t capacity)
{
    uint32_t n;

    index->slots = grown(index->slots, &index->capacity, capacity, sizeof(*index->slots));
    for (capacity = 1; capacity * 2 <= index->capacity; capacity *= 2)
        ;
    index->capacity = capacity; /* a power of two, whatever capacity grown() chose */
    memset(index->slots, 0, index->capacity * sizeof(*index->slots));
    for (n = 1; n <= index->count; n++)
        index_insert(index, n);
}

/* Each run of used slots that begins at a used thing's place is emptied: together these are all. */
static void index_clear(struct index *index)
{
    uint32_t n;
    size_t at;

    if (index->count >= index->capacity / 16) {
        memset(index->slots, 0, index->capacity * sizeof(*index->slots));
        return;
    }
    for (n = 1; n <= index->count; n++)
        for (at = index->hashes[n]; index->slots[at & (index->capacity - 1)]; at++)
            index->slots[at & (index->capacity - 1)] = 0;
}

void index_begin(struct index *index)
{
    if (index->capacity == 0)
        index_resize(index, FIRST_CAPACITY);
    index_clear(index);
    index->count = 0;
}

uint32_t index_add(struct index *index, uint32_t hash)
{
    uint32_t n = ++index->count;

    if (n >= index->hash_capacity)
        index->hashes = grown(index->hashes, &index->hash_capacity, (size_t)n * 2 + FIRST_CAPACITY, sizeof(*index->hashes));
    index->hashes[n] = hash;
    if (n >= index->capacity / 2)
        index_resize(index, index->capacity * 2);
    else
        index_insert(index, n);
    return n;
}

/* Arrays kept once ----------------------------------------------------------------------------------------------- */

void lists_begin(struct lists *lists)
{
    index_begin(&lists->index);
    lists->chunk = lists->used = 0;
}

/* Long arrays get memory of their own. */
static void *room(struct lists *lists, size_t bytes)
{
    char *start;

    bytes = (bytes + 7) & ~(size_t)7;
    if (bytes > CHUNK_BYTES / 4)
        return allocate(bytes);
    if (lists->used + bytes > CHUNK_BYTES) {
        lists->chunk++;
        lists->used = 0;
    }
    if (lists->chunk >= lists->chunk_capacity)
        lists->chunks = grown(lists->chunks, &lists->chunk_capacity, lists->chunk * 2 + 4, sizeof(*lists->chunks));
    if (!lists->chunks[lists->chunk])
        lists->chunks[lists->chunk] = allocate(CHUNK_BYTES);
    start = lists->chunks[lists->chunk] + lists->used;
    lists->used += bytes;
    return start;
}

static uint32_t hash_of(const void *elements, size_t bytes)
{
    uint32_t hash = (uint32_t)bytes, word;
    size_t i;

    for (i = 0; i < bytes; i += sizeof(word)) {
        memcpy(&word, (const char *)elements + i, sizeof(word));
        hash = mixed(hash, word) + 1;
    }
    return hash;
}

uint32_t list_kept(struct lists *lists, const void *elements, uint32_t count)
{
    size_t bytes = count * lists->element_bytes, at;
    uint32_t hash, n;
    void *copy;

    if (count == 0)
        return 0;
    hash = hash_of(elements, bytes);
    for (at = hash; (n = index_next(&lists->index, hash, &at)) != 0; at++)
        if (lists->lists[n].count == count && memcmp(lists->lists[n].elements, elements, bytes) == 0)
            return n;
    copy = memcpy(room(lists, bytes), elements, bytes);
    n = index_add(&lists->index, hash);
    if (n >= lists->capacity)
        lists->lists = grown(lists->lists, &lists->capacity, (size_t)n * 2 + FIRST_CAPACITY, sizeof(*lists->lists));
    lists->lists[n].elements = copy;
    lists->lists[n].count = count;
    return n;
}

static uint32_t *scratch(size_t wanted)
{
    static uint32_t *words;
    static size_t capacity;

    if (wanted > capacity)
        words = grown(words, &capacity, wanted * 2 + 64, sizeof(*words));
    return words;
}

uint32_t list_union(struct lists *lists, uint32_t left, uint32_t right)
{
    struct list a = list_of(lists, left), b = list_of(lists, right);
    const uint32_t *x = a.elements, *y = b.elements;
    uint32_t i = 0, j = 0, count = 0, *all;

    if (left == right || right == 0)
        return left;
    if (left == 0)
        return right;
    all = scratch((size_t)a.count + b.count);
    while (i < a.count && j < b.count) {
        uint32_t least = x[i] < y[j] ? x[i] : y[j];
        i += x[i] == least;
        j += y[j] == least;
        all[count++] = least;
    }
    while (i < a.count)
        all[count++] = x[i++];
    while (j < b.count)
        all[count++] = y[j++];
    return list_kept(lists, all, count);
}

/* Origins ---------------------------------------------------------------------------------------------------------- */

static struct lists sets = { .element_bytes = sizeof(origin) };
static struct map unions;

void provenance_begin(void)
{
    lists_begin(&sets);
    map_clear(&unions);
}

/* A value has no room for larger numbers. */
static provenance numbered(uint32_t set)
{
    if (set >> PROVENANCE_BITS)
        out_of_memory();
    return set;
}

provenance provenance_of(origin r) { return numbered(list_kept(&sets, &r, 1)); }

provenance provenance_union(provenance left, provenance right)
{
    uint64_t key = left < right ? (uint64_t)left << 32 | right : (uint64_t)right << 32 | left;
    uint32_t both;

    if (left == right || right == 0)
        return left;
    if (left == 0)
        return right;
    if (!map_get(&unions, key, &both)) {
        both = numbered(list_union(&sets, left, right));
        map_put(&unions, key, both);
    }
    return both;
}

unsigned provenance_list(provenance set, const origin **list)
{
    struct list found = list_of(&sets, set);

    *list = found.elements;
    return found.count;
}

provenance provenance_without(provenance set, bool (*drop)(origin))
{
    struct list found = list_of(&sets, set);
    const origin *list = found.elements;
    uint32_t *rest = scratch(found.count), count = 0, i;

    for (i = 0; i < found.count; i++)
        if (!drop(list[i]))
            rest[count++] = list[i];
    return count == found.count ? set : numbered(list_kept(&sets, rest, count));
}

static bool is_window(origin r) { return !(r & ORIGIN_VIA) && origin_kind(r) == ORIGIN_WINDOW; }

static int by_number(const void *a, const void *b)
{
    origin x = *(const origin *)a, y = *(const origin *)b;

    return (x > y) - (x < y);
}

provenance provenance_indirect(provenance set)
{
    struct list found = list_of(&sets, set);
    const origin *list = found.elements;
    uint32_t *via = scratch(found.count), count = 0, kept = 0, i;

    for (i = 0; i < found.count; i++)
        if (!is_window(list[i]))
            via[count++] = list[i] | ORIGIN_VIA;
    if (count > 1)
        qsort(via, count, sizeof(*via), by_number);
    for (i = 0; i < count; i++)
        if (i == 0 || via[i] != via[i - 1])
            via[kept++] = via[i];
    return numbered(list_kept(&sets, via, kept));
}

bool provenance_has_heap(provenance set)
{
    struct list found = list_of(&sets, set);
    const origin *list = found.elements;
    uint32_t i;

    for (i = 0; i < found.count; i++)
        if (list[i] == origin_of(ORIGIN_WINDOW, WINDOW_HEAP))
            return true;
    return false;
}

bool provenance_only_windows(provenance set)
{
    struct list found = list_of(&sets, set);
    const origin *list = found.elements;
    uint32_t i;

    for (i = 0; i < found.count; i++)
        if (!is_window(list[i]))
            return false;
    return found.count != 0;
}
