/* stand_in_recording.h - kernels that record their times, in the stand-in for a driver */
#ifndef PDL_STAND_IN_RECORDING_H
#define PDL_STAND_IN_RECORDING_H

#include "rewrite.h"

struct times { uint64_t start, wait_begun, wait_ended, trigger, exit; };

/* Whether this code begins records of times, as the rewriter puts it into a kernel, and where they go. */
int recording_in(const unsigned char *code, size_t bytes, struct record_room *room);

/* What all blocks of one launch would write: the blocks start 10 ns after each other and are the same otherwise. */
void record_blocks(const struct record_room *room, unsigned grid, unsigned block, const struct times *times);

#endif
