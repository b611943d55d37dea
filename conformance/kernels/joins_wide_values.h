/* joins_wide_values.h - the pair of joins.cu with values of eight bytes: both words are written, though one of them is zero, and a graph that
 * waits for such a value waits for both. */
#ifndef JOINS_WIDE_VALUES_H_INCLUDED
#define JOINS_WIDE_VALUES_H_INCLUDED

/* After work, over words in which no bit is zero; captured in every second round. */
static cudaError_t wide_written(struct joins *joins)
{
    static const uint64_t values[] = { 1, 0x100000000ull, 0, 0x500000001ull, 0xFFFFFFFFull };
    static const uint32_t before[2] = { 0xFFFFFFFFu, 0xFFFFFFFFu };
    uint64_t value = values[joins->round / 2 % (sizeof(values) / sizeof(values[0]))];
    volatile uint32_t *seen = joins->pinned->seen[0];
    cudaStream_t stream = joins->stream[0];
    int captured = joins->round % 2 != 0;
    cudaError_t error = open_aside(joins);

    prepare(joins, 1, 0);
    seen[0] = ~(uint32_t)value;
    seen[1] = ~(uint32_t)(value >> 32);
    if (error == cudaSuccess)
        error = put_words(joins->aside, before, 2);
    if (error == cudaSuccess && captured)
        error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    if (error != cudaSuccess)
        return error;
    error = work(joins, 0, stream);
    if (error == cudaSuccess)
        error = write_wide_value(stream, joins->aside, value);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(joins->pinned->seen[0], joins->aside, sizeof(before), cudaMemcpyDeviceToHost, FOLLOWS_IN(joins, stream));
    error = captured ? ask_run_capture(stream, error) : error;
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    joins->pinned->host_is_stale = seen[0] != (uint32_t)value || seen[1] != (uint32_t)(value >> 32);
    return error;
}

static cudaError_t launch_captured_wide_wait(struct joins *joins, const struct wide_step *step, cudaStream_t stream, cudaGraphExec_t *exec)
{
    cudaError_t error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);

    if (error != cudaSuccess)
        return error;
    error = await_wide_value(stream, joins->aside + WIDE_PLACE, step->awaited, step->flags);
    if (error == cudaSuccess)
        error = follow_captured(joins, stream);
    return launch_captured(stream, error, exec);
}

/* One word is there; another stream writes the other one after its work. */
static cudaError_t captured_wide_wait(struct joins *joins)
{
    unsigned steps = WIDE_STEPS - (driver_tells(CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR) ? 0 : 1);
    const struct wide_step *step = &wide_steps[joins->round % steps];
    cudaGraphExec_t exec = NULL;
    cudaError_t error;

    joins->condition = &conditions[CONDITION_LEAST];
    error = prepare_value(joins, 1, 1);
    if (error == cudaSuccess)
        error = put_words(joins->aside + WIDE_PLACE, step->before, 2);
    if (error == cudaSuccess)
        error = some_work(joins, &joins->work[0], joins->stream[0]);
    if (error == cudaSuccess)
        error = queue_value("cuStreamWriteValue32", joins->stream[0], joins->aside + WIDE_PLACE + 1, step->written, CU_STREAM_WRITE_VALUE_DEFAULT);
    if (error == cudaSuccess)
        error = launch_captured_wide_wait(joins, step, joins->stream[1], &exec);
    return end_captured(end_wait(joins, joins->stream[1], error), exec, NULL);
}

static void ask_wide_values(struct ask *ask)
{
    static const struct join joins[] = {
        { "other words than the stream wrote as one value", wide_written },
        { "stale in a graph that waits for a value of eight bytes", captured_wide_wait },
    };
    const char *lack = values_lack(ask->stream);

    if (lack || !takes_batches(ask->stream) || !driver_tells(CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS))
        ask_unsupported(ask, lack ? lack : "values of eight bytes, or values in a graph, are not supported here");
    else
        ask_joins(ask, joins, sizeof(joins) / sizeof(joins[0]), cudaStreamNonBlocking);
}

#endif
