/* fake_driver.c - a libcuda.so.1 that only remembers: enough of a driver for the injection library, without a GPU
 *
 * Each image that it is given is written to $FAKE_DRIVER_OUT/NUMBER.ENTRY, so that a test can see what a driver would have
 * run. $FAKE_DRIVER_REFUSES names an entry point that takes no image but the one of $FAKE_DRIVER_ORIGINAL's size.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int capture_mode = 1, number;
static char linked[1 << 16];
static size_t linked_size;
static void *context;

static size_t size_of(const unsigned char *image)
{
    uint64_t sections, body;
    uint16_t count;
    if (memcmp(image, "\177ELF", 4) == 0) { /* the program headers come last in the tests' images */
        memcpy(&sections, image + 32, 8);
        memcpy(&count, image + 56, 2);
        return (size_t)sections + 56u * count;
    }
    if (memcmp(image, "\x50\xed\x55\xba", 4) == 0) {
        memcpy(&body, image + 8, 8);
        return (size_t)body + 16;
    }
    return strlen((const char *)image);
}

static int taken(const char *entry, const void *image)
{
    char path[4096];
    const char *folder = getenv("FAKE_DRIVER_OUT"), *refuses = getenv("FAKE_DRIVER_REFUSES");
    const void *inner = image;
    if (memcmp(image, "\xb1\x43\x62\x46", 4) == 0) { /* nvcc's wrapper */
        memcpy(&inner, (const char *)image + 8, sizeof inner);
    }
    size_t size = size_of(inner);
    if (refuses && strcmp(refuses, entry) == 0 && size != strtoul(getenv("FAKE_DRIVER_ORIGINAL"), NULL, 10)) {
        return 200;
    }
    snprintf(path, sizeof path, "%s/%d.%s", folder ? folder : "/nowhere", number++, entry);
    FILE *file = fopen(path, "wb");
    if (file) {
        fwrite(inner, 1, size, file);
        fclose(file);
    }
    return 0;
}

#define MODULE(module) (*(module) = strdup("module"), 0)
int cuModuleLoadData(void **module, const void *image) { int code = taken("cuModuleLoadData", image); return code ? code : MODULE(module); }
int cuModuleLoadFatBinary(void **module, const void *image) { int code = taken("cuModuleLoadFatBinary", image); return code ? code : MODULE(module); }
int cuModuleLoadDataEx(void **module, const void *image, unsigned n, void *o, void **v)
{
    int code = taken("cuModuleLoadDataEx", image);
    (void)n, (void)o, (void)v;
    return code ? code : MODULE(module);
}
int cuModuleLoad(void **module, const char *path) { printf("file %s\n", strrchr(path, '/')); return MODULE(module); }
int cuLibraryLoadData(void **library, const void *image, void *a, void **b, unsigned n, void *c, void **d, unsigned m)
{
    int code = taken("cuLibraryLoadData", image);
    (void)a, (void)b, (void)n, (void)c, (void)d, (void)m;
    return code ? code : MODULE(library);
}
int cuLibraryLoadFromFile(void **library, const char *path, void *a, void **b, unsigned n, void *c, void **d, unsigned m)
{
    (void)a, (void)b, (void)n, (void)c, (void)d, (void)m;
    printf("file %s\n", strrchr(path, '/'));
    return MODULE(library);
}

/* The linker "compiles" PTX to the image in $FAKE_DRIVER_CODE. It needs a context, as a real one does. */
int cuLinkCreate_v2(unsigned n, void *o, void **v, void **state) { (void)n, (void)o, (void)v; *state = linked; return context ? 0 : 201; }
int cuLinkAddData_v2(void *state, int type, void *data, size_t size, const char *name, unsigned n, void *o, void **v)
{
    (void)state, (void)name, (void)n, (void)o, (void)v;
    FILE *file = fopen(getenv("FAKE_DRIVER_CODE") ? getenv("FAKE_DRIVER_CODE") : "/nowhere", "rb");
    linked_size = file ? fread(linked, 1, sizeof linked, file) : 0;
    if (file) {
        fclose(file);
    }
    return type == 1 && size && ((char *)data)[size - 1] == 0 && linked_size ? 0 : 218;
}
int cuLinkComplete(void *state, void **code, size_t *size) { (void)state; *code = linked; *size = linked_size; return 0; }
int cuLinkDestroy(void *state) { (void)state; return 0; }

