/* api_driver.h - what the files share that stand for the driver's functions. */
#ifndef MODEL_API_DRIVER_H_INCLUDED
#define MODEL_API_DRIVER_H_INCLUDED

#include "api.h"

#include <string.h>

/* What the runtime answers, without a last error, as the driver. */
#define BY_DRIVER(call)                                \
    do {                                               \
        cudaError_t before = cudaGetLastError(), said; \
        said = (call);                                 \
        (void)cudaGetLastError();                      \
        (void)call_result(before);                     \
        return (unsigned)said;                         \
    } while (0)

typedef void (*any_function)(void);
struct driver_function {
    const char *name;
    unsigned since; /* the version of CUDA that brought it */
    any_function function;
};
/* NULL: there is no such function, or none so early. */
static inline any_function driver_named(const struct driver_function *functions, size_t count, const char *name, unsigned asked)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, functions[i].name) == 0 && asked >= functions[i].since)
            return functions[i].function;
    return NULL;
}
/* As the driver lays them out: one end of a copy of layers, and the copy. */
struct layers_end {
    size_t x, y, z, lod;
    unsigned type;
    void *host;
    uint64_t device;
    void *array, *reserved;
    size_t pitch, height;
};
struct layers_copy {
    struct layers_end from, to;
    size_t width, height, depth;
};
struct cudaMemcpy3DParms layers_of(const struct layers_copy *c); /* as the runtime lays it out */

/* The same of the parameters of nodes. */
struct kernel_params {
    cudaFunction_t func;
    unsigned grid[3], block[3], shared_bytes;
    void **params, **extra;
    void *kern, *context;
};
struct set_params {
    uint64_t to;
    size_t pitch;
    unsigned value, bytes;
    size_t width, height;
};
struct host_params {
    cudaHostFn_t fn;
    void *data;
};
struct any_params {
    int type, reserved[3];
    union {
        struct kernel_params kernel;
        struct { int flags, reserved; void *context; struct layers_copy copy; } copy;
        struct { struct set_params set; void *context; } set;
        struct host_params host;
        cudaEvent_t event;
        long long room[29];
    } of;
    long long reserved2;
};

/* The same of an operation of a batch. */
struct memory_operation {
    unsigned type;
    uint64_t address;
    uint64_t value;
    unsigned flags;
    uint64_t rest[2];
};
enum { OPERATION_WAIT = 1, OPERATION_WRITE = 2 };

unsigned driver_add_kernel(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count, const struct kernel_params *p);
unsigned driver_tell_kernel(cudaGraphNode_t node, struct kernel_params *p);
unsigned driver_set_kernel(cudaGraphNode_t node, const struct kernel_params *p);
unsigned driver_set_exec_kernel(cudaGraphExec_t exec, cudaGraphNode_t node, const struct kernel_params *p);
unsigned driver_add_any(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, const edge_data *data, size_t count,
                        const struct any_params *p);

any_function driver_move(const char *name, unsigned asked);       /* of api_driver_moves.c */
any_function driver_graph_call(const char *name, unsigned asked); /* of api_driver_graphs.c */
any_function driver_node_call(const char *name, unsigned asked);  /* of api_driver_nodes.c */
any_function driver_older_call(const char *name, unsigned asked); /* of api_driver_older.c */
any_function driver_value_node_call(const char *name, unsigned asked); /* of api_value_nodes.c */
bool driver_has_context(const void *context); /* whether it is the one there is */

#endif
