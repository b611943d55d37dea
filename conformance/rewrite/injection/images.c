/* images.c - recognises each kind of code that a program gives to the driver, and makes the rewritten copy */
#define _GNU_SOURCE
#include "loaded.h"

#include "cubin.h"
#include "rewrite_fatbin.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LONGEST_HEADER = 1 << 16, MOST_DEVICES = 64, LEAST_CAPABILITY = 90 };

/* The structure that nvcc puts around a fat binary; the runtime passes it to the driver. */
struct wrapper {
    uint32_t magic, version;
    const void *container;
    const void *prelinked;
};
static const uint32_t wrapper_magic = 0x466243B1;

char *file_contents(const char *path, size_t *size)
{
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    char *data = NULL;
    if (file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode)
        && (data = malloc((size_t)status.st_size + 1)) != NULL) {
        size_t done = 0;
        ssize_t n = 1;
        while (done < (size_t)status.st_size && (n = read(file, data + done, (size_t)status.st_size - done)) > 0) {
            done += (size_t)n;
        }
        data[done] = 0;
        *size = done;
    }
    if (file >= 0) {
        close(file);
    }
    return data;
}

/* The driver gets an address without a size. This is how many bytes can be read there, by the operating system's list of mappings. */
static size_t readable_from(const void *image)
{
    uintptr_t place = (uintptr_t)image, end = 0;
    FILE *maps = fopen("/proc/self/maps", "re");
    char *line = NULL;
    size_t room = 0;
    while (maps && getline(&line, &room, maps) > 0) {
        unsigned long first, last;
        char read_flag;
        if (sscanf(line, "%lx-%lx %c", &first, &last, &read_flag) != 3) {
            continue;
        }
        if (end == 0 && first <= place && place < last && read_flag == 'r') {
            end = last;
        } else if (end && first == end && read_flag == 'r') {
            end = last;
        } else if (end) {
            break;
        }
    }
    free(line);
    if (maps) {
        fclose(maps);
    }
    return end ? end - place : 0;
}

/* 10 * major + minor of this machine's devices; 0 if they differ or the driver does not say. */
static unsigned shared_capability(void)
{
    enum { MAJOR = 75, MINOR = 76 };
    static unsigned found = 1; /* 1: not asked yet */
    result (*count)(int *) = driver_symbol("cuDeviceGetCount");
    result (*attribute)(int *, int, int) = driver_symbol("cuDeviceGetAttribute");
    int devices = 0, major = 0, minor = 0;
    if (found != 1) {
        return found;
    }
    if (!count || !attribute || count(&devices) != 0 || devices < 1 || devices > MOST_DEVICES) {
        return 0;
    }
    unsigned common = 0;
    for (int i = 0; i < devices; i++) {
        unsigned one = attribute(&major, MAJOR, i) == 0 && attribute(&minor, MINOR, i) == 0 ? (unsigned)(10 * major + minor) : 0;
        common = i == 0 || one == common ? one : 0;
    }
    return found = common;
}

/* ---- what the rewriter asks and tells ------------------------------------------------------------------------------ */

static int choose(void *context, const char *kernel, struct kernel_plan *numbers)
{
    struct named *known = named(kernel);
    (void)context;
    *numbers = *plan_of(kernel);
    numbers->words = known ? live_words(known) : 0;
    if (numbers->flags & PLAN_RECORD && !(record_room && record_room(kernel, &numbers->room))) {
        numbers->flags &= ~(uint32_t)PLAN_RECORD;
    }
    return numbers->words || numbers->flags;
}

static void note(void *context, const struct kernel_outcome *outcome)
{
    (void)context;
    note_outcome(outcome);
}

static void say_passed(const char *what, unsigned architecture, const char *why)
{
    char text[1024];
    json_text(text, sizeof text, why);
    record("{\"record\":\"passed\",\"image\":\"%s\",\"architecture\":%u,\"why\":%s}", what, architecture, text);
}

static void passed(void *context, const struct fatbin_entry *entry, const char *why)
{
    (void)context;
    if (entry->kind == FATBIN_ELF) {
        say_passed("machine code", entry->architecture, why);
    }
}

static const struct rewriting one_image = {choose, note, NULL};

static const void *machine_code_instead(const void *image, size_t size, size_t *new_size)
{
    void *out = NULL;
    const char *why = NULL;
    size_t extent = elf_extent(image, size);
    if (extent == 0) {
        say_passed("machine code", 0, "it is damaged, or ends past the memory that can be read");
    } else if (rewrite_cubin(image, extent, &one_image, &out, new_size, &why) == REWRITE_IMPOSSIBLE) {
        say_passed("machine code", 0, why);
    }
    return out;
}

/* ---- PTX ----------------------------------------------------------------------------------------------------------- */

/* Text that has .version within its first 64 KiB; ELF files and fat binaries begin with other bytes. */
static int is_ptx(const char *image, size_t most)
{
    size_t n = 0, end = most < LONGEST_HEADER ? most : LONGEST_HEADER;
    while (n + 8 < end && image[n] && (image[n] == '\t' || image[n] == '\n' || image[n] == '\r' || (image[n] & 0x80)
                                       || (image[n] >= 32 && image[n] < 127))) {
        if (memcmp(image + n, ".version", 8) == 0) {
            return 1;
        }
        n++;
    }
    return 0;
}

