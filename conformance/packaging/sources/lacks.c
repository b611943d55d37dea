/* What this toolkit lacks is refused at run time with cudaErrorNotSupported; what it has is filled in. The versions are
 * written down here a second time, from CUDA's own history, to check those in pdl.h. Needs no GPU. */
#include <pdl.h>
#include <stdio.h>

static int refused, given;

/* 0 if asking for one option gives what this toolkit must give. */
static int wrong(const char *name, const pdl_options *options, int first_version)
{
    static const char stand_in = 0;
    pdl_kernel kernel = PDL_ZERO;
    cudaLaunchAttribute attrs[PDL_MAX_ATTRIBUTES];
    unsigned count = 0;
    const cudaError_t expected = CUDART_VERSION >= first_version ? cudaSuccess : cudaErrorNotSupported;
    cudaError_t error;

    kernel.func = &stand_in;
    kernel.cc = kernel.ptx_version = 90;
    kernel.can_overlap = 1;
    error = pdl_attributes_fill(&kernel, options, attrs, PDL_MAX_ATTRIBUTES, &count);
    if (error != expected || (error == cudaSuccess && count == 0)) {
        printf("%s: error %d, not %d; %u attributes\n", name, (int)error, (int)expected, count);
        return 1;
    }
    *(error == cudaSuccess ? &given : &refused) += 1;
    return 0;
}

int main(void)
{
    static char event;
    pdl_options overlap = PDL_ZERO, domain = PDL_ZERO, carveout = PDL_ZERO, completion = PDL_ZERO;
    int failed;

    overlap.overlap = PDL_OVERLAP_REQUIRED;
    domain.mem_sync_domain = PDL_DOMAIN_REMOTE;
    carveout.carveout = 50;
    completion.overlap = PDL_OVERLAP_REQUIRED;
    completion.launch_completion_event = (cudaEvent_t)(void *)&event;
    failed = wrong("overlap", &overlap, 11080) + wrong("domain", &domain, 12000) +
             wrong("launch-completion event", &completion, 12030) + wrong("carve-out", &carveout, 12050);
    printf("%d given, %d refused\n", given, refused);
    return failed != 0;
}
