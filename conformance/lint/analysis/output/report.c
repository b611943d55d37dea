/* Writes what was found of a kernel as one line of JSON. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "output/report.h"

static const char *const progress_names[PROGRESSES] = { "FRESH", "AHEAD", "CLUSTER", "SIBLING", "SIGNALLED", "WAITED" };
static const char *const window_names[] = { "local", "shared", "constant", "heap" };

/* texts --------------------------------------------------------------------------------------------------------------- */

/* Bytes of the character at the start of this text if it is valid UTF-8, else 0. */
static size_t character_length(const unsigned char *at)
{
    size_t length = at[0] < 0x80 ? 1 : at[0] < 0xC2 ? 0 : at[0] < 0xE0 ? 2 : at[0] < 0xF0 ? 3 : at[0] < 0xF5 ? 4 : 0, i;

    for (i = 1; i < length; i++)
        if ((at[i] & 0xC0) != 0x80)
            return 0;
    if ((at[0] == 0xE0 && at[1] < 0xA0) || (at[0] == 0xED && at[1] >= 0xA0)) /* too long a form; half of a pair */
        return 0;
    if ((at[0] == 0xF0 && at[1] < 0x90) || (at[0] == 0xF4 && at[1] >= 0x90)) /* too long a form; beyond the last one */
        return 0;
    return length;
}

/* The inside of a JSON string. */
static void write_inside(FILE *out, const char *text)
{
    const unsigned char *at = (const unsigned char *)text, *start = at;

    while (*at) {
        size_t length = character_length(at);

        if (length && *at >= ' ' && *at != '"' && *at != '\\' && *at != 0x7F) {
            at += length;
            continue;
        }
        fwrite(start, 1, (size_t)(at - start), out);
        if (*at == '"' || *at == '\\')
            fprintf(out, "\\%c", *at);
        else
            fprintf(out, "\\u%04x", length ? *at : 0xFFFDu);
        start = ++at;
    }
    fwrite(start, 1, (size_t)(at - start), out);
}

static void write_string(FILE *out, const char *text)
{
    putc('"', out);
    write_inside(out, text);
    putc('"', out);
}

static void write_name(FILE *out, name text) { write_string(out, text ? text_of(text) : ""); }

static void write_bool(FILE *out, const char *key, bool holds)
{
    fprintf(out, ",\"%s\":%s", key, holds ? "true" : "false");
}

/* places -------------------------------------------------------------------------------------------------------------- */

static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static void write_instruction(FILE *out, const struct decoded *decoded)
{
    const char *operands = decoded->text ? text_of(decoded->text) : "";
    size_t length;
    char *trimmed;

    while (is_blank(*operands))
        operands++;
    for (length = strlen(operands); length && is_blank(operands[length - 1]);)
        length--;
    putc('"', out);
    write_inside(out, text_of(decoded->opcode->text));
    if (length) {
        putc(' ', out);
        if (operands[length]) {
            trimmed = allocate(length + 1);
            write_inside(out, memcpy(trimmed, operands, length));
            free(trimmed);
        } else {
            write_inside(out, operands);
        }
    }
    putc('"', out);
}

/* The last line that holds from this instruction or one before it. */
static const struct source_line *line_of(const struct section *section, uint32_t index)
{
    uint32_t low = 0, high = section->line_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (section->lines[middle].index <= index)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return NULL;
    while (low > 1 && section->lines[low - 2].inlined && section->lines[low - 2].index == section->lines[low - 1].index)
        low--;
    return &section->lines[low - 1];
}

enum { MOST_INLINED = 16 };

/* The line, then those into which it was inlined, innermost first. */
static void write_lines(FILE *out, const struct section *section, const struct source_line *line)
{
    const struct source_line *end = section->lines + section->line_count, *next = line;
    const char *between = "[";

    for (unsigned depth = 0; next < end && depth < MOST_INLINED; depth++, next++) {
        fputs(between, out);
        putc('[', out);
        write_name(out, next->file);
        fprintf(out, ",%" PRIu32 "]", next->line);
        between = ",";
        if (!next->inlined)
            break;
    }
    putc(']', out);
}

static void write_place(FILE *out, const struct section *section, uint32_t index)
{
    const struct source_line *line = line_of(section, index);

    fputs("{\"section\":", out);
    write_name(out, section->name);
    fprintf(out, ",\"offset\":%" PRIu32 ",\"instruction\":", section->code[index].offset);
    write_instruction(out, section->code[index].decoded);
    fputs(",\"source\":", out);
    if (line)
        write_lines(out, section, line);
    else
        fputs("null", out);
    putc('}', out);
}

