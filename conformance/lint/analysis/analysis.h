/* What threads of a kernel can do before they, or their block, have waited: the analysis that lint calls.
 *
 * One process reads one image (the constraints of a cubin and nvdisasm's listing of it), writes what it found as JSON and ends.
 * So tables belong to their files, and hardly anything is freed. Values are kept once each and named by a number, so equal values
 * have equal numbers. Everything that a kernel's analysis makes is forgotten before the next kernel (values_begin).
 */
#ifndef PDL_LINT_ANALYSIS_H
#define PDL_LINT_ANALYSIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* storage.c: memory and names ------------------------------------------------------------------------------------ */

/* Ends the process with a sentence and 70. */
_Noreturn void out_of_memory(void);

/* Zeroed bytes; out_of_memory if there are none. */
void *allocate(size_t bytes);

/* The array, with room for `wanted` elements; new ones are zeroed. */
void *grown(void *array, size_t *capacity, size_t wanted, size_t element_bytes);

/* From 64-bit keys to 32-bit values; a zeroed one is empty. */
struct map {
    uint64_t *keys;
    uint32_t *values;
    size_t capacity, count; /* a power of two, or 0 */
};
bool map_get(const struct map *map, uint64_t key, uint32_t *value);
void map_put(struct map *map, uint64_t key, uint32_t value); /* replaces */
void map_clear(struct map *map);

typedef uint32_t name; /* a text, kept once; 0: none */
name name_of(const char *text, size_t length);
name name_of_text(const char *text); /* up to its 0 */
const char *text_of(name);

/* opcodes.c: what one instruction is ------------------------------------------------------------------------------ */

enum kind {
    KIND_PLAIN, /* only computes */
    KIND_LOAD,  /* reads global memory */
    KIND_STORE,
    KIND_ATOMIC,
    KIND_ASYNC_LOAD,  /* global to shared, by another engine or past the registers */
    KIND_ASYNC_STORE, /* shared to global */
    KIND_TEXTURE,
    KIND_GENERIC_LOAD, /* global, shared or local, as the address says */
    KIND_GENERIC_STORE,
    KIND_GENERIC_ATOMIC,
    KIND_PREFETCH,
    KIND_WAIT,
    KIND_TRIGGER,
    KIND_BARRIER, /* block-wide or a named part of it */
    KIND_CLUSTER_BARRIER,
    KIND_MBARRIER, /* waits for an object in shared memory */
    KIND_FENCE,
    KIND_BRANCH,
    KIND_INDEXED_BRANCH,
    KIND_CALL,
    KIND_RETURN,
    KIND_EXIT,
    KIND_TRAP,
    KIND_RECONVERGE, /* BSYNC: goes on where its BSSY says */
    KIND_COLLECTIVE,
    KIND_BARRIER_ARRIVE,
    KIND_UNKNOWN,
    KIND_SIGNAL, /* arrives at an object in shared memory */
    KIND_CLUSTER_ARRIVE, /* the first half of a cluster barrier */
    KIND_WARP_BARRIER,
    KINDS
};
extern const char *const kind_names[KINDS]; /* "LOAD"... as the enumerators, without KIND_ */

static inline bool kind_accesses(uint8_t kind) { return kind >= KIND_LOAD && kind <= KIND_GENERIC_ATOMIC; }
static inline bool kind_is_generic(uint8_t kind) { return kind >= KIND_GENERIC_LOAD && kind <= KIND_GENERIC_ATOMIC; }

/* Registers by number: R0 to R254, UR0.., P0.., UP0... RZ, URZ, PT and UPT have none. */
enum { FIRST_R = 0, FIRST_UR = 256, FIRST_P = 512, FIRST_UP = 528, REGISTERS = 544, STACK_POINTER = FIRST_R + 1, NO_REGISTER = 0xFFFF };
static inline bool is_predicate(unsigned reg) { return reg >= FIRST_P && reg < REGISTERS; }
uint16_t register_after(uint16_t reg, unsigned step); /* of the same file; NO_REGISTER after its last, or of NO_REGISTER */

