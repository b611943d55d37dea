/* handed_drawn.h - what handed.cu draws for a trial, and how it tells it. */
#ifndef HANDED_DRAWN_H_INCLUDED
#define HANDED_DRAWN_H_INCLUDED

static unsigned drawn(uint64_t seed, unsigned trial, unsigned purpose, unsigned below)
{
    return (words_fresh(seed ^ 0x9E3779B97F4A7C15ull * (purpose + 1), trial) >> 4) % below;
}

/* What this device lacks. */
static void mend_lacking(const struct handed *d, struct hand *h)
{
    unsigned i;

    for (i = 0; i < STOPS; i++) {
        enum item item = h->item[i];
        int of_pools = item == ITEM_ALLOCATION || item == ITEM_FREE || item == ITEM_NO_MEMORY || item == ITEM_NO_FREE;
        if ((of_pools && !d->has_pools) || ((item == ITEM_VALUE || item == ITEM_AWAIT || item == ITEM_NO_VALUE) && !d->has_values))
            h->item[i] = ITEM_NONE;
    }
    if (d->has_values)
        return;
    h->first = h->first == STEP_WRITE ? STEP_WORD_SET : h->first;
    h->last = h->last == STEP_WRITE ? STEP_WORD_SET : h->last;
    h->link = h->link == LINK_VALUE ? LINK_EVENT : h->link;
    h->by_value = 0;
}

/* Captures take neither callbacks nor values. */
static enum step captured_step(enum step step) { return step == STEP_CALLBACK ? STEP_HOST : step == STEP_WRITE ? STEP_WORD_SET : step; }

static int is_captured(const struct hand *h, enum stop stop)
{
    return h->mode || (stop <= AFTER_FIRST && h->recorder == BY_EXTERNAL && has_event(h));
}

static int has_work(const struct hand *h, enum stop stop) { return h->item[stop] != ITEM_NONE && h->item[stop] <= WORKS; }

/* A short copy of what a host function wrote, in a stream without work that the driver knows of, is COMP-06c's question. */
static int is_short_source(const struct hand *h)
{
    return (h->link == LINK_LEGACY || h->link == LINK_VALUE) && is_host(h->first) && (h->last == STEP_COPY || h->last == STEP_LAYERS);
}

/* What no document promises together, or CUDA does not take, is replaced by something plain. */
static void mend_steps(struct hand *h)
{
    int in_line = h->link == LINK_SAME || h->link == LINK_VALUE || has_work(h, BEFORE_LAST);

    h->first = is_captured(h, AFTER_FIRST) ? captured_step(h->first) : h->first;
    h->last = h->mode ? captured_step(h->last) : h->last;
    if (h->recorder == BY_LAUNCH && has_event(h)) { /* the event says nothing but that all blocks have triggered: whoever reads has to wait */
        h->first = STEP_FENCED;
        h->last = waits(h->last) ? h->last : STEP_WAITING;
    }
    if (h->last == STEP_UNWAITING && (h->mode || h->by_node || in_line || (h->from == h->to && !is_made(h->from))))
        h->last = STEP_WAITING; /* what is before it in its stream, it may overlap */
    if (h->first == STEP_EARLY && waits(h->last))
        h->first = STEP_KERNEL; /* that it has ended does not say that the work before it has */
    if (h->last == STEP_LARGE_WAITING && (h->joins || h->by_node || h->link == LINK_VALUE))
        h->last = STEP_WAITING; /* a grid that may begin at once could leave no room for work that it has to wait for */
    if (h->first == STEP_LONG_COPY && (is_host(h->last) || is_set(h->last) || is_graph(h->last)))
        h->last = STEP_KERNEL; /* the last step reads what was copied, in the device's memory */
    if (is_host(h->first) && (h->last == STEP_LONG_COPY || h->last == STEP_LONG_SET)) /* what is long lies in the device's memory */
        h->last = h->last == STEP_LONG_COPY ? STEP_COPY : STEP_SET;
    if (h->first == STEP_LONG_SET && is_host(h->last))
        h->first = STEP_SET;
    if (is_short_source(h))
        h->last = STEP_ROWS;
}

