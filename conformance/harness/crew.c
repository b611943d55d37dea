/* crew.c - threads of the host that share out numbered tasks. */
#include "crew.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct helper {
    struct crew *crew;
    unsigned member;
    pthread_t thread;
};

struct crew {
    pthread_mutex_t lock;        /* of what follows, up to next */
    pthread_cond_t begun, idle;
    void (*task)(void *context, unsigned i, unsigned member); /* NULL: there is nothing to do */
    void *context;
    unsigned tasks, at_once;
    unsigned active;             /* helpers at work */
    int ending;
    atomic_uint next;            /* task that nobody has taken */
    unsigned helpers;
    struct helper helper[];
};

static void work(struct crew *crew, unsigned member)
{
    unsigned first, i;

    while ((first = atomic_fetch_add(&crew->next, crew->at_once)) < crew->tasks)
        for (i = first; i < first + crew->at_once && i < crew->tasks; i++)
            crew->task(crew->context, i, member);
}

static void *help(void *context)
{
    struct helper *helper = context;
    struct crew *crew = helper->crew;

    pthread_mutex_lock(&crew->lock);
    while (!crew->ending) {
        if (!crew->task || atomic_load(&crew->next) >= crew->tasks) {
            pthread_cond_wait(&crew->begun, &crew->lock);
            continue;
        }
        crew->active++;
        pthread_mutex_unlock(&crew->lock);
        work(crew, helper->member);
        pthread_mutex_lock(&crew->lock);
        if (--crew->active == 0)
            pthread_cond_signal(&crew->idle);
    }
    pthread_mutex_unlock(&crew->lock);
    return NULL;
}

void crew_work(struct crew *crew, unsigned tasks, unsigned at_once, void (*task)(void *context, unsigned i, unsigned member), void *context)
{
    pthread_mutex_lock(&crew->lock);
    crew->task = task;
    crew->context = context;
    crew->tasks = tasks;
    crew->at_once = at_once;
    atomic_store(&crew->next, 0);
    pthread_cond_broadcast(&crew->begun);
    pthread_mutex_unlock(&crew->lock);
    work(crew, 0);
    pthread_mutex_lock(&crew->lock);
    while (crew->active) /* a helper that wakes up only now finds nothing left, and nobody waits for it */
        pthread_cond_wait(&crew->idle, &crew->lock);
    crew->task = NULL;
    pthread_mutex_unlock(&crew->lock);
}

struct crew *crew_open(unsigned threads)
{
    struct crew *crew = calloc(1, sizeof(*crew) + (threads - 1) * sizeof(crew->helper[0]));

    if (!crew)
        return NULL;
    pthread_mutex_init(&crew->lock, NULL);
    pthread_cond_init(&crew->begun, NULL);
    pthread_cond_init(&crew->idle, NULL);
    while (crew->helpers + 1 < threads) {
        struct helper *helper = &crew->helper[crew->helpers];
        helper->crew = crew;
        helper->member = crew->helpers + 1;
        if (pthread_create(&helper->thread, NULL, help, helper) != 0)
            break;
        crew->helpers++;
    }
    return crew;
}

void crew_close(struct crew *crew)
{
    unsigned i;

    pthread_mutex_lock(&crew->lock);
    crew->ending = 1;
    pthread_cond_broadcast(&crew->begun);
    pthread_mutex_unlock(&crew->lock);
    for (i = 0; i < crew->helpers; i++)
        pthread_join(crew->helper[i].thread, NULL);
    pthread_cond_destroy(&crew->begun);
    pthread_cond_destroy(&crew->idle);
    pthread_mutex_destroy(&crew->lock);
    free(crew);
}
