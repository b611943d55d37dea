/* constants.c - what is held by words of the constant banks: parameters, sizes, where memory begins, functions, tables. */
#include "domains/transfer.h"

#include <string.h>

/* Words of constant bank 0: where local and constant memory begin in the generic address space, and the sizes of block and grid. */
static const struct windows {
    uint32_t local[2], constant[4], block_size, grid_size;
} windows_before_100 = {{0x20, 0x24}, {0xD0, 0xD4, 0x198, 0x19C}, 0x0, 0xC},
  windows_from_100 = {{0x2F8, 0x2FC}, {0x120, 0x124, 0x348, 0x34C}, 0x360, 0x370};
enum { PARAMETER_WINDOW = 2 /* of constant[] */, MOST_CHOICES = 16, MOST_BANKS = 0xFFFF };
enum { TABLES = 2 /* a bank */, CONSTANTS_REMEMBERED = 1024 };

static const struct kernel *evaluated;
static const struct windows *windows;

static struct map constant_numbers; /* bank and offset -> index in constants */
static struct value *constants;
static size_t constant_count, constant_capacity;

static struct {
    uint32_t bank, offset;
    struct value value; /* not known: none yet */
} recent_constants[CONSTANTS_REMEMBERED];

static provenance all_parameters;
static bool parameters_gathered;

void constants_begin(const struct kernel *kernel)
{
    evaluated = kernel;
    windows = image.sm < 100 ? &windows_before_100 : &windows_from_100;
    map_clear(&constant_numbers);
    constant_count = 0;
    memset(recent_constants, 0, sizeof(recent_constants));
    parameters_gathered = false;
}

static bool is_among(uint32_t offset, const uint32_t *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == offset)
            return true;
    return false;
}

bool is_window_word(expr expression)
{
    const struct node *node = node_of(expression);

    return node->tag == TAG_CONSTANT && node->a == 0 &&
           (is_among(node->b, windows->local, 2) || is_among(node->b, windows->constant, 4));
}

bool is_parameter_window(expr expression)
{
    const struct node *node = node_of(expression);

    return node->tag == TAG_CONSTANT && node->a == 0 && node->b == windows->constant[PARAMETER_WINDOW];
}

enum { BY_CLUSTER = 256 }; /* in place of bank 0: at a place that depends on the cluster's size */

bool is_word_of_driver(expr expression)
{
    const struct node *node = node_of(expression);

    return node->tag == TAG_CONSTANT && (node->a == BY_CLUSTER || (node->a == 0 && node->b < evaluated->parameter_base));
}

uint32_t cluster_size(unsigned axis) { return evaluated->cluster[axis]; }

uint32_t parameter_offset(int64_t at) { return (uint32_t)((uint64_t)at + evaluated->parameter_base); }

provenance parameter_provenance(void)
{
    if (!parameters_gathered) {
        all_parameters = 0;
        for (uint32_t i = 0; i < evaluated->parameter_count; i++)
            all_parameters = united(all_parameters, provenance_of(origin_of(ORIGIN_PARAMETER, evaluated->parameters[i].offset)));
        parameters_gathered = true;
    }
    return all_parameters;
}

static provenance first_bank_provenance(uint32_t offset)
{
    uint32_t bytes = evaluated->parameter_bytes ? evaluated->parameter_bytes : 1, base = evaluated->parameter_base;

    if (is_among(offset, windows->local, 2))
        return provenance_of(origin_of(ORIGIN_WINDOW, WINDOW_LOCAL));
    if (is_among(offset, windows->constant, 4))
        return provenance_of(origin_of(ORIGIN_WINDOW, WINDOW_CONSTANT));
    if (base && offset >= base && offset - base < bytes)
        return provenance_of(origin_of(ORIGIN_PARAMETER, offset - base));
    return 0;
}

static provenance constant_provenance(uint32_t bank, uint32_t offset)
{
    name symbol;

    if (bank == 0)
        return first_bank_provenance(offset);
    if (bank == 4)
        return provenance_of(origin_of(ORIGIN_SYMBOL, map_get(&image.constant4, offset & ~7u, &symbol) ? symbol : name_of_text("?")));
    if (bank == 2 && map_get(&evaluated->code_table, offset, &symbol))
        return provenance_of(origin_of(ORIGIN_SYMBOL, symbol));
    return bank == 3 ? provenance_of(origin_of(ORIGIN_BANK, bank)) : 0;
}

/* The special register that holds the same as this word of bank 0; 0: none does. */
static expr size_in_bank(uint32_t offset)
{
    static const char *const sizes[2][3] = {{"SR_NTID.X", "SR_NTID.Y", "SR_NTID.Z"}, {"SR_NCTAID.X", "SR_NCTAID.Y", "SR_NCTAID.Z"}};
    uint32_t block = offset - windows->block_size, grid = offset - windows->grid_size;

    if (offset % 4 || (block >= 12 && grid >= 12))
        return 0;
    return special(name_of_text(block < 12 ? sizes[0][block / 4] : sizes[1][grid / 4]));
}

static struct value constant_found(uint32_t bank, uint32_t offset)
{
    uint64_t key = ((uint64_t)bank + 1) << 32 | offset;
    uint32_t at, word;

