/* Reads the image: the description of a cubin, a line each, then nvdisasm's listing of it. */
#include <stdlib.h>
#include <string.h>

#include "output/report.h"

struct image image;

enum { MOST_FIELDS = 5, FIRST_BUFFER = 1 << 20, MALFORMED = 64, NO_MEMORY = 70, SHOWN = 80 };

struct text {
    const char *start;
    size_t length;
};
struct line {
    unsigned count;
    struct text field[MOST_FIELDS];
};

static size_t kernel_capacity, parameter_capacity, address_capacity, home_capacity, symbol_capacity;
static name *symbols; /* of constant bank 4 */
static size_t symbol_count;

/* reading ------------------------------------------------------------------------------------------------------------- */

/* All of the file and a 0 after it. */
static char *read_all(FILE *file, size_t *length)
{
    size_t capacity = FIRST_BUFFER, used = 0, got;
    char *buffer = malloc(capacity);

    while (buffer && (got = fread(buffer + used, 1, capacity - 1 - used, file)) > 0) {
        used += got;
        if (used == capacity - 1) {
            char *larger = capacity <= SIZE_MAX / 2 ? realloc(buffer, capacity * 2) : NULL;

            if (!larger)
                free(buffer);
            buffer = larger;
            capacity *= 2;
        }
    }
    if (!buffer) {
        fputs("There is no memory left for the listing.\n", stderr);
        exit(NO_MEMORY);
    }
    if (ferror(file)) {
        fputs("The image cannot be read.\n", stderr);
        exit(MALFORMED);
    }
    buffer[used] = 0;
    *length = used;
    return buffer;
}

/* fields -------------------------------------------------------------------------------------------------------------- */

/* False if there are more than any line of the description has. */
static bool split(const char *at, const char *end, struct line *line)
{
    line->count = 0;
    for (;;) {
        const char *tab = memchr(at, '\t', (size_t)(end - at));

        if (line->count == MOST_FIELDS)
            return false;
        line->field[line->count].start = at;
        line->field[line->count++].length = (size_t)((tab ? tab : end) - at);
        if (!tab)
            return true;
        at = tab + 1;
    }
}

static bool says(struct text text, const char *word)
{
    return text.length == strlen(word) && memcmp(text.start, word, text.length) == 0;
}

static name field_name(const struct line *line, unsigned field)
{
    struct text text = line->field[field];

    return text.length ? name_of(text.start, text.length) : 0;
}

/* A damaged file can state any number; one that is too large for us stands for all that are. */
static bool field_number(const struct line *line, unsigned field, uint64_t largest, uint64_t *n)
{
    struct text text = line->field[field];
    size_t i;

    *n = 0;
    for (i = 0; i < text.length; i++) {
        unsigned digit = (unsigned char)text.start[i] - (unsigned)'0';

        if (digit > 9)
            return false;
        *n = *n > (largest - digit) / 10 ? largest : *n * 10 + digit;
    }
    return text.length > 0;
}

static bool field_word(const struct line *line, unsigned field, uint32_t *n)
{
    uint64_t wide;
    bool good = field_number(line, field, UINT32_MAX, &wide);

    *n = (uint32_t)wide;
    return good;
}

/* the description --------------------------------------------------------------------------------------------------------------- */

static bool read_sm(const struct line *line)
{
    return field_word(line, 1, &image.sm);
}

static bool read_kernel(const struct line *line)
{
    struct kernel *kernel;

    image.kernels = grown(image.kernels, &kernel_capacity, image.kernel_count + 1, sizeof(*image.kernels));
    kernel = &image.kernels[image.kernel_count++];
    kernel->name = field_name(line, 1);
    parameter_capacity = 0;
    return field_word(line, 2, &kernel->parameter_base) && field_word(line, 3, &kernel->parameter_bytes) &&
           field_word(line, 4, &kernel->max_threads);
}

static struct kernel *last_kernel(void)
{
    return image.kernel_count ? &image.kernels[image.kernel_count - 1] : NULL;
}

static bool read_cluster(const struct line *line)
{
    struct kernel *kernel = last_kernel();

    return kernel && field_word(line, 1, &kernel->cluster[0]) && field_word(line, 2, &kernel->cluster[1]) &&
           field_word(line, 3, &kernel->cluster[2]);
}

static bool read_parameter(const struct line *line)
{
    struct kernel *kernel = last_kernel();
    struct parameter *parameter;

    if (!kernel)
        return false;
    kernel->parameters =
        grown(kernel->parameters, &parameter_capacity, kernel->parameter_count + (size_t)1, sizeof(*kernel->parameters));
    parameter = &kernel->parameters[kernel->parameter_count++];
    return field_word(line, 1, &parameter->offset) && field_word(line, 2, &parameter->size);
}

static bool read_constant(const struct line *line, struct map *table)
{
    uint64_t offset;

    if (!field_number(line, 1, INT64_MAX, &offset))
        return false;
    map_put(table, offset, field_name(line, 2));
    return true;
}

