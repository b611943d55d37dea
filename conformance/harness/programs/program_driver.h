/* program_driver.h - the calls of program.h that are made by the runtime or by the driver, as the seed draws it.
 *
 * program_driver.c has those that launch, order and connect, program_moves.c those that move, program_driver_graphs.c those for whole graphs and captures,
 * program_driver_nodes.c those that add and change nodes, program_driver_older.c what the driver's calls were before edges had data.
 */
#ifndef PROGRAM_DRIVER_H_INCLUDED
#define PROGRAM_DRIVER_H_INCLUDED

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

struct made;
struct dice;
struct program_room;

enum driver_graph_call { DRIVER_INSTANTIATE, DRIVER_CLONE, DRIVER_UPDATE, DRIVER_UPLOAD, DRIVER_ENABLE, DRIVER_BEGIN, DRIVER_END, DRIVER_CHILD,
                         DRIVER_DEPEND, DRIVER_EDGES, DRIVER_INTO, DRIVER_OUT_OF, DRIVER_DESTROY_NODE, DRIVER_FIND, DRIVER_TO_GRAPH, DRIVER_INFO,
                         DRIVER_SET_ATTRIBUTE, DRIVER_GET_ATTRIBUTE, DRIVER_CHILD_PARAMS, DRIVER_NODES, DRIVER_ROOTS,
                         DRIVER_CHILD_OF, DRIVER_INSTANTIATE_WITH, DRIVER_ENABLED, DRIVER_DESTROY_EXEC, DRIVER_CAPTURING,
                         DRIVER_GRAPH_CALLS };
enum driver_older_call { OLDER_ADDS_EDGES, OLDER_REMOVES_EDGES, OLDER_EDGES, OLDER_DEPEND, OLDER_BEGIN, OLDER_INSTANTIATE, OLDER_UPDATE,
                         OLDER_ADDS_ANY, OLDER_ADDS_KERNEL, OLDER_SETS_KERNEL, OLDER_SETS_EXEC_KERNEL, OLDER_TELLS_KERNEL, OLDER_INTO,
                         OLDER_OUT_OF, OLDER_INFO, OLDER_STATUS, DRIVER_OLDER_CALLS };
/* Copies of any kind, to the device, to the host and inside; memsets of one row, or of rows; a word. */
enum driver_move { MOVE_ANY, MOVE_DOWN, MOVE_UP, MOVE_INSIDE, SET_BYTES, SET_HALVES, SET_WORDS, SET_ROWS, SET_VALUE, DRIVER_MOVES };
enum driver_node_call { DRIVER_ADDS, DRIVER_SETS, DRIVER_SETS_EXEC, DRIVER_TELLS, DRIVER_NODE_CALLS };
struct driver_call { const char *name; unsigned since; }; /* the version of CUDA that brought it */

cudaError_t program_open_driver(struct program_room *room);
void program_open_driver_moves(struct program_room *room);
void program_open_driver_graphs(struct program_room *room);
void program_open_driver_nodes(struct program_room *room);
void program_open_driver_older(struct program_room *room);
/* Of two functions of a name, the one whose edges have data. */
#define WITH_EDGE_DATA (CUDART_VERSION >= 13000 ? 13000u : 12030u)
/* NULL: this driver has no such function, or before toolkit 12.5 nothing says which of two of a name it would be. */
void *program_driver_call(const struct driver_call *call);
/* The kernel as the driver knows it. */
cudaFunction_t program_driver_kernel(const struct program_room *room, const void *kernel);

/* Edges of the graph that the steps lie in, by the runtime or by the driver. */
cudaError_t program_add_edges(struct made *made, const cudaGraphNode_t *from, const cudaGraphNode_t *to, const cudaGraphEdgeData *data, size_t count);
cudaError_t program_remove_edges(struct made *made, const cudaGraphNode_t *from, const cudaGraphNode_t *to, const cudaGraphEdgeData *data,
                                 size_t count);
/* What follows goes by the runtime, or by the driver; whether it does is drawn. Without dice it does not. */
int program_goes_by_driver(const struct made *made, struct dice *dice);
cudaError_t program_record(const struct made *made, cudaEvent_t event, cudaStream_t stream, struct dice *dice);
cudaError_t program_await(const struct made *made, cudaStream_t stream, cudaEvent_t event, struct dice *dice);
cudaError_t program_instantiate(const struct made *made, cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags, struct dice *dice);
/* Made and uploaded in this stream by one call. */
cudaError_t program_instantiate_uploaded(const struct made *made, cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags,
                                         cudaStream_t stream, struct dice *dice);
cudaError_t program_update_exec(const struct made *made, cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *info,
                                struct dice *dice);