struct instruction;
struct registers;
struct result;

/* Parts of an opcode, as texts found anywhere in it, the dot included. */
enum part {
    PART_64 = 1 << 0,      /* .64 */
    PART_X = 1 << 1,       /* .X followed by anything */
    PART_HI = 1 << 2,      /* .HI */
    PART_WIDE = 1 << 3,    /* .WIDE */
    PART_L = 1 << 4,       /* .L followed by anything */
    PART_R = 1 << 5,       /* .R followed by anything */
    PART_U32 = 1 << 6,     /* .U32 */
    PART_SX32 = 1 << 7,    /* .SX32 */
    PART_EX = 1 << 8,      /* .EX */
    PART_AND = 1 << 9,     /* .AND */
    PART_OR = 1 << 10,     /* .OR */
    PART_XOR = 1 << 11,    /* .XOR */
    PART_NARROW = 1 << 12, /* .U8, .S8, .U16 or .S16 */
    PART_32 = 1 << 13,     /* .32 */
    PART_DIV = 1 << 14,    /* .DIV */
    PART_CONV = 1 << 15,   /* .CONV */
    PART_ANY = 1 << 16,    /* .ANY */
    PART_WIDE_COMPARE = 1 << 17, /* one of the words between dots is EX, 64, U64 or S64 */
    PART_UNSIGNED = 1 << 18,     /* one of the words between dots is U32 or U64 */
    PART_ALL = 1 << 19,          /* .ALL */
};

struct opcode {
    name text, base; /* base: up to the first dot */
    uint8_t kind;
    uint8_t words;      /* 32-bit registers that its data takes: 1, 2, 4 or 8 */
    uint8_t bytes;      /* that a memory instruction moves */
    uint8_t comparison; /* enum comparison, of the word after the first dot; COMPARES_NOT */
    uint32_t parts;
    bool readonly; /* .CONSTANT */
    bool changes_shared; /* memory, and what is there afterwards is not an operand: ATOMS; STS is not meant */
    bool scatters;       /* of these, it stores where other lanes say as well */
    /* From transfer.c: what it computes; NULL where it is unknown. */
    bool (*compute)(struct registers *, const struct instruction *, struct result *);
};
enum comparison { COMPARES_NOT, COMPARES_EQ, COMPARES_NE, COMPARES_LT, COMPARES_LE, COMPARES_GT, COMPARES_GE };

/* The registers in an address [..], low halves only, and the number after them. */
struct address {
    uint16_t reg[4];
    uint8_t count;
    bool present; /* there is a [..] */
    int64_t offset;
};

enum operand_kind {
    OPERAND_OTHER,
    OPERAND_REGISTER,
    OPERAND_PREDICATE,
    OPERAND_NUMBER,
    OPERAND_CONSTANT, /* c[bank][register + offset] */
    OPERAND_HALF,     /* half of the address of a symbol */
    OPERAND_PLACE,    /* of a shared variable that the linker has yet to lay out */
    OPERAND_TABLE,    /* of constants, at a place that the linker has yet to fill in */
};
struct operand {
    uint8_t kind;
    bool negated;  /* "-", "~" or "!" ahead of it; "|" alone does not count */
    char sign;     /* its first character, if that is one of - ~ ! |, else 0 */
    bool zero;     /* RZ, URZ, PT, UPT */
    bool indexed;  /* a constant with a register in its offset (RZ does not count) */
    uint8_t half;  /* of OPERAND_HALF: 0 low, 1 high */
    uint16_t reg;  /* register or predicate, the index of a constant or a table; else NO_REGISTER */
    uint32_t bank; /* of a constant */
    int64_t offset;
    uint32_t number;
    name symbol;            /* of a half, a place or a table */
    name text;              /* as it is written */
    struct address address; /* if there is a [..] in it */
};

