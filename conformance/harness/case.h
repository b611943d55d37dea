/* case.h - the rule book's cases as C data; cases.h is made from rules.toml by `conformance dev generate-cases`. */
#ifndef CASE_H_INCLUDED
#define CASE_H_INCLUDED

#include <stddef.h>

enum profile { PROFILE_SMOKE, PROFILE_QUICK, PROFILE_FULL, PROFILE_SOAK, PROFILE_COUNT };

struct tag_info {
    const char *tag, *kind, *text;
    const char *equivalent; /* why the tag may be the same as a conforming program on a GPU, or NULL */
};

struct case_info {
    const char *name, *rule, *rule_class, *kind, *family, *pair, *window, *path;
    int core, proving, broken_waits, gpu_only, min_cc, min_toolkit;
    unsigned long long trials[PROFILE_COUNT];
    const char *const *mutants, *const *controls; /* NULL-terminated */
    unsigned allowed; /* CASE_ALLOWS_*: of a measured rule, what the documents permit: counted, never a FAIL */
};

#define CASE_ALLOWS_WRONG 0x1u /* a word that is not fresh */
#define CASE_ALLOWS_EARLY 0x2u /* a dependent that began while the primary was held */

extern const struct case_info *const case_table;
extern const unsigned case_count;
extern const char *const case_suite, *const case_rules_hash;

const struct tag_info *case_tag(const char *tag);                       /* NULL if unknown */
const struct image *case_image(const char *family, const char *tag);    /* NULL if not built in */

#endif
