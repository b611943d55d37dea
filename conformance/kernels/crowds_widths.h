/* crowds_widths.h - how the grids of crowds_shapes.h store and load single words: whole, by bytes, by halves, in eight bytes, by a compare-and-swap,
 * or as words that are not needed again. */
#ifndef CROWDS_WIDTHS_H_INCLUDED
#define CROWDS_WIDTHS_H_INCLUDED

enum shaped_width { WIDTH_WORD, WIDTH_BYTES, WIDTH_HALVES, WIDTH_EIGHT, WIDTH_COMPARED, WIDTH_STREAMED, SHAPED_WIDTHS };

DEVICE_FN void shaped_store(uint32_t *to, uint32_t word, uint32_t width)
{
    unsigned char *bytes = (unsigned char *)to;
    uint32_t i, there;

    if (width == WIDTH_BYTES)
        for (i = 0; i < 4; i++)
            k_store8(bytes + i, word >> 8 * i & 0xFF);
    else if (width == WIDTH_HALVES)
        for (i = 0; i < 4; i += 2)
            k_store16(bytes + i, word >> 8 * i & 0xFFFF);
    else if (width == WIDTH_STREAMED)
        k_store_streamed(to, word);
    else if (width == WIDTH_COMPARED)
        for (i = 0, there = ~word; i < 4 && there != word; i++) /* nobody else stores there: the second one hits */
            there = k_compare(to, there, word);
    else
        k_store(to, word);
}

/* Two words at once, which lie in eight bytes */
DEVICE_FN void shaped_store_eight(uint32_t *to, uint64_t words, uint32_t width)
{
    if (width == WIDTH_EIGHT)
        k_store64(to, words);
    else
        k_store64_relaxed(to, words);
}

DEVICE_FN uint32_t shaped_load(const uint32_t *words, uint32_t at, uint32_t width)
{
    const unsigned char *bytes = (const unsigned char *)(words + at);

    if (width == WIDTH_BYTES)
        return k_load8(bytes) | k_load8(bytes + 1) << 8 | k_load8(bytes + 2) << 16 | k_load8(bytes + 3) << 24;
    if (width == WIDTH_HALVES)
        return k_load16(bytes) | k_load16(bytes + 2) << 16;
    if (width == WIDTH_EIGHT)
        return (uint32_t)(k_load64(words + at / 2 * 2) >> 32 * (at % 2));
    return width == WIDTH_STREAMED ? k_load_streamed(words + at) : k_load(words + at);
}

#endif
