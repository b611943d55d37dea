/* storage.c - memory, maps of numbers, and texts that are kept once each. */
#include "analysis.h"

#include <stdlib.h>
#include <string.h>

#define NO_MEMORY 70              /* the process's status */
#define FEWEST_SLOTS 16u
#define ROOMY_SLOTS 4096u         /* a larger map that was nearly empty is given up when it is cleared */
#define TEXT_CHUNK (1u << 18)
#define LONGEST_TEXT 0x7FFFFFFFu

_Noreturn void out_of_memory(void)
{
    fputs("lint: there is not enough memory for this image.\n", stderr);
    exit(NO_MEMORY);
}

void *allocate(size_t bytes)
{
    void *memory = calloc(bytes ? bytes : 1, 1);

    if (!memory)
        out_of_memory();
    return memory;
}

void *grown(void *array, size_t *capacity, size_t wanted, size_t element_bytes)
{
    size_t more = *capacity ? *capacity : 4;

    if (wanted <= *capacity)
        return array;
    while (more < wanted)
        more = more > SIZE_MAX / 2 ? wanted : more * 2;
    if (element_bytes && more > SIZE_MAX / element_bytes)
        out_of_memory();
    array = realloc(array, more * element_bytes);
    if (!array)
        out_of_memory();
    memset((char *)array + *capacity * element_bytes, 0, (more - *capacity) * element_bytes);
    *capacity = more;
    return array;
}

/* A key is stored plus one, so that 0 is a free slot. The largest key, which that makes 0, has a slot of its own after
 * the others. */

static inline uint64_t mixed(uint64_t key)
{
    key ^= key >> 32;
    key *= 0xD6E8FEB86659FD93u;
    key ^= key >> 32;
    key *= 0xD6E8FEB86659FD93u;
    return key ^ key >> 32;
}

static inline size_t slot_of(const struct map *map, uint64_t stored)
{
    size_t last = map->capacity - 1, slot = (size_t)mixed(stored) & last;

    if (!stored)
        return map->capacity;
    while (map->keys[slot] && map->keys[slot] != stored)
        slot = (slot + 1) & last;
    return slot;
}

static void make_room(struct map *map)
{
    struct map old = *map;

    map->capacity = old.capacity ? old.capacity * 2 : FEWEST_SLOTS;
    map->keys = allocate((map->capacity + 1) * sizeof(*map->keys));
    map->values = allocate((map->capacity + 1) * sizeof(*map->values));
    for (size_t i = 0; i < old.capacity; i++) {
        if (old.keys[i]) {
            size_t slot = slot_of(map, old.keys[i]);

            map->keys[slot] = old.keys[i];
            map->values[slot] = old.values[i];
        }
    }
    if (old.capacity) {
        map->keys[map->capacity] = old.keys[old.capacity];
        map->values[map->capacity] = old.values[old.capacity];
    }
    free(old.keys);
    free(old.values);
}

bool map_get(const struct map *map, uint64_t key, uint32_t *value)
{
    size_t slot;

    if (!map->count)
        return false;
    slot = slot_of(map, key + 1);
    if (!map->keys[slot])
        return false;
    *value = map->values[slot];
    return true;
}

void map_put(struct map *map, uint64_t key, uint32_t value)
{
    uint64_t stored = key + 1;
    size_t slot;

    if ((map->count + 1) * 2 > map->capacity)
        make_room(map);
    slot = slot_of(map, stored);
    if (!map->keys[slot]) {
        map->keys[slot] = stored ? stored : 1;
        map->count++;
    }
    map->values[slot] = value;
}

void map_clear(struct map *map)
{
    if (!map->count)
        return;
    if (map->capacity > ROOMY_SLOTS && map->count < map->capacity / 8) {
        free(map->keys);
        free(map->values);
        memset(map, 0, sizeof(*map));
        return;
    }
    memset(map->keys, 0, (map->capacity + 1) * sizeof(*map->keys));
    map->count = 0;
}

/* Names: the texts one after another in large pieces of memory, and a table of their numbers by hash. */

struct text {
    const char *bytes;
    uint32_t length, hash;
};
static struct text *texts; /* by name; 0 is none */
static size_t text_capacity, text_count;
static uint32_t *slots; /* names */
static size_t slot_count;

static uint32_t hash_of(const char *text, size_t length)
{
    uint64_t hash = length * 0x9E3779B97F4A7C15u, word = 0;

    for (; length >= sizeof(word); length -= sizeof(word), text += sizeof(word)) {
        memcpy(&word, text, sizeof(word));
        hash = (hash ^ word) * 0xD6E8FEB86659FD93u;
        hash ^= hash >> 32;
    }
    word = 0;
    memcpy(&word, text, length);
    return (uint32_t)mixed(hash ^ word);
}

static const char *kept_text(const char *text, size_t length)
{
    static char *chunk;
    static size_t left;
    char *copy;

    if (length >= TEXT_CHUNK / 8) {
        copy = allocate(length + 1);
        return memcpy(copy, text, length);
    }
    if (length >= left) {
        chunk = allocate(TEXT_CHUNK);
        left = TEXT_CHUNK;
    }
    copy = memcpy(chunk, text, length);
    chunk += length + 1;
    left -= length + 1;
    return copy;
}

static size_t text_slot(const char *text, size_t length, uint32_t hash)
{
    size_t slot = hash & (slot_count - 1);

    for (; slots[slot]; slot = (slot + 1) & (slot_count - 1)) {
        const struct text *other = &texts[slots[slot]];

        if (other->hash == hash && other->length == length && !memcmp(other->bytes, text, length))
            break;
    }
    return slot;
}

static void make_room_for_name(void)
{
    size_t wanted = slot_count ? slot_count * 2 : 1u << 12;

    texts = grown(texts, &text_capacity, text_count + 2, sizeof(*texts));
    if (!text_count)
        texts[text_count++].bytes = "";
    if (text_count * 2 < slot_count)
        return;
    free(slots);
    slots = allocate(wanted * sizeof(*slots));
    slot_count = wanted;
    for (size_t i = 1; i < text_count; i++) {
        size_t slot = texts[i].hash & (slot_count - 1);

        while (slots[slot])
            slot = (slot + 1) & (slot_count - 1);
        slots[slot] = (uint32_t)i;
    }
}

name name_of(const char *text, size_t length)
{
    uint32_t hash;
    size_t slot;

    if (length > LONGEST_TEXT)
        length = LONGEST_TEXT;
    if (!length)
        text = "";
    make_room_for_name();
    hash = hash_of(text, length);
    slot = text_slot(text, length, hash);
    if (!slots[slot]) {
        if (text_count >= UINT32_MAX)
            out_of_memory();
        texts[text_count] = (struct text){kept_text(text, length), (uint32_t)length, hash};
        slots[slot] = (uint32_t)text_count++;
    }
    return slots[slot];
}

name name_of_text(const char *text)
{
    return name_of(text, strlen(text));
}

const char *text_of(name kept)
{
    return kept < text_count ? texts[kept].bytes : "";
}
