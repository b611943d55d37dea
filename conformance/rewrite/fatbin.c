/* fatbin.c - see fatbin.h */
#define _GNU_SOURCE /* memmem */
#include "fatbin.h"

#include "cubin.h"

#include <stdlib.h>
#include <string.h>

#if PDL_HAVE_LZ4
#include <lz4.h>
#endif
#if PDL_HAVE_ZSTD
#include <zstd.h>
#endif

enum { CONTAINER_HEADER = 16, LEAST_ENTRY_HEADER = 64, PADDING = 8, LEAST_REWRITABLE = 90 };
static const uint32_t container_magic = 0xBA55ED50;
static const uint64_t flag_lz4 = 0x2000, flag_zstd = 0x8000, flag_architecture = 0x100000, flag_family = 0x200000;
static const uint64_t largest_contents = UINT64_C(1) << 31, largest_expansion = 4096;

/* Where the numbers stand in an entry's header. */
enum {
    AT_KIND = 0, AT_HEADER_SIZE = 4, AT_PAYLOAD_SIZE = 8, AT_STORED = 16, AT_ARCHITECTURE = 28, AT_FLAGS = 40, AT_CONTENTS = 56
};

size_t fatbin_extent(const void *container, size_t most)
{
    const unsigned char *data = container;
    if (most < CONTAINER_HEADER || read32(data) != container_magic || read16(data + 4) != 1
        || read16(data + 6) != CONTAINER_HEADER) {
        return 0;
    }
    uint64_t size = read64(data + 8);
    return size <= most - CONTAINER_HEADER ? (size_t)size + CONTAINER_HEADER : 0;
}

static void read_entry(const unsigned char *head, struct fatbin_entry *entry)
{
    uint64_t flags = read64(head + AT_FLAGS);
    uint32_t stored = read32(head + AT_STORED);
    entry->kind = read16(head + AT_KIND);
    entry->architecture = read32(head + AT_ARCHITECTURE);
    entry->variant = flags & flag_architecture ? 'a' : flags & flag_family ? 'f' : 0;
    entry->compression = flags & flag_zstd ? COMPRESSION_ZSTD : flags & flag_lz4 ? COMPRESSION_LZ4 : COMPRESSION_NONE;
    entry->stored = entry->compression && stored && stored <= entry->payload_size ? stored : entry->payload_size;
    entry->contents = entry->compression ? (size_t)read64(head + AT_CONTENTS) : entry->payload_size;
}

int fatbin_next(const void *container, size_t extent, size_t *at, struct fatbin_entry *entry, const char **wrong)
{
    const unsigned char *data = container;
    const char *ignored;
    wrong = wrong ? wrong : &ignored;
    *wrong = NULL;
    *at = *at ? *at : CONTAINER_HEADER;
    if (*at >= extent) {
        return 0;
    }
    if (extent - *at < LEAST_ENTRY_HEADER) {
        *wrong = "the container ends inside the header of an image";
        return 0;
    }
    entry->head = data + *at;
    entry->head_size = read32(entry->head + AT_HEADER_SIZE);
    uint64_t payload = read64(entry->head + AT_PAYLOAD_SIZE);
    if (entry->head_size < LEAST_ENTRY_HEADER || entry->head_size > extent - *at || payload > extent - *at - entry->head_size) {
        *wrong = "an image lies past the end of the container";
        return 0;
    }
    entry->payload = entry->head + entry->head_size;
    entry->payload_size = (size_t)payload;
    read_entry(entry->head, entry);
    *at += entry->head_size + entry->payload_size;
    return 1;
}

static const char *unpack_lz4(const struct fatbin_entry *entry, void *data)
{
#if PDL_HAVE_LZ4
    int got = LZ4_decompress_safe((const char *)entry->payload, data, (int)entry->stored, (int)entry->contents);
    return got >= 0 && (size_t)got == entry->contents ? NULL : "it is compressed with LZ4 and damaged";
#else
    (void)entry, (void)data;
    return "it is compressed with LZ4, which this build of the kit cannot read";
#endif
}

static const char *unpack_zstd(const struct fatbin_entry *entry, void *data)
{
#if PDL_HAVE_ZSTD
    size_t got = ZSTD_decompress(data, entry->contents, entry->payload, entry->stored);
    return !ZSTD_isError(got) && got == entry->contents ? NULL : "it is compressed with Zstandard and damaged";
#else
    (void)entry, (void)data;
    return "it is compressed with Zstandard, which this build of the kit cannot read";
#endif
}

const char *fatbin_contents(const struct fatbin_entry *entry, const void **data, size_t *size, int *owned)
{
    *owned = entry->compression != COMPRESSION_NONE;
    *size = entry->contents;
    if (!*owned) {
        *data = entry->payload;
        return NULL;
    }
    if (entry->contents == 0 || entry->contents >= largest_contents || entry->stored >= largest_contents
        || entry->contents / largest_expansion > entry->stored) {
        return "its sizes cannot be right";
    }
    void *room = malloc(entry->contents);
    if (room == NULL) {
        return "there is no memory to unpack it";
    }
    const char *wrong = entry->compression == COMPRESSION_LZ4 ? unpack_lz4(entry, room) : unpack_zstd(entry, room);
    if (wrong) {
        free(room);
        room = NULL;
    }
    *data = room;
    return wrong;
}

