/* cubin.h - reads a CUDA image (a 64-bit ELF file), trusting nothing in it
 *
 * Every offset is checked once, in cubin_open; afterwards sections and symbols can be used without further checks.
 */
#ifndef PDL_REWRITE_CUBIN_H
#define PDL_REWRITE_CUBIN_H

#include <stddef.h>
#include <stdint.h>

enum {
    ELF_HEADER = 64, SECTION_HEADER = 64, PROGRAM_HEADER = 56, SYMBOL_SIZE = 24, RELA_SIZE = 24, REL_SIZE = 16,
    SECTION_SYMTAB = 2, SECTION_RELA = 4, SECTION_NOBITS = 8, SECTION_REL = 9,
    SECTION_DEBUG_SHARED = 0x7000000A, /* .nv_debug.shared, which takes no room in the file either */
    CUDA_MACHINE = 190, SYMBOL_FUNCTION = 2, CUDA_ENTRY = 0x10, INSTRUCTION = 16
};

struct section {
    const char *name; /* ends within the file */
    uint32_t type, link, info;
    uint64_t flags, address, offset, size; /* size in the file: 0 if it takes no room there */
};

struct symbol {
    const char *name;
    uint32_t index;
    unsigned kind, other, section;
    uint64_t value, size;
};

struct cubin {
    const unsigned char *data;
    size_t size;
    unsigned architecture; /* 90, 100, ... */
    uint64_t section_table, program_table;
    uint32_t section_count, program_count;
    struct section *sections;
    uint32_t symbol_count;
    uint64_t symbol_table; /* offset in the file; 0 if there is none */
    const char *symbol_names;
    uint64_t symbol_names_size;
};

uint16_t read16(const unsigned char *at);
uint32_t read32(const unsigned char *at);
uint64_t read64(const unsigned char *at);
void write32(unsigned char *at, uint32_t value);
void write64(unsigned char *at, uint64_t value);

/* NULL if the image can be used, else why not. call cubin_close in either case. */
const char *cubin_open(struct cubin *cubin, const void *image, size_t size);
void cubin_close(struct cubin *cubin);

/* index < cubin->symbol_count. The name is "" where the file has none that ends within it. */
struct symbol cubin_symbol(const struct cubin *cubin, uint32_t index);

/* The size of the ELF file at this place, as its headers state it; 0 if there is no ELF file or it is larger than `most`. */
size_t elf_extent(const void *image, size_t most);

/* Goes through the records of a .nv.info section. `at` begins with 0; 0 is returned at the end and at a damaged record. */
struct attribute_record {
    unsigned form, code;
    uint64_t value; /* offset in the file of the value's first byte */
    uint32_t size;
};
int next_attribute(const struct cubin *cubin, const struct section *section, uint64_t *at, struct attribute_record *record);

enum {
    FORM_SIZED = 4, ATTRIBUTE_PARAMETER_BANK = 0x0A, ATTRIBUTE_FRAME = 0x11, ATTRIBUTE_LEAST_STACK = 0x12, ATTRIBUTE_EXITS = 0x1C,
    ATTRIBUTE_REGISTERS = 0x2F, INFO_TYPE = 0x70000000
};

#endif
