/* main.c - one process that runs one family's cases. It never forks; pdlkit starts and watches it, CTest calls it too. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device.h"
#include "model_select.h"
#include "record_case.h"
#include "run_case.h"

#define EXIT_ARGUMENTS 64
#define EXIT_SETUP 69
#define EXIT_INTERNAL 70
#define EXIT_DEVICE_FAILED 71
#define EXIT_SKIP 77
#define CASES_MAX 256

struct options {
    const char *family, *device, *records, *cases[CASES_MAX];
    unsigned case_count;
    enum profile profile;
    uint64_t seed;
    enum plant plant;
    uint32_t plant_x_ns;
    unsigned sms;
    struct repeated repeated;
    int list, probe, plan, plan_trials, trial, held;
};

static int complain(const char *what, const char *value)
{
    fprintf(stderr, "pdl-harness: %s%s%s\n", what, value ? ": " : "", value ? value : "");
    return 0;
}

static int parse_profile(struct options *o, const char *text)
{
    static const char *const names[PROFILE_COUNT] = { "smoke", "quick", "full", "soak" };
    int i;
    for (i = 0; i < PROFILE_COUNT; i++)
        if (strcmp(text, names[i]) == 0) {
            o->profile = (enum profile)i;
            return 1;
        }
    return complain("--profile takes smoke, quick, full or soak, not", text);
}

static int parse_seed(struct options *o, const char *text)
{
    const char *digits = strncmp(text, "0x", 2) == 0 || strncmp(text, "0X", 2) == 0 ? text + 2 : text;
    size_t n = strspn(digits, "0123456789abcdefABCDEF");
    if (n == 0 || n > 16 || digits[n])
        return complain("--seed takes up to 16 hexadecimal digits, not", text);
    o->seed = strtoull(digits, NULL, 16);
    return 1;
}

static int parse_number(unsigned long *value, const char *text, const char *what)
{
    char *end;
    *value = strtoul(text, &end, 10);
    return isdigit((unsigned char)text[0]) && !*end ? 1 : complain(what, text);
}

static int parse_plant(struct options *o, const char *text)
{
    unsigned long x = 0;
    if (strcmp(text, "hang") == 0)
        o->plant = PLANT_HANG;
    else if (strcmp(text, "crash") == 0)
        o->plant = PLANT_CRASH;
    else if (strcmp(text, "no-record") == 0)
        o->plant = PLANT_NO_RECORD;
    else if (strcmp(text, "broken-wait") == 0)
        o->plant = PLANT_BROKEN_WAIT;
    else if (strncmp(text, "broken-wait:", 12) == 0 && parse_number(&x, text + 12, "--plant broken-wait:X takes nanoseconds, not"))
        o->plant = PLANT_BROKEN_WAIT;
    else
        return complain("--plant takes broken-wait, broken-wait:X_NS, hang, crash or no-record, not", text);
    o->plant_x_ns = (uint32_t)x;
    return 1;
}

/* BATCH.SLOT, as a forbidden trial's record says them. */
static int parse_trial(struct options *o, const char *text)
{
    unsigned slot;
    int used = 0;

    if (sscanf(text, "%" SCNu64 ".%u%n", &o->repeated.batch, &slot, &used) != 2 || text[used] || !isdigit((unsigned char)text[0]))
        return complain("--trial takes BATCH.SLOT, not", text);
    o->repeated.slot = slot;
    return o->trial = 1;
}

static int parse_value(struct options *o, const char *name, const char *value)
{
    unsigned long number;
    if (strcmp(name, "--family") == 0)
        o->family = value;
    else if (strcmp(name, "--device") == 0)
        o->device = value;
    else if (strcmp(name, "--records") == 0)
        o->records = value;
    else if (strcmp(name, "--case") == 0 && o->case_count < CASES_MAX)
        o->cases[o->case_count++] = value;
    else if (strcmp(name, "--profile") == 0)
        return parse_profile(o, value);
    else if (strcmp(name, "--seed") == 0)
        return parse_seed(o, value);
    else if (strcmp(name, "--plant") == 0)
        return parse_plant(o, value);
    else if (strcmp(name, "--trial") == 0)
        return parse_trial(o, value);
    else if (strcmp(name, "--repeat") == 0) {
        if (!parse_number(&number, value, "--repeat takes a number of trials, not") || number == 0)
            return complain("--repeat takes 1 trial or more, not", value);
        o->repeated.repeats = number;
    } else if (strcmp(name, "--sms") == 0) {
        if (!parse_number(&number, value, "--sms takes a number of SMs, not"))
            return 0;
        o->sms = (unsigned)number;
    } else
        return complain("unknown option", name);
    return 1;
}

