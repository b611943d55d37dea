/* Enumeration of everything a small program may do: depth first over the choices, by running it again from the start,
 * and not beyond a state that was seen before. */
#ifndef PDL_MODEL_EXPLORE_H
#define PDL_MODEL_EXPLORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct explorer;
struct op;

struct explorer *explorer_new(void);
void explorer_delete(struct explorer *explorer);
/* Call after model_reset and before the program's calls; it ends with the next reset. */
void explorer_begin(struct explorer *explorer);
/* What tells states apart beside the machine itself: the program's own memory, and the words its kernels use. */
void explorer_watch(struct explorer *explorer, const void *program, size_t bytes, const void *words, size_t stride,
                    unsigned count);
/* After an execution: was it cut because it ran into a known state? Is there another one? */
bool explorer_was_cut(const struct explorer *explorer);
bool explorer_next(struct explorer *explorer);
uint64_t explorer_states(const struct explorer *explorer);
uint64_t explorer_executions(const struct explorer *explorer);

/* for the machine */
uint32_t explorer_choose(struct explorer *explorer, uint32_t n);
bool explorer_step(struct explorer *explorer);
void explorer_note(struct explorer *explorer, struct op *op);

#endif
