/* The devices by name. A broken one sets one fault flag; where the flag acts is a matter of grep. */
#include "machine.h"

#include <string.h>

#define BROKEN(NAME, FLAG, RULE, TEXT) {NAME, RULE, TEXT, offsetof(struct faults, FLAG), false}
#define CONFORMING(NAME, FLAG, TEXT) {NAME, "", TEXT, offsetof(struct faults, FLAG), true}

static const struct variant conforming = {"", "", "everything PDL allows is the seed's choice", SIZE_MAX, true};

static char drawn_name[128]; /* a reset of the device keeps it */
static const struct variant drawn = {drawn_name, "SAME-01", "drawn from the grammar of drawn.h", SIZE_MAX, false};

static const struct variant variants[] = {
    CONFORMING("never-overlaps", never_overlaps, "no dependent ever starts before its predecessor completed"),
    CONFORMING("early", early, "every dependent starts the moment it may"),
    CONFORMING("shared", shared, "others use the GPU, too: any thread may stand still for 60 microseconds"),
    CONFORMING("pageable-later", pageable_later, "asynchronous copies from and to pageable memory go on after their call"),
    CONFORMING("late-copies", late_copies, "one in 32 copies, memsets, host functions and event records begins up to 60 microseconds late"),
    BROKEN("wait-at-trigger", wait_at_trigger, "WAIT-01", "the wait returns when the predecessor has triggered"),
    BROKEN("wait-before-flush", wait_before_flush, "WAIT-01", "the wait returns at the last exit, before the flush"),
    BROKEN("wait-some-blocks", wait_some_blocks, "WAIT-01", "the wait covers the first half of the blocks only"),
    BROKEN("wait-stale-lines", wait_stale_lines, "MEM-01", "the wait leaves lines cached that were read before it"),
    BROKEN("second-wait-hangs", second_wait_hangs, "WAIT-05", "a thread's second wait never returns"),
    BROKEN("wait-needs-trigger", wait_needs_trigger, "WAIT-10", "the wait hangs if the predecessor never triggered"),
    BROKEN("one-trigger-launches", one_trigger_launches, "TRIG-01", "one block's trigger launches the dependent"),
    BROKEN("lone-thread-left-out", lone_thread_left_out, "EVT-01", "of blocks of one thread one need not have triggered"),
    BROKEN("unstarted-blocks-count", unstarted_blocks_count, "TRIG-02", "blocks that have not started count as triggered"),
    BROKEN("trigger-counts-calls", trigger_counts_calls, "TRIG-05", "trigger calls are counted, not blocks"),
    BROKEN("exit-not-trigger", exit_not_trigger, "WAIT-10", "an exit does not count as a trigger: the dependent never starts"),
    BROKEN("plain-overlaps", plain_overlaps, "ATTR-03", "a launch without the attribute overlaps after a trigger"),
    BROKEN("value-zero-overlaps", value_zero_overlaps, "ATTR-05", "attribute 6 with value 0 overlaps"),
    BROKEN("recorder-overlaps", recorder_overlaps, "ATTR-03", "a launch that records an event overlaps as if it carried attribute 6"),
    BROKEN("attribute-leaks", attribute_leaks, "ATTR-03", "attribute 6 stays in force for the stream's next launch"),
    BROKEN("dependents-steal-slots", dependents_steal_slots, "FWD-03", "dependents take slots that the predecessor's blocks still need"),
    BROKEN("event-at-launch", event_at_launch, "EVT-07", "an ordinary event fires when the kernel before it has started"),
    BROKEN("launch-record-stays", launch_record_stays, "EVT-07", "recorded again, an event stays with the launch that recorded it, as long as that is in flight"),
    BROKEN("copy-does-not-wait", copy_does_not_wait, "MEM-06", "a copy or memset does not wait for the kernel before it"),
    BROKEN("program-event-first-block", program_event_first_block, "EVT-01", "a programmatic event fires at the first block's trigger"),
    BROKEN("capture-loses-order", capture_loses_order, "MEM-06", "capture forgets what a kernel that never waits had overlapped"),
    BROKEN("edge-becomes-launch-completion", edge_becomes_launch_completion, "EDGE-09", "no wait covers a programmatic edge"),
    BROKEN("full-becomes-programmatic", full_becomes_programmatic, "EDGE-01", "a full edge of a graph lets go at the trigger"),
    BROKEN("illegal-edge-accepted", illegal_edge_accepted, "EDGE-05", "an illegal combination of ports and type is accepted"),
    BROKEN("legal-edge-refused", legal_edge_refused, "EDGE-05", "a legal programmatic edge is refused"),
    BROKEN("lossy-query-succeeds", lossy_query_succeeds, "EDGE-14", "an edge query without edge data succeeds"),
    BROKEN("ordinary-primary-not-covered", ordinary_not_covered, "ATTR-04", "the wait does not cover a kernel that was launched without the attribute"),
    BROKEN("ignored-entry-uncovers", ignored_uncovers, "ATTR-07", "after an entry with the id ignore the wait covers nothing"),
    BROKEN("unread-attributes-count", reads_unread, "ATTR-08", "a pointer to attributes counts although their number is 0"),
    BROKEN("exits-not-covered", exits_not_covered, "TRIG-03", "the wait does not cover blocks that exited without a trigger"),
    BROKEN("cluster-triggers-at-once", cluster_triggers_at_once, "COMP-01a", "one trigger counts for all blocks of a cluster"),
    BROKEN("urgent-jumps", urgent_jumps, "COMP-03", "a kernel with a priority of its own starts at the first block's trigger"),
    BROKEN("cooperative-not-covered", cooperative_not_covered, "COMP-02", "the wait does not cover a cooperative kernel"),
    BROKEN("domain-not-covered", domain_not_covered, "MEM-08", "the wait does not cover a kernel in another memory-sync domain"),
    BROKEN("default-streams-not-covered", default_streams_not_covered, "COMP-06", "in the default streams the wait covers nothing"),
    BROKEN("item-hides-primary", item_hides_primary, "COMP-05", "the wait covers nothing if other work stands between"),
    BROKEN("host-learns-early", host_learns_early, "MEM-09", "a stream's end does not wait for what its last kernel overlapped"),
    BROKEN("idle-attribute-refused", idle_attribute_refused, "COMP-07", "attribute 6 is refused where there is nothing to overlap"),
    BROKEN("first-start-counts", first_start_counts, "EVT-02", "a block-start event or edge fires when the first block starts"),
    BROKEN("program-event-not-covered", program_event_not_covered, "EVT-11", "the wait does not cover the kernel of a programmatic event"),
    BROKEN("one-edge-is-enough", one_edge_is_enough, "COMP-04", "of several edges into a node the first one made decides alone"),
    BROKEN("graph-root-overlaps", graph_root_overlaps, "COMP-12", "a graph begins when the kernel before it has triggered"),
    BROKEN("captured-attribute-full", captured_attribute_full, "EDGE-11", "capture makes attribute 6 a full edge"),
    BROKEN("captured-event-full", captured_event_full, "EDGE-12", "capture makes a programmatic event a full edge"),
    BROKEN("captured-start-at-trigger", captured_start_at_trigger, "EDGE-13", "capture makes an event at block starts one at the trigger"),
    BROKEN("captured-anywhere", captured_anywhere, "EDGE-30", "capture makes a programmatic edge from what is no kernel"),
    BROKEN("half-edge-data-lost", half_edge_data_lost, "EDGE-18", "a capture forgets the edge data that it was given"),
    BROKEN("unjoined-accepted", unjoined_accepted, "EDGE-19", "a capture ends although a fork has not rejoined"),
    BROKEN("removed-nodes-unjoined", removed_nodes_unjoined, "EDGE-20", "nodes that an update took out keep a capture from ending"),
    BROKEN("domain-not-captured", domain_not_captured, "COMP-13", "capture loses a launch's memory-sync domain"),
    BROKEN("edge-twice-accepted", edge_twice_accepted, "EDGE-16", "an edge that is there may be added again"),
    BROKEN("absent-edge-removed", absent_edge_removed, "EDGE-17", "removing an edge that is not there succeeds"),
    BROKEN("neighbour-removed", neighbour_removed, "EDGE-17", "removing an edge removes the one made before it"),
    BROKEN("typed-edges-programmatic", typed_edges_programmatic, "EDGE-22", "functions without edge data make programmatic edges between kernels"),
    BROKEN("duplicates-accepted", duplicates_accepted, "EDGE-31", "a node may stand twice in the list of a new node"),
    BROKEN("event-spent", event_spent, "EVT-07", "an event orders its first waiter only"),
    BROKEN("last-event-covered", last_event_covered, "COMP-04", "of several programmatic events the wait covers the last one only"),
    BROKEN("mute-exit-counts-twice", mute_exit_counts_twice, "TRIG-01", "a block that exits without a trigger counts for two"),
    BROKEN("record-cuts-wait", record_cuts_wait, "EVT-07", "an event record takes away what its stream waits for"),
    BROKEN("thread-end-triggers", thread_end_triggers, "TRIG-01", "one thread's end counts as its block's trigger"),
    BROKEN("legacy-runs-alone", legacy_runs_alone, "COMP-06a", "the legacy stream waits for no other stream, nor any for it"),
    BROKEN("update-keeps-edges", update_keeps_edges, "EDGE-23a", "an update with other edge data is taken, and the old edges stay"),
    BROKEN("edges-share-data", edges_share_data, "EDGE-33", "edges added in one call all get the data of the first"),
    BROKEN("last-edge-data", last_edge_data, "EDGE-33", "edges added in one call all get the data of the last"),
    BROKEN("array-swaps-pair", array_swaps_pair, "EDGE-33", "in a call of more than 16 edges two neighbours exchange their data"),
    BROKEN("removal-ignores-data", removal_ignores_data, "EDGE-17a", "an edge is removed whatever data the call names"),
    BROKEN("early-join-accepted", early_join_accepted, "EDGE-19a", "a programmatic event is enough to bring a fork back"),
    BROKEN("update-drops-data", update_drops_data, "EDGE-33b", "an update that adds dependencies to a capture keeps the first entry's data only"),
    BROKEN("new-node-shares-data", new_node_shares_data, "EDGE-33b", "all edges into a new node get the data of the first"),
    BROKEN("begin-shares-data", begin_shares_data, "EDGE-33b", "a capture begun after several nodes uses the first one's edge data"),
    BROKEN("removal-stops-early", removal_stops_early, "EDGE-33b", "of several edges to remove only the first goes"),
    BROKEN("clone-drops-edge", clone_drops_edge, "SAME-01", "a clone of a graph with more than eight edges lacks the last one"),
    BROKEN("child-edges-full", child_edges_full, "SAME-01", "the edges of a child graph become full ones"),
    BROKEN("update-keeps-kernels", update_keeps_kernels, "SAME-01", "an update of a whole graph leaves the kernels from the fourth node on as they were"),
    BROKEN("params-to-neighbour", params_to_neighbour, "SAME-01", "new parameters of a node of an executable graph go to the kernel after it"),
    BROKEN("destroy-takes-edge", destroy_takes_edge, "SAME-01", "destroying a node takes the oldest edge of its graph along"),
    BROKEN("capture-drops-dependency", capture_drops_dependency, "EDGE-33b", "a capture begun after more than two nodes forgets the last of them"),
    BROKEN("second-wait-lost", second_wait_lost, "SAME-02", "of two events that a stream waits for before a launch the first is forgotten"),
    BROKEN("entries-after-ignore-lost", entries_after_ignore_lost, "SAME-02", "attributes after an entry with the id ignore are not read"),
    BROKEN("third-plain-overlaps", third_plain_overlaps, "SAME-02", "the third kernel in a row overlaps without the attribute"),
    BROKEN("sixth-edge-ignored", sixth_edge_ignored, "SAME-01", "of more than five edges into a node only five order it"),
    BROKEN("host-call-early", host_call_early, "SAME-02", "a host function runs when the kernel before it has started"),
    BROKEN("second-exec-full", second_exec_full, "SAME-01", "the second executable graph of a graph runs nodes after full edges at the trigger"),
    BROKEN("legacy-joins-one", legacy_joins_one, "COMP-06b", "the legacy stream waits for one of the blocking streams only"),
    BROKEN("legacy-frees-one", legacy_frees_one, "COMP-06b", "only one of the created blocking streams waits for the legacy stream"),
    BROKEN("attribute-skips-legacy", attribute_skips_legacy, "COMP-06b", "between the legacy stream and a blocking one a launch with attribute 6 waits for nothing"),
    BROKEN("disabled-node-cuts", disabled_cuts, "EDGE-27a", "what comes after a disabled node is ordered after nothing"),
    BROKEN("disabled-node-runs", disabled_runs, "EDGE-27a", "a disabled memset or copy runs all the same"),
    BROKEN("enabling-ignored", enabling_ignored, "EDGE-27a", "a node that was disabled stays so"),
    BROKEN("disabled-cooperative-runs", disabled_cooperative_runs, "EDGE-27b", "a disabled cooperative kernel runs all the same"),
    BROKEN("poll-before-flush", poll_before_flush, "MEM-09", "a stream that is asked whether its work has ended says so at its last kernel's last exit"),
    BROKEN("second-poll-succeeds", second_poll_succeeds, "MEM-09", "an event that is asked a second time whether it has fired says so"),
    BROKEN("child-begins-early", child_begins_early, "EDGE-25a", "a child graph begins when the kernel before it has started"),
    BROKEN("child-ends-early", child_ends_early, "EDGE-25a", "what follows a child graph waits for its beginning only"),
    BROKEN("body-begins-early", body_begins_early, "EDGE-25a", "the body of a conditional node begins when the kernel before it has started"),
    BROKEN("body-ends-early", body_ends_early, "EDGE-25a", "what follows a conditional node waits for its beginning only"),
    BROKEN("graph-ends-early", graph_ends_early, "SAME-01", "what follows a graph in its stream waits for one of its nodes only"),
    BROKEN("graph-forgets-events", graph_forgets_events, "COMP-12a", "a graph does not wait for the events that its stream waits for"),
    BROKEN("exec-overlaps-itself", exec_overlaps_itself, "COMP-12a", "launched in two streams, an executable graph runs twice at once"),
    BROKEN("host-copy-early", host_copy_early, "WAIT-01", "a copy to the host does not wait for the kernel before it"),
    BROKEN("host-call-passed", host_call_passed, "SAME-02", "work after a host function does not wait for it"),
    BROKEN("deep-plain-overlaps", deep_plain_overlaps, "ATTR-03", "in a row of more than 24 kernels one without the attribute overlaps"),
    BROKEN("ninth-dependent-unordered", ninth_dependent_unordered, "EDGE-25a", "of more than eight edges out of a node only eight order"),
    BROKEN("fourth-wait-lost", fourth_wait_lost, "COMP-04", "of more than three events that a stream waits for only the first three count"),
    BROKEN("record-keeps-first", record_keeps_first, "EVT-07", "recorded again, an event keeps what it first stood for"),
    BROKEN("update-after-launch-ignored", update_after_launch_ignored, "EDGE-23b", "an executable graph that was launched is not updated"),
    BROKEN("params-after-launch-ignored", params_after_launch_ignored, "EDGE-23b", "new parameters of a node change nothing once the graph was launched"),
    BROKEN("join-replaces", join_replaces, "SAME-02", "in a capture, waiting for an event forgets what the stream depended on"),
    BROKEN("copy-forgets-events", copy_forgets_events, "SAME-02", "a copy or memset does not wait for the events that its stream waits for"),
    BROKEN("timed-event-early", timed_event_early, "MEM-09", "an event with timing that the host waits for fires when the last kernel has started"),
    BROKEN("timed-wait-early", timed_wait_early, "COMP-12a", "an event with timing lets streams go when the kernel before it has started"),
    BROKEN("attribute-forgets-events", attribute_forgets_events, "EVT-11", "a launch with attribute 6 does not wait for the events that its stream waits for"),
    BROKEN("plain-copy-alone", plain_copy_alone, "COMP-06b", "cudaMemcpy waits for no blocking stream"),
    BROKEN("long-copy-early", long_copy_early, "WAIT-01", "a copy of 4 KiB or more does not wait for the kernel before it"),
    BROKEN("destroyed-event-lost", destroyed_event_lost, "COMP-12a", "destroying an event takes it from the streams that wait for it"),
    BROKEN("flagged-record-early", flagged_record_early, "SAME-02", "an event recorded by cudaEventRecordWithFlags lets streams go when the kernel before it has started"),
    BROKEN("refused-attribute-leaks", refused_attribute_leaks, "SAME-02", "attribute 6 of a launch that was refused is in force for the next one"),
    BROKEN("record-forgets-graph", record_forgets_graph, "SAME-02", "an event recorded behind a graph does not wait for it"),
    BROKEN("third-launch-full", third_launch_full, "SAME-01", "from its third launch on a full edge of an executable graph lets go at the trigger"),
    BROKEN("nested-child-unordered", nested_child_unordered, "SAME-01", "in a child graph of a child graph full edges let go at the trigger"),
    BROKEN("second-update-ignored", second_update_ignored, "SAME-01", "only the first update of an executable graph changes it"),
    BROKEN("second-params-ignored", second_params_ignored, "SAME-01", "only the first new parameters of an executable graph's node change it"),
    BROKEN("update-keeps-hosts", update_keeps_hosts, "SAME-01", "an update of a whole graph leaves the host functions as they were"),
    BROKEN("seventeenth-edge-ignored", seventeenth_edge_ignored, "EDGE-25a", "of more than 16 edges into a node only 16 order it"),
    BROKEN("nested-child-begins-early", nested_child_begins_early, "EDGE-25a", "inside a child graph another one begins when the kernel before it has started"),
    BROKEN("child-behind-child-early", child_behind_child_early, "EDGE-25a", "a child graph does not wait for a child graph before it"),
    BROKEN("clone-forgets-child-edges", clone_forgets_child_edges, "SAME-01", "a clone's child graphs have full edges only"),
    BROKEN("second-empty-cuts", second_empty_cuts, "SAME-01", "an empty node does not wait for an empty node before it"),
    BROKEN("fourth-bare-edge-lost", fourth_bare_edge_lost, "SAME-01", "of more than three edges into a new node that are given without data only three are made"),
    BROKEN("update-keeps-shape", update_keeps_shape, "SAME-01", "an update of a whole graph leaves the grids from the second node on as they were"),
    BROKEN("params-to-next-too", params_to_next_too, "SAME-01", "new parameters of a kernel node of an executable graph go to the kernel after it as well"),
    BROKEN("params-of-later-launches-lost", late_params_ignored, "SAME-01", "an executable graph that was launched twice takes no new parameters of kernels"),
    BROKEN("memset-params-keep-value", set_params_keep_value, "SAME-01", "new parameters of a memset of an executable graph leave its value as it was"),
    BROKEN("child-params-ignored", child_params_ignored, "SAME-01", "new parameters of a child graph change nothing once the graph was launched"),
    BROKEN("child-before-body-lost", child_before_body_lost, "SAME-01", "a conditional node does not wait for a child graph before it"),
    BROKEN("source-changes-copies", source_changes_copies, "SAME-01", "new parameters of a graph's node change its clones and executable graphs"),
    BROKEN("join-record-keeps-last", join_record_keeps_last, "SAME-02", "an event recorded in a capture behind several nodes stands for the last of them"),
    BROKEN("per-thread-join-lost", per_thread_join_lost, "SAME-02", "a captured per-thread default stream does not wait for events"),
    BROKEN("body-before-memset-lost", body_before_set_lost, "SAME-01", "a memset does not wait for a conditional node before it"),
    BROKEN("memset-before-body-lost", set_before_body_lost, "SAME-01", "a conditional node does not wait for a memset before it"),
    BROKEN("update-keeps-last-host", update_keeps_last_host, "SAME-01", "an update of a whole graph leaves its last host function as it was"),
    BROKEN("clone-loses-attributes", clone_loses_attributes, "SAME-01", "the kernels of a clone do not tell the attributes that they were given"),
    BROKEN("clone-swaps-axes", clone_swaps_axes, "SAME-01", "the kernels of a clone have the grid's y and z exchanged"),
    BROKEN("source-edges-cut-copies", source_edges_cut_copies, "SAME-01", "edges added to a graph take one from its executable graphs"),
    BROKEN("source-items-change-copies", source_moves_copies, "SAME-01", "new parameters of a graph's memset or copy change its clones and executable graphs"),
    BROKEN("disabled-node-orders-one", disabled_orders_one, "SAME-01", "of what comes after a disabled node only the first is ordered after it"),
    BROKEN("disabled-node-takes-no-params", disabled_takes_no_params, "SAME-01", "new parameters of a kernel node change nothing while it is disabled"),
    BROKEN("memset-takes-bytes", set_takes_bytes, "SAME-01", "a memset node sets every byte to the lowest one of its value"),
    BROKEN("memset-takes-one-row", set_takes_one_row, "SAME-01", "a memset node of several rows sets the first"),
    BROKEN("copy-params-keep-size", copy_params_keep_size, "SAME-01", "new parameters of a copy of an executable graph leave its size as it was"),
    BROKEN("begin-skips-empty", begin_skips_empty, "SAME-01", "a capture begun after several nodes forgets the empty ones"),
    BROKEN("params-lose-cluster", renewed_loses_cluster, "SAME-01", "new parameters of a kernel node take its clusters away"),
    BROKEN("per-thread-record-keeps-one", per_thread_record_keeps_one, "SAME-02", "an event recorded in a captured per-thread default stream behind several nodes stands for the first of them"),
    BROKEN("launch-loses-block-z", launch_loses_block_z, "SAME-02", "blocks have as many threads as their x and y say, whatever their z"),
    BROKEN("cluster-along-x-only", cluster_along_x_only, "SAME-02", "a cluster has as many blocks as its x says, whatever its y and z"),
    BROKEN("copy-takes-words", copy_takes_words, "SAME-02", "a copy leaves out the bytes after the last multiple of 4"),
    BROKEN("params-keep-function", params_keep_function, "SAME-01", "new parameters of a kernel node leave its function as it was"),
    BROKEN("general-params-ignored", general_params_ignored, "SAME-01", "cudaGraphExecNodeSetParams changes nothing once the graph was launched"),
    BROKEN("record-node-early", record_node_early, "SAME-01", "an event that a graph's node records is over when the graph is launched"),
    BROKEN("record-node-keeps-event", record_node_keeps_event, "SAME-01", "a node of an executable graph goes on recording the event that it was made with"),
    BROKEN("wait-node-early", wait_node_early, "SAME-01", "a graph's node that waits for an event does not"),
    BROKEN("wait-node-keeps-event", wait_node_keeps_event, "SAME-01", "a node of an executable graph goes on waiting for the event that it was made with"),
    BROKEN("captured-update-keeps-args", captured_update_keeps_args, "SAME-02", "an update to a captured graph leaves the arguments of its kernels as they were"),
    BROKEN("captured-params-ignored", captured_params_ignored, "SAME-02", "new parameters of a captured kernel of an executable graph change nothing"),
    BROKEN("captured-disabled-runs", captured_disabled_runs, "SAME-02", "a captured node runs although it was disabled"),
    BROKEN("relaxed-capture-loses-order", relaxed_capture_loses_order, "SAME-02", "in a relaxed capture what follows an overlap is not ordered after all of it"),
    BROKEN("flagged-instance-loses-edge", flagged_instance_loses_edge, "SAME-01", "cudaGraphInstantiateWithFlags loses the last edge"),
    BROKEN("long-nodes-cut", long_nodes_cut, "SAME-01", "a memset or copy of a graph ends after 4 KiB"),
    BROKEN("external-record-lost", external_record_lost, "EVT-18", "an external record that is captured makes no node"),
    BROKEN("external-wait-lost", external_wait_lost, "EVT-18", "an external wait that is captured makes no node"),
    BROKEN("other-thread-ends-capture", other_thread_ends, "EDGE-40", "a capture that is not relaxed may be ended by another thread"),
    BROKEN("many-moves-pass", many_moves_pass, "SAME-02", "of copies and memsets in a row those after the 32nd do not wait for the kernel before them"),
    BROKEN("blocking-memset-skips-legacy", blocking_set_skips_legacy, "SAME-02", "a memset in a blocking stream does not wait for the legacy default stream"),
    BROKEN("switch-runs-first-body", switch_runs_first, "SAME-01", "of a conditional node with several bodies the first runs, whatever the value"),
    BROKEN("clone-of-clone-loses-edge", second_clone_drops_edge, "SAME-01", "a clone of a clone lacks the last edge"),
    BROKEN("idle-source-early", idle_source_early, "COMP-06c", "a copy from pinned memory in a stream without work reads it at the call"),
    BROKEN("launch-event-not-awaited", launch_event_not_awaited, "SAME-01", "a node that waits for an event does not, if a launch has recorded it"),
    BROKEN("last-dependency-counts", last_dependency_counts, "SAME-02", "of two events of one captured launch the one counts that is awaited last"),
    BROKEN("sibling-end-frees", sibling_end_frees, "SAME-01", "an executable graph may run beside itself once another one of its graph is destroyed"),
    BROKEN("idle-condition-cuts", idle_condition_cuts, "SAME-01", "a conditional node none of whose bodies runs orders nothing"),
    BROKEN("left-threads-free", left_threads_free, "SAME-01", "a wait lets go once another thread of its block has ended"),
    BROKEN("made-first-uncovered", made_first_uncovered, "SAME-01", "a wait does not cover a programmatic edge from a node that was made after the waiting one"),
    BROKEN("legacy-record-alone", legacy_record_alone, "SAME-02", "an event that is recorded in the legacy default stream does not wait for blocking streams"),
    BROKEN("update-frees-running", update_frees_running, "SAME-01", "an executable graph that is updated while it runs may run beside itself"),
    BROKEN("begun-event-ends-list", begun_event_ends_list, "SAME-02", "attributes after a launch-completion event are not read"),
    BROKEN("host-target-unordered", host_target_unordered, "SAME-01", "a node that copies to the host forgets the last of the dependencies that it is made with"),
    BROKEN("clone-of-capture-full", capture_clone_full, "SAME-02", "a clone of a captured graph has full edges only"),
    BROKEN("late-threads-do-not-wait", late_threads_return, "SAME-01", "in a block of more than 16 threads only the first 16 wait"),
    BROKEN("capture-info-shares-data", info_shares_data, "SAME-01", "a capturing stream tells the data of its first dependency for all of them"),
    BROKEN("no-edges-refused", no_edges_refused, "SAME-01", "adding no edges is an error"),
    BROKEN("attribute-set-once", attribute_set_once, "SAME-01", "a kernel node keeps the first value that an attribute is given"),
    BROKEN("many-waits-lose-one", many_waits_lose_one, "SAME-02", "a stream that is to wait for the 65th time without work between forgets what it waits for"),
    BROKEN("full-queue-overlaps", full_queue_overlaps, "SAME-02", "a plain launch after more than 1,024 kernels overlaps the one before it"),
    BROKEN("lost-node-shifts", lost_node_shifts, "SAME-01", "after a node of a graph was destroyed, new parameters of the nodes that follow it go to other nodes of its executable graphs"),
    BROKEN("second-root-unordered", second_root_free, "SAME-01", "of the nodes that a graph begins with only the first waits for what comes before the graph"),
    BROKEN("seventeenth-dependent-unordered", fan_of_sixteen_cut, "SAME-01", "of more than sixteen edges out of a node only sixteen order"),
    BROKEN("all-bodies-run", all_bodies_run, "SAME-01", "of a conditional node with several bodies all run"),
    BROKEN("idle-body-runs", idle_body_runs, "SAME-01", "the only body of a conditional node runs, whatever the value"),
    BROKEN("host-runs-twice", host_runs_twice, "SAME-01", "a host function is called twice"),
    BROKEN("params-reach-running", params_reach_running, "SAME-01", "new parameters of a kernel node reach a launch that is under way"),
    BROKEN("destroyed-exec-stops", destroyed_exec_stops, "SAME-01", "the memsets of an executable graph that is destroyed while it runs set nothing"),
    BROKEN("destroyed-child-stops", destroyed_child_stops, "SAME-04", "host functions in a child graph are not called if the executable graph is destroyed while it runs"),
    BROKEN("query-forgets-events", query_forgets_events, "SAME-02", "a stream that is asked whether its work has ended forgets the events that it waits for"),
    BROKEN("past-event-frees", idle_event_frees, "SAME-02", "a stream that is to wait for an event that is over forgets the events before it"),
    BROKEN("interprocess-event-early", ipc_event_early, "SAME-02", "an event for other processes lets streams go when the kernel before it has started"),
    BROKEN("captures-mix", captures_mix, "SAME-02", "of two captures at once the later one gets the memsets and copies of both"),
    BROKEN("other-thread-captures-full", other_thread_captures_full, "SAME-02", "a launch with attribute 6 that another host thread captures gets a full edge"),
    BROKEN("failed-capture-leaks", failed_capture_leaks, "SAME-02", "after a capture that failed the next launch in its stream overlaps"),
    BROKEN("capture-ids-repeat", capture_ids_repeat, "SAME-02", "every capture has the same id"),
    BROKEN("cluster-wait-stale", cluster_wait_stale, "SAME-01", "in clusters the wait leaves lines cached that were read before it"),
    BROKEN("host-source-unordered", host_source_unordered, "SAME-01", "a node that copies from the host lacks its last dependency"),
    BROKEN("roots-too-many", late_edges_rootless, "SAME-01", "of more than three edges only three are looked at to tell where a graph begins"),
    BROKEN("enabled-always", enabled_always, "SAME-01", "a node says that it is enabled, whatever it is"),
    BROKEN("third-exec-drops-edge", third_exec_drops_edge, "SAME-01", "of three executable graphs of one graph the last lacks an edge"),
    BROKEN("clone-loses-edges", clone_loses_edges, "EDGE-24a", "a cloned graph has full edges only"),
    BROKEN("misfits-dropped", misfits_dropped, "ATTR-15", "a launch of too many threads or blocks, or of none, is dropped without an error"),
    BROKEN("crowds-accepted", crowds_accepted, "ATTR-15", "a cooperative grid of more blocks than fit is accepted"),
    BROKEN("legacy-beside-capture", legacy_beside_capture, "EDGE-34", "the legacy stream may be used while a blocking stream captures"),
    BROKEN("legacy-sets-beside-capture", legacy_sets_beside, "EDGE-34", "memsets and copies in the legacy stream are taken while a blocking stream captures"),
    BROKEN("cycles-accepted", cycles_accepted, "EDGE-35", "a graph with a cycle is made executable"),
    BROKEN("first-time-stays", first_time_stays, "EVT-15", "recorded again, an event keeps the time that it was first asked for"),
    BROKEN("late-priority-lost", late_priority_lost, "ATTR-16", "a priority that a stream is given after it was made is lost"),
    BROKEN("priority-not-captured", priority_not_captured, "ATTR-16", "a captured kernel has no priority, whatever its stream has"),
    BROKEN("short-list-overruns", short_list_overruns, "EDGE-36", "with room for fewer edges than there are one more is written"),
    BROKEN("handles-confused", handles_confused, "EDGE-37", "every conditional node obeys the handle that its graph was given last"),
    BROKEN("clone-is-moved", clone_is_moved, "SAME-01", "cudaGraphAddNode takes a child graph itself where it is to take a clone"),
    BROKEN("host-wait-forgets-exec", host_wait_forgets_exec, "COMP-12a", "once the host has waited, an executable graph may run beside itself"),
    BROKEN("host-wait-forgets-events", host_wait_forgets_events, "SAME-02", "once the host has waited, streams forget the events that they wait for"),
    BROKEN("any-shape-updates", any_shape_updates, "EDGE-38", "an update from a graph of another shape succeeds and changes nothing"),
    BROKEN("grid-in-parts", grid_in_parts, "COMP-02c", "a cooperative grid begins as soon as one of its blocks fits"),
    BROKEN("host-node-in-body", host_node_in_body, "EDGE-39", "a graph with a host node in the body of a conditional node is made executable"),
    BROKEN("event-node-in-body", event_node_in_body, "EDGE-39", "an event node is taken into the body of a conditional node"),
    BROKEN("no-event-ignored", no_event_ignored, "EVT-16", "a stream that is to wait for no event at all does not, and says nothing"),
    BROKEN("refused-removal-removes", refused_removal_removes, "EDGE-17a", "an edge that is removed by other data is gone, although the call is refused"),
    BROKEN("several-edges-refused", several_edges_refused, "EDGE-33", "a call that adds several edges is not supported"),
    BROKEN("refused-update-sticks", refused_update_sticks, "EDGE-44", "after an update that was refused an executable graph takes none"),
    BROKEN("refused-params-disable", refused_params_disable, "EDGE-44", "a kernel node of an executable graph whose new parameters are refused is disabled"),
    BROKEN("ninth-cover-lost", ninth_cover_lost, "COMP-04b", "of more than eight programmatic edges into a node its wait covers eight"),
    BROKEN("ninth-dependent-uncovered", ninth_dependent_uncovered, "COMP-04b", "of more than eight programmatic edges out of a node the later dependents' waits do not cover it"),
    BROKEN("fourth-level-unordered", fourth_level_unordered, "COMP-04b", "in child graphs four deep full edges let go at the trigger"),
    BROKEN("node-params-ignored", node_params_ignored, "SAME-01", "cudaGraphNodeSetParams of a node that is not executable changes nothing"),
    BROKEN("own-event-frees", own_event_frees, "COMP-04a", "a stream that is to wait for an event of its own forgets the events before it"),
    BROKEN("ninth-wait-lost", ninth_wait_lost, "SAME-02", "of more than eight works that a stream waits for only eight count"),
    BROKEN("fifth-waiter-unordered", fifth_waiter_unordered, "COMP-04a", "of more than four streams that wait for one record of an event only four do"),
    BROKEN("destroyed-launch-event-lost", destroyed_launch_event_lost, "COMP-04a", "destroying an event that a launch recorded takes it from the streams that wait for it"),
    BROKEN("node-record-host-early", node_record_host_early, "EVT-17", "an event that a graph records is complete for the host at once"),
    BROKEN("node-times-of-launch", node_times_of_launch, "EVT-15", "an event that a graph records tells the time of the launch of the graph"),
    BROKEN("sleeping-host-early", sleeping_host_early, "MEM-09", "a host that sleeps until an event is complete does not"),
    BROKEN("fired-stays-fired", fired_stays_fired, "EVT-17", "an event that was asked for and was complete stays so, however it is recorded again"),
    BROKEN("unfinished-time-told", unfinished_time_told, "EVT-17", "the time between two events is told although they are not complete"),
    BROKEN("untimed-time-told", untimed_time_told, "EVT-17", "the time between two events without timing is told"),
    BROKEN("plain-refusal-forgotten", plain_refusal_forgotten, "ATTR-15", "that cudaLaunchKernel refused is not the last error"),
    BROKEN("plain-call-drops-misfits", plain_call_drops_misfits, "ATTR-15", "cudaLaunchKernel drops a launch of too many threads or none without an error"),
    BROKEN("misfit-node-accepted", misfit_node_accepted, "ATTR-15", "a kernel node of too many threads is taken, with fewer"),
    BROKEN("refused-launch-fires-event", refused_launch_fires_event, "COMP-04a", "a launch that is refused takes the event that it was to record from those that wait for it later"),
    BROKEN("stream-attribute-cuts", stream_attribute_cuts, "COMP-04a", "a stream that is given an attribute forgets its work"),
    BROKEN("blocking-priority-lost", blocking_priority_lost, "ATTR-16", "a blocking stream has no priority"),
    BROKEN("priority-not-clamped", priority_not_clamped, "ATTR-16", "a priority beyond the range is refused"),
    BROKEN("stream-0-is-per-thread", stream_0_is_per_thread, "COMP-06d", "stream 0 is the per-thread default stream in code that was not compiled for it"),
    BROKEN("destroyed-stream-not-joined", destroyed_stream_not_joined, "COMP-06d", "the legacy stream does not wait for blocking streams that were destroyed"),
    BROKEN("ninth-blocking-not-joined", ninth_blocking_not_joined, "COMP-06d", "the legacy stream waits for the last eight blocking streams only"),
    BROKEN("legacy-host-alone", legacy_host_alone, "COMP-06d", "a host function in the legacy stream does not wait for blocking streams"),
    BROKEN("legacy-wait-is-no-action", legacy_wait_is_no_action, "COMP-06d", "blocking streams do not wait for what the legacy stream was told to wait for"),
    BROKEN("large-graph-cut", large_graph_cut, "FWD-05", "of more than 300 edges of a graph the later ones order nothing"),
    BROKEN("third-in-flight-free", third_in_flight_free, "COMP-12b", "launched a third time while two launches of it are in flight, an executable graph waits for neither"),
    BROKEN("destroyed-stream-frees-exec", destroyed_stream_frees_exec, "COMP-12b", "destroying a stream lets the executable graphs that run in it run beside themselves"),
    BROKEN("enabling-frees-exec", enabling_frees_exec, "SAME-01", "an executable graph a node of which is enabled or disabled may run beside itself"),
    BROKEN("disabling-stops-memset", disabling_stops_memset, "SAME-01", "disabling a memset reaches the launch that is under way"),
    BROKEN("general-host-params-reach-running", general_host_params_reach_running, "SAME-01", "new parameters of a host node by cudaGraphExecNodeSetParams reach the launch that is under way"),
    BROKEN("params-enable", params_enable, "EDGE-42", "new parameters enable a node that is disabled"),
    BROKEN("upload-enables", upload_enables, "EDGE-42", "an upload enables the nodes that are disabled"),
    BROKEN("update-renames-nodes", update_renames_nodes, "EDGE-43", "an executable graph that was updated knows the nodes of the other graph alone"),
    BROKEN("update-keeps-grandchildren", update_keeps_grandchildren, "EDGE-43", "an update leaves the kernels in child graphs of child graphs as they were"),
    BROKEN("refused-graph-stays-refused", refused_graph_stays_refused, "EDGE-44", "a graph that was once not made executable never is"),
    BROKEN("late-node-runs", late_node_runs, "EDGE-43", "a memset that is added to a graph runs in its executable graphs as well"),
    BROKEN("child-source-followed", child_source_followed, "EDGE-43", "a memset that is added to a graph runs in graphs that it is a child of"),
    BROKEN("child-handle-is-copy", child_handle_is_copy, "SAME-01", "the graph that a child graph node tells is a clone"),
    BROKEN("source-attribute-changes-copies", source_attribute_changes_copies, "SAME-01", "an attribute that a node is given after its graph was cloned is one of the clone, too"),
    BROKEN("params-keep-shared", params_keep_shared, "SAME-01", "new parameters of a kernel node leave its shared memory as it was"),
    BROKEN("update-keeps-threads", update_keeps_threads, "SAME-01", "an update of a whole graph leaves the blocks of its kernels as they were"),
    BROKEN("isolation-ignored", isolation_ignored, "EDGE-40", "a capture takes the wait for an event of before it and does nothing"),
    BROKEN("merge-ignored", merge_ignored, "EDGE-40", "a capture takes the wait for an event of another capture and does nothing"),
    BROKEN("unmatched-end-accepted", unmatched_end_accepted, "EDGE-40", "a capture may be ended in any of its streams"),
    BROKEN("invalid-capture-is-active", invalid_capture_is_active, "EDGE-40", "a capture that is invalid says that it is active"),
    BROKEN("legacy-capture-accepted", legacy_capture_accepted, "EDGE-40", "the legacy stream may capture"),
    BROKEN("device-sync-beside-capture", device_sync_beside_capture, "EDGE-40", "the device may be waited for while a stream captures"),
    BROKEN("legacy-info-told", legacy_info_told, "EDGE-41", "the legacy stream's capture info is given beside the capture of a blocking stream"),
    BROKEN("legacy-status-told", legacy_status_told, "EDGE-41", "whether the legacy stream captures is told beside the capture of a blocking stream"),
    BROKEN("legacy-sync-beside-capture", legacy_sync_beside_capture, "EDGE-34", "the legacy stream may be waited for and asked while a blocking stream captures"),
    BROKEN("legacy-host-beside-capture", legacy_host_beside_capture, "EDGE-34", "host functions and waits in the legacy stream are taken while a blocking stream captures"),
    BROKEN("fifth-lane-lost", fifth_lane_lost, "COMP-04a", "the fifth stream of a capture depends on nothing at first"),
    BROKEN("seventeenth-half-lost", seventeenth_half_lost, "EDGE-33b", "of more than 16 dependencies of a capturing stream only 16 count"),
    BROKEN("own-priority-not-captured", own_priority_not_captured, "ATTR-16", "a captured kernel has the priority of its stream, whatever its launch was given"),
    BROKEN("captured-dependents-hidden", captured_dependents_hidden, "EDGE-41", "the dependents of a captured node are not told"),
    BROKEN("clone-tells-full-edges", clone_tells_full_edges, "EDGE-24a", "the edges of a node of a clone are told as full ones"),
    BROKEN("fork-has-other-id", fork_has_other_id, "EDGE-41", "a stream that joined a capture tells another id"),
    BROKEN("exchange-forgets", exchange_forgets, "EDGE-41", "exchanging the mode of captures does not tell the old one"),
    BROKEN("external-record-accepted", external_record_accepted, "EVT-17", "an event may be recorded with the flag for external recording outside of captures"),
    BROKEN("refused-node-stays", refused_node_stays, "EDGE-44", "a node that is refused for its dependencies stays in the graph"),
    BROKEN("negative-memset-zero", negative_memset_zero, "COMP-05c", "a memset of a negative value sets 0"),
    BROKEN("long-pageable-source-late", long_pageable_source_late, "COMP-05b", "a synchronous copy of more than 64 KiB from pageable memory reads it after the call"),
    BROKEN("long-pageable-target-early", long_pageable_target_early, "COMP-05b", "a synchronous copy of more than 64 KiB to pageable memory returns before it is complete"),
    BROKEN("begin-keeps-read-only", begin_keeps_read_only, "COMP-04a", "a block begins with lines that were read through the read-only path before its kernel began"),
    BROKEN("late-blocks-do-not-wait", late_blocks_do_not_wait, "COMP-16", "blocks from the 257th on do not wait"),
    BROKEN("triggers-wrap", triggers_wrap, "COMP-16", "blocks that have triggered are counted in one byte"),
    BROKEN("cluster-misfits-accepted", cluster_misfits_accepted, "ATTR-15", "a grid need not hold whole clusters along y and z"),
    BROKEN("two-items-hide-primary", two_items_hide_primary, "SAME-02", "the wait covers nothing if two other works stand between"),
    BROKEN("fence-takes-eight", fence_takes_eight, "MEM-10", "a fence waits for eight stores at most"),
};
enum { VARIANTS = sizeof variants / sizeof variants[0] };

