/* crossed_drawn.h - what a trial of crossed_graphs.cu consists of, drawn from the seed and the trial's number, and what is said of it. */
#ifndef CROSSED_DRAWN_H_INCLUDED
#define CROSSED_DRAWN_H_INCLUDED

#define PARTS 24u              /* nodes of a trial that are on the way of the words, those with nodes inside included */
#define CELLS (PARTS + 2u)
#define CELL 16u               /* words of one */
#define CELL_BYTES (CELL * sizeof(uint32_t))
#define NOWHERE PARTS          /* the parent of what lies in no other node; the place of what there is not */
#define LEVELS 4u              /* how deep a node may lie, the outermost ones included */

enum part_kind {
    PART_KERNEL, PART_MANY, PART_CLUSTER, PART_COOPERATIVE, PART_SET, PART_SET_HALVES, PART_SET_ROWS, PART_COPY, PART_COPY_ROWS, PART_EMPTY,
    PART_HOST, PART_RECORD, PART_WAIT, PART_LEAVES, PART_CHILD = PART_LEAVES, PART_IF, PART_SWITCH, PART_KINDS
};
static const char *const part_name[PART_KINDS] = {
    "kernel", "kernel of 1,025 blocks", "cluster", "cooperative kernel", "memset", "memset of halves", "memset of rows", "copy",
    "copy of rows", "empty node", "host function", "event record", "event wait", "child", "if", "switch"
};

/* What a kernel is launched with beside attribute 6 and what its kind needs */
enum dress { DRESS_PLAIN, DRESS_URGENT, DRESS_REMOTE };
static const char *const dress_name[] = { "", "urgent ", "remote-domain " };

enum made { MADE_WITH_EDGES, MADE_EDGES_LATER, MADE_CAPTURED, MADES };
static const char *const made_name[MADES] = { "nodes with edges", "edges after nodes", "captured" };
enum executable { EXECUTABLE_FIRST, EXECUTABLE_SECOND, EXECUTABLE_CLONE, EXECUTABLE_UPDATED, EXECUTABLE_RENEWED, EXECUTABLES };
static const char *const executable_name[EXECUTABLES] = { "executable graph", "second executable graph", "clone",
                                                          "updated executable graph", "executable graph with renewed nodes" };
enum street { STREET_PLAIN, STREET_BLOCKING, STREET_URGENT, STREET_PER_THREAD, STREET_LEGACY, STREETS };
static const char *const street_name[STREETS] = { "non-blocking", "blocking", "urgent", "per-thread", "legacy" };
enum ahead { AHEAD_INSIDE, AHEAD_BEFORE, AHEAD_BESIDE }; /* the slow work: the first kernel of the graph; one in its stream; in another */
static const char *const ahead_text[] = { "", "[kernel before the graph] ", "[kernel of another stream before the graph] " };
#define CAPTURED_STREETS STREET_LEGACY /* those before it */

struct part {
    enum part_kind kind;
    enum dress dress;          /* of a kernel */
    unsigned parent, depth;
    unsigned cell;             /* whose words it hands on, or sets */
    unsigned value;            /* of memsets; of a conditional node */
    int slow, programmatic;    /* programmatic: so is the edge into it */
    int captured;
    unsigned fork;             /* captured: the stream, or STREETS: the one that the capture begins in */
};

struct drawn {
    int mps;                   /* others share the GPU through MPS */
    struct part part[PARTS];
    unsigned parts;
    enum made made;
    enum executable executable;
    enum street street, origin; /* of the launch, of the capture */
    enum cudaStreamCaptureMode mode;
    enum ahead ahead;
    int uploaded, again, backwards; /* backwards: the last edge is added first */
    int by_thread;             /* another host thread makes the graph, and what is executable of it */
    unsigned beside, wait;     /* what comes after a second node as well, or after work of another stream */
    unsigned reader;           /* the kernel that reads what that stored */
    int beside_slow, beside_first;
    unsigned record;           /* a node after which another stream reads the words */
    int pinned[CELLS];
};

/* ---- drawing ---- */

struct dice { uint64_t state; };

static unsigned below(struct dice *dice, unsigned limit)
{
    uint64_t z = dice->state += 0x9E3779B97F4A7C15ull;

    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ z >> 27) * 0x94D049BB133111EBull;
    return (unsigned)((z ^ z >> 31) >> 33) % limit;
}

static int is_conditional(enum part_kind kind) { return kind == PART_IF || kind == PART_SWITCH; }
static int is_kernel(enum part_kind kind) { return kind <= PART_COOPERATIVE; }
static int is_set(enum part_kind kind) { return kind >= PART_SET && kind <= PART_SET_ROWS; }
static int is_copy(enum part_kind kind) { return kind == PART_COPY || kind == PART_COPY_ROWS; }
static int may_be_captured(enum part_kind kind) { return kind < PART_LEAVES && kind != PART_EMPTY && kind != PART_SET_HALVES; }
static int carries(enum part_kind kind) { return is_kernel(kind) || is_copy(kind) || kind == PART_HOST; } /* to the next cell */