/* Compiles it by the driver's own compiler, as loading the module would have done. */
static const void *assembled(const char *ptx, size_t size, size_t *code_size, void **state)
{
    enum { INPUT_PTX = 1 };
    result (*create)(unsigned, void *, void **, void **) = driver_symbol("cuLinkCreate_v2");
    result (*add)(void *, int, void *, size_t, const char *, unsigned, void *, void **) = driver_symbol("cuLinkAddData_v2");
    result (*complete)(void *, void **, size_t *) = driver_symbol("cuLinkComplete");
    void *code = NULL;
    if (!create || !add || !complete || create(0, NULL, NULL, state) != 0) {
        return NULL;
    }
    return add(*state, INPUT_PTX, (void *)ptx, size, "ptx", 0, NULL, NULL) == 0 && complete(*state, &code, code_size) == 0
        ? code : NULL;
}

static const void *ptx_assembled(const char *ptx, size_t size, size_t *new_size)
{
    result (*destroy)(void *) = driver_symbol("cuLinkDestroy");
    struct entered entered;
    void *state = NULL;
    size_t code_size = 0;
    const void *code = enter_context(&entered) ? assembled(ptx, size, &code_size, &state) : NULL;
    const void *out = code ? machine_code_instead(code, code_size, new_size) : NULL;
    if (code == NULL) {
        say_passed("PTX", 0, "the driver's compiler could not make machine code of it ahead of loading");
    }
    if (state && destroy) {
        destroy(state);
    }
    leave_context(&entered);
    return out;
}

/* ---- containers ---------------------------------------------------------------------------------------------------- */

/* For a container without machine code for this device: its newest PTX, compiled and rewritten. */
static const void *container_ptx(const void *container, size_t extent, unsigned device, size_t *new_size)
{
    struct fatbin_entry entry, best;
    size_t at = 0, size = 0;
    const void *text = NULL, *out = NULL;
    int owned = 0, found = 0;
    while (fatbin_next(container, extent, &at, &entry, NULL)) {
        if (entry.kind == FATBIN_ELF && runs_on(entry.architecture, device)) {
            return NULL; /* the driver prefers it */
        }
        if (entry.kind == FATBIN_PTX && entry.architecture <= device && (!found || entry.architecture > best.architecture)) {
            best = entry;
            found = 1;
        }
    }
    if (found && fatbin_contents(&best, &text, &size, &owned) == NULL) {
        char *ended = strndup(text, size); /* without the padding */
        out = ended ? ptx_assembled(ended, strlen(ended) + 1, new_size) : NULL;
        free(ended);
    }
    if (owned) {
        free((void *)text);
    }
    return out;
}

static const void *container_instead(const void *container, size_t size, size_t *new_size)
{
    unsigned device = shared_capability();
    struct fatbin_rewriting how = {one_image, device, passed};
    size_t extent = fatbin_extent(container, size, NULL);
    void *out = NULL;
    const char *why = "it is damaged, or ends past the memory that can be read";
    if (extent == 0 || rewrite_fatbin(container, extent, &how, &out, new_size, &why) == REWRITE_IMPOSSIBLE) {
        say_passed("fat binary", 0, why);
        return NULL;
    }
    return out || device < LEAST_CAPABILITY ? out : container_ptx(container, extent, device, new_size);
}

static const void *wrapper_instead(const void *image, size_t *new_size)
{
    struct wrapper wrapper;
    memcpy(&wrapper, image, sizeof wrapper);
    const void *container = container_instead(wrapper.container, readable_from(wrapper.container), new_size);
    if (container == NULL || fatbin_extent(container, *new_size, NULL) == 0) {
        return container; /* machine code made of PTX needs no wrapper */
    }
    struct wrapper *out = malloc(sizeof *out);
    if (out) {
        *out = wrapper;
        out->container = container;
        *new_size = sizeof *out;
    }
    return out;
}

/* ---- all kinds ----------------------------------------------------------------------------------------------------- */

/* The result is never freed: the driver may read it when a kernel is first used, long after the image was given. */
const void *image_instead(const void *image, size_t size, size_t *new_size)
{
    size_t ignored = 0;
    new_size = new_size ? new_size : &ignored;
    if (!plan_is_on() || image == NULL) {
        return NULL;
    }
    size_t most = size ? size : readable_from(image);
    if (most >= sizeof(struct wrapper) && memcmp(image, &wrapper_magic, sizeof wrapper_magic) == 0) {
        return wrapper_instead(image, new_size);
    }
    if (most >= ELF_HEADER && memcmp(image, "\177ELF", 4) == 0) {
        return machine_code_instead(image, most, new_size);
    }
    if (fatbin_extent(image, most, NULL)) {
        return container_instead(image, most, new_size);
    }
    if (is_ptx(image, most)) {
        size_t length = strnlen(image, most);
        char *ended = strndup(image, length);
        const void *out = ended ? ptx_assembled(ended, length + 1, new_size) : NULL;
        free(ended);
        return out;
    }
    return NULL;
}
