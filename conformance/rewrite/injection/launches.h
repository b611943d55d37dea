/* launches.h - the driver's structures of launches and graphs, as cuda.h lays them out */
#ifndef PDL_INJECTION_LAUNCHES_H
#define PDL_INJECTION_LAUNCHES_H

/* CUlaunchAttributeID */
enum {
    COOPERATIVE = 2, CLUSTER = 4, SERIALIZATION = 6, EVENT = 7, COMPLETION_EVENT = 12, UPDATABLE = 13, CARVEOUT = 14
};

/* CUlaunchAttribute */
union attribute_value {
    int number;
    unsigned cluster[3];
    void *event;
    char bytes[64];
};
struct attribute {
    int id;
    char pad[4];
    union attribute_value value;
};

/* CUlaunchConfig */
struct launch {
    unsigned grid[3], block[3], shared;
    void *stream;
    const struct attribute *attributes;
    unsigned attribute_count;
};

/* CUDA_KERNEL_NODE_PARAMS_v2 */
struct node_parameters {
    const void *function;
    unsigned grid[3], block[3], shared;
    void **arguments, **extra;
    const void *kernel;
    void *context;
};

/* CUgraphEdgeData */
struct edge_data {
    unsigned char from_port, to_port, type, reserved[5];
};

#define PLAIN_LAUNCH (void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,   \
                      void *stream, void **arguments, void **extra)
#define COOPERATIVE_LAUNCH (void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,              \
                            unsigned shared, void *stream, void **arguments)
#define EXTENSIBLE_LAUNCH (const struct launch *launch, void *f, void **arguments, void **extra)

/* The same launch with other attributes. More of them than this are never seen; such a launch is passed on as it is. */
enum { MOST_ATTRIBUTES = 64 };
struct changed_launch {
    struct launch launch;
    struct attribute attributes[MOST_ATTRIBUTES + 1];
};
int launch_without_overlap(const struct launch *launch, struct changed_launch *changed);
int launch_with_overlap(const struct launch *launch, struct changed_launch *changed);

#endif