/* Whether this part, or one that it lies in, is one of these. */
static int lies_in(const struct drawn *d, unsigned part, int conditional)
{
    for (; part != NOWHERE; part = d->part[part].parent)
        if (conditional ? is_conditional(d->part[part].kind) : d->part[part].kind == PART_CHILD)
            return 1;
    return 0;
}

/* "Allowed node types are kernel nodes, empty nodes, child graphs, memsets, memcopies, and conditionals"; neither a child graph nor what is
 * cloned holds a conditional node. A cooperative kernel in a body is not permitted under MPS. */
static int may_lie_in(const struct drawn *d, enum part_kind kind, unsigned parent)
{
#if CUDART_VERSION < 12080
    if (kind == PART_SWITCH)
        return 0;
#endif
#if CUDART_VERSION < 12040
    if (kind == PART_IF)
        return 0;
#endif
    if (is_conditional(kind)) /* one executable graph of its graph is all that an H100 makes */
        return d->executable != EXECUTABLE_SECOND && d->executable != EXECUTABLE_CLONE && !lies_in(d, parent, 0);
    return !lies_in(d, parent, 1) || (kind < PART_HOST && !(kind == PART_COOPERATIVE && d->mps)) || kind == PART_CHILD;
}

static void draw_row(struct drawn *d, struct dice *dice, unsigned parent, unsigned depth);

/* kind: PART_KINDS, and it is drawn. */
static void draw_part(struct drawn *d, struct dice *dice, enum part_kind kind, unsigned parent, unsigned depth)
{
    static const unsigned nested_of_16[LEVELS] = { 8, 8, 6, 0 };
    struct part *part = &d->part[d->parts];
    int nested = below(dice, 16) < nested_of_16[depth];

    do
        part->kind = kind != PART_KINDS ? kind
                                        : (enum part_kind)(nested ? PART_LEAVES + below(dice, PART_KINDS - PART_LEAVES) : below(dice, PART_LEAVES));
    while (kind == PART_KINDS && !may_lie_in(d, part->kind, parent));
    part->parent = parent;
    part->depth = depth;
    part->slow = below(dice, 4) == 0;
    part->value = part->kind == PART_IF ? 1 : part->kind == PART_SWITCH ? below(dice, 3) : 0x51 + d->parts;
    part->captured = may_be_captured(part->kind) && d->made == MADE_CAPTURED && below(dice, 4) != 0;
    part->fork = below(dice, 2) ? (unsigned)STREETS : (d->origin + 1 + below(dice, CAPTURED_STREETS - 1)) % CAPTURED_STREETS;
    d->parts++;
    if (part->kind >= PART_LEAVES)
        draw_row(d, dice, d->parts - 1, depth + 1);
}

/* Half of the room is for the first one and what lies in it. */
static void draw_row(struct drawn *d, struct dice *dice, unsigned parent, unsigned depth)
{
    unsigned length = (depth ? 1 : 2) + below(dice, depth ? 4 : 3), i;

    for (i = 0; i < length && (i == 0 || d->parts + LEVELS < PARTS); i++)
        draw_part(d, dice, PART_KINDS, parent, d->parts + LEVELS < PARTS ? depth : LEVELS - 1);
}

/* Each kind of node that holds no others after each, with a kernel before and after both. */
#define PAIRS (PART_LEAVES * PART_LEAVES)
static void draw_pair(struct drawn *d, struct dice *dice, unsigned pair)
{
    const enum part_kind row[] = { PART_KERNEL, (enum part_kind)(pair / PART_LEAVES), (enum part_kind)(pair % PART_LEAVES), PART_KERNEL };
    unsigned i;

    for (i = 0; i < sizeof(row) / sizeof(row[0]); i++)
        draw_part(d, dice, row[i], NOWHERE, LEVELS - 1);
}

/* The one before it in its row, or NOWHERE. */
static unsigned before(const struct drawn *d, unsigned part)
{
    unsigned i = part;

    while (i-- > 0 && i != d->part[part].parent)
        if (d->part[i].parent == d->part[part].parent)
            return i;
    return NOWHERE;
}

/* The one after it in its row, or d->parts. */
static unsigned after(const struct drawn *d, unsigned part)
{
    unsigned i = part + 1;

    while (i < d->parts && d->part[i].parent != d->part[part].parent)
        i++;
    return i;
}

