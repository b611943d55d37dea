/* tampered_slots.h - the driver's functions that are asked for by name, each led through a function of its own, so that its calls are noted.
 *
 * They take numbers and pointers only, 12 at most, so that one type serves all. Whoever includes this has lead_driver(). */
#ifndef TAMPERED_SLOTS_H_INCLUDED
#define TAMPERED_SLOTS_H_INCLUDED

#include <string.h>

#include <cuda_runtime_api.h>

#define DRIVER_CALLS 80u
#define WHOLE long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k, long l
#define WHOLE_ARGS a, b, c, d, e, f, g, h, i, j, k, l

typedef int (*driver_call)(WHOLE);
static struct {
    const char *name;
    driver_call real;
    int told;                  /* that there is none */
} driver[DRIVER_CALLS];      /* in the order in which they were asked for */
static unsigned driver_calls;

static int lead_driver(unsigned which, WHOLE);

#define EACH_SLOT(X) \
    X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) X(16) X(17) X(18) X(19) \
    X(20) X(21) X(22) X(23) X(24) X(25) X(26) X(27) X(28) X(29) X(30) X(31) X(32) X(33) X(34) X(35) X(36) X(37) \
    X(38) X(39) X(40) X(41) X(42) X(43) X(44) X(45) X(46) X(47) X(48) X(49) X(50) X(51) X(52) X(53) X(54) X(55) \
    X(56) X(57) X(58) X(59) X(60) X(61) X(62) X(63) X(64) X(65) X(66) X(67) X(68) X(69) X(70) X(71) X(72) X(73) \
    X(74) X(75) X(76) X(77) X(78) X(79)
#define SLOT(n) \
    static int slot_##n(WHOLE) { return lead_driver(n, WHOLE_ARGS); }
EACH_SLOT(SLOT)
#define SLOT_OF(n) slot_##n,
static const driver_call slots[DRIVER_CALLS] = { EACH_SLOT(SLOT_OF) };

/* The function that stands for the one that was found; two versions of one name are two. */
static unsigned lead_through(const char *name, void **function)
{
    unsigned i;

    for (i = 0; i < driver_calls && (strcmp(driver[i].name, name) != 0 || memcmp(&driver[i].real, function, sizeof(*function)) != 0); i++)
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
#endif