cudaError_t program_upload(const struct made *made, cudaGraphExec_t exec, cudaStream_t stream, struct dice *dice);
cudaError_t program_enable(const struct made *made, cudaGraphExec_t exec, cudaGraphNode_t node, unsigned enabled, struct dice *dice);
cudaError_t program_is_enabled(const struct made *made, cudaGraphExec_t exec, cudaGraphNode_t node, unsigned *enabled, struct dice *dice);
cudaError_t program_destroy_exec(const struct made *made, cudaGraphExec_t exec, struct dice *dice);
cudaError_t program_clone(const struct made *made, cudaGraph_t *clone, cudaGraph_t graph, struct dice *dice);
cudaError_t program_add_child(const struct made *made, cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                              cudaGraph_t child, struct dice *dice);
/* All nodes of the graph that the steps lie in, or its roots; by_driver: by the driver's call, if there is one. */
cudaError_t program_nodes(const struct made *made, int roots, int by_driver, cudaGraphNode_t *nodes, size_t *count);
cudaError_t program_child_of(const struct made *made, cudaGraphNode_t node, cudaGraph_t *child, struct dice *dice);
cudaError_t program_destroy_node(const struct made *made, cudaGraphNode_t node, struct dice *dice);
cudaError_t program_find_node(const struct made *made, cudaGraphNode_t *found, cudaGraphNode_t node, cudaGraph_t clone, struct dice *dice);
cudaError_t program_set_child(const struct made *made, cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraph_t child, struct dice *dice);
cudaError_t program_set_attribute(const struct made *made, cudaGraphNode_t node, const cudaLaunchAttribute *attribute, struct dice *dice);
/* What the driver's call tells of this attribute, or, if there is none, the runtime's. */
cudaError_t program_attribute_of(const struct made *made, cudaGraphNode_t node, cudaLaunchAttributeID id, cudaLaunchAttributeValue *value);
/* What the driver's calls tell is the same: the edges, in any order, and those into and out of the nodes of one of them. 1: there are none. */
int program_driver_tells(const struct made *made, const cudaGraphNode_t *from, const cudaGraphNode_t *to, const cudaGraphEdgeData *data, size_t count);
cudaError_t program_begin_capture(const struct made *made, cudaStream_t stream, enum cudaStreamCaptureMode mode, struct dice *dice);
cudaError_t program_begin_capture_to(const struct made *made, cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *deps,
                                     const cudaGraphEdgeData *data, size_t count, enum cudaStreamCaptureMode mode, struct dice *dice);
cudaError_t program_is_capturing(const struct made *made, cudaStream_t stream, enum cudaStreamCaptureStatus *status, struct dice *dice);
/* What the next thing that this stream captures depends on. */
cudaError_t program_next_dependencies(const struct made *made, cudaStream_t stream, const cudaGraphNode_t **nodes, const cudaGraphEdgeData **data,
                                      size_t *count, struct dice *dice);
cudaError_t program_end_capture(const struct made *made, cudaStream_t stream, cudaGraph_t *graph, struct dice *dice);
cudaError_t program_depend(const struct made *made, cudaStream_t stream, cudaGraphNode_t *nodes, const cudaGraphEdgeData *data, size_t count,
                           unsigned flags, struct dice *dice);
cudaError_t program_launch_exec(const struct made *made, cudaGraphExec_t exec, cudaStream_t stream, struct dice *dice);
/* The older call, if it is drawn. */
void *program_older_call(const struct made *made, enum driver_older_call call, struct dice *dice);
/* By an older call of the driver, if it is drawn and can say the same: then each returns 1, and *error is what it gave. */
int program_changed_by_older(struct made *made, enum driver_older_call call, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                             const cudaGraphEdgeData *data, size_t count, cudaError_t *error);
int program_depended_by_older(const struct made *made, cudaStream_t stream, cudaGraphNode_t *nodes, const cudaGraphEdgeData *data, size_t count,
                              unsigned flags, struct dice *dice, cudaError_t *error);
int program_begun_by_older(const struct made *made, cudaStream_t stream, struct dice *dice, cudaError_t *error);
int program_instantiated_by_older(const struct made *made, cudaGraphExec_t *exec, cudaGraph_t graph, struct dice *dice, cudaError_t *error);
int program_updated_by_older(const struct made *made, cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *info, struct dice *dice,
                             cudaError_t *error);
/* What the runtime tells of a stream's capture; it is asked first: what a driver's call tells of nodes holds until the next call. */
struct told_capture {
    enum cudaStreamCaptureStatus status;
    unsigned long long id;
    cudaGraph_t graph;
};
cudaError_t program_tell_capture(cudaStream_t stream, struct told_capture *told);
/* Whether the driver told the same. */
int program_tells_same(const struct told_capture *told, unsigned status, unsigned long long id, const void *graph);
int program_told_by_older(const struct made *made, cudaStream_t stream, const cudaGraphNode_t **nodes, size_t *count, struct dice *dice,
                          cudaError_t *error);
int program_status_by_older(const struct made *made, cudaStream_t stream, enum cudaStreamCaptureStatus *status, struct dice *dice,
                            cudaError_t *error);
/* Whether the older calls tell as many edges, and those into and out of the nodes of one of them; an error, where they would lose data. */
int program_older_tells(const struct made *made, const cudaGraphNode_t *from, const cudaGraphNode_t *to, const cudaGraphEdgeData *data,
                        size_t count);
/* Whether the driver's calls tell the type of the node, its launch, its host function or its event as this step has them. */
int program_driver_tells_node(const struct made *made, cudaGraphNode_t node, unsigned step);
/* By the driver's call for this kind of node, or (general) for every kind, if it is drawn: then it returns 1, and *error is what it gave. */
int program_added_by_driver(const struct made *made, cudaGraph_t graph, unsigned step, const cudaGraphNode_t *deps, const cudaGraphEdgeData *data,
                            size_t count, int general, cudaGraphNode_t *node, struct dice *dice, cudaError_t *error);
/* exec: NULL sets the node of the graph. */
int program_set_by_driver(const struct made *made, cudaGraphExec_t exec, cudaGraphNode_t node, unsigned step, int general, struct dice *dice,
                          cudaError_t *error);
/* A launch by the driver, by any of its calls that takes these attributes. */
cudaError_t program_launch_by_driver(const struct made *made, const void *kernel, const cudaLaunchConfig_t *config, void **values, struct dice *dice);

#ifdef __cplusplus
}
#endif

#endif
