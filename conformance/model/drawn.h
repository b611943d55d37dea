/* Drawn devices: what goes wrong, and with which feature of a launch or of the way it was made.
 *
 * The grammar: r[-from-FEATURE[-FEATURE]][-to-FEATURE[-FEATURE]]-EFFECT. from: features of the work that is depended on; to: of the work that
 * depends on it; at least one of both. A device whose features never meet in a legal program is no broken device: nothing can tell it from a
 * conforming one. */
#ifndef PDL_MODEL_DRAWN_H
#define PDL_MODEL_DRAWN_H

#include <stdbool.h>
#include <stdint.h>

#define DRAWN_FEATURES(X)                                                                                                \
    X(kernel) X(memset) X(copy) X(host) X(attribute) X(cooperative) X(cluster) X(urgent) X(domain) X(manyblocks) X(gridy) X(gridz) \
    X(bigblock) X(smallblock) X(shared) X(muchshared) X(event) X(eager) X(graph) X(child) X(body) X(captured) X(legacy)     \
    X(perthread) X(blocking) X(highstream) X(updated) X(reenabled) X(uploaded) X(again) X(fanin) X(thirdedge) X(otherthread) \
    X(afteritem) X(deep) X(secondexec) X(driver) X(longargs) X(hint) X(completion) X(tohost) X(fromhost) X(round)
#define DRAWN_FEATURE_ID(name) FEATURE_##name,
enum feature { DRAWN_FEATURES(DRAWN_FEATURE_ID) FEATURES };
#undef DRAWN_FEATURE_ID
#define HAS(name) ((uint64_t)1 << FEATURE_##name)

#define DRAWN_EFFECTS(X) X(uncovered) X(attrigger) X(atstart) X(unordered) X(firstblock) X(beforeflush) X(keepslines) X(waitkeeps)
#define DRAWN_EFFECT_ID(name) EFFECT_##name,
enum effect { EFFECT_none, DRAWN_EFFECTS(DRAWN_EFFECT_ID) EFFECTS };
#undef DRAWN_EFFECT_ID

struct drawn {
    enum effect effect;
    uint64_t from, to; /* features that the work has on which another depends, and that the other has: all of them */
};

/* The device of this name; false if the grammar has none. */
bool drawn_read(const char *name, struct drawn *drawn);

#endif
