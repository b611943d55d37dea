/* main.c - pdl-rewrite: the rewriter as a command
 *
 *   pdl-rewrite IN OUT --plan FILE [--device CC]   rewrite a cubin or a fat binary; one line of JSON for each kernel
 *   pdl-rewrite --unpack FILE FOLDER [--from CC]   write the machine code for CC (default 90) and newer out of any file
 *   pdl-rewrite --list FILE                        what the fat binaries in any file hold; one line of JSON for each image
 *   pdl-rewrite --measure FILE --plan PLAN         how fast: unpack and rewrite all machine code of a file, write nothing
 *
 * Exit code: 0 done, 2 no kernel could be rewritten (OUT is then IN), 64 bad arguments, 69 a file cannot be read or written.
 */
#define _GNU_SOURCE
#include "cubin.h"
#include "rewrite_fatbin.h"
#include "plan.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { DONE = 0, NOTHING_DONE = 2, BAD_ARGUMENTS = 64, SET_UP_IMPOSSIBLE = 69, DEFAULT_FROM = 90 };

struct arguments {
    const char *plan, *unpack, *list, *measure, *in, *out;
    unsigned device, from;
};

struct bytes {
    void *data;
    size_t size;
};

static int complain(int code, const char *what, const char *why)
{
    fprintf(stderr, "pdl-rewrite: %s: %s\n", what, why);
    return code;
}

static int read_all(const char *path, struct bytes *file)
{
    struct stat status;
    int handle = open(path, O_RDONLY | O_CLOEXEC);
    if (handle < 0 || fstat(handle, &status) != 0 || !S_ISREG(status.st_mode)) {
        if (handle >= 0) {
            close(handle);
        }
        return 0;
    }
    file->size = (size_t)status.st_size;
    file->data = file->size ? mmap(NULL, file->size, PROT_READ, MAP_PRIVATE, handle, 0) : NULL;
    close(handle);
    return file->data != NULL && file->data != MAP_FAILED;
}

static int write_all(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    int fine = file && fwrite(data, 1, size, file) == size;
    return file ? fclose(file) == 0 && fine : 0;
}

static void print_text(const char *text)
{
    putchar('"');
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\') {
            printf("\\%c", c);
        } else if (c < 32 || c > 126) {
            printf("\\u%04x", c);
        } else {
            putchar(c);
        }
    }
    putchar('"');
}

/* ---- rewrite ------------------------------------------------------------------------------------------------------- */

struct work {
    struct plan_file plan;
    int quiet;
    unsigned long kernels, rewritten, images;
    unsigned long long bytes;
};

static int choose(void *context, const char *kernel, struct kernel_plan *plan)
{
    const struct work *work = context;
    *plan = *plan_for(&work->plan, kernel);
    return plan->flags != 0;
}

static void report(void *context, const struct kernel_outcome *outcome)
{
    struct work *work = context;
    work->kernels++;
    work->rewritten += outcome->rewritten != 0;
    if (work->quiet) {
        return;
    }
    printf("{\"kernel\":");
    print_text(outcome->name);
    printf(",\"rewritten\":%s,\"waits\":%u,\"triggers\":%u,\"exits\":%u,\"registers_before\":%u,\"registers\":%u,\"spilled\":%s,\"frame\":%u",
           outcome->rewritten ? "true" : "false", outcome->waits, outcome->triggers, outcome->exits, outcome->registers_before,
           outcome->registers, outcome->spilled ? "true" : "false", outcome->frame);
    if (outcome->refusal) {
        printf(",\"refusal\":");
        print_text(outcome->refusal);
    }
    printf("}\n");
}

static void passed(void *context, const struct fatbin_entry *entry, const char *why)
{
    const struct work *work = context;
    if (!work->quiet) {
        printf("{\"image\":\"sm_%u\",\"passed_on\":", entry->architecture);
        print_text(why);
        printf("}\n");
    }
}