/* Captures take few of them. What the work stores to is freed once, by whom comes after it. Who awaits a launch's event comes right after it. A
 * grid that may begin at once could leave no room for an item. */
static void mend_items(struct hand *h)
{
    unsigned i;
    int frees = 0;

    if (h->recorder == BY_LAUNCH && has_event(h))
        h->item[BEFORE_LAST] = ITEM_NONE;
    for (i = 0; i < STOPS; i++) {
        if ((is_captured(h, (enum stop)i) && h->item[i] > CAPTURED_ITEMS) || (h->last == STEP_LARGE_WAITING && i != AFTER_WORK && i != AFTER_LAST))
            h->item[i] = ITEM_NONE;
        if (h->item[i] == ITEM_FREE && (frees++ || i == BEFORE_LINK))
            h->item[i] = ITEM_ALLOCATION;
    }
    if (h->last == STEP_NONE && h->link != LINK_SAME && h->link != LINK_VALUE && !has_work(h, BEFORE_LAST))
        h->last = STEP_KERNEL; /* a wait that nothing comes after is no work */
    if (h->last == STEP_NONE && h->link == LINK_LEGACY && h->item[BEFORE_LAST] == ITEM_GRAPH)
        h->last = STEP_KERNEL; /* an empty graph is over at once where only the legacy stream's order is before it */
    if (h->recorder == BY_LAUNCH && has_event(h))
        h->end = END_DEVICE;
}

/* A large grid is not made of clusters or layers. No launch is cooperative and may overlap as well; who records an event is launched in a plain way. */
static void mend_dress(enum step step, enum dress *dress)
{
    int cooperative = is_cooperative(*dress), grouped = cooperative || *dress == DRESS_CLUSTER || *dress == DRESS_LAYERS;

    if (step == STEP_COOPERATIVE) {
        *dress = cooperative ? *dress : DRESS_COOPERATIVE;
        return;
    }
    if (!is_kernel(step) || (is_large(step) && grouped) || (step >= STEP_EARLY && cooperative))
        *dress = DRESS_NONE;
    if (step == STEP_FENCED && (grouped || *dress == DRESS_DOMAIN || *dress == DRESS_EVENT))
        *dress = DRESS_NONE;
}

/* Who is fenced makes its words visible in its own domain. */
static void mend_hints(struct hand *h)
{
    if (!is_kernel(h->first) || (h->first == STEP_FENCED && h->hint[PLACE_FIRST] == HINT_MAP))
        h->hint[PLACE_FIRST] = HINT_NONE;
    if (!is_kernel(h->last))
        h->hint[PLACE_LAST] = HINT_NONE;
    if (!h->joins)
        h->hint[PLACE_JOINED] = HINT_NONE;
}

/* What is captured, wholly or up to an external record, records no event for others. Another thread does not capture, and its own stream
 * is not that of this one. */
static void mend_place(struct hand *h)
{
    int captured = h->mode || (h->recorder == BY_EXTERNAL && has_event(h));
    unsigned i;

    for (i = 0; i < PLACES && captured; i++)
        h->dress[i] = h->dress[i] == DRESS_EVENT ? DRESS_NONE : h->dress[i];
    if (captured && !h->mode)
        h->more = 0;
    if (h->mode || !is_awaited(h))
        h->behind = BEHIND_NOTHING;
    if (captured || !h->joins)
        h->by_value = 0;
    if (!is_awaited(h) && h->link != LINK_SAME && h->link != LINK_LEGACY)
        h->more = 0;
    if (h->mode)
        h->by_thread = 0;
    if (h->by_thread && h->from == KIND_PER_THREAD)
        h->from = KIND_BLOCKING;
    if (h->by_thread && h->to == KIND_PER_THREAD)
        h->to = KIND_BLOCKING;
}

