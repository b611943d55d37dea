// The C++ runtime's demangler, for a machine that has no C++ runtime. Its arguments are __cxa_demangle's.
#include <cxxabi.h>

extern "C" __attribute__((visibility("default"))) char *pdl_demangle(const char *name, char *room, size_t *length, int *status)
{
    return abi::__cxa_demangle(name, room, length, status);
}
