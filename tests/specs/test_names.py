"""The words of the wire against literals and against the official schemas."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from dragoman_specs import names
from dragoman_specs.names import ERROR_CODES
from dragoman_specs.version import Version

Official = Callable[[Version], dict[str, dict[str, Any]]]


def test_private_codes_are_not_reserved() -> None:
    assert -32000 not in names.RESERVED_CODES
    assert -32019 not in names.RESERVED_CODES
    assert -32100 not in names.RESERVED_CODES
    assert names.RESOURCE_NOT_FOUND not in names.RESERVED_CODES


def test_reserved_codes_run_from_minus_32099_to_minus_32020() -> None:
    assert (min(names.RESERVED_CODES), max(names.RESERVED_CODES), len(names.RESERVED_CODES)) == (-32099, -32020, 80)


def test_meta_keys_have_the_reserved_prefix_and_literal_names() -> None:
    assert names.META_PREFIX == "io.modelcontextprotocol/"
    assert sorted(names.META_MODERN | {names.META_RELATED_TASK}) == [
        "io.modelcontextprotocol/clientCapabilities",
        "io.modelcontextprotocol/clientInfo",
        "io.modelcontextprotocol/logLevel",
        "io.modelcontextprotocol/protocolVersion",
        "io.modelcontextprotocol/related-task",
        "io.modelcontextprotocol/serverInfo",
        "io.modelcontextprotocol/subscriptionId",
    ]
    assert (names.PROGRESS_TOKEN, *names.TRACE_KEYS) == ("progressToken", "traceparent", "tracestate", "baggage")


def test_envelope_is_what_a_request_says_of_its_client() -> None:
    assert frozenset(names.META_REQUIRED) < names.META_ENVELOPE
    assert names.META_SERVER_INFO not in names.META_ENVELOPE
    assert names.META_SUBSCRIPTION_ID not in names.META_ENVELOPE


@pytest.mark.parametrize(
    ("version", "codes"),
    [
        (Version.V2024_11_05, [-32700, -32603, -32602, -32601, -32600, -32002]),
        (Version.V2025_03_26, [-32700, -32603, -32602, -32601, -32600, -32002]),
        (Version.V2025_06_18, [-32700, -32603, -32602, -32601, -32600, -32002]),
        (Version.V2025_11_25, [-32700, -32603, -32602, -32601, -32600, -32042, -32002]),
        (Version.V2026_07_28, [-32700, -32603, -32602, -32601, -32600, -32022, -32021, -32020]),
    ],
)
def test_codes_of_a_revision(version: Version, codes: list[int]) -> None:
    assert sorted(code for code, row in ERROR_CODES.items() if row.exists_in(version)) == codes


def test_levels_run_from_debug_to_emergency() -> None:
    assert names.LOG_LEVELS == ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")


@pytest.mark.parametrize("version", list(Version))
def test_levels_are_those_of_the_schema(official: Official, version: Version) -> None:
    assert set(official(version)["LoggingLevel"]["enum"]) == set(names.LOG_LEVELS)


def test_required_meta_keys_are_those_of_the_schema(official: Official) -> None:
    definitions = official(Version.V2026_07_28)
    request = definitions["RequestMetaObject"]
    assert set(request["required"]) == set(names.META_REQUIRED)
    assert {key for key in request["properties"] if key.startswith(names.META_PREFIX)} == names.META_ENVELOPE
    assert names.META_SERVER_INFO in definitions["ResultMetaObject"]["properties"]
    assert names.META_SUBSCRIPTION_ID in definitions["NotificationMetaObject"]["properties"]


@pytest.mark.parametrize("version", [Version.V2025_11_25, Version.V2026_07_28])
def test_every_code_that_the_schema_fixes_is_in_the_table(official: Official, version: Version) -> None:
    text = json.dumps(official(version))
    fixed = {int(code) for code in re.findall(r'"const": (-32\d{3})', text)}
    assert fixed
    assert fixed <= {code for code, row in ERROR_CODES.items() if row.exists_in(version)}
