/* run_case.h - one case from its plan to its records. */
#ifndef RUN_CASE_H_INCLUDED
#define RUN_CASE_H_INCLUDED

#include "case.h"
#include "device.h"
#include "judge.h"
#include "record.h"

#define SIGN_EVERY_TRIALS 1024u  /* ... on the model, whose records are the same whenever it runs */
#define SIGN_EVERY_S 0.2         /* how often a case says that it goes on */

/* Self-tests of what watches the harness and of the way a FAIL is told: --plant NAME. */
enum plant { PLANT_NONE, PLANT_BROKEN_WAIT, PLANT_HANG, PLANT_CRASH, PLANT_NO_RECORD };

struct repeated {                /* of --trial and --repeat */
    uint64_t batch, repeats;     /* repeats: 0 if no trial is repeated */
    unsigned slot;
};

struct run {
    struct device *device;
    struct record *record;
    uint64_t seed;
    enum profile profile;
    enum plant plant;
    uint32_t plant_x_ns;         /* of PLANT_BROKEN_WAIT; 0: returns at the trigger */
    struct repeated repeated;
    int endless;                 /* work was launched that never ends: the process can neither wait for the device nor close it */
};

/* Runs and records one case. Returns 1, or 0 if the device failed: then a record says so and the process should end. */
int run_case(struct run *run, const struct case_info *info, enum case_status *status);
/* Repeats one trial of a case, planned as run_case would, and records how often it was wrong. Returns as run_case; 2: it has no
 * such trial. */
int replay_case(struct run *run, const struct case_info *info);
/* Prints one record with the plan's hashes; trials: also one per trial. Returns 0 if memory is short. */
int plan_case(struct run *run, const struct case_info *info, const struct device_size *size, int is_model, int trials);
const struct pair *run_find_pair(const struct case_info *info, const char *tag);
/* Seconds of a clock that never goes back. */
double run_now_s(void);
unsigned long long run_trials(const struct case_info *info, enum profile profile, int is_model);

#endif
