/* stubs.h - the code that is put into kernels, as ptxas made it for each architecture (stubs.c, by make_stubs.py) */
#ifndef PDL_REWRITE_STUBS_H
#define PDL_REWRITE_STUBS_H

#include <stdint.h>

struct instruction {
    uint64_t low, high;
};

/* Numbers of a plan that stand in the upper half of an instruction's first word. */
enum hole { HOLE_NONE, HOLE_LEAST, HOLE_SPAN, HOLE_SEED, HOLE_WORDS_LOW, HOLE_WORDS_HIGH, HOLE_SLEEP,
            HOLE_RECORDS_LOW, HOLE_RECORDS_HIGH, HOLE_RECORDS_MASK, HOLE_NUMBER };
enum { STUB_TRIGGER, STUB_WAIT, STUB_HOLD, STUB_SLEEP, STUB_RECORD, STUB_STAMP, STUB_KEEP, STUB_FRAME, STUB_SPILLED, STUB_LEAVING,
       STUB_LIVE, STUB_KINDS, MOST_HOLES = 4 };

struct stub {
    const struct instruction *code;
    unsigned count;
    unsigned registers; /* what a kernel must be given at least, as .nv.info counts them */
    unsigned hole_count;
    struct {
        unsigned index;
        enum hole number;
    } holes[MOST_HOLES];
};

struct stubs {
    unsigned number;         /* of the architecture, as in the image's flags */
    unsigned parameter_base; /* where a kernel's parameters begin in constant bank 0, for the layout that the code reads */
    const struct stub *kinds[STUB_KINDS];
};

extern const struct stubs all_stubs[];
extern const unsigned stubs_count;

#endif