static int rewrite_file(const struct arguments *given, struct work *work)
{
    struct bytes in = {NULL, 0};
    void *out = NULL;
    size_t size = 0;
    const char *why = NULL;
    struct fatbin_rewriting how = {{choose, report, work}, given->device, passed};
    if (!read_all(given->in, &in)) {
        return complain(SET_UP_IMPOSSIBLE, given->in, "it cannot be read");
    }
    size_t extent = fatbin_extent(in.data, in.size, NULL);
    enum rewrite_result result = extent ? rewrite_fatbin(in.data, extent, &how, &out, &size, &why)
                                        : rewrite_cubin(in.data, in.size, &how.how, &out, &size, &why);
    if (result == REWRITE_IMPOSSIBLE) {
        complain(NOTHING_DONE, given->in, why);
    }
    if (!write_all(given->out, out ? out : in.data, out ? size : in.size)) {
        return complain(SET_UP_IMPOSSIBLE, given->out, "it cannot be written");
    }
    free(out);
    munmap(in.data, in.size);
    return result == REWRITE_DONE ? DONE : NOTHING_DONE;
}

/* ---- unpack, measure ----------------------------------------------------------------------------------------------- */

typedef int (*image_taker)(void *context, const struct fatbin_entry *entry, const void *data, size_t size);

static int each_image(const struct bytes *file, unsigned from, image_taker take, void *context)
{
    size_t at = 0, extent = 0;
    const void *container;
    int fine = 1;
    while (fine && (container = fatbin_find(file->data, file->size, &at, &extent, NULL)) != NULL) {
        struct fatbin_entry entry;
        size_t inside = 0, size = 0;
        while (fine && fatbin_next(container, extent, &inside, &entry, NULL)) {
            const void *data = NULL;
            int owned = 0;
            if (entry.kind == FATBIN_ELF && entry.architecture >= from && fatbin_contents(&entry, &data, &size, &owned) == NULL) {
                fine = take(context, &entry, data, size);
                if (owned) {
                    free((void *)data);
                }
            }
        }
    }
    return fine;
}

struct unpacking {
    const char *folder;
    unsigned count;
};

static int unpack_image(void *context, const struct fatbin_entry *entry, const void *data, size_t size)
{
    struct unpacking *unpacking = context;
    char path[4096], variant[2] = {entry->variant, 0};
    int n = snprintf(path, sizeof path, "%s/%05u.sm_%u%s.cubin", unpacking->folder, unpacking->count++, entry->architecture, variant);
    return n > 0 && (size_t)n < sizeof path && write_all(path, data, size);
}

