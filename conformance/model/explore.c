#include "explore.h"
uint32_t explorer_choose(struct explorer *explorer, uint32_t n) { (void)explorer; (void)n; return 0; }
