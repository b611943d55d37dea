/* fatbin_layout.h - how fat binaries are laid out: a header, then for each image a header of its own and the image
 *
 * Numbers are little-endian. NVIDIA does not document the format.
 */
#ifndef PDL_REWRITE_FATBIN_LAYOUT_H
#define PDL_REWRITE_FATBIN_LAYOUT_H

#define CONTAINER_MAGIC UINT32_C(0xBA55ED50)

enum { CONTAINER_HEADER = 16, LEAST_ENTRY_HEADER = 64 };

/* Where the numbers stand in an image's header. */
enum {
    AT_KIND = 0, AT_HEADER_SIZE = 4, AT_PAYLOAD_SIZE = 8, AT_STORED = 16, AT_ARCHITECTURE = 28, AT_FLAGS = 40, AT_CONTENTS = 56
};

#define FLAG_LZ4 UINT64_C(0x2000)
#define FLAG_ZSTD UINT64_C(0x8000)
#define FLAG_ARCHITECTURE UINT64_C(0x100000)
#define FLAG_FAMILY UINT64_C(0x200000)

#endif
