/* What broken devices make of changes of executable graphs that come at an odd time: many before one launch, while a node is disabled, while an
 * upload waits behind work of its stream; and of changes that reach other graphs than the one they were made for. */
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
    case CHANGE_SET: return f->sets_beyond_64_lost && before >= 64;
    case CHANGE_COPY: return f->copies_beyond_64_lost && before >= 64;
    case CHANGE_HOST: return f->hosts_beyond_64_lost && before >= 64;
    case CHANGE_CHILD: return f->children_beyond_64_lost && before >= 64;
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

/* ---- while an upload waits ---- */

void upload_waits(struct graph_exec *e, const struct stream *s)
{
    if (!(device.faults.pending_upload_puts_back || device.faults.pending_upload_launched) || s->tail == NULL || s->tail->retired)
        return;
    if (e->as_uploaded != NULL)
        graph_delete(e->as_uploaded);
    e->as_uploaded = graph_copy(e->copy);
    e->upload_behind = s->tail;
    e->upload_in = s;
    e->launched_past_upload = false;
}

static void put_back(struct graph *g, const struct graph *was)
{
    for (size_t i = 0; i < g->nodes && g->nodes == was->nodes && g->node[i]->type == was->node[i]->type; i++) {
        g->node[i]->move = was->node[i]->move;
        g->node[i]->host = was->node[i]->host;
        if (g->node[i]->kernel != NULL)
            request_copy(g->node[i]->kernel, was->node[i]->kernel);
        for (unsigned c = 0; c < g->node[i]->children; c++)
            put_back(g->node[i]->child[c], was->node[i]->child[c]);
    }
}

void upload_ends(struct graph_exec *e, const struct stream *launched)
{
    if (e->upload_behind == NULL)
        return;
    bool ended = e->upload_behind->retired, other = launched != NULL && launched != e->upload_in;
    e->launched_past_upload |= other && !ended;
    if ((ended && e->launched_past_upload && device.faults.pending_upload_puts_back) || (!ended && other && device.faults.pending_upload_launched))
        put_back(e->copy, e->as_uploaded);
    if (!ended)
        return;
    graph_delete(e->as_uploaded);
    e->as_uploaded = NULL;
    e->upload_behind = NULL;
}

/* ---- for another graph ---- */

void kinds_reach(struct graph *other, const struct graph *g)
{
    for (size_t i = 0; other != g && other->arcs == g->arcs && i < g->arcs; i++)
        other->arc[i].data = g->arc[i].data;
}