/* Of any kind that may lie where it lies. */
static enum part_kind draw_kernel(const struct drawn *d, struct dice *dice, unsigned part)
{
    enum part_kind kind;

    do
        kind = (enum part_kind)below(dice, PART_COOPERATIVE + 1);
    while (!may_lie_in(d, kind, d->part[part].parent));
    return kind;
}

/* The first node of all that does something is slow. */
static void draw_first(struct drawn *d, struct dice *dice)
{
    unsigned i = 0;

    d->ahead = (enum ahead)(below(dice, 3) ? (unsigned)AHEAD_INSIDE : AHEAD_BEFORE + below(dice, 2));
    while (d->part[i].kind >= PART_LEAVES)
        i++;
    if (d->ahead != AHEAD_INSIDE)
        return;
    d->part[i].kind = draw_kernel(d, dice, i);
    d->part[i].slow = 1;
}

static int may_become_kernel(const struct drawn *d, unsigned part)
{
    return part != d->record && part != d->wait && part != d->beside && d->part[part].kind < PART_LEAVES;
}

/* In half of the trials two kernels with a programmatic edge between them, which is the only one: what its end does not wait for,
 * others do not come after. */
static void draw_programmatic(struct drawn *d, struct dice *dice)
{
    unsigned from = below(dice, 2 * d->parts), i, at, first;

    for (i = 0; i < d->parts && from < d->parts; i++) {
        at = (from + i) % d->parts;
        first = before(d, at);
        if (first == NOWHERE || !may_become_kernel(d, at) || !may_become_kernel(d, first))
            continue;
        d->part[first].kind = draw_kernel(d, dice, first);
        d->part[first].slow = (int)below(dice, 2);
        d->part[at].kind = draw_kernel(d, dice, at);
        d->part[at].programmatic = 1;
        d->part[at].fork = d->part[first].fork = STREETS;
        return;
    }
}

/* The first kernel from there on, or NOWHERE. */
static unsigned kernel_from(const struct drawn *d, unsigned part)
{
    while (part < d->parts && !is_kernel(d->part[part].kind))
        part++;
    return part < d->parts ? part : NOWHERE;
}

/* A second node before one of a row, and the kernel that can tell whether it came after both; in a third of the trials. */
static void draw_beside(struct drawn *d, struct dice *dice)
{
    unsigned i = below(dice, 3 * d->parts);

    d->beside = d->wait = d->reader = NOWHERE;
    d->beside_slow = below(dice, 2) != 0;
    d->beside_first = below(dice, 2) != 0;
    if (i < d->parts && before(d, i) != NOWHERE)
        d->reader = kernel_from(d, i);
    if (d->reader != NOWHERE)
        d->beside = i;
}

/* Of the waits for an event the first one is judged, unless the trial has a second node already; of the records there is but one. */
static void draw_events(struct drawn *d)
{
    unsigned i;

    d->record = NOWHERE;
    for (i = 0; i < d->parts; i++) {
        if (d->part[i].kind == PART_WAIT && d->reader == NOWHERE) {
            d->reader = kernel_from(d, i);
            d->wait = d->reader == NOWHERE ? NOWHERE : i;
        }
        if (d->part[i].kind == PART_RECORD && d->record != NOWHERE)
            d->part[i].kind = PART_WAIT;
        else if (d->part[i].kind == PART_RECORD)
            d->record = i;
    }
}

/* Where the words are as they go on: in pinned memory where a host function reads or stores them. No copy leads from there to there. */
static void draw_cells(struct drawn *d)
{
    unsigned i, cell = d->ahead != AHEAD_INSIDE ? 1 : 0;

    for (i = 0; i < d->parts; i++) {
        struct part *part = &d->part[i];
        part->cell = cell;
        cell += carries(part->kind) ? 1 : 0;
        if (part->kind == PART_HOST)
            d->pinned[part->cell] = d->pinned[part->cell + 1] = 1;
    }
    for (i = 0; i < d->parts; i++)
        if (is_copy(d->part[i].kind) && d->pinned[d->part[i].cell] && d->pinned[d->part[i].cell + 1])
            d->part[i].kind = PART_KERNEL;
    for (i = d->record; i < d->parts && d->record != NOWHERE; i++)
        if (is_set(d->part[i].kind) && d->part[i].cell == d->part[d->record].cell)
            d->record = NOWHERE; /* the words change once more */
}

/* Half of the kernels are plain. The last thing that is drawn: a trial's nodes and edges are the same without it. */
static void draw_dresses(struct drawn *d, struct dice *dice)
{
    static const enum dress dresses[] = { DRESS_PLAIN, DRESS_PLAIN, DRESS_URGENT, DRESS_REMOTE };
    unsigned i;

    for (i = 0; i < d->parts; i++)
        d->part[i].dress = dresses[is_kernel(d->part[i].kind) ? below(dice, 4) : 0];
}

