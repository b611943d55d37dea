/* by_mutation.c - chooses inputs for a target where there is no libFuzzer
 *
 *   TARGET SECONDS MOST SEED KEPT FILE...     MOST inputs at most, 0: no limit; prints how many were tried
 *
 * Each input is a FILE after some changes. KEPT holds the last one, so that it is there after a crash.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
extern unsigned long useful __attribute__((weak)); /* how many inputs were good enough for more than a refusal, if the target counts them */

enum { MOST_FILES = 64, MOST_BYTES = 1 << 16 };

static struct {
    uint8_t data[MOST_BYTES];
    size_t size;
} files[MOST_FILES];
static size_t file_count;
static uint64_t state;

static uint64_t next(uint64_t below)
{
    state ^= state << 13; /* xorshift64 */
    state ^= state >> 7;
    state ^= state << 17;
    return below ? state % below : 0;
}

/* Where headers and tables are, damage is worth more than in the code. */
static size_t place(size_t size)
{
    size_t edge = size < 512 ? size : 512;
    switch (next(3)) {
    case 0: return next(edge);
    case 1: return size - 1 - next(size / 4 + 1);
    default: return next(size);
    }
}

static void write_number(uint8_t *data, size_t size, size_t at)
{
    static const uint64_t odd[] = {0, 1, 15, 16, 63, 64, 127, 255, 0x7FFFFFFF, 0xFFFFFFFF, 0x7FFFFFFFFFFFFFFF, UINT64_MAX,
                                   UINT64_MAX - 63};
    size_t width = (size_t)1 << next(4);
    uint64_t value = next(2) ? odd[next(sizeof odd / sizeof odd[0])] : next(size + 64);
    if (at + width <= size) {
        memcpy(data + at, &value, width);
    }
}

static size_t changed(uint8_t *data, size_t size)
{
    for (uint64_t i = 0, times = 1 + next(6); i < times && size; i++) {
        size_t at = place(size), from = place(size), most = size - (at > from ? at : from), bytes = 1 + next(most < 64 ? most : 64);
        switch (next(5)) {
        case 0: data[at] ^= (uint8_t)(1u << next(8)); break;
        case 1: memmove(data + at, data + from, bytes); break;
        case 2: /* cut a piece */
            memmove(data + at, data + at + bytes, size - at - bytes);
            size -= bytes;
            break;
        default: write_number(data, size, at);
        }
    }
    return next(8) ? size : next(size + 1);
}

static void read_files(int count, char **names)
{
    for (int i = 0; i < count && file_count < MOST_FILES; i++) {
        FILE *file = fopen(names[i], "rb");
        if (file) {
            files[file_count].size = fread(files[file_count].data, 1, MOST_BYTES, file);
            file_count += files[file_count].size > 0;
            fclose(file);
        }
    }
}

static uint8_t *shared_with(const char *path)
{
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0 || ftruncate(file, MOST_BYTES) != 0) {
        return NULL;
    }
    void *memory = mmap(NULL, MOST_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

int main(int count, char **words)
{
    unsigned long tried = 0;
    if (count < 6) {
        return 64;
    }
    const time_t until = time(NULL) + atol(words[1]);
    const unsigned long most = strtoul(words[2], NULL, 10);
    uint8_t *kept = shared_with(words[4]);
    state = strtoull(words[3], NULL, 16) * UINT64_C(0x9E3779B97F4A7C15) | 1;
    read_files(count - 5, words + 5);
    if (!kept || !file_count) {
        return 69;
    }
    while (time(NULL) < until && (most == 0 || tried < most)) {
        size_t chosen = next(file_count), size = files[chosen].size;
        memcpy(kept, files[chosen].data, size);
        size = changed(kept, size);
        uint8_t *exact = malloc(size ? size : 1); /* of exactly this size, so that reading one byte too far is seen */
        if (!exact) {
            return 70;
        }
        memcpy(exact, kept, size);
        LLVMFuzzerTestOneInput(exact, size);
        free(exact);
        tried++;
    }
    printf("tried %lu useful %lu\n", tried, &useful ? useful : 0);
    return 0;
}
