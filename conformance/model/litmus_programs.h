/* Litmus programs: tiny programs of up to three grids of up to two one-thread blocks, as data. The model enumerates what
 * they may do (pdl-litmus); the same tables can be run on hardware, with litmus_kernel.h as the kernel. Plain C and CUDA C++.
 *
 * Variables start as 0, each in a line of its own. Registers start as 0 and are what is observed. */
#ifndef PDL_LITMUS_PROGRAMS_H
#define PDL_LITMUS_PROGRAMS_H

enum { LITMUS_GRIDS = 3, LITMUS_BLOCKS = 2, LITMUS_STEPS = 6, LITMUS_VARIABLES = 3, LITMUS_REGISTERS = 3, LITMUS_CALLS = 8,
       LITMUS_EDGES = 3, LITMUS_LINE_WORDS = 8 };

enum litmus_what { LIT_END, LIT_STORE, LIT_LOAD, LIT_STORE_RELAXED, LIT_LOAD_RELAXED, LIT_FENCE, LIT_TRIGGER, LIT_WAIT };
struct litmus_step {
    unsigned char what, variable, value; /* what is stored, or the register loaded into */
};

/* what the host does, in order; a program that is built has edges instead */
enum litmus_call_what { CALL_END, CALL_LAUNCH, CALL_AWAIT, CALL_RECORD, CALL_COPY, CALL_SYNC_EVENT, CALL_SYNC_STREAM, CALL_READ };
enum { WITH_ATTRIBUTE = 1, WITH_ZERO = 2, EVENT_AT_TRIGGER = 4, EVENT_AT_START = 8, EVENT_AT_LAUNCH = 16 };
struct litmus_call {
    unsigned char what, which, stream, with; /* which: grid, event (0 is also the launches'), or variable;
                                              * with: flags, or the register of COPY and READ */
};
struct litmus_edge {
    unsigned char used, from, to, port, type;
};

enum litmus_path { PATH_STREAM, PATH_CAPTURED, PATH_BUILT };
struct litmus_program {
    const char *name, *source;
    enum litmus_path path;
    unsigned grids, registers;
    unsigned blocks[LITMUS_GRIDS];
    struct litmus_step step[LITMUS_GRIDS][LITMUS_BLOCKS][LITMUS_STEPS];
    struct litmus_call call[LITMUS_CALLS];
    struct litmus_edge edge[LITMUS_EDGES];
};

#define ST(variable, value) {LIT_STORE, variable, value}
#define LD(variable, reg) {LIT_LOAD, variable, reg}
#define ST_R(variable, value) {LIT_STORE_RELAXED, variable, value}
#define LD_R(variable, reg) {LIT_LOAD_RELAXED, variable, reg}
#define FENCE {LIT_FENCE, 0, 0}
#define TRIG {LIT_TRIGGER, 0, 0}
#define WAIT {LIT_WAIT, 0, 0}
#define NOTHING {LIT_END, 0, 0}
#define RUN(grid, stream, with) {CALL_LAUNCH, grid, stream, with}
#define A_THEN_B(with) {RUN(0, 0, 0), RUN(1, 0, with)}
#define CHAIN(with_b, with_c) {RUN(0, 0, 0), RUN(1, 0, with_b), RUN(2, 0, with_c)}
#define FULL(from, to) {1, from, to, 0, 0}
#define PROG(from, to) {1, from, to, 1, 1}
#define START(from, to) {1, from, to, 2, 1}
#define LAUNCHED(from, to) {1, from, to, 2, 0}
#define NO_EDGES {{0, 0, 0, 0, 0}}
#define NO_CALLS {{CALL_END, 0, 0, 0}}

enum { X, Y, Z };
#define LATE_STORE {{TRIG, ST(X, 1)}}