/* Operands are decoded once for each opcode and text. */
struct decoded {
    const struct opcode *opcode;
    bool (*compute)(struct registers *, const struct instruction *, struct result *); /* the opcode's */
    name text; /* all operands */
    uint8_t count;
    uint8_t first_source; /* operands from here on are read; 0 also where none is */
    uint8_t memory;       /* the first operand with [..]; count: none */
    uint8_t second_memory;
    uint16_t destination_count;
    const struct operand *operands;
    const uint16_t *destinations; /* registers and predicates written, in order */
};

struct instruction {
    const struct decoded *decoded;
    uint32_t offset; /* in its section */
    uint16_t guard;  /* NO_REGISTER: none, or @PT */
    bool guarded;    /* there is a guard, @PT or @!PT too */
    bool guard_negated;
    bool for_elected; /* @P0 R2UR UR4, R2 after ELECT P0: one thread of the warp executes it */
    uint8_t kind;
};

/* Kept for as long as the process. */
const struct opcode *opcode_of(const char *text, size_t length);
const struct decoded *decode(const struct opcode *opcode, const char *operands, size_t length);

/* control_flow.c: the listing's sections, their blocks, where each can go -------------------------------------------------- */

enum { NO_BLOCK = -1 };

struct block {
    uint32_t start, end; /* indices of instructions; end: after the last */
    uint8_t last;        /* kind of the last instruction, if it is a transfer, else KIND_PLAIN */
    bool calls;          /* directly (callee) or through a register (callee 0) */
    bool unresolved;     /* an indexed branch without a list of targets */
    bool in_loop;        /* on a cycle */
    bool heads_loop;     /* some way leads back to it from a block that it comes before */
    uint64_t in_turns, heads_turns; /* loops with a wait (loops.c) that the block is in, and those that it is the head of */
    int32_t falls;       /* the block after it, if control can fall through; NO_BLOCK */
    uint32_t jump_count;
    uint32_t *jumps;
    name callee;
    uint32_t order; /* loops aside, a block comes before those that it leads to */
};

struct source_line {
    uint32_t index; /* of the instruction from which it holds */
    name file;
    uint32_t line;
    bool inlined; /* into the line that follows in the list, of the same index */
};

enum attention { /* what the analysis asks of a section's code */
    ALL_OF_IT,    /* whoever calls it */
    UNTIL_A_WAIT, /* of a kernel, only of what can run before the wait; elsewhere everything matters */
    ITS_SIGNALS,  /* of a kernel: where it goes and whom it signals, not what it reads and writes */
    ATTENTIONS
};
enum matter { /* of an instruction */
    MATTERS_NOT,
    MATTERS,
    REPLACES /* and what it writes is read only where its guard holds as well, if it has one */
};
struct liveness {
    uint64_t (*entering)[(REGISTERS + 63) / 64]; /* of each block: the registers that matter there */
    bool *any;                                   /* of each block: any register may */
    uint8_t *matters;                            /* enum matter of each instruction */
};

struct section {
    name name;
    uint32_t count, block_count, notable_count, line_count;
    struct instruction *code;
    struct block *blocks;
    uint32_t *notable;  /* indices of the instructions that are not plain */
    uint32_t *block_of; /* of each instruction */
    struct source_line *lines;
    struct map labels;               /* name -> index of the instruction after it */
    struct liveness *liveness[ATTENTIONS]; /* made when first asked for */
    uint32_t knows_loops_of; /* the kernel for which its loops were found, by the order of their analyses; 0: none */
};

/* Reads a listing; sections in the order of the text. 0 instructions are not an error. */
size_t read_listing(char *text, size_t length, struct section **sections);

