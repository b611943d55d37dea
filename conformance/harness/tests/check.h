/* check.h - counts what holds and names what does not, and names what takes a function's place; for one test program each. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>

/* What the linker calls instead of this function, whose name may be a macro that stands for one of a version. */
#define WRAPPED(name) WRAPPED_(name)
#define WRAPPED_(name) __wrap_##name
/* The function itself. */
#define REAL(name) REAL_(name)
#define REAL_(name) __real_##name

static unsigned passed, failed;

static void check(int holds, const char *what)
{
    if (holds)
        passed++;
    else {
        failed++;
        printf("FAILED %s\n", what);
    }
}

#endif