static int parse(struct options *o, int argc, char **argv)
{
    int i;
    memset(o, 0, sizeof(*o));
    o->device = model_default_device();
    o->profile = PROFILE_QUICK;
    o->seed = 1;
    for (i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--list") == 0)
            o->list = 1;
        else if (strcmp(argv[i], "--probe") == 0)
            o->probe = 1;
        else if (strcmp(argv[i], "--held") == 0)
            o->held = 1;
        else if (strcmp(argv[i], "--plan") == 0)
            o->plan = 1;
        else if (strcmp(argv[i], "--plan=full") == 0)
            o->plan = o->plan_trials = 1;
        else if (i + 1 == argc)
            return complain(strncmp(argv[i], "--", 2) == 0 ? "unknown option, or its value is missing" : "unexpected argument", argv[i]);
        else if (!parse_value(o, argv[i], argv[i + 1]))
            return 0;
        else
            i++;
    }
    return 1;
}

/* --case names one case; a case of another family than --family is refused. */
static int selected(const struct options *o, const struct case_info *info)
{
    unsigned i;
    if (o->family && strcmp(o->family, info->family) != 0)
        return 0;
    for (i = 0; i < o->case_count; i++)
        if (strcmp(o->cases[i], info->name) == 0)
            return 1;
    return o->case_count == 0;
}

static int check_cases(const struct options *o)
{
    unsigned i, c, found;
    for (i = 0; i < o->case_count; i++) {
        for (c = found = 0; c < case_count; c++)
            found += strcmp(case_table[c].name, o->cases[i]) == 0 && selected(o, &case_table[c]);
        if (!found)
            return complain("no such case in this family; --list names them", o->cases[i]);
    }
    for (c = found = 0; c < case_count; c++)
        found += (unsigned)selected(o, &case_table[c]);
    return found ? 1 : complain("no such family; --list names them", o->family);
}

static int list_cases(void)
{
    struct record record;
    unsigned c;
    record_open(&record, stdout);
    for (c = 0; c < case_count; c++) {
        const struct case_info *info = &case_table[c];
        record_begin(&record, "listed");
        record_text(&record, "case", info->name);
        record_text(&record, "family", info->family);
        record_bool(&record, "proving", info->proving);
        record_bool(&record, "gpu_only", info->gpu_only);
        record_end(&record);
    }
    model_list_devices(&record);
    return 0;
}

static int plan_cases(const struct options *o, struct run *run, int is_model)
{
    struct device_size size;
    unsigned c;
    unsigned sms = o->sms ? o->sms : model_default_sms();
    plan_size_fill(&size, sms, is_model && sms < 16);
    for (c = 0; c < case_count; c++)
        if (selected(o, &case_table[c]) && run_find_pair(&case_table[c], "base") && /* the model lacks what is GPU-only */
            !plan_case(run, &case_table[c], &size, is_model, o->plan_trials))
            return EXIT_INTERNAL;
    return 0;
}

/* A case that only observes has nothing to pass: CTest shows it as skipped. */
static int status_code(enum case_status status, int proving, int measured)
{
    switch (status) {
    case CASE_PASS: return 0;
    case CASE_FAIL: return measured ? EXIT_SKIP : 1; /* a finding, never a verdict */
    case CASE_NOT_SUPPORTED: return EXIT_SKIP;
    case CASE_HANG: return 1;
    default: return proving ? 2 : EXIT_SKIP;
    }
}

static int run_cases(const struct options *o, struct run *run)
{
    enum case_status status = CASE_PASS;
    unsigned c, ran = 0;
    int proving = 1, measured = 0;

    record_start(run->record, run->device, run, o->family ? o->family : "all");
    for (c = 0; c < case_count; c++) {
        if (!selected(o, &case_table[c]))
            continue;
        if (!run_case(run, &case_table[c], &status))
            return status == CASE_HANG ? 1 : EXIT_DEVICE_FAILED;
        ran++;
        proving = case_table[c].proving;
        measured = strcmp(case_table[c].rule_class, "measured") == 0;
        if (run->plant == PLANT_NO_RECORD)
            return 0;
    }
    record_begin(run->record, "done");
    if (run->endless) /* the device is at work until this process has ended */
        record_bool(run->record, "endless", 1);
    record_end(run->record);
    return o->case_count == 1 && ran == 1 ? status_code(status, proving, measured) : 0;
}

