/* launches.c - see launches.h */
#include "launches.h"

#include <string.h>

int launch_without_overlap(const struct launch *launch, struct changed_launch *changed)
{
    unsigned count = launch->attributes ? launch->attribute_count : 0, kept = 0;
    if (count > MOST_ATTRIBUTES) {
        return 0;
    }
    for (unsigned i = 0; i < count; i++) {
        if (launch->attributes[i].id != SERIALIZATION) {
            changed->attributes[kept++] = launch->attributes[i];
        }
    }
    changed->launch = *launch;
    changed->launch.attributes = changed->attributes;
    changed->launch.attribute_count = kept;
    return 1;
}

int launch_with_overlap(const struct launch *launch, struct changed_launch *changed)
{
    if (!launch_without_overlap(launch, changed)) {
        return 0;
    }
    struct attribute *added = &changed->attributes[changed->launch.attribute_count++];
    memset(added, 0, sizeof *added);
    added->id = SERIALIZATION;
    added->value.number = 1;
    return 1;
}
