/* check.h - counts what holds and names what does not; for one test program each. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>

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