int cuModuleGetFunction(void **function, void *module, const char *name) { (void)module; *function = strdup(name); return 0; }
int cuLibraryGetKernel(void **kernel, void *library, const char *name) { (void)library; *kernel = strdup(name); return 0; }
int cuKernelGetFunction(void **function, void *kernel) { *function = strdup(kernel); return 0; }
int cuLibraryEnumerateKernels(void **kernels, unsigned count, void *library) { (void)library; kernels[0] = strdup("first"); return count != 1; }
int cuFuncGetName(const char **name, void *function) { *name = function; return 0; }
int cuDeviceGetCount(int *count) { *count = 1; return 0; }
int cuDeviceGetAttribute(int *value, int what, int device) { (void)device; *value = what == 75 ? 9 : 0; return 0; }
int cuDevicePrimaryCtxRetain(void **primary, int device) { (void)device; *primary = linked; return 0; }
int cuCtxPushCurrent_v2(void *pushed) { context = pushed; return 0; }
int cuCtxPopCurrent_v2(void **popped) { *popped = context; context = NULL; return 0; }
int cuCtxGetCurrent(void **current) { *current = context; return 0; }
int cuModuleUnload(void *module) { (void)module; return 0; }
int cuLibraryUnload(void *library) { (void)library; return 0; }
int cuGraphKernelNodeSetParams_v2(void *node, const void *parameters) { (void)node, (void)parameters; return 0; }
int cuGraphExecKernelNodeSetParams_v2(void *exec, void *node, const void *parameters) { (void)exec, (void)node, (void)parameters; return 0; }
int cuGraphNodeSetParams(void *node, const void *parameters) { (void)node, (void)parameters; return 0; }
int cuGraphExecNodeSetParams(void *exec, void *node, const void *parameters) { (void)exec, (void)node, (void)parameters; return 0; }
int cuCtxSetCurrent(void *wanted) { context = wanted; return 0; }
int cuCtxGetDevice(int *device) { *device = (int)(uintptr_t)context - 1; return context ? 0 : 201; } /* context N+1 is device N's */
int cuKernelSetAttribute(int name, int value, void *kernel, int device)
{
    printf("carve-out of %s on %d: %d %d\n", (char *)kernel, device, name, value);
    return 0;
}
int cuMemAlloc_v2(uint64_t *address, size_t bytes) { *address = (uint64_t)(uintptr_t)calloc(1, bytes); return 0; }
int cuThreadExchangeStreamCaptureMode(int *mode) { int old = capture_mode; capture_mode = *mode; *mode = old; return 0; }
int cuStreamCreate(void **stream, unsigned flags) { *stream = flags == 1 ? linked : NULL; return 0; }
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t n, void *stream)
{
    if (capture_mode != 2 || stream == NULL) {
        return 901; /* what a real driver says in the middle of a capture */
    }
    memcpy((void *)(uintptr_t)to, from, n);
    printf("words %u %u %u %u\n", ((const uint32_t *)from)[0], ((const uint32_t *)from)[1], ((const uint32_t *)from)[2],
           ((const uint32_t *)from)[3]);
    return 0;
}
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t n) { memcpy(to, (void *)(uintptr_t)from, n); return 0; }
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t n, void *stream) { (void)stream; memcpy(to, (void *)(uintptr_t)from, n); return 0; }
int cuStreamSynchronize(void *stream) { (void)stream; return 0; }
int cuStreamDestroy_v2(void *stream) { (void)stream; return 0; }
int cuStreamIsCapturing(void *stream, int *status) { *status = stream != NULL; return 0; }
int cuFuncSetAttribute(void *f, int name, int value) { printf("carve-out of %s: %d %d\n", (char *)f, name, value); return 0; }
int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                   void *stream, void **arguments, void **extra)
{
    (void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)shared, (void)stream, (void)arguments, (void)extra;
    printf("%s runs\n", (char *)f);
    return 0;
}
int cuLaunchKernelEx(const void *launch, void *f, void **arguments, void **extra)
{
    const struct { unsigned sizes[7]; void *stream, *attributes; unsigned count; } *config = launch;
    printf("%s asks for %u attributes\n", (char *)f, config->count);
    return cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, extra);
}

#define GIVE(name) if (strcmp(symbol, #name) == 0) { *function = (void *)name; return 0; }
#define GIVE_AS(asked, name) if (strcmp(symbol, #asked) == 0) { *function = (void *)name; return 0; }
int cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags, void *status)
{
    (void)version, (void)flags, (void)status;
    GIVE(cuModuleLoadData) GIVE(cuModuleLoadDataEx) GIVE(cuModuleLoadFatBinary) GIVE(cuModuleLoad) GIVE(cuLibraryLoadData)
    GIVE(cuLibraryLoadFromFile) GIVE(cuModuleGetFunction) GIVE(cuLibraryGetKernel) GIVE(cuKernelGetFunction)
    GIVE(cuLibraryEnumerateKernels) GIVE(cuModuleUnload) GIVE(cuLibraryUnload) GIVE(cuLaunchKernel) GIVE(cuLaunchKernelEx) GIVE(cuStreamSynchronize)
    GIVE_AS(cuMemcpyDtoH, cuMemcpyDtoH_v2) GIVE_AS(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2)
    *function = NULL;
    return 500;
}
