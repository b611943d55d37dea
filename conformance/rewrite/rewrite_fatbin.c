/* rewrite_fatbin.c - see rewrite_fatbin.h */
#include "rewrite_fatbin.h"

#include "cubin.h"
#include "fatbin_layout.h"

#include <stdlib.h>
#include <string.h>

enum { PADDING = 8, LEAST_REWRITABLE = 90 };

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
    write64(out + AT_FLAGS, read64(out + AT_FLAGS) & ~(FLAG_LZ4 | FLAG_ZSTD));
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