static void write_place_or_null(FILE *out, const char *key, const struct section *section, int64_t index)
{
    fprintf(out, "\"%s\":", key);
    if (index < 0)
        fputs("null", out);
    else
        write_place(out, section, (uint32_t)index);
}

static int compare_places(struct place left, struct place right)
{
    int order = left.section == right.section ? 0 : strcmp(text_of(left.section->name), text_of(right.section->name));

    return order ? order : (left.index > right.index) - (left.index < right.index);
}

static int by_place(const void *left, const void *right)
{
    return compare_places(*(const struct place *)left, *(const struct place *)right);
}

static int by_place_of_access(const void *left, const void *right)
{
    return compare_places(((const struct access *)left)->place, ((const struct access *)right)->place);
}

static int by_place_of_call(const void *left, const void *right)
{
    return compare_places(((const struct unresolved *)left)->place, ((const struct unresolved *)right)->place);
}

static int by_text(const void *left, const void *right)
{
    return strcmp(text_of(*(const name *)left), text_of(*(const name *)right));
}

static void sort(void *array, size_t count, size_t element_bytes, int (*compare)(const void *, const void *))
{
    if (count > 1)
        qsort(array, count, element_bytes, compare);
}

/* accesses ------------------------------------------------------------------------------------------------------------ */

static void write_origin(FILE *out, origin written)
{
    uint32_t n = origin_number(written);
    bool via = written & ORIGIN_VIA;

    if (via)
        fputs("[\"via\",", out);
    switch (origin_kind(written)) {
    case ORIGIN_PARAMETER:
        fprintf(out, "[\"param\",%" PRIu32 "]", n);
        break;
    case ORIGIN_SYMBOL:
        fputs("[\"symbol\",", out);
        write_name(out, n);
        putc(']', out);
        break;
    case ORIGIN_WINDOW:
        fprintf(out, "[\"window\",\"%s\"]", n <= WINDOW_HEAP ? window_names[n] : "?");
        break;
    default:
        fprintf(out, "[\"bank\",%" PRIu32 "]", n);
    }
    if (via)
        putc(']', out);
}

static void write_provenance(FILE *out, provenance set)
{
    const origin *list;
    unsigned i, count = set ? provenance_list(set, &list) : 0;

    putc('[', out);
    for (i = 0; i < count; i++) {
        if (i)
            putc(',', out);
        write_origin(out, list[i]);
    }
    putc(']', out);
}

static void write_states(FILE *out, const char *key, unsigned states)
{
    const char *between = "";
    unsigned i;

    fprintf(out, ",\"%s\":[", key);
    for (i = 0; i < PROGRESSES; i++)
        if (states >> i & 1) {
            fprintf(out, "%s\"%s\"", between, progress_names[i]);
            between = ",";
        }
    putc(']', out);
}

static void write_callers(FILE *out, const struct access *access)
{
    const char *between = "";
    size_t i;

    sort(access->callers, access->caller_count, sizeof(*access->callers), by_text);
    fputs(",\"callers\":[", out);
    for (i = 0; i < access->caller_count; i++)
        if (!i || access->callers[i] != access->callers[i - 1]) {
            fputs(between, out);
            write_name(out, access->callers[i]);
            between = ",";
        }
    putc(']', out);
}

/* Each set of provenance once, numbered from 0: most accesses share theirs with others. */
static void write_origin_sets(FILE *out, const struct findings *found, struct map *numbers)
{
    uint32_t number;
    size_t i;

    fputs(",\"origin_sets\":[", out);
    for (i = 0; i < found->access_count; i++) {
        if (map_get(numbers, found->accesses[i].provenance, &number))
            continue;
        number = (uint32_t)numbers->count;
        map_put(numbers, found->accesses[i].provenance, number);
        if (number)
            putc(',', out);
        write_provenance(out, found->accesses[i].provenance);
    }
    putc(']', out);
}

