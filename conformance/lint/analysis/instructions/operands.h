/* operands.h - from the text of operands to what they say. */
#ifndef PDL_LINT_OPERANDS_H
#define PDL_LINT_OPERANDS_H

#include "analysis.h"

enum { MOST_OPERANDS = 40 };

/* Splits at commas; operands[] has room for MOST_OPERANDS. How many there are. */
unsigned split_operands(const char *text, size_t length, struct operand *operands);

#endif
