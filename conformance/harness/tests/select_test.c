/* select_test.c - which GPU the harness of a GPU takes for which name. */
#include <stdio.h>

#include "check.h"
#include "model_select.h"

static int taken(const char *name)
{
    int ordinal = -1, is_model = 1;

    return model_select(name, 1, &ordinal, &is_model) && !is_model ? ordinal : -1;
}

int main(void)
{
    check(taken("cuda") == 0 && taken("cuda:0") == 0 && taken("cuda:1") == 1 && taken("cuda:13") == 13, "a number is the GPU's");
    check(taken("cuda:") < 0 && taken("cuda:x") < 0 && taken("cuda:1x") < 0 && taken("cuda:-1") < 0 && taken("model") < 0 && taken("") < 0,
          "what names no GPU is refused");
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
