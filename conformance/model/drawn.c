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

bool drawn_read(const char *name, struct drawn *drawn)
{
    struct drawn read = {EFFECT_none, false, 0};
    if (name == NULL)
        return false;
    if (strncmp(name, "r-to-", 5) == 0)
        name += 5;
    else if (strncmp(name, "r-from-", 7) == 0)
        name += 7, read.from = true;
    else
        return false;
    for (const char *end; (end = strchr(name, '-')) != NULL; name = end + 1) {
        int feature = find(features, FEATURES, name, (size_t)(end - name));
        if (feature < 0)
            return false;
        read.features |= (uint64_t)1 << feature;
    }
    int effect = find(effects, EFFECTS, name, strlen(name));
    if (effect <= 0 || read.features == 0)
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
    uint64_t has = features_of(d->from ? pred : op) | device.edge_features;
    return (has & d->features) == d->features;
}