/* A stream that leaves is not needed any more; who is fenced makes its words visible in its own domain. */
static void mend_streams(struct hand *h)
{
    int later = has_event(h);

    if (h->mode || !is_made(h->from) || !(later || h->link == LINK_VALUE || h->link == LINK_LEGACY))
        h->leaves = 0;
    if (h->mode || !is_made(h->to) || h->link == LINK_SAME)
        h->arrives = 0;
    if (h->mode || !later)
        h->later = h->awaited = h->fresh = 0;
    if (h->mode)
        h->marked = 0;
    if (h->mode || h->link != LINK_EVENT || (h->by_node && h->again == AGAIN_BY_NODE))
        h->again = AGAIN_NOT;
    if (h->by_node || h->recorder == BY_NODE || h->again == AGAIN_BY_NODE)
        h->fresh = 0; /* nodes name events that are there */
    if (h->recorder != BY_LAUNCH || h->link != LINK_EVENT)
        h->late = 0; /* the host waits for no kernel by its event */
    h->give[0] = is_made(h->from) && !(h->first == STEP_FENCED && h->give[0] == GIVE_DOMAIN) ? h->give[0] : GIVE_NOTHING;
    h->give[1] = is_made(h->to) && h->link != LINK_SAME ? h->give[1] : GIVE_NOTHING;
}

static void mend(const struct handed *d, struct hand *h)
{
    int may_capture;

    mend_lacking(d, h);
    may_capture = h->link == LINK_SAME || h->link == LINK_EVENT;
    if (h->link == LINK_LEGACY && !(h->from == KIND_LEGACY && blocks_legacy(h->to))) {
        h->from = blocks_legacy(h->from) ? h->from : KIND_BLOCKING;
        h->to = KIND_LEGACY;
    }
    if (!may_capture || h->from == KIND_LEGACY || h->to == KIND_LEGACY || is_graph(h->first) || is_graph(h->last))
        h->mode = 0;
    if (h->mode || h->link != LINK_EVENT)
        h->asks = h->by_node = 0;
    if (h->mode)
        h->recorder = h->recorder == BY_CALL ? BY_CALL : BY_FLAGS_CALL;
    if (h->recorder == BY_EXTERNAL && (h->from == KIND_LEGACY || is_graph(h->first)))
        h->recorder = BY_CALL;
    if (h->event == EVENT_IPC && (h->mode || h->recorder == BY_EXTERNAL || h->recorder == BY_LAUNCH))
        h->event = EVENT_BLOCKING;
    if (h->recorder == BY_LAUNCH && has_timing(h->event)) /* "must disable timing" */
        h->event = EVENT_BLOCKING;
    if (h->again >= AGAIN_AT_TRIGGERS && (has_timing(h->event) || h->event == EVENT_IPC))
        h->again = AGAIN_NOT;
    if (h->again == AGAIN_AT_COMPLETION && h->event != EVENT_PLAIN) /* drivers refuse an event with blocking sync */
        h->again = AGAIN_AT_TRIGGERS;
    if (h->recorder == BY_LAUNCH) /* who waits by a node has no primary */
        h->by_node = 0;
    if (h->link == LINK_LEGACY && h->first == STEP_NONE)
        h->joins = JOINS_NOTHING; /* a wait that nothing came after is no work that the legacy stream waits for */
    mend_place(h);
    mend_items(h);
    mend_steps(h);
    mend_dress(h->first, &h->dress[PLACE_FIRST]);
    mend_dress(h->last, &h->dress[PLACE_LAST]);
    mend_hints(h);
    mend_streams(h);
}

