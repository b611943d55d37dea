/* listing.c - nvdisasm's text -> sections with instructions, labels and source lines. No meaning is given to anything. */
#include <string.h>

#include "dataflow/control_flow.h"

struct reader {
    struct section *sections;
    size_t count, capacity;
    struct section *section; /* the one that is read; NULL ahead of the first */
    size_t code_capacity, line_capacity;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_opcode_character(char c)
{
    return (c >= 'A' && c <= 'Z') || is_digit(c) || c == '.' || c == '_' || (c >= 'a' && c <= 'z');
}

/* Letters beyond ASCII count: a name in UTF-8 is still a name. */
static bool is_label_character(char c)
{
    return is_opcode_character(c) || c == '$' || c == '@' || (unsigned char)c >= 0x80;
}

static const char *after_blanks(const char *at, const char *end)
{
    while (at < end && is_blank(*at))
        at++;
    return at;
}

static bool starts_with(const char *at, const char *end, const char *start, size_t length)
{
    return (size_t)(end - at) >= length && memcmp(at, start, length) == 0;
}

/* Decimal digits, as many as there are; absurd numbers become the largest one. */
static const char *read_decimal(const char *at, const char *end, uint32_t *number)
{
    uint64_t read = 0;

    for (; at < end && is_digit(*at); at++) {
        read = read * 10 + (uint64_t)(*at - '0');
        if (read > UINT32_MAX)
            read = UINT32_MAX;
    }
    *number = (uint32_t)read;
    return at;
}

/* The comment with an instruction's address, at least four digits; NULL if this is none. */
static const char *read_offset(const char *at, const char *end, uint32_t *offset)
{
    const char *digits;

    if (!starts_with(at, end, "/*", 2))
        return NULL;
    *offset = 0;
    for (digits = at += 2; at < end; at++) {
        if (is_digit(*at))
            *offset = *offset << 4 | (uint32_t)(*at - '0');
        else if (*at >= 'a' && *at <= 'f')
            *offset = *offset << 4 | (uint32_t)(*at - 'a' + 10);
        else
            break;
    }
    return at - digits >= 4 && starts_with(at, end, "*/", 2) ? at + 2 : NULL;
}

/* @!UP0 and the blanks after it. Anything else stays, and is then no opcode either. */
static const char *read_guard(const char *at, const char *end, struct instruction *code)
{
    const char *start = at, *digits;
    bool negated, uniform;
    uint32_t number;

    if (at == end || *at++ != '@')
        return start;
    if ((negated = at < end && *at == '!'))
        at++;
    if ((uniform = at < end && *at == 'U'))
        at++;
    if (at == end || *at++ != 'P')
        return start;
    digits = at;
    at = read_decimal(at, end, &number);
    if (at > digits) /* no code has a predicate beyond the last */
        code->guard = (uint16_t)((uniform ? FIRST_UP : FIRST_P) + (number < 15 ? number : 15));
    while (at < end && (is_digit(*at) || *at == 'T'))
        at++;
    if (at == digits || at == end || !is_blank(*at))
        return start;
    code->guarded = true;
    code->guard_negated = negated;
    return after_blanks(at, end);
}

enum { ELECTION_REACH = 4 /* instructions */ };

/* After the last instruction of the section: R2UR under the predicate of an ELECT just before it. */
static bool is_for_elected(const struct section *section, const struct instruction *code)
{
    const char *base = text_of(code->decoded->opcode->base);

    if (!code->guarded || code->guard_negated || code->guard == NO_REGISTER || strcmp(base, "R2UR") != 0)
        return false;
    for (uint32_t i = section->count; i > 0 && section->count - i < ELECTION_REACH; i--) {
        const struct decoded *before = section->code[i - 1].decoded;

        for (unsigned k = 0; k < before->destination_count; k++)
            if (before->destinations[k] == code->guard)
                return strcmp(text_of(before->opcode->base), "ELECT") == 0;
    }
    return false;
}

static void append_instruction(struct reader *reader, struct instruction *code)
{
    struct section *section = reader->section;

    code->for_elected = is_for_elected(section, code);
    section->code = grown(section->code, &reader->code_capacity, (size_t)section->count + 1, sizeof(*section->code));
    section->code[section->count++] = *code;
}

static void read_instruction(struct reader *reader, const char *at, const char *end)
{
    struct instruction code = {.guard = NO_REGISTER};
    const char *opcode, *after;
    const struct opcode *found;

    at = read_offset(at, end, &code.offset);
    if (!at || at == end || !is_blank(*at))
        return;
    opcode = at = read_guard(after_blanks(at, end), end, &code);
    while (at < end && is_opcode_character(*at))
        at++;
    after = memchr(at, ';', (size_t)(end - at));
    if (at == opcode || !after)
        return;
    found = opcode_of(opcode, (size_t)(at - opcode));
    at = after_blanks(at, after);
    while (after > at && is_blank(after[-1]))
        after--;
    code.decoded = decode(found, at, (size_t)(after - at));
    code.kind = found->kind;
    append_instruction(reader, &code);
}

static void read_label(struct reader *reader, const char *at, const char *end)
{
    const char *start = at;

    while (at < end && is_label_character(*at))
        at++;
    if (at > start && at < end && *at == ':' && after_blanks(at + 1, end) == end)
        map_put(&reader->section->labels, name_of(start, (size_t)(at - start)), reader->section->count);
}

/* \t//## File "name", line 12 inlined at "other", line 34: then the line of the other follows. */
static void read_source_line(struct reader *reader, const char *at, const char *end)
{
    static const char head[] = "\t//## File \"", middle[] = "\", line ", inlined[] = " inlined at ";
    struct section *section = reader->section;
    struct source_line line = {.index = section->count};
    const char *name_end, *digits;

    if (!starts_with(at, end, head, sizeof(head) - 1))
        return;
    at += sizeof(head) - 1;
    name_end = memchr(at, '"', (size_t)(end - at));
    if (!name_end || !starts_with(name_end, end, middle, sizeof(middle) - 1))
        return;
    digits = name_end + sizeof(middle) - 1;
    if (read_decimal(digits, end, &line.line) == digits)
        return;
    line.file = name_of(at, (size_t)(name_end - at));
    while (digits < end && is_digit(*digits))
        digits++;
    line.inlined = starts_with(digits, end, inlined, sizeof(inlined) - 1);
    section->lines = grown(section->lines, &reader->line_capacity, (size_t)section->line_count + 1, sizeof(line));
    section->lines[section->line_count++] = line;
}

/* \t.section\t.text.name,"ax",... */
static bool read_section(struct reader *reader, const char *at, const char *end)
{
    static const char head[] = "\t.section\t.text.";
    const char *comma;

    if (!starts_with(at, end, head, sizeof(head) - 1))
        return false;
    at += sizeof(head) - 1;
    comma = memchr(at, ',', (size_t)(end - at));
    if (!comma || comma == at || comma + 1 == end || comma[1] != '"')
        return false;
    reader->sections = grown(reader->sections, &reader->capacity, reader->count + 1, sizeof(*reader->sections));
    reader->section = &reader->sections[reader->count++];
    reader->section->name = name_of(at, (size_t)(comma - at));
    reader->code_capacity = reader->line_capacity = 0;
    return true;
}

static void read_line(struct reader *reader, const char *at, const char *end)
{
    const char *text = after_blanks(at, end);

    if (text == end || (*at == '\t' && read_section(reader, at, end)) || !reader->section)
        return;
    if (text == at)
        read_label(reader, at, end);
    else if (text[0] == '/' && text + 1 < end && text[1] == '/')
        read_source_line(reader, at, end);
    else
        read_instruction(reader, text, end);
}

size_t read_listing(char *text, size_t length, struct section **sections)
{
    struct reader reader = {0};
    const char *at = text, *end = text + length;

    while (at < end) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));

        if (!line_end)
            line_end = end;
        read_line(&reader, at, line_end);
        at = line_end < end ? line_end + 1 : end;
    }
    for (size_t n = 0; n < reader.count; n++)
        cut_into_blocks(&reader.sections[n]);
    *sections = reader.sections;
    return reader.count;
}
