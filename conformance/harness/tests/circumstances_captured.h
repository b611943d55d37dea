/* circumstances_captured.h - for circumstances_test.c: questions that capture, in each circumstance. */
#ifndef CIRCUMSTANCES_CAPTURED_H
#define CIRCUMSTANCES_CAPTURED_H

#include "check.h"
#include "circumstances_asker.h"

static void test_given(void)
{
    cudaGraph_t own = NULL;

    begin(GIVEN);
    thread_mode = cudaStreamCaptureModeThreadLocal;
    check(begin_capture() == cudaSuccess, "a capture into a graph");
    check(called("create g2 0; mode 2; exec x1 g2 0; clone g3 g2; mode 1; begin s1 g2 1; "), "that is executable and has a clone");
    check(around_end_capture(stream, &own) == cudaSuccess && number_of(GRAPH, own) == 2 && called("finish s1; "), "which the asker gets");
    give_back(GRAPH, own);
    thread_mode = cudaStreamCaptureModeGlobal;
    end();
    check(called("end; gone x1; gone g3; ") && is_left(1, 0, 2, 1), "what was made of it is given back");
    begin(GIVEN);
    fail_in("create", 1, 1);
    check(begin_capture() == cudaErrorUnknown && called("create fails; "), "without a graph there is none");
    fail_in("begin", 1, 1);
    check(begin_capture() == cudaErrorUnknown, "nor when it is refused");
    end();
    check(is_left(1, 0, 2, 1), "its graph goes then");
}

static void test_beside(void)
{
    begin(BESIDE);
    check(begin_capture() == cudaSuccess && called("mode 2; stream s3 1; begin s3 2; mode 0; begin s1 1; "), "another capture that began before");
    check(around_begin_capture(side, cudaStreamCaptureModeRelaxed) == cudaSuccess && called("begin s2 2; mode 2; mode 0; "), "is one beside two");
    check(finish(stream) == cudaSuccess && called("finish s1; "), "it goes on as long as one of them");
    check(finish(side) == cudaSuccess && called("finish s2; finish s3; gone g4; "), "and ends after them");
    check(begin_capture() == cudaSuccess && called("mode 2; begin s3 2; mode 0; begin s1 1; ") && finish(stream) == cudaSuccess,
          "the next one as well");
    forget_calls();
    check(begin_capture() == cudaSuccess && called("begin s1 1; mode 2; begin s3 2; mode 0; "), "or after it");
    check(begin_capture() == cudaErrorIllegalState && called("mode 2; mode 0; begin s1 1; ") && last_error == cudaErrorIllegalState,
          "a refused one is told");
    check(finish(stream) == cudaSuccess && called("finish s1; finish s3; gone g8; "), "and has no other one");
    fail_in("begin", 1, 1);
    check(begin_capture() == cudaErrorUnknown && called("begin fails; "), "whichever was to be the first");
    end();
    check(called("end; gone s3; ") && is_left(1, 0, 2, 1), "the other stream goes");
    begin(BESIDE);
    fail_in("begin", 2, 1);
    check(begin_capture() == cudaErrorUnknown && called("mode 2; stream s3 1; begin s3 2; mode 0; begin fails; finish s3; gone g2; "),
          "a refused first one");
    check(begin_capture() == cudaSuccess && around_begin_capture(side, cudaStreamCaptureModeGlobal) == cudaSuccess, "two left open");
    captures_of[1] = captures_of[2] = 0;
    end();
    check(called("finish s3; gone g3; end; gone s3; ") && is_left(1, 0, 2, 1), "the other one is ended in the end");
}

/* What stands beside a capture has its end after it; its own failure is not seen. */
static void test_refused_ends(cudaError_t refused)
{
    begin(BESIDE);
    (void)begin_capture();
    end_refused = refused;
    forget_calls();
    check(finish(stream) == refused && called("finish s1; ") && last_error == refused, "the other one goes on if the end was refused");
    end_refused = cudaSuccess;
    last_error = cudaSuccess;
    check(finish(stream) == cudaSuccess && called("finish s1; finish s3; gone g3; "), "and ends with the end");
    begin(JOINED);
    (void)begin_capture();
    end_refused = refused;
    check(finish(stream) == refused && last_error == refused, "so does one that began in another stream");
    end_refused = cudaSuccess;
    forget_calls();
    check(finish(stream) == cudaSuccess && called("record e2 s1; wait s3 e2 0; finish s3; "), "which ends there");
}

