/* Each header twice, inside extern "C" the second time, as careless code does. */
#include "pdl.h"
#ifdef __cplusplus
extern "C" {
#endif
#include "pdl.h"
#ifdef __CUDACC__
#include "pdl_device.cuh"
#include "pdl_device.cuh"
#endif
#ifdef __cplusplus
}
#endif
