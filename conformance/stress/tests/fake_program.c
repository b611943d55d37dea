/* fake_program.c - loads an image and launches its kernels
 *
 *   fake_program WAY ENTRY FILE [enumerate] NAME...
 * WAY is how it reaches the driver: linked, dlsym or address. ENTRY is the function that gets the image, "wrapped" puts nvcc's
 * wrapper around it first. "enumerate" asks for the kernels without their names. PDL_STRESS_NEXT names a second plan for a live
 * program. THREADS makes so many threads launch the kernels, FORK a child after the first launches that launches them
 * again (and ends at once, if QUICK is set). RELOAD unloads the code and gives the last handle to the kernel that it names. NODE gives a
 * node of a graph the last kernel, by the function that it names. DEVICES gives each kernel's launches a device in turn, by its CUkernel. COPY in the environment gives the bytes that each launch copies to the host.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern int cuModuleLoadData(void **, const void *);
extern int cuModuleLoadDataEx(void **, const void *, unsigned, void *, void **);
extern int cuModuleLoadFatBinary(void **, const void *);
extern int cuModuleLoad(void **, const char *);
extern int cuLibraryLoadData(void **, const void *, void *, void **, unsigned, void *, void **, unsigned);
extern int cuLibraryLoadFromFile(void **, const char *, void *, void **, unsigned, void *, void **, unsigned);
extern int cuModuleGetFunction(void **, void *, const char *);
extern int cuLibraryGetKernel(void **, void *, const char *);
extern int cuKernelGetFunction(void **, void *);
extern int cuLibraryEnumerateKernels(void **, unsigned, void *);
extern int cuLaunchKernelEx(const void *, void *, void **, void **);
extern int cuMemcpyDtoH_v2(void *, uint64_t, size_t);
extern int cuCtxSetCurrent(void *);
extern int cuModuleUnload(void *);
extern int cuLibraryUnload(void *);
extern int cuGraphKernelNodeSetParams_v2(void *, const void *);
extern int cuGraphExecKernelNodeSetParams_v2(void *, void *, const void *);
extern int cuGraphNodeSetParams(void *, const void *);
extern int cuGraphExecNodeSetParams(void *, void *, const void *);

struct launch { unsigned sizes[7]; void *stream; void *attributes; unsigned count; };
struct attribute { int id; char pad[4]; union { int on; char room[64]; } value; };
struct wrapper { uint32_t magic, version; const void *container, *more; };

static const char *way;
static void *driver;

static void *reach(const char *exported, const char *symbol, void *linked)
{
    void *found = linked;
    if (strcmp(way, "dlsym") == 0) {
        found = dlsym(driver, exported);
    } else if (strcmp(way, "address") == 0) {
        int (*address)(const char *, void **, int, uint64_t, void *) = dlsym(driver, "cuGetProcAddress_v2");
        address(symbol, &found, 12000, 0, NULL);
    }
    return found;
}
#define REACH(name) ((__typeof__(&name))reach(#name, #name, (void *)name))

static int load(const char *entry, void **module, const void *image, const char *path)
{
    struct wrapper wrapper = {0x466243B1, 1, image, NULL};
    if (strcmp(entry, "cuModuleLoad") == 0) { return REACH(cuModuleLoad)(module, path); }
    if (strcmp(entry, "cuLibraryLoadFromFile") == 0) { return REACH(cuLibraryLoadFromFile)(module, path, 0, 0, 0, 0, 0, 0); }
    if (strcmp(entry, "cuModuleLoadDataEx") == 0) { return REACH(cuModuleLoadDataEx)(module, image, 0, 0, 0); }
    if (strcmp(entry, "cuModuleLoadFatBinary") == 0) { return REACH(cuModuleLoadFatBinary)(module, image); }
    if (strcmp(entry, "cuLibraryLoadData") == 0) { return REACH(cuLibraryLoadData)(module, image, 0, 0, 0, 0, 0, 0); }
    if (strcmp(entry, "wrapped") == 0) { return REACH(cuLibraryLoadData)(module, &wrapper, 0, 0, 0, 0, 0, 0); }
    return REACH(cuModuleLoadData)(module, image);
}

static void *module;
static char **arguments;
static void *last_function;

static void launch_twice(const char *entry, const char *name)
{
    struct attribute overlap = {6, {0}, {1}};
    struct launch config = {{1, 1, 1, 1, 1, 1, 0}, NULL, &overlap, 1};
    void *function = NULL, *kernel = NULL;
    if (strcmp(name, "enumerate") == 0) {
        REACH(cuLibraryEnumerateKernels)(&kernel, 1, module);
        REACH(cuKernelGetFunction)(&function, kernel);
    } else if (strncmp(entry, "cuLibrary", 9) == 0) {
        REACH(cuLibraryGetKernel)(&kernel, module, name);
        getenv("DEVICES") ? (void)(function = kernel) : (void)REACH(cuKernelGetFunction)(&function, kernel);
    } else {
        REACH(cuModuleGetFunction)(&function, module, name);
    }
    last_function = function;
    for (int k = 0; k < 2; k++) {
        printf("launching\n");
        REACH(cuLaunchKernelEx)(&config, function, NULL, NULL);
        const char *copied = getenv("COPY");
        char to[256];
        if (copied) {
            ((int (*)(void *, uint64_t, size_t))reach("cuMemcpyDtoH_v2", "cuMemcpyDtoH", (void *)cuMemcpyDtoH_v2))(
                to, (uint64_t)(uintptr_t)copied, strlen(copied));
        }
    }
}

static void *launch_all(void *unused)
{
    const char *devices = getenv("DEVICES");
    for (char **name = arguments + 4; *name; name++) {
        if (devices) {
            cuCtxSetCurrent((void *)(uintptr_t)(1 + (name - arguments) % atoi(devices)));
        }
        launch_twice(arguments[2], *name);
    }
    return unused;
}

static void launch_in_threads(int count)
{
    pthread_t threads[64];
    for (int i = 0; i < count; i++) {
        pthread_create(&threads[i], NULL, launch_all, NULL);
    }
    for (int i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
    }
}

static void reload(const char *name)
{
    struct launch config = {{1, 1, 1, 1, 1, 1, 0}, NULL, NULL, 0};
    strncmp(arguments[2], "cuLibrary", 9) == 0 ? REACH(cuLibraryUnload)(module) : REACH(cuModuleUnload)(module);
    memcpy(last_function, name, strlen(name) + 1); /* the stand-in's handles are names, and this one is no longer */
    REACH(cuLaunchKernelEx)(&config, last_function, NULL, NULL);
}

