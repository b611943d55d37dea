/* fake_driver.c - a libcuda.so.1 that only remembers: enough of a driver for the injection library, without a GPU */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *image; /* a module is its text, a function its name */
static uint32_t words[4];
static int capture_mode = 1;

int cuModuleLoadData(void **module, const void *text)
{
    image = strdup(text);
    *module = image;
    printf("loaded %s\n", strstr(text, "pdl-stress") ? "rewritten" : "as it is");
    return 0;
}
int cuModuleLoadDataEx(void **module, const void *text, unsigned n, void *o, void **v) { (void)n, (void)o, (void)v; return cuModuleLoadData(module, text); }
int cuModuleGetFunction(void **function, void *module, const char *name) { (void)module; *function = strdup(name); return 0; }
int cuModuleGetGlobal_v2(uint64_t *address, size_t *bytes, void *module, const char *name)
{
    *address = (uint64_t)(uintptr_t)words;
    *bytes = 16;
    return strstr(module, name) ? 0 : 500;
}
int cuLibraryGetGlobal(uint64_t *a, size_t *b, void *l, const char *n) { return cuModuleGetGlobal_v2(a, b, l, n); }
int cuCtxGetCurrent(void **context) { *context = words; return 0; }
int cuThreadExchangeStreamCaptureMode(int *mode) { int old = capture_mode; capture_mode = *mode; *mode = old; return 0; }
int cuStreamCreate(void **stream, unsigned flags) { *stream = flags == 1 ? words : NULL; return 0; }
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t n, void *stream)
{
    if (capture_mode != 2 || stream == NULL) {
        return 901; /* what a real driver says in the middle of a capture */
    }
    memcpy((void *)(uintptr_t)to, from, n);
    printf("words written\n");
    return 0;
}
int cuStreamSynchronize(void *stream) { (void)stream; return 0; }
int cuStreamDestroy_v2(void *stream) { (void)stream; return 0; }
int cuStreamIsCapturing(void *stream, int *status) { *status = stream != NULL; return 0; }
int cuFuncSetAttribute(void *f, int name, int value) { printf("carve-out of %s: %d %d\n", (char *)f, name, value); return 0; }
int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                   void *stream, void **arguments, void **extra)
{
    (void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)shared, (void)stream, (void)arguments, (void)extra;
    printf("%s runs with %u %u %u\n", (char *)f, words[0], words[1], words[2]);
    return 0;
}
int cuLaunchKernelEx(const void *launch, void *f, void **arguments, void **extra)
{
    const struct { unsigned sizes[7]; void *stream, *attributes; unsigned count; } *config = launch;
    printf("%s asks for %u attributes\n", (char *)f, config->count);
    return cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, extra);
}

#define GIVE(name) if (strcmp(symbol, #name) == 0) { *function = (void *)name; return 0; }
int cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags, void *status)
{
    (void)version, (void)flags, (void)status;
    GIVE(cuModuleLoadData) GIVE(cuModuleLoadDataEx) GIVE(cuModuleGetFunction) GIVE(cuLaunchKernel) GIVE(cuLaunchKernelEx)
    *function = NULL;
    return 500;
}
