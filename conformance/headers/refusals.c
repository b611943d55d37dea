/* Bad input: the documented error, no CUDA call at all, nothing launched, the last error as it was. */
#include "pdl.h"

#include <string.h>

#include "expect.h"

static pdl_kernel plain, erased, narrow, driver;
static cudaEvent_t event;

static void set_up(void)
{
    fresh_device();
    EXPECT_IS(pdl_kernel_init(&plain, (const void *)plain_kernel), cudaSuccess);
    EXPECT_IS(pdl_kernel_init(&erased, (const void *)erased_kernel), cudaSuccess);
    EXPECT_IS(pdl_kernel_init(&narrow, (const void *)narrow_kernel), cudaSuccess);
    EXPECT_IS(pdl_kernel_init_driver(&driver, function_of((const void *)plain_kernel)), cudaSuccess);
    EXPECT_IS(pdl_event_create(&event), cudaSuccess);
    EXPECT_IS(cudaSetDevice(99), cudaErrorInvalidDevice); /* from here on this is the last error, and has to stay it */
}

static void refused(int line, cudaError_t wanted, const pdl_kernel *kernel, dim3 grid, dim3 block,
                    const pdl_options *options)
{
    struct number number = {1};
    void *args[] = {&number};
    const unsigned calls = calls_made();
    const cudaError_t error = pdl_launch(kernel, grid, block, args, 0, 0, options);

    if (error != wanted || calls_made() != calls || model_launch_count() != 0 ||
        cudaPeekAtLastError() != cudaErrorInvalidDevice) {
        fprintf(stderr, "%s:%d: error %d, wanted %d; %u calls, %u launches\n", __FILE__, line, (int)error, (int)wanted,
                calls_made() - calls, model_launch_count());
        failed = 1;
    }
}

static const dim3 one = {1, 1, 1};

#define REFUSED_OPTIONS(wanted) refused(__LINE__, wanted, &plain, one, one, &o)
#define RESET_OPTIONS() memset(&o, 0, sizeof o)

static void refuses_unprepared_kernels(void)
{
    pdl_kernel empty = PDL_ZERO;

    refused(__LINE__, cudaErrorInvalidValue, NULL, one, one, NULL);
    refused(__LINE__, cudaErrorInvalidValue, &empty, one, one, NULL);
    refused(__LINE__, cudaErrorInvalidValue, &driver, one, one, NULL);
}

static void refuses_shapes(void)
{
    const unsigned bad_grid[][3] = {{0, 1, 1}, {1, 0, 1}, {1, 1, 0}, {0x80000000u, 1, 1}, {1, 65536, 1}, {1, 1, 65536},
                                    {~0u, 1, 1}};
    const unsigned bad_block[][3] = {{0, 1, 1}, {1, 0, 1}, {1, 1, 0}, {33, 1, 1}, {1, 33, 1}, {1, 1, 33},
                                     {8, 8, 1}, {4, 4, 4}, {32, 32, 32}, {~0u, ~0u, ~0u}, {0x10000, 0x10000, 1}};
    const dim3 seventeen = {17, 1, 1}, folded = {3, 3, 2};

    for (size_t i = 0; i < sizeof bad_grid / sizeof bad_grid[0]; i++) {
        const dim3 grid = {bad_grid[i][0], bad_grid[i][1], bad_grid[i][2]};
        refused(__LINE__, cudaErrorInvalidConfiguration, &plain, grid, one, NULL);
    }
    for (size_t i = 0; i < sizeof bad_block / sizeof bad_block[0]; i++) {
        const dim3 block = {bad_block[i][0], bad_block[i][1], bad_block[i][2]};
        refused(__LINE__, cudaErrorInvalidConfiguration, &plain, one, block, NULL);
    }
    refused(__LINE__, cudaErrorInvalidConfiguration, &narrow, one, seventeen, NULL); /* more than this kernel can have */
    refused(__LINE__, cudaErrorInvalidConfiguration, &narrow, one, folded, NULL);
}

/* Each axis has a limit of its own, though those of grids and of the model's blocks are alike. */
static void keeps_the_axes_apart(void)
{
    pdl_kernel small = plain;

    for (unsigned axis = 0; axis < 3; axis++) {
        small.max_grid[axis] = 7 - axis;
        small.max_block[axis] = 4 - axis;
    }
    for (unsigned axis = 0; axis < 3; axis++) {
        for (unsigned more = 0; more < 2; more++) {
            const unsigned blocks = 7 - axis + more, threads = 4 - axis + more;
            const dim3 grid = {axis == 0 ? blocks : 1, axis == 1 ? blocks : 1, axis == 2 ? blocks : 1};
            const dim3 block = {axis == 0 ? threads : 1, axis == 1 ? threads : 1, axis == 2 ? threads : 1};

            EXPECT_IS(pdl_launch_check(&small, grid, one, NULL, NULL), more ? cudaErrorInvalidConfiguration : cudaSuccess);
            EXPECT_IS(pdl_launch_check(&small, one, block, NULL, NULL), more ? cudaErrorInvalidConfiguration : cudaSuccess);
        }
    }
    for (unsigned axis = 0; axis < 3; axis++) { /* a cluster divides its own axis */
        const dim3 grid = {3, 4, 5};
        pdl_options o = PDL_ZERO;
        unsigned *const clusters[] = {&o.cluster_x, &o.cluster_y, &o.cluster_z};

        for (unsigned blocks = 3; blocks < 6; blocks++) {
            *clusters[axis] = blocks;
            EXPECT_IS(pdl_launch_check(&plain, grid, one, &o, NULL), blocks == 3 + axis ? cudaSuccess : cudaErrorInvalidConfiguration);
        }
    }
}

