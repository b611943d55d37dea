/* fatbin.h - reads fat binaries: containers of images for several architectures, each perhaps compressed
 *
 * The one C reader of the kit. Nothing in a container is trusted; every size is checked against the bytes that are there.
 */
#ifndef PDL_REWRITE_FATBIN_H
#define PDL_REWRITE_FATBIN_H

#include "rewrite.h"

enum { FATBIN_PTX = 1, FATBIN_ELF = 2, FATBIN_LTO = 8 };
enum compression { COMPRESSION_NONE, COMPRESSION_LZ4, COMPRESSION_ZSTD };

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

/* The size of the container that begins here, as its header states it; 0 if there is no container or it is longer than `most`. */
size_t fatbin_extent(const void *container, size_t most);

/* Goes through a container of that extent. *at begins with 0; 0 is returned at the end and at a damaged entry, and *wrong
 * (if given) then says what is wrong, or is NULL. */
int fatbin_next(const void *container, size_t extent, size_t *at, struct fatbin_entry *entry, const char **wrong);

/* What an entry holds. *data is malloc'ed if *owned, else it lies in the container. NULL, or why it cannot be read. */
const char *fatbin_contents(const struct fatbin_entry *entry, const void **data, size_t *size, int *owned);

/* The next container in a file's bytes (an executable, a library, an archive, an object file), from *at on. */
const void *fatbin_find(const void *file, size_t size, size_t *at, size_t *extent);

struct fatbin_rewriting {
    struct rewriting how;
    unsigned device; /* 10 * major + minor: only images that it can run are rewritten; 0: all that the kit has code for */
    /* An image that could not be rewritten as a whole, and PTX (why: "PTX"); may be NULL. */
    void (*passed)(void *context, const struct fatbin_entry *entry, const char *why);
};

/* As rewrite_cubin, for a whole container. Images that change are stored uncompressed; all others are copied as they are. */
enum rewrite_result rewrite_fatbin(const void *container, size_t extent, const struct fatbin_rewriting *how, void **out,
                                   size_t *out_size, const char **why);

/* 1 if a device of this capability can run machine code for this architecture: same major, and not a newer minor. */
int runs_on(unsigned architecture, unsigned device);

#endif
