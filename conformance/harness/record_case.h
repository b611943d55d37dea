/* record_case.h - the records of a case; their fields are what pdlkit reads. */
#ifndef RECORD_CASE_H_INCLUDED
#define RECORD_CASE_H_INCLUDED

#include "run_case.h"
#include "variants.h"

void record_start(struct record *record, const struct device *device, const struct run *run, const char *family);
/* How often a repeated trial was wrong, or why it could not be repeated. */
void record_replayed(struct record *record, const struct case_info *info, const struct variant *variant,
                     const struct variant_result *result);
void record_forbidden(struct record *record, const struct case_info *info, const struct variant *variant,
                      const struct variant_result *result);
void record_variant(struct record *record, const struct case_info *info, const struct variant *variant,
                    const struct variant_result *result);
void record_case(struct record *record, const struct case_info *info, const struct device *device, const struct variant_result *base,
                 enum case_status status, const char *reason, const struct resolution *resolution, double wall_s);
struct answer {                  /* of a case of kind api: one call and what it gave */
    char *what, *answer;
};
/* A case of kind api. */
void record_asked(struct record *record, const struct case_info *info, enum case_status status, const char *text, unsigned asked,
                  const struct answer *answers, unsigned count);
/* A case that did not run, or hung. */
void record_unrun(struct record *record, const struct case_info *info, enum case_status status, const char *reason);
void record_plan(struct record *record, const struct case_info *info, const struct part *part, const struct tally *tally,
                 uint64_t planned, int trials);

#endif
