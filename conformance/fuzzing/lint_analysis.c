/* lint_analysis.c - lint's analysis, with any description and listing
 *
 * The analysis serves one image per process and ends with 64 at a malformed one, so each input gets a process of its own.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define main analysis_main
#include "output/main.c"
#undef main

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__asan_default_options(void);

/* What the analysis still holds at its end goes with its process. */
const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}

enum { MALFORMED_STATUS = 64, CPU_S = 60 };

static void analyse_and_end(const uint8_t *data, size_t size)
{
    const struct rlimit limit = {CPU_S, CPU_S};
    setrlimit(RLIMIT_CPU, &limit); /* an analysis that does not end is a fault, too */
    if (size == 0 || !freopen("/dev/null", "w", stdout)) {
        _exit(0);
    }
    fclose(stdin);
    stdin = fmemopen((void *)(uintptr_t)data, size, "r");
    char name[] = "analysis", *words[] = {name, NULL};
    exit(stdin ? analysis_main(1, words) : 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        analyse_and_end(data, size);
    }
    if (child > 0 && waitpid(child, &status, 0) == child
        && !(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == MALFORMED_STATUS))) {
        abort();
    }
    return 0;
}
