/* program_drawn.h - the part of program_test.c about what is drawn: which steps watch and read which others, which ways are taken, and what is done to
 * graphs, in which streams and threads. */
#ifndef PROGRAM_DRAWN_H_INCLUDED
#define PROGRAM_DRAWN_H_INCLUDED

/* ---- what a kernel watches ---- */

/* 0 leads to all others: to 1 by its first trigger, to 2 by a full edge and so on; 4 is no step that leaves words on the device. */
static void test_watches(void)
{
    static const unsigned watched[PROGRAM_WATCHES] = { 2, 3, 5, 6 };
    struct dice dice = { 5 };
    unsigned i, right = 0;

    memset(&program, 0, sizeof(program));
    program.steps = 9;
    program.links = program.steps - 1;
    for (i = 1; i < program.steps; i++) {
        program.link[i - 1].to = i;
        program.link[i - 1].kind = i == 1 || i == 6 ? LINK_TRIGGER : LINK_FULL;
    }
    program.step[0].flags = STEP_TRIGGERS_FIRST;
    program.step[3].kind = STEP_SET;
    program.step[4].kind = STEP_EMPTY;
    program.step[5].kind = STEP_COPY;
    program_entitle(&program, &dice);
    check(program.step[0].watches == PROGRAM_WATCHES && program.step[0].watch[0] == 2 && program.step[0].watch[1] == 3 &&
              program.step[0].watch[2] == 5 && program.step[0].watch[3] == 7, "a kernel watches all that comes after its end, as far as there is room");
    program.step[0].flags = STEP_TRIGGERS_LATE;
    program.link[0].kind = LINK_START;
    program_entitle(&program, &dice);
    for (i = 0; i < program.step[0].watches; i++)
        right += program.step[0].watch[i] == watched[i];
    check(right == PROGRAM_WATCHES, "and what comes after its trigger, if that is late");
}

/* Kernels, each after the one before. */
static void open_row(unsigned steps)
{
    unsigned i;

    memset(&program, 0, sizeof(program));
    program.steps = steps;
    program.links = steps - 1;
    for (i = 1; i < steps; i++) {
        program.link[i - 1].from = i - 1;
        program.link[i - 1].to = i;
        program.link[i - 1].kind = LINK_FULL;
    }
}

/* Of a row of kernels the last one may read all, and directly after it comes one. */
static void test_reads(void)
{
    uint64_t read = 0;
    unsigned i, r;

    open_row(6);
    for (i = 0; i < 20; i++) {
        struct dice dice = { i };
        program_entitle(&program, &dice);
        check(program.step[5].read[0] == 4, "a step reads what comes directly before it");
        for (r = 0; r < program.step[5].reads; r++)
            read |= (uint64_t)1 << program.step[5].read[r];
    }
    check(read == 31, "and now and then any that came before that");
}

/* After a row of kernels come an empty node and a kernel: that one reads the last kernel of the row first of all, which watches it. */
static void test_through(void)
{
    unsigned i, read_first = 0;

    open_row(20);
    program.step[18].kind = STEP_EMPTY;
    for (i = 0; i < 20; i++) {
        struct dice dice = { i };
        program_entitle(&program, &dice);
        read_first += program.step[19].reads != 0 && program.step[19].read[0] == 17;
    }
    check(read_first == 20, "a step reads what comes before it through one that moves nothing");
    check(program.step[17].watches == 1 && program.step[17].watch[0] == 19, "and a kernel watches what comes after it so");
}

/* ---- which ways are taken ---- */

/* Of so many programs, each made in one way. */
static unsigned taken(enum program_subject subject, unsigned programs, unsigned make, unsigned exec)
{
    unsigned number, n = 0;

    for (number = 0; number < programs; number++) {
        struct way way = way_of(subject, number, 0);
        check(way.stream == (subject == PROGRAM_STREAMS), "streams are made by their own ways");
        n += way.make == make && way.exec == exec;
    }
    return n;
}