static const struct litmus_program litmus_programs[] = {
    /* message passing from A to B */
    {"mp-wait", "WAIT-01 F1", PATH_STREAM, 2, 1, {1, 1, 0}, {LATE_STORE, {{WAIT, LD(X, 0)}}}, A_THEN_B(WITH_ATTRIBUTE), NO_EDGES},
    {"mp-no-wait", "F2", PATH_STREAM, 2, 1, {1, 1, 0}, {LATE_STORE, {{LD(X, 0)}}}, A_THEN_B(WITH_ATTRIBUTE), NO_EDGES},
    {"mp-plain", "ATTR-03 F5", PATH_STREAM, 2, 1, {1, 1, 0}, {LATE_STORE, {{LD(X, 0)}}}, A_THEN_B(0), NO_EDGES},
    {"mp-value-zero", "ATTR-05", PATH_STREAM, 2, 1, {1, 1, 0}, {LATE_STORE, {{LD(X, 0)}}}, A_THEN_B(WITH_ZERO), NO_EDGES},
    {"mp-no-trigger-wait", "WAIT-10", PATH_STREAM, 2, 1, {1, 1, 0}, {{{ST(X, 1)}}, {{WAIT, LD(X, 0)}}}, A_THEN_B(WITH_ATTRIBUTE), NO_EDGES},
    {"mp-no-trigger-no-wait", "TRIG-04 F3", PATH_STREAM, 2, 1, {1, 1, 0}, {{{ST(X, 1)}}, {{LD(X, 0)}}}, A_THEN_B(WITH_ATTRIBUTE), NO_EDGES},
    {"mp-store-trigger", "TRIG-08 F4", PATH_STREAM, 2, 1, {1, 1, 0}, {{{ST(X, 1), TRIG}}, {{LD(X, 0)}}}, A_THEN_B(WITH_ATTRIBUTE), NO_EDGES},
    {"mp-fence-trigger", "MEM-03 F4", PATH_STREAM, 2, 1, {1, 1, 0}, {{{ST(X, 1), FENCE, TRIG}}, {{LD(X, 0)}}}, A_THEN_B(WITH_ATTRIBUTE), NO_EDGES},
    {"mp-flag-fence", "causality", PATH_STREAM, 2, 2, {1, 1, 0}, {{{TRIG, ST(X, 1), FENCE, ST_R(Y, 1)}}, {{LD_R(Y, 0), FENCE, LD(X, 1)}}}, A_THEN_B(WITH_ATTRIBUTE), NO_EDGES},
    {"mp-flag-no-fence", "no causality", PATH_STREAM, 2, 2, {1, 1, 0}, {{{TRIG, ST(X, 1), ST_R(Y, 1)}}, {{LD_R(Y, 0), FENCE, LD(X, 1)}}}, A_THEN_B(WITH_ATTRIBUTE), NO_EDGES},
    {"lines-read-before", "MEM-01 F9", PATH_STREAM, 2, 2, {1, 1, 0}, {LATE_STORE, {{LD(X, 0), WAIT, LD(X, 1)}}}, A_THEN_B(WITH_ATTRIBUTE), NO_EDGES},
    {"coherence", "read-read coherence", PATH_STREAM, 2, 2, {1, 1, 0}, {LATE_STORE, {{LD(X, 0), LD(X, 1)}}}, A_THEN_B(WITH_ATTRIBUTE), NO_EDGES},
    {"wait-twice", "WAIT-05", PATH_STREAM, 2, 2, {1, 1, 0}, {LATE_STORE, {{WAIT, LD(X, 0), WAIT, LD(X, 1)}}}, A_THEN_B(WITH_ATTRIBUTE), NO_EDGES},
    {"overwrite-no-wait", "MEM-05", PATH_STREAM, 2, 1, {1, 1, 0}, {{{TRIG, LD(X, 0)}}, {{ST(X, 1)}}}, A_THEN_B(WITH_ATTRIBUTE), NO_EDGES},
    {"overwrite-wait", "WAIT-01", PATH_STREAM, 2, 1, {1, 1, 0}, {{{TRIG, LD(X, 0)}}, {{WAIT, ST(X, 1)}}}, A_THEN_B(WITH_ATTRIBUTE), NO_EDGES},
    {"two-blocks-wait", "WAIT-01", PATH_STREAM, 2, 2, {2, 1, 0}, {{{TRIG, ST(X, 1)}, {TRIG, ST(Y, 1)}}, {{WAIT, LD(X, 0), LD(Y, 1)}}}, A_THEN_B(WITH_ATTRIBUTE), NO_EDGES},
    {"block-withholds", "TRIG-01 MEM-03", PATH_STREAM, 2, 1, {2, 1, 0}, {{{TRIG}, {ST(X, 1), FENCE, TRIG}}, {{LD(X, 0)}}}, A_THEN_B(WITH_ATTRIBUTE), NO_EDGES},
    {"block-exits", "TRIG-03 F7", PATH_STREAM, 2, 1, {2, 1, 0}, {{{TRIG, ST(X, 1)}, {NOTHING}}, {{LD(X, 0)}}}, A_THEN_B(WITH_ATTRIBUTE), NO_EDGES},
    {"one-block-waits", "WAIT-06", PATH_STREAM, 2, 2, {1, 2, 0}, {LATE_STORE, {{WAIT, LD(X, 0)}, {LD(X, 1)}}}, A_THEN_B(WITH_ATTRIBUTE), NO_EDGES},
    {"copy-behind", "MEM-06", PATH_STREAM, 1, 1, {1, 0, 0}, {LATE_STORE}, {RUN(0, 0, 0), {CALL_COPY, X, 0, 0}}, NO_EDGES},
    /* chains */
    {"chain-no-wait-then-wait", "F10", PATH_STREAM, 3, 1, {1, 1, 1}, {LATE_STORE, {{TRIG}}, {{WAIT, LD(X, 0)}}}, CHAIN(WITH_ATTRIBUTE, WITH_ATTRIBUTE), NO_EDGES},
    {"chain-no-wait-then-plain", "F11", PATH_STREAM, 3, 1, {1, 1, 1}, {LATE_STORE, {{TRIG}}, {{LD(X, 0)}}}, CHAIN(WITH_ATTRIBUTE, 0), NO_EDGES},
    {"chain-no-wait-then-copy", "F11", PATH_STREAM, 2, 1, {1, 1, 0}, {LATE_STORE, {{TRIG}}}, {RUN(0, 0, 0), RUN(1, 0, WITH_ATTRIBUTE), {CALL_COPY, X, 0, 0}}, NO_EDGES},
    {"chain-no-wait-then-event", "F11 AMB-02", PATH_STREAM, 2, 1, {1, 1, 0}, {LATE_STORE, {{TRIG}}}, {RUN(0, 0, 0), RUN(1, 0, WITH_ATTRIBUTE), {CALL_RECORD, 0, 0, 0}, {CALL_SYNC_EVENT, 0, 0, 0}, {CALL_READ, X, 0, 0}}, NO_EDGES},
    {"chain-no-wait-then-sync", "F11 AMB-02", PATH_STREAM, 2, 1, {1, 1, 0}, {LATE_STORE, {{TRIG}}}, {RUN(0, 0, 0), RUN(1, 0, WITH_ATTRIBUTE), {CALL_SYNC_STREAM, 0, 0, 0}, {CALL_READ, X, 0, 0}}, NO_EDGES},
    {"chain-wait-then-no-wait", "F12", PATH_STREAM, 3, 1, {1, 1, 1}, {LATE_STORE, {{TRIG, WAIT}}, {{LD(X, 0)}}}, CHAIN(WITH_ATTRIBUTE, WITH_ATTRIBUTE), NO_EDGES},
    {"chain-all-wait", "COMP-09", PATH_STREAM, 3, 2, {1, 1, 1}, {LATE_STORE, {{TRIG, WAIT, ST(Y, 1)}}, {{WAIT, LD(X, 0), LD(Y, 1)}}}, CHAIN(WITH_ATTRIBUTE, WITH_ATTRIBUTE), NO_EDGES},
    {"captured-no-wait-then-plain", "F15", PATH_CAPTURED, 3, 1, {1, 1, 1}, {LATE_STORE, {{TRIG}}, {{LD(X, 0)}}}, CHAIN(WITH_ATTRIBUTE, 0), NO_EDGES},
    {"captured-no-wait-then-wait", "F10 F21", PATH_CAPTURED, 3, 1, {1, 1, 1}, {LATE_STORE, {{TRIG}}, {{WAIT, LD(X, 0)}}}, CHAIN(WITH_ATTRIBUTE, WITH_ATTRIBUTE), NO_EDGES},
    {"built-programmatic-then-full", "F13", PATH_BUILT, 3, 1, {1, 1, 1}, {LATE_STORE, {{TRIG}}, {{LD(X, 0)}}}, NO_CALLS, {PROG(0, 1), FULL(1, 2)}},
    {"built-full-does-not-help-a-wait", "F13", PATH_BUILT, 3, 1, {1, 1, 1}, {LATE_STORE, {{TRIG}}, {{WAIT, LD(X, 0)}}}, NO_CALLS, {PROG(0, 1), FULL(1, 2)}},
    {"built-completion-then-full", "F13 AMB-11", PATH_BUILT, 3, 1, {1, 1, 1}, {LATE_STORE, {{TRIG}}, {{LD(X, 0)}}}, NO_CALLS, {LAUNCHED(0, 1), FULL(1, 2)}},
    {"built-completion-then-wait", "F13 AMB-11", PATH_BUILT, 3, 1, {1, 1, 1}, {LATE_STORE, {{TRIG}}, {{WAIT, LD(X, 0)}}}, NO_CALLS, {LAUNCHED(0, 1), PROG(1, 2)}},
    {"built-programmatic-twice", "F14", PATH_BUILT, 3, 1, {1, 1, 1}, {LATE_STORE, {{TRIG}}, {{WAIT, LD(X, 0)}}}, NO_CALLS, {PROG(0, 1), PROG(1, 2)}},
    {"built-full-edge", "EDGE-01", PATH_BUILT, 2, 1, {1, 1, 0}, {LATE_STORE, {{LD(X, 0)}}}, NO_CALLS, {FULL(0, 1)}},
    {"built-block-start-wait", "EDGE-10", PATH_BUILT, 2, 1, {1, 1, 0}, {{{ST(X, 1)}}, {{WAIT, LD(X, 0)}}}, NO_CALLS, {START(0, 1)}},
    {"built-launch-completion-wait", "F18", PATH_BUILT, 2, 1, {1, 1, 0}, {{{ST(X, 1)}}, {{WAIT, LD(X, 0)}}}, NO_CALLS, {LAUNCHED(0, 1)}},
    /* fan-in, fan-out */
    {"fan-in-wait", "COMP-04", PATH_BUILT, 3, 2, {1, 1, 1}, {LATE_STORE, {{TRIG, ST(Y, 1)}}, {{WAIT, LD(X, 0), LD(Y, 1)}}}, NO_CALLS, {PROG(0, 2), PROG(1, 2)}},
    {"fan-in-mixed", "COMP-04", PATH_BUILT, 3, 2, {1, 1, 1}, {LATE_STORE, {{TRIG, ST(Y, 1)}}, {{LD(X, 0), WAIT, LD(Y, 1)}}}, NO_CALLS, {FULL(0, 2), PROG(1, 2)}},
    {"fan-out", "EDGE-09", PATH_BUILT, 3, 2, {1, 1, 1}, {LATE_STORE, {{WAIT, LD(X, 0)}}, {{LD(X, 1)}}}, NO_CALLS, {PROG(0, 1), PROG(0, 2)}},
    /* events: A in stream 0, B in stream 1 */
    {"event-ordinary", "EVT-07", PATH_STREAM, 2, 1, {1, 1, 0}, {LATE_STORE, {{LD(X, 0)}}}, {RUN(0, 0, 0), {CALL_RECORD, 0, 0, 0}, {CALL_AWAIT, 0, 1, 0}, RUN(1, 1, 0)}, NO_EDGES},
    {"event-programmatic-wait", "EVT-11", PATH_STREAM, 2, 1, {1, 1, 0}, {LATE_STORE, {{WAIT, LD(X, 0)}}}, {RUN(0, 0, EVENT_AT_TRIGGER), {CALL_AWAIT, 0, 1, 0}, RUN(1, 1, WITH_ATTRIBUTE)}, NO_EDGES},
    {"event-programmatic-no-wait", "EVT-01", PATH_STREAM, 2, 1, {1, 1, 0}, {LATE_STORE, {{LD(X, 0)}}}, {RUN(0, 0, EVENT_AT_TRIGGER), {CALL_AWAIT, 0, 1, 0}, RUN(1, 1, WITH_ATTRIBUTE)}, NO_EDGES},
    {"event-launch-completion-wait", "EVT-09 F18", PATH_STREAM, 2, 1, {1, 1, 0}, {{{ST(X, 1)}}, {{WAIT, LD(X, 0)}}}, {RUN(0, 0, EVENT_AT_LAUNCH), {CALL_AWAIT, 0, 1, 0}, RUN(1, 1, 0)}, NO_EDGES},
    {"captured-launch-completion", "F23", PATH_CAPTURED, 2, 1, {1, 1, 0}, {{{ST(X, 1)}}, {{WAIT, LD(X, 0)}}}, {RUN(0, 0, EVENT_AT_LAUNCH), {CALL_AWAIT, 0, 1, 0}, RUN(1, 1, 0), {CALL_RECORD, 1, 1, 0}, {CALL_AWAIT, 1, 0, 0}}, NO_EDGES},
    {"captured-launch-completion-attribute", "F24", PATH_CAPTURED, 2, 1, {1, 1, 0}, {{{ST(X, 1)}}, {{WAIT, LD(X, 0)}}}, {RUN(0, 0, EVENT_AT_LAUNCH), {CALL_AWAIT, 0, 1, 0}, RUN(1, 1, WITH_ATTRIBUTE), {CALL_RECORD, 1, 1, 0}, {CALL_AWAIT, 1, 0, 0}}, NO_EDGES},
};
enum { LITMUS_PROGRAMS = sizeof litmus_programs / sizeof litmus_programs[0] };

#undef ST
#undef LD
#undef ST_R
#undef LD_R
#undef FENCE
#undef TRIG
#undef WAIT
#undef NOTHING
#undef RUN
#undef A_THEN_B
#undef CHAIN
#undef FULL
#undef PROG
#undef START
#undef LAUNCHED
#undef NO_EDGES
#undef NO_CALLS
#undef LATE_STORE

#endif
