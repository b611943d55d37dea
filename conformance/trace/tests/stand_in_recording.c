/* stand_in_recording.c - see stand_in_recording.h. It finds the rewriter's own code, so an image that was not rewritten records nothing. */
#include "stand_in_recording.h"

#include "stubs.h"

#include <string.h>

static int is_at(const struct stub *stub, const unsigned char *code, struct record_room *room)
{
    uint64_t address = 0;
    for (unsigned i = 0; i < stub->count - 3; i++) { /* the last three hold registers that the rewriter chooses */
        struct instruction found;
        uint32_t hole = HOLE_NONE;
        memcpy(&found, code + 16 * i, sizeof found);
        for (unsigned k = 0; k < stub->hole_count; k++) {
            hole = stub->holes[k].index == i ? stub->holes[k].number : hole;
        }
        if (found.high != stub->code[i].high || (uint32_t)found.low != (uint32_t)stub->code[i].low
            || (hole == HOLE_NONE && found.low != stub->code[i].low)) {
            return 0;
        }
        uint32_t value = (uint32_t)(found.low >> 32);
        address |= hole == HOLE_RECORDS_LOW ? value : hole == HOLE_RECORDS_HIGH ? (uint64_t)value << 32 : 0;
        room->mask = hole == HOLE_RECORDS_MASK ? value : room->mask;
        room->kernel = hole == HOLE_NUMBER ? value : room->kernel;
    }
    room->address = address;
    return 1;
}

int recording_in(const unsigned char *code, size_t bytes, struct record_room *room)
{
    const struct stub *stub = all_stubs[0].kinds[STUB_RECORD];
    for (size_t at = 0; at + 16 * stub->count <= bytes; at += 16) {
        if (is_at(stub, code + at, room)) {
            return 1;
        }
    }
    return 0;
}

void record_blocks(const struct record_room *room, unsigned grid, unsigned block, const struct times *times)
{
    static uint64_t launch;
    struct warp_record *records = (struct warp_record *)(uintptr_t)room->address;
    uint64_t *begun = (uint64_t *)(void *)(records - 1);
    unsigned warps = (block + 31) / 32;
    launch++;
    for (unsigned number = 0; number < grid * warps; number++) {
        uint64_t later = 10u * (number / warps);
        const struct warp_record record = {
            times->start + later, launch, number / warps, room->kernel, grid, (number / warps) % 8 | warps << 16 | (number % warps) << 24,
            times->wait_begun ? times->wait_begun + later : 0, times->wait_ended, times->trigger ? times->trigger + later : 0,
            times->exit};
        memcpy(records + ((*begun)++ & room->mask), &record, sizeof record);
    }
}