/* Operands of a transfer besides its guard: BRA.U !UP0, target; EXIT P2. False if there is none. */
bool extra_predicate(const struct instruction *, uint16_t *reg, bool *negated, bool *always);
bool is_divergent_jump(const struct instruction *);
/* The register through which an indexed branch or a call goes; NULL if it names none. */
const struct operand *transfer_register(const struct instruction *);
/* The offset to which an indexed branch goes if its register holds this number; false: unknown. */
bool indexed_target(const struct instruction *, uint32_t held, uint32_t *target);

/* liveness.c */
const struct liveness *liveness_of(struct section *, enum attention);

/* uses_after_wait.c: the first use, after a wait in the same section, of what this instruction loaded; -1 if there is none. */
int64_t used_after_wait(const struct section *, uint32_t load);

/* values.c, sums.c: expressions, provenance, values ---------------------------------------------------------------------- */

typedef uint32_t expr; /* 0: nothing can be said */

/* None of these changes during one execution of the code that made it, but TAG_ANY: one of several places, not always the
 * same, so never part of a condition. Formulas are true or false; TAG_NUMBER 1 and 0 are true and false. */
enum tag {
    TAG_NUMBER = 1, /* a: the number */
    TAG_SPECIAL,    /* a: name of the special register */
    TAG_CONSTANT,   /* a: bank, b: offset */
    TAG_SYMBOL,     /* a: name, b: half: half of the address of a symbol */
    TAG_SITE,       /* a: number of the place (first_site in dataflow.h), b: register: a result that cannot be computed */
    TAG_OPERATION,  /* a: enum operation; kids */
    TAG_PART,       /* a: mask of known bits, b: those bits */
    TAG_SELECT,     /* kids: formula, expression if it holds, expression if not */
    TAG_ANY,        /* kids, sorted */
    TAG_SUM_TERMS,  /* kids: a place's base in memory (memory.c) */
    TAG_IN,         /* a: base, b: 0 unsigned, 1 signed; low, high: low <= base <= high */
    TAG_ATOM,       /* a: site */
    TAG_RELATION,   /* a: enum comparison (EQ, LT), b: 1 signed; kids: left, right; an atom as well */
    TAG_NOT,        /* kids: one */
    TAG_AND         /* kids: two; a or b is not (not a and not b) */
};
enum operation {
    OPERATION_ADD, OPERATION_MULTIPLY, OPERATION_SHIFT_RIGHT, OPERATION_SHIFT_ARITHMETIC, OPERATION_AND, OPERATION_PERMUTE,
    OPERATION_QUOTIENT, OPERATION_RECIPROCAL, OPERATION_DIVIDE, OPERATION_MIN_SIGNED, OPERATION_MIN_UNSIGNED,
    OPERATION_MAX_SIGNED, OPERATION_MAX_UNSIGNED, OPERATION_SHIFT_LEFT, /* by something else than a number */
    OPERATION_CLUSTER, /* ranks.c */
    OPERATION_LOGIC = 256,  /* + truth table of three inputs */
    OPERATION_NAMED = 512   /* + name: any other, told apart by that name */
};
enum { MOST_KIDS = 6, MOST_SIZE = 16 };

struct node {
    uint8_t tag, size, kid_count; /* size: of operations, that of their parts and 1; else 1 */
    uint32_t a, b;
    int64_t low, high; /* TAG_IN only */
    expr kids[MOST_KIDS];
};
const struct node *node_of(expr);

void values_begin(void); /* forgets all expressions, constraints and provenance; those below are the first of the new ones */
enum { EXPR_FALSE = 1, EXPR_ZERO = 1, EXPR_TRUE = 2, EXPR_ONE = 2 };

