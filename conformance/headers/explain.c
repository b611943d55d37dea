/* pdl_launch_check: which argument a launch would be refused for, and why; the same error as the launch. */
#include "pdl.h"

#include <string.h>

#include "expect.h"

static pdl_kernel plain, erased, narrow, driver;
static cudaEvent_t event;
static cudaLaunchAttribute further[17];
static const dim3 one = {1, 1, 1};

static void set_up(void)
{
    fresh_device();
    EXPECT_IS(pdl_kernel_init(&plain, (const void *)plain_kernel), cudaSuccess);
    EXPECT_IS(pdl_kernel_init(&erased, (const void *)erased_kernel), cudaSuccess);
    EXPECT_IS(pdl_kernel_init(&narrow, (const void *)narrow_kernel), cudaSuccess);
    EXPECT_IS(pdl_kernel_init_driver(&driver, function_of((const void *)plain_kernel)), cudaSuccess);
    EXPECT_IS(pdl_event_create(&event), cudaSuccess);
}

/* pdl_launch refuses with the error that the check says, and makes no call. */
static void explains(int line, const pdl_kernel *kernel, dim3 grid, dim3 block, const pdl_options *options, cudaError_t error,
                     pdl_argument argument, pdl_reason reason)
{
    struct number number = {1};
    void *args[] = {&number};
    pdl_refusal refusal = {PDL_ARGUMENT_ATTRS, PDL_REASON_SHARED};
    const unsigned calls = calls_made();
    const cudaError_t checked = pdl_launch_check(kernel, grid, block, options, &refusal);
    const cudaError_t launched = kernel == &driver ? pdl_launch_driver(kernel, grid, block, args, 0, 0, options)
                                                   : pdl_launch(kernel, grid, block, args, 0, 0, options);

    if (checked != error || launched != error || refusal.argument != argument || refusal.reason != reason ||
        (error != cudaSuccess && calls_made() != calls)) {
        fprintf(stderr, "%s:%d: check %d, launch %d, wanted %d; %s: %s\n", __FILE__, line, (int)checked, (int)launched, (int)error,
                pdl_argument_string(refusal.argument), pdl_reason_string(refusal.reason));
        failed = 1;
    }
    EXPECT_IS(pdl_launch_check(kernel, grid, block, options, NULL), error);
}

#define EXPLAINS(...) explains(__LINE__, __VA_ARGS__)
#define OPTIONS(wanted, argument, reason) EXPLAINS(&plain, one, one, &o, wanted, PDL_ARGUMENT_##argument, PDL_REASON_##reason)
#define NEW_OPTIONS() memset(&o, 0, sizeof o)

static void explains_kernels(void)
{
    const cudaError_t value = cudaErrorInvalidValue;
    const pdl_kernel never = PDL_ZERO;
    struct number number = {1};
    void *args[] = {&number};

    EXPLAINS(&plain, one, one, NULL, cudaSuccess, PDL_ARGUMENT_NONE, PDL_REASON_NONE);
    EXPLAINS(&driver, one, one, NULL, cudaSuccess, PDL_ARGUMENT_NONE, PDL_REASON_NONE);
    EXPLAINS(NULL, one, one, NULL, value, PDL_ARGUMENT_KERNEL, PDL_REASON_NULL_POINTER);
    EXPLAINS(&never, one, one, NULL, value, PDL_ARGUMENT_KERNEL, PDL_REASON_NOT_PREPARED);
    EXPECT_IS(pdl_launch(&driver, one, one, args, 0, 0, NULL), value);
    EXPECT_IS(pdl_launch_driver(&plain, one, one, args, 0, 0, NULL), value);
    EXPECT_IS(pdl_impl_judge(&driver, one, one, &(const pdl_options){0}, PDL_IMPL_BY_RUNTIME).reason, PDL_REASON_FOR_DRIVER);
    EXPECT_IS(pdl_impl_judge(&plain, one, one, &(const pdl_options){0}, PDL_IMPL_BY_DRIVER).reason, PDL_REASON_FOR_RUNTIME);
}

