#include "coroutine.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#if !defined(MODEL_UCONTEXT) && !defined(__x86_64__) && !defined(__aarch64__)
#define MODEL_UCONTEXT 1
#endif
#ifdef MODEL_UCONTEXT
#include <ucontext.h>
#endif

#if defined(__SANITIZE_ADDRESS__)
#define MODEL_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MODEL_ASAN 1
#endif
#endif
#ifdef MODEL_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

enum { STACK_BYTES = 128 * 1024 };

struct coroutine {
    unsigned char *stack;
    void (*function)(void *);
    void *argument;
    void *fake_stack;
    int finished;
#ifdef MODEL_UCONTEXT
    ucontext_t context;
#else
    void *sp;
#endif
};

static struct coroutine *running;
static void *main_fake_stack;
static const void *main_stack;
static size_t main_stack_bytes;
#ifdef MODEL_UCONTEXT
static ucontext_t main_context;
#else
static void *main_sp;
void model_switch(void **save_sp, void *load_sp);
void model_switch_entry(void);
void model_coroutine_main(void);
#endif

#if !defined(MODEL_UCONTEXT) && defined(__x86_64__)
__asm__(".text\n"
        ".globl model_switch\n.hidden model_switch\n.type model_switch,@function\n"
        "model_switch:\n"
        "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
        "  movq %rsp, (%rdi)\n"
        "  movq %rsi, %rsp\n"
        "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
        "  ret\n"
        ".size model_switch,.-model_switch\n"
        ".globl model_switch_entry\n.hidden model_switch_entry\n.type model_switch_entry,@function\n"
        "model_switch_entry:\n"
        "  xorl %ebp, %ebp\n"
        "  call model_coroutine_main\n"
        "  ud2\n"
        ".size model_switch_entry,.-model_switch_entry\n");
#elif !defined(MODEL_UCONTEXT) && defined(__aarch64__)
__asm__(".text\n"
        ".globl model_switch\n.hidden model_switch\n.type model_switch,%function\n"
        "model_switch:\n"
        "  sub sp, sp, #160\n"
        "  stp x19, x20, [sp, #0]\n  stp x21, x22, [sp, #16]\n  stp x23, x24, [sp, #32]\n"
        "  stp x25, x26, [sp, #48]\n  stp x27, x28, [sp, #64]\n  stp x29, x30, [sp, #80]\n"
        "  stp d8, d9, [sp, #96]\n  stp d10, d11, [sp, #112]\n  stp d12, d13, [sp, #128]\n  stp d14, d15, [sp, #144]\n"
        "  mov x9, sp\n  str x9, [x0]\n  mov sp, x1\n"
        "  ldp x19, x20, [sp, #0]\n  ldp x21, x22, [sp, #16]\n  ldp x23, x24, [sp, #32]\n"
        "  ldp x25, x26, [sp, #48]\n  ldp x27, x28, [sp, #64]\n  ldp x29, x30, [sp, #80]\n"
        "  ldp d8, d9, [sp, #96]\n  ldp d10, d11, [sp, #112]\n  ldp d12, d13, [sp, #128]\n  ldp d14, d15, [sp, #144]\n"
        "  add sp, sp, #160\n"
        "  ret\n"
        ".size model_switch,.-model_switch\n"
        ".globl model_switch_entry\n.hidden model_switch_entry\n.type model_switch_entry,%function\n"
        "model_switch_entry:\n"
        "  mov x29, #0\n"
        "  bl model_coroutine_main\n"
        "  brk #0\n"
        ".size model_switch_entry,.-model_switch_entry\n");
#endif

/* Tells the address sanitizer that the stack changes; dying: the one we leave will not be resumed. */
static void leaving(void **fake_stack, const void *bottom, size_t bytes)
{
#ifdef MODEL_ASAN
    __sanitizer_start_switch_fiber(fake_stack, bottom, bytes);
#else
    (void)fake_stack, (void)bottom, (void)bytes;
#endif
}

static void arrived(void *fake_stack, const void **bottom, size_t *bytes)
{
#ifdef MODEL_ASAN
    __sanitizer_finish_switch_fiber(fake_stack, bottom, bytes);
#else
    (void)fake_stack, (void)bottom, (void)bytes;
#endif
}

static void switch_to_main(struct coroutine *self)
{
    leaving(self->finished ? NULL : &self->fake_stack, main_stack, main_stack_bytes);
#ifdef MODEL_UCONTEXT
    swapcontext(&self->context, &main_context);
#else
    model_switch(&self->sp, main_sp);
#endif
    arrived(self->fake_stack, &main_stack, &main_stack_bytes);
}

__attribute__((used, visibility("hidden"))) void model_coroutine_main(void)
{
    arrived(NULL, &main_stack, &main_stack_bytes);
    struct coroutine *self = running;
    self->function(self->argument);
    self->finished = 1;
    switch_to_main(self);
    abort();
}

struct coroutine *coroutine_new(void)
{
    struct coroutine *c = calloc(1, sizeof *c);
    void *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (c == NULL || stack == MAP_FAILED) {
        fputs("pdl model: no memory for kernel threads\n", stderr);
        abort();
    }
    mprotect(stack, 4096, PROT_NONE); /* guard: a kernel that needs more stack faults here */
    c->stack = stack;
    return c;
}

void coroutine_delete(struct coroutine *c)
{
    if (c != NULL) {
        munmap(c->stack, STACK_BYTES);
        free(c);
    }
}

void coroutine_begin(struct coroutine *c, void (*function)(void *), void *argument)
{
    c->function = function;
    c->argument = argument;
    c->fake_stack = NULL;
#ifdef MODEL_ASAN
    if (!c->finished) /* new, or its frames were dropped */
        __asan_unpoison_memory_region(c->stack + 4096, STACK_BYTES - 4096);
#endif
    c->finished = 0;
#ifdef MODEL_UCONTEXT
    getcontext(&c->context);
    c->context.uc_stack.ss_sp = c->stack;
    c->context.uc_stack.ss_size = STACK_BYTES;
    c->context.uc_link = NULL;
    makecontext(&c->context, model_coroutine_main, 0);
#elif defined(__x86_64__)
    uintptr_t *top = (uintptr_t *)(void *)(c->stack + STACK_BYTES - 16);
    *--top = (uintptr_t)model_switch_entry;
    for (int i = 0; i < 6; i++)
        *--top = 0;
    c->sp = top;
#else
    uintptr_t *top = (uintptr_t *)(void *)(c->stack + STACK_BYTES - 160);
    for (int i = 0; i < 20; i++)
        top[i] = 0;
    top[11] = (uintptr_t)model_switch_entry; /* x30 */
    c->sp = top;
#endif
}

void coroutine_resume(struct coroutine *c)
{
    running = c;
    leaving(&main_fake_stack, c->stack, STACK_BYTES);
#ifdef MODEL_UCONTEXT
    swapcontext(&main_context, &c->context);
#else
    model_switch(&main_sp, c->sp);
#endif
    arrived(main_fake_stack, NULL, NULL);
    running = NULL;
}

void coroutine_yield(void)
{
    switch_to_main(running);
}
