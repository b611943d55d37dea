/* grid_barrier.h - what kernel.h has, for kernels that are launched cooperatively: the barrier of all threads of a grid. */
#ifndef GRID_BARRIER_H_INCLUDED
#define GRID_BARRIER_H_INCLUDED

#include "kernel.h"

#ifdef PDL_MODEL
#define k_grid_barrier() model_grid_barrier()
#define k_has_grid_barrier() 1
#define k_grid_rank() k_block()
#else
#define _CG_LIMIT_INCLUDED_DEPENDENCIES /* or the header asks newer toolkits for C++17 */
#include <cooperative_groups.h>
DEVICE_FN void k_grid_barrier(void) { cooperative_groups::this_grid().sync(); }
DEVICE_FN uint32_t k_has_grid_barrier(void) { return cooperative_groups::this_grid().is_valid(); } /* without one it ends the process */
DEVICE_FN uint32_t k_grid_rank(void) { return (uint32_t)cooperative_groups::this_grid().block_rank(); } /* of a block, in x, y and z */
#endif

#endif