expr number(uint32_t n);
expr special(name);
expr constant_word(uint32_t bank, uint32_t offset);
expr symbol_half(name, unsigned half);
expr site_result(uint32_t site, unsigned reg);
#define VARIABLE_SITE 0x80000000u /* | number: a variable (partitioning.c), in place of a site */
#define JOIN_SITE 0x40000000u /* | number of a node's first site: which of the ways to that node was taken */
#define CHOICE_SITE 0x20000000u /* | number of a place: what its guarded instruction wrote, or what was there before */
#define AGAIN_SITE 0x10000000u /* | number: a place in a function that is called in a loop, so each of its calls has another result */
unsigned variables_in(expr, uint32_t *list, unsigned most); /* the numbers of those found in it, each once */
bool mentions_again(expr, bool (*is_it)(uint32_t site)); /* whether the result of such a place, with its AGAIN_SITE, may be in it */
expr operation(uint32_t op, unsigned count, const expr *parts); /* 0 if a part is 0 or vague, or it gets too large */
expr reciprocal(uint32_t n);
expr table_word(expr index, uint32_t place); /* of constant bank 2, where jump tables are: at `place` + index */
bool is_table_word(expr, expr *index, uint32_t *place);
expr part(uint32_t mask, uint32_t bits);
expr select_of(expr formula, expr if_true, expr if_false);
expr number_chosen(expr formula, expr if_true, expr if_false); /* of numbers or parts, or of one and such a choice; else 0 */
expr interned(const struct node *); /* as it is */

bool is_number(expr);
bool is_one_of_numbers(expr); /* also of a few, whichever it is */
bool is_number_of(expr, uint32_t *n);
bool is_number_or_part(expr); /* of a part some bits are known */
bool is_vague(expr); /* two that are the same need not be equal: places, parts, and a choice of parts */

expr add(expr, expr); /* sums have one form: sorted terms, the number last */
expr one_number_of(expr, expr); /* TAG_ANY of numbers, or 0 */
unsigned sum_terms(expr, expr terms[MOST_SIZE + 1], uint32_t *constant); /* how many terms that are not numbers */
expr multiply(expr, expr); /* the number, if there is one, last */
expr shift_right(expr, expr count);
expr shift_arithmetic(expr, expr count);
expr shift_left(expr, expr count);
expr bitwise(unsigned table, expr, expr, expr);
expr permuted(uint32_t selector, expr, expr);
expr extended(expr, unsigned bits, bool is_signed); /* of the low bits of a number, else 0 */
/* f(value), and of both where a condition chooses between numbers; 0 if one of them is none. */
expr for_each_choice(expr value, expr (*f)(expr, const void *), const void *with);
uint32_t reciprocal_in(expr); /* the number whose reciprocal this was made of; 0: of none */

/* Where the parts of an address come from. */
enum origin_kind { ORIGIN_PARAMETER, ORIGIN_SYMBOL, ORIGIN_WINDOW, ORIGIN_BANK };
enum window { WINDOW_LOCAL, WINDOW_SHARED, WINDOW_CONSTANT, WINDOW_HEAP }; /* heap: what this thread got from malloc */
typedef uint32_t origin; /* ORIGIN_VIA | kind << 28 | offset, name, window or bank */
#define ORIGIN_VIA 0x80000000u /* loaded through an address with this origin */
static inline origin origin_of(enum origin_kind kind, uint32_t n) { return (uint32_t)kind << 28 | (n & 0x0FFFFFFFu); }
static inline enum origin_kind origin_kind(origin r) { return (enum origin_kind)(r >> 28 & 7); }
static inline uint32_t origin_number(origin r) { return r & 0x0FFFFFFFu; }

typedef uint32_t provenance; /* a set; 0: empty */
enum { PROVENANCE_BITS = 24 };
provenance provenance_of(origin);
provenance provenance_union(provenance, provenance);
unsigned provenance_list(provenance, const origin **list); /* sorted, how many */
provenance provenance_without(provenance, bool (*drop)(origin));
provenance provenance_indirect(provenance); /* of a value loaded through an address with these: each via, windows left out */
bool provenance_only_windows(provenance); /* and not empty: the address can only lie in memory that no other grid knows */
bool provenance_has_heap(provenance);

