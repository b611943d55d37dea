/* What a capture holds: capture.c adds nodes to it, capture_events.c events, api_capture.c begins, ends, tells and changes it. */
#ifndef PDL_MODEL_CAPTURE_H
#define PDL_MODEL_CAPTURE_H

#include "api.h"

#include <pthread.h>

/* One capture sequence; several streams may belong to it. Each has its half-edges: the nodes that the next node in that
 * stream will depend on. `behind` holds nodes that a programmatic edge let the stream overlap: full work that comes
 * later must be ordered after them too (F15), a programmatic successor need not be. */
struct lane {
    struct stream *stream;
    struct half_edge *half;
    unsigned halves, half_room;
    struct node **behind;
    unsigned behinds, behind_room;
    bool by_program; /* it joined by a programmatic event; for the device program-fork-not-counted */
    struct node *last; /* that was captured in it: for the device set-dependencies-passed */
    unsigned hands; /* how many streams handed the capture on to it, the first one not counted */
    bool added; /* dependencies, by a call; for the device set-after-add-keeps */
    bool set; /* dependencies, since its last node; for the devices set-again-adds and set-dependencies-passed */
    struct lane *next;
};

struct capture {
    struct graph *graph;
    struct stream *origin;
    enum cudaStreamCaptureMode mode;
    pthread_t thread;          /* that began it */
    unsigned long long id;
    bool invalid, owns_graph, lost_nodes;
    struct lane *lanes;
    cudaGraphNode_t *answer_nodes; /* what capture_info hands out */
    edge_data *answer_data;
    struct capture *next;
};

struct capture *capture_new(void); /* NULL: no memory */
void capture_free(struct capture *c);
void capture_id_again(void);       /* the next capture gets the id of the last one */
struct capture *capture_of_id(unsigned long long id); /* NULL: it has ended */
struct lane *lane_of(struct capture *c, struct stream *s);
void event_holds(struct event *e, struct stream *s, const struct half_edge *half, unsigned halves);
void lane_depends(struct lane *l, struct half_edge h);

#endif
