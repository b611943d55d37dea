/* Reads the names of drawn devices, and says where their fault acts. */
#include "drawn.h"

#include "machine.h"

#include <string.h>

#define NAME(name) #name,
static const char *const features[] = {DRAWN_FEATURES(NAME)};
static const char *const effects[] = {"", DRAWN_EFFECTS(NAME)};

static int find(const char *const *names, int count, const char *word, size_t length)
{
    for (int i = 0; i < count; i++)
        if (strlen(names[i]) == length && memcmp(names[i], word, length) == 0)
            return i;
    return -1;
}

/* Reads the features of one side, if the name goes on with it. Returns how it goes on after them. */
static const char *features_after(const char *side, const char *name, uint64_t *has)
{
    if (strncmp(name, side, strlen(side)) != 0)
        return name;
    name += strlen(side);
    for (const char *end; (end = strchr(name, '-')) != NULL; name = end + 1) {
        int feature = find(features, FEATURES, name, (size_t)(end - name));
        if (feature < 0)
            break;
        *has |= (uint64_t)1 << feature;
    }
    return name;
}

bool drawn_read(const char *name, struct drawn *drawn)
{
    struct drawn read = {EFFECT_none, 0, 0};
    if (name == NULL || strncmp(name, "r-", 2) != 0)
        return false;
    name += 2;
    name = features_after("from-", name, &read.from);
    name = features_after("to-", name, &read.to);
    int effect = find(effects, EFFECTS, name, strlen(name));
    if (effect <= 0 || (read.from | read.to) == 0)
        return false;
    read.effect = (enum effect)effect;
    *drawn = read;
    return true;
}

/* Graphs begin and end with joins, and events are records: faults of kernels and items are asked for, not of these. */
static bool is_work(const struct op *op)
{
    return op->kind != OP_JOIN && op->kind != OP_RECORD;
}

/* With those that are no matter of its launch. */
static uint64_t features_of(const struct op *op)
{
    return op->features | (op->to_host ? HAS(tohost) : 0) | (op->from_host ? HAS(fromhost) : 0) | (op->later_round ? HAS(round) : 0);
}

bool drawn_acts(enum effect effect, const struct op *op, const struct op *pred)
{
    const struct drawn *d = &device.drawn;
    if (d->effect != effect || !is_work(op) || !is_work(pred))
        return false;
    uint64_t from = features_of(pred) | device.edge_features, to = features_of(op) | device.edge_features;
    return (from & d->from) == d->from && (to & d->to) == d->to;
}