static void test_spoiled_other(void)
{
    begin(BESIDE);
    (void)begin_capture();
    fail_in("finish", 2, 1);
    check(finish(stream) == cudaSuccess && last_error == cudaSuccess, "that the other one was spoiled is not seen");
    begin(BESIDE);
    (void)begin_capture();
    end_refused = cudaErrorStreamCaptureInvalidated;
    forget_calls();
    check(finish(stream) == end_refused && called("finish s1; finish s3; ") && last_error == end_refused, "that the asker's was spoiled is");
}

static int lane_joins(void) { return captures_of[1] == 3 && captures_of[3] == 3; }

static void test_joined(void)
{
    cudaStream_t more[4];
    cudaGraph_t own = NULL;
    unsigned i;

    begin(JOINED);
    check(begin_capture() == cudaSuccess && called("mode 2; stream s3 1; event e2 2; mode 0; begin s3 1; record e2 s3; wait s1 e2 0; ") &&
          lane_joins(),
          "a capture that began in another stream");
    check(begin_capture() == cudaErrorIllegalState && called("begin s1 1; ") && last_error == cudaErrorIllegalState,
          "of a stream that captures none");
    (void)cudaGetLastError();
    check(around_begin_capture(side, cudaStreamCaptureModeRelaxed) == cudaSuccess, "a second one");
    check(called("mode 2; stream s4 1; event e3 2; mode 0; begin s4 2; record e3 s4; wait s2 e3 0; "), "has a stream of its own");
    check(around_end_capture(stream, &own) == cudaSuccess && number_of(GRAPH, own) == 2 && called("record e2 s1; wait s3 e2 0; finish s3; "),
          "ends there");
    give_back(GRAPH, own);
    check(captures_of[1] == 0 && captures_of[2] == 4, "and not the other one");
    check(begin_capture() == cudaSuccess && called("mode 2; mode 0; begin s3 1; record e2 s3; wait s1 e2 0; "), "what was made serves again");
    for (i = 0; i < 4; i++)
        more[i] = make(STREAM);
    for (i = 0; i < 3; i++)
        check(around_begin_capture(more[i], cudaStreamCaptureModeGlobal) == cudaSuccess, "more of them");
    check(strstr(calls_made, "begin s7 0; ") && captures_of[7] == 7 && captures_of[6] == 10, "the fifth one begins in the asker's stream");
    check(finish(more[2]) == cudaSuccess && finish(more[1]) == cudaSuccess, "they end");
    captures_of[1] = 3;
    end();
    for (i = 0; i < 4; i++)
        give_back(STREAM, more[i]);
    check(is_left(1, 0, 2, 1), "those that were left open as well");
}

static void test_not_joined(void)
{
    static const cudaStream_t defaults[] = { NULL, cudaStreamLegacy, cudaStreamPerThread };
    static const char *const begins[] = { "begin s0 1; ", "begin s4001 1; ", "begin s4002 1; " };
    unsigned i;

    for (i = 0; i < 3; i++) {
        begin(JOINED);
        (void)around_begin_capture(defaults[i], cudaStreamCaptureModeThreadLocal);
        check(called(begins[i]), "what is there without being made joins none");
        (void)around_end_capture(NULL, &graph);
        check(called("finish s0; "), "nor does its end");
    }
    begin(JOINED);
    fail_in("begin", 1, 1);
    check(begin_capture() == cudaErrorUnknown && finish(stream) == cudaErrorIllegalState, "a refused capture joins none");
    failing = NULL;
    check(begin_capture() == cudaSuccess && lane_joins(), "and the next one has its place");
    check(finish(stream) == cudaSuccess, "which ends");
    for (i = 0; i < 2; i++) {
        (void)cudaGetLastError();
        forget_calls();
        fail_in(i ? "wait" : "record", 1, 1);
        check(begin_capture() == cudaErrorUnknown && !some_capture(), "what cannot be joined has ended");
        failing = NULL;
        check(strstr(calls_made, "finish s3; gone g") != NULL, "and its graph is gone");
        check(begin_capture() == cudaSuccess && lane_joins() && finish(stream) == cudaSuccess, "its place is free");
    }
    fail_in("record", 1, 1);
    end_refused = cudaErrorStreamCaptureUnjoined;
    check(begin_capture() == cudaErrorUnknown && misused == 0, "nor is there a graph if its end gave none");
    end_refused = cudaSuccess;
    is_over(3);
    check(begin_capture() == cudaSuccess, "a capture whose way back fails");
    fail_in("record", 1, 1);
    check(finish(stream) == cudaSuccess && last_error == cudaSuccess, "gives what its end gives");
    end();
    check(is_left(1, 0, 2, 1), "all is given back");
}

#endif
