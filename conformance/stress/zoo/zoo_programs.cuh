/* zoo_programs.cuh - the planted bugs: which kernels, on which path, and who races with whom. Included by zoo.cu */
#include <nvrtc.h>

#define A_ ATTRIBUTE
#define FIRST S(poison, PLAIN)
#define LAYOUT "how a graph is laid out over the device's queues is the driver's choice, and one queue keeps its order"

static void add_missing_waits(void)
{
    add("missing", "B01", "no wait", GRAPH, {FIRST, S(produce, A_), S(consume, A_)}, {FIRST, S(produce, A_), S(consume_ok, A_)},
        {"produce>consume"});
    add("missing-stream", "B01", "no wait", STREAM, {FIRST, S(produce, A_), S(consume, A_)},
        {FIRST, S(produce, A_), S(consume_ok, A_)}, {"produce>consume"});
    add("missing-by-hand", "B01", "no wait after a programmatic edge", BUILT_GRAPH,
        {FIRST, S(produce, PLAIN), S(consume, A_)}, {FIRST, S(produce, PLAIN), S(consume_ok, A_)}, {"produce>consume"});
    add("compiled-out", "B02", "device half compiled out", GRAPH, {FIRST, S(produce, A_), S(gdc, A_)},
        {FIRST, S(produce, A_), S(gdc_ok, A_)}, {"produce>gdc"});
    add("new-in-chain", "B03", "new kernel without a wait in a chain", GRAPH,
        {FIRST, S(produce, A_), S(transform, A_), S(finish_b, A_)}, {FIRST, S(produce, A_), S(transform_ok, A_), S(finish_b, A_)},
        {"produce>transform"});
    add("two-sites", "B04", "two kernels without a wait", GRAPH,
        {FIRST, S(produce, A_), S(first_site, A_), S(second_site, A_)},
        {FIRST, S(produce, A_), S(first_site_ok, A_), S(second_site_ok, A_)}, {"produce>first_site", "first_site>second_site"});
    add("two-pairs", "B04", "two pairs at once", GRAPH,
        {FIRST, S(produce, A_), S(transform, A_), S(produce_c, A_), S(other_pair, A_)},
        {FIRST, S(produce, A_), S(transform_ok, A_), S(produce_c, A_), S(other_pair_ok, A_)},
        {"produce>transform", "produce_c>other_pair"});
    add("two-producers", "B06", "preprocess without a wait", GRAPH, {FIRST, S(produce, A_), S(produce_b, A_), S(join, A_)},
        {FIRST, S(produce, A_), S(produce_b, A_), S(join_ok, A_)}, {"produce_b>join"});
    add("producer-triggers", "B10", "the producer began to trigger", GRAPH, {FIRST, S(produce_early, A_), S(consume, A_)},
        {FIRST, S(produce_early, A_), S(consume_ok, A_)}, {"produce_early>consume"}, "", NOW);
    add("published", "F48", "no wait behind a trigger that follows the stores", GRAPH, {FIRST, S(produce_published, A_), S(consume, A_)},
        {FIRST, S(produce_published, A_), S(consume_ok, A_)}, {"produce_published>consume"}, "", PLACE);
    add("neighbours", "B10", "between plain launches", STREAM, {FIRST, S(read_in, PLAIN), S(transform, A_), S(finish_b, PLAIN)},
        {FIRST, S(read_in, PLAIN), S(transform_ok, A_), S(finish_b, PLAIN)}, {"read_in>transform"});
    add("old-image", "B12", "image of an older architecture", GRAPH,
        {FIRST, S(produce, A_), step{"old_image", old_image_kernel(), A_}}, {FIRST, S(produce, A_), S(consume_ok, A_)},
        {"produce>old_image"});
    add("machine-code", "B13", "a library's kernel without a wait", GRAPH,
        {FIRST, S(produce, A_), step{"bare_consume", bare_kernel(false), A_}},
        {FIRST, S(produce, A_), step{"bare_consume_ok", bare_kernel(true), A_}}, {"produce>bare_consume"});
    add("not-previous", "B41", "waits only for the previous kernel's data", GRAPH,
        {FIRST, S(produce, A_), S(unrelated, A_), S(skip_previous, A_)},
        {FIRST, S(produce, A_), S(unrelated, A_), S(skip_previous_ok, A_)}, {"produce>skip_previous"});
    add("event-edge", "F17", "programmatic event between streams", TWO_STREAMS,
        {FIRST, S(produce, A_), S(consume, EVENT_EDGE)}, {FIRST, S(produce, A_), S(consume_ok, EVENT_EDGE)}, {"produce>consume"});
    add("transitive", "B38", "the middle kernel never waits", BUILT_GRAPH,
        {FIRST, S(produce, PLAIN), S(bystander, A_), S(behind_bystander, PLAIN)},
        {FIRST, S(produce, PLAIN), S(bystander_ok, A_), S(behind_bystander, PLAIN)},
        {"produce>bystander|produce>behind_bystander+bystander"}, LAYOUT);
    add("transitive-plain", "B38", "the middle kernel never waits, nor does the last", BUILT_GRAPH,
        {FIRST, S(produce, PLAIN), S(bystander, A_), S(last_copy, PLAIN)},
        {FIRST, S(produce, PLAIN), S(bystander_ok, A_), S(last_copy, PLAIN)},
        {"produce>bystander|produce>bystander+last_copy"}, LAYOUT); /* a wait in either of the two helps */
    add("with-itself", "B22", "one kernel, launched in a row", GRAPH,
        {FIRST, S(produce, A_), S(iterate, PLAIN), S(iterate, A_ | SWAPPED), S(iterate, A_), S(iterate, A_ | SWAPPED), S(copy_a, PLAIN)},
        {FIRST, S(produce, A_), S(iterate_ok, PLAIN), S(iterate_ok, A_ | SWAPPED), S(iterate_ok, A_), S(iterate_ok, A_ | SWAPPED),
         S(copy_a, PLAIN)}, {"iterate>iterate"});
}

