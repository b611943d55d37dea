/* case.c - the generated tables of cases, tags and images. */
#include "case.h"

#include <string.h>

#include "pair.h"

#include "cases.h"

const struct case_info *const case_table = kit_cases;
const unsigned case_count = KIT_CASE_COUNT;
const char *const case_suite = KIT_SUITE, *const case_rules_hash = KIT_RULES_HASH;

#define DECLARE_IMAGE(family, tag, suffix) extern const struct image image_##suffix;
KIT_IMAGES(DECLARE_IMAGE)
#define POINT_TO_IMAGE(family, tag, suffix) &image_##suffix,
static const struct image *const images[] = { KIT_IMAGES(POINT_TO_IMAGE) };

const struct tag_info *case_tag(const char *tag)
{
    size_t i;
    for (i = 0; i < KIT_TAG_COUNT; i++)
        if (strcmp(kit_tags[i].tag, tag) == 0)
            return &kit_tags[i];
    return NULL;
}

const struct image *case_image(const char *family, const char *tag)
{
    size_t i;
    for (i = 0; i < sizeof(images) / sizeof(images[0]); i++)
        if (strcmp(images[i]->family, family) == 0 && strcmp(images[i]->tag, tag) == 0)
            return images[i];
    return NULL;
}