/* By block: some blocks of the grid differ, but perhaps none of one cluster. By rank: each cluster has all the values. The less it
 * says of who else there is, the smaller the bit. */
enum { VARIES_BY_BLOCK = 1, VARIES_BY_RANK = 2, VARIES_BY_THREAD = 4, VARIES_IN_ANY_WAY = 7 };
struct value { /* of a predicate: expression is a formula, no provenance */
    expr expression;
    uint32_t provenance : PROVENANCE_BITS; /* no padding: equal values are equal bytes */
    uint32_t varies : 7;
    uint32_t known : 1; /* 0: nothing was ever written there on this path; then the rest is 0, too */
};
_Static_assert(sizeof(struct value) == 8, "states hold hundreds of values each, and their size decides how fast they are met");
struct value joined(struct value, struct value); /* what holds of either; both are known */

/* Whether it can have different values in these ways (enum varies, of the expression or formula alone). */
bool leaf_varies(expr, uint8_t by);
uint8_t varies_as(expr, uint8_t varies); /* of a value with this expression, whose operands vary so */
bool varies_by_lane(expr formula); /* threads differ only by their place in their warp, so each warp has all answers */
void note_varying_site(expr); /* threads of a block may hold this differently */
extern uint32_t revisions;    /* how often such an answer, or that what was stored (memory.c), has changed */

/* conditions.c: formulas, and what is known of them on one path ------------------------------------------------------ */

expr negation(expr);
expr conjunction(expr, expr);
expr disjunction(expr, expr);
expr comparison(enum comparison, bool is_signed, expr left, expr right); /* 0 if nothing can be said */
expr atom(expr site);
bool natural_limit(expr, uint32_t *largest); /* of a base that is small and not negative */
expr equals_number(expr, uint32_t n); /* a formula, also of sums, products and bounds; no step of it overflows */
bool formula_is_small(expr); /* worth keeping: no more than 24 nodes, counted with repetition */

typedef uint32_t constraints; /* 0: none; a set of what is known, kept once */
enum { INFEASIBLE = 0xFFFFFFFF };
enum truth { IS_FALSE, IS_TRUE, IS_OPEN };
enum truth truth(expr formula, constraints);
constraints assume(expr formula, bool holds, constraints); /* INFEASIBLE if there is no such path */

typedef uint32_t constraint_key; /* what a constraint is kept under: expr * 2 + (0 its numbers, 1 whether it is true) */
unsigned constraint_keys(expr formula, constraint_key *keys, unsigned most); /* of this formula, each once; how many there are */
unsigned leaf_keys(expr, constraint_key *keys, unsigned most); /* of special registers in this expression, as numbers */
constraints constraints_kept(constraints, const uint8_t *kept, size_t count); /* those whose key is below count and has kept[key] */
constraints constraints_without(constraints, bool (*drop)(expr)); /* those that do not speak of such an expression or formula */
constraints constraints_common(constraints, constraints); /* what holds on either of two paths */
unsigned formula_atoms(expr formula, expr *atoms, unsigned most); /* the parts that are not combinations of others, in order */

struct range {
    uint32_t low, high;
};
bool value_range(expr, constraints, struct range *); /* smallest and largest number it can be; false: nothing is known */
bool is_in_own_block(expr); /* the address of shared memory cannot be that of another block of the cluster */
bool may_be_same(expr, expr); /* addresses of barrier objects; 0: any */

/* transfer.c, transfer_table.c, constants.c, memory.c, stores.c: one instruction's effect on the registers ---------------- */

