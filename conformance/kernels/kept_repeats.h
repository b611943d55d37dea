/* kept_repeats.h - questions of kept.cu with calls that give an executable graph what they gave it before: each is taken, whatever was given in
 * between. */
#ifndef KEPT_REPEATS_H_INCLUDED
#define KEPT_REPEATS_H_INCLUDED

enum repeat { REPEAT_PARAMS, REPEAT_GENERAL, REPEAT_OWN, REPEAT_OTHER, REPEAT_ELSEWHERE, REPEAT_NEW, REPEATS };

/* Two graphs that set the first word and the second one, and are never changed: nothing tells an update from one of them from the update before. */
struct repeated {
    struct ordered o;          /* of the first graph */
    cudaGraph_t other, child[2]; /* child: of a child graph node, that its parameters are taken from */
};

static cudaError_t open_repeated(struct repeated *r)
{
    struct ordered *o = &r->o;
    cudaGraphNode_t unused = NULL;
    unsigned word;
    cudaError_t error = make_single(o->kept, o->single, 0, &o->graph, &o->node);

    if (error == cudaSuccess)
        error = make_single(o->kept, o->single, 1, &r->other, &unused);
    for (word = 0; word < 2 && error == cudaSuccess; word++)
        error = make_set(o->kept, word, &r->child[word], &unused);
    return error == cudaSuccess ? cudaGraphInstantiate(&o->exec, o->graph, 0) : error;
}

static void close_repeated(struct repeated *r)
{
    (void)cudaGraphExecDestroy(r->o.exec);
    (void)cudaGraphDestroy(r->o.graph);
    (void)cudaGraphDestroy(r->other);
    (void)cudaGraphDestroy(r->child[0]);
    (void)cudaGraphDestroy(r->child[1]);
}

static cudaError_t give_repeated(const struct repeated *r, cudaGraphExec_t exec, unsigned word)
{
    const struct ordered *o = &r->o;

    if (o->single == SINGLE_CHILD)
        return cudaGraphExecChildGraphNodeSetParams(exec, o->node, r->child[word]);
    return word ? give_single_generally(o->kept, o->single, exec, o->node, word) : give_single(o->kept, o->single, exec, o->node, word);
}

static cudaError_t repeat_params(struct repeated *r, unsigned word)
{
    r->o.word = word;
    return give_repeated(r, r->o.exec, word);
}

static cudaError_t repeat_update(struct repeated *r, unsigned word)
{
    r->o.word = word;
    return update_from(r->o.exec, word ? r->other : r->o.graph);
}

/* Another executable graph of the first graph is given what this one is not: it is no news there alone. */
static cudaError_t repeat_elsewhere(const struct repeated *r)
{
    cudaGraphExec_t other = NULL;
    cudaError_t error = cudaGraphInstantiate(&other, r->o.graph, 0);

    if (error == cudaSuccess)
        error = give_repeated(r, other, !r->o.word);
    if (error == cudaSuccess)
        error = cudaGraphExecDestroy(other);
    return error;
}

static cudaError_t make_again(struct ordered *o)
{
    cudaError_t error = cudaGraphExecDestroy(o->exec);

    o->exec = NULL;
    o->word = 0;
    return error == cudaSuccess ? cudaGraphInstantiate(&o->exec, o->graph, 0) : error;
}

static cudaError_t call_again(struct repeated *r, enum repeat call)
{
    switch (call) {
    case REPEAT_PARAMS: return repeat_params(r, 0);
    case REPEAT_GENERAL: return repeat_params(r, 1);
    case REPEAT_OWN: return repeat_update(r, 0);
    case REPEAT_OTHER: return repeat_update(r, 1);
    case REPEAT_ELSEWHERE: return repeat_elsewhere(r);
    default: return make_again(&r->o);
    }
}

#define TRIPLES (REPEATS * REPEATS * REPEATS)

/* The call that makes the last two and it a triple that was not met yet: always the last one of those takes all triples in as many calls. */
static unsigned next_repeat(unsigned char *met, unsigned two)
{
    unsigned call = REPEATS;

    while (call-- > 1)
        if (!met[two * REPEATS + call])
            break;
    met[two * REPEATS + call] = 1;
    return call;
}

/* One call after the other, in every order of three, with a launch after each: it sets the word of the last change, which may be what the same
 * call gave before that, or what the graph had when the executable one was made. */
static void ask_repeated(struct kept *kept, unsigned single)
{
    struct repeated r = { { kept, single, 0, 0, NULL, NULL, NULL }, NULL, { NULL, NULL } };
    unsigned char met[TRIPLES] = { 0 };
    unsigned place, two = 0, wrong = 0;
    cudaError_t error = open_repeated(&r);
    char text[96];

    snprintf(text, sizeof(text), "%s that is given what it was given before", single_name(single));
    (void)words_then(kept);
    for (place = 0; place < TRIPLES && error == cudaSuccess; place++) {
        unsigned call = next_repeat(met, two);
        two = (two * REPEATS + call) % (REPEATS * REPEATS);
        error = call_again(&r, (enum repeat)call);
        if (error == cudaSuccess)
            error = cudaGraphLaunch(r.o.exec, kept->ask->stream);
        wrong += error == cudaSuccess && words_then(kept) != 1l << r.o.word;
    }
    ask_expect(kept->ask, text, error, cudaSuccess);
    ask_expect_none(kept->ask, text, wrong, place);
    close_repeated(&r);
}

#endif