/* What stands in a row, in each way that needs more than a priority. */
static const struct way ways_first[] = {
    { STEP_KERNEL, DRESS_NONE }, { STEP_KERNEL, DRESS_CLUSTER }, { STEP_KERNEL, DRESS_COOPERATIVE }, { STEP_KERNEL, DRESS_SHARED },
    { STEP_KERNEL, DRESS_DOMAIN }, { STEP_KERNEL, DRESS_EVENT }, { STEP_KERNEL, DRESS_COOPERATIVE_CLUSTER },
    { STEP_LARGE, DRESS_NONE }, { STEP_COPY, DRESS_NONE }, { STEP_ROWS, DRESS_NONE }, { STEP_LAYERS, DRESS_NONE },
    { STEP_LONG_COPY, DRESS_NONE }, { STEP_SET, DRESS_NONE }, { STEP_WRITE, DRESS_NONE }, { STEP_CALLBACK, DRESS_NONE },
    { STEP_WIDE_SET, DRESS_NONE }, { STEP_WORD_SET, DRESS_NONE }, { STEP_SET_ROWS, DRESS_NONE }, { STEP_LONG_SET, DRESS_NONE },
    { STEP_REPLACE, DRESS_NONE },
    { STEP_HOST, DRESS_NONE }, { STEP_GRAPH, DRESS_NONE }, { STEP_NONE, DRESS_NONE }
};
static const struct way ways_last[] = {
    { STEP_KERNEL, DRESS_NONE }, { STEP_KERNEL, DRESS_CLUSTER }, { STEP_KERNEL, DRESS_SHARED }, { STEP_KERNEL, DRESS_DOMAIN },
    { STEP_KERNEL, DRESS_EVENT }, { STEP_COOPERATIVE, DRESS_COOPERATIVE },
    { STEP_COOPERATIVE, DRESS_COOPERATIVE_CLUSTER }, { STEP_WAITING, DRESS_NONE }, { STEP_WAITING, DRESS_CLUSTER }, { STEP_WAITING, DRESS_SHARED },
    { STEP_WAITING, DRESS_DOMAIN }, { STEP_WAITING, DRESS_EVENT }, { STEP_LARGE, DRESS_NONE },
    { STEP_LARGE_WAITING, DRESS_NONE }, { STEP_COPY, DRESS_NONE }, { STEP_ROWS, DRESS_NONE }, { STEP_LONG_COPY, DRESS_NONE },
    { STEP_SET, DRESS_NONE }, { STEP_WIDE_SET, DRESS_NONE }, { STEP_WORD_SET, DRESS_NONE }, { STEP_SET_ROWS, DRESS_NONE },
    { STEP_LONG_SET, DRESS_NONE }, { STEP_REPLACE, DRESS_NONE }, { STEP_HOST, DRESS_NONE }, { STEP_GRAPH, DRESS_NONE },
    { STEP_LAYERS, DRESS_NONE }, { STEP_WRITE, DRESS_NONE }, { STEP_CALLBACK, DRESS_NONE }, { STEP_UNWAITING, DRESS_NONE }
};

static const unsigned more_events[] = { 0, 1, 3, 5, 16, 40 };

#define FIRSTS COUNT(ways_first)
#define MORES COUNT(more_events)
#define BEFORE (FIRSTS + MORES + WORKS + 6u) /* what stands before each last step: see pair_last() */
#define LEGACY_PAIRS 16u
#define QUESTION_PAIRS 4u
#define BESIDE (FIRSTS + LEGACY_PAIRS + QUESTION_PAIRS + 2u) /* what stands beside each item: see pair_item() */

static void link_by_legacy(struct hand *h, unsigned from_legacy)
{
    h->link = LINK_LEGACY;
    h->from = from_legacy ? KIND_LEGACY : blocks_legacy(h->from) ? h->from : KIND_BLOCKING;
    h->to = !from_legacy ? KIND_LEGACY : blocks_legacy(h->to) ? h->to : KIND_BLOCKING;
}

static void take_first(struct hand *h, const struct way *first)
{
    h->link = LINK_SAME;
    h->more = 0;
    h->first = first->step;
    h->dress[PLACE_FIRST] = first->dress;
}

/* Before the last step stands a first step, a number of events, an item that is work, or what the legacy stream's order puts
 * there: anything, a kernel that overlaps, or work that a record follows. */
