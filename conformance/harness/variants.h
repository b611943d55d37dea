/* variants.h - what a case runs beside its base: mutants, broken waits, and on a FAIL the triage. */
#ifndef VARIANTS_H_INCLUDED
#define VARIANTS_H_INCLUDED

#include "batch.h"
#include "judge.h"
#include "record.h"
#include "run_case.h"
#include "tally.h"

#define VARIANTS_MAX 40u
#define RESOLUTION_STEPS 9u

enum variant_kind { VARIANT_BASE, VARIANT_MUTANT, VARIANT_CONTROL, VARIANT_BROKEN_WAIT, VARIANT_TRIAGE };

struct variant {
    enum variant_kind kind;
    const char *name;            /* tag of a mutant; else what fails or is varied; draws depend on it */
    const char *image;           /* tag of the image its kernels come from */
    int raw;                     /* launched by the raw call, its primary from the base image */
    int may_be_equivalent, must_die;
    uint64_t trials;
    struct variation variation;
};

struct variant_result {
    int applicable;
    const char *why;             /* not applicable, or equivalent: why */
    enum variant_status status;
    uint64_t planned, kills, trials;
    double wall_s;
    const struct pair *pair;
    pdl_kernel primary, dependent;
    struct tally tally;
};

struct resolution {
    int measured;                /* some X was killed, together with every larger one */
    int broken;                  /* an X survived: smaller ones do not count */
    uint32_t ns;                 /* the smallest such X */
    uint32_t survived[RESOLUTION_STEPS];
    unsigned survivors;
};

void variants_base(struct variant *variant, const struct case_info *info, enum profile profile, int is_model, enum plant plant,
                   uint32_t x_ns);
unsigned variants_of_case(struct variant *variants, const struct case_info *info, enum profile profile);
unsigned variants_of_triage(struct variant *variants, const struct case_info *info, enum profile profile, int is_model,
                            enum plant plant, uint32_t x_ns);
int variants_applicable(const struct variant *variant, const struct device *device, const char **why);
void variants_judge(const struct variant *variant, struct variant_result *result, struct case_evidence *evidence,
                    struct resolution *resolution);
/* The controls interleaved in the base part. */
void variants_judge_control(struct record *record, const struct case_info *info, const struct variant_result *base,
                            struct case_evidence *evidence);

#endif