static void explains_shapes(void)
{
    const cudaError_t shape = cudaErrorInvalidConfiguration;
    const dim3 none = {1, 0, 1}, none_z = {1, 1, 0}, high = {1, 65536, 1}, deep = {1, 1, 65536}, wide = {33, 1, 1}, full = {17, 1, 1};
    const dim3 three = {3, 3, 3};
    pdl_options o = PDL_ZERO;

    EXPLAINS(&plain, none, one, NULL, shape, PDL_ARGUMENT_GRID, PDL_REASON_AXIS_ZERO);
    EXPLAINS(&plain, none_z, one, NULL, shape, PDL_ARGUMENT_GRID, PDL_REASON_AXIS_ZERO);
    EXPLAINS(&plain, one, none, NULL, shape, PDL_ARGUMENT_BLOCK, PDL_REASON_AXIS_ZERO);
    EXPLAINS(&plain, one, none_z, NULL, shape, PDL_ARGUMENT_BLOCK, PDL_REASON_AXIS_ZERO);
    EXPLAINS(&plain, high, one, NULL, shape, PDL_ARGUMENT_GRID, PDL_REASON_AXIS_TOO_LONG);
    EXPLAINS(&plain, deep, one, NULL, shape, PDL_ARGUMENT_GRID, PDL_REASON_AXIS_TOO_LONG);
    EXPLAINS(&plain, one, wide, NULL, shape, PDL_ARGUMENT_BLOCK, PDL_REASON_AXIS_TOO_LONG);
    EXPLAINS(&narrow, one, full, NULL, shape, PDL_ARGUMENT_BLOCK, PDL_REASON_TOO_MANY_THREADS);
    o.cluster_y = 2;
    EXPLAINS(&plain, three, one, &o, shape, PDL_ARGUMENT_CLUSTER, PDL_REASON_CLUSTER_SIZE);
    for (int axis = 0; axis < 3; axis++) {
        unsigned long_axis[3] = {1, 1, 1};

        long_axis[axis] = 33;
        const dim3 block = {long_axis[0], long_axis[1], long_axis[2]};
        EXPLAINS(&plain, one, block, NULL, shape, PDL_ARGUMENT_BLOCK, PDL_REASON_AXIS_TOO_LONG);
    }
}

/* The longest axes and the largest block are accepted. */
static void accepts_the_limits(void)
{
    const dim3 grids[] = {{0x7fffffff, 1, 1}, {1, 65535, 1}, {1, 1, 65535}};
    const dim3 blocks[] = {{32, 1, 1}, {1, 32, 1}, {1, 1, 32}, {4, 4, 2}, {2, 2, 8}};
    const dim3 sixteen = {16, 1, 1}, seventeen = {1, 17, 1};

    for (size_t i = 0; i < sizeof grids / sizeof grids[0]; i++) {
        EXPECT_IS(pdl_launch_check(&plain, grids[i], one, NULL, NULL), cudaSuccess);
    }
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        EXPECT_IS(pdl_launch_check(&plain, one, blocks[i], NULL, NULL), cudaSuccess);
    }
    EXPECT_IS(pdl_launch_check(&narrow, one, sixteen, NULL, NULL), cudaSuccess);
    EXPECT_IS(pdl_launch_check(&narrow, one, seventeen, NULL, NULL), cudaErrorInvalidConfiguration);
}

/* Options come first, then the kernel, then the shape. */
static void names_the_first(void)
{
    const pdl_kernel never = PDL_ZERO;
    const dim3 none = {0, 1, 1};
    pdl_options o = PDL_ZERO;

    EXPLAINS(&never, none, one, NULL, cudaErrorInvalidValue, PDL_ARGUMENT_KERNEL, PDL_REASON_NOT_PREPARED);
    o.overlap = 7;
    EXPLAINS(&never, none, one, &o, cudaErrorInvalidValue, PDL_ARGUMENT_OVERLAP, PDL_REASON_UNKNOWN_VALUE);
    EXPLAINS(NULL, none, one, &o, cudaErrorInvalidValue, PDL_ARGUMENT_OVERLAP, PDL_REASON_UNKNOWN_VALUE);
}

