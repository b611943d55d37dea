/* other_thread.h - calls that another thread of the host makes. */
#ifndef OTHER_THREAD_H_INCLUDED
#define OTHER_THREAD_H_INCLUDED

#ifdef __cplusplus
extern "C" {
#endif

/* Runs this in another host thread, on this one's device, and waits for it; 0: no thread could be had. */
int run_in_thread(void (*run)(void *of), void *of);

#ifdef __cplusplus
}
#endif
#endif
