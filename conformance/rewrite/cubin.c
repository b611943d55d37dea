/* cubin.c - see cubin.h */
#include "cubin.h"

#include <stdlib.h>
#include <string.h>

uint16_t read16(const unsigned char *at)
{
    uint16_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

uint32_t read32(const unsigned char *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

uint64_t read64(const unsigned char *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

void write32(unsigned char *at, uint32_t value)
{
    memcpy(at, &value, sizeof value);
}

void write64(unsigned char *at, uint64_t value)
{
    memcpy(at, &value, sizeof value);
}

static int inside(uint64_t offset, uint64_t size, uint64_t whole)
{
    return offset <= whole && size <= whole - offset;
}

/* A name that ends within its table, else NULL. */
static const char *name_at(const char *table, uint64_t size, uint64_t offset)
{
    return offset < size && memchr(table + offset, 0, size - offset) ? table + offset : NULL;
}

/* How much of the file a section takes, by its type and its size in memory. */
static uint64_t size_in_file(uint32_t type, uint64_t size)
{
    return type == SECTION_NOBITS || type == SECTION_DEBUG_SHARED ? 0 : size;
}

static const char *read_header(struct cubin *cubin)
{
    const unsigned char *data = cubin->data;
    if (cubin->size < ELF_HEADER || memcmp(data, "\177ELF", 4) != 0 || data[4] != 2 || data[5] != 1) {
        return "it is not a 64-bit little-endian ELF file";
    }
    if (read16(data + 18) != CUDA_MACHINE) {
        return "its ELF machine is not CUDA";
    }
    uint32_t flags = read32(data + 48);
    cubin->architecture = data[8] >= 8 ? flags >> 8 & 0xFF : flags & 0xFF;
    cubin->program_table = read64(data + 32);
    cubin->section_table = read64(data + 40);
    cubin->program_count = read16(data + 56);
    cubin->section_count = read16(data + 60);
    if (read16(data + 58) != SECTION_HEADER || (cubin->program_count && read16(data + 54) != PROGRAM_HEADER)) {
        return "its section or program headers have an unknown size";
    }
    if (cubin->section_count == 0) { /* more than 65,279 sections: the count stands in section 0 */
        if (cubin->section_table == 0 || !inside(cubin->section_table, SECTION_HEADER, cubin->size)) {
            return "it has no section table";
        }
        uint64_t count = read64(data + cubin->section_table + 32);
        cubin->section_count = count <= UINT32_MAX ? (uint32_t)count : 0;
    }
    if (cubin->section_count == 0 || !inside(cubin->section_table, (uint64_t)cubin->section_count * SECTION_HEADER, cubin->size)
        || !inside(cubin->program_table, (uint64_t)cubin->program_count * PROGRAM_HEADER, cubin->size)) {
        return "its section or program table lies past its end";
    }
    return NULL;
}

static const char *read_sections(struct cubin *cubin)
{
    const unsigned char *table = cubin->data + cubin->section_table;
    cubin->sections = calloc(cubin->section_count, sizeof *cubin->sections);
    if (cubin->sections == NULL) {
        return "there is no memory for its section table";
    }
    for (uint32_t i = 0; i < cubin->section_count; i++) {
        const unsigned char *row = table + (size_t)i * SECTION_HEADER;
        struct section *section = &cubin->sections[i];
        section->type = read32(row + 4);
        section->flags = read64(row + 8);
        section->address = read64(row + 16);
        section->offset = i == 0 ? 0 : read64(row + 24); /* section 0 has no place; links to "no section" lead to it */
        section->size = i == 0 ? 0 : size_in_file(section->type, read64(row + 32));
        section->link = read32(row + 40);
        section->info = read32(row + 44);
        if (!inside(section->offset, section->size, cubin->size)) {
            return "a section lies past its end";
        }
    }
    uint32_t names = read16(cubin->data + 62);
    names = names == 0xFFFF ? read32(table + 40) : names;
    if (names >= cubin->section_count) {
        return "its section names are missing";
    }
    for (uint32_t i = 0; i < cubin->section_count; i++) {
        struct section *section = &cubin->sections[i];
        const struct section *text = &cubin->sections[names];
        section->name = name_at((const char *)cubin->data + text->offset, text->size,
                                read32(table + (size_t)i * SECTION_HEADER));
        if (section->name == NULL) {
            return "a section's name lies past the end of the names";
        }
    }
    return NULL;
}

static const char *find_symbols(struct cubin *cubin)
{
    for (uint32_t i = 1; i < cubin->section_count; i++) {
        const struct section *section = &cubin->sections[i];
        if (section->type == SECTION_SYMTAB) {
            if (section->link >= cubin->section_count || section->size / SYMBOL_SIZE > UINT32_MAX) {
                return "its symbol table has no names";
            }
            cubin->symbol_table = section->offset;
            cubin->symbol_count = (uint32_t)(section->size / SYMBOL_SIZE);
            cubin->symbol_names = (const char *)cubin->data + cubin->sections[section->link].offset;
            cubin->symbol_names_size = cubin->sections[section->link].size;
            return NULL;
        }
    }
    return "it has no symbol table";
}

const char *cubin_open(struct cubin *cubin, const void *image, size_t size)
{
    memset(cubin, 0, sizeof *cubin);
    cubin->data = image;
    cubin->size = size;
    const char *wrong = read_header(cubin);
    wrong = wrong ? wrong : read_sections(cubin);
    return wrong ? wrong : find_symbols(cubin);
}

void cubin_close(struct cubin *cubin)
{
    free(cubin->sections);
    cubin->sections = NULL;
}

struct symbol cubin_symbol(const struct cubin *cubin, uint32_t index)
{
    const unsigned char *row = cubin->data + cubin->symbol_table + (size_t)index * SYMBOL_SIZE;
    const char *name = name_at(cubin->symbol_names, cubin->symbol_names_size, read32(row));
    struct symbol symbol = {name ? name : "", index, row[4] & 15, row[5], read16(row + 6), read64(row + 8), read64(row + 16)};
    return symbol;
}

size_t elf_extent(const void *image, size_t most)
{
    const unsigned char *data = image;
    uint64_t end = ELF_HEADER;
    if (most < ELF_HEADER || memcmp(data, "\177ELF", 4) != 0 || data[4] != 2) {
        return 0;
    }
    uint64_t sections = read64(data + 40), programs = read64(data + 32);
    uint64_t count = read16(data + 60), program_count = read16(data + 56);
    if (count == 0 && sections && inside(sections, SECTION_HEADER, most)) {
        count = read64(data + sections + 32);
    }
    if (count > most / SECTION_HEADER || !inside(sections, count * SECTION_HEADER, most)
        || !inside(programs, program_count * PROGRAM_HEADER, most)) {
        return 0;
    }
    end = sections + count * SECTION_HEADER > end ? sections + count * SECTION_HEADER : end;
    end = programs + program_count * PROGRAM_HEADER > end ? programs + program_count * PROGRAM_HEADER : end;
    for (uint64_t i = 1; i < count; i++) {
        const unsigned char *row = data + sections + i * SECTION_HEADER;
        uint64_t offset = read64(row + 24), size = size_in_file(read32(row + 4), read64(row + 32));
        if (!inside(offset, size, most)) {
            return 0;
        }
        end = offset + size > end ? offset + size : end;
    }
    return (size_t)end;
}

int next_attribute(const struct cubin *cubin, const struct section *section, uint64_t *at, struct attribute_record *record)
{
    if (!inside(*at, 4, section->size)) {
        return 0;
    }
    const unsigned char *head = cubin->data + section->offset + *at;
    record->form = head[0];
    record->code = head[1];
    record->size = record->form == FORM_SIZED ? read16(head + 2) : 0;
    record->value = section->offset + *at + 4;
    *at += 4;
    if (!inside(*at, record->size, section->size)) {
        return 0;
    }
    *at += record->size;
    return 1;
}
