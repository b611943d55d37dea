/* What broken devices make of changes of executable graphs that come at an odd time, as many before one launch or while a node is disabled. */
#include "api.h"

/* ---- many before one launch ---- */

bool copied_in_part(const struct arc *a)
{
    return device.faults.child_beyond_1024_lets_go && a->to->index >= 1024 && graph_is_inside(a->to->graph, cudaGraphNodeTypeGraph);
}

bool change_is_lost(struct graph_exec *e, enum change change)
{
    const struct faults *f = &device.faults;
    const unsigned before = e->changed[change]++;
    switch (change) {
    case CHANGE_PARAMS: return (f->params_beyond_64_lost && before >= 64) || (f->params_beyond_1024_lost && before >= 1024);
    case CHANGE_GENERAL: return f->general_beyond_1024_lost && before >= 1024;
    default: return f->disabled_beyond_64_run && before >= 64;
    }
}

/* ---- while a node is disabled ---- */

void arcs_lose(struct graph *g, const struct node *n)
{
    for (size_t i = 0; i < g->arcs; i++) {
        struct arc *a = &g->arc[i];
        a->lost_cover |= (a->from->disabled && (n == NULL || a->from == n)) || (a->to->disabled && (n == NULL || a->to == n));
    }
}

void arcs_keep_lost(struct graph *copy, const struct graph *old)
{
    for (size_t i = 0; i < copy->arcs; i++) {
        bool out = device.faults.update_while_out_uncovers && (old->arc[i].from->disabled || old->arc[i].to->disabled);
        copy->arc[i].lost_cover = old->arc[i].lost_cover || out;
    }
}
