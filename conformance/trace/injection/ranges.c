/* ranges.c - NVTX ranges: NVTX_INJECTION64_PATH names this library, and NVTX then hands its calls here */
#define _GNU_SOURCE
#include "trace.h"

#include <stdlib.h>
#include <string.h>

enum { ETID_CALLBACKS = 1, MODULE_CORE = 1, MODULE_CORE2 = 5, TEXT_ROOM = 4096 };
enum { CORE_START_EX = 4, CORE_START = 5, CORE_END = 7, CORE_PUSH_EX = 8, CORE_PUSH = 9, CORE_POP = 11 };
enum { CORE2_START_EX = 2, CORE2_END = 3, CORE2_PUSH_EX = 4, CORE2_POP = 5, CORE2_REGISTER = 10 };
enum { MESSAGE_ASCII = 1, MESSAGE_REGISTERED = 3 };

struct export_callbacks {
    size_t size;
    int (*functions_of)(int module, void ****table, unsigned *size);
};
struct event_attributes { /* nvtxEventAttributes_v2 */
    uint16_t version, size;
    uint32_t category;
    int32_t colour_type;
    uint32_t colour;
    int32_t payload_type, reserved;
    uint64_t payload;
    int32_t message_type;
    const void *message;
};

static uint64_t range_count;

static void note_range(const char *what, uint64_t id, const char *text)
{
    char quoted[TEXT_ROOM];
    trace_start();
    if (trace_is_on()) {
        json_text(quoted, sizeof quoted, text ? text : "");
        record("[\"range\",\"%s\",%llu,%u,%llu,%s]", what, (unsigned long long)host_now(), thread_number(),
                   (unsigned long long)id, quoted);
    }
}

/* A registered string's handle is the string that register_string kept. */
static const char *text_of(const struct event_attributes *attributes)
{
    int known = attributes && (attributes->message_type == MESSAGE_ASCII || attributes->message_type == MESSAGE_REGISTERED);
    return known ? attributes->message : "";
}

static int push(const char *text)
{
    note_range("push", 0, text);
    return 0;
}
static int push_ex(const struct event_attributes *attributes) { return push(text_of(attributes)); }
static int pop(void)
{
    note_range("pop", 0, "");
    return 0;
}
static uint64_t start(const char *text)
{
    uint64_t id = __atomic_add_fetch(&range_count, 1, __ATOMIC_RELAXED);
    note_range("start", id, text);
    return id;
}
static uint64_t start_ex(const struct event_attributes *attributes) { return start(text_of(attributes)); }
static void end(uint64_t id) { note_range("end", id, ""); }
static int domain_push(void *domain, const struct event_attributes *attributes) { return (void)domain, push_ex(attributes); }
static int domain_pop(void *domain) { return (void)domain, pop(); }
static uint64_t domain_start(void *domain, const struct event_attributes *attributes) { return (void)domain, start_ex(attributes); }
static void domain_end(void *domain, uint64_t id) { (void)domain, end(id); }
static const void *register_string(void *domain, const char *text) { return (void)domain, strdup(text ? text : ""); }

static void replace(void ***table, unsigned size, unsigned index, void *function)
{
    if (index < size && table[index]) {
        *table[index] = function;
    }
}

VISIBLE int InitializeInjectionNvtx2(void *(*get_table)(uint32_t));
VISIBLE int InitializeInjectionNvtx2(void *(*get_table)(uint32_t))
{
    const struct export_callbacks *callbacks = get_table ? get_table(ETID_CALLBACKS) : NULL;
    void ***table = NULL;
    unsigned size = 0;
    if (!callbacks || !callbacks->functions_of || !callbacks->functions_of(MODULE_CORE, &table, &size)) {
        return 0;
    }
    replace(table, size, CORE_START_EX, (void *)start_ex);
    replace(table, size, CORE_START, (void *)start);
    replace(table, size, CORE_END, (void *)end);
    replace(table, size, CORE_PUSH_EX, (void *)push_ex);
    replace(table, size, CORE_PUSH, (void *)push);
    replace(table, size, CORE_POP, (void *)pop);
    if (callbacks->functions_of(MODULE_CORE2, &table, &size)) {
        replace(table, size, CORE2_START_EX, (void *)domain_start);
        replace(table, size, CORE2_END, (void *)domain_end);
        replace(table, size, CORE2_PUSH_EX, (void *)domain_push);
        replace(table, size, CORE2_POP, (void *)domain_pop);
        replace(table, size, CORE2_REGISTER, (void *)register_string);
    }
    return 1;
}
