/* What copies and memsets do. */
#include "choices.h"
#include "machine.h"

#include <string.h>

/* `bytes`, a multiple of `width`, with the value of that width; what is there doubles, which takes few calls for long rows. */
static void fill(unsigned char *to, size_t bytes, const void *value, size_t width)
{
    if (bytes == 0)
        return;
    memcpy(to, value, width);
    for (size_t there = width, more; there < bytes; there += more) {
        more = there < bytes - there ? there : bytes - there;
        memcpy(to + there, to, more);
    }
}

static size_t offset_of_row(size_t layer, size_t layer_bytes, size_t row, size_t pitch)
{
    size_t offset = layer * layer_bytes + row * pitch;
    return device.faults.row_offsets_wrap ? (uint32_t)offset : offset;
}

/* So many bytes of each row. */
static void copy_layers(const struct move *m, size_t bytes)
{
    for (size_t layer = 0; layer == 0 || layer < m->layers; layer++)
        for (size_t row = 0; row < m->rows; row++)
            memmove((char *)m->to + offset_of_row(layer, m->layer, row, m->pitch),
                    (const char *)m->from + offset_of_row(layer, m->from_layer, row, m->from_pitch), bytes);
}

/* For the device long-copy-ends-with-last-part: what was left of copies, until the host has waited for something. */
static struct move left[16];
static unsigned left_count;

void moves_end(void)
{
    for (unsigned i = 0; i < left_count; i++)
        copy_layers(&left[i], left[i].bytes);
    left_count = 0;
}

void moves_reset(void)
{
    left_count = 0;
}

static void leave_first_part(struct move *m)
{
    const size_t part = (size_t)1 << 20, first = m->bytes - part;
    if (!device.faults.long_copy_ends_with_last_part || m->bytes <= part || m->rows != 1 || m->layers > 1 || m->staging != NULL || left_count == 16)
        return;
    left[left_count] = *m;
    left[left_count++].bytes = first;
    m->to = (char *)m->to + first;
    m->from = (const char *)m->from + first;
    m->bytes = part;
}

void move_memory(struct op *op)
{
    const size_t huge = (size_t)16 << 20;
    if (device.faults.child_moves_cut && (op->features & HAS(child)) && op->move.bytes > 4096)
        op->move.bytes = 4096;
    if (op->move.bytes > huge && (op->kind == OP_COPY ? device.faults.huge_copy_cut : device.faults.huge_set_cut))
        op->move.bytes = huge;
    if (device.faults.rows_in_two_bytes)
        op->move.rows &= 0xFFFF;
    if (device.faults.sixteen_layers_copied && op->move.layers > 16)
        op->move.layers = 16;
    constants_moved(op);
    if (op->kind == OP_COPY) {
        leave_first_part(&op->move);
        copy_layers(&op->move, device.faults.copy_takes_words ? op->move.bytes & ~(size_t)3 : op->move.bytes);
        staging_ends(op->move.staging);
        op->move.staging = NULL;
        return;
    }
    for (size_t row = 0; row < op->move.rows; row++)
        fill((unsigned char *)op->move.to + offset_of_row(0, 0, row, op->move.pitch), op->move.bytes, (uint32_t[2]){op->move.value, op->move.upper}, op->move.width);
}