static void pair_last(struct hand *h, unsigned before, const struct way *last)
{
    h->last = last->step;
    h->dress[PLACE_LAST] = last->dress;
    if (before < FIRSTS) {
        take_first(h, &ways_first[before]);
    } else if (before < FIRSTS + MORES) {
        h->link = LINK_EVENT;
        h->more = more_events[before - FIRSTS];
    } else if (before < FIRSTS + MORES + WORKS) {
        h->link = is_awaited(h) ? h->link : LINK_SAME;
        h->more = 0;
        h->item[BEFORE_LAST] = (enum item)(1 + before - FIRSTS - MORES);
    } else {
        link_by_legacy(h, before % 2);
        h->marked = before + 2 >= BEFORE;
        h->first = before + 4 >= BEFORE && !h->marked ? STEP_EARLY : h->first;
    }
}

/* Between the default streams: an item as the last work of the one, or as the only work of the other, for which the host waits. */
static void pair_legacy(struct hand *h, unsigned way, enum item item)
{
    int only = way % 4 >= 2;

    link_by_legacy(h, way % 2);
    h->item[only ? BEFORE_LAST : AFTER_FIRST] = item;
    h->last = only ? STEP_NONE : h->last;
    h->end = only && h->end == END_DEVICE ? END_STREAM : h->end;
}

/* A call that only asks, or is refused, while the stream still awaits an event, or right after work. */
static void pair_question(struct hand *h, int awaits, enum item item)
{
    h->link = awaits ? LINK_EVENT : LINK_SAME;
    h->behind = BEHIND_KERNEL;
    h->last = awaits ? STEP_UNWAITING : STEP_KERNEL;
    h->item[BEFORE_LAST] = item < ITEMS ? item : ITEM_NONE;
}

/* Beside each item that is work: a first step before it, or the legacy stream's order; then as many of other pairs: see there. */
static void pair_item(struct hand *h, unsigned beside, unsigned number)
{
    enum item item = (enum item)(1 + number);

    if (beside < FIRSTS) {
        take_first(h, &ways_first[beside]);
        h->item[AFTER_FIRST] = item;
    } else if (beside < FIRSTS + LEGACY_PAIRS) {
        pair_legacy(h, beside - FIRSTS, item);
    } else if (beside < FIRSTS + LEGACY_PAIRS + QUESTION_PAIRS) {
        pair_question(h, beside % 2, (enum item)(WORKS + item));
    } else { /* the host waits for a stream that only waits for a value */
        h->link = LINK_VALUE;
        h->to = (enum kind)(number % KINDS);
        h->last = STEP_NONE;
        h->end = h->end == END_DEVICE ? END_STREAM : h->end;
    }
}

/* In 4 of 8 trials two things stand right beside each other: each with each, in turn, because drawing leaves some out. These are 1,903 pairs; the
 * smallest profile has 2,000 such trials. */
static void pair_steps(struct hand *h, unsigned trial)
{
    unsigned pair = (trial / TURNS * PAIRED + trial % TURNS) % (BEFORE * COUNT(ways_last) + BESIDE * WORKS), i;

    if (trial % TURNS >= PAIRED)
        return;
    h->mode = 0;
    h->items = 0;
    h->marked = 0; /* nothing stands between them */
    for (i = 0; i < STOPS; i++)
        h->item[i] = i == AFTER_LAST ? h->item[i] : ITEM_NONE;
    h->recorder = BY_CALL;
    if (pair < BEFORE * COUNT(ways_last))
        pair_last(h, pair / COUNT(ways_last), &ways_last[pair % COUNT(ways_last)]);
    else
        pair_item(h, (pair - BEFORE * COUNT(ways_last)) / WORKS, (pair - BEFORE * COUNT(ways_last)) % WORKS);
}

/* Mostly few, now and then very many. */
static unsigned some_kernels(unsigned of_64)
{
    return of_64 < 40 ? 1 : of_64 < 50 ? 2 : of_64 < 54 ? 10 : of_64 < 57 ? 40 : of_64 < 61 ? 80 : of_64 < 63 ? 300 : 1100;
}