static void refuses_clusters(void)
{
    const unsigned clusters[][3] = {{4, 0, 0}, {0, 4, 0}, {0, 0, 4}, {7, 1, 1}, {~0u, 1, 1}};
    const dim3 grid = {6, 6, 6};
    pdl_options o = PDL_ZERO;

    for (size_t i = 0; i < sizeof clusters / sizeof clusters[0]; i++) {
        o.cluster_x = clusters[i][0];
        o.cluster_y = clusters[i][1];
        o.cluster_z = clusters[i][2];
        refused(__LINE__, cudaErrorInvalidConfiguration, &plain, grid, one, &o);
    }
}

static void refuses_unknown_values(void)
{
    const unsigned values[] = {2, 3, 0x80000000u, ~0u};
    pdl_options o;

    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        RESET_OPTIONS(), o.overlap = values[i] | 4, REFUSED_OPTIONS(cudaErrorInvalidValue);
        RESET_OPTIONS(), o.event = event, o.event_trigger = values[i], REFUSED_OPTIONS(cudaErrorInvalidValue);
        RESET_OPTIONS(), o.cooperative = values[i], REFUSED_OPTIONS(cudaErrorInvalidValue);
        RESET_OPTIONS(), o.has_priority = values[i], REFUSED_OPTIONS(cudaErrorInvalidValue);
        RESET_OPTIONS(), o.mem_sync_domain = values[i] | 4, REFUSED_OPTIONS(cudaErrorInvalidValue);
        RESET_OPTIONS(), o.carveout = values[i] | 102, REFUSED_OPTIONS(cudaErrorInvalidValue);
    }
}

static void refuses_contradictions(void)
{
    pdl_options o;

    RESET_OPTIONS(), o.event_trigger = PDL_EVENT_AT_BLOCK_START, REFUSED_OPTIONS(cudaErrorInvalidValue);
    RESET_OPTIONS(), o.priority = -1, REFUSED_OPTIONS(cudaErrorInvalidValue);
    RESET_OPTIONS(), o.event = o.launch_completion_event = event, REFUSED_OPTIONS(cudaErrorInvalidValue);
}

static void refuses_further_attributes(void)
{
    const int owned[] = {2, 4, 6, 7, 8, 10, 12, 14, 13};
    cudaLaunchAttribute further[17];
    pdl_options o;

    memset(further, 0, sizeof further);
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) {
        for (size_t place = 0; place < 3; place++) {
            RESET_OPTIONS(), o.attrs = further, o.num_attrs = 3;
            further[place].id = (cudaLaunchAttributeID)owned[i];
            REFUSED_OPTIONS(cudaErrorInvalidValue);
            further[place].id = cudaLaunchAttributeIgnore;
        }
    }
    RESET_OPTIONS(), o.attrs = further, o.num_attrs = 17, REFUSED_OPTIONS(cudaErrorInvalidValue);
    o.num_attrs = ~0u, REFUSED_OPTIONS(cudaErrorInvalidValue);
    RESET_OPTIONS(), o.num_attrs = 1, REFUSED_OPTIONS(cudaErrorInvalidValue);
}

static void refuses_what_cannot_overlap(void)
{
    pdl_kernel old_device;
    pdl_options o = PDL_ZERO;

    o.overlap = PDL_OVERLAP_REQUIRED;
    refused(__LINE__, cudaErrorNotSupported, &erased, one, one, &o);
    model_set_cc(8, 6);
    EXPECT_IS(pdl_kernel_init(&old_device, (const void *)plain_kernel), cudaSuccess);
    refused(__LINE__, cudaErrorNotSupported, &old_device, one, one, &o);
    o.event = event;
    refused(__LINE__, cudaErrorNotSupported, &old_device, one, one, &o);
}

int main(void)
{
    void (*const tests[])(void) = {refuses_unprepared_kernels, refuses_shapes, keeps_the_axes_apart,         refuses_clusters,
                                   refuses_unknown_values,     refuses_contradictions, refuses_further_attributes,
                                   refuses_what_cannot_overlap};

    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
        set_up();
        tests[i]();
    }
    EXPECT_IS(pdl_event_create(NULL), cudaErrorInvalidValue);
    EXPECT_IS(cudaGetLastError(), cudaErrorInvalidDevice);
    return failed;
}
