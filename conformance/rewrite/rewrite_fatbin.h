/* rewrite_fatbin.h - rewrites the images of a fat binary */
#ifndef PDL_REWRITE_FATBIN_IMAGES_H
#define PDL_REWRITE_FATBIN_IMAGES_H

#include "fatbin.h"
#include "rewrite.h"

struct fatbin_rewriting {
    struct rewriting how;
    unsigned device; /* 10 * major + minor: only images that it can run are rewritten; 0: all that the kit has code for */
    /* An image that could not be rewritten as a whole, and PTX (why: "PTX"); may be NULL. */
    void (*passed)(void *context, const struct fatbin_entry *entry, const char *why);
};

/* As rewrite_cubin, for a whole container. Images that change are stored uncompressed; all others are copied as they are. */
enum rewrite_result rewrite_fatbin(const void *container, size_t extent, const struct fatbin_rewriting *how, void **out,
                                   size_t *out_size, const char **why);

#endif