static void test_all_ways(void)
{
    unsigned make, exec, ways = 0;

    for (make = 0; make < WAY_ONE_CALL; make++)
        for (exec = 0; exec < EXEC_WAYS; exec++)
            ways += (taken(PROGRAM_GRAPHS, WAY_ONE_CALL * EXEC_WAYS, make, exec) != 0) == (exec != EXEC_UPLOADED);
    check(ways == WAY_ONE_CALL * EXEC_WAYS, "every way to make a graph meets every way to make it executable, but that of uploads");
    for (make = ways = 0; make < STREAM_WAYS; make++)
        ways += taken(PROGRAM_STREAMS, STREAM_WAYS * EXEC_WAYS, make, EXEC_PLAIN) != 0;
    check(ways == STREAM_WAYS, "every kind of stream and of capture is taken");
    for (exec = ways = 0; exec < EXEC_WAYS; exec++)
        ways += (taken(PROGRAM_STREAMS, STREAM_WAYS * EXEC_WAYS, WAY_CAPTURED_TO_GRAPH, exec) != 0) == (exec != EXEC_UPLOADED);
    check(ways == EXEC_WAYS, "and so is every executable graph of a capture whose nodes are known");
    for (make = ways = 0; make < GRAPH_WAYS; make++)
        ways += (taken(PROGRAM_TOGETHER, EXEC_WAYS * WAY_ONE_CALL, make, EXEC_AGAIN) != 0) == (make == WAY_ONE_CALL);
    check(ways == GRAPH_WAYS, "all edges in one call are asked apart, and always");
    for (exec = ways = 0; exec < EXEC_WAYS; exec++)
        ways += (taken(PROGRAM_UPLOADED, 3, 0, exec) + taken(PROGRAM_UPLOADED, 3, 1, exec) + taken(PROGRAM_UPLOADED, 3, 2, exec) != 0) ==
                (exec == EXEC_BY_NODE || exec == EXEC_REENABLED || exec == EXEC_UPLOADED);
    check(ways == EXEC_WAYS, "what is uploaded is changed node by node, or has had its nodes left out, or is nothing else");
    check(taken(PROGRAM_DESTROYED, WAY_ONE_CALL, 0, EXEC_SECOND) == 1, "what is destroyed while it runs is one of several of its graph");
}

/* ---- what is drawn of everything ---- */

#define DRAWN 1000u

/* Nearly all steps after one, or before one. */
static int is_fan(const struct program *p)
{
    unsigned l, out = 0, in = 0;

    for (l = 0; l < p->links; l++) {
        out += p->link[l].from == 0;
        in += p->link[l].to == p->steps - 1;
    }
    return p->steps >= PROGRAM_STEPS / 2 && (out == p->steps - 1 || in == p->steps - 1);
}

/* Most of its steps are kernels that overlap what comes before them, and wait for none of it. */
static int is_loose(const struct program *p)
{
    unsigned i, loose = 0;

    for (i = 0; i < p->steps; i++)
        loose += p->step[i].kind == STEP_KERNEL && p->step[i].attribute &&
                 (p->step[i].flags & (STEP_TRIGGERS_FIRST | STEP_WAITS)) == STEP_TRIGGERS_FIRST;
    return p->steps > 3 && loose * 2 > p->steps;
}

static void test_drawn(void)
{
    static struct program p;
    struct program_size size = PDL_ZERO;
    unsigned number, fans[2] = { 0 }, loose[2] = { 0 }, legacy[2] = { 0 }, kinds[STEP_KINDS] = { 0 }, i;

    size.threads = 64;
    size.blocks = size.many_blocks = 4;
    size.clusters = 1;
    size.hold_ns = 100;
    for (number = 0; number < 2 * DRAWN; number++) {
        struct dice dice = { number };
        size.programmatic = number % 2;
        program_draw_graph(&p, &dice, &size, number / 2);
        fans[number % 2] += is_fan(&p);
        loose[number % 2] += is_loose(&p);
        for (i = 0; i < p.steps; i++)
            kinds[p.step[i].kind]++;
        program_draw_stream(&p, &dice, &size, number / 2);
        legacy[number % 2] += p.legacy;
    }
    check(fans[0] > DRAWN / 64 && fans[1] == 0, "fans are drawn, but not where all edges are to be programmatic");
    check(loose[0] > DRAWN / 16 && loose[1] < loose[0] / 4, "so are programs of kernels that wait for nothing");
    for (i = 0; i < STEP_KINDS; i++)
        check(kinds[i] * 2 > kinds[STEP_RECORD] && kinds[i] * 2 > kinds[STEP_EMPTY],
              "steps of each kind are drawn, no kind much less often than those that move nothing");
    check(legacy[0] > DRAWN / 12 && legacy[1] == 0, "and programs of which a part is in the legacy stream");
}

static void test_any_stream(void)
{
    static char streams[3];
    struct program_room room = PDL_ZERO;
    struct dice dice = { 1 };
    unsigned i, met = 0;

    room.stream = (cudaStream_t)(void *)&streams[0];
    room.blocking = (cudaStream_t)(void *)&streams[1];
    room.urgent = (cudaStream_t)(void *)&streams[2];
    for (i = 0; i < 100; i++) {
        cudaStream_t stream = any_stream(&room, &dice);
        met |= stream == room.stream ? 1 : stream == room.blocking ? 2 : stream == room.urgent ? 4 : stream == cudaStreamPerThread ? 8 :
               stream == cudaStreamLegacy ? 16 : 32;
    }
    check(met == 31, "a graph is launched in a stream of any kind");
}

