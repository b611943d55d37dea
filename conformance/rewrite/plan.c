/* plan.c - see plan.h */
#define _GNU_SOURCE /* getline */
#include "plan.h"

#include <stdlib.h>
#include <string.h>

static uint64_t hash_of(const char *text)
{
    uint64_t hash = UINT64_C(0xCBF29CE484222325); /* FNV-1a */
    for (; *text; text++) {
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001B3);
    }
    return hash;
}

static struct plan_line *slot_for(struct plan_line *table, size_t room, const char *name)
{
    size_t at = (size_t)hash_of(name) & (room - 1);
    while (table[at].name && strcmp(table[at].name, name) != 0) {
        at = (at + 1) & (room - 1);
    }
    return &table[at];
}

static int enlarge(struct plan_file *plan)
{
    size_t room = plan->room ? 2 * plan->room : 64;
    struct plan_line *table = calloc(room, sizeof *table);
    if (table == NULL) {
        return 0;
    }
    for (size_t i = 0; i < plan->room; i++) {
        if (plan->table[i].name) {
            *slot_for(table, room, plan->table[i].name) = plan->table[i];
        }
    }
    free(plan->table);
    plan->table = table;
    plan->room = room;
    return 1;
}

static int add(struct plan_file *plan, const char *name, const struct kernel_plan *numbers)
{
    if (2 * (plan->count + 1) > plan->room && !enlarge(plan)) {
        return 0;
    }
    struct plan_line *line = slot_for(plan->table, plan->room, name);
    if (line->name == NULL) {
        line->name = strdup(name);
        if (line->name == NULL) {
            return 0;
        }
        plan->count++;
    }
    line->plan = *numbers;
    return 1;
}

static int number(char **text, uint32_t *value)
{
    char *end;
    unsigned long found = strtoul(*text, &end, 10);
    int fine = end != *text && (*text)[strspn(*text, " \t")] != '-' && found <= UINT32_MAX
        && (*end == ' ' || *end == '\t' || *end == 0);
    *text = end;
    *value = (uint32_t)found;
    return fine;
}

static const char *take_line(struct plan_file *plan, char *text)
{
    struct kernel_plan numbers = {0};
    text[strcspn(text, "\r\n")] = 0;
    char *rest = text + strcspn(text, " \t");
    if (text[0] == 0 || text[0] == '#') {
        return NULL;
    }
    if (*rest == 0) {
        if (plan->switch_count == MOST_SWITCHES || strlen(text) >= SWITCH_ROOM) {
            return "it is neither a kernel with four numbers nor a switch";
        }
        strcpy(plan->switches[plan->switch_count++], text);
        return NULL;
    }
    *rest++ = 0;
    if (!number(&rest, &numbers.flags) || !number(&rest, &numbers.least_ns) || !number(&rest, &numbers.span_ns)
        || !number(&rest, &numbers.seed) || rest[strspn(rest, " \t")] != 0) {
        return "a kernel's name is followed by four numbers: flags, least_ns, span_ns, seed";
    }
    if (numbers.flags & ~(uint32_t)PLAN_KNOWN) {
        return "its flags hold a bit that means nothing";
    }
    if (strcmp(text, "*") == 0) {
        plan->others = numbers;
        return NULL;
    }
    return add(plan, text, &numbers) ? NULL : "there is no memory for it";
}

const char *plan_read(struct plan_file *plan, FILE *file, unsigned *line)
{
    char *text = NULL;
    size_t room = 0;
    const char *wrong = NULL;
    memset(plan, 0, sizeof *plan);
    for (*line = 1; !wrong && getline(&text, &room, file) >= 0; ++*line) {
        wrong = take_line(plan, text);
        if (wrong) {
            break;
        }
    }
    free(text);
    return wrong;
}

void plan_free(struct plan_file *plan)
{
    for (size_t i = 0; i < plan->room; i++) {
        free(plan->table[i].name);
    }
    free(plan->table);
    memset(plan, 0, sizeof *plan);
}

const struct kernel_plan *plan_for(const struct plan_file *plan, const char *kernel)
{
    const struct plan_line *line = plan->room ? slot_for(plan->table, plan->room, kernel) : NULL;
    return line && line->name ? &line->plan : &plan->others;
}

int plan_switch(const struct plan_file *plan, const char *word)
{
    for (size_t i = 0; i < plan->switch_count; i++) {
        if (strcmp(plan->switches[i], word) == 0) {
            return 1;
        }
    }
    return 0;
}