const void *fatbin_find(const void *file, size_t size, size_t *at, size_t *extent)
{
    const unsigned char *data = file;
    while (*at < size) {
        const unsigned char *found = memmem(data + *at, size - *at, &container_magic, sizeof container_magic);
        if (found == NULL) {
            break;
        }
        *extent = fatbin_extent(found, size - (size_t)(found - data));
        *at = (size_t)(found - data) + (*extent ? *extent : sizeof container_magic);
        if (*extent > CONTAINER_HEADER) {
            return found;
        }
    }
    return NULL;
}

int runs_on(unsigned architecture, unsigned device)
{
    return architecture / 10 == device / 10 && architecture <= device;
}

/* ---- a container with some images replaced ------------------------------------------------------------------------- */

struct replacement {
    size_t entry_at; /* where its entry begins in the old container */
    void *image;
    size_t size;
};

struct replacements {
    struct replacement *list;
    size_t count, room;
};

static int note_replacement(struct replacements *all, size_t entry_at, void *image, size_t size)
{
    if (all->count == all->room) {
        size_t room = all->room ? 2 * all->room : 8;
        struct replacement *list = realloc(all->list, room * sizeof *list);
        if (list == NULL) {
            return 0;
        }
        all->list = list;
        all->room = room;
    }
    all->list[all->count++] = (struct replacement){entry_at, image, size};
    return 1;
}

static int is_wanted(const struct fatbin_entry *entry, unsigned device)
{
    return entry->kind == FATBIN_ELF && entry->architecture >= LEAST_REWRITABLE
        && (device == 0 || runs_on(entry->architecture, device));
}

/* The rewritten image of an entry, NULL if there is none. */
static void *rewrite_entry(const struct fatbin_entry *entry, const struct fatbin_rewriting *how, size_t *size)
{
    const void *data = NULL;
    void *changed = NULL;
    size_t length = 0;
    int owned = 0;
    enum rewrite_result result = REWRITE_IMPOSSIBLE;
    const char *why = fatbin_contents(entry, &data, &length, &owned);
    if (why == NULL) {
        result = rewrite_cubin(data, length, &how->how, &changed, size, &why);
    }
    if (result == REWRITE_IMPOSSIBLE && how->passed) {
        how->passed(how->how.context, entry, why);
    }
    if (owned) {
        free((void *)data);
    }
    return changed;
}

static size_t padded(size_t size)
{
    return (size + PADDING - 1) / PADDING * PADDING;
}

static unsigned char *write_entry(unsigned char *out, const struct fatbin_entry *entry, const struct replacement *by)
{
    memcpy(out, entry->head, entry->head_size);
    if (by == NULL) {
        memcpy(out + entry->head_size, entry->payload, entry->payload_size);
        return out + entry->head_size + entry->payload_size;
    }
    write64(out + AT_PAYLOAD_SIZE, padded(by->size));
    write32(out + AT_STORED, 0);
    write64(out + AT_FLAGS, read64(out + AT_FLAGS) & ~(flag_lz4 | flag_zstd));
    write64(out + AT_CONTENTS, 0);
    out += entry->head_size;
    memcpy(out, by->image, by->size);
    memset(out + by->size, 0, padded(by->size) - by->size);
    return out + padded(by->size);
}

static void *write_container(const void *container, size_t extent, const struct replacements *all, size_t *size)
{
    struct fatbin_entry entry;
    size_t at = 0, begins = CONTAINER_HEADER, next = 0, most = extent;
    for (size_t i = 0; i < all->count; i++) {
        most += padded(all->list[i].size);
    }
    unsigned char *out = malloc(most), *end = out;
    if (out == NULL) {
        return NULL;
    }
    memcpy(out, container, CONTAINER_HEADER);
    end += CONTAINER_HEADER;
    while (fatbin_next(container, extent, &at, &entry, NULL)) {
        int replaced = next < all->count && all->list[next].entry_at == begins;
        end = write_entry(end, &entry, replaced ? &all->list[next] : NULL);
        next += (size_t)replaced;
        begins = at;
    }
    *size = (size_t)(end - out);
    write64(out + 8, *size - CONTAINER_HEADER);
    return out;
}

enum rewrite_result rewrite_fatbin(const void *container, size_t extent, const struct fatbin_rewriting *how, void **out,
                                   size_t *out_size, const char **why)
{
    struct replacements all = {NULL, 0, 0};
    struct fatbin_entry entry;
    size_t at = 0, begins = CONTAINER_HEADER, size = 0;
    int short_of_memory = 0;

    *out = NULL;
    while (fatbin_next(container, extent, &at, &entry, why)) {
        if (entry.kind == FATBIN_PTX && how->passed) {
            how->passed(how->how.context, &entry, "PTX");
        }
        void *changed = is_wanted(&entry, how->device) ? rewrite_entry(&entry, how, &size) : NULL;
        if (changed && !note_replacement(&all, begins, changed, size)) {
            free(changed);
            short_of_memory = 1;
        }
        begins = at;
    }
    if (*why == NULL && !short_of_memory && all.count) {
        *out = write_container(container, extent, &all, out_size);
        short_of_memory = *out == NULL;
    }
    for (size_t i = 0; i < all.count; i++) {
        free(all.list[i].image);
    }
    free(all.list);
    *why = short_of_memory ? "there is no memory for the new container" : *why;
    return *why ? REWRITE_IMPOSSIBLE : *out ? REWRITE_DONE : REWRITE_UNCHANGED;
}
