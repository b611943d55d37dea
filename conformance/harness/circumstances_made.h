/* circumstances_made.h - what stands around the questions now, for the files that make it. */
#ifndef CIRCUMSTANCES_MADE_H_INCLUDED
#define CIRCUMSTANCES_MADE_H_INCLUDED

#include "circumstances.h"

#define KEPT 512u              /* graphs and executable graphs that are kept until the end; further ones go at once */
#define LANES 4u               /* captures that may be under way at once in streams that joined */

/* Kinds of calls. */
enum { CALLED_GRAPH = 1, CALLED_EXEC = 2, CALLED_CAPTURE = 4, CALLED_COPY = 8, CALLED_WAIT = 16, CALLED_MAKE = 32, CALLED_CONDITION = 64,
       CALLED_LAUNCH = 128 };

struct lane {
    cudaStream_t origin, joined; /* joined: the asker's, while it captures */
    cudaEvent_t event;
};

struct around {
    enum circumstance now;
    unsigned calls;            /* the kinds that were seen */
    cudaGraphExec_t exec[KEPT];
    cudaGraph_t graph[KEPT];
    unsigned execs, graphs;
    cudaStream_t other;        /* the stream that captures beside others, and in which streams and events are used first */
    unsigned captures;         /* under way beside it */
    unsigned begun;            /* captures so far */
    unsigned made;             /* streams and events so far */
    struct lane lane[LANES];
};

extern struct around around;

/* These are given back in the end. */
void around_keep_exec(cudaGraphExec_t exec);
void around_keep_graph(cudaGraph_t graph);
/* A stream that the questions do not know; NULL if none can be had. */
cudaStream_t around_other_stream(void);
/* In the relaxed mode a capture of this thread forbids no call. Gives the mode that was set, for the second call. */
enum cudaStreamCaptureMode around_relax(void);
void around_restore(enum cudaStreamCaptureMode mode);
void around_end_all_captures(void);

#endif
