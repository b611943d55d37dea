/* crew.h - threads of the host that share out numbered tasks. They sleep between two calls. */
#ifndef CREW_H_INCLUDED
#define CREW_H_INCLUDED

struct crew;

/* threads: the caller's and its helpers', at least 1; there are fewer helpers if the system starts no more. NULL if memory is short. */
struct crew *crew_open(unsigned threads);
void crew_close(struct crew *crew);

/* Calls task(context, i, member) once for each i below `tasks`, and returns when all have returned. member: the thread's number, below
 * the number of threads. Each thread takes `at_once` tasks in a row. */
void crew_work(struct crew *crew, unsigned tasks, unsigned at_once, void (*task)(void *context, unsigned i, unsigned member), void *context);

#endif