/* 77: no driver or no GPU; 69: there is one, and it cannot be used. */
static int code_of_failed_open(int *driver, int *count)
{
    cudaError_t error = cudaGetDeviceCount(count);

    if (cudaDriverGetVersion(driver) != cudaSuccess)
        *driver = 0;
    return *driver == 0 || error == cudaErrorNoDevice || (error == cudaSuccess && *count == 0) ? EXIT_SKIP : EXIT_SETUP;
}

/* Can this device be used at all? One line; 0 yes, else as code_of_failed_open. */
static int probe(int ordinal, int is_model)
{
    static struct device device;
    struct record record;
    struct fault fault = { cudaSuccess, NULL };
    int count = 0, driver = 0, opened, code;

    opened = device_open(&device, ordinal, is_model, &fault) && device_measure(&device, &fault);
    code = code_of_failed_open(&driver, &count);
    record_open(&record, stdout);
    record_begin(&record, "probe");
    record_bool(&record, "usable", opened);
    record_count(&record, "devices", (uint64_t)count);
    record_text(&record, "error", opened ? NULL : cudaGetErrorName(fault.error));
    record_text(&record, "call", fault.call);
    record_text(&record, "name", opened ? device.name : NULL);
    record_count(&record, "cc", (uint64_t)device.cc);
    record_count(&record, "driver", (uint64_t)driver);
    record_end(&record);
    return opened ? 0 : code;
}

static int replay_cases(const struct options *o, struct run *run)
{
    unsigned c;
    int done = 1;

    record_start(run->record, run->device, run, o->family ? o->family : "all");
    for (c = 0; c < case_count && done == 1; c++)
        if (selected(o, &case_table[c]))
            done = replay_case(run, &case_table[c]);
    if (!done)
        return EXIT_DEVICE_FAILED;
    record_begin(run->record, "done");
    record_end(run->record);
    return done == 2 ? EXIT_SKIP : 0;
}

/* Wait, the device open and without any work for it, for a line or the end of the input. */
static void await_line(void)
{
    int c;
    do
        c = getchar();
    while (c != '\n' && c != EOF);
}

static int open_and_run(const struct options *o, struct run *run, int ordinal, int is_model)
{
    static struct device device;
    struct fault fault = { cudaSuccess, NULL };
    int code, driver = 0, count = 0;

    run->device = &device;
    code = device_open(&device, ordinal, is_model, &fault);
    if (code && o->held)
        await_line();
    if (!code || !device_measure(&device, &fault)) {
        fprintf(stderr, "pdl-harness: the device cannot be used: %s: %s\n", fault.call, cudaGetErrorName(fault.error));
        return code_of_failed_open(&driver, &count);
    }
    code = o->repeated.repeats ? replay_cases(o, run) : run_cases(o, run);
    if (!run->endless)
        device_close(&device);
    return code;
}

int main(int argc, char **argv)
{
    struct options o;
    struct run run = PDL_ZERO;
    struct record record;
    FILE *file = stdout;
    int ordinal = 0, is_model = 0, code;

    unsetenv("PDL_DISABLE"); /* the kit tests overlap; the switch has tests of its own */
    if (!parse(&o, argc, argv) || !model_select(o.device, o.seed, &ordinal, &is_model))
        return EXIT_ARGUMENTS;
    if (o.list)
        return list_cases();
    if (o.probe)
        return probe(ordinal, is_model);
    if (!check_cases(&o))
        return EXIT_ARGUMENTS;
    if ((o.trial || o.repeated.repeats) && !(o.trial && o.repeated.repeats && o.case_count == 1)) {
        complain("--case, --trial and --repeat go together, one of each", NULL);
        return EXIT_ARGUMENTS;
    }
    if (o.records && !(file = fopen(o.records, "a"))) {
        perror(o.records);
        return EXIT_SETUP;
    }
    record_open(&record, file);
    record.timeless = is_model;
    run.record = &record;
    run.seed = o.seed;
    run.profile = o.profile;
    run.plant = o.plant;
    run.plant_x_ns = o.plant_x_ns;
    run.repeated = o.repeated;
    code = o.plan ? plan_cases(&o, &run, is_model) : open_and_run(&o, &run, ordinal, is_model);
    /* Each record is flushed when it is written: what is lost then shows here, not when the file is closed. */
    if (ferror(file) || (file != stdout && fclose(file) != 0))
        return EXIT_INTERNAL;
    if (run.endless)
        _exit(code); /* what is called at an ordinary exit waits for the device */
    return code;
}
