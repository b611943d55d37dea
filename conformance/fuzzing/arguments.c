/* arguments.c - pdl_launch with any shapes and options on the model: it launches once or refuses, as pdl_launch_check said */
#include "pdl.h"

#include <string.h>

#include "expect.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
    unsigned grid[3], block[3];
    unsigned char overlap, event_trigger, events, has_options, kernel, unused[3];
    unsigned cluster[3], cooperative, has_priority;
    int priority;
    unsigned domain, carveout, num_attrs;
    struct {
        unsigned id, value;
    } attr[4];
};

static pdl_kernel kernels[3];
static cudaEvent_t events[2];

static void set_up(void)
{
    fresh_device();
    EXPECT_IS(pdl_kernel_init(&kernels[0], (const void *)plain_kernel), cudaSuccess);
    EXPECT_IS(pdl_kernel_init(&kernels[1], (const void *)erased_kernel), cudaSuccess);
    EXPECT_IS(pdl_kernel_init(&kernels[2], (const void *)narrow_kernel), cudaSuccess);
    EXPECT_IS(pdl_event_create(&events[0]), cudaSuccess);
    EXPECT_IS(cudaEventCreate(&events[1]), cudaSuccess);
}

static void fill_in(pdl_options *o, cudaLaunchAttribute *attrs, const struct input *in)
{
    o->overlap = (pdl_overlap)(in->overlap % 5);
    o->event_trigger = (pdl_event_trigger)(in->event_trigger % 5);
    o->event = in->events & 1 ? events[in->events >> 1 & 1] : NULL;
    o->launch_completion_event = in->events & 4 ? events[in->events >> 3 & 1] : NULL;
    o->cluster_x = in->cluster[0];
    o->cluster_y = in->cluster[1];
    o->cluster_z = in->cluster[2];
    o->cooperative = in->cooperative;
    o->has_priority = in->has_priority;
    o->priority = in->priority;
    o->mem_sync_domain = (pdl_domain)in->domain;
    o->carveout = in->carveout;
    o->num_attrs = in->num_attrs; /* more than there are must be refused unread */
    for (unsigned i = 0; i < 4; i++) {
        attrs[i].id = (cudaLaunchAttributeID)in->attr[i].id;
        attrs[i].val.clusterDim.x = in->attr[i].value; /* of any kind */
    }
    o->attrs = o->num_attrs ? attrs : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {{1, 1, 1}, {1, 1, 1}, 0, 0, 0, 1, 0, {0}, {0}, 0, 0, 0, 0, 0, 0, {{0, 0}}};
    struct number number = {0};
    void *args[] = {&number};
    pdl_options options = PDL_ZERO;
    pdl_refusal refusal;

    memcpy(&in, data, size < sizeof in ? size : sizeof in);
    in.num_attrs = in.num_attrs > 4 && in.num_attrs <= 16 ? 4 : in.num_attrs;
    cudaLaunchAttribute *attrs = calloc(4, sizeof *attrs); /* a block of its own, so that a read past it is seen */
    if (!attrs) {
        return 0;
    }
    set_up();
    fill_in(&options, attrs, &in);
    const dim3 grid = {in.grid[0] % 70000, in.grid[1] % 70000, in.grid[2] % 70000}, block = {in.block[0], in.block[1], in.block[2]};
    const dim3 small = {grid.x % 3, grid.y % 3, grid.z % 3}; /* the model runs what is launched */
    const pdl_kernel *kernel = &kernels[in.kernel % 3];
    const pdl_options *given = in.has_options % 2 ? &options : NULL;
    const cudaError_t said = pdl_launch_check(kernel, small, block, given, &refusal);
    const cudaError_t code = pdl_launch(kernel, small, block, args, 0, 0, given);
    const unsigned launched = model_launch_count();
    (void)pdl_launch_check(kernel, grid, block, given, NULL);
    EXPECT(said == cudaSuccess || code == said);
    EXPECT(launched == (code == cudaSuccess));
    EXPECT(said != cudaSuccess || (small.x && small.y && small.z && block.x && block.y && block.z));
    (void)cudaDeviceSynchronize();
    free(attrs);
    if (failed) {
        abort();
    }
    return 0;
}
