/* grow.h - a copy of an image in which some sections have become longer */
#ifndef PDL_REWRITE_GROW_H
#define PDL_REWRITE_GROW_H

#include "cubin.h"
#include "stubs.h"

enum { SECTION_ALIGNMENT = 128 }; /* of code; growth is a multiple of it, so that everything after it keeps its alignment */

struct moved {
    uint64_t from, to; /* offsets of an instruction in its section */
};

struct patch {
    uint64_t at;
    struct instruction now;
};

/* What is changed in one kernel and its section. */
struct edit {
    uint32_t section, symbol;
    uint64_t old_size, old_end; /* of the section; the end is an offset in the file */
    struct instruction *code; /* appended */
    size_t code_count, code_room;
    struct patch *patches;
    size_t patch_count, patch_room;
    struct moved *moved;
    size_t moved_count, moved_room;
    unsigned registers; /* the count it needs, 0 if what it has is enough */
    unsigned stack;     /* bytes of the stack that it needs in addition */
    int out_of_memory;
};

void edit_append(struct edit *edit, struct instruction instruction);
void edit_patch(struct edit *edit, uint64_t at, struct instruction now);
void edit_move(struct edit *edit, uint64_t from, uint64_t to);
void edit_free(struct edit *edit);

/* Sorts the edits. NULL and *wrong if the image's layout cannot be understood or there is no memory. */
unsigned char *grow(const struct cubin *cubin, struct edit *edits, size_t count, size_t *out_size, const char **wrong);

#endif
