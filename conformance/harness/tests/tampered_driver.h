/* tampered_driver.h - functions of the driver, which cases ask for by name: each is led through a function of this test.
 *
 * They take numbers and pointers only, 12 at most, so that one type serves all. */
#ifndef TAMPERED_DRIVER_H_INCLUDED
#define TAMPERED_DRIVER_H_INCLUDED

#define DRIVER_CALLS 40u
#define ALL_CALLS ((unsigned)CALLS + DRIVER_CALLS)
#define NO_CALL ALL_CALLS
#define WHOLE long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k, long l
#define WHOLE_ARGS a, b, c, d, e, f, g, h, i, j, k, l

typedef int (*driver_call)(WHOLE);
static struct {
    const char *name;
    driver_call real;
    int told;                  /* that there is none */
} driver[DRIVER_CALLS];      /* in the order in which they were asked for */
static unsigned driver_calls;

static int lead_driver(unsigned which, WHOLE)
{
    struct told told;

    questions += (unsigned)notes(driver[which].name);
    memset(&told, 0, sizeof(told));
    if (!begins(&told, (enum call)(CALLS + which), 1))
        return driver[which].real(WHOLE_ARGS);
    told.code = told.undone ? cudaSuccess : (cudaError_t)driver[which].real(WHOLE_ARGS);
    return (int)truth_of(&told);
}

#define EACH_SLOT(X) \
    X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) X(16) X(17) X(18) X(19) \
    X(20) X(21) X(22) X(23) X(24) X(25) X(26) X(27) X(28) X(29) X(30) X(31) X(32) X(33) X(34) X(35) X(36) X(37) \
    X(38) X(39)
#define SLOT(n) \
    static int slot_##n(WHOLE) { return lead_driver(n, WHOLE_ARGS); }
EACH_SLOT(SLOT)
#define SLOT_OF(n) slot_##n,
static const driver_call slots[DRIVER_CALLS] = { EACH_SLOT(SLOT_OF) };

/* The function that stands for the one that was found. */
static unsigned lead_through(const char *name, void **function)
{
    unsigned i;

    for (i = 0; i < driver_calls && strcmp(driver[i].name, name) != 0; i++)
        ;
    if (i == DRIVER_CALLS || !*function)
        return DRIVER_CALLS;
    if (i == driver_calls) {
        driver[i].name = strdup(name);
        memcpy(&driver[i].real, function, sizeof(driver[i].real));
        driver_calls++;
    }
    memcpy(function, &slots[i], sizeof(slots[i]));
    return i;
}

static int is_liar(enum call call, enum way way);
static int is_telling(void);

/* A driver that has no such function has none later either: to a child the name stays unknown. */
static int is_absent(const char *name, unsigned which)
{
    static const char *absent;

    if (which < DRIVER_CALLS && is_telling() && !driver[which].told) {
        driver[which].told = 1;
        if (is_liar(CALL_driver_function, WAY_ABSENT))
            absent = name;
    }
    return absent && strcmp(absent, name) == 0;
}

#if CUDART_VERSION >= 12050
#define ENTRY_NAME(prefix) prefix##cudaGetDriverEntryPointByVersion
#define ENTRY_PARAMS const char *name, void **function, unsigned version, unsigned long long flags, enum cudaDriverEntryPointQueryResult *found
#define ENTRY_ARGS name, function, version, flags, found
#else
#define ENTRY_NAME(prefix) prefix##cudaGetDriverEntryPoint
#define ENTRY_PARAMS const char *name, void **function, unsigned long long flags, enum cudaDriverEntryPointQueryResult *found
#define ENTRY_ARGS name, function, flags, found
#endif
cudaError_t ENTRY_NAME(__real_)(ENTRY_PARAMS);
cudaError_t ENTRY_NAME(__wrap_)(ENTRY_PARAMS);
cudaError_t ENTRY_NAME(__wrap_)(ENTRY_PARAMS)
{
    cudaError_t error = ENTRY_NAME(__real_)(ENTRY_ARGS);

    if (error == cudaSuccess && !inside && is_absent(name, lead_through(name, function))) {
        *function = NULL;
        *found = cudaDriverEntryPointSymbolNotFound;
    }
    return error;
}

static const char *name_of_call(unsigned call) { return call < CALLS ? call_name[call] : driver[call - CALLS].name; }

#endif