struct memory_key {
    uint8_t space; /* enum window: local or shared */
    uint8_t bytes;
    expr base; /* TAG_SUM_TERMS; 0: none */
    int32_t offset;
};
struct memory_word {
    struct memory_key key;
    struct value value;
};
/* How far a thread is with split barriers, and how many barriers lie between it and the wait of its siblings. */
enum { MANY_PHASES = 7, NAMED_BARRIERS = 16 };
struct phases {
    uint8_t block_debt;      /* block-wide barriers that end before the siblings wait; MANY_PHASES: so many or unknown */
    uint8_t cluster_debt;    /* the same of cluster barriers */
    bool lane_waits;         /* another lane of the warp waits for a barrier object, and the warp's barrier comes after that */
    bool cluster_arrived;    /* between arriving at the cluster's barrier and waiting for it, on some path */
    uint8_t named[NAMED_BARRIERS]; /* how often each named barrier was used, at least; up to MANY_PHASES */
};
struct place {
    struct section *section;
    uint32_t index;
};
enum { MOST_WAYS = 8 };
struct ways { /* formulas that hold on the way taken at the last open branches, the latest first, then 0 (ways.c) */
    expr held[MOST_WAYS];
};
struct registers {
    struct value file[REGISTERS];
    struct phases phases;
    struct place passed; /* the last branch, or guarded wait, at which this thread went past the wait; no section: none */
    uint64_t turns; /* of the loops with a wait (loops.c): those in a later turn than the first */
    struct ways ways;
    uint8_t split; /* enum varies: after a branch that these leave in different ways, and have not met again since */
    struct memory_word *words; /* sorted by key (memory_compare) */
    size_t word_count, word_capacity;
};
int memory_compare(const struct memory_key *, const struct memory_key *);

enum { MOST_RESULTS = 160 };
struct result { /* what an instruction writes, in order */
    unsigned count;
    uint16_t reg[MOST_RESULTS];
    struct value value[MOST_RESULTS];
};

enum { FIRST_ARGUMENT = 4, LAST_ARGUMENT = 15 }; /* registers of a call */

struct kernel;
void evaluator_begin(const struct kernel *);
uint32_t cluster_size(unsigned axis); /* of the kernel, in blocks; 0: not known */
enum { FOLLOWS_VARIABLES = 1, KEEPS_CHOICES = 2 };
/* Variables (VARIABLE_SITE) are kept in whatever is computed from them; a choice of numbers is kept if its condition is unknown. */
void evaluator_follow(unsigned how);
/* `site`: the number of the place; 0 in a loop, where a result is not the same each time. */
void execute(struct registers *, const struct instruction *, enum matter, uint32_t site);
/* formula ? if_true : if_false, of this register or of words; 0: it cannot be expressed, or gets too large. */
expr chosen_by(uint16_t reg, expr formula, expr if_true, expr if_false);
/* Whether the whole is that value where all of these hold, as far as its form tells. */
bool is_chosen(expr whole, const struct ways *, expr if_true);
expr where_holds(expr whole, expr formula); /* what is left of a combination of conditions there */
struct value operand_value(const struct registers *, const struct operand *, unsigned half);
struct value predicate_value(const struct registers *, uint16_t reg, bool negated); /* NO_REGISTER: true; formula 0: unknown */
provenance address_provenance(const struct registers *, const struct address *, uint8_t *varies);
/* tensors.c: of the low word of a tensor map's address, which may be that of a parameter. */
provenance tensor_map_provenance(const struct value *low);
expr object_address(const struct registers *, const struct instruction *);
struct value fresh(unsigned reg, uint32_t site, provenance, uint8_t varies);
void forget_shared(struct registers *);
struct value *stored_word(const struct registers *, const struct memory_key *); /* NULL: none is kept */
/* For opcode_of: what computes this opcode; NULL. */
bool (*computes(const char *base))(struct registers *, const struct instruction *, struct result *);

/* call_graph.c: the image, its kernels, what calls can reach -------------------------------------------------------------- */

