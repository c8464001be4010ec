"""The rows of the translation tables that the bridge core owns, and the conversations that cover each.

``test_rows.py`` checks that no row is without one and that every name is a test. Rows of the other direction (a modern server shown
to a legacy client) and of HTTP are not the core's; rows about shapes alone are tested with the chain.
"""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """One rule, and where it is tried: ``module::test``, or ``module::prefix*`` for several."""

    section: str
    rule: str
    tests: tuple[str, ...]


ROWS: tuple[Row, ...] = (
    # -- client requests ---------------------------------------------------------------------------------------------------
    Row(
        "requests",
        "server/discover is answered from the handshake and lists what is accepted",
        (
            "discovery::test_discover_first_is_answered_from_the_handshake",
            "discovery::test_discover_again_is_answered_without_the_server",
            "discovery::test_two_discovers_before_the_handshake_share_one_process",
        ),
    ),
    Row(
        "requests",
        "initialize: the client is served as legacy",
        (
            "eras::test_legacy_client_is_relayed_byte_for_byte",
            "eras::test_initialize_after_discover_is_served_by_a_process_of_its_own",
            "eras::test_initialize_that_carries_modern_meta_is_still_a_legacy_handshake",
        ),
    ),
    Row("requests", "ping is not found", ("envelope::test_method_that_the_modern_revision_removed_is_not_found",)),
    Row(
        "requests",
        "logging/setLevel is not found; the level of a request sets the session, awaited, restored, filtered, if logging is declared",
        (
            "envelope::test_method_that_the_modern_revision_removed_is_not_found",
            "envelope::test_unknown_log_level_is_refused",
            "logs::test_level_of_a_call_is_set_and_awaited_before_the_call_is_sent",
            "logs::test_two_levels_at_once_set_the_more_verbose_one",
            "logs::test_level_is_lowered_when_a_second_has_passed_with_no_call",
            "logs::test_level_is_lowered_only_to_what_others_still_ask_for",
            "logs::test_server_without_logging_is_never_set",
            "logs::test_retry_that_asks_for_more_sets_the_level_before_the_server_goes_on",
        ),
    ),
    Row(
        "requests",
        "resources/subscribe and unsubscribe are not found; listen subscribes and unsubscribes, counted by URI",
        (
            "envelope::test_method_that_the_modern_revision_removed_is_not_found",
            "listens::test_resources_are_subscribed_before_the_acknowledgement",
            "listens::test_two_streams_on_one_resource_share_its_subscription_and_the_last_ends_it",
            "listens::test_resource_followed_by_a_stream_already_is_not_subscribed_again",
        ),
    ),
    Row(
        "requests",
        "subscriptions/listen: all sessions, acknowledged first with what is honoured, stamped, never evicted, ended with a result",
        (
            "listens::test_stream_for_lists_is_acknowledged_first_and_gets_what_it_asked_for",
            "listens::test_what_the_server_does_not_offer_is_left_out_of_the_acknowledgement",
            "listens::test_resource_that_the_server_refuses_is_left_out_of_the_acknowledgement",
            "listens::test_stream_hears_of_every_isolated_session_and_follows_its_resources_there",
            "listens::test_two_streams_for_the_same_list_both_hear_of_it",
            "listens::test_streams_end_with_a_result_and_a_cancellation_when_the_client_closes",
            "listens::test_stream_is_told_to_look_again_after_the_server_was_started_again",
            "discovery::test_stream_moves_to_the_session_that_replaces_its_own",
            "discovery::test_session_with_a_parked_call_is_never_closed_for_another",
        ),
    ),
    Row(
        "requests",
        "tools, prompts, resources, completion: reserved keys and retry members are taken off, tokens, trace and foreign keys stay",
        (
            "envelope::test_complete_envelope_stays_here_and_the_rest_goes_on",
            "envelope::test_retry_members_on_a_method_that_never_asks_are_taken_off",
            "envelope::test_null_retry_members_are_taken_off",
            "envelope::test_server_words_in_a_clients_meta_are_taken_off",
            "calls::test_completion_is_relayed_without_cache_hints",
        ),
    ),
    Row(
        "requests",
        "tasks are not found; a tool that needs one is called as one and awaited, if the server declared that",
        (
            "envelope::test_method_that_the_modern_revision_removed_is_not_found",
            "url_elicitations::test_tool_that_runs_only_as_a_task_is_called_as_one_and_awaited",
            "url_elicitations::test_server_that_does_not_offer_tasks_for_calls_is_called_as_ever",
            "url_elicitations::test_task_that_is_created_after_its_call_was_cancelled_is_cancelled_too",
        ),
    ),
    Row(
        "requests",
        "unknown and vendor methods are relayed without the envelope; the server's not found stays",
        (
            "envelope::test_vendor_method_is_relayed_without_its_envelope",
            "envelope::test_vendor_notification_reaches_the_server",
            "results::test_method_not_found_for_what_was_not_declared_stays",
        ),
    ),
    Row("requests", "a legacy server never sees a modern word", ("any_frames::test_any_frames_leave_no_request_unanswered",)),
    # -- results -----------------------------------------------------------------------------------------------------------
    Row(
        "results",
        "resultType is added, over a legacy member of that name",
        (
            "results::test_every_kind_of_result_is_told_in_modern_words",
            "results::test_legacy_members_named_like_modern_ones_are_overwritten",
        ),
    ),
    Row(
        "results",
        "ttlMs and cacheScope are added; a lifetime only for lists that announce changes",
        (
            "results::test_every_kind_of_result_is_told_in_modern_words",
            "results::test_list_lifetime_is_stamped_only_on_lists_that_announce_changes",
        ),
    ),
    Row("results", "serverInfo is added to _meta", ("results::test_foreign_meta_of_a_result_is_kept_beside_the_server_info",)),
    Row("results", "structured output, audio and links pass", ("results::test_blocks_of_every_kind_pass_unchanged",)),
    Row(
        "results",
        "tools: the schema is repaired, execution dropped, everything else passes",
        ("results::test_tool_keeps_all_but_its_execution",),
    ),
    Row(
        "results",
        "client results are told in the words of an older server, or the question fails",
        (
            "answers::test_answer_is_told_in_the_words_of_the_servers_revision",
            "answers::test_answer_that_the_servers_revision_has_no_words_for_fails_the_question",
        ),
    ),
    Row(
        "results",
        "malformed results are repaired and counted, or an error that names the fault",
        (
            "results::test_malformed_result_is_repaired_and_counted",
            "results::test_result_that_is_no_object_is_an_error_that_says_so",
            "results::test_null_cursor_ends_the_list",
        ),
    ),
    # -- errors ------------------------------------------------------------------------------------------------------------
    Row(
        "errors",
        "resource not found becomes invalid params, elsewhere internal with the old code",
        (
            "results::test_resource_not_found_becomes_invalid_params_with_the_uri",
            "results::test_resource_not_found_with_a_uri_keeps_its_data",
            "results::test_same_code_elsewhere_is_an_internal_error_that_tells_the_old_one",
        ),
    ),
    Row(
        "errors",
        "method not found inside a declared capability means the name, otherwise it stays",
        (
            "results::test_method_not_found_for_a_declared_capability_means_the_name",
            "results::test_method_not_found_for_what_was_not_declared_stays",
            "url_elicitations::test_server_that_does_not_offer_tasks_for_calls_is_called_as_ever",
        ),
    ),
    Row(
        "errors",
        "private codes in the reserved range become internal",
        ("results::test_private_code_in_the_reserved_range_becomes_internal",),
    ),
    Row(
        "errors",
        "-32042: asked for; accepted runs again; declined; capability missing; data missing",
        (
            "url_elicitations::test_required_url_is_asked_for_and_an_accepted_retry_runs_the_call_again",
            "url_elicitations::test_declined_url_is_a_tool_error_and_nothing_runs",
            "url_elicitations::test_declined_url_of_a_prompt_is_an_error",
            "url_elicitations::test_client_without_urls_is_told_the_capability_that_is_missing",
            "url_elicitations::test_required_url_that_is_not_named_is_an_internal_error",
            "url_elicitations::test_url_that_was_accepted_survives_the_death_of_the_server",
        ),
    ),
    Row(
        "errors",
        "a question outside the capabilities is refused and the call goes on; if it fails, -32021; a good result stays",
        (
            "questions::test_question_outside_the_capabilities_is_refused_and_a_failing_call_names_them",
            "questions::test_call_that_fails_as_a_tool_names_the_missing_capability",
            "questions::test_call_that_succeeds_without_the_capability_stays_good",
        ),
    ),
    Row("errors", "an empty elicitation capability means forms", ("questions::test_empty_elicitation_capability_means_forms",)),
    Row(
        "errors",
        "errors without a code, with a text code or a null id are repaired",
        (
            "results::test_malformed_error_is_repaired",
            "results::test_null_id_error_with_one_call_in_flight_belongs_to_it",
            "results::test_null_id_error_with_two_calls_in_flight_belongs_to_nobody",
        ),
    ),
    Row(
        "errors",
        "death, time-out and broken frames reach their owner, and the next call starts afresh",
        (
            "failures::test_server_that_dies_while_starting_fails_all_that_wait",
            "failures::test_server_that_dies_with_calls_in_flight_fails_each_with_its_own_id",
            "failures::test_call_without_an_answer_is_given_up_in_time_and_cancelled",
            "results::test_broken_answer_reaches_its_owner_and_the_session_goes_on",
            "results::test_broken_question_does_not_fail_the_call_whose_number_it_shares",
        ),
    ),
    # -- notifications -------------------------------------------------------------------------------------------------------
    Row(
        "notifications",
        "progress: own token, increasing, never after the response, rebound or dropped by the retry",
        (
            "progress::test_progress_goes_to_the_request_with_its_own_token",
            "progress::test_progress_that_does_not_increase_is_dropped_and_counted",
            "progress::test_progress_after_the_response_is_dropped_and_counted",
            "progress::test_progress_while_parked_goes_out_with_the_retry_under_its_token",
            "progress::test_retry_without_a_token_drops_progress",
            "envelope::test_notification_that_the_modern_revision_removed_reaches_no_server",
        ),
    ),
    Row(
        "notifications",
        "while parked, progress and logs wait in a bounded tail and go out before the response of the retry",
        (
            "progress::test_outcome_while_parked_follows_the_kept_progress",
            "progress::test_kept_progress_is_bounded_and_the_rest_is_counted",
            "logs::test_messages_while_parked_go_out_with_the_retry_before_its_response",
        ),
    ),
    Row(
        "notifications",
        "messages: only for a request that asked, at or above its level, once",
        (
            "logs::test_message_that_several_calls_asked_for_goes_out_once",
            "logs::test_message_below_what_the_remaining_calls_asked_for_is_left_out_as_asked",
            "logs::test_message_that_nobody_asked_for_is_counted",
        ),
    ),
    Row(
        "notifications",
        "cancelled by the client: running, queued, asking, parked; nothing more is heard; tasks by tasks/cancel; never initialize",
        (
            "cancellation::test_running_call_is_cancelled_at_the_server_and_hears_nothing_more",
            "cancellation::test_call_waiting_for_the_handshake_is_cancelled_without_a_word_to_the_server",
            "cancellation::test_call_waiting_for_its_turn_is_cancelled_without_a_word_to_the_server",
            "cancellation::test_asking_call_is_cancelled_with_its_question",
            "cancellation::test_retry_that_is_cancelled_cancels_the_call",
            "cancellation::test_discover_waiting_for_the_handshake_is_cancelled_but_initialize_never",
            "url_elicitations::test_task_that_is_cancelled_is_cancelled_as_a_task",
        ),
    ),
    Row(
        "notifications",
        "cancelled by the server: its own question, before and after it went out",
        (
            "cancellation::test_server_withdraws_its_question_before_it_went_out",
            "cancellation::test_server_withdraws_its_question_after_it_went_out",
            "cancellation::test_server_withdraws_a_question_that_no_call_carries_yet",
            "questions::test_withdrawn_question_of_a_call_leaves_the_others_of_the_round",
        ),
    ),
    Row(
        "notifications",
        "cancelled is sent to the client only for a listen that ends",
        ("listens::test_streams_end_with_a_result_and_a_cancellation_when_the_client_closes",),
    ),
    Row(
        "notifications",
        "changes go only to streams that asked; a sub-resource to all that follow any",
        (
            "listens::test_changes_that_no_stream_asked_for_go_nowhere",
            "listens::test_update_of_a_resource_goes_only_to_those_that_named_it",
            "listens::test_update_of_a_resource_that_nobody_named_goes_to_all_that_follow_any",
            "listens::test_stream_is_told_only_of_what_was_acknowledged_after_a_new_start",
        ),
    ),
    Row(
        "notifications",
        "elicitation/complete and elicitationId do not reach the client",
        ("url_elicitations::test_required_url_is_asked_for_and_an_accepted_retry_runs_the_call_again",),
    ),
    Row(
        "notifications",
        "unknown ones go to the one call in flight, else they are counted",
        (
            "notifications::test_unknown_notification_beside_one_call_is_passed_on",
            "notifications::test_unknown_notification_that_belongs_to_no_one_call_is_counted",
        ),
    ),
    # -- questions -----------------------------------------------------------------------------------------------------------
    Row(
        "questions",
        "elicitation, sampling and roots become inputRequests without the words of the old era; bad shapes are refused",
        (
            "questions::test_three_questions_that_come_together_go_out_together",
            "questions::test_server_words_that_modern_clients_do_not_know_are_taken_off_a_question",
            "questions::test_context_is_asked_for_only_where_the_client_declared_it",
            "questions::test_question_of_the_wrong_shape_is_refused_and_the_call_goes_on",
        ),
    ),
    Row(
        "questions",
        "with no eligible call running they are held, bounded, attached to the next, and expire",
        (
            "questions::test_question_right_after_initialized_waits_for_the_next_call_and_blocks_nothing",
            "questions::test_question_during_a_list_waits_for_a_call",
            "questions::test_held_questions_are_bounded_and_expire",
            "answers::test_question_while_parked_joins_the_next_round",
        ),
    ),
    Row("questions", "ping is answered here", ("questions::test_ping_of_the_server_is_answered_here",)),
    Row("questions", "anything else is not found", ("questions::test_any_other_request_of_the_server_is_not_found",)),
    Row(
        "questions",
        "whose it is: hints, tools that ask, the oldest; known askers run one after another; parked holds nobody up",
        (
            "questions::test_question_that_names_a_progress_token_goes_to_its_call",
            "questions::test_question_goes_to_the_call_whose_tool_has_asked_before",
            "questions::test_question_with_several_calls_running_goes_to_the_oldest",
            "questions::test_question_moves_on_when_its_first_candidate_is_answered",
            "questions::test_question_carried_by_the_wrong_call_is_answered_and_both_calls_end_right",
            "questions::test_calls_of_a_tool_that_asks_run_one_after_another_and_others_beside_them",
            "questions::test_one_call_at_a_time_keeps_the_next_until_the_first_has_asked_or_ended",
            "questions::test_parked_call_holds_nobody_up",
            "url_elicitations::test_question_of_a_task_goes_to_its_call_and_progress_keeps_its_token",
        ),
    ),
    Row(
        "questions",
        "keys are stable; an answer is consumed once, for the question it was given for; shapes are checked and asked again",
        (
            "questions::test_keys_of_a_round_are_suffixed_when_they_would_be_the_same",
            "answers::test_answer_offered_once_is_used_once",
            "answers::test_invalid_answer_is_asked_again_and_the_server_hears_nothing",
            "answers::test_partial_answers_are_passed_on_and_the_rest_is_asked_again",
            "answers::test_answers_that_nobody_asked_for_are_ignored",
            "states::test_answer_runs_again_only_for_the_question_it_was_given_for",
        ),
    ),
    Row(
        "questions",
        "decline and cancel pass as given; expiry answers by kind and cancels; the oldest is released first",
        (
            "answers::test_decline_and_cancel_reach_the_server_as_they_were_given",
            "answers::test_question_that_nobody_answers_expires_and_the_call_is_cancelled",
            "answers::test_more_parked_calls_than_allowed_release_the_oldest",
            "answers::test_time_starts_anew_with_every_round",
        ),
    ),
    Row(
        "questions",
        "requestState is sealed, bound to its request, compared exactly, new each round; replays are refused",
        (
            "states::test_state_that_was_changed_on_the_way_is_refused_and_the_call_stays_parked",
            "states::test_state_of_another_request_is_refused",
            "states::test_state_used_twice_with_other_answers_is_a_replay",
            "states::test_state_of_an_earlier_round_is_a_replay",
            "states::test_state_of_a_bridge_with_another_key_is_tampered",
        ),
    ),
    Row(
        "questions",
        "an identical re-issue joins, or gets the remembered outcome or round",
        (
            "states::test_identical_retry_while_the_call_runs_joins_it",
            "states::test_identical_retry_after_the_end_gets_the_remembered_outcome",
            "states::test_identical_retry_after_the_next_round_gets_the_same_questions",
        ),
    ),
    Row(
        "questions",
        "state that is no longer held says why, and runs again only where that does no harm or with --replay",
        (
            "states::test_state_from_before_a_restart_is_refused_with_that_reason",
            "states::test_state_that_no_call_belongs_to_is_unknown",
            "states::test_with_replay_a_call_that_is_no_longer_held_runs_again",
            "states::test_tool_listed_as_harmless_runs_again_by_itself",
            "states::test_tool_not_listed_as_harmless_does_not",
            "states::test_replay_never_runs_a_state_that_is_wrong",
        ),
    ),
    Row(
        "questions",
        "a fresh call with answers and no state runs, and its questions are answered",
        (
            "answers::test_fresh_call_with_answers_and_no_state_runs_and_its_questions_are_answered",
            "answers::test_offered_answer_that_is_invalid_is_asked_for",
        ),
    ),
    Row(
        "questions",
        "questions that come together go out together, when the server is quiet",
        (
            "questions::test_three_questions_that_come_together_go_out_together",
            "questions::test_questions_wait_until_the_server_is_quiet_but_not_for_ever",
        ),
    ),
    Row(
        "questions", "more rounds than SDKs allow are told", ("questions::test_more_than_ten_rounds_are_carried_and_the_operator_is_told",)
    ),
    # -- which era -------------------------------------------------------------------------------------------------------------
    Row(
        "eras",
        "initialize first, fall forward to server/discover; only a list of modern revisions proves a modern server",
        (
            "eras::test_server_that_refuses_initialize_and_knows_discover_is_modern_and_relayed",
            "eras::test_server_whose_unsupported_version_error_names_modern_revisions_is_modern",
            "eras::test_answer_to_discover_that_names_no_modern_revision_leaves_the_refusal_of_initialize",
            "eras::test_request_cancelled_before_the_verdict_is_not_relayed",
            "eras::test_request_refused_before_the_verdict_is_not_relayed_too",
            "eras::test_duplicate_id_before_the_verdict_leaves_the_first_request_to_be_relayed",
        ),
    ),
    Row(
        "eras",
        "--server-era decides without asking",
        (
            "eras::test_server_known_as_modern_is_relayed_from_the_first_line",
            "eras::test_server_known_as_legacy_is_not_asked_for_discover",
        ),
    ),
    Row(
        "eras",
        "a legacy client's initialize is the first message and is relayed; its refusal comes back",
        (
            "eras::test_legacy_client_is_relayed_byte_for_byte",
            "eras::test_refused_initialize_of_a_legacy_client_comes_back_as_the_server_wrote_it",
        ),
    ),
    Row(
        "eras",
        "an unknown revision in the handshake is the nearest known one; one named in a refusal is tried",
        (
            "discovery::test_server_that_echoes_an_unknown_revision_is_spoken_to_as_the_nearest",
            "discovery::test_refused_initialize_that_names_an_older_revision_is_tried_with_it",
            "discovery::test_hint_that_names_only_the_revision_refused_is_not_tried_again",
        ),
    ),
    Row("eras", "servers that answer {} to anything", ("discovery::test_handshake_without_a_revision_fails_the_calls_that_wait",)),
    Row(
        "eras",
        "nothing tried first locks the face; both eras on one connection",
        (
            "envelope::test_refused_request_leaves_no_trace_and_the_next_one_is_served",
            "eras::test_refused_modern_request_does_not_stand_in_the_way_of_a_legacy_handshake",
            "eras::test_both_eras_are_served_on_one_connection",
        ),
    ),
    # -- stdio -----------------------------------------------------------------------------------------------------------------
    Row(
        "stdio",
        "UTF-8, LF only, CR and byte order mark tolerated, blank lines ignored",
        (
            "calls::test_blank_lines_are_ignored_and_byte_order_mark_and_return_tolerated",
            "calls::test_line_separators_of_unicode_are_data",
            "calls::test_line_that_is_no_message_is_answered_without_an_id",
            "eras::test_legacy_line_endings_and_byte_order_mark_are_cleaned",
        ),
    ),
    Row(
        "stdio",
        "a line over the limit is an error of its owner and the session survives",
        (
            "calls::test_client_line_over_the_limit_is_refused_with_its_id_and_the_rest_goes_on",
            "results::test_server_line_over_the_limit_reaches_its_owner_and_the_session_goes_on",
        ),
    ),
    Row(
        "stdio",
        "text on stdout goes to the operator, never to the client",
        (
            "results::test_text_on_stdout_goes_to_the_operator",
            "eras::test_text_on_stdout_never_reaches_a_legacy_client",
        ),
    ),
    Row("stdio", "pipelining", ("closing::test_everything_pipelined_before_the_first_answer_is_answered_after_the_end",)),
    Row(
        "stdio",
        "ids are exact; a duplicate in flight is refused; an id that is none is refused without it",
        (
            "calls::test_ids_that_look_alike_are_told_apart_and_come_back_exactly",
            "calls::test_duplicate_id_in_flight_is_refused_and_the_first_is_answered",
            "calls::test_duplicate_id_spelled_with_an_escape_is_still_a_duplicate",
            "calls::test_request_with_an_id_that_is_none_is_refused_without_one",
        ),
    ),
    Row(
        "stdio",
        "end of input: in flight is finished or given up after the drain time; parked calls and streams end at once",
        (
            "closing::test_call_in_flight_is_finished_and_then_all_ends",
            "closing::test_call_that_takes_too_long_after_the_end_is_given_up",
            "closing::test_drain_time_counts_from_the_last_output",
            "closing::test_parked_calls_end_at_once_and_their_questions_are_cancelled",
        ),
    ),
    Row(
        "stdio",
        "the exit status and last words are in the error text",
        ("failures::test_server_that_dies_with_calls_in_flight_fails_each_with_its_own_id",),
    ),
    Row(
        "stdio",
        "batches only in 2025-03-26, answered as one; elsewhere refused",
        (
            "calls::test_batch_of_a_modern_client_is_refused_as_one",
            "results::test_batch_of_a_march_2025_server_is_taken_apart",
            "results::test_pings_in_a_batch_are_answered_as_a_batch",
            "eras::test_legacy_batches_of_march_2025_go_through_whole",
        ),
    ),
    Row(
        "stdio",
        "the id of an unreadable request is left out, or null where the revision knows only that",
        ("eras::test_unreadable_line_of_a_legacy_client_is_answered_in_its_revision",),
    ),
    # -- capabilities, identity, paging ------------------------------------------------------------------------------------------
    Row(
        "identity",
        "client capabilities are restated for the session's revision",
        (
            "discovery::test_initialize_carries_client_and_capabilities_in_legacy_words",
            "discovery::test_refused_initialize_with_the_oldest_revision_in_its_text_declares_no_elicitation",
            "discovery::test_url_only_client_declares_no_elicitation_to_a_form_only_revision",
        ),
    ),
    Row(
        "identity",
        "server capabilities are those of the handshake without tasks; an undeclared feature is still relayed",
        (
            "discovery::test_server_capabilities_are_restated",
            "discovery::test_undeclared_feature_that_the_server_answers_is_relayed",
        ),
    ),
    Row(
        "identity",
        "clientInfo of the request or dragoman's; serverInfo and instructions on the way back",
        (
            "discovery::test_client_without_info_is_introduced_as_dragoman",
            "discovery::test_server_without_info_is_still_named_in_every_result",
            "discovery::test_discover_first_is_answered_from_the_handshake",
        ),
    ),
    Row(
        "identity",
        "one session, replaced while it has served only lists; one a capability set if isolated",
        (
            "discovery::test_session_that_served_lists_is_replaced_when_a_call_declares_more",
            "discovery::test_session_that_served_a_call_stays_when_another_declares_more",
            "discovery::test_isolated_capabilities_get_a_session_each",
            "discovery::test_more_sessions_than_allowed_with_all_in_use_are_refused",
        ),
    ),
    Row(
        "identity",
        "cursors are wrapped with their session; one of another is expired; the empty one is a cursor",
        (
            "results::test_cursor_travels_wrapped_and_the_server_sees_its_own",
            "results::test_cursor_of_a_session_that_died_is_expired",
            "results::test_cursor_that_this_session_did_not_issue_is_expired",
            "results::test_empty_cursor_is_a_cursor",
        ),
    ),
    Row("identity", "tool names go byte for byte", ("calls::test_tool_name_goes_byte_for_byte",)),
)
