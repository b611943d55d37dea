/* For broken devices that have few places for what is queued: its values, the images of nodes, arguments, or host functions. */
#include "api.h"

#include <string.h>

/* On devices where what is queued lies in one of few places until it begins: a later one gives an earlier one its value. */
static bool has_place(const struct op *op)
{
    const struct faults *f = &device.faults;
    if (op->kind == OP_KERNEL)
        return f->args_in_a_ring && op->grid->kernel->args_bytes > 4096;
    if (op->kind == OP_SET)
        return op->of_value ? f->written_in_a_ring : f->sets_in_a_ring;
    return (op->kind == OP_HOST && f->hosts_in_a_ring) || (op->kind == OP_AWAIT && f->awaited_in_a_ring) ||
           (op->kind == OP_COPY && f->copies_in_a_ring);
}

static void take_value(struct op *to, const struct op *from)
{
    if (to->kind == OP_KERNEL && to->grid->kernel == from->grid->kernel)
        memcpy(to->grid->args, from->grid->args, from->grid->kernel->args_bytes);
    else if (to->kind == OP_SET || (to->kind == OP_AWAIT && !to->await.wide))
        to->move.value = from->move.value;
    else if (to->kind == OP_HOST && to->host.call == from->host.call)
        to->host.data = from->host.data;
    else if (to->kind == OP_COPY && to->move.bytes == from->move.bytes && to->move.rows == from->move.rows)
        to->move.from = from->move.from;
}

struct place { /* serial: the device may have given the operation's memory to another one */
    struct op *op;
    uint64_t serial;
};

/* Puts the operation there. The one of its kind that lay there before it; NULL if there is none any more. */
static struct op *place_takes(struct place *p, struct op *op)
{
    struct op *before = p->op;
    bool is_there = before != NULL && before->serial == p->serial && p->serial < op->serial && before->kind == op->kind;
    p->op = op;
    p->serial = op->serial;
    return is_there ? before : NULL;
}

static void host_shares_ring(struct op *op)
{
    static struct place places[1024];
    static unsigned next;
    struct op *before = place_takes(&places[next++ % 1024], op);
    if (before != NULL && !before->done)
        take_value(before, op);
}

void op_shares_place(struct op *op)
{
    static struct place places[32];
    static unsigned next;
    if (op->kind == OP_HOST && device.faults.hosts_in_a_long_ring)
        host_shares_ring(op);
    if (!has_place(op))
        return;
    struct op *before = place_takes(&places[next++ % (op->kind == OP_KERNEL ? 8 : 32)], op);
    if (before != NULL && !(op->kind == OP_KERNEL ? before->turn : before->done))
        take_value(before, op);
}

void op_shares_image(struct op *op, const void *of, unsigned launches)
{
    static struct place places[8];
    static const void *owners[8];
    if (!device.faults.node_images_in_a_ring)
        return;
    struct op *before = place_takes(&places[launches % 8], op);
    bool is_same = owners[launches % 8] == of;
    owners[launches % 8] = of;
    if (before == NULL || before->ready || !is_same)
        return;
    before->move = op->move;
    before->host = op->host;
}

static bool has_ring(void)
{
    const struct faults *f = &device.faults;
    return f->args_ring_until_trigger || f->attributed_args_ring || f->recorder_args_ring || f->completing_args_ring || f->clustered_args_ring;
}

/* On devices where the arguments of some launches lie in one of few places until the first block has begun, or triggered */
static bool lies_in_ring(const struct op *op)
{
    const struct faults *f = &device.faults;
    return f->args_ring_until_trigger || (f->attributed_args_ring && op->attributed) || (f->recorder_args_ring && op_given(op, 7)) ||
           (f->completing_args_ring && op_given(op, 12)) || (f->clustered_args_ring && op->grid->cluster > 1);
}

static bool has_left_ring(const struct op *op)
{
    return device.faults.args_ring_until_trigger ? op->triggered_any : op->grid->next_block != 0;
}

void op_shares_ring(struct op *op)
{
    static struct place places[16];
    static unsigned next;
    if (!has_ring())
        return;
    struct op *before = place_takes(&places[next++ % 16], op);
    if (before != NULL && !before->done && lies_in_ring(before) && has_left_ring(before) &&
        before->grid->kernel->args_bytes == op->grid->kernel->args_bytes)
        memcpy(before->grid->args, op->grid->args, op->grid->kernel->args_bytes);
}
