/* fatbin.h - reads fat binaries: containers of images for several architectures, each perhaps compressed
 *
 * The one reader of fat binaries of the rewriter and of lint. Nothing in a container is trusted; every size is checked against
 * the bytes that are there.
 */
#ifndef PDL_REWRITE_FATBIN_H
#define PDL_REWRITE_FATBIN_H

#include <stddef.h>
#include <stdint.h>

enum { FATBIN_PTX = 1, FATBIN_ELF = 2, FATBIN_LTO = 8 };
enum compression { COMPRESSION_NONE, COMPRESSION_LZ4, COMPRESSION_ZSTD };

/* conformance/lint/containers.py has the same struct for its calls. */
struct fatbin_entry {
    unsigned kind;         /* FATBIN_...; others exist */
    unsigned architecture; /* 90, 100, ...; for PTX the one it was compiled for */
    char variant;          /* 'a' or 'f' if it is for one architecture or one family, else 0 */
    enum compression compression;
    const unsigned char *head, *payload;
    size_t head_size, payload_size; /* as stored in the container */
    size_t stored;                  /* bytes of the payload without its padding */
    size_t contents;                /* bytes after unpacking */
};

/* The size of the container that begins here, as its header states it. 0 if there is no container, or it cannot be used: its
 * header is damaged, or it is longer than `most`. *wrong (if given) then says what is wrong with a container that begins here. */
size_t fatbin_extent(const void *container, size_t most, const char **wrong);

/* Goes through a container of that extent. *at begins with 0; 0 is returned at the end and at a damaged entry, and *wrong
 * (if given) then says what is wrong, or is NULL. */
int fatbin_next(const void *container, size_t extent, size_t *at, struct fatbin_entry *entry, const char **wrong);

/* What an entry holds. *data is malloc'ed if *owned, else it lies in the container. NULL, or why it cannot be read. */
const char *fatbin_contents(const struct fatbin_entry *entry, const void **data, size_t *size, int *owned);

/* Why a compressed entry cannot be unpacked, as far as its sizes tell; NULL if nothing speaks against it. */
const char *fatbin_doubt(const struct fatbin_entry *entry);

/* Unpacks a compressed entry into room for entry->contents bytes. NULL, or why it cannot be read. */
const char *fatbin_unpack(const struct fatbin_entry *entry, void *room);

/* The next container in a file's bytes (an executable, a library, an archive, an object file), from *at on. With `wrong`, places
 * where a container begins that cannot be used are found as well: *wrong then says why, and *extent is 0. */
const void *fatbin_find(const void *file, size_t size, size_t *at, size_t *extent, const char **wrong);

/* LZ4_decompress_safe and ZSTD_decompress, for a build that is not linked with them; NULL leaves what there is. */
typedef int (*lz4_decompressor)(const char *stored, char *room, int stored_size, int room_size);
typedef size_t (*zstd_decompressor)(void *room, size_t room_size, const void *stored, size_t stored_size);
void fatbin_use_decompressors(lz4_decompressor lz4, zstd_decompressor zstd);

/* 1 if a device of this capability can run machine code for this architecture: same major, and not a newer minor. */
int runs_on(unsigned architecture, unsigned device);

#endif