/* The steps, and what is between them. */
static void draw_way(struct hand *h, uint64_t seed, unsigned trial)
{
    static const enum link links[] = { LINK_SAME, LINK_SAME, LINK_EVENT, LINK_EVENT, LINK_LEGACY, LINK_EVENT_SYNC, LINK_EVENT_POLL,
                                       LINK_STREAM_SYNC, LINK_STREAM_POLL, LINK_EVENT, LINK_VALUE };
    unsigned i;

    h->first = first_steps[drawn(seed, trial, 1, COUNT(first_steps))];
    h->last = last_steps[drawn(seed, trial, 2, COUNT(last_steps))];
    h->from = (enum kind)drawn(seed, trial, 3, KINDS);
    h->to = (enum kind)drawn(seed, trial, 4, KINDS);
    h->link = links[drawn(seed, trial, 5, COUNT(links))];
    for (i = 0; i < STOPS; i++)
        h->item[i] = drawn(seed, trial, 60 + i, 4) ? ITEM_NONE : (enum item)(1 + drawn(seed, trial, 60 + STOPS + i, ITEMS - 1));
    h->end = drawn(seed, trial, 70, 2) ? END_DEVICE : (enum end)drawn(seed, trial, 71, ENDS);
}

static struct hand draw_hand(const struct handed *d, uint64_t seed, unsigned trial)
{
    struct hand h;
    unsigned i;

    draw_way(&h, seed, trial);
    h.recorder = (enum recorder)drawn(seed, trial, 6, RECORDERS);
    h.event = drawn(seed, trial, 7, EVENTS);
    h.mode = drawn(seed, trial, 8, 2) ? 1 + drawn(seed, trial, 9, 3) : 0;
    h.joins = drawn(seed, trial, 10, 3) ? JOINS_NOTHING : JOINS_WORK + drawn(seed, trial, 10, 6) / 3;
    h.by_value = drawn(seed, trial, 72, 3) == 0;
    h.asks = drawn(seed, trial, 11, 3) == 0;
    h.by_node = drawn(seed, trial, 29, 3) == 0;
    for (i = 0; i < PLACES; i++)
        h.dress[i] = drawn(seed, trial, 12 + i, 2) ? DRESS_NONE : (enum dress)(1 + drawn(seed, trial, 12 + PLACES + i, DRESSES - 1));
    for (i = 0; i < PLACES; i++)
        h.hint[i] = drawn(seed, trial, 48 + i, 3) ? HINT_NONE : (enum hint)(1 + drawn(seed, trial, 48 + PLACES + i, HINTS - 1));
    h.more = drawn(seed, trial, 24, 2) ? 0 : more_events[drawn(seed, trial, 25, COUNT(more_events))];
    h.more_first = drawn(seed, trial, 26, 2) != 0;
    h.behind = drawn(seed, trial, 27, BEHINDS);
    for (i = 0; i < 2; i++)
        h.give[i] = drawn(seed, trial, 30 + i, 2) ? GIVE_NOTHING : (enum give)(1 + drawn(seed, trial, 32 + i, GIVES - 1));
    h.leaves = drawn(seed, trial, 34, 4) == 0;
    h.leaves_late = drawn(seed, trial, 73, 2) != 0;
    h.arrives = drawn(seed, trial, 74, 4) == 0;
    h.later = drawn(seed, trial, 35, 3) == 0 ? some_kernels(drawn(seed, trial, 36, 64)) : 0;
    h.later_overlap = drawn(seed, trial, 78, 2) != 0;
    h.items = drawn(seed, trial, 37, 8) ? 0 : drawn(seed, trial, 45, 24) ? 12 : 1100;
    h.again = drawn(seed, trial, 46, 4) == 0   ? (enum again)(AGAIN_BY_CALL + drawn(seed, trial, 47, 2))
              : drawn(seed, trial, 76, 2) == 0 ? (enum again)(AGAIN_AT_TRIGGERS + drawn(seed, trial, 77, 3))
                                               : AGAIN_NOT;
    h.awaited = drawn(seed, trial, 38, 3) == 0 ? 1 + drawn(seed, trial, 39, 8) * 3 : 0;
    h.fresh = drawn(seed, trial, 40, 4) == 0;
    h.asked_fresh = drawn(seed, trial, 41, 2) != 0;
    h.awaited_fresh = drawn(seed, trial, 42, 2) != 0;
    h.late = drawn(seed, trial, 43, 2) != 0;
    h.marked = drawn(seed, trial, 44, 4) == 0;
    pair_steps(&h, trial);
    h.by_driver = drawn(seed, trial, 75, 3) == 0;
    h.by_thread = drawn(seed, trial, 28, 8) == 0 || (trial % 2 == 0 && (is_large(h.first) || is_large(h.last)));
    mend(d, &h);
    return h;
}