const struct variant *variant_find(const char *name)
{
    if (name == NULL || name[0] == '\0')
        return &conforming;
    for (int i = 0; i < VARIANTS; i++)
        if (strcmp(variants[i].name, name) == 0)
            return &variants[i];
    struct drawn read;
    if (!drawn_read(name, &read) || strlen(name) >= sizeof drawn_name)
        return NULL;
    memmove(drawn_name, name, strlen(name) + 1);
    return &drawn;
}

const struct variant *variant_at(int index)
{
    return index >= 0 && index < VARIANTS ? &variants[index] : NULL;
}

int model_variant_known(const char *name)
{
    return variant_find(name) != NULL;
}

#define SPACED(name) #name " "
const char *model_drawn_features(void)
{
    return DRAWN_FEATURES(SPACED);
}

const char *model_drawn_effects(void)
{
    return DRAWN_EFFECTS(SPACED);
}

int model_variant_count(void)
{
    return VARIANTS;
}

const char *model_variant_name(int index)
{
    const struct variant *v = variant_at(index);
    return v ? v->name : NULL;
}

int model_variant_conforming(int index)
{
    const struct variant *v = variant_at(index);
    return v ? v->conforming : 0;
}

const char *model_variant_rule(int index)
{
    const struct variant *v = variant_at(index);
    return v ? v->rule : NULL;
}

const char *model_variant_text(int index)
{
    const struct variant *v = variant_at(index);
    return v ? v->text : NULL;
}
