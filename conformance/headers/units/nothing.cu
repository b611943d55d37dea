// Includes both headers and uses nothing of them: no symbol of theirs may appear.
#include "pdl.h"
#include "pdl_device.cuh"
