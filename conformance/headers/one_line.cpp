// pdl::launch on the model: what reaches CUDA, what is remembered per function and device, what is asked again and when.
#include "pdl.h"

#include <initializer_list>
#include <stdexcept>
#include <utility>

#include "expect.h"

void launch_from_other_unit(cudaStream_t stream);

namespace {

const cudaStream_t stream = nullptr;
const dim3 one(1);

struct convertible {
    int value;
    operator number() const { return number{value}; }
};

struct holder { // a constant that is never defined: binding a reference to it would not link
    static const int steps = 3;
};

unsigned asked()
{
    return model_call_count("cudaFuncGetAttributes");
}

// Launched once on a fresh device, with this many attributes, by one call besides what asks.
template <typename... params> void launches(void (*kernel)(params...), pdl::wish how, unsigned attributes)
{
    const unsigned launched = model_call_count("cudaLaunchKernelExC");

    EXPECT_IS(pdl::launch(kernel, dim3(2, 1, 2), dim3(4, 2), 64, stream, how, number{1}), cudaSuccess);
    EXPECT_IS(model_call_count("cudaLaunchKernelExC") - launched, 1);
    EXPECT_IS(attributes_of_last(), attributes);
    EXPECT(last_launch()->func == reinterpret_cast<const void *>(kernel));
    EXPECT_IS(last_launch()->grid[0] + 10 * last_launch()->grid[2], 22);
    EXPECT_IS(last_launch()->block[0] + 10 * last_launch()->block[1], 24);
    EXPECT_IS(last_launch()->shared_bytes, 64);
}

void overlaps_where_sound()
{
    launches(plain_kernel, pdl::overlap, 1);
    EXPECT(last_attribute(6) != nullptr && last_attribute(6)->programmaticStreamSerializationAllowed == 1);
    launches(erased_kernel, pdl::overlap, 0);
    launches(plain_kernel, PDL_OVERLAP_NONE, 0);
    launches(plain_kernel, pdl::overlap_required, 1);
    const unsigned calls = model_launch_count();
    EXPECT_IS(pdl::launch(erased_kernel, one, one, 0, stream, pdl::overlap_required, number{1}), cudaErrorNotSupported);
    EXPECT_IS(pdl::launch(plain_kernel, one, one, 0, stream, static_cast<pdl_overlap>(3), number{1}), cudaErrorInvalidValue);
    EXPECT_IS(model_launch_count(), calls);
    EXPECT_IS(cudaPeekAtLastError(), cudaSuccess);
}

// Switched off, a kernel that has to overlap is launched without, and that is no error: whether it was asked about before or not.
void is_switched_off()
{
    setenv("PDL_DISABLE", "1", 1);
    for (int i = 0; i < 2; i++) {
        launches(static_kernel, pdl::overlap_required, 0);
        launches(static_kernel, pdl::overlap, 0);
    }
    pdl_options options = PDL_ZERO; // and with what is no overlap
    options.overlap = PDL_OVERLAP_REQUIRED;
    options.has_priority = 1;
    launches(static_kernel, options, 1);
    EXPECT(last_attribute(8) != nullptr);
    cudaLaunchConfig_t config = {}; // and in the place of cudaLaunchKernelEx
    config.gridDim = config.blockDim = one;
    EXPECT_IS(pdl::launch(&config, static_kernel, {1}), cudaSuccess);
    EXPECT_IS(attributes_of_last(), 0);
    unsetenv("PDL_DISABLE");
}

void asks_once()
{
    launches(plain_kernel, pdl::overlap, 1);
    launches(erased_kernel, pdl::overlap, 0);
    const unsigned before = asked(), calls = calls_made();
    launches(plain_kernel, pdl::overlap, 1);
    launches(erased_kernel, pdl::overlap, 0);
    EXPECT_IS(asked(), before);
    EXPECT_IS(calls_made() - calls, 2); // the launches
}

void converts_as_a_call()
{
    EXPECT_IS(pdl::launch(plain_kernel, one, one, 0, stream, pdl::overlap, {2}), cudaSuccess);
    EXPECT_IS(pdl::launch(plain_kernel, 1, 1, 0, 0, pdl::overlap, convertible{3}), cudaSuccess);
    EXPECT_IS(pdl::launch(plain_kernel, one, one, 0, stream, pdl::overlap, {holder::steps}), cudaSuccess);
    pdl_kernel kernel = PDL_ZERO;
    EXPECT_IS(pdl_kernel_init(&kernel, plain_kernel), cudaSuccess);
    EXPECT_IS(pdl_launch(&kernel, plain_kernel, one, one, 0, stream, nullptr, {2}), cudaSuccess);
}

void takes_options()
{
    pdl_options options = PDL_ZERO;
    cudaEvent_t event, completion;

    EXPECT_IS(pdl_event_create(&event), cudaSuccess);
    EXPECT_IS(pdl_event_create(&completion), cudaSuccess);
    launches(plain_kernel, options, 0);
    launches(plain_kernel, static_cast<const pdl_options *>(nullptr), 0);
    options.overlap = PDL_OVERLAP_IF_POSSIBLE;
    launches(plain_kernel, options, 1);
    launches(plain_kernel, &options, 1);
    options.has_priority = 1;
    options.priority = -1;
    launches(plain_kernel, options, 2);
    EXPECT(last_attribute(6) != nullptr && last_attribute(8) != nullptr && last_attribute(8)->priority == -1);
    launches(erased_kernel, options, 1);
    options.event = event;
    options.launch_completion_event = completion;
    launches(plain_kernel, options, 3 + PDL_HAS_LAUNCH_COMPLETION_EVENT);
    EXPECT_IS(model_call_count("cudaEventRecord"), !PDL_HAS_LAUNCH_COMPLETION_EVENT);
    launches(erased_kernel, options, 1 + PDL_HAS_LAUNCH_COMPLETION_EVENT);
    EXPECT_IS(model_call_count("cudaEventRecord"), 1 + 2 * !PDL_HAS_LAUNCH_COMPLETION_EVENT);
    options.cooperative = 2;
    const unsigned launched = model_launch_count();
    EXPECT_IS(pdl::launch(plain_kernel, one, one, 0, stream, options, number{1}), cudaErrorInvalidValue);
    options.cooperative = 0;
    options.overlap = PDL_OVERLAP_REQUIRED;
    EXPECT_IS(pdl::launch(erased_kernel, one, one, 0, stream, options, number{1}), cudaErrorNotSupported);
    options.overlap = PDL_OVERLAP_IF_POSSIBLE;
    options.launch_completion_event = nullptr;
    options.mem_sync_domain = PDL_DOMAIN_REMOTE;
    model_set_versions(0, 11080); // this driver knows no domains
    EXPECT_IS(pdl::launch(plain_kernel, one, one, 0, stream, options, number{1}), cudaErrorNotSupported);
    EXPECT_IS(model_launch_count(), launched);
}

// Shapes are CUDA's to refuse here, so its last error says so, as after the raw call.
void leaves_shapes_to_cuda()
{
    EXPECT_IS(pdl::launch(plain_kernel, 0, one, 0, stream, pdl::overlap, number{1}), cudaErrorInvalidConfiguration);
    EXPECT_IS(cudaGetLastError(), cudaErrorInvalidConfiguration);
    EXPECT_IS(model_launch_count(), 0);
}

// In the place of cudaLaunchKernelEx: all attributes stay, and overlap is added, or taken away where it is not sound.
void replaces_the_toolkits_template()
{
    cudaLaunchAttribute attrs[PDL_MAX_ATTRIBUTES] = {};
    cudaLaunchConfig_t config = {};

    config.gridDim = config.blockDim = dim3(2);
    config.dynamicSmemBytes = 32;
    config.attrs = attrs;
    EXPECT_IS(pdl::launch(&config, plain_kernel, {1}), cudaSuccess);
    EXPECT_IS(attributes_of_last(), 1);
    EXPECT_IS(last_launch()->grid[0] + last_launch()->block[0] + last_launch()->shared_bytes, 36);
    EXPECT_IS(pdl::launch(&config, erased_kernel, {1}), cudaSuccess);
    EXPECT_IS(attributes_of_last(), 0);
    config.numAttrs = 2;
    attrs[0].id = cudaLaunchAttributePriority;
    attrs[0].val.priority = -3;
    attrs[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attrs[1].val.programmaticStreamSerializationAllowed = 1;
    EXPECT_IS(pdl::launch(&config, plain_kernel, {1}), cudaSuccess);
    EXPECT_IS(attributes_of_last(), 2);
    EXPECT(last_attribute(8) != nullptr && last_attribute(8)->priority == -3);
    EXPECT(last_attribute(6) != nullptr && last_attribute(6)->programmaticStreamSerializationAllowed == 1);
    EXPECT_IS(pdl::launch(&config, erased_kernel, {1}), cudaSuccess); // the user's wish, where it is not sound
    EXPECT_IS(attributes_of_last(), 1);
    EXPECT(last_attribute(6) == nullptr && last_attribute(8) != nullptr);
    attrs[1].val.programmaticStreamSerializationAllowed = 0;
    EXPECT_IS(pdl::launch(&config, plain_kernel, {1}), cudaSuccess);
    EXPECT_IS(attributes_of_last(), 1);
    EXPECT_IS(attrs[0].val.priority, -3);
    EXPECT_IS(attrs[1].val.programmaticStreamSerializationAllowed, 0);
    std::swap(attrs[0], attrs[1]); // what CUDA returns in an attribute goes back to that attribute, wherever the wish stands
    EXPECT_IS(pdl::launch(&config, plain_kernel, {1}), cudaSuccess);
    EXPECT_IS(attrs[1].val.priority, -3);
    std::swap(attrs[0], attrs[1]);
    attrs[1].id = cudaLaunchAttributeIgnore;
    config.numAttrs = PDL_MAX_ATTRIBUTES - 1;
    EXPECT_IS(pdl::launch(&config, plain_kernel, {1}), cudaSuccess);
    EXPECT_IS(attributes_of_last(), PDL_MAX_ATTRIBUTES);
    config.numAttrs = PDL_MAX_ATTRIBUTES;
    EXPECT_IS(pdl::launch(&config, plain_kernel, {1}), cudaErrorInvalidValue);
    config.attrs = nullptr;
    config.numAttrs = 1;
    EXPECT_IS(pdl::launch(&config, plain_kernel, {1}), cudaErrorInvalidValue);
    EXPECT_IS(pdl::launch(nullptr, plain_kernel, {1}), cudaErrorInvalidValue);
}

void is_refused_without_a_function()
{
    void (*none)(number) = nullptr;
    cudaStreamCaptureMode mode = cudaStreamCaptureModeThreadLocal;

    EXPECT_IS(pdl::launch(none, one, one, 0, stream, pdl::overlap, number{1}), cudaErrorInvalidDeviceFunction);
    EXPECT_IS(cudaThreadExchangeStreamCaptureMode(&mode), cudaSuccess);
    model_fail_next("cudaFuncGetAttributes", cudaErrorNoKernelImageForDevice);
    EXPECT_IS(pdl::launch(greedy_kernel, one, one, 0, stream, pdl::overlap, number{1}), cudaErrorNoKernelImageForDevice);
    EXPECT_IS(cudaThreadExchangeStreamCaptureMode(&mode), cudaSuccess);
    EXPECT_IS(mode, cudaStreamCaptureModeThreadLocal); // this thread's mode is restored after an error, too
    EXPECT_IS(model_launch_count(), 0);
    launches(greedy_kernel, pdl::overlap, 1); // asked again: an error is not remembered
}

// An error of the first question, too: how many devices there are. It is not remembered.
void is_refused_without_devices()
{
    model_fail_next("cudaGetDeviceCount", cudaErrorInitializationError);
    EXPECT_IS(pdl::launch(plain_kernel, one, one, 0, stream, pdl::overlap, number{1}), cudaErrorInitializationError);
    EXPECT_IS(model_launch_count(), 0);
    launches(plain_kernel, pdl::overlap, 1);
}

// At first use inside every capture mode; this thread's own mode is restored.
void prepares_while_captured()
{
    const cudaStreamCaptureMode modes[] = {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed};
    cudaStream_t captured;

    EXPECT_IS(cudaStreamCreateWithFlags(&captured, cudaStreamNonBlocking), cudaSuccess);
    for (cudaStreamCaptureMode wanted : modes) {
        cudaStreamCaptureMode mode = wanted;
        cudaGraph_t graph;

        EXPECT_IS(cudaThreadExchangeStreamCaptureMode(&mode), cudaSuccess);
        EXPECT_IS(cudaStreamBeginCapture(captured, wanted), cudaSuccess);
        const unsigned exchanged = model_call_count("cudaThreadExchangeStreamCaptureMode");
        EXPECT_IS(pdl::launch(narrow_kernel, one, one, 0, captured, pdl::overlap, number{1}), cudaSuccess);
        EXPECT((model_call_count("cudaThreadExchangeStreamCaptureMode") - exchanged) % 2 == 0);
        mode = cudaStreamCaptureModeRelaxed;
        EXPECT_IS(cudaThreadExchangeStreamCaptureMode(&mode), cudaSuccess);
        EXPECT_IS(mode, wanted);
        EXPECT_IS(cudaStreamEndCapture(captured, &graph), cudaSuccess);
        EXPECT_IS(cudaGraphDestroy(graph), cudaSuccess);
    }
}

void says_why()
{
    pdl_options options = PDL_ZERO;
    pdl_refusal refusal = PDL_ZERO;

    EXPECT_IS(pdl::explain(plain_kernel, one, one, pdl::overlap, &refusal), cudaSuccess);
    EXPECT_IS(refusal.reason, PDL_REASON_NONE);
    EXPECT_IS(pdl::explain(erased_kernel, one, one, pdl::overlap, &refusal), cudaSuccess);
    EXPECT_IS(refusal.reason, PDL_REASON_TARGET);
    EXPECT_IS(refusal.argument, PDL_ARGUMENT_NONE);
    EXPECT_IS(pdl::explain(erased_kernel, one, one, pdl::overlap_required, &refusal), cudaErrorNotSupported);
    EXPECT_IS(refusal.argument, PDL_ARGUMENT_OVERLAP);
    EXPECT_IS(pdl::explain(plain_kernel, 0, one, pdl::overlap, &refusal), cudaErrorInvalidConfiguration);
    EXPECT_IS(refusal.argument, PDL_ARGUMENT_GRID);
    options.priority = 1;
    EXPECT_IS(pdl::explain(plain_kernel, one, one, options, nullptr), cudaErrorInvalidValue);
}

// Functions of another library are asked for at each launch: it could be unloaded, and its address used again.
void never_remembers_what_is_elsewhere()
{
    void *const after = malloc(1);

    for (const void *elsewhere : {static_cast<const void *>(after), static_cast<const void *>(pdl_impl_first_address - 1)}) {
        pdl_impl_remember(elsewhere, 0, PDL_IMPL_OVERLAPS);
        EXPECT_IS(pdl_impl_recall(elsewhere, 0), PDL_IMPL_UNKNOWN);
    }
    free(after);
    pdl_impl_remember(reinterpret_cast<const void *>(&asked), 1, PDL_IMPL_ORDINARY);
    EXPECT_IS(pdl_impl_recall(reinterpret_cast<const void *>(&asked), 0), PDL_IMPL_UNKNOWN);
    EXPECT_IS(pdl_impl_recall(reinterpret_cast<const void *>(&asked), 1), PDL_IMPL_ORDINARY);
    pdl_impl_remember(reinterpret_cast<const void *>(&asked), 31, PDL_IMPL_DISABLED);
    EXPECT_IS(pdl_impl_recall(reinterpret_cast<const void *>(&asked), 31), PDL_IMPL_DISABLED);
    EXPECT_IS(pdl_impl_recall(reinterpret_cast<const void *>(&asked), 30), PDL_IMPL_UNKNOWN);
    pdl_impl_remember(reinterpret_cast<const void *>(&asked), 32, PDL_IMPL_OVERLAPS); // no room for it
    EXPECT_IS(pdl_impl_recall(reinterpret_cast<const void *>(&asked), 32), PDL_IMPL_UNKNOWN);
    EXPECT_IS(pdl_impl_recall(reinterpret_cast<const void *>(&asked), 0), PDL_IMPL_UNKNOWN);
    pdl_impl_remember(reinterpret_cast<const void *>(&asked), 0, PDL_IMPL_OVERLAPS);
    EXPECT_IS(pdl_impl_recall(reinterpret_cast<const void *>(&asked), 32), PDL_IMPL_UNKNOWN);
}

// Functions with the same first place in the table get the next ones. This runs first: other functions may take these places, as the
// linker lays them out.
void finds_places_for_neighbours()
{
    for (unsigned i = 0; i < 4; i++) {
        pdl_impl_remember(pdl_impl_first_address + 1 + i, 0, PDL_IMPL_ORDINARY);
    }
    for (unsigned i = 0; i < 4; i++) {
        EXPECT_IS(pdl_impl_recall(pdl_impl_first_address + 1 + i, 0), PDL_IMPL_ORDINARY);
    }
}

// A table that is full forgets nothing and mixes nothing up.
void survives_a_full_table()
{
    const char *const functions = pdl_impl_first_address + 1; // odd addresses of this program: no function begins there
    const unsigned count = 2000;

    for (unsigned i = 0; i < count; i++) {
        pdl_impl_remember(&functions[16 * i], 0, i % 3 + 1);
    }
    unsigned known = 0;
    for (unsigned i = 0; i < count; i++) {
        const unsigned answer = pdl_impl_recall(&functions[16 * i], 0);

        known += answer != PDL_IMPL_UNKNOWN;
        EXPECT(answer == PDL_IMPL_UNKNOWN || answer == i % 3 + 1);
    }
    EXPECT(known > PDL_IMPL_ENTRIES * 3 / 4 && known <= PDL_IMPL_ENTRIES);
    launches(plain_kernel, pdl::overlap, 1);
    launches(erased_kernel, pdl::overlap, 0);
}

void works_from_two_units()
{
    launches(plain_kernel, pdl::overlap, 1);
    launch_from_other_unit(stream);
    EXPECT_IS(attributes_of_last(), 1);
}

class engine { // a launcher in a class, that forwards its kernel
public:
    explicit engine(cudaStream_t where) : stream_(where) {}
    template <typename kernel_type, typename... arguments> void run(kernel_type kernel, unsigned blocks, arguments... args)
    {
        if (pdl::launch(kernel, blocks, one, 0, stream_, pdl::overlap, args...) != cudaSuccess)
            throw std::runtime_error("launch");
    }

private:
    cudaStream_t stream_;
};

void works_in_a_generic_launcher()
{
    engine(stream).run(plain_kernel, 3, number{1});
    EXPECT_IS(last_launch()->grid[0], 3);
    EXPECT_IS(attributes_of_last(), 1);
    engine(stream).run(erased_kernel, 2, convertible{1});
    EXPECT_IS(attributes_of_last(), 0);
}

} // namespace

int main()
{
    void (*const tests[])() = {finds_places_for_neighbours, is_refused_without_devices, is_switched_off, overlaps_where_sound, asks_once,
                               converts_as_a_call, takes_options, leaves_shapes_to_cuda, replaces_the_toolkits_template,
                               is_refused_without_a_function, prepares_while_captured, says_why, never_remembers_what_is_elsewhere,
                               works_from_two_units, works_in_a_generic_launcher, survives_a_full_table};

    for (auto test : tests) {
        fresh_device();
        test();
    }
    return failed;
}
