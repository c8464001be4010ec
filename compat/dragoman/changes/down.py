"""The changes that reshape a frame between a modern server and a legacy client, in one explicit list.

Apart from ``dragoman.changes`` so that whoever shows a legacy server pays for none of it. A change may be in both lists.
"""

from __future__ import annotations

from typing import Final

from dragoman.change import Change
from dragoman.changes.v2025_03_26 import audio_content, completions_capability
from dragoman.changes.v2025_06_18 import pr0371_structured_output, pr0382_elicitation, pr0603_resource_links
from dragoman.changes.v2025_11_25 import sep1036_url_elicitation, sep1330_enum_schemas, sep1577_sampling_tools
from dragoman.changes.v2026_07_28 import (
    elicitation_complete,
    error_code_ranges,
    sep2106_json_schema,
    sep2164_resource_not_found,
    sep2322_mrtr,
    sep2322_result_type,
    sep2549_cache_hints,
    sep2575_envelope,
    sep2663_tasks,
)

# Newest revision first: what the server sends is taken down step by step in this order, what the client sends goes up in
# the opposite one.
DOWN: Final[tuple[Change, ...]] = (
    # First: it may refuse the whole result.
    sep2322_result_type.CHANGE,
    sep2575_envelope.CHANGE,
    sep2549_cache_hints.CHANGE,
    sep2322_mrtr.CHANGE,
    sep2663_tasks.CHANGE,
    elicitation_complete.CHANGE,
    # -32602 and the codes of the reserved range are different codes, so the order of these two is free.
    sep2164_resource_not_found.CHANGE,
    error_code_ranges.CHANGE,
    # Out of line, before the next one: a client without structured output is told the value itself, not one wrapped for nobody.
    pr0371_structured_output.CHANGE,
    sep2106_json_schema.CHANGE,
    # It refuses URL mode before anything looks for a form.
    sep1036_url_elicitation.CHANGE,
    sep1330_enum_schemas.CHANGE,
    # Before audio_content, which expects one block a message.
    sep1577_sampling_tools.CHANGE,
    pr0382_elicitation.CHANGE,
    pr0603_resource_links.CHANGE,
    completions_capability.CHANGE,
    audio_content.CHANGE,
)
