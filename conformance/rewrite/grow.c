/* grow.c - see grow.h */
#include "grow.h"

#include <stdlib.h>
#include <string.h>

static const struct instruction no_operation = {0x0000000000007918, 0x000fc00000000000};

/* Room for one more element of this size; 0 if there is no memory. */
static int make_room(void **array, size_t count, size_t *room, size_t element)
{
    if (count < *room) {
        return 1;
    }
    size_t more = *room ? 2 * *room : 16;
    void *bigger = realloc(*array, more * element);
    if (bigger) {
        *array = bigger;
        *room = more;
    }
    return bigger != NULL;
}

#define ADD(edit, array, count, room, ...)                                                   \
    do {                                                                                     \
        void *place = (edit)->array;                                                         \
        if (make_room(&place, (edit)->count, &(edit)->room, sizeof *(edit)->array)) {        \
            (edit)->array = place;                                                           \
            (edit)->array[(edit)->count++] = __VA_ARGS__;                                    \
        } else {                                                                             \
            (edit)->out_of_memory = 1;                                                       \
        }                                                                                    \
    } while (0)

void edit_append(struct edit *edit, struct instruction instruction)
{
    ADD(edit, code, code_count, code_room, instruction);
}

void edit_patch(struct edit *edit, uint64_t at, struct instruction now)
{
    ADD(edit, patches, patch_count, patch_room, (struct patch){at, now});
}

void edit_move(struct edit *edit, uint64_t from, uint64_t to)
{
    ADD(edit, moved, moved_count, moved_room, (struct moved){from, to});
}

void edit_free(struct edit *edit)
{
    free(edit->code);
    free(edit->patches);
    free(edit->moved);
}

/* Where each grown section ended, ascending, and by how much everything from there on moves. */
struct shifts {
    uint64_t *ends, *totals;
    size_t count;
};

