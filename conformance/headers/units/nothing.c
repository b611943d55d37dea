/* Includes the header and uses nothing of it: the object file must have no symbol. */
#include "pdl.h"