/* The first trials are of all pairs, in which renewing the nodes is what could cost an edge. */
static void draw_trial(struct drawn *d, struct dice *dice, unsigned trial, int mps)
{
    static const struct drawn nothing = PDL_ZERO;

    *d = nothing;
    d->mps = mps;
    d->made = (enum made)(below(dice, 2) ? (unsigned)MADE_CAPTURED : below(dice, MADE_CAPTURED));
    d->executable = trial < PAIRS ? EXECUTABLE_RENEWED : (enum executable)below(dice, EXECUTABLES);
    d->street = (enum street)below(dice, STREETS);
    d->origin = (enum street)below(dice, CAPTURED_STREETS);
    d->mode = (enum cudaStreamCaptureMode)below(dice, 3);
    d->uploaded = below(dice, 4) == 0;
    d->again = below(dice, 4) == 0;
    d->backwards = below(dice, 2) != 0;
    if (trial < PAIRS)
        draw_pair(d, dice, trial);
    else
        draw_row(d, dice, NOWHERE, 0);
    draw_first(d, dice);
    draw_beside(d, dice);
    draw_events(d);
    if (trial >= PAIRS)
        draw_programmatic(d, dice);
    draw_cells(d);
    d->by_thread = below(dice, 4) == 0;
    draw_dresses(d, dice);
}

/* ---- in words ---- */

enum place { PLACE_TOP, PLACE_CHILD, PLACE_CHILD_IN_CHILD, PLACE_BODY, PLACE_BODY_IN_BODY, PLACE_CHILD_IN_BODY, PLACES };
static const char *const place_name[PLACES] = { "", " in a child graph", " in a child graph in a child graph", " in a body",
                                                " in a body in a body", " in a child graph in a body" };

/* By the two innermost nodes that it lies in. */
static enum place place_of(const struct drawn *d, unsigned part)
{
    unsigned in = d->part[part].parent, around = in == NOWHERE ? NOWHERE : d->part[in].parent;
    int body_around = around != NOWHERE && is_conditional(d->part[around].kind);

    if (in == NOWHERE)
        return PLACE_TOP;
    if (is_conditional(d->part[in].kind))
        return body_around ? PLACE_BODY_IN_BODY : PLACE_BODY;
    return around == NOWHERE ? PLACE_CHILD : body_around ? PLACE_CHILD_IN_BODY : PLACE_CHILD_IN_CHILD;
}

/* "kernel if(memset child(copy)) kernel", the one that is meant in stars. */
static void tell_row(const struct drawn *d, unsigned parent, unsigned meant, char *text, size_t room)
{
    unsigned i = parent == NOWHERE ? 0 : parent + 1;

    for (; i < d->parts; i = after(d, i)) {
        const struct part *part = &d->part[i];
        ask_append(text, room, before(d, i) == NOWHERE ? "" : part->programmatic ? " ~ " : ", ");
        ask_append(text, room, i == d->beside ? "(beside another kernel) " : "");
        ask_append(text, room, i == meant ? "**" : "");
        ask_append(text, room, !part->captured ? "" : part->fork == STREETS ? "captured " : "captured beside (");
        ask_append(text, room, part->captured && part->fork != STREETS ? street_name[part->fork] : "");
        ask_append(text, room, part->captured && part->fork != STREETS ? ") " : "");
        ask_append(text, room, dress_name[part->dress]);
        ask_append(text, room, part_name[part->kind]);
        ask_append(text, room, i == meant ? "**" : "");
        if (part->kind < PART_LEAVES)
            continue;
        ask_append(text, room, " (");
        tell_row(d, i, meant, text, room);
        ask_append(text, room, ")");
    }
}

/* What was too soon after what, how the graph was made and launched, and the graph. */
static void tell_trial(const struct drawn *d, unsigned trial, unsigned meant, char *text, size_t room)
{
    unsigned first = meant < PARTS ? before(d, meant) : NOWHERE;

    snprintf(text, room, "%s%s%s%s, trial %u, %s%s%s%s, %s%s in a %s stream: %s", meant < PARTS ? part_name[d->part[meant].kind] : "graph",
             first == NOWHERE ? "" : " after ", first == NOWHERE ? "" : part_name[d->part[first].kind],
             meant < PARTS ? place_name[place_of(d, meant)] : "", trial, made_name[d->made], d->made == MADE_CAPTURED ? " from " : "",
             d->made == MADE_CAPTURED ? street_name[d->origin] : "", d->by_thread ? " by another thread" : "",
             executable_name[d->executable], d->again ? " launched again" : "",
             street_name[d->street], ahead_text[d->ahead]);
    tell_row(d, NOWHERE, meant, text, room);
}

#endif
