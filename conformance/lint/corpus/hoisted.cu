/* Loads that the compiler moves above a wait, because a restrict pointer to const lets it use the read-only path. In the field:
 * lmdeploy's gated delta rule (conformance/results/field). Without optimisation nothing moves, and the way with no turn at all,
 * which never waits, is the defect that is left. */
#include "corpus.h"

BUG(restricted_flag_in_first_turn, "read-before-wait|path-without-wait")
(const bool *__restrict__ fallback, const float *a, float *o, int segments)
{
    float sum = 0.0f;
    for (int turn = 0; turn < segments; ++turn) {
        if (turn == 0) {
            pdl_wait();
        }
        if (fallback[blockIdx.x]) {
            sum += *(const volatile float *)(a + turn);
        }
    }
    o[threadIdx.x] = sum;
}

OK(restricted_flag_in_first_turn)(const bool *fallback, const float *a, float *o, int segments)
{
    float sum = 0.0f;
    for (int turn = 0; turn < segments; ++turn) {
        if (turn == 0) {
            pdl_wait();
        }
        if (*(const volatile bool *)(fallback + blockIdx.x)) {
            sum += *(const volatile float *)(a + turn);
        }
    }
    if (segments <= 0) {
        pdl_wait();
    }
    o[threadIdx.x] = sum;
}
