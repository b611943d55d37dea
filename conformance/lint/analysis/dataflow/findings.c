/* What is found on the paths: each place once. */
#include "dataflow/dataflow.h"

static struct map places_found; /* what of a place was found, and where it is listed */

void found_begin(void)
{
    struct findings *found = now.found;
    found->access_count = found->state_count = found->unresolved_count = 0;
    for (int what = 0; what < FOUND_PLACES; what++)
        found->places[what].count = 0;
    map_clear(&places_found);
}

static struct place place_in(const struct section *section, uint32_t index)
{
    return (struct place){image.sections + (section - image.sections), index};
}

static uint64_t found_key(const struct section *section, uint32_t index, unsigned what)
{
    return (uint64_t)what << 60 | (uint64_t)(section - image.sections) << 32 | index;
}

static void add_caller(struct access *access, name caller)
{
    for (size_t i = 0; i < access->caller_count; i++)
        if (access->callers[i] == caller)
            return;
    access->callers = grown(access->callers, &access->caller_capacity, access->caller_count + 1, sizeof *access->callers);
    access->callers[access->caller_count++] = caller;
}

void add_access(const struct section *section, uint32_t index, uint8_t kind, enum progress wait, provenance from, context c, struct place passed)
{
    struct findings *found = now.found;
    uint32_t at;
    if (!map_get(&places_found, found_key(section, index, 0), &at)) {
        at = (uint32_t)found->access_count;
        found->accesses = grown(found->accesses, &found->access_capacity, at + 1u, sizeof *found->accesses);
        found->accesses[found->access_count++] = (struct access){.place = place_in(section, index), .kind = kind};
        map_put(&places_found, found_key(section, index, 0), at);
    }
    struct access *access = &found->accesses[at];
    found->state_count += !(access->states >> wait & 1);
    access->states |= (uint8_t)(1u << wait);
    if (access->passed.section == NULL)
        access->passed = passed;
    access->provenance = provenance_union(access->provenance, from);
    if (c != 0)
        add_caller(access, frame_of(c)->section->name);
}

void add_place(enum found_place what, const struct section *section, uint32_t index)
{
    struct place_list *places = &now.found->places[what];
    uint32_t there;
    if (map_get(&places_found, found_key(section, index, 1u + what), &there))
        return;
    map_put(&places_found, found_key(section, index, 1u + what), 0);
    places->place = grown(places->place, &places->capacity, places->count + 1, sizeof *places->place);
    places->place[places->count++] = place_in(section, index);
}

void add_unresolved(const struct section *section, uint32_t index, const char *why, name callee)
{
    struct findings *found = now.found;
    for (size_t i = 0; i < found->unresolved_count; i++) {
        const struct unresolved *old = &found->unresolved[i];
        if (old->place.section == section && old->place.index == index && old->why == why && old->callee == callee)
            return;
    }
    found->unresolved = grown(found->unresolved, &found->unresolved_capacity, found->unresolved_count + 1, sizeof *found->unresolved);
    found->unresolved[found->unresolved_count++] = (struct unresolved){place_in(section, index), why, callee};
}