static void change_node(const char *how)
{
    struct { int type, pad[3]; const void *function; char rest[96]; } any = {0, {0}, last_function, {0}};
    if (strcmp(how, "cuGraphKernelNodeSetParams_v2") == 0) { cuGraphKernelNodeSetParams_v2(NULL, &any.function); }
    if (strcmp(how, "cuGraphExecKernelNodeSetParams_v2") == 0) { cuGraphExecKernelNodeSetParams_v2(NULL, NULL, &any.function); }
    if (strcmp(how, "cuGraphNodeSetParams") == 0) { cuGraphNodeSetParams(NULL, &any); }
    if (strcmp(how, "cuGraphExecNodeSetParams") == 0) { cuGraphExecNodeSetParams(NULL, NULL, &any); }
}

int main(int argc, char **argv)
{
    static char image[1 << 20];
    void (*read_again)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "pdl_stress_reload");
    const char *threads = getenv("THREADS");

    way = argv[1];
    arguments = argv;
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    FILE *file = fopen(argv[3], "rb");
    image[file ? fread(image, 1, sizeof image - 1, file) : 0] = 0;
    if (argc < 4 || load(argv[2], &module, image, argv[3]) != 0) {
        return 3;
    }
    memset(image, 0, sizeof image); /* a driver may keep the image; the program need not */
    threads ? launch_in_threads(atoi(threads)) : (void)launch_all(NULL);
    if (getenv("FORK")) {
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            launch_all(NULL);
            fflush(stdout);
            getenv("QUICK") && *getenv("QUICK") ? _exit(0) : exit(0);
        }
        waitpid(child, NULL, 0);
    }
    if (getenv("RELOAD")) {
        reload(getenv("RELOAD"));
    }
    if (getenv("NODE")) {
        change_node(getenv("NODE"));
    }
    const char *second = getenv("PDL_STRESS_NEXT");
    if (second && read_again) {
        fflush(stdout);
        setenv("PDL_STRESS_PLAN", second, 1);
        read_again();
    }
    return dlsym(RTLD_DEFAULT, "no_such_function") != NULL || dlsym(driver, "cuNoSuchFunction") != NULL;
}
