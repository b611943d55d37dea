/* fatbin.c - see fatbin.h */
#define _GNU_SOURCE /* memmem */
#include "fatbin.h"

#include "cubin.h"
#include "fatbin_layout.h"

#include <stdlib.h>
#include <string.h>

#if PDL_HAVE_LZ4
#include <lz4.h>
static lz4_decompressor unpack_lz4 = LZ4_decompress_safe;
#else
static lz4_decompressor unpack_lz4;
#endif
#if PDL_HAVE_ZSTD
#include <zstd.h>
static zstd_decompressor unpack_zstd = ZSTD_decompress;
#else
static zstd_decompressor unpack_zstd;
#endif

static const uint64_t largest_contents = UINT64_C(1) << 31, largest_expansion = 4096;

void fatbin_use_decompressors(lz4_decompressor lz4, zstd_decompressor zstd)
{
    unpack_lz4 = lz4 ? lz4 : unpack_lz4;
    unpack_zstd = zstd ? zstd : unpack_zstd;
}

size_t fatbin_extent(const void *container, size_t most, const char **wrong)
{
    const unsigned char *data = container;
    const char *ignored;
    wrong = wrong ? wrong : &ignored;
    *wrong = NULL;
    if (most < sizeof(uint32_t) || read32(data) != CONTAINER_MAGIC) {
        return 0;
    }
    if (most < CONTAINER_HEADER) {
        *wrong = "the file ends inside the container";
        return 0;
    }
    if (read16(data + 4) != 1 || read16(data + 6) != CONTAINER_HEADER) {
        *wrong = "its header is damaged";
        return 0;
    }
    uint64_t size = read64(data + 8);
    if (size > most - CONTAINER_HEADER) {
        *wrong = "the file ends inside the container";
        return 0;
    }
    return (size_t)size + CONTAINER_HEADER;
}

static void read_entry(const unsigned char *head, struct fatbin_entry *entry)
{
    uint64_t flags = read64(head + AT_FLAGS);
    uint32_t stored = read32(head + AT_STORED);
    entry->kind = read16(head + AT_KIND);
    entry->architecture = read32(head + AT_ARCHITECTURE);
    entry->variant = flags & FLAG_ARCHITECTURE ? 'a' : flags & FLAG_FAMILY ? 'f' : 0;
    entry->compression = flags & FLAG_ZSTD ? COMPRESSION_ZSTD : flags & FLAG_LZ4 ? COMPRESSION_LZ4 : COMPRESSION_NONE;
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

const char *fatbin_doubt(const struct fatbin_entry *entry)
{
    if (entry->compression == COMPRESSION_LZ4 && unpack_lz4 == NULL) {
        return "it is compressed with LZ4, which this build of the kit cannot read";
    }
    if (entry->compression == COMPRESSION_ZSTD && unpack_zstd == NULL) {
        return "it is compressed with Zstandard, which this build of the kit cannot read";
    }
    if (entry->contents == 0 || entry->contents >= largest_contents || entry->stored >= largest_contents
        || entry->contents / largest_expansion > entry->stored) {
        return "its sizes cannot be right";
    }
    return NULL;
}

const char *fatbin_unpack(const struct fatbin_entry *entry, void *room)
{
    const char *doubt = fatbin_doubt(entry);
    if (doubt) {
        return doubt;
    }
    if (entry->compression == COMPRESSION_LZ4) {
        int got = unpack_lz4((const char *)entry->payload, room, (int)entry->stored, (int)entry->contents);
        return got >= 0 && (size_t)got == entry->contents ? NULL : "it is compressed with LZ4 and damaged";
    }
    size_t got = unpack_zstd(room, entry->contents, entry->payload, entry->stored); /* its error codes are larger than any size */
    return got == entry->contents ? NULL : "it is compressed with Zstandard and damaged";
}

const char *fatbin_contents(const struct fatbin_entry *entry, const void **data, size_t *size, int *owned)
{
    *owned = entry->compression != COMPRESSION_NONE;
    *size = entry->contents;
    if (!*owned) {
        *data = entry->payload;
        return NULL;
    }
    const char *wrong = fatbin_doubt(entry);
    void *room = wrong ? NULL : malloc(entry->contents);
    if (wrong == NULL) {
        wrong = room ? fatbin_unpack(entry, room) : "there is no memory to unpack it";
    }
    if (wrong) {
        free(room);
        room = NULL;
    }
    *data = room;
    return wrong;
}

const void *fatbin_find(const void *file, size_t size, size_t *at, size_t *extent, const char **wrong)
{
    static const uint32_t magic = CONTAINER_MAGIC;
    const unsigned char *data = file;
    while (*at < size) {
        const char *why;
        const unsigned char *found = memmem(data + *at, size - *at, &magic, sizeof magic);
        if (found == NULL) {
            break;
        }
        *extent = fatbin_extent(found, size - (size_t)(found - data), &why);
        *at = (size_t)(found - data) + (*extent ? *extent : sizeof magic);
        if (wrong) {
            *wrong = why;
        }
        if (*extent > CONTAINER_HEADER || (wrong && why)) {
            return found;
        }
    }
    return NULL;
}

int runs_on(unsigned architecture, unsigned device)
{
    return architecture / 10 == device / 10 && architecture <= device;
}
