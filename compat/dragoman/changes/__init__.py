"""Every change that reshapes a frame, in one explicit list.

One module a change, named after its id. A change that is no concern of a frame on its own has its home elsewhere (in the
bridge, the transports, the linter).
"""

from __future__ import annotations

from typing import Final

from dragoman.change import Change
from dragoman.changes.v2025_03_26 import audio_content, completions_capability
from dragoman.changes.v2025_11_25 import sep1330_enum_schemas, sep1577_sampling_tools
from dragoman.changes.v2026_07_28 import (
    error_code_ranges,
    sep2106_json_schema,
    sep2164_resource_not_found,
    sep2322_mrtr,
    sep2322_result_type,
    sep2549_cache_hints,
    sep2575_envelope,
    sep2575_subscriptions,
    sep2663_tasks,
)

# Oldest revision first: what the server sends is brought up step by step in this order, what the client sends goes down in
# the opposite one.
ALL: Final[tuple[Change, ...]] = (
    audio_content.CHANGE,
    completions_capability.CHANGE,
    sep1577_sampling_tools.CHANGE,
    sep1330_enum_schemas.CHANGE,
    # Before the stamps: it may refuse the whole result.
    sep2663_tasks.CHANGE,
    # These three write the members of a result in the order of dragoman.shape.STAMPED.
    sep2322_result_type.CHANGE,
    sep2575_envelope.CHANGE,
    sep2549_cache_hints.CHANGE,
    sep2322_mrtr.CHANGE,
    sep2575_subscriptions.CHANGE,
    sep2106_json_schema.CHANGE,
    # -32002 lies outside the reserved range, so the order of these two is free.
    sep2164_resource_not_found.CHANGE,
    error_code_ranges.CHANGE,
)
