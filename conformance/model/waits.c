/* WAIT-01: may this thread's wait return? Most of it is about broken devices. */
#include "api.h"

static bool covered_enough(const struct op *op, const struct op *pred)
{
    if (pred->grid == NULL)
        return false;
    if (drawn_acts(EFFECT_beforeflush, op, pred))
        return pred->exited_all;
    if (device.faults.wait_at_trigger)
        return pred->triggered_all;
    if (device.faults.wait_before_flush)
        return pred->exited_all;
    if (device.faults.wait_some_blocks)
        return pred->grid->low_exited >= pred->grid->blocks / 2;
    if (device.faults.exits_not_covered) /* nor what they flush */
        return pred->triggered_all && pred->grid->exited != 0 && pred->grid->gone - pred->grid->exited >= pred->grid->triggered;
    return false;
}

bool all_threads_wait(const struct op *op)
{
    if (!op->started_all || op->grid->resident == NULL)
        return false;
    for (const struct block *b = op->grid->resident; b != NULL; b = b->next_of_grid)
        for (unsigned i = 0; i < b->threads; i++)
            if (b->thread[i].state != THREAD_WAIT && b->thread[i].state != THREAD_DONE)
                return false;
    return true;
}

/* Devices on which the late blocks of some launches do not wait */
static bool late_block_is_free(const struct op *op, unsigned block)
{
    const struct faults *f = &device.faults;
    if (block >= 16 && ((f->late_layered_blocks_free && op->grid->shape[2] > 1) ||
                        (f->late_long_args_blocks_free && has_long_args(op->grid)) ||
                        (f->late_per_thread_blocks_free && (op->features & HAS(perthread))) ||
                        (f->late_reenabled_blocks_free && (op->features & HAS(reenabled))) || (f->late_recorder_blocks_free && op_given(op, 7))))
        return true;
    return block >= 64 && ((f->late_clustered_blocks_free && op->grid->cluster > 1) || (f->late_urgent_blocks_free && op->urgent) ||
                           (f->late_sharing_blocks_free && op->grid->dynamic_shared != 0) || (f->late_domain_blocks_free && op->domain != 0));
}

/* Devices on which the late warps of some launches do not wait */
static bool late_warp_is_free(const struct op *op, unsigned thread)
{
    const struct faults *f = &device.faults;
    if (thread < MODEL_MAX_THREADS / 2)
        return false;
    return (f->late_warps_of_clusters_free && op->grid->cluster > 1) || (f->late_warps_of_cooperative_free && op->grid->cooperative) ||
           (f->late_warps_of_bodies_free && (op->features & HAS(body)));
}

/* Devices whose wait does not cover the last of a row of items that it stands behind */
bool item_uncovered(const struct stream *s)
{
    return s->items > 1 && ((device.faults.later_host_uncovered && s->tail->kind == OP_HOST) ||
                            (device.faults.later_copy_uncovered && s->tail->kind == OP_COPY));
}

/* Whether one block of each covered kernel has ended */
static bool covered_in_part(const struct op *op)
{
    for (const struct cover *c = op->covered; c != NULL; c = c->next)
        if (c->op != NULL && (c->op->grid == NULL || c->op->grid->gone == 0))
            return false;
    return true;
}

bool before_open_wait(const struct thread *thread)
{
    return thread->waits == 0 && thread->block->op->cover_open != 0;
}

/* Devices whose wait returns at once in a thread that has done this before */
static bool use_frees(const struct thread *t)
{
    const struct faults *f = &device.faults;
    return (f->fenced_wait_free && t->fences != 0) || (f->wait_after_two_triggers_free && t->triggers > 1) ||
           (f->named_wait_free && (t->used & USED_NAMED)) || (f->acquired_wait_free && (t->used & USED_ACQUIRE)) ||
           (f->released_wait_free && (t->used & USED_RELEASE)) || (f->framed_wait_free && (t->used & USED_FRAME)) ||
           (f->reduced_wait_free && (t->used & USED_WIDE)) || (f->compared_wait_free && (t->used & USED_COMPARE)) ||
           (f->constant_wait_free && (t->used & USED_CONSTANT)) || (f->large_framed_wait_free && (t->used & USED_LARGE_FRAME));
}

bool wait_may_return(const struct thread *thread)
{
    const struct faults *f = &device.faults;
    const struct op *op = thread->block->op;
    if (late_block_is_free(op, thread->block->index) || op->waits_freed || late_warp_is_free(op, thread->index))
        return true;
    if (f->later_cluster_blocks_free && op->grid->cluster > 1 && thread->block->index % op->grid->cluster != 0)
        return true;
    if (f->ninth_of_cluster_free && op->grid->cluster > 8 && thread->block->index % op->grid->cluster >= 8)
        return true;
    if (f->cooperative_waits_for_one && op->grid->cooperative && covered_in_part(op))
        return true;
    if (f->late_met_clustered_blocks_free && thread->block->index >= 16 && op->grid->cluster > 1 && thread->block->stores->epoch != 0)
        return true;
    if (f->hundredth_block_does_not_wait && thread->block->index == 100)
        return true;
    if (f->late_blocks_do_not_wait && thread->block->index >= 256)
        return true;
    if (f->second_barrier_frees_wait && thread->block->stores->epoch >= 2)
        return true;
    if (use_frees(thread) || (f->static_shared_wait_free && op->grid->kernel->static_shared_bytes != 0) || (f->grid_met_wait_free && thread->barriers != 0))
        return true;
    if ((f->ninth_of_row_free && op->row >= 8) || (f->seventeenth_of_row_free && op->row >= 16))
        return true;
    if (f->met_triggered_wait_free && thread->block->stores->epoch == 1 && thread->block->triggered)
        return true;
    if (f->late_threads_return && thread->index >= 16)
        return true;
    if (f->second_wait_hangs && thread->waits > 1)
        return false;
    if (!f->wait_needs_trigger && !f->wait_at_trigger && !f->wait_before_flush && !f->wait_some_blocks &&
        !f->exits_not_covered && device.drawn.effect != EFFECT_beforeflush)
        return op->cover_open == 0 || (f->left_threads_free && thread->block->live < thread->block->threads);
    for (const struct cover *c = op->covered; c != NULL; c = c->next)
        if (c->op != NULL && !covered_enough(op, c->op))
            return false;
    return !(f->wait_needs_trigger && op->covers_untriggered);
}
