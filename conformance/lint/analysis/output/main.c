/* Reads one image from standard input and writes what its kernels can do before they have waited. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "output/report.h"

enum { WRONG_USE = 64, NOT_WRITTEN = 74, OUTPUT_BUFFER = 1 << 18 };

static const char usage[] = "usage: analysis [--code] < description and listing\n"
                            "Writes a JSON object a line for each kernel. --code: with the kinds of its instructions, and what they write.\n";

static size_t instructions_read(void)
{
    size_t i, count = 0;

    for (i = 0; i < image.section_count; i++)
        count += image.sections[i].count;
    return count;
}

int main(int argc, char **argv)
{
    bool with_code = argc == 2 && strcmp(argv[1], "--code") == 0;
    size_t i;

    if (argc == 2 && strcmp(argv[1], "--help") == 0)
        return fputs(usage, stdout) < 0 ? NOT_WRITTEN : EXIT_SUCCESS;
    if (argc > 2 || (argc == 2 && !with_code)) {
        fputs(usage, stderr);
        return WRONG_USE;
    }
    setvbuf(stdout, NULL, _IOFBF, OUTPUT_BUFFER);
    read_image(stdin);
    for (i = 0; i < image.kernel_count; i++)
        report_kernel(stdout, &image.kernels[i], with_code);
    fprintf(stdout, "{\"instructions\":%zu,\"seconds\":%.4f}\n", instructions_read(), (double)clock() / CLOCKS_PER_SEC);
    if (fflush(stdout) || ferror(stdout)) {
        fputs("The report cannot be written.\n", stderr);
        return NOT_WRITTEN;
    }
    return EXIT_SUCCESS;
}
