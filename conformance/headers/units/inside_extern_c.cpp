// The only inclusion is inside extern "C": templates have to cope.
#include <cuda_runtime_api.h>
#include <stdlib.h>
extern "C" {
#include "pdl.h"
}
#include "host_typed.cpp"
