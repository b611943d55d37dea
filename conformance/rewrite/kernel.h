/* kernel.h - one kernel that is being rewritten; change.c writes into it, obstacles.c finds what stands in the way */
#ifndef PDL_REWRITE_KERNEL_H
#define PDL_REWRITE_KERNEL_H

#include "cubin.h"
#include "grow.h"
#include "rewrite.h"
#include "stubs.h"

/* The low 12 bits of an instruction, the same from sm_90 to sm_121. */
enum {
    OP_TRIGGER = 0x82D, OP_WAIT = 0x82E, OP_EXIT = 0x94D, OP_BRANCH = 0x947, OP_BRANCH_UNIFORM = 0x547, OP_CALL = 0x944,
    OP_CALL_ABSOLUTE = 0x943,
    OP_CONSTANT = 0xB82, /* a load from the constant bank */
    /* these bits are the same whatever kind the last operand is of */
    ANY_OPERAND = 0x1FF, OP_SET_REGISTERS = 0x1C8, OP_ADD = 0x010, OP_ADD_IMMEDIATE = 0x036,
    OP_PRODUCT = 0x1F0 /* asynchronous matrix products: this one and the next three */
};

enum { MOST_REGISTERS = 255, STACK_POINTER = 1, FIRST_BORROWED = 4, LAST_BORROWED = 7, STACK_ROOM = 64 };

struct kernel {
    const struct cubin *cubin;
    const struct stubs *stubs;
    const struct kernel_plan *plan;
    const unsigned char *code;
    uint64_t size;
    unsigned registers; /* that the kernel and the code put at its entry use, counted as the image does */
    struct edit *edit;
    int spilled;        /* it records without registers above its own */
    uint32_t frame;     /* bytes of the stack that it takes itself */
};

/* ---- change.c ------------------------------------------------------------------------------------------------------ */

struct instruction instruction_at(const struct kernel *kernel, uint64_t at);
unsigned opcode(struct instruction instruction);
int64_t relative_target(struct instruction instruction, uint64_t at);
int wants_entry(const struct kernel_plan *plan);
unsigned registers_used(const struct stubs *stubs, const struct kernel_plan *plan, unsigned had);
unsigned registers_with_record(unsigned used);
void change(const struct kernel *kernel);

/* ---- obstacles.c --------------------------------------------------------------------------------------------------- */

/* What one pass over a kernel's code finds. */
struct survey {
    unsigned waits, triggers, exits;
    int called;      /* something in the same section calls the entry */
    int reallocates; /* it changes its own number of registers */
    int leaves;      /* it calls code of another section, or code that is known only at run time */
    unsigned stack_writes;   /* to register 1 after the first instruction */
    uint64_t frame_taken_at; /* the last of them */
    uint32_t frame_taken;    /* what it subtracts, if it does nothing else */
    uint64_t first_site;     /* the first wait, trigger or exit */
    int products_use_low;    /* an asynchronous matrix product uses one of registers 0 to 7 */
};
struct survey look_at(const struct kernel *kernel);

/* Facts about all kernels of an image, gathered in one pass each. */
struct facts {
    uint32_t *registers;       /* by code section: what .nv.info says of the kernel's symbol; 0: nothing */
    uint32_t *parameter_bases; /* by code section; 0: not stated */
    uint32_t *frames;          /* by code section: 1 + the bytes of its kernel's frame; 0: not stated */
    unsigned char *stacks;     /* by code section: the least stack of its kernel is stated */
    unsigned char *called;     /* by symbol: some code calls it through a relocation */
    unsigned char *leaves;     /* by code section: it calls something through a relocation */
    unsigned char *taken;      /* by code section: a kernel's entry has been found there */
};
int facts_gather(const struct cubin *cubin, struct facts *facts);
void facts_free(struct facts *facts);

/* Why a kernel cannot be rewritten; NULL if nothing is known. */
const char *home_problem(const struct cubin *cubin, const struct facts *facts, const struct symbol *symbol);
const char *code_problem(const struct kernel *kernel, const struct facts *facts, uint32_t section, unsigned had, const struct survey *found);

/* Why it cannot record in registers above its own; NULL if it can. */
const char *above_problem(const struct kernel *kernel, const struct survey *found);

#endif