static void explains_options(void)
{
    const cudaError_t value = cudaErrorInvalidValue;
    pdl_options o;

    NEW_OPTIONS(), o.overlap = 3, OPTIONS(value, OVERLAP, UNKNOWN_VALUE);
    NEW_OPTIONS(), o.event = event, o.event_trigger = 2, OPTIONS(value, EVENT_TRIGGER, UNKNOWN_VALUE);
    NEW_OPTIONS(), o.cooperative = 2, OPTIONS(value, COOPERATIVE, UNKNOWN_VALUE);
    NEW_OPTIONS(), o.has_priority = 2, OPTIONS(value, HAS_PRIORITY, UNKNOWN_VALUE);
    NEW_OPTIONS(), o.mem_sync_domain = 3, OPTIONS(value, MEM_SYNC_DOMAIN, UNKNOWN_VALUE);
    NEW_OPTIONS(), o.carveout = 102, OPTIONS(value, CARVEOUT, UNKNOWN_VALUE);
    NEW_OPTIONS(), o.attrs = further, o.num_attrs = 17, OPTIONS(value, NUM_ATTRS, TOO_MANY_ATTRS);
    NEW_OPTIONS(), o.event_trigger = PDL_EVENT_AT_BLOCK_START, OPTIONS(value, EVENT_TRIGGER, NO_EVENT);
    o.launch_completion_event = event, OPTIONS(value, EVENT_TRIGGER, NO_EVENT); /* this one has no trigger to choose */
    NEW_OPTIONS(), o.priority = -1, OPTIONS(value, PRIORITY, NO_PRIORITY);
    NEW_OPTIONS(), o.event = o.launch_completion_event = event, OPTIONS(value, COMPLETION_EVENT, SAME_EVENT);
    NEW_OPTIONS(), o.num_attrs = 1, OPTIONS(value, ATTRS, NULL_POINTER);
    NEW_OPTIONS(), o.attrs = further, o.num_attrs = 2;
    further[1].id = cudaLaunchAttributeCooperative, OPTIONS(value, ATTRS, ATTR_OF_FIELD);
    further[1].id = (cudaLaunchAttributeID)13, OPTIONS(value, ATTRS, ATTR_RETURNS);
    EXPLAINS(&driver, one, one, &o, value, PDL_ARGUMENT_ATTRS, PDL_REASON_ATTR_RETURNS);
    further[1].id = cudaLaunchAttributeIgnore;
    NEW_OPTIONS(), o.overlap = PDL_OVERLAP_REQUIRED;
    EXPLAINS(&erased, one, one, &o, cudaErrorNotSupported, PDL_ARGUMENT_OVERLAP, PDL_REASON_TARGET);
}

