/* host_step_test.c - a host step of a program looks at every kernel that it follows, and at what was launched ahead of its graph. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "programs/program.h"

#define READS 3u
#define HOST_STEP 6u

static struct program program;
static struct program_room room;
static struct program_staging staging;
static struct made made;

/* What it finds: the marks of all that it follows, but for one that is late. READS: that of what was launched ahead; more: none is. */
static unsigned finds_wrong(unsigned late)
{
    struct step_params params;
    unsigned i;

    memset(&staging, 0, sizeof(staging));
    room.host_wrong = 0;
    staging.ahead_mark[0] = (uint32_t)room.key - (late == READS);
    for (i = 0; i < READS; i++)
        staging.mark[program.step[HOST_STEP].read[i]] = (uint32_t)room.key + program.step[HOST_STEP].read[i] - (late == i);
    program_fill_step(&made, HOST_STEP, &params);
    params.as.host.fn(params.as.host.userData);
    return room.host_wrong;
}

int main(void)
{
    static const unsigned reads[READS] = { 1, 4, 2 };
    unsigned late;
    char text[64];

    room.key = 0x123456789ABCDEF1ull;
    room.staging = &staging;
    made.program = &program;
    made.room = &room;
    program.steps = HOST_STEP + 1;
    program.step[HOST_STEP].kind = STEP_HOST;
    program.step[HOST_STEP].reads = READS;
    memcpy(program.step[HOST_STEP].read, reads, sizeof(reads));
    check(finds_wrong(READS + 1) == 0, "a host step behind all that it follows finds nothing wrong");
    check(staging.host_runs[HOST_STEP] == 1, "it counts that it ran");
    check(staging.on_host[HOST_STEP][0] != 0 && staging.on_host[HOST_STEP][PROGRAM_WORDS - 1] != 0, "it writes its words");
    for (late = 0; late <= READS; late++) {
        snprintf(text, sizeof(text), "it finds that %u of what it follows is late", late);
        check(finds_wrong(late) == 1, text);
    }
    made.decoys = (uint64_t)1 << HOST_STEP;
    check(finds_wrong(0) == 0 && staging.host_runs[HOST_STEP] == 0 && staging.on_host[HOST_STEP][0] == 0, "one of the decoy does nothing");
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