static bool read_code(const struct line *line)
{
    return last_kernel() && read_constant(line, &last_kernel()->code_table);
}

static bool read_word(const struct line *line)
{
    uint32_t offset, word;

    if (!last_kernel() || !field_word(line, 1, &offset) || !field_word(line, 2, &word))
        return false;
    map_put(&last_kernel()->words, offset, word);
    return true;
}

static bool read_table(const struct line *line)
{
    uint32_t offset;

    if (!last_kernel() || !field_word(line, 1, &offset))
        return false;
    map_put(&last_kernel()->tables, field_name(line, 2), offset);
    return true;
}

static bool read_constant4(const struct line *line)
{
    symbols = grown(symbols, &symbol_capacity, symbol_count + 1, sizeof(*symbols));
    symbols[symbol_count++] = field_name(line, 2);
    return read_constant(line, &image.constant4);
}

size_t constant4_symbols(const name **list)
{
    *list = symbols;
    return symbol_count;
}

static bool read_function(const struct line *line)
{
    if (line->field[1].length)
        map_put(&image.functions, field_name(line, 1), 1);
    return true;
}

static bool read_entry(const struct line *line)
{
    if (line->field[1].length)
        map_put(&image.kernel_names, field_name(line, 1), 1);
    return true;
}

static bool read_address(const struct line *line)
{
    if (line->field[1].length) {
        image.addresses = grown(image.addresses, &address_capacity, image.address_count + 1, sizeof(*image.addresses));
        image.addresses[image.address_count++] = field_name(line, 1);
    }
    return true;
}

/* The last line about a function holds. */
static bool read_home(const struct line *line)
{
    struct home home = { field_name(line, 1), field_name(line, 2), 0 };
    uint32_t at;

    if (!field_word(line, 3, &home.index))
        return false;
    if (!map_get(&image.homes, home.function, &at)) {
        at = (uint32_t)image.home_count++;
        image.home = grown(image.home, &home_capacity, image.home_count, sizeof(*image.home));
        map_put(&image.homes, home.function, at);
    }
    image.home[at] = home;
    return true;
}

static const struct description_line {
    const char *word;
    unsigned fields; /* the word included */
    bool (*read)(const struct line *);
} known_lines[] = {
    { "sm", 2, read_sm },
    { "kernel", 5, read_kernel },
    { "cluster", 4, read_cluster },
    { "parameter", 3, read_parameter },
    { "code", 3, read_code },
    { "word", 3, read_word },
    { "table", 3, read_table },
    { "entry", 2, read_entry },
    { "constant4", 3, read_constant4 },
    { "function", 2, read_function },
    { "address", 2, read_address },
    { "home", 4, read_home },
};

static bool read_description_line(const struct line *line)
{
    size_t i;

    for (i = 0; i < sizeof(known_lines) / sizeof(*known_lines); i++)
        if (says(line->field[0], known_lines[i].word))
            return line->count == known_lines[i].fields && known_lines[i].read(line);
    return false;
}

static _Noreturn void malformed(size_t line_number, const char *start, const char *end)
{
    size_t length = (size_t)(end - start), i;

    fprintf(stderr, "Line %zu of the description is malformed: \"", line_number);
    for (i = 0; i < length && i < SHOWN; i++)
        putc(start[i] >= ' ' && start[i] < 127 ? start[i] : '?', stderr);
    fputs(i < length ? "...\".\n" : "\".\n", stderr);
    exit(MALFORMED);
}

/* The listing that follows the description. */
static char *read_description(char *at, const char *end)
{
    size_t count = 0;
    struct line line;

    while (at < end) {
        char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *stop = newline ? newline : end;
        bool good = split(at, stop, &line);

        if (++count == 1)
            good = good && line.count == 2 && says(line.field[0], "pdl-lint-image") && says(line.field[1], "1");
        else if (good && line.count == 1 && says(line.field[0], "listing"))
            return newline ? newline + 1 : at + (end - at);
        else
            good = good && read_description_line(&line);
        if (!good)
            malformed(count, at, stop);
        at += stop - at + (newline ? 1 : 0);
    }
    fputs(count ? "The description ends without a listing.\n" : "There is no description on standard input.\n", stderr);
    exit(MALFORMED);
}

static int by_text(const void *left, const void *right)
{
    return strcmp(text_of(*(const name *)left), text_of(*(const name *)right));
}

static void sort_addresses(void)
{
    size_t i, kept = 0;

    if (image.address_count)
        qsort(image.addresses, image.address_count, sizeof(*image.addresses), by_text);
    for (i = 0; i < image.address_count; i++)
        if (!kept || image.addresses[kept - 1] != image.addresses[i])
            image.addresses[kept++] = image.addresses[i];
    image.address_count = kept;
}

void read_image(FILE *file)
{
    size_t length;
    char *text = read_all(file, &length), *listing = read_description(text, text + length);

    sort_addresses();
    image.section_count = read_listing(listing, length - (size_t)(listing - text), &image.sections);
    free(text); /* it can be larger than all that was made of it */
}
