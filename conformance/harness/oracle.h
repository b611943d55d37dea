/* oracle.h - what the dependent should have seen, and what it saw instead.
 *
 * A trial is judged by XXH3 of its words against XXH3 of the expected words. Only on a mismatch is each word looked at.
 */
#ifndef ORACLE_H_INCLUDED
#define ORACLE_H_INCLUDED

#include <stddef.h>
#include <stdint.h>

enum word_class {
    WORD_FRESH,     /* as expected */
    WORD_STALE,     /* what an earlier trial left at this place */
    WORD_POISON,    /* what the poison kernel left at this place: in the data, or in the output (never written) */
    WORD_MISPLACED, /* fresh at another index of this trial */
    WORD_TORN,      /* bytes of two values that are known at this place */
    WORD_FOREIGN,   /* none of these */
    WORD_CLASS_COUNT
};
extern const char *const word_class_name[WORD_CLASS_COUNT];

struct oracle_trial {
    uint64_t key, stale_key; /* this trial's; the one before it at the same place (0: none) */
    uint64_t batch_key;      /* of the poison */
    uint32_t offset;         /* first word within the batch */
    uint32_t words;
};

#define ORACLE_LOOKS 1024u    /* wrong words of a trial that are classified; all are counted */

struct oracle_result {
    uint32_t count[WORD_CLASS_COUNT]; /* of the words that were classified */
    uint32_t wrong;          /* words that are not fresh */
    uint64_t want_hash;      /* XXH3 of the expected words; always filled */
    uint32_t first;          /* index of the first word that is not fresh */
    uint32_t want, got;
    enum word_class first_class;
};

/* Fills want[0..words) and returns its XXH3. */
uint64_t oracle_expect(const struct oracle_trial *trial, uint32_t *want);
/* XXH3 of any words. */
uint64_t oracle_hash(const void *data, size_t bytes);
/* One word. */
enum word_class oracle_classify(const struct oracle_trial *trial, uint32_t index, uint32_t got);
/* 1 if seen[0..words) is what it should be; else 0 and *result says what it is. want is scratch of `words` words. */
int oracle_check(const struct oracle_trial *trial, const uint32_t *seen, uint32_t *want, struct oracle_result *result);

#endif
