/* The broken devices: one flag per rule that can be broken. variants.c names them. */
#ifndef PDL_MODEL_FAULTS_H
#define PDL_MODEL_FAULTS_H

#include <stdbool.h>
#include <stddef.h>

/* The launches that a fault is about: those with one of these attributes, which are hints. */
struct hinted {
    bool window, scheduling, map, carve_out;
};

struct faults {
    bool wait_at_trigger, wait_before_flush, wait_some_blocks, wait_stale_lines, second_wait_hangs, wait_needs_trigger, one_trigger_launches;
    bool lone_thread_left_out, trigger_counts_calls, unstarted_blocks_count, exit_not_trigger, plain_overlaps, value_zero_overlaps, attribute_leaks;
    bool dependents_steal_slots, event_at_launch, copy_does_not_wait, program_event_first_block, capture_loses_order, edge_becomes_launch_completion;
    bool lossy_start_succeeds, lossy_beyond_eight_succeeds, lossy_capture_counts_last, second_foreign_begin_taken, second_foreign_update_taken;
    bool completion_event_drops_cooperative, clone_completion_full, clone_ninth_start_at_trigger, rejoined_uncovered, record_behind_join_loses_row;
    bool captured_second_event_at_start, later_own_priority_lost, early_start_join_accepted, ninth_edge_at_touch, ninth_dependent_at_touch;
    bool full_becomes_programmatic, illegal_edge_accepted, legal_edge_refused, lossy_query_succeeds, ordinary_not_covered, ignored_uncovers;
    bool reads_unread, exits_not_covered, program_event_not_covered, first_start_counts, one_edge_is_enough, item_hides_primary, host_learns_early;
    bool idle_attribute_refused, cluster_triggers_at_once, urgent_jumps, domain_not_covered, default_streams_not_covered, cooperative_not_covered;
    bool captured_attribute_full, captured_event_full, captured_start_at_trigger, captured_anywhere, half_edge_data_lost, unjoined_accepted;
    bool removed_nodes_unjoined, domain_not_captured, graph_root_overlaps, edge_twice_accepted, absent_edge_removed, typed_edges_programmatic;
    bool duplicates_accepted, clone_loses_edges, launch_record_stays, record_cuts_wait, thread_end_triggers, update_keeps_edges, legacy_runs_alone;
    bool neighbour_removed, event_spent, last_event_covered, mute_exit_counts_twice, recorder_overlaps, edges_share_data, last_edge_data;
    bool array_swaps_pair, removal_ignores_data, early_join_accepted, update_drops_data, new_node_shares_data, begin_shares_data;
    bool removal_stops_early, clone_drops_edge, child_edges_full, update_keeps_kernels, params_to_neighbour, destroy_takes_edge;
    bool capture_drops_dependency, second_wait_lost, entries_after_ignore_lost, third_plain_overlaps, sixth_edge_ignored, host_call_early;
    bool second_exec_full, legacy_joins_one, legacy_frees_one, attribute_skips_legacy, disabled_cuts, disabled_runs, enabling_ignored;
    bool poll_before_flush, second_poll_succeeds, child_begins_early, child_ends_early, body_begins_early, body_ends_early, graph_ends_early;
    bool graph_forgets_events, exec_overlaps_itself, host_copy_early, host_call_passed, deep_plain_overlaps, ninth_dependent_unordered;
    bool fourth_wait_lost, record_keeps_first, update_after_launch_ignored, params_after_launch_ignored, join_replaces, copy_forgets_events;
    bool timed_event_early, timed_wait_early, attribute_forgets_events, plain_copy_alone, long_copy_early, destroyed_event_lost;
    bool flagged_record_early, refused_attribute_leaks, record_forgets_graph, third_launch_full, nested_child_unordered, second_update_ignored;
    bool second_params_ignored, update_keeps_hosts, seventeenth_edge_ignored, nested_child_begins_early, child_behind_child_early;
    bool clone_forgets_child_edges, second_empty_cuts, fourth_bare_edge_lost, update_keeps_shape, params_to_next_too, late_params_ignored;
    bool set_params_keep_value, child_params_ignored, child_before_body_lost, source_changes_copies, join_record_keeps_last, per_thread_join_lost;
    bool hundredth_launch_lets_go, tenth_update_ignored, tenth_params_ignored, source_end_frees_exec, sourceless_exec_overlaps, others_exec_overlaps;
    bool destruction_reaches_clones, destruction_reaches_children, removal_reaches_children, update_from_clone_ignored, source_end_enables;
    bool third_clone_loses_edge, exec_of_cloned_loses_edge, others_clone_full, edge_65_into_ignored, edge_129_into_ignored, edge_65_out_ignored;
    bool edge_129_out_ignored, edge_17_uncovered, edge_33_uncovered, edge_17_into_empty_lost, edge_1025_ignored, edge_2049_ignored;
    bool new_node_loses_65th, told_nodes_repeat, captured_1026th_free, lane_17_lost, third_capture_unordered, body_before_set_lost;
    bool set_before_body_lost, update_keeps_last_host, clone_loses_attributes, source_edges_cut_copies, disabled_orders_one, set_takes_bytes;
    bool set_takes_one_row, copy_params_keep_size, source_moves_copies, begin_skips_empty, disabled_takes_no_params, clone_swaps_axes;
    bool renewed_loses_cluster, per_thread_record_keeps_one, disabled_cooperative_runs, launch_loses_block_z, copy_takes_words, params_keep_function;
    bool captured_update_keeps_args, record_node_keeps_event, wait_node_keeps_event, record_node_early, wait_node_early, general_params_ignored;
    bool relaxed_capture_loses_order, flagged_instance_loses_edge, captured_params_ignored, captured_disabled_runs, cluster_along_x_only;
    bool long_nodes_cut, blocking_set_skips_legacy, many_moves_pass, switch_runs_first, external_record_lost, external_wait_lost, other_thread_ends;
    bool legacy_info_told, idle_source_early, launch_event_not_awaited, last_dependency_counts, sibling_end_frees, idle_condition_cuts;
    bool left_threads_free, made_first_uncovered, legacy_record_alone, update_frees_running, begun_event_ends_list, second_clone_drops_edge;
    bool capture_clone_full, late_threads_return, info_shares_data, no_edges_refused, attribute_set_once, many_waits_lose_one, full_queue_overlaps;
    bool lost_node_shifts, second_root_free, fan_of_sixteen_cut, all_bodies_run, idle_body_runs, host_runs_twice, params_reach_running;
    bool destroyed_exec_stops, destroyed_child_stops, query_forgets_events, idle_event_frees, ipc_event_early, captures_mix, long_args_pass_legacy;
    bool other_thread_captures_full, failed_capture_leaks, capture_ids_repeat, cluster_wait_stale, host_source_unordered, host_target_unordered;
    bool late_edges_rootless, enabled_always, third_exec_drops_edge, misfits_dropped, crowds_accepted, legacy_beside_capture, legacy_sets_beside;
    bool cycles_accepted, first_time_stays, node_params_ignored, late_priority_lost, priority_not_captured, short_list_overruns, handles_confused;
    bool clone_is_moved, host_wait_forgets_exec, host_wait_forgets_events, any_shape_updates, child_shape_ignored, body_shape_ignored;
    bool cluster_of_eight_triggers, other_thread_end_loses_edge, destroyed_event_spoils_capture, destroyed_event_unjoins, other_thread_event_passed;
    bool fifth_host_takes_data, seventeenth_host_takes_data, other_thread_attribute_lost, other_thread_stream_attribute_lost;
    bool fifth_node_attribute_lost, captured_takes_no_attribute, made_takes_no_attribute, params_lose_attributes, large_copy_in_cut;
    bool rows_copy_takes_one_pitch, lone_row_copied_short, long_rows_cut, lone_row_set_short, driver_sets_64k_of_halves, driver_sets_64k_of_words;
    bool args_end_at_64, args_end_at_100, args_end_at_200, args_end_at_1024, params_end_at_64, params_end_at_128, captured_args_end_at_64;
    bool clone_cuts_args, long_args_uncover, timed_legacy_record_alone, joined_capture_cuts, joined_capture_forgets_events, set_attribute_uncovers;
    bool many_hosts_share_data, rows_copy_stops, late_edges_lost, rows_set_passed, awaited_grouped_uncovered, awaited_large_uncovered;
    bool large_per_thread_uncovered, grid_in_parts, host_node_in_body, event_node_in_body, no_event_ignored, refused_removal_removes;
    bool several_edges_refused, own_event_frees, ninth_wait_lost, fifth_waiter_unordered, destroyed_launch_event_lost, node_record_host_early;
    bool node_times_of_launch, sleeping_host_early, fired_stays_fired, unfinished_time_told, untimed_time_told, plain_refusal_forgotten;
    bool plain_call_drops_misfits, misfit_node_accepted, refused_launch_fires_event, stream_attribute_cuts, blocking_priority_lost;
    bool priority_not_clamped, stream_0_is_per_thread, destroyed_stream_not_joined, ninth_blocking_not_joined, legacy_host_alone;
    bool legacy_wait_is_no_action, large_graph_cut, third_in_flight_free, destroyed_stream_frees_exec, enabling_frees_exec, disabling_stops_memset;
    bool general_host_params_reach_running, params_enable, upload_enables, update_renames_nodes, update_keeps_grandchildren, legacy_passes_long_args;
    bool refused_graph_stays_refused, late_node_runs, child_source_followed, child_handle_is_copy, source_attribute_changes_copies;
    bool params_keep_shared, update_keeps_threads, isolation_ignored, merge_ignored, unmatched_end_accepted, invalid_capture_is_active;
    bool legacy_capture_accepted, device_sync_beside_capture, legacy_status_told, legacy_sync_beside_capture, legacy_host_beside_capture;
    bool fifth_lane_lost, seventeenth_half_lost, own_priority_not_captured, captured_dependents_hidden, clone_tells_full_edges, fork_has_other_id;
    bool exchange_forgets, external_record_accepted, refused_node_stays, negative_memset_zero, long_pageable_source_late, long_pageable_target_early;
    bool begin_keeps_read_only, late_blocks_do_not_wait, triggers_wrap, cluster_misfits_accepted, two_items_hide_primary, fence_takes_eight;
    bool cloned_takes_no_edges, made_takes_no_edges, destroyed_child_takes_edge, clone_end_takes_edge, cloned_takes_no_params, made_takes_no_params;
    bool made_takes_no_general_params, made_takes_no_set_params, made_takes_no_copy_params, roots_remembered, enabled_by_one_only;
    bool sibling_tells_enabled, late_child_nodes_rest, child_takes_no_edges, child_takes_no_params, child_takes_no_host_params, child_nodes_stay;
    bool body_nodes_stay, inner_edges_stay, inner_condition_ignored, switch_by_one_byte, uploaded_takes_no_update, updated_takes_no_child;
    bool set_params_to_siblings, update_keeps_later_inside, refused_update_moves, refused_child_sticks, empty_graph_cuts, idle_graph_cuts;
    bool upload_forgets_events, upload_cuts, legacy_graph_alone, ninth_lane_lost, fork_takes_no_dependency, fork_is_not_spoiled, second_join_lost;
    bool host_params_keep_function, copy_before_body_lost, host_before_body_lost, empty_before_body_lost, idle_loop_runs, sibling_frees;
    bool empty_copy_eats_waits, empty_memset_eats_waits, empty_copy_cuts, empty_copy_cuts_capture, refused_wait_eats_waits, refused_record_fires;
    bool urgent_starts_lack_one, legacy_starts_lack_one, body_starts_lack_one, updated_cooperative_at_touch;
    bool completing_start_event_early, completing_unstarted_count, reenabled_starts_lack_one, cloned_moves_as_before;
    bool fence_leaves_second_thread;
    bool legacy_passes_triggered;
    bool joined_overlapped_lost, captured_starts_lack_one, child_starts_lack_one, second_launch_starts_lack_one, long_args_event_uncovered;
    bool fresh_event_not_ready, host_to_host_early, ninth_exec_loses_edge, many_streams_unordered, many_events_lost, join_forgets_overlapped;
    bool fifth_overlapped_lost, device_sync_skips_per_thread, blocking_policy_early, times_across_streams_zero, ninth_attribute_lost, map_uncovers;
    bool scheduling_uncovers, carveout_uncovers, window_keeps_lines, occupancy_ignores_shared, peek_clears, update_enables_items;
    bool memset_params_enable, copy_params_enable, general_params_enable, source_memset_params_keep_rows, update_keeps_body, update_keeps_condition;
    bool destruction_bridges, other_data_replaces, programmatic_into_conditional, refused_launch_cuts_capture, second_begin_cuts, fork_graph_hidden;
    bool refused_update_sticks, refused_params_disable, ninth_cover_lost, ninth_dependent_uncovered, fourth_level_unordered, pinned_source_late;
    bool pinned_target_early, pinned_to_pinned_early, pinned_memset_early, refused_copy_eats_waits, refused_copy_cuts, plain_refusal_eats_waits;
    bool stream_attribute_eats_waits, destroyed_event_cuts, shared_limit_not_told, shared_limit_clamped, shared_limit_only_grows;
    bool flagged_occupancy_ignores_shared, clusters_told_as_blocks, per_thread_poll_succeeds, urgent_poll_succeeds, other_thread_poll_succeeds;
    bool poll_behind_host_succeeds, poll_behind_move_succeeds, per_thread_sync_early, legacy_sync_behind_move_early, other_thread_sync_early;
    bool fence_keeps_lines, fence_leaves_shared_words, fence_leaves_other_threads, copy_to_host_passes_row, graph_passes_row;
    bool launched_blocking_event_past, polled_event_not_awaited, own_launch_event_cuts, other_thread_event_succeeds, left_event_succeeds;
    bool polled_event_sync_early, left_event_sync_early, other_thread_event_sync_early, other_thread_device_sync_early, long_device_copy_cut;
    bool driver_launch_loses_attributes, driver_launch_keeps_one_attribute, driver_launch_loses_shared, driver_launch_swaps_threads;
    bool driver_launch_in_legacy, driver_launch_overlaps, driver_edges_full, driver_adds_one_edge, driver_removes_nothing, shared_limit_of_all;
    bool carveout_of_all, carveout_not_kept, spoiled_capture_records, driver_moves_in_legacy, driver_sets_low_byte, driver_records_nothing;
    bool driver_awaits_nothing, driver_graph_in_legacy, rows_copy_unordered, rows_copy_packed, rows_copy_takes_gaps, captured_rows_copied_once;
    bool rows_node_swaps_pitches, other_thread_legacy_alone, other_thread_skips_legacy, first_behind_event_skips_legacy, waiting_stream_not_joined;
    bool unit_config_launch_in_legacy, unit_launch_in_legacy, unit_copy_in_legacy, unit_memset_in_legacy, unit_waits_for_nothing;
    bool unit_query_succeeds, unit_wait_in_legacy, unit_record_in_legacy, unit_flags_record_in_legacy, unit_graph_in_legacy, unit_host_in_legacy;
    bool unit_copy_does_not_wait, other_thread_launch_overlaps, fence_not_in_domains, fence_not_in_clusters, fence_not_in_cooperative;
    bool copy_in_passes_graph, graph_passes_empty, record_behind_graph_told, nvlink_hint_uncovers, node_event_lost_in_per_thread;
    bool node_event_lost_in_blocking, timed_node_event_lost, sleeping_node_event_lost, timed_sleeping_event_lost, urgent_stream_passes_launch_event;
    bool timed_event_after_graph_lost, sleeping_node_event_succeeds, ipc_event_succeeds, event_after_graph_succeeds, blocking_launch_event_succeeds;
    bool timed_event_after_graph_early, timed_node_event_early, per_thread_times_zero, mixed_times_zero, times_to_graph_zero, relaxed_external_lost;
    bool per_thread_external_lost, external_behind_one, external_passes_overlapped, forked_set_unordered, forked_copy_unordered;
    bool forked_host_unordered, large_capture_joins_one, large_capture_cut, sleeping_join_lost, second_exec_forgets_events, large_primary_uncovered;
    bool large_dependent_uncovered, large_grid_passed, large_grid_forgets_events, long_copy_forgets_events, kernel_passes_long_copy;
    bool halves_set_early, legacy_kernel_passes_copies, captured_kernel_fixed, captured_set_fixed, captured_copy_fixed, captured_host_fixed;
    bool captured_edges_stay, captured_takes_no_edges, captured_nodes_stay, captured_exec_set_fixed, running_graph_forgets_events;
    bool disabled_before_body_lost, disabled_before_event_lost, disabled_set_before_body_lost, disabled_set_before_event_lost, disabled_port_lost;
    bool disabled_after_first_only;
    bool body_before_disabled_lost, wait_before_disabled_lost, disabled_before_empty_lost, running_graph_passes_stream, disabling_again_frees_exec;
    bool disabling_forgets_events, disabled_node_frees_exec, record_node_keeps_pending, late_nodes_edgeless, update_from_same_ignored, unchanged_update_ignored, same_params_ignored, params_given_elsewhere_ignored;
    bool other_thread_update_ignored, other_thread_params_ignored, other_thread_enabling_ignored, other_thread_source_fixed, other_thread_edges_lost;
    bool other_thread_node_stays, other_thread_event_not_taken, record_node_records_both, update_names_old_node, update_names_no_node;
    bool older_update_names_no_node;
    bool update_names_first_node, update_names_no_from, new_count_names_node, value_told_as_byte, rows_not_told, copy_tells_target_twice;
    bool extra_untold, arrays_untold; /* of what nodes tell */
    bool host_data_not_told, captured_memset_told_as_word, argument_of_first_told, disabling_takes_memsets, flags_told_as_none, flags_told_of_newest;
    bool update_clears_flags, spoiled_takes_memset, spoiled_takes_copy, spoiled_takes_host, spoiled_memset_runs, spoiled_end_is_illegal_state;
    bool success_clears_error, first_error_stays, last_error_shared, capture_blocks_none, capture_spoils_events, relaxed_forbids_memory;
    bool capture_forbids_others, memory_spoils_capture, capture_forbids_disabling, pool_beside_capture_eats_waits, completion_passed_after_capture;
    bool flags_told_once, upload_clears_flags, unit_info_loses_graph, unit_info_tells_one, captured_event_not_last, unmatched_end_not_last;
    bool implicit_not_last, update_failure_not_last, pitch_not_last, function_not_last, unsupported_not_last, wrong_thread_not_last;
    bool resources_not_last, urgent_event_full, sleeping_event_full, cooperative_event_full, per_thread_event_full, relaxed_start_at_trigger;
    bool six_drops_event, clustered_start_at_trigger, domain_drops_event, cooperative_loses_priority, crowded_list_loses_priority;
    bool relaxed_loses_priority, begin_skips_captured, begin_after_captured_full, per_thread_begin_free, begin_in_body_free, relaxed_begin_full;
    bool urgent_begin_full, end_gives_copy, capture_id_grows, given_graph_not_told, info_tells_active, fork_info_tells_active;
    bool priority_alone_not_told, per_thread_keeps_none, capturing_keeps_none, captured_keeps_none, end_resets_domain, lent_window_lost;
    bool lent_priority_lost, large_pooled_halved, freed_given_for_more, small_freed_given, foreign_node_dropped, event_drops_cooperative;
    bool priority_drops_cooperative, default_crowd_accepted, recorder_crowd_accepted, captured_crowd_accepted, negative_device_taken;
    bool device_beyond_taken, no_carveout_told_as_default, full_carveout_told_as_default, limit_of_none_ignored, lossy_stays_last;
    bool capture_keeps_last, instance_clears_error, capture_clears_error, no_error_has_name, no_error_has_text, urgent_event_sync_early;
    bool free_clears_error, update_clears_error, time_clears_error, host_call_clears_error, fit_clears_error, params_clear_error;
    bool unready_clears_error, warp_told_double, cooperation_not_told, one_domain_told, attribute_of_no_device_told, limit_rounded_down;
    bool flagged_fit_is_none, least_priority_not_told, driver_adds_eight_edges, driver_removes_full_only, end_of_nothing_refused, gone_edges_removed;
    bool copied_host_told_empty, params_lose_flags, type_change_told_as_edge, update_leaves_result, shared_told_by_12_bits, bounds_along_x_only;
    bool relaxed_capture_not_spoiled, plain_stream_blocks_none, plain_event_untimed, graph_flags_taken;
    bool retain_of_one_refused, driver_destroys_no_exec, object_flags_taken, memory_total_untold;
    bool callback_flags_taken, freed_memory_freed, long_cycles_accepted, to_port_2_accepted, captured_told_enabled, unit_default_copy_early;
    bool high_bit_not_told, driver_config_in_zero_elsewhere, batch_does_three, cooperative_call_cuts_args, properties_of_no_device_told;
    bool large_instance_untold, body_ends_by_programmatic, body_ends_by_begun;
    bool stream_0_destroyed, given_priority_blocks_none, lent_flags, refused_instance_told_made, legacy_event_sync_early, pooled_end_at_page;
    bool no_function_told_found, per_thread_event_sync_early, node_event_sync_early, launch_event_sync_early, legacy_event_succeeds;
    bool fired_launch_event_stays, poll_behind_graph_succeeds, poll_behind_record_succeeds, open_event_uncovers, open_event_lets_begin;
    bool captured_attribute_leaks, row_of_legacy_passed, fourth_into_empty_lost, destruction_drops_host, driver_sets_64_words;
    bool driver_sets_halves_as_bytes, captured_words_as_bytes, default_to_pinned_early, graph_source_taken_early, driver_wait_loses_flags;
    bool driver_record_loses_flags, sleeping_times_zero, crowded_times_zero, carveout_resets_limit, exec_params_keep_grid_y, params_keep_block_z;
    bool cooperative_call_loses_shared, driver_cooperative_loses_shared, driver_cooperative_is_plain, capture_loses_cooperative;
    bool params_lose_cooperative, child_update_keeps_shared, update_keeps_element, exec_set_keeps_element, clone_set_keeps_place;
    bool captured_second_event_lost, many_blocks_overlap, polled_launch_event_uncovered, idle_origin_not_joined, captured_timed_event_lost;
    bool legacy_copy_out_alone, copy_out_skips_legacy, disabled_end_forgotten, cloned_edges_stay, update_keeps_inner_hosts, update_passes_disabled;
    bool poll_forgets_event, sync_forgets_event, other_thread_copy_early, launch_loses_grid_z, crowd_of_one_more_accepted, exec_takes_no_third_event;
    bool changed_type_names_from, copy_params_keep_target, copy_params_keep_source, record_told_as_before, clone_tells_original_child;
    bool flagged_instance_tells_none, sixtieth_stream_unordered, thousandth_event_lost, spin_policy_early, yield_policy_early;
    bool pinned_memset_leaves_last, triggers_wrap_late, host_copy_runs_again, rows_copy_forgets_events, cooperative_forgets_events;
    bool idle_host_forgets_events, idle_memset_forgets_events, first_exec_forgets_events, legacy_passes_urgent, legacy_passes_awaiting;
    bool legacy_passes_per_thread_items, legacy_items_passed, urgent_stream_passes_timed_event, poll_behind_large_succeeds;
    bool second_timed_poll_succeeds, flagged_record_in_urgent_lost, record_behind_host_lost, record_behind_memset_lost, launched_plain_event_past;
    bool memset_repeats_value, node_times_in_tenths, local_capture_unorders_copies, per_thread_fork_unorders_moves, child_in_body_unordered;
    bool inner_body_unordered, child_in_body_early, condition_in_body_passed, urgent_captured_copy_free, sleeping_record_node_early;
    bool updated_copy_after_set_early, second_edge_in_child_lost, many_blocks_in_body_let_go, legacy_graph_uncovers, cloned_empty_cuts;
    bool idle_halves_forget_events, external_times_in_tenths, captured_flagged_record_lost, first_starts_count, clusters_share_memory;
    bool grids_share_memory, fork_loses_order, far_node_times_zero, record_behind_shared_lost, record_behind_cluster_lost;
    bool shared_dependent_uncovered, shared_forgets_events, polled_timed_event_lost, half_triggered_uncovered, ended_uncovered;
    bool large_by_thread_uncovered, large_primary_by_thread_uncovered, wait_node_passes_ipc, clone_end_frees_exec, node_record_frees_waiters;
    bool poll_after_copy_in_succeeds, seventeenth_stream_polls, old_event_succeeds, awaited_sync_early, asked_fresh_record_lost;
    bool fired_launch_uncovers, old_event_passed, legacy_joins_sixteen, seventeenth_stream_skips_legacy, eight_in_a_cluster_uncovered;
    bool hundredth_block_does_not_wait, refused_memset_cuts, refused_host_cuts, refused_attribute_cuts, refused_wait_cuts, refused_graph_cuts;
    bool refused_end_cuts, given_priority_sync_early, given_domain_sync_early, given_priority_poll_succeeds, given_policy_poll_succeeds;
    bool legacy_passes_given, legacy_host_passes_records, given_priority_forgets_events, given_domain_forgets_events, given_priority_uncovers;
    bool given_window_uncovers, given_priority_record_lost, overtaken_event_succeeds, given_policy_event_early, wait_node_passes_legacy;
    bool wait_node_passes_left, wait_node_passes_urgent, wait_node_passes_nodes, graph_passes_given, failed_capture_id_again, end_resets_thread_mode;
    bool failed_end_spoils_others, count_without_nodes_zero, exec_end_writes_back, source_node_end_frees_exec, refused_update_frees_exec;
    bool refused_params_free_exec, siblings_pass, second_child_cut, high_port_accepted, refused_set_params_stop, refused_copy_params_stop;
    bool refused_host_params_forget_data, event_after_update_lost, general_after_update_lost, enabled_told_after_update, find_late_in_clone;
    bool unit_info_loses_data, unit_update_loses_data, unit_sync_memset_in_legacy, merge_spoils_one, refused_limit_stays, id_beside_graph_only;
    bool wait_node_passes_graph, capture_error_not_last, short_list_counts_all, crowd_is_configuration, refused_recorder_runs, timed_fresh_not_ready;
    bool domain_resets_priority, fresh_stream_has_old_values, used_priority_told_0, host_without_data_gets_last, same_event_time_told;
    bool left_start_times_zero, past_captured_event_taken, large_value_saturates, second_barrier_frees_wait, clusters_of_first_attribute;
    bool static_shared_told_0, device_sync_clears_error, lossy_not_last_error, lossy_has_no_text, completion_event_succeeds;
    bool completion_stays_with_first, wait_node_at_start, record_node_keeps_launch, record_node_keeps_completion, wait_node_passes_completion;
    bool legacy_completion_passed, attributed_completion_passed, recorder_completion_passed, legacy_host_passes_per_thread;
    bool completion_event_sync_early, first_start_told, lossy_has_other_name, updated_cooperative_uncovered, cooperative_in_body_uncovered;
    bool large_fan_uncovered, large_of_event_uncovered, large_third_launch_uncovered, cooperative_cluster_forgets_events;
    bool cooperative_behind_graph_forgets_events, domain_dependent_forgets_events, dependent_forgets_many_events, host_forgets_many_events;
    bool halves_forget_events, halves_pass_grouped, halves_pass_domain, halves_pass_recorder, halves_pass_shared, memsets_pass_each_other;
    bool domain_passes_halves, recorder_passes_halves, shared_passes_halves, cluster_passes_large, words_pass_large, ninth_after_set_lost;
    bool others_graph_uncovers, captured_takes_no_event, record_keeps_eight, far_times_zero, carve_out_overlaps, domain_map_overlaps;
    bool scheduling_overlaps, nvlink_overlaps, preferred_overlaps, late_blocks_lose_thread, last_block_loses_thread, late_barriers_let_go;
    bool barrier_publishes_nothing, atomics_pass_stores, late_adds_lost, fence_not_in_layers, fence_not_in_bodies, child_moves_cut, huge_copy_cut;
    bool huge_set_cut, if_by_one_byte, clustered_grid_in_parts, shared_grid_in_parts, fence_not_in_graphs, fence_not_in_captured;
    bool fence_not_after_wait, stream_sync_gives_up, device_sync_gives_up, carve_out_primary_uncovered, map_primary_uncovered;
    bool scheduled_primary_uncovered, carve_out_passed, map_passed, copy_passes_window, memset_passes_carve_out, host_passes_nvlink;
    bool record_passes_scheduling, carve_out_forgets_events, scheduling_forgets_events, cooperative_after_cluster_lost, crowded_clusters_accepted;
    bool crowd_along_yz_accepted, driver_copies_4096, driver_copies_65536, driver_leaves_pageable, driver_records_only_flags, driver_drops_misfits;
    bool driver_keeps_eight, driver_rounds_shared, attribute_13_lost, attribute_17_lost, cooperative_args_end_at_256, cluster_args_end_at_256;
    bool recorder_args_end_at_256, copy_tells_one_row, copy_tells_pitches_swapped, copy_tells_16_bits, captured_copy_tells_whole_words;
    bool set_tells_16_bits, captured_halves_told_as_bytes, captured_set_tells_one_row, captured_host_data_not_told, driver_tells_ptx_as_binary;
    bool driver_tells_no_static_shared, driver_tells_devices_threads, driver_tells_no_registers, name_of_first_told, negative_limit_taken;
    bool unknown_attribute_taken, large_carveout_taken, default_carveout_ignored, clusters_counted_along_x, shared_limit_not_enforced;
    bool external_launch_event_taken, interprocess_launch_event_taken, event_flags_taken, timed_interprocess_taken, record_flags_taken;
    bool legacy_join_spares;
    bool wait_flags_taken, stream_flags_taken, capture_mode_3_taken, legacy_joins, failed_end_leaves_graph, foreign_begin_taken;
    bool foreign_update_taken, update_flags_taken, foreign_edge_taken, host_without_function_added, elements_of_eight_taken;
    bool host_without_function_launched, kernel_params_for_memset, no_event_taken, two_loop_bodies_taken, three_bodies_taken, no_body_taken;
    bool handle_flags_taken, target_pitch_short_taken, source_pitch_short_taken, rows_take_one, domain_2_taken, bounds_ignored, row_of_source_lost;
    bool row_of_target_lost, unready_is_last, start_edges_ignored, node_carve_out_not_kept, node_window_not_kept, stream_window_not_kept;
    bool stream_takes_six, stream_takes_two, update_keeps_clusters, other_bodies_ignored, static_room_ignored, blocks_of_no_threads_told;
    bool blocks_of_no_kernel_told, attribute_of_no_kernel_taken, launch_carveout_low_taken, launch_carveout_high_taken, cluster_of_none_taken;
    bool no_list_taken, upload_of_nothing_taken, default_stream_destroyed, short_set_pitch_taken, short_stream_pitch_taken, short_copy_pitch_taken;
    bool spoiled_capture_updated, foreign_handle_taken, hostless_params_taken, general_hostless_taken, rows_params_keep_pitch, rows_params_copy_one;
    bool exec_rows_ignored, refused_rows_half_taken, exec_copy_params_ignored, inner_cycles_accepted, large_grid_keeps_lines, narrow_rows_refused;
    bool large_launch_told_at_start, long_launch_told_at_start, sleeping_launch_told_at_start, clustered_launch_told_at_start;
    bool domain_launch_told_at_start, completion_not_awaited, completion_not_awaited_when_idle, event_of_capturing_stream_passed;
    bool launch_event_of_other_passed, query_takes_waits_back, query_passes_awaited, new_stream_passes_legacy, legacy_passed_after_graph;
    bool legacy_host_passes_graphs, plain_copy_passes_attributed, copy_after_graph_forgets_events, other_thread_args_end_at_64;
    bool driver_wait_in_zero_lost, unit_launch_takes_one_attribute, unit_config_loses_shared, unit_launch_loses_shared, unit_copy_in_early;
    bool node_rows_by_8_bits, params_by_16_bits, captured_layers_by_8_bits;
    bool driver_sets_per_thread_in_legacy, driver_flags_record_in_legacy;
    bool edge_into_child_taken, edge_out_of_child_taken, edge_from_around_taken, batch_does_eight, batch_does_thirty_two;
    bool unit_launch_ignores_stream, unit_config_ignores_stream, unit_copy_ignores_stream, unit_memset_ignores_stream;
    bool unit_host_ignores_stream, unit_graph_ignores_stream, unit_record_ignores_stream, unit_flags_record_ignores_stream;
    bool unit_wait_ignores_stream, unit_synchronize_ignores_stream, unit_query_ignores_stream, unit_status_ignores_stream;
    bool unit_launch_is_flat, unit_config_is_flat, unit_capture_is_relaxed, unit_global_capture_is_relaxed, unit_capture_is_never_relaxed;
    bool unit_info_loses_id, plain_refusal_cuts_capture, refused_memset_cuts_capture, refused_host_cuts_capture, refused_set_drops_dependencies;
    bool refused_update_enables, refused_update_gives_data, refused_update_gives_event, refused_params_shrink_exec, refused_params_shrink_node;
    bool refused_attribute_ends_clusters, refused_attribute_drops_others, refused_disabling_takes_first, refused_attribute_resets_priority;
    bool refused_carveout_resets, refused_legacy_capture_cuts, layers_copy_unordered, layers_copy_forgets_events, layers_copied_once;
    bool staged_layers_far, staged_layers_close, pageable_layers_close; /* copies of several layers from or to pageable memory */
    bool layer_of_source_lost, layers_copy_hides_primary, captured_layers_copied_once, callback_early, callback_passed, callback_forgets_events;
    bool callback_passes_row, callback_runs_twice, callback_told_no_stream, callback_hides_primary, instance_with_params_loses_edge;
    bool upload_with_params_cuts, instance_with_params_untold, copied_attributes_overlap, copied_attributes_cut, copied_domain_lost;
    bool copied_priority_lost, stream_copy_cuts, stream_copy_eats_waits, stream_copy_ignored, stream_copy_goes_back, value_written_early;
    bool value_passes_row, value_forgets_events, value_hides_primary, value_written_twice, value_not_awaited, value_compared_unsigned;
    bool value_compared_signed, equal_value_as_at_least, awaited_value_uncovers, copy_passes_awaited_value, value_in_memory_unawaited;
    bool freed_given_at_once, freed_given_at_trigger, freed_given_to_waiting, free_hides_primary, free_passed, free_passes_row, free_forgets_events;
    bool value_passes_graph, value_passes_copy, free_passes_graph, awaited_value_eats_waits, allocation_eats_waits, question_eats_waits;
    bool default_streams_pass_values, default_streams_pass_callbacks, default_streams_pass_frees, default_streams_pass_layers, sync_passes_callback;
    bool sync_passes_awaited_value, query_passes_free, refused_callback_eats_waits, refused_layers_eat_waits, refused_rows_cut, refused_value_cuts;
    bool recorder_gone_not_awaited, driver_value_in_zero_elsewhere, late_blocks_share_memory, second_launch_shares_memory, fence_not_in_late_blocks;
    bool late_fence_keeps_lines, exchange_lost_after_wait, mixed_exits_let_go, triggered_wait_keeps_lines, freed_in_ended_stream_given;
    bool large_freed_given, freed_per_thread_given, second_value_replaces, value_wait_gives_up, attributed_passes_legacy, awaiting_passes_legacy;
    bool unit_launch_not_in_legacy, unit_record_not_in_legacy, urgent_args_end_at_64, long_args_forget_events, layered_grid_in_parts;
    bool lone_thread_grid_in_parts, captured_set_keeps_value, forked_cooperative_is_plain, forked_args_end_at_64, cooperative_in_body_is_plain;
    bool record_forgets_one_overlapped, third_record_node_lost, fifth_record_node_lost, body_kernel_changes_copies, body_set_changes_copies;
    bool child_set_changes_copies, child_kernel_changes_source, source_end_cuts, source_end_stops_sets, source_end_stops_copies;
    bool source_end_stops_hosts, start_edge_to_others_lost, driver_copy_not_captured, update_of_other_thread_ignored, given_graph_loses_priority;
    bool given_graph_cuts_arguments, second_exec_runs_disabled, second_exec_takes_no_update, second_exec_takes_no_set, refused_exec_takes_no_set;
    bool second_update_enables, made_takes_one_edge, later_capture_passes_overlapped, clone_takes_full_edges, joined_capture_loses_priority;
    bool disabled_layers_run, priority_told_drops_waits, moved_event_not_awaited, older_capture_passes_overlapped, forked_data_told_full;
    bool forked_set_takes_one, rows_params_keep_layer, large_passes_row, large_passes_large_row, long_args_hide_row, captured_large_passes_row;
    bool captured_long_args_hide_row, captured_large_hides_row, captured_large_passes_items, short_copy_early, short_pageable_early, short_set_early;
    bool odd_source_rounded, odd_target_rounded, odd_set_leaves_tail, captured_short_copy_free, single_layer_early, single_layer_takes_first;
    bool single_layer_to_first, captured_single_layer_free, column_copy_early, column_copied_once, column_set_once, plain_copy_of_odd_rounded;
    bool odd_pageable_cut, short_copy_passes_row, single_layer_passes_row, captured_short_set_free, captured_odd_source_rounded;
    bool captured_odd_set_leaves_tail, short_pageable_source_early, crooked_copy_cut, crooked_set_cut, child_params_keep_later_kernels;
    bool conditions_before_untold, nested_rows_told_as_one, nested_attribute_ignored, external_wait_passes_overlapped, copies_end_no_body;
    bool exec_end_frees_stream, refusal_names_first_dependency, body_cuts_arguments, inner_else_ignored, info_tells_none_active;
    bool exec_behind_empty_overlaps; /* launched a third time */
    bool given_host_passes_set, given_set_passes_host, given_copy_passes_set; /* nodes that parameters were given to one by one */
    bool domain_in_inner_body_passed; /* kernels of the remote memory-sync domain in bodies in bodies */
    bool late_clustered_blocks_free, late_sharing_blocks_free, late_urgent_blocks_free, late_domain_blocks_free;
    bool clustered_starts_told, urgent_starts_told, domain_starts_told, domain_completion_told, sharing_event_at_touch, grouped_event_at_touch;
    bool cluster_start_edge_early, cooperative_start_edge_early, domain_start_edge_early, updated_start_edge_early, child_start_edge_early;
    bool forked_event_full, forked_start_at_trigger, event_in_fork_full, start_in_fork_at_trigger;
    bool max_compares_half, max_stores_half, min_compares_half, min_stores_half, relaxed_passes_barrier;
    bool clustered_start_event_early, urgent_start_event_early, domain_start_event_early, third_start_edge_early, long_args_start_edge_early;
    bool zero_not_awaited, all_bits_awaited, several_bits_not_awaited, nor_not_awaited, nor_compares_as_and, flush_not_awaited, any_value_ends_wait;
    bool batch_writes_first, batch_waits_once, batch_does_last_only, wide_value_by_low_word, awaiting_exec_overlaps, long_args_event_at_touch;
    bool wide_compared_unsigned, wide_compared_signed, wide_bits_of_low_word, wide_nor_of_low_word; /* values of 64 bits */
    bool later_edge_not_made, later_program_edge_not_made, turned_edge_reaches_execs; /* of graphs of which an executable one was made */
    bool update_reaches_rest, params_reach_rest, set_params_reach_rest, update_under_way_lost, params_under_way_lost; /* a launch is under way */
    bool second_child_takes_edges, child_of_programs_passed, child_behind_child_uncovered, given_child_passes;
    bool clustered_completion_passed, urgent_completion_passed, domain_completion_passed, attributed_start_event_early, moved_start_event_early;
    bool captured_update_keeps_event; /* of nodes that were captured */
    bool update_keeps_disabled_source; /* of copies */
    bool update_keeps_inner_condition; /* of nodes in bodies */
    bool update_keeps_choice; /* of the bodies of a switch */
    bool copy_before_child_in_body_lost; /* the edge between them */
    bool added_dependency_forgets_row; /* of a capture */
    bool map_not_captured; /* of memory-sync domains */
    bool else_uncovered; /* what lies in the second body of an IF */
    bool child_takes_other_edges; /* of a graph of as many nodes */
    bool other_arguments_not_taken; /* by an update, for a kernel with arguments of another length */
    bool uploaded_takes_no_disabling; /* of its nodes */
    bool host_passes_given_child; /* one that an executable graph was given */
    bool nested_cooperative_is_plain; /* in a child graph of a child graph */
    bool captured_borrows_nothing, inner_borrows_nothing, clone_borrows_nothing; /* attributes of another node */
    bool urgent_exec_overlaps; /* its launch before, in another stream */
    bool legacy_exec_overlapped, per_thread_exec_overlapped; /* by its next launch, in another stream */
    bool freed_given_to_legacy; /* before the free has come */
    bool late_layered_blocks_free, met_triggered_wait_free; /* COMP-16 */
    bool fence_leaves_past_barriers, fence_of_late_threads_lost, legacy_fence_lost; /* of other threads; after a barrier; in the stream */
    bool far_stores_lost, fence_leaves_far_words; /* 64 MiB from the beginning of memory */
    bool fence_takes_24, fence_not_in_rows, fence_not_again, fence_not_in_children, fence_not_with_long_args, triggered_fence_keeps_lines;
    bool relaxed_store_lost_in_bodies, relaxed_store_lost_in_legacy, half_lost_past_barrier, add_overtaken, add_gives_new, least_gives_new;
    bool wide_load_misses_half, l2_load_misses_own; /* stores of the thread */
    bool relaxed_store_overtaken, wide_relaxed_store_overtaken, least_overtaken; /* by a plain store before it */
    bool graph_begin_keeps_read_only, cooperative_begin_keeps_read_only, domain_begin_keeps_read_only, exchange_keeps_line, max_is_signed;
    bool bodies_share_memory, legacy_shares_memory, layers_share_memory; /* of blocks */
    bool mixed_primary_uncovered; /* of which some blocks had triggered, and some ended without */
    bool waiting_cooperative_uncovered; /* a primary that was in its own wait */
    bool past_primary_uncovered; /* one that had ended, of which what it overlapped had not */
    bool large_grid_ends_alone, long_args_trigger_lacks_one, attributed_start_edge_early, second_exec_start_edge_early;
    bool fenced_wait_free, wait_after_two_triggers_free, late_reenabled_blocks_free, late_recorder_blocks_free, reenabled_grid_in_parts;
    bool late_long_args_blocks_free, late_per_thread_blocks_free, late_met_clustered_blocks_free; /* from the 17th on */
    bool waited_fence_lost_in_graphs, attributed_fence_lost_in_rows, fence_17_lost, fence_lost_in_clusters_of_domains;
    bool long_args_starts_lack_one, rows_starts_lack_one, per_thread_starts_lack_one; /* of their grid */
    bool fourth_barrier_lets_go, layered_starts_lack_one, cooperative_start_event_early, layered_start_event_early, first_wait_node_passes_stream;
    bool rows_grid_in_parts, domain_grid_in_parts, urgent_grid_in_parts, long_args_grid_in_parts, grid_after_item_in_parts; /* cooperative grids */
    bool other_thread_grid_in_parts, grid_of_graph_in_parts_again, grid_in_urgent_stream_in_parts, urgent_enters_half_placed; /* cooperative grids */
    bool starts_by_one_only, starts_by_low_byte, attribute_by_one_only, attribute_by_low_byte; /* numbers that are not 0 */
    bool relaxed_early_join_accepted, captured_starts_told_as_completion, params_fill_completions, inner_start_edges_stay, captured_launch_event_told,
        given_child_triggers_at_starts, update_triggers_at_starts;
    bool inner_completions_told_full, spoiled_takes_recorder, window_drops_event, map_drops_starts, map_drops_cooperative, cluster_layers_uncounted;
    bool last_row_refused, ignored_drops_cooperative, cooperative_by_one_only, map_drops_completion, cooperative_completion_passed;
    bool captured_launch_event_passed;
    bool removal_ignores_type, lossy_fork_succeeds, window_drops_attribute, lent_cooperative_told_only, lent_clusters_told_only;
    bool second_bodies_ignored;
    bool long_legacy_alone, legacy_source_passes_lone_work;
    bool record_behind_ended_lost, ended_row_passed;
    bool new_memset_drops_data, new_copy_drops_data, new_event_node_drops_data;
    struct hinted jumps, primary_jumped, event_at_touch, starts_lack_one, fence_lost, start_event_early, row_before_passed, starts_told;
    bool completing_starts_told, batch_per_thread_in_legacy, record_behind_recorder_loses_row, third_cooperative_uncovered;
    bool dependent_keeps_last_event, launch_record_drops_waiters, attributed_launch_told_at_touch; /* dependent: one with attribute 6 */
    bool loose_item_accepted, captured_waiter_cut; /* of a memset, copy or host function in a capture */
    bool relayed_event_lost, next_thread_unordered, empty_move_hides_primary, trigger_event_at_start, triggers_by_warps;
    bool told_memory_uncovers, told_function_uncovers, made_graph_uncovers, driver_forgets_events, driver_value_uncovers;
    bool update_keeps_inner_edges, port_to_disabled_lost;
    bool readded_edge_keeps_data, new_node_takes_lost_edge, second_waiter_full, body_capture_attribute_full, args_return_after_16;
    bool empty_body_cuts, level_8_unordered, update_from_captured_clone_keeps_moves;
    bool ninth_in_body_lost, empty_child_in_body_cuts;
    bool args_end_at_4096, dependent_args_of_before, piece_ends_at_256, piece_uncovers, primary_hides_event, later_host_uncovered, later_copy_uncovered;
    bool clone_of_captured_loses_cooperative, updated_cooperative_is_plain, second_exec_cooperative_is_plain, params_of_cloned_exec_ignored;
    bool driver_to_device_elsewhere, driver_to_host_early, driver_in_device_half, driver_rows_last_lost, driver_layers_early;
    bool driver_sets_one_row_of_halves, driver_sets_rows_early, driver_calls_host_early, driver_waits_for_no_stream;
    bool driver_streams_are_over, driver_waits_for_no_event, driver_events_are_over, rows_copy_returns_early, layers_copy_elsewhere;
    bool waiting_rows_set_elsewhere;
    bool plain_piece_ends_at_256, captured_piece_ends_at_256, piece_of_node_ends_at_128, changed_piece_lost;
    bool disabled_port_lost_again, fork_told_origins, record_node_in_child_lost;
    bool domain_awaiting_uncovered, rows_of_layers_pass_row, host_passes_row, query_passes_overlapped, poll_behind_layers_succeeds;
    bool driver_clone_full, driver_update_ignored, driver_upload_cuts, driver_disables_nothing, driver_capture_full, driver_child_full;
    bool driver_depends_full, driver_tells_full;
    bool driver_node_loses_shared, driver_node_sets_one_row, driver_node_copies_32, driver_node_after_one, driver_host_node_first;
    bool driver_empty_node_joins_less, driver_record_node_first, driver_await_node_empty, driver_new_node_full, driver_kernel_keeps_params;
    bool driver_set_keeps_params, driver_host_keeps_params, driver_record_keeps_event, driver_any_keeps_params;
    bool driver_exec_kernel_keeps_params, driver_exec_set_keeps_params, driver_exec_copy_keeps_params, driver_exec_host_keeps_params;
    bool driver_exec_record_keeps_event, driver_exec_await_keeps_event, driver_exec_any_keeps_params;
    bool driver_tells_neighbours_full, driver_tells_no_dependents, driver_destroys_no_node, driver_finds_original, driver_captures_to_full;
    bool older_adds_one_edge, older_removes_nothing, older_loses_data, older_depends_on_one, older_begins_nothing, older_instantiates_less;
    bool driver_tells_node_unshared, driver_tells_nodes_one_row, driver_tells_no_data, driver_tells_no_event, driver_tells_sets_as_copies;
    bool older_tells_one_thread, driver_tells_all_as_roots;
    bool older_update_ignored, older_new_node_first, older_kernel_in_one_block, older_kernel_keeps_params, older_exec_kernel_keeps_params;
    bool driver_tells_no_half_edges, driver_sets_no_attribute, driver_tells_no_attribute, driver_keeps_child;
    bool copied_attributes_fill, empty_capture_gives_none, host_graph_passed, child_ends_by_first;
    bool wait_node_in_child_passes, lone_node_overlaps_itself;
    bool legacy_of_two_threads_uncovered, driver_wait_keeps_pinned, cooperative_start_event_uncovered, driver_later_zero_overlaps;
    bool added_dependency_gives_data, last_of_switch_idle, eighth_launch_mixed_lost, disabling_reaches_siblings, lost_dependents_counted;
    bool chosen_at_launch, chosen_uncovered, chosen_ends_early;
    bool loop_runs_once, loop_of_four_rounds, first_round_ends_loop, loop_keeps_value;
    bool loop_value_counts_once, loop_default_counts_once, loop_round_by_default;
    bool rounds_meet, later_round_edge_lost, later_round_uncovered;
    bool default_beats_kernel, loop_begins_by_default, first_set_counts, only_neighbour_sets, child_set_stays_inside, body_set_stays_inside;
    bool second_waiter_uncovered, left_dependent_dropped, deep_by_driver_uncovered, deep_in_legacy_overlaps;
    bool short_list_shares_data, removal_shifts_data, ranked_unordered, set_after_add_keeps, uploaded_elsewhere_half;
    bool driver_with_params_loses_edge;
    bool second_clone_params_go_back, readded_dependent_counted_twice, captured_long_copy_joins_one, third_level_uncovered;
    bool older_tells_one_dependency, older_dependents_lose_data, older_capture_tells_none, older_status_has_no_id;
    bool driver_tells_enabled, driver_end_frees_stream, driver_captures_nowhere, instance_under_way_loses_edge;
    bool launch_record_moves_waiters, start_beside_other_at_trigger, cooperative_waits_for_one, later_cluster_blocks_free, first_layer_counts;
    bool driver_tells_no_flags, driver_lends_nothing;
    bool cluster_of_three_triggers, legacy_event_at_touch, per_thread_of_urgent_uncovered;
    bool driver_event_uncovered, event_of_rows_at_touch;
    bool args_in_a_ring, ignored_value_overlaps, urgent_stream_jumps, first_beside_lets_go, child_ends_at_trigger;
    bool six_read_wide, cooperative_read_wide, staging_in_a_ring, sets_in_a_ring, ninth_launch_event_lost;
    bool written_in_a_ring, hosts_in_a_ring, awaited_in_a_ring, copies_in_a_ring;
    bool fifth_round_lets_go, later_round_copy_passed, later_round_inner_body_idle, loop_of_16_rounds; /* of the body of a loop */
    bool per_thread_set_passes_row, blocking_words_pass_row, legacy_layers_pass_row; /* of what the kernel before had overlapped */
    bool inner_loop_runs_once, chosen_full_edge_lets_go, chosen_copy_passed; /* of the body of a loop, or one that a kernel chooses */
    bool exec_params_lose_cooperative;
    bool loop_set_once, later_round_at_touch, later_round_args_cut, later_round_cooperative_is_plain, later_round_fence_lost;
    bool later_round_large_uncovered, later_round_second_edge_lost, elsewhere_loop_runs_once, chosen_child_passed, chosen_last_idle;
    bool older_tells_edge_twice, loop_join_lost, later_round_body_passed, later_round_switch_first;
    bool large_copy_out_early, wait_257_lost, sixteen_layers_copied;
    bool graph_keeps_last_event, graph_keeps_first_event; /* that its stream waits for */
    bool pinned_memory_uncovers, changed_graph_uncovers, legacy_loop_once, given_loop_once, loop_behind_loop_once, loop_beside_loop_once,
        loop_by_low_byte, loop_of_256_rounds, chosen_switch_by_low_byte, chosen_behind_disabled_idle, set_by_later_block_lost, update_keeps_loop_kernels,
        chosen_cooperative_is_plain, node_priority_drops_cooperative, later_round_start_edge_early, launch_257_lets_go, edge_257_into_ignored,
        allocation_65_shares, copy_forgets_launch_events, value_keeps_last_event, sync_forgets_launch_event, free_forgets_node_events;
    /* memory that graphs allocate */
    bool alloc_nodes_share, graphs_share_allocations, second_free_node_taken, held_allocation_launched, memory_made_twice, memory_cloned,
        alloc_node_unordered, alloc_node_at_trigger, free_node_at_trigger;
    bool captured_value_lost, captured_await_lost, captured_value_unordered, captured_value_at_trigger, captured_await_passed, captured_batch_does_one;
    bool batch_of_copies_unordered, batch_of_copies_passed, batch_of_copies_ends_at_8, batch_loses_first_copy, batch_copies_first_size, batch_attributes_unread;
    bool wide_value_halved, wide_value_turned, wide_value_cuts; /* values of eight bytes */
    bool layers_batch_ignores_pitch, layers_batch_copies_a_layer, layers_batch_unordered_taken, layers_batch_unordered, layers_batch_loses_first,
        layers_batch_passed;
    bool built_values_turned, built_batch_does_one, built_values_first, first_value_told_for_all, batch_node_keeps_params, exec_batch_keeps_params;
    bool handle_loses_attributes, handle_loses_shared, handle_in_legacy; /* launches that name a kernel by its handle */
    bool driver_loop_once, no_rows_set_cuts, memset_passes_copy_in, graph_passes_copy_out, refused_crowd_fires_event, window_drops_completion,
        window_drops_cooperative, window_drops_clusters, told_properties_uncovers, six_drops_captured_completion,
        completion_drops_captured_six, item_passes_event_of_group, copy_out_forgets_behind_host, freed_given_behind_older_event,
        node_scheduling_drops_cooperative, node_domain_map_drops_clusters;
    bool question_and_graph_uncover, driver_tells_next_capture;
    bool record_between_at_trigger, destroyed_event_fires_next;
    bool driver_rows_of_halves_passed, captured_driver_rows_free, driver_layers_forget_events, late_window_uncovers, late_map_passed,
        node_carve_out_drops_cooperative, completion_of_dependent_lost, completion_beside_trigger_lost, lent_cooperative_beside_told_only,
        given_map_uncovers;
    bool params_keep_trigger_count;
    bool two_ended_graph_covers_last;
    bool late_blocks_keep_lines;
    bool destroyed_event_place_fires;
    bool update_keeps_inner_threads, disabled_takes_no_set, other_launch_record_stays, middle_event_at_primary, attributed_recorder_uncovered,
        fenced_wait_keeps_lines, start_edge_into_domain_early, general_params_keep_args, blocking_starts_lack_one, copied_batch_does_one;
    bool empty_graph_hides_primary;
    bool exec_end_frees_waits, gone_exec_recycled, node_images_in_a_ring, event_reaches_record_to_come, event_reaches_wait_to_come, sibling_params_reach_rest;
    bool program_fork_not_counted;
    bool swapped_kinds_stay;
    bool elsewhere_launch_at_trigger;
    bool given_domain_uncovers;
    bool args_ring_until_trigger, attributed_args_ring, recorder_args_ring, completing_args_ring, clustered_args_ring;
    bool args_compared_to_256, update_compares_args_to_256, params_compared_without_shared, params_compared_without_grid_z,
        update_compares_without_clusters, sets_compared_without_element, sets_compared_without_pitch;
    bool host_passes_hollow_graph, sync_passes_empty_graph;
    bool given_event_lets_go, given_event_start_edge_early;
    bool attributed_passes_completion;
    bool cluster_of_one_uncovered, own_event_uncovers;
    bool allocation_frees_waits, free_triggers; /* while a kernel runs */
    bool own_captured_event_frees;
    bool refused_params_give_args;
    bool new_node_takes_lost_attributes;
    bool edges_beyond_32_beside_program_uncovered;
    bool higher_map_uncovers, balanced_uncovers, middle_priority_uncovers;
    bool wait_drops_stores, add_behind_other_grid_lost; /* before the wait */
    bool other_sizes_share_memory, smaller_shares_memory;
    bool grids_share_frames, growing_frames_lost; /* local memory */
    bool narrow_store_takes_word, narrow_load_keeps_lines, compare_overtaken, compare_by_half; /* accesses of one or two bytes; compare and swap */
    bool release_is_relaxed, release_leaves_other_threads, release_of_add_lost, acquire_keeps_lines;
    bool release_adds_nothing, release_adds_merged;
    bool pairs_beyond_32_uncovered, pairs_beyond_64_begin_early, pairs_of_graph_uncovered;
    bool again_keeps_attribute, again_left_out, again_not_set, again_not_copied;
    bool grid_barrier_keeps_lines, grid_barrier_of_first_threads, fourth_grid_barrier_lacks_one, seventeenth_grid_barrier_lacks_one, grid_met_wait_free;
    bool grid_barriers_shared, grid_barrier_of_primary, grid_barrier_lacks_one_again;
    bool wide_cluster_triggers, ninth_of_cluster_free;
    bool row_offsets_wrap, stores_beyond_4g_lost;
    bool failed_capture_uncovers, failed_join_cuts;
    bool captured_free_passes_row, captured_value_passes_row;
    bool body_root_free;
    bool exec_waits_for_last;
    bool new_node_sorts_nodes;
    bool lost_node_leaves_data;
    bool node_of_refused_data_stays;
    bool set_again_adds;
    bool printed_graph_uncovers, told_pool_uncovers;
    bool graphs_share_unfreed, trim_takes_held;
    bool made_pool_gives_at_once, switched_reuse_gives_at_once, trim_ends_frees, gone_pool_gives;
    bool refused_dependent_hides_copy, refused_clusters_leak, refused_captured_launch_takes_event, refused_update_gives_kinds,
        refused_child_gives_kinds, failed_instance_fills; /* what is refused leaves a trace */
    bool own_attributes_wiped, own_stream_attributes_wiped, own_stream_copy_cuts, record_drops_awaited; /* what relates to itself */
    bool captured_event_place_taken, spoiled_fork_forgets, record_after_spoiled_lost, recaptured_program_event_lost, next_edge_takes_lost_kind,
        set_dependencies_passed; /* what is gone leaves a trace */
    bool start_event_beside_trigger_uncovered, value_beside_dependent_early; /* of two kinds beside each other */
    bool redundant_edge_dropped, redundant_program_edge_dropped, far_redundant_edge_dropped;
    bool other_name_overlaps, other_name_uncovers, other_name_record_fires;
    bool long_wait_returns;
    bool edge_across_1024_uncovered, edge_across_1024_lets_go, far_edge_uncovered;
    bool same_shape_cached;
    bool child_copies_share_cover;
    bool disabling_is_counted, enabling_is_counted;
    bool child_update_keeps_trigger_count, body_update_keeps_trigger_count;
    bool copy_source_given, node_set_at_trigger; /* to who stores over it; before what reads there has ended */
    bool freed_returns_to_owner;
    bool batch_takes_first_order;
    bool rows_in_two_bytes;
    bool symbol_offset_lost, node_symbol_offset_lost, symbol_copy_early;
    bool rows_pass_set, value_passes_set; /* right behind each other */
    bool moved_value_unseen, second_waiter_passes, value_before_stores;
    bool freed_given_behind_trigger;
    bool stream_33_takes_others;
    bool new_function_uncovered, new_function_lets_go, updated_function_uncovered;
    bool row_of_64_passed, captured_row_of_128_lost;
    bool ends_beyond_16_passed, child_ends_beyond_32_passed, body_ends_beyond_64_passed, roots_beyond_16_free, inner_roots_beyond_32_free;
    bool dependent_forgets_257_events, copy_forgets_65_events;
    bool clone_takes_lost_data;
    bool function_keeps_point;
    bool late_function_uncovered;
    bool round_ends_beyond_64_passed;
    bool launch_after_256_ends;
    bool idle_round_uncovers_pair, idle_round_frees_pair, third_outer_round_uncovers, outer_loop_of_four_rounds, captured_loop_of_64_rounds,
        body_loop_of_64_rounds;
    bool waiter_33_passes;
    bool long_staged_copy_passed, long_staged_copy_uncovered;
    bool update_33_uncovers;
    bool params_beyond_64_lost, params_beyond_1024_lost, general_beyond_1024_lost, disabled_beyond_64_run; /* of many nodes before one launch */
    bool sets_beyond_64_lost, copies_beyond_64_lost, hosts_beyond_64_lost, children_beyond_64_lost, update_keeps_beyond_256;
    bool update_while_out_uncovers, params_while_out_uncover, general_while_out_uncovers, upload_while_out_uncovers; /* a disabled node's edges */
    bool pending_upload_puts_back, pending_upload_launched; /* behind work of its stream */
    bool kinds_reach_siblings, kinds_reach_source, child_kinds_reach_siblings;
    bool update_keeps_beyond_1024, clone_beyond_1024_lets_go, child_beyond_1024_lets_go; /* of a large graph */
    bool update_takes_left_condition, params_take_left_condition, upload_takes_left_condition, enabling_takes_left_condition, body_keeps_value;
    bool inner_body_decided_early, body_decided_early;
    bool record_before_set_gone, record_before_added_grows, second_waiter_of_start_full;
    bool spoiled_data_stay, spoiled_set_stays;
    bool left_memory_given_at_once, left_memory_shared;
    bool value_written_once, value_awaited_once, update_keeps_values;
    bool exec_end_frees_memory, graph_end_frees_memory;
    bool objects_wait_for_first, one_object_copied, newest_object_released;
    bool replaced_objects_stay, clone_takes_no_object, child_takes_no_object, exec_takes_no_object;
    bool update_takes_no_object, destroyed_exec_ends_objects, update_ends_objects, given_child_takes_no_object, object_references_go_at_once;
    bool ninth_completion_record_lost;
    bool wait_drops_own_lines, wait_drops_own_grids_lines, begin_keeps_busy_lines; /* who brought a line in, who stands on its SM */
    bool limit_frees_waits, preference_triggers, registered_uncovers, registered_stays; /* what the host sets while a kernel runs */
    bool long_plain_copy_passes_row, long_plain_copy_in_passes_row;
    bool large_blocks_share_memory, large_block_wipes_others; /* of more than 32 KiB of shared memory */
    bool siblings_share_triggers, child_copies_share_trigger, clones_share_triggers, alike_share_triggers; /* nodes of graphs that run at once */
    bool spoiled_event_stays, left_event_stays, spoiled_stream_unordered; /* a capture, when it has ended */
    bool late_warps_of_clusters_free, late_warps_of_cooperative_free, late_warps_of_bodies_free;
    bool float_reductions_uncovered, halves_added_as_one, wide_add_loses_carry, signed_least_unsigned, several_reduced_as_one, count_has_no_bound,
        wide_compare_by_half;
    bool attributed_keeps_constants, graph_keeps_constants, clustered_keeps_constants, again_keeps_constants;
    bool older_graph_shares_frames, graphs_share_frames, clusters_share_frames;
    bool named_barriers_shared, named_barriers_are_one, named_barrier_passed;
    bool managed_stores_lost, combined_stores_lost, peer_copy_early;
    bool renewed_stream_owns_event, renewed_stream_leaves_legacy, renewed_stream_owns_freed, renewed_stream_frees_exec;
    bool legacy_joins_own_thread_only, other_per_thread_skips_legacy, device_sync_skips_other_threads; /* each thread's own default stream */
    bool held_value_not_awaited; /* a value that was there once */
    bool record_versions_wrap, told_versions_wrap, record_repeats_record; /* events that are recorded often, or right after each other */
    bool callback_told_last_error, hosts_in_a_long_ring, pending_records_lost;
    bool sync_ends_frees, event_sync_ends_frees, malloc_ends_frees, graph_trim_ends_frees; /* as if the work before them had ended */
    bool long_copy_ends_with_last_part; /* for what follows on the device */
    bool crooked_long_copy_cut, crooked_long_set_cut, odd_pitch_rounded, wide_set_turned;
    bool upload_counts_anew; /* of a launch under way */
    bool legacy_kernel_passes_hosts, legacy_move_passes_lone_moves, legacy_record_passes_lone_work, legacy_graph_passes_lone_work;
    bool legacy_host_passes_lone_work, legacy_passes_lone_graphs, legacy_passes_lone_frees; /* lone: no work stands before it in its stream */
    bool trim_gives_live, freed_given_behind_newer_event, freed_given_behind_start;
    bool batch_forgets_events, batch_passes_row, batch_passes_items, batch_skips_legacy, batch_does_sixty_four, batch_does_two_hundred;
    bool middle_stream_forgets_events, legacy_passes_middle, middle_poll_succeeds; /* a priority between the others */
    bool launch_priority_stays, launch_domain_stays;
    bool late_grid_barriers_lack_one;
    bool plain_call_passes_row, plain_call_skips_legacy, cooperative_call_passes_row, cooperative_call_skips_legacy; /* the older calls */
    bool driver_plain_call_passes_row, driver_plain_call_skips_legacy, driver_plain_call_forgets_events;
    bool symbol_copy_forgets_events, symbol_copy_passes_row, symbol_copy_skips_legacy;
    bool callback_passes_neighbour, callback_neighbour_passed;
    bool destruction_drops_move, destruction_drops_callback;
    bool told_launch_passed, told_launch_uncovered, told_launch_event_passed; /* the host was told of the event of a launch that goes on */
    bool later_wait_replaces; /* of two for one event */
    bool told_launch_polls_as_ended, told_launch_sync_early, record_behind_told_launch_lost;
    bool host_wait_ends_older_polls, host_wait_ends_older_events, poll_passes_waiting; /* what the host is told */
    bool start_time_not_awaited, time_until_never_told, earlier_record_told;
    bool told_launch_ends_frees;
    bool error_taken_from_all_threads;
    bool per_thread_passes_per_thread, others_record_lost, others_end_of_event_lost;
    bool freed_by_other_thread_given, per_threads_share_freed;
    bool elsewhere_made_event_succeeds, elsewhere_made_event_sync_early;
    bool elsewhere_made_stream_not_joined;
    bool others_destruction_drops;
    bool others_item_unordered;
    bool others_call_uncovers;
    bool others_launch_uncovers, per_thread_takes_others, elsewhere_made_stream_uncovers;
    bool uncovered_beside_others_capture, records_beside_others_capture_lost, unordered_beside_others_capture;
    bool fence_drops_own_lines, acquire_drops_own_lines; /* not what other blocks of the SM brought in */
    bool fence_before_wait_late, release_before_wait_late, untriggered_release_lost;
    bool second_fence_keeps_lines, second_acquire_keeps_lines; /* of the thread */
    bool fence_leaves_narrow, fence_leaves_wide, release_leaves_narrow, release_leaves_wide; /* stores of one or two bytes, of eight or more */
    bool fenced_narrow_load_keeps_lines, fenced_wide_load_keeps_lines;
    bool fence_leaves_past_named, release_leaves_past_named, named_barrier_publishes_nothing; /* barriers of some threads */
    bool ninth_of_row_free, seventeenth_of_row_free; /* kernels that each overlap the one before */
    bool add_gives_cached, lost_compare_succeeds;
    bool reduction_overtaken, reduction_keeps_line, late_reductions_lost;
    bool reduction_behind_other_grid_lost;
    bool named_wait_free, acquired_wait_free, released_wait_free, framed_wait_free, reduced_wait_free, compared_wait_free, constant_wait_free;
    bool static_shared_wait_free, large_framed_wait_free;
    bool tenth_wait_drops_stores, seventeenth_trigger_counts;
    bool constant_names_mixed, part_copy_keeps_constants, device_copy_keeps_constants, set_keeps_constants;
    bool wait_keeps_named_lines, wait_keeps_pooled_lines, wait_keeps_graph_memory;
    bool captured_allocation_loose, captured_free_loose, moved_child_uncovered, moved_child_unordered, moved_edges_full;
    bool third_level_loop_once, set_after_trigger_adds;
    bool updated_layers_uncovered, layers_in_body_uncovered, wide_in_legacy_uncovered, recorder_again_uncovered;
    bool named_barriers_in_three_bits, ninth_named_barrier_lets_go;
    bool ninth_barrier_lets_go;
    bool flush_ends_early; /* of very many blocks */
    bool fifth_wait_node_passes, record_node_17_lost, child_update_keeps_events;
    bool alloc_pieces_overlap, third_alloc_node_shares;
    bool ninth_in_flight_free, launch_1025_lets_go;
    bool destroyed_exec_drops_queued, update_reaches_bodies;
    bool ninth_of_switch_idle, other_body_loop_once; /* in what only runs for some values */
    bool edges_beyond_1024_told_full, beyond_1024_found_is_neighbour, level_32_unordered;
    bool fourth_hand_fork_lost, ninth_capture_unordered;
    bool built_batch_of_four, nested_graph_passed, child_33_uncovered;
    bool handles_by_four_bits;
    bool copied_map_lost, copied_carve_out_lost;
    bool moved_allocations_shared;
    bool peer_copy_forgets_events, peer_copy_skips_legacy, long_peer_copy_cut, long_symbol_copy_cut;
    bool driver_to_device_cut, driver_to_host_cut, driver_in_device_cut, batch_copy_cut;
    bool waiting_rows_packed, waiting_source_rows_packed, waiting_source_layers_packed;
    bool driver_rows_packed, driver_source_rows_packed, driver_rows_offset_lost, driver_source_rows_offset_lost;
    bool driver_layers_packed, driver_source_layers_packed, driver_source_layer_lost, driver_layers_offset_lost;
    bool waiting_set_packed, driver_set_rows_packed, small_wide_value_halved, captured_wide_value_halved, captured_wide_wait_by_low_word;
    bool stream_id_again, lower_event_at_trigger, higher_event_at_trigger, legacy_record_at_trigger, per_thread_record_at_trigger;
    bool blocking_record_at_trigger, blocking_records_at_trigger, record_at_trigger_in_per_thread;
    bool event_given_frees_exec, upload_frees_exec;
    bool general_params_keep_trigger_count, source_params_keep_trigger_count;
    bool general_event_lost, source_general_event_lost;
    bool disabled_takes_one_update, disabled_takes_one_params, disabled_move_takes_one_update;
    bool beside_record_uncovered, beside_wait_node_uncovered, beside_alloc_uncovered, beside_free_uncovered, beside_value_uncovered;
    bool beside_host_uncovered, beside_empty_uncovered, beside_child_uncovered, beside_body_uncovered, beside_set_uncovered, beside_copy_uncovered;
    bool behind_free_uncovered, behind_value_uncovered;
    bool met_grid_trigger_launches, met_grid_trigger_lacks_one;
    bool acquire_33_keeps_lines, fence_33_keeps_lines;
    bool legacy_joins_hundred;
    bool third_program_event_uncovered;
    bool poll_256_succeeds, stream_poll_256_succeeds;
    bool never_overlaps, seldom_overlaps, early, shared, halts, late_copies, pageable_later; /* these conform */
    bool launch_120_uncovers, launch_1025_uncovers;
    bool third_launch_start_edge_early, uploaded_start_edge_early;
    bool full_past_16_beside_program_lets_go;
    bool update_keeps_source_beside_program, update_keeps_set_value_beside_program;
    bool clone_start_edge_early;
    bool dependent_passes_host_early, dependent_passes_second_host_early, dependent_passes_move_early;
};

struct variant {
    const char *name, *rule, *text;
    size_t flag; /* offset in struct faults; SIZE_MAX: none */
    bool conforming;
};

#endif
