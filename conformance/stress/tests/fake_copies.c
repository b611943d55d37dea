/* fake_copies.c - copies to the host on several streams and contexts, and what may happen before they are read
 *
 * With -DDRIVER it is the stand-in libcuda.so.1: a copy arrives only when its stream is waited for, page-locked memory that was given
 * back cannot be read, and a stream that was destroyed may not be asked. Without, it is the program: its argument names the scene.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, BYTES = 64, MOST = 16, ODD_BYTES = 133 };

#ifdef DRIVER
static struct { void *to; const void *from; size_t bytes; void *stream, *context; } late[MOST];
static int late_count;
static void *context = (void *)0x1000;
static struct stream { int capturing, destroyed; } *known[MOST];
static int stream_count;

static void arrive(void *stream, void *of, int all)
{
    for (int i = 0; i < late_count; i++) {
        if (late[i].to && late[i].context == of && (all || late[i].stream == stream)) {
            memcpy(late[i].to, late[i].from, late[i].bytes);
            late[i].to = NULL;
        }
    }
}
int cuCtxGetCurrent(void **current) { *current = context; return 0; }
int cuCtxSetCurrent(void *wanted) { context = wanted; return 0; }
int cuMemHostAlloc(void **memory, size_t bytes, unsigned flags)
{
    (void)flags, (void)bytes;
    *memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return *memory == MAP_FAILED;
}
int cuMemFreeHost(void *memory)
{
    for (int i = 0; i < late_count; i++) {
        late[i].to = late[i].to == memory ? NULL : late[i].to;
    }
    return mprotect(memory, PAGE, PROT_NONE);
}
int cuPointerGetAttribute(void *found, int what, uint64_t address)
{
    if (address % PAGE != 0) { /* only page-locked memory begins with a page here */
        return 1;
    }
    what == 12 ? (void)(*(size_t *)found = PAGE) : (void)(*(unsigned *)found = 1);
    return 0;
}
int cuStreamCreate(void **stream, unsigned flags)
{
    (void)flags;
    *stream = known[stream_count++] = calloc(1, sizeof(struct stream));
    return 0;
}
int cuStreamDestroy_v2(void *stream) { arrive(stream, context, 0); ((struct stream *)stream)->destroyed = 1; return 0; }
int cuStreamIsCapturing(void *stream, int *status)
{
    if ((uintptr_t)stream > 2 && ((struct stream *)stream)->destroyed) {
        abort();
    }
    *status = (uintptr_t)stream > 2 && ((struct stream *)stream)->capturing;
    return 0;
}
int cuStreamQuery(void *stream)
{
    if ((uintptr_t)stream > 2 && (((struct stream *)stream)->destroyed || ((struct stream *)stream)->capturing)) {
        abort();
    }
    for (int i = 0; i < late_count; i++) {
        if (late[i].to && late[i].stream == stream) {
            return 600;
        }
    }
    return 0;
}
int cuStreamBeginCapture_v2(void *stream, int mode) { (void)mode; ((struct stream *)stream)->capturing = 1; return 0; }
int cuThreadExchangeStreamCaptureMode(int *mode) { (void)mode; return 0; }
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream)
{
    if ((uintptr_t)to % PAGE != 0) { /* to pageable memory: at once */
        memcpy(to, (const void *)(uintptr_t)from, bytes);
        return 0;
    }
    late[late_count].to = to, late[late_count].from = (const void *)(uintptr_t)from, late[late_count].bytes = bytes;
    late[late_count].stream = stream, late[late_count].context = context;
    late_count++;
    return 0;
}
int cuStreamSynchronize(void *stream) { arrive(stream, context, 0); return 0; }
int cuCtxSynchronize(void) { arrive(NULL, context, 1); return 0; }
int cuEventSynchronize(void *event) { arrive(event, context, 0); return 0; } /* an event is its stream here */
int cuEventQuery(void *event) { arrive(event, context, 0); return 0; }
#else
extern int cuCtxSetCurrent(void *), cuCtxSynchronize(void), cuMemHostAlloc(void **, size_t, unsigned), cuMemFreeHost(void *);
extern int cuStreamCreate(void **, unsigned), cuStreamDestroy_v2(void *), cuStreamQuery(void *), cuStreamSynchronize(void *);
extern int cuMemcpyDtoHAsync_v2(void *, uint64_t, size_t, void *), cuEventSynchronize(void *), cuEventQuery(void *);
extern int cuStreamBeginCapture_v2(void *, int);
static char words[BYTES] = "what the kernels computed";

static char *copied(void *stream)
{
    void *memory = NULL;
    cuMemHostAlloc(&memory, PAGE, 0);
    cuMemcpyDtoHAsync_v2(memory, (uint64_t)(uintptr_t)words, BYTES, stream);
    return memory;
}

/* The same bytes again and again, each time with another one changed, the first time with none. */
static void copy_each_change(void *stream)
{
    static char changed[ODD_BYTES], memory[ODD_BYTES];
    for (int at = -1; at < ODD_BYTES; at++) {
        memset(changed, 'a', sizeof changed);
        if (at >= 0) {
            changed[at] ^= 1;
        }
        cuMemcpyDtoHAsync_v2(memory, (uint64_t)(uintptr_t)changed, sizeof changed, stream);
    }
}

int main(int count, char **arguments)
{
    const char *scene = count > 1 ? arguments[1] : "";
    void *stream = NULL, *other = NULL;
    cuStreamCreate(&stream, 1);
    cuStreamCreate(&other, 1);
    if (strcmp(scene, "contexts") == 0) { /* another context's default stream, then this one's */
        cuCtxSetCurrent((void *)0x2000);
        copied(NULL);
        cuCtxSetCurrent((void *)0x1000);
        cuStreamSynchronize(NULL);
        cuCtxSynchronize();
        cuCtxSetCurrent((void *)0x2000);
        cuStreamSynchronize(NULL);
    } else if (strcmp(scene, "freed") == 0) {
        char *memory = copied(stream);
        copied(other);
        cuMemFreeHost(memory);
        cuCtxSynchronize();
    } else if (strcmp(scene, "destroyed") == 0) {
        copied(stream);
        copied(other);
        cuStreamDestroy_v2(stream);
        cuEventSynchronize(other);
    } else if (strcmp(scene, "pageable") == 0) {
        char *memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        cuMemcpyDtoHAsync_v2(memory + 8, (uint64_t)(uintptr_t)words, BYTES, stream);
        mprotect(memory, PAGE, PROT_NONE);
        cuStreamSynchronize(stream);
    } else if (strcmp(scene, "changes") == 0) {
        copy_each_change(stream);
    } else if (strcmp(scene, "asked") == 0) { /* the program asks until the event has ended, and uses the memory again */
        char *memory = copied(stream);
        cuEventQuery(stream);
        memset(memory, 0, BYTES);
        cuStreamSynchronize(stream);
    } else { /* a capture that has begun since is left alone */
        copied(stream);
        copied(other);
        cuStreamBeginCapture_v2(stream, 0);
        cuEventSynchronize(other);
    }
    return 0;
}
#endif
