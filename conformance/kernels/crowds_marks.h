/* crowds_marks.h - what the grids of crowds_shapes.h store before they wait, as kernels do that clear memory for later ones. Each thread stores one
 * word when it begins and one when it ends. The last word of a kernel shares eight bytes with the first word of the next kernel. All threads but
 * those of the ordinary kernel also add to one common word, when they begin and when they end. After its wait, and in the end, each thread
 * finds its own words and its neighbour's; later kernels find all words, and the ordinary kernel finds the sum. */
#ifndef CROWDS_MARKS_H_INCLUDED
#define CROWDS_MARKS_H_INCLUDED

#define MARKS_EACH (2 * SHAPED) /* words of the threads of one number */
#define MARKS_SUM (SHAPED_MOST * MARKS_EACH) /* the word that all add to */
#define MARKS_BYTES ((MARKS_SUM + 1) * sizeof(uint32_t))

DEVICE_FN uint32_t mark_at(uint32_t place, uint32_t thread, uint32_t last)
{
    return MARKS_EACH * thread + 2 * ((place + last) % SHAPED) + !last;
}

DEVICE_FN void shaped_marks(const struct shaped_args *args, uint64_t key, uint32_t last)
{
    uint32_t at = mark_at(args->place, CROWD_BLOCK * k_threads() + k_thread(), last), word = words_fresh(key + args->place, at);

    if (!args->marks)
        return;
    if (args->store == STORES_RELAXED)
        k_store_relaxed(args->marks + at, word);
    else if (args->store == STORES_BY_EXCHANGE)
        (void)k_exchange(args->marks + at, word);
    else
        k_store(args->marks + at, word);
    if (args->place + 1 < SHAPED)
        k_add(args->marks + MARKS_SUM, 1);
}

/* How many of the two words of a thread of that kernel are others; last: both are to be there, not only the first one. */
DEVICE_FN uint32_t marks_lost(const struct shaped_args *args, uint64_t key, uint32_t place, uint32_t thread, uint32_t last)
{
    uint32_t wrong = 0, i, at;

    for (i = 0; i <= last && args->marks; i++) {
        at = mark_at(place, thread, i);
        wrong += k_load(args->marks + at) != words_fresh(key + place, at);
    }
    return wrong;
}

/* Of this thread, and of the next one of its block, which it has met in a barrier. */
DEVICE_FN uint32_t own_marks_lost(const struct shaped_args *args, uint64_t key, uint32_t last)
{
    uint32_t first = CROWD_BLOCK * k_threads();

    return marks_lost(args, key, args->place, first + k_thread(), last) +
           marks_lost(args, key, args->place, first + (k_thread() + 1) % k_threads(), last);
}

/* `before`: what the sum was before the row came for the first time; rounds: how often it came before. */
DEVICE_FN uint32_t marks_miscounted(const struct shaped_args *args, uint32_t before, uint32_t rounds)
{
    uint32_t place, added = 0;

    for (place = 0; place + 1 < SHAPED; place++)
        added += 2 * args->threads[place];
    return args->marks && k_load_l2(args->marks + MARKS_SUM) != before + (rounds + 1) * added;
}

#endif