/* "; the work cooperative": what is said of a place, if anything is. */
static void tell_of(char *text, size_t room, const char *place, const char *with, const char *what)
{
    if (!what[0])
        return;
    ask_append(text, room, "; ");
    ask_append(text, room, place);
    ask_append(text, room, with);
    ask_append(text, room, what);
}

/* What streams were given, how kernels are launched, what stands between, and what the host waits for. */
static void tell_more(const struct hand *h, char *text, size_t room)
{
    unsigned i;

    for (i = 0; i < 2; i++)
        tell_of(text, room, i ? "the last stream" : "the first stream", " was given ", give_name[h->give[i]]);
    for (i = 0; i < PLACES; i++)
        tell_of(text, room, place_name[i], " ", i == PLACE_JOINED && !h->joins ? "" : dress_name[h->dress[i]]);
    for (i = 0; i < PLACES; i++)
        tell_of(text, room, place_name[i], " with ", hint_name[h->hint[i]]);
    for (i = 0; i < STOPS; i++)
        tell_of(text, room, stop_name[i], " ", item_name[h->item[i]]);
    tell_of(text, room, "the host waits for", " ", end_name[h->end]);
}

static void tell_hand(const struct hand *h, char *text, size_t room)
{
    char more[64];

    snprintf(text, room, "%s%s%s in %s; %s", h->joins == JOINS_COPY ? "joined copy, then " : h->joins ? "joined work, then " : "",
             h->by_value ? "after a value, " : "", step_name[h->first], kind_name[h->from], link_name[h->link]);
    if (has_event(h)) {
        ask_append(text, room, ", which is ");
        ask_append(text, room, event_name[h->event]);
        ask_append(text, room, " ");
        ask_append(text, room, recorder_name[h->recorder]);
        ask_append(text, room, h->asks ? " and asked for" : "");
        ask_append(text, room, h->by_node ? " and awaited by a node" : "");
    }
    if (h->more) {
        snprintf(more, sizeof(more), ", and after %u others that are recorded %s", h->more, h->more_first ? "before the work" : "after it");
        ask_append(text, room, more);
    }
    if (h->items) {
        snprintf(more, sizeof(more), ", after %u copies and memsets", h->items);
        ask_append(text, room, more);
    }
    ask_append(text, room, again_name[h->again]);
    ask_append(text, room, h->late ? ", which stores after its trigger" : "");
    ask_append(text, room, h->marked ? ", which a record follows" : "");
    ask_append(text, room, h->fresh ? ", a new event" : "");
    ask_append(text, room, h->awaited ? ", which another stream awaits as well" : "");
    if (h->later) {
        snprintf(more, sizeof(more), ", before %u later kernels%s", h->later, h->later_overlap ? " with attribute 6" : "");
        ask_append(text, room, more);
    }
    ask_append(text, room, !h->leaves ? "" : h->leaves_late ? ", whose stream is destroyed after the wait" : ", whose stream is destroyed then");
    ask_append(text, room, behind_name[h->behind]);
    ask_append(text, room, step_name[h->last]);
    if (h->link != LINK_SAME) {
        ask_append(text, room, " in ");
        ask_append(text, room, kind_name[h->to]);
        ask_append(text, room, h->arrives ? " that is new" : "");
    }
    ask_append(text, room, "; ");
    ask_append(text, room, mode_name[h->mode]);
    ask_append(text, room, h->by_thread ? " by another thread" : "");
    ask_append(text, room, h->by_driver ? "; the driver launches" : "");
    tell_more(h, text, room);
}

#endif
