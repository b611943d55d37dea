/* Enumeration of all choices for small programs. */
#ifndef PDL_MODEL_EXPLORE_H
#define PDL_MODEL_EXPLORE_H

#include <stdint.h>

struct explorer;
uint32_t explorer_choose(struct explorer *explorer, uint32_t n);

#endif