static int measure_image(void *context, const struct fatbin_entry *entry, const void *data, size_t size)
{
    struct work *work = context;
    struct rewriting how = {choose, report, work};
    void *out = NULL;
    size_t out_size = 0;
    const char *why = NULL;
    (void)entry;
    work->images++;
    work->bytes += size;
    rewrite_cubin(data, size, &how, &out, &out_size, &why);
    free(out);
    return 1;
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int unpack_file(const struct arguments *given)
{
    struct bytes file = {NULL, 0};
    struct unpacking unpacking = {given->in, 0};
    if (!read_all(given->unpack, &file)) {
        return complain(SET_UP_IMPOSSIBLE, given->unpack, "it cannot be read");
    }
    if (!each_image(&file, given->from, unpack_image, &unpacking)) {
        return complain(SET_UP_IMPOSSIBLE, given->in, "an image cannot be written there");
    }
    printf("{\"images\":%u}\n", unpacking.count);
    return unpacking.count ? DONE : NOTHING_DONE;
}

static int list_file(const struct arguments *given)
{
    struct bytes file = {NULL, 0};
    size_t at = 0, extent = 0;
    const void *container;
    const char *wrong = NULL;
    if (!read_all(given->list, &file)) {
        return complain(SET_UP_IMPOSSIBLE, given->list, "it cannot be read");
    }
    while (!wrong && (container = fatbin_find(file.data, file.size, &at, &extent, NULL)) != NULL) {
        static const char *const compressions[] = {"none", "LZ4", "Zstandard"};
        struct fatbin_entry entry;
        size_t inside = 0;
        while (fatbin_next(container, extent, &inside, &entry, &wrong)) {
            const char *kind = entry.kind == FATBIN_ELF ? "machine code" : entry.kind == FATBIN_PTX ? "PTX"
                             : entry.kind == FATBIN_LTO ? "LTO" : "other";
            printf("{\"kind\":\"%s\",\"architecture\":\"sm_%u%.1s\",\"compression\":\"%s\",\"bytes\":%zu}\n", kind,
                   entry.architecture, entry.variant ? &entry.variant : "", compressions[entry.compression], entry.contents);
        }
    }
    return wrong ? complain(NOTHING_DONE, given->list, wrong) : DONE;
}

static int measure_file(const struct arguments *given, struct work *work)
{
    struct bytes file = {NULL, 0};
    if (!read_all(given->measure, &file)) {
        return complain(SET_UP_IMPOSSIBLE, given->measure, "it cannot be read");
    }
    work->quiet = 1;
    double began = seconds();
    each_image(&file, given->from, measure_image, work);
    double took = seconds() - began;
    printf("{\"images\":%lu,\"kernels\":%lu,\"rewritten\":%lu,\"bytes\":%llu,\"cpu_seconds\":%.3f,\"megabytes_per_second\":%.0f}\n",
           work->images, work->kernels, work->rewritten, work->bytes, took, took > 0 ? (double)work->bytes / 1e6 / took : 0.0);
    return work->rewritten ? DONE : NOTHING_DONE;
}

/* ---- the command line ---------------------------------------------------------------------------------------------- */

static int capability(const char *text, unsigned *number)
{
    char *end;
    unsigned long found = strtoul(text, &end, 10);
    *number = (unsigned)found;
    return end != text && *end == 0 && found < 1000;
}

static int parse(int count, char **words, struct arguments *given)
{
    given->from = DEFAULT_FROM;
    for (int i = 1; i < count; i++) {
        const char *next = i + 1 < count ? words[i + 1] : NULL;
        if (strcmp(words[i], "--plan") == 0 && next) {
            given->plan = words[++i];
        } else if (strcmp(words[i], "--unpack") == 0 && next) {
            given->unpack = words[++i];
        } else if (strcmp(words[i], "--list") == 0 && next) {
            given->list = words[++i];
        } else if (strcmp(words[i], "--measure") == 0 && next) {
            given->measure = words[++i];
        } else if (strcmp(words[i], "--device") == 0 && next && capability(next, &given->device)) {
            i++;
        } else if (strcmp(words[i], "--from") == 0 && next && capability(next, &given->from)) {
            i++;
        } else if (words[i][0] == '-') {
            return complain(0, words[i], "it is not an option, or its value is missing or wrong");
        } else if (!given->in) {
            given->in = words[i];
        } else if (!given->out) {
            given->out = words[i];
        } else {
            return complain(0, words[i], "there are too many arguments");
        }
    }
    int needs = given->list ? 1 : given->unpack ? given->in != NULL : given->measure ? given->plan != NULL : given->out && given->plan;
    return needs ? 1 : complain(0, "usage", "pdl-rewrite IN OUT --plan FILE | --list FILE | --unpack FILE FOLDER | --measure FILE --plan PLAN");
}

int main(int count, char **words)
{
    struct arguments given = {0};
    static struct work work;
    if (!parse(count, words, &given)) {
        return BAD_ARGUMENTS;
    }
    if (given.list) {
        return list_file(&given);
    }
    if (given.unpack) {
        return unpack_file(&given);
    }
    unsigned line = 0;
    FILE *file = fopen(given.plan, "r");
    if (file == NULL) {
        return complain(SET_UP_IMPOSSIBLE, given.plan, "it cannot be read");
    }
    const char *wrong = plan_read(&work.plan, file, &line);
    fclose(file);
    if (wrong) {
        fprintf(stderr, "pdl-rewrite: %s, line %u: %s\n", given.plan, line, wrong);
        return BAD_ARGUMENTS;
    }
    int code = given.measure ? measure_file(&given, &work) : rewrite_file(&given, &work);
    plan_free(&work.plan);
    return code;
}
