/* Contexts: the calls on the way to a place in the code. Each is kept once, by what it returns to and the context around it. */
#include "dataflow/dataflow.h"

static struct frame *frames; /* context 1 is frames[0] */
static size_t frame_count, frame_capacity;
static struct map frame_numbers, deeper_numbers; /* deeper: of frames of deeper turns */

void contexts_begin(void)
{
    map_clear(&frame_numbers);
    map_clear(&deeper_numbers);
    frame_count = 0;
}

struct frame *frame_of(context c)
{
    return c == 0 ? NULL : &frames[c - 1];
}

uint64_t place_key(context c, const struct section *section, uint32_t block)
{
    uint64_t key = (uint64_t)(section - image.sections) << 44 ^ (uint64_t)c << 24 ^ block;
    return key; /* 2^20 sections, 2^20 contexts and 2^24 blocks are told apart; main.c takes no larger image */
}

static context frame_among(struct map *numbers, context outer, struct section *section, uint32_t block)
{
    uint32_t number;
    if (map_get(numbers, place_key(outer, section, block), &number))
        return number;
    frames = grown(frames, &frame_capacity, frame_count + 1, sizeof *frames);
    struct frame *frame = &frames[frame_count++];
    *frame = (struct frame){.outer = outer, .section = section, .block = block, .depth = 1, .deeper = numbers == &deeper_numbers};
    if (outer != 0)
        frame->depth += frame_of(outer)->depth;
    map_put(numbers, place_key(outer, section, block), (uint32_t)frame_count);
    return (context)frame_count;
}

context context_in(context outer, struct section *section, uint32_t block)
{
    return frame_among(&frame_numbers, outer, section, block);
}

bool is_called_again(context c)
{
    while (c != 0 && !frame_of(c)->deeper && !frame_of(c)->section->blocks[frame_of(c)->block].in_loop)
        c = frame_of(c)->outer;
    return c != 0;
}

context context_with(context c, const struct section *section, uint32_t block)
{
    while (c != 0 && !(frame_of(c)->section == section && frame_of(c)->block == block))
        c = frame_of(c)->outer;
    return c;
}

context deeper_turn(context c, struct section *section, uint32_t block)
{
    context first = context_with(c, section, block);
    if (first != 0 && frame_of(first)->deeper)
        return first;
    return frame_among(&deeper_numbers, first ? first : c, section, block);
}
