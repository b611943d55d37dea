// pdl_device.cuh in a build for the CPU: the functions exist, do nothing, and hand back the pointers that they get.
#include "pdl_device.cuh"

static float scale(float *out, const float *in, int i)
{
    pdl_trigger();
    pdl_wait();
    const float *fresh = pdl_fresh(in);
    pdl_fresh(out)[i] = 2.0f * fresh[i];
    return *pdl_wait_block(out);
}

int main()
{
    const float in[1] = {1.5f};
    float out[1] = {0.0f};

    return scale(out, in, 0) > 2.9f && pdl_fresh(out) == out && PDL_HAS_DEVICE == 0 ? 0 : 1;
}