#define PAIR_OF(name, bug, shape, producer, kernel, way) \
    add(name, bug, shape, way, {FIRST, S(producer, A_), S(kernel, A_)}, {FIRST, S(producer, A_), S(kernel##_ok, A_)}, {#producer ">" #kernel})
#define AFTER(name, bug, shape, producer, kernel, last)                                                                   \
    add(name, bug, shape, GRAPH, {FIRST, S(producer, A_), S(kernel, A_), S(last, PLAIN)},                                  \
        {FIRST, S(producer, A_), S(kernel##_ok, A_), S(last, PLAIN)}, {#producer ">" #kernel})

static void add_late_and_partial_waits(void)
{
    PAIR_OF("index", "B05", "index read before the wait", produce_index, index_early, GRAPH);
    PAIR_OF("index-stream", "B05", "index read before the wait", produce_index, index_early, STREAM);
    PAIR_OF("sparse-path", "B07", "one path without a wait", produce, sparse_path, GRAPH);
    PAIR_OF("load-warp", "B14", "only the load warp waits", produce, load_warp, GRAPH);
    PAIR_OF("offsets", "B15", "offsets read before the wait", produce_index, offset_early, GRAPH);
    PAIR_OF("scheduler", "B16", "a constructor reads shapes", produce_scalar, constructor_shape, GRAPH);
    PAIR_OF("gamma", "B17", "a constructor reads gamma", produce_b, constructor_gamma, GRAPH);
    add("tile-scheduler", "F46", "only the load warp waits for the offsets, behind a kernel that triggers first", GRAPH,
        {FIRST, S(produce_index_early, A_), S(tile_scheduler, A_)}, {FIRST, S(produce_index_early, A_), S(tile_scheduler_ok, A_)},
        {"produce_index_early>tile_scheduler"}, "", NOW);
    PAIR_OF("merge-path", "F47", "two partition offsets read before the wait", produce_index, merge_path, GRAPH);
    PAIR_OF("bias", "B18", "a bias taken for a weight", produce_c, frozen_bias, GRAPH);
    PAIR_OF("slot", "B19", "output slot read before the wait", produce_index, slot_early, GRAPH);
    PAIR_OF("length", "B20", "length that bounds a store", produce_scalar, length_bound, GRAPH);
    PAIR_OF("prefetch", "B22", "prefetch before the wait", produce, prefetch_early, GRAPH);
    PAIR_OF("scale-warp", "B23", "the scale warp has no wait", produce, scale_warp, GRAPH);
    PAIR_OF("one-thread", "B24", "one thread waits, no barrier", produce, one_thread, GRAPH);
    PAIR_OF("early-return", "B27", "a path that leaves before the wait", produce_index, early_return, GRAPH);
    PAIR_OF("pipelined", "B30", "asynchronous copy above the wait", produce, staged_copy, GRAPH);
    add("restrict", "B28", "restrict moves the load above the wait", GRAPH,
        {FIRST, S(produce, A_), S(restrict_hoist, A_ | RESTRICT_ARGS)}, {FIRST, S(produce, A_), S(restrict_hoist_ok, A_ | RESTRICT_ARGS)},
        {"produce>restrict_hoist"});
    AFTER("ping-pong", "B34", "write after read", read_in, overwrite_input, copy_a);
    add("ping-pong-stream", "B34", "write after read", STREAM,
        {FIRST, S(read_in, A_), S(overwrite_input, A_), S(copy_a, PLAIN)},
        {FIRST, S(read_in, A_), S(overwrite_input_ok, A_), S(copy_a, PLAIN)}, {"read_in>overwrite_input"});
    PAIR_OF("one-thread-stream", "B24", "one thread waits, no barrier", produce, one_thread, STREAM);
    AFTER("store-first", "B35", "store before the wait", produce, store_first, copy_a);
    AFTER("accumulate", "B36", "adds to a buffer that is being zeroed", zero_a, accumulate, copy_a);
}

static void add_programs(void)
{
    add_missing_waits();
    add_late_and_partial_waits();
}

/* ---- kernels that arrive as PTX ------------------------------------------------------------------------------------ */

static std::string file_text(const char *path)
{
    std::string text;
    char part[4096];
    size_t n;
    FILE *file = path ? std::fopen(path, "rb") : nullptr;
    while (file && (n = std::fread(part, 1, sizeof part, file)) > 0) {
        text.append(part, n);
    }
    if (file) {
        std::fclose(file);
    }
    return text;
}

static void *nvrtc_function(const char *name)
{
    static void *library;
    const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
    for (int i = 0; !library && i < 3; i++) {
        library = dlopen(names[i], RTLD_LAZY);
    }
    return library ? dlsym(library, name) : nullptr;
}

#define NVRTC(name) decltype(&name) name##_ = (decltype(&name))nvrtc_function(#name); if (!name##_) { return ""; }

/* binary: machine code from NVRTC, which stress takes from the PTX beside it; else PTX for the driver's compiler. */
static std::string by_nvrtc(const std::string &source, bool binary)
{
    NVRTC(nvrtcCreateProgram) NVRTC(nvrtcCompileProgram) NVRTC(nvrtcGetPTXSize) NVRTC(nvrtcGetPTX)
    NVRTC(nvrtcGetCUBINSize) NVRTC(nvrtcGetCUBIN)
    nvrtcProgram compiled;
    cudaDeviceProp device;
    size_t size = 0;
    CHECK(cudaGetDeviceProperties(&device, 0));
    std::string arch = std::string(binary ? "-arch=sm_" : "-arch=compute_") + std::to_string(device.major * 10 + device.minor);
    const char *options[] = {arch.c_str()};
    if (nvrtcCreateProgram_(&compiled, source.c_str(), "zoo_loaded.cu", 0, nullptr, nullptr) != NVRTC_SUCCESS
        || nvrtcCompileProgram_(compiled, 1, options) != NVRTC_SUCCESS) {
        return "";
    }
    (binary ? nvrtcGetCUBINSize_ : nvrtcGetPTXSize_)(compiled, &size);
    std::string image(size, '\0');
    (binary ? nvrtcGetCUBIN_ : nvrtcGetPTX_)(compiled, &image[0]);
    return image;
}

static void skip(const char *name, const char *why)
{
    skipped.push_back(std::string("{\"skipped\":\"") + name + "\",\"why\":\"" + why + "\"}");
}

static void add_image(const char *name, const char *bug, const char *shape, const std::string &image)
{
    cudaLibrary_t library;
    cudaKernel_t bug_kernel, twin_kernel;
    if (image.empty()) {
        skip(name, "there is no image: NVRTC cannot be loaded or does not compile, or the file is missing");
        return;
    }
    cudaError_t e = cudaLibraryLoadData(&library, image.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0);
    e = e ? e : cudaLibraryGetKernel(&bug_kernel, library, "loaded_nowait");
    e = e ? e : cudaLibraryGetKernel(&twin_kernel, library, "loaded_ok");
    if (e) {
        skip(name, cudaGetErrorString(e));
        return;
    }
    add(name, bug, shape, GRAPH, {FIRST, S(produce, A_), step{"loaded_nowait", (const void *)bug_kernel, A_}},
        {FIRST, S(produce, A_), step{"loaded_ok", (const void *)twin_kernel, A_}}, {"produce>loaded_nowait"});
}

static void add_loaded(const char *ptx, const char *source)
{
    std::string text = file_text(source);
    add_image("gdc-ptx", "B02", "PTX handed to the driver", file_text(ptx));
    add_image("nvrtc-ptx", "B02", "PTX from NVRTC", text.empty() ? "" : by_nvrtc(text, false));
    add_image("nvrtc-code", "B02", "machine code from NVRTC", text.empty() ? "" : by_nvrtc(text, true));
}