/* Each feature with the driver before the one that brought it, and with that one. */
static void explains_old_drivers(void)
{
    const struct {
        int before, since;
        pdl_argument argument;
        pdl_reason reason;
    } rows[] = {{11080, 12000, PDL_ARGUMENT_MEM_SYNC_DOMAIN, PDL_REASON_DRIVER_DOMAIN},
                {12040, 12050, PDL_ARGUMENT_CARVEOUT, PDL_REASON_DRIVER_CARVEOUT},
                {12020, 12030, PDL_ARGUMENT_COMPLETION_EVENT, PDL_REASON_DRIVER_COMPLETION}};

    for (int i = 0; i < 3; i++) {
        pdl_options o = PDL_ZERO;
        pdl_kernel kernel;

        o.overlap = PDL_OVERLAP_REQUIRED;
        o.mem_sync_domain = i == 0 ? PDL_DOMAIN_REMOTE : PDL_DOMAIN_OF_STREAM;
        o.carveout = i == 1 ? 50 : 0;
        o.launch_completion_event = i == 2 ? event : NULL;
        if ((i == 1 && !PDL_HAS_CARVEOUT) || (i == 2 && !PDL_HAS_LAUNCH_COMPLETION_EVENT)) {
            continue;
        }
        model_set_versions(0, rows[i].before);
        EXPECT_IS(pdl_kernel_init(&kernel, (const void *)plain_kernel), cudaSuccess);
        EXPECT_IS(kernel.can_overlap, 1);
        EXPLAINS(&kernel, one, one, &o, cudaErrorNotSupported, rows[i].argument, rows[i].reason);
        EXPECT(strstr(pdl_reason_string(rows[i].reason), "driver of CUDA 12.") != NULL);
        model_set_versions(0, rows[i].since);
        EXPECT_IS(pdl_kernel_init(&kernel, (const void *)plain_kernel), cudaSuccess);
        EXPLAINS(&kernel, one, one, &o, cudaSuccess, PDL_ARGUMENT_NONE, PDL_REASON_NONE);
        EXPECT_IS(attributes_of_last(), 2); /* overlap, and the field */
    }
}

/* If possible: what the driver lacks falls back. */
static void falls_back_on_old_drivers(void)
{
    struct number number = {1};
    void *args[] = {&number};
    pdl_options o = PDL_ZERO;
    pdl_kernel kernel;

    o.overlap = PDL_OVERLAP_IF_POSSIBLE;
    o.launch_completion_event = event;
    model_set_versions(0, 12020);
    EXPECT_IS(pdl_kernel_init(&kernel, (const void *)plain_kernel), cudaSuccess);
    EXPECT_IS(pdl_launch(&kernel, one, one, args, 0, 0, &o), cudaSuccess);
    EXPECT_IS(attributes_of_last(), 1);
    EXPECT(last_attribute(6) != NULL);
    EXPECT_IS(model_call_count("cudaEventRecord"), 1);
    model_set_versions(0, 11070);
    EXPECT_IS(pdl_kernel_init(&kernel, (const void *)plain_kernel), cudaSuccess);
    EXPECT_IS(pdl_launch(&kernel, one, one, args, 0, 0, &o), cudaSuccess);
    EXPECT_IS(attributes_of_last(), 0);
    EXPECT_IS(model_call_count("cudaEventRecord"), 2);
    o.overlap = PDL_OVERLAP_REQUIRED;
    o.launch_completion_event = NULL;
    EXPLAINS(&kernel, one, one, &o, cudaErrorNotSupported, PDL_ARGUMENT_OVERLAP, PDL_REASON_DRIVER);
}

/* The two fields that a toolkit may lack are refused by the toolkit's own reason. */
static void names_the_error_of_each_reason(void)
{
    const pdl_reason not_supported[] = {PDL_REASON_TOOLKIT,       PDL_REASON_DEVICE,        PDL_REASON_TARGET,
                                        PDL_REASON_DRIVER,        PDL_REASON_TOOLKIT_FIELD, PDL_REASON_DRIVER_DOMAIN,
                                        PDL_REASON_DRIVER_COMPLETION, PDL_REASON_DRIVER_CARVEOUT};

    for (size_t i = 0; i < sizeof not_supported / sizeof not_supported[0]; i++) {
        EXPECT_IS(pdl_impl_error_of(not_supported[i]), cudaErrorNotSupported);
    }
    EXPECT_IS(pdl_impl_error_of(PDL_REASON_OTHER_DEVICE), cudaErrorInvalidDevice);
    EXPECT_IS(pdl_impl_error_of(PDL_REASON_NONE), cudaSuccess);
}

int main(void)
{
    void (*const tests[])(void) = {explains_kernels,     explains_shapes,           explains_options,
                                   accepts_the_limits,   names_the_first,           explains_old_drivers, falls_back_on_old_drivers, names_the_error_of_each_reason};

    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
        set_up();
        tests[i]();
    }
    return failed;
}