    if (bank > MOST_BANKS)
        return value_of(constant_word(bank, offset), 0, 0);
    if (map_get(&constant_numbers, key, &at))
        return constants[at];
    constants = grown(constants, &constant_capacity, constant_count + 1, sizeof(*constants));
    constants[constant_count] = value_of(constant_word(bank, offset), constant_provenance(bank, offset), 0);
    if (bank == TABLES && map_get(&evaluated->words, offset, &word))
        constants[constant_count].expression = numbered(word);
    if (bank == 0 && size_in_bank(offset))
        constants[constant_count].expression = size_in_bank(offset);
    map_put(&constant_numbers, key, (uint32_t)constant_count);
    return constants[constant_count++];
}

struct value constant_value(uint32_t bank, uint32_t offset)
{
    size_t at = (offset / 4 ^ bank << 7) % CONSTANTS_REMEMBERED;

    if (!recent_constants[at].value.known || recent_constants[at].bank != bank || recent_constants[at].offset != offset) {
        recent_constants[at].value = constant_found(bank, offset);
        recent_constants[at].bank = bank;
        recent_constants[at].offset = offset;
    }
    return recent_constants[at].value;
}

struct choices {
    unsigned count;
    uint32_t number[MOST_CHOICES];
};

/* The numbers that an expression can be; false: it can be any. */
static bool numbers_in(expr expression, struct choices *choices)
{
    const struct node *node = expression ? node_of(expression) : NULL;
    bool choice = node && (node->tag == TAG_SELECT || node->tag == TAG_ANY), all = true;

    for (unsigned i = choice && node->tag == TAG_SELECT; choice && i < node->kid_count; i++)
        all = all && numbers_in(node->kids[i], choices);
    if (choice)
        return all;
    if (!node || node->tag != TAG_NUMBER)
        return false;
    if (is_among(node->a, choices->number, choices->count))
        return true;
    if (choices->count == MOST_CHOICES)
        return false;
    choices->number[choices->count++] = node->a;
    return true;
}

static provenance function_provenance(void)
{
    const struct map *table = &evaluated->code_table;
    provenance found = 0;

    for (size_t i = 0; i < table->capacity; i++)
        if (table->keys[i] && table->values[i])
            found = united(found, provenance_of(origin_of(ORIGIN_SYMBOL, table->values[i])));
    return found;
}

/* Where a word may come from that is loaded from one of these places, or, if there are none, from any. */
static provenance provenance_of_any(uint32_t bank, uint32_t offset, const struct choices *choices)
{
    provenance found = 0;

    for (unsigned i = 0; i < choices->count; i++)
        found = united(found, constant_value(bank, offset + choices->number[i]).provenance);
    if (choices->count)
        return found;
    if (bank == 0)
        return parameter_provenance();
    if (bank == 2)
        return function_provenance();
    return bank == 3 ? provenance_of(origin_of(ORIGIN_BANK, bank)) : 0;
}

/* SR_CgaSize times a number: the driver's words are found so from sm_100 on. */
static bool is_cluster_index(expr index)
{
    const struct node *node = is_operation(index, OPERATION_MULTIPLY) ? node_of(node_of(index)->kids[0]) : NULL;

    return node && node->tag == TAG_SPECIAL && strcmp(text_of(node->a), "SR_CgaSize") == 0;
}

struct value constant_operand(const struct registers *regs, const struct operand *operand, unsigned half)
{
    uint32_t offset = (uint32_t)operand->offset + 4 * half;
    struct choices choices;
    struct value index = {0};

    if (!operand->indexed)
        return constant_value(operand->bank, offset);
    if (operand->reg != NO_REGISTER)
        index = regs->file[operand->reg];
    choices.count = 0;
    if (!numbers_in(index.expression, &choices))
        choices.count = 0;
    if (choices.count == 1)
        return constant_value(operand->bank, offset + choices.number[0]);
    if (operand->bank == 0 && index.expression && is_cluster_index(index.expression))
        return value_of(constant_word(BY_CLUSTER, offset), 0, 0);
    if (operand->bank == TABLES && index.expression && !choices.count)
        return value_of(table_word(index.expression, offset), function_provenance(), index.varies);
    return value_of(0, provenance_of_any(operand->bank, offset, &choices), index.varies);
}

/* Threads find different words in a table if they ask for different ones. */
struct value word_of_table(const struct registers *regs, const struct operand *operand, unsigned half)
{
    struct value index = operand->reg == NO_REGISTER ? zero_value() : regs->file[operand->reg];
    uint32_t n, place, word;

    if (index.expression && is_number_of(index.expression, &n) && map_get(&evaluated->tables, operand->symbol, &place) &&
        map_get(&evaluated->words, (uint32_t)(n + place + operand->offset) + 4 * half, &word))
        return value_of(numbered(word), 0, index.varies);
    if (index.expression && map_get(&evaluated->tables, operand->symbol, &place))
        return value_of(table_word(index.expression, (uint32_t)(place + operand->offset) + 4 * half), 0, index.varies);
    return value_of(0, 0, index.varies);
}