/* How many of 32 executable graphs are destroyed while they run for the last time. */
static unsigned destroyed(int destroys, enum exec_way way, int bodies)
{
    unsigned i, gone = 0;
    cudaGraph_t graph;

    open_program(0);
    told_room.destroys = destroys;
    whole.bodies = (uint64_t)bodies;
    check(cudaGraphCreate(&graph, 0) == cudaSuccess, "there is a graph");
    for (i = 0; i < 32; i++) {
        cudaGraphExec_t exec = NULL;
        check(cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess, "and an executable one of it");
        check(interfere(&whole, &exec, way, 1) == cudaSuccess, "what is done to it is taken");
        gone += !exec;
        if (exec)
            (void)cudaGraphExecDestroy(exec);
    }
    told_room.destroys = 0;
    (void)cudaGraphDestroy(graph);
    return gone;
}

static void test_interference(void)
{
    unsigned some = destroyed(0, EXEC_PLAIN, 0);

    check(some > 4 && some < 28, "now and then an executable graph is destroyed while it runs");
    check(destroyed(1, EXEC_PLAIN, 0) == 32 && destroyed(1, EXEC_SECOND, 0) == 32, "where that is asked, always");
    check(destroyed(0, EXEC_SECOND, 0) == 0 && destroyed(1, EXEC_PLAIN, 1) == 0, "and where it may end the process, never");
}

static unsigned uploads;
static cudaGraphExec_t uploaded;
static cudaStream_t uploaded_in;
cudaError_t __wrap_program_upload(const struct made *of, cudaGraphExec_t exec, cudaStream_t stream, struct dice *dice);
cudaError_t __wrap_program_upload(const struct made *of, cudaGraphExec_t exec, cudaStream_t stream, struct dice *dice)
{
    (void)of, (void)dice;
    uploads++;
    uploaded = exec;
    uploaded_in = stream;
    return cudaSuccess;
}

cudaError_t __wrap_program_launch_earlier(const struct made *of, cudaGraphExec_t exec);
cudaError_t __wrap_program_launch_earlier(const struct made *of, cudaGraphExec_t exec)
{
    (void)of, (void)exec;
    return cudaSuccess;
}

cudaError_t __wrap_program_change_nothing(const struct made *of, cudaStream_t stream, struct dice *dice);
cudaError_t __wrap_program_change_nothing(const struct made *of, cudaStream_t stream, struct dice *dice)
{
    (void)of, (void)stream, (void)dice;
    return cudaSuccess;
}

/* While an earlier launch runs, the graph is uploaded again, where uploads are asked. */
static void test_uploads(void)
{
    cudaGraphExec_t exec = (cudaGraphExec_t)(void *)&uploads;
    cudaStream_t stream = (cudaStream_t)(void *)&uploaded;

    open_program(0);
    whole.bodies = 1; /* no second executable graph */
    uploads = 0;
    check(launch_earlier(&whole, exec, EXEC_PLAIN, 1, stream) == cudaSuccess && uploads == 0, "a graph that is launched twice needs no upload");
    told_room.uploads = 1;
    check(launch_earlier(&whole, exec, EXEC_PLAIN, 1, stream) == cudaSuccess && uploads == 1 && uploaded == exec && uploaded_in == stream,
          "but has one between the launches where that is asked");
    told_room.uploads = 0;
}

static struct program_room asked_room;

/* How often programs were made of two. */
static unsigned tries(enum program_subject subject)
{
    struct program_room *room = &asked_room;
    struct program_ask how = PDL_ZERO;
    struct ask ask;

    begin_try();
    memset(&ask, 0, sizeof(ask));
    ask.trials = 1;
    how.subject = subject;
    calls.declines = drawn = 1;
    calls.make = cudaErrorNotSupported;
    unmade = 0;
    size_room(room);
    ask_programs(&ask, room, &how);
    drawn = 0;
    return unmade;
}

static void test_tries(void)
{
    check(tries(PROGRAM_GRAPHS) == 6, "a program is made in three ways");
    check(tries(PROGRAM_DESTROYED) == 2 && tries(PROGRAM_UPLOADED) == 2 && tries(PROGRAM_TOGETHER) == 2, "or in one, where one thing is asked");
    (void)tries(PROGRAM_UPLOADED);
    check(asked_room.uploads && !asked_room.destroys, "uploads are asked apart");
    (void)tries(PROGRAM_DESTROYED);
    check(asked_room.destroys && !asked_room.uploads, "and so are ends while a graph runs");
}

static pthread_t ran_in;
static void tell_thread(void *of)
{
    (void)of;
    ran_in = pthread_self();
}

/* How many of 480 parts for this stream another thread did. */
static unsigned elsewhere(cudaStream_t stream)
{
    struct part part = PDL_ZERO;
    unsigned i, others = 0;

    begin_try();
    part.made = &whole;
    part.stream = stream;
    for (i = 0; i < 480; i++) {
        (void)by_any_thread(&part, tell_thread);
        others += !pthread_equal(ran_in, pthread_self());
    }
    return others;
}

static void test_threads(void)
{
    unsigned others = elsewhere(NULL);

    check(others > 4 && others < 60, "now and then another thread makes a graph executable, or launches it");
    check(elsewhere(cudaStreamPerThread) == 0, "but not in the stream of this one");
}

#endif