static void write_access(FILE *out, const struct access *access, const struct map *origin_sets)
{
    uint32_t origin_set = 0;
    const struct section *section = access->place.section;
    bool loads = access->kind == KIND_LOAD || access->kind == KIND_GENERIC_LOAD;

    fputs("{\"place\":", out);
    write_place(out, section, access->place.index);
    fprintf(out, ",\"kind\":\"%s\"", access->kind < KINDS ? kind_names[access->kind] : "UNKNOWN");
    write_bool(out, "readonly", section->code[access->place.index].decoded->opcode->readonly);
    write_states(out, "states", access->states);
    write_states(out, "decided_states", access->decided_states);
    map_get(origin_sets, access->provenance, &origin_set);
    fprintf(out, ",\"origins\":%" PRIu32, origin_set);
    write_callers(out, access);
    write_bool(out, "reaches_wait", access->reaches_wait);
    putc(',', out);
    write_place_or_null(out, "used", section,
                        loads && access->reaches_wait ? used_after_wait(section, access->place.index) : -1);
    putc(',', out);
    write_place_or_null(out, "passed", access->passed.section, access->passed.section ? (int64_t)access->passed.index : -1);
    putc('}', out);
}

static void write_accesses(FILE *out, const struct findings *found)
{
    static struct map origin_sets;
    size_t i;

    map_clear(&origin_sets);
    sort(found->accesses, found->access_count, sizeof(*found->accesses), by_place_of_access);
    write_origin_sets(out, found, &origin_sets);
    fputs(",\"accesses\":[", out);
    for (i = 0; i < found->access_count; i++) {
        if (i)
            putc(',', out);
        write_access(out, &found->accesses[i], &origin_sets);
    }
    putc(']', out);
}

/* the rest of a kernel ------------------------------------------------------------------------------------------------ */

static void write_places(FILE *out, const char *key, const struct place_list *places, bool with_opcode)
{
    size_t i;

    sort(places->place, places->count, sizeof(*places->place), by_place);
    fprintf(out, ",\"%s\":[", key);
    for (i = 0; i < places->count; i++) {
        struct place place = places->place[i];

        fputs(i ? "," : "", out);
        fputs(with_opcode ? "{\"place\":" : "", out);
        write_place(out, place.section, place.index);
        if (with_opcode) {
            fputs(",\"opcode\":", out);
            write_name(out, place.section->code[place.index].decoded->opcode->text);
            putc('}', out);
        }
    }
    putc(']', out);
}

/* The waits of the kernel's own code. */
static void write_waits(FILE *out, const struct section *section)
{
    const char *between = "";

    fputs(",\"wait_places\":[", out);
    for (uint32_t i = 0; i < section->notable_count; i++) {
        if (section->code[section->notable[i]].kind != KIND_WAIT)
            continue;
        fputs(between, out);
        write_place(out, section, section->notable[i]);
        between = ",";
    }
    putc(']', out);
}

static void write_call(FILE *out, const struct unresolved *call)
{
    fputs("{\"place\":", out);
    write_place(out, call->place.section, call->place.index);
    fputs(",\"what\":\"", out);
    if (call->callee) {
        putc('`', out);
        write_inside(out, text_of(call->callee));
        fputs("`, which is not in this file", out);
    } else {
        write_inside(out, call->why ? call->why : "");
    }
    fputs("\"}", out);
}

/* Each callee once, where it is called first. */
static void write_calls(FILE *out, const char *key, struct unresolved *calls, size_t count)
{
    static struct map known;
    const char *between = "";
    uint32_t ignored;
    size_t i;

    map_clear(&known);
    sort(calls, count, sizeof(*calls), by_place_of_call);
    fprintf(out, ",\"%s\":[", key);
    for (i = 0; i < count; i++) {
        uint64_t what = calls[i].callee;

        if (!what)
            what = (uint64_t)1 << 32 | name_of_text(calls[i].why ? calls[i].why : "");
        if (map_get(&known, what, &ignored))
            continue;
        map_put(&known, what, 1);
        fputs(between, out);
        write_call(out, &calls[i]);
        between = ",";
    }
    putc(']', out);
}

/* Only the first one. */
static void write_exit(FILE *out, const char *key, const struct place_list *exits)
{
    size_t first = 0, i;

    for (i = 1; i < exits->count; i++)
        if (compare_places(exits->place[i], exits->place[first]) < 0)
            first = i;
    fprintf(out, ",\"%s\":", key);
    if (exits->count)
        write_place(out, exits->place[first].section, exits->place[first].index);
    else
        fputs("null", out);
}

