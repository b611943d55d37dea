/* graph_check.c - pdl_graph_check with random graphs, against the rule written out as sets and against execution on the model */
#define main contract_main
#include "../headers/graph_check.c"
#undef main

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t seed = 1469598103934665603u;

    for (size_t i = 0; i < size; i++) {
        seed = (seed ^ data[i]) * 1099511628211u;
    }
    fresh_device();
    random_graphs(STYLES, seed);
    small_graphs_run(1, seed);
    if (failed) {
        abort();
    }
    return 0;
}
