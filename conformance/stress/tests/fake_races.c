/* fake_races.c - a program that races by rule; it reads the plan as the injection library would
 *
 *   fake_races PAIRS KERNELS [OWN]
 * PAIRS (a>b,d>c) is who races with whom, KERNELS (a,b,c) what is launched. OWN (a=early,host=b) is what else is odd: KERNEL=early or
 * late says that it triggers before or after its stores; hangs, time and host name the kernel that goes wrong so when it is held;
 * natural=yes makes a program that differs each time unless every kernel waits; calm=yes leaves out the copy that never settles;
 * silent=yes copies and prints nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HOLD = 2, PROTECT = 4, AFTER_TRIGGER = 32, MOST = 16, LONGEST = 64 };

struct two {
    char name[LONGEST], value[LONGEST];
};

struct list {
    struct two entry[MOST];
    int count;
};

static struct list pairs, kernels, own;

/* "a>b,d>c" or "a=early": entries of up to two names. */
static struct list parsed(const char *text, char between)
{
    struct list list = { .count = 0 };
    const char *form = between == '>' ? "%63[^>,]>%63[^,]%n" : "%63[^=,]=%63[^,]%n";
    while (*text) {
        struct two *entry = &list.entry[list.count];
        int read = 0;
        if (list.count == MOST || sscanf(text, form, entry->name, entry->value, &read) < 2) {
            if (list.count == MOST || sscanf(text, "%63[^,]%n", entry->name, &read) < 1)
                exit(64);
        }
        list.count++;
        text += read;
        text += *text == ',';
    }
    return list;
}

static const char *own_value(const char *name)
{
    int i;
    for (i = 0; i < own.count; i++)
        if (strcmp(own.entry[i].name, name) == 0)
            return own.entry[i].value;
    return NULL;
}

/* The kernel's flags in the plan, else those of all others. */
static int flags_of(const char *kernel)
{
    char line[4096], name[1024], rest[1024];
    int flags, others = 0, found = -1, a, b;
    FILE *file = fopen(getenv("PDL_STRESS_PLAN"), "r");
    if (file == NULL)
        exit(65);
    while (found < 0 && fgets(line, sizeof line, file)) {
        if (sscanf(line, "%1023s %d %d %d %1023s", name, &flags, &a, &b, rest) != 5)
            continue;
        if (strcmp(name, kernel) == 0)
            found = flags;
        if (strcmp(name, "*") == 0)
            others = flags;
    }
    fclose(file);
    return found >= 0 ? found : others;
}

static int has(const char *kernel, int flag) { return (flags_of(kernel) & flag) != 0; }

/* Held at its entry, or after a trigger of its own that comes before its stores. */
static int held(const char *kernel)
{
    const char *trigger = own_value(kernel);
    return has(kernel, HOLD) || (has(kernel, AFTER_TRIGGER) && trigger && strcmp(trigger, "early") == 0);
}

static int held_as(const char *way) { return own_value(way) && has(own_value(way), HOLD); }

static void write_records(const char *path)
{
    int i;
    FILE *file = fopen(path, "a");
    if (file == NULL)
        exit(66);
    for (i = 0; i < kernels.count; i++) {
        const char *name = kernels.entry[i].name;
        fprintf(file, "{\"record\": \"kernel\", \"name\": \"%s\", \"rewritten\": %s, \"waits\": 0, \"triggers\": %d}\n", name,
                strcmp(name, "untouched") == 0 ? "false" : "true", own_value(name) != NULL);
        fprintf(file, "{\"record\": \"launches\", \"name\": \"%s\", \"eager\": 0, \"captured\": 3, \"built\": 0, \"attribute\": 3, "
                      "\"before_attribute\": 3}\n", name);
    }
    fclose(file);
}

/* Two copies of 16 parts: the first is never the same, the second shows the race in its first part. */
static void write_copies(const char *path, const char *word)
{
    char process[32];
    const char *first[2] = { process, word };
    int copy, part;
    FILE *file = fopen(path, "w");
    if (file == NULL)
        exit(67);
    snprintf(process, sizeof process, "%d", (int)getpid());
    for (copy = own_value("calm") != NULL; copy < 2; copy++) {
        fprintf(file, "{\"copy\": %d, \"bytes\": 64, \"after\": \"e\", \"digests\": [\"%s\"", copy, first[copy]);
        for (part = 1; part < 16; part++)
            fprintf(file, ", \"same\"");
        fprintf(file, "]}\n");
    }
    fclose(file);
}

static int goes_wrong(void)
{
    const char *blocking = getenv("CUDA_LAUNCH_BLOCKING");
    int i;
    for (i = 0; i < pairs.count; i++) {
        const char *a = pairs.entry[i].name, *b = pairs.entry[i].value;
        if (held(a) && !(has(b, HOLD) && strcmp(a, b) != 0) && !has(b, PROTECT))
            return 1;
    }
    /* no wait cures the first of these, and nothing else does; the second is an order that the host forgot */
    return held_as("time") || (held_as("host") && !(blocking && strcmp(blocking, "1") == 0));
}

int main(int argc, char **argv)
{
    const char *records = getenv("PDL_STRESS_RECORDS"), *copies = getenv("PDL_STRESS_DIGESTS");
    int i, bad, ordered = 1, unsettled;
    char word[32];
    if (argc < 3 || getenv("PDL_STRESS_PLAN") == NULL)
        return 64;
    pairs = parsed(argv[1], '>');
    kernels = parsed(argv[2], '=');
    own = parsed(argc > 3 ? argv[3] : "", '=');
    if (records)
        write_records(records);
    if (held_as("hangs"))
        sleep(60);
    for (i = 0; i < kernels.count; i++)
        ordered &= has(kernels.entry[i].name, PROTECT);
    unsettled = own_value("natural") && !ordered;
    bad = goes_wrong() || (unsettled && getpid() % 2);
    snprintf(word, sizeof word, bad ? "bad" : "good");
    if (unsettled)
        snprintf(word, sizeof word, "%d", (int)getpid());
    if (own_value("silent"))
        return 0;
    if (copies)
        write_copies(copies, word);
    printf("result %d\n", bad ? 13 : 7);
    return 0;
}
