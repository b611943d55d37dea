/* tampered_driver.h - what a case is told by functions of the driver, which it asks for by name. */
#ifndef TAMPERED_DRIVER_H_INCLUDED
#define TAMPERED_DRIVER_H_INCLUDED

#include "tampered_slots.h"

#define ALL_CALLS ((unsigned)CALLS + DRIVER_CALLS)
#define NO_CALL ALL_CALLS

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