/* Offsets in the parameters, and where they are asked. */
static void write_deciders(FILE *out, const struct deciders *deciders)
{
    size_t i;

    fputs(",\"deciders\":", out);
    if (!deciders->count) {
        fputs("null", out);
        return;
    }
    fputs("{\"offsets\":[", out);
    for (i = 0; i < deciders->count; i++)
        fprintf(out, "%s%" PRIu32, i ? "," : "", deciders->offset[i]);
    fputs("],\"place\":", out);
    write_place(out, deciders->place.section, deciders->place.index);
    putc('}', out);
}

static void write_hints(FILE *out, const struct section *section)
{
    struct hints hints = hints_of(section);

    fputs(",\"hints\":{", out);
    write_place_or_null(out, "wait_in_loop", section, hints.wait_in_loop);
    putc(',', out);
    write_place_or_null(out, "wait_at_once", section, hints.wait_at_once);
    fputs(",\"read_only\":", out);
    if (hints.read_only_count) {
        fprintf(out, "{\"count\":%" PRIu32 ",", hints.read_only_count);
        write_place_or_null(out, "place", section, hints.read_only);
        putc('}', out);
    } else {
        fputs("null", out);
    }
    putc(',', out);
    write_place_or_null(out, "store_after_trigger", section, hints.store_after_trigger);
    putc(',', out);
    write_place_or_null(out, "fence_then_trigger", section, hints.fence_then_trigger);
    putc('}', out);
}

static void write_code(FILE *out, const struct section *section)
{
    uint32_t i;

    fputs(",\"code\":[", out);
    for (i = 0; i < section->count; i++) {
        fputs(i ? ",[" : "[", out);
        write_name(out, section->code[i].decoded->opcode->text);
        fprintf(out, ",\"%s\"]", section->code[i].kind < KINDS ? kind_names[section->code[i].kind] : "UNKNOWN");
    }
    putc(']', out);
}

/* The registers and predicates that each instruction writes: R0, UR4, P1, UP0. */
static void write_written(FILE *out, const struct section *section)
{
    static const struct {
        unsigned first;
        const char *letters;
    } files[] = { { FIRST_UP, "UP" }, { FIRST_P, "P" }, { FIRST_UR, "UR" }, { FIRST_R, "R" } };
    uint32_t i, k;

    fputs(",\"written\":[", out);
    for (i = 0; i < section->count; i++) {
        const struct decoded *decoded = section->code[i].decoded;
        fputs(i ? ",[" : "[", out);
        for (k = 0; k < decoded->destination_count; k++) {
            unsigned reg = decoded->destinations[k], file = 0;
            while (reg < files[file].first)
                file++;
            fprintf(out, "%s\"%s%u\"", k ? "," : "", files[file].letters, reg - files[file].first);
        }
        putc(']', out);
    }
    putc(']', out);
}

void report_kernel(FILE *out, const struct kernel *kernel, bool with_code)
{
    const struct section *section = section_named(kernel->name);
    struct findings found = { 0 };
    struct unresolved *unseen = NULL;
    size_t unseen_count = 0, touched = 0;
    uint32_t kinds;
    bool waits;

    fputs("{\"kernel\":", out);
    write_name(out, kernel->name);
    fprintf(out, ",\"present\":%s", section ? "true" : "false");
    if (!section) {
        fputs("}\n", out);
        return;
    }
    kinds = closure_kinds(kernel->name);
    waits = kinds >> KIND_WAIT & 1;
    if (waits)
        analyse(kernel, &found);
    else
        touched = closure_touches(kernel->name, &unseen, &unseen_count);
    write_bool(out, "waits", waits);
    write_bool(out, "triggers", kinds >> KIND_TRIGGER & 1);
    write_bool(out, "imprecise", found.imprecise);
    write_accesses(out, &found);
    write_places(out, "prefetches", &found.places[FOUND_PREFETCH], false);
    write_places(out, "unknown", &found.places[FOUND_UNKNOWN], true);
    write_calls(out, "unresolved", found.unresolved, found.unresolved_count);
    write_places(out, "early_triggers", &found.places[FOUND_TRIGGER], false);
    write_waits(out, section);
    write_exit(out, "exit", &found.places[FOUND_EXIT]);
    write_exit(out, "end", &found.places[FOUND_END]);
    write_deciders(out, &found.deciders);
    fprintf(out, ",\"touched\":%zu", touched);
    write_calls(out, "unseen", unseen, unseen_count);
    write_hints(out, section);
    if (with_code) {
        write_code(out, section);
        write_written(out, section);
    }
    fputs("}\n", out);
}
