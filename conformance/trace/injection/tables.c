/* tables.c - what the tracing library replaces; the library of `whatif` has a list of its own */
#include "trace.h"

const struct hook_table hook_tables[] = {{trace_hooks, &trace_hook_count}};
const size_t hook_table_count = sizeof hook_tables / sizeof hook_tables[0];
