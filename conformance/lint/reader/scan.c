/* Finds instructions in machine code without a disassembler: whether an opcode stands anywhere in an image. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { INSTRUCTION = 16, OPCODE_BITS = 0xFFF };

/* Whether an aligned instruction in these bytes has one of the two opcodes, which are the low 12 bits of its first word. Tables
 * of constants are looked at as well, so the answer may be yes where there is none, and never the other way round. */
int pdl_scan(const unsigned char *bytes, size_t size, uint16_t first, uint16_t second)
{
    for (size_t at = 0; at + INSTRUCTION <= size; at += INSTRUCTION) {
        uint16_t word;
        memcpy(&word, bytes + at, sizeof word);
        if ((word & OPCODE_BITS) == first || (word & OPCODE_BITS) == second)
            return 1;
    }
    return 0;
}