struct parameter {
    uint32_t offset, size;
};
struct kernel {
    name name;
    uint32_t cluster[3]; /* blocks along each axis; 0: not stated */
    uint32_t parameter_base, parameter_bytes, max_threads; /* max_threads 0: not stated */
    uint32_t parameter_count;
    struct parameter *parameters;
    struct map code_table; /* offset in constant bank 2 -> name of a function */
    struct map words;      /* offset in constant bank 2 -> what stands there */
    struct map tables;     /* name of a part of constant bank 2 -> offset */
};
struct image {
    unsigned sm;
    struct section *sections;
    size_t section_count;
    struct kernel *kernels; /* those to be judged */
    size_t kernel_count;
    struct map constant4;      /* offset in constant bank 4 -> name of a symbol */
    struct map functions;      /* names of functions */
    struct map kernel_names;   /* of all kernels of the cubin */
    name *addresses;           /* functions whose address is taken, sorted by text */
    size_t address_count;
    struct map homes;          /* function that shares a section with others -> index in home */
    struct home { name function, section; uint32_t index; } *home;
    size_t home_count;
};
extern struct image image;

struct target {
    struct section *section; /* NULL: code that touches no global memory, or that cannot be seen */
    uint32_t block;
};
struct section *section_named(name); /* NULL: not in this file */
struct target resolve(struct section *caller, name label);
size_t indirect_targets(struct section *caller, const struct target **targets);
/* The registers that a callee writes if it only computes and is too long to be walked for its result, else NULL. */
const uint16_t *written_if_harmless(struct target, size_t *count);
bool is_system_call(name);
bool is_allocation(name); /* of device memory: the result is its address */
bool is_copy_call(name);

/* fixed_point.c, reaching.c: the analysis ----------------------------------------------------------------------------------- */

enum progress {
    FRESH,     /* no thread is known to have waited */
    AHEAD,     /* siblings will wait, but only after a further block-wide barrier: only what they signal then makes it safe */
    CLUSTER,   /* as SIBLING, but threads of another block of the cluster wait; a cluster barrier makes it safe */
    SIBLING,   /* passed by a wait that other threads of its block execute; a block-wide barrier makes it safe */
    SIGNALLED, /* as SIBLING, then released by an object in shared memory: safe if a waiter signalled it */
    WAITED,    /* only followed when it matters what waiters signal */
    PROGRESSES
};

struct access { /* one instruction that some path reaches without a wait */
    struct place place;
    uint8_t kind;
    uint8_t states;         /* bits of enum progress */
    uint8_t decided_states; /* the same, if the deciding parameters say that the kernel waits; 0: not reached then */
    provenance provenance;
    bool reaches_wait;
    struct place passed; /* where a path to here went past the wait; no section: no path did */
    name *callers; /* sections from which its function was called */
    size_t caller_count, caller_capacity;
};
struct unresolved {
    struct place place;
    const char *why; /* a sentence, if callee is 0 */
    name callee;     /* not in this file */
};
enum found_place { FOUND_PREFETCH, FOUND_UNKNOWN, FOUND_EXIT, FOUND_END, FOUND_TRIGGER, FOUND_PLACES }; /* exit, end, trigger: without a
                                                                                     * wait; end: of a thread none of whose siblings waits */
struct place_list { /* each once */
    struct place *place;
    size_t count, capacity;
};
struct deciders { /* parameters that alone decide whether there is a wait; count 0: there are none */
    uint32_t *offset; /* in the parameters, each once */
    size_t count, capacity;
    struct place place; /* of the first branch that asks them */
};
struct findings {
    struct access *accesses;
    struct unresolved *unresolved;
    size_t state_count; /* of all accesses together */
    size_t access_count, access_capacity, unresolved_count, unresolved_capacity;
    struct place_list places[FOUND_PLACES];
    struct deciders deciders;
    bool imprecise; /* too many paths: conditions were not kept apart */
};
void analyse(const struct kernel *, struct findings *);

/* report.c --------------------------------------------------------------------------------------------------------------- */

void report_kernel(FILE *, const struct kernel *, bool with_code);

#endif