static size_t ends_up_to(const struct shifts *shifts, uint64_t offset)
{
    size_t low = 0, high = shifts->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (shifts->ends[middle] <= offset) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static uint64_t shifted(const struct shifts *shifts, uint64_t offset)
{
    size_t before = ends_up_to(shifts, offset);
    return before ? offset + shifts->totals[before - 1] : offset;
}

static uint64_t growth_of(const struct edit *edit)
{
    uint64_t bytes = edit->code_count * INSTRUCTION;
    return (bytes + SECTION_ALIGNMENT - 1) / SECTION_ALIGNMENT * SECTION_ALIGNMENT;
}

static int by_place(const void *one, const void *other)
{
    uint64_t a = ((const struct edit *)one)->old_end, b = ((const struct edit *)other)->old_end;
    return (a > b) - (a < b);
}

/* What all passes over the copy use. */
struct growing {
    const struct cubin *cubin;
    const struct shifts *shifts;
    const struct edit *edits;
    size_t count;
    const uint32_t *owners; /* section -> 1 + the edit of its code, 0: none */
    unsigned char *out;
};

/* Whether these bytes have some in common with a code section that grows (other than the edit `own`, if not 0). */
static int overlaps(const struct growing *growing, uint64_t offset, uint64_t size, uint32_t own)
{
    size_t next = ends_up_to(growing->shifts, offset);
    if (size == 0 || next == growing->count) {
        return 0;
    }
    const struct edit *edit = &growing->edits[next];
    return edit->old_end - edit->old_size < offset + size && next + 1 != own;
}

static const char *layout_problem(const struct growing *growing)
{
    const struct cubin *cubin = growing->cubin;
    for (size_t i = 1; i < growing->count; i++) {
        if (growing->edits[i].old_end - growing->edits[i].old_size < growing->edits[i - 1].old_end) {
            return "its code sections overlap";
        }
    }
    for (uint32_t i = 1; i < cubin->section_count; i++) {
        if (overlaps(growing, cubin->sections[i].offset, cubin->sections[i].size, growing->owners[i])) {
            return "a section overlaps a code section";
        }
    }
    if (overlaps(growing, cubin->section_table, (uint64_t)cubin->section_count * SECTION_HEADER, 0)
        || overlaps(growing, cubin->program_table, (uint64_t)cubin->program_count * PROGRAM_HEADER, 0)
        || overlaps(growing, 0, ELF_HEADER, 0)) {
        return "a header overlaps a code section";
    }
    return NULL;
}

static void copy_grown(const struct growing *growing)
{
    unsigned char *out = growing->out;
    uint64_t from = 0;
    for (size_t i = 0; i < growing->count; i++) {
        const struct edit *edit = &growing->edits[i];
        memcpy(out, growing->cubin->data + from, edit->old_end - from);
        out += edit->old_end - from;
        from = edit->old_end;
        memcpy(out, edit->code, edit->code_count * INSTRUCTION);
        out += edit->code_count * INSTRUCTION;
        for (uint64_t filled = edit->code_count * INSTRUCTION; filled < growth_of(edit); filled += INSTRUCTION) {
            memcpy(out, &no_operation, INSTRUCTION);
            out += INSTRUCTION;
        }
    }
    memcpy(out, growing->cubin->data + from, growing->cubin->size - from);
}

static void move_sections(const struct growing *growing)
{
    const struct cubin *cubin = growing->cubin;
    unsigned char *table = growing->out + shifted(growing->shifts, cubin->section_table);
    write64(growing->out + 40, shifted(growing->shifts, cubin->section_table));
    for (uint32_t i = 1; i < cubin->section_count; i++) {
        unsigned char *row = table + (size_t)i * SECTION_HEADER;
        write64(row + 24, shifted(growing->shifts, cubin->sections[i].offset));
        if (growing->owners[i]) {
            const struct edit *edit = &growing->edits[growing->owners[i] - 1];
            unsigned stated = cubin->sections[i].info >> 24; /* older images have the count here, too */
            write64(row + 32, edit->old_size + growth_of(edit));
            if (stated && stated < edit->registers) {
                write32(row + 44, (cubin->sections[i].info & 0xFFFFFF) | edit->registers << 24);
            }
        }
    }
}

static void move_segments(const struct growing *growing)
{
    const struct cubin *cubin = growing->cubin;
    unsigned char *table = growing->out + shifted(growing->shifts, cubin->program_table);
    if (cubin->program_count == 0) {
        return;
    }
    write64(growing->out + 32, shifted(growing->shifts, cubin->program_table));
    for (uint32_t i = 0; i < cubin->program_count; i++) {
        unsigned char *row = table + (size_t)i * PROGRAM_HEADER;
        uint64_t offset = read64(row + 8), size = read64(row + 32);
        if (offset > cubin->size || size > cubin->size - offset) {
            continue; /* it covers no bytes of the file */
        }
        uint64_t start = shifted(growing->shifts, offset);
        uint64_t grown = size ? shifted(growing->shifts, offset + size) - start : 0;
        write64(row + 8, start);
        write64(row + 32, grown);
        write64(row + 40, read64(row + 40) + grown - size);
    }
}

static const struct moved *find_moved(const struct edit *edit, uint64_t from)
{
    size_t low = 0, high = edit->moved_count; /* ascending, because a kernel is read from its start */
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (edit->moved[middle].from < from) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < edit->moved_count && edit->moved[low].from == from ? &edit->moved[low] : NULL;
}

/* Attributes whose value is a plain list of offsets in the code, as seen on sm_90 to sm_120: exits, reads of the block's
 * number, cooperative groups, warp-wide instructions. */
static int lists_offsets(unsigned code)
{
    return code == ATTRIBUTE_EXITS || code == 0x1D || code == 0x28 || code == 0x31;
}

static void move_listed(const struct growing *growing, const struct section *section)
{
    const struct cubin *cubin = growing->cubin;
    const struct edit *edit = &growing->edits[growing->owners[section->info] - 1];
    struct attribute_record record;
    uint64_t at = 0;
    while (next_attribute(cubin, section, &at, &record)) {
        for (uint32_t word = 0; lists_offsets(record.code) && word + 4 <= record.size; word += 4) {
            const struct moved *moved = find_moved(edit, read32(cubin->data + record.value + word));
            if (moved) {
                write32(growing->out + shifted(growing->shifts, record.value) + word, (uint32_t)moved->to);
            }
        }
    }
}

static uint32_t raised(const struct edit *edit, unsigned attribute, uint32_t value)
{
    switch (attribute) {
    case ATTRIBUTE_REGISTERS: return value < edit->registers ? edit->registers : value;
    case ATTRIBUTE_FRAME: case ATTRIBUTE_LEAST_STACK: return value + edit->stack;
    default: return value;
    }
}

/* In .nv.info of the whole image: pairs of a kernel's symbol and its number of registers, or the size of its stack. */
static void raise_resources(const struct growing *growing, const struct section *section)
{
    const struct cubin *cubin = growing->cubin;
    struct attribute_record record;
    uint64_t at = 0;
    while (next_attribute(cubin, section, &at, &record)) {
        uint32_t index = record.size >= 8 ? read32(cubin->data + record.value) : UINT32_MAX;
        if ((record.code != ATTRIBUTE_REGISTERS && record.code != ATTRIBUTE_FRAME && record.code != ATTRIBUTE_LEAST_STACK)
            || index >= cubin->symbol_count) {
            continue;
        }
        unsigned home = cubin_symbol(cubin, index).section;
        uint32_t owner = home < cubin->section_count ? growing->owners[home] : 0;
        if (owner && growing->edits[owner - 1].symbol == index) {
            write32(growing->out + shifted(growing->shifts, record.value) + 4,
                    raised(&growing->edits[owner - 1], record.code, read32(cubin->data + record.value + 4)));
        }
    }
}

static void move_relocations(const struct growing *growing, const struct section *section)
{
    const struct edit *edit = &growing->edits[growing->owners[section->info] - 1];
    uint64_t step = section->type == SECTION_RELA ? RELA_SIZE : REL_SIZE;
    for (uint64_t at = 0; at + step <= section->size; at += step) {
        uint64_t place = section->offset + at, offset = read64(growing->cubin->data + place);
        const struct moved *moved = find_moved(edit, offset / INSTRUCTION * INSTRUCTION);
        if (moved) {
            write64(growing->out + shifted(growing->shifts, place), moved->to + offset % INSTRUCTION);
        }
    }
}

static void change_records(const struct growing *growing)
{
    const struct cubin *cubin = growing->cubin;
    for (uint32_t i = 1; i < cubin->section_count; i++) {
        const struct section *section = &cubin->sections[i];
        int of_code = section->info < cubin->section_count && growing->owners[section->info];
        if (section->type == INFO_TYPE && section->info == 0) {
            raise_resources(growing, section);
        } else if (section->type == INFO_TYPE && of_code) {
            move_listed(growing, section);
        } else if ((section->type == SECTION_RELA || section->type == SECTION_REL) && of_code) {
            move_relocations(growing, section);
        }
    }
}

static void change_code(const struct growing *growing)
{
    for (size_t i = 0; i < growing->count; i++) {
        const struct edit *edit = &growing->edits[i];
        unsigned char *code = growing->out + shifted(growing->shifts, growing->cubin->sections[edit->section].offset);
        for (size_t k = 0; k < edit->patch_count; k++) {
            memcpy(code + edit->patches[k].at, &edit->patches[k].now, INSTRUCTION);
        }
        struct symbol symbol = cubin_symbol(growing->cubin, edit->symbol);
        if (symbol.value + symbol.size == edit->old_size) {
            uint64_t row = growing->cubin->symbol_table + (uint64_t)edit->symbol * SYMBOL_SIZE;
            write64(growing->out + shifted(growing->shifts, row) + 16, symbol.size + growth_of(edit));
        }
    }
}

static int fill_tables(struct edit *edits, size_t count, struct shifts *shifts, uint32_t *owners)
{
    uint64_t total = 0;
    qsort(edits, count, sizeof *edits, by_place);
    for (size_t i = 0; i < count; i++) {
        if (edits[i].out_of_memory) {
            return 0;
        }
        total += growth_of(&edits[i]);
        shifts->ends[i] = edits[i].old_end;
        shifts->totals[i] = total;
        owners[edits[i].section] = (uint32_t)i + 1;
    }
    return 1;
}

unsigned char *grow(const struct cubin *cubin, struct edit *edits, size_t count, size_t *out_size, const char **wrong)
{
    struct shifts shifts = {calloc(count + 1, sizeof *shifts.ends), calloc(count + 1, sizeof *shifts.totals), count};
    uint32_t *owners = calloc(cubin->section_count, sizeof *owners);
    struct growing growing = {cubin, &shifts, edits, count, owners, NULL};
    *wrong = "there is no memory for the new image";
    if (shifts.ends && shifts.totals && owners && fill_tables(edits, count, &shifts, owners)) {
        *wrong = layout_problem(&growing);
        *out_size = cubin->size + (count ? shifts.totals[count - 1] : 0);
        growing.out = *wrong ? NULL : malloc(*out_size);
        *wrong = *wrong || growing.out ? *wrong : "there is no memory for the new image";
    }
    if (growing.out) {
        copy_grown(&growing);
        move_sections(&growing);
        move_segments(&growing);
        change_records(&growing);
        change_code(&growing);
    }
    free(shifts.ends);
    free(shifts.totals);
    free(owners);
    return growing.out;
}
