/* What broken devices have to know of memory: the last piece of each kind. */
#include "choices.h"

#include <string.h>

static struct marked {
    uint32_t from, words;
} marked[MARKS];

void memory_unmark_all(void)
{
    memset(marked, 0, sizeof marked);
}

void memory_marks(enum mark mark, const void *p, size_t bytes)
{
    marked[mark] = (struct marked){.from = memory_word(p), .words = (uint32_t)((bytes + 7) / 8)};
}

void memory_unmarks(uint32_t from)
{
    for (unsigned i = 0; i < MARKS; i++)
        marked[i].words = marked[i].from == from ? 0 : marked[i].words;
}

bool memory_is_marked(enum mark mark, uint32_t word)
{
    return word >= marked[mark].from && word - marked[mark].from < marked[mark].words;
}
