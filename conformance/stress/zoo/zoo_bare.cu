/* zoo_bare.cu - compiled without the wrapper: machine code as a library ships it, into which nothing can be inserted */
#include "../../../pdl_device.cuh"
#include "zoo.h"

ZOO(bare_consume) { p.out[HERE] = p.a[HERE] + 51; }
ZOO(bare_consume_ok) { pdl_wait(); p.out[HERE] = p.a[HERE] + 51; }

const void *bare_kernel(bool ok) { return ok ? (const void *)bare_consume_ok : (const void *)bare_consume; }
