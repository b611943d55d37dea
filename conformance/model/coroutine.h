/* Kernel threads as coroutines. Assembly switch on x86-64 and aarch64 (save the callee-saved registers, change stacks),
 * ucontext elsewhere or with MODEL_UCONTEXT. */
#ifndef PDL_MODEL_COROUTINE_H
#define PDL_MODEL_COROUTINE_H

struct coroutine;

struct coroutine *coroutine_new(void);
void coroutine_delete(struct coroutine *coroutine);
/* The next resume calls function(argument) on a fresh stack; whatever was running there is dropped. */
void coroutine_begin(struct coroutine *coroutine, void (*function)(void *), void *argument);
/* Runs it until it yields or its function returns. Not from inside a coroutine. */
void coroutine_resume(struct coroutine *coroutine);
void coroutine_yield(void);

#endif
