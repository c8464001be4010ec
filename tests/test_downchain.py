"""The downgrade itself: which steps run for whom, and what a crossing may not do."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw

import dragoman.changes
from downcrossings import FIRST, JUNE, MARCH, NOVEMBER, answer, error, fault, notification, question, raw, result, told
from dragoman import downchain
from dragoman.chain import Crossing, Fault, Shaped
from dragoman.change import EVERY, Loss, Part
from dragoman.changes import ALL
from dragoman.changes.down import DOWN
from dragoman_specs.version import LATEST_MODERN, LEGACY, Version
from oracle import spec_folder

FOLDER = spec_folder()
EXAMPLES = sorted((FOLDER / "2026-07-28" / "examples").glob("*/*.json")) if FOLDER is not None else []
RESULTS = {
    "CallToolResult": "tools/call",
    "CompleteResult": "completion/complete",
    "GetPromptResult": "prompts/get",
    "ListPromptsResult": "prompts/list",
    "ListResourceTemplatesResult": "resources/templates/list",
    "ListResourcesResult": "resources/list",
    "ListToolsResult": "tools/list",
    "ReadResourceResult": "resources/read",
}
PLAIN = {
    "tools/list": '"tools":[]',
    "tools/call": '"content":[]',
    "prompts/list": '"prompts":[]',
    "prompts/get": '"messages":[]',
    "resources/list": '"resources":[]',
    "resources/templates/list": '"resourceTemplates":[]',
    "resources/read": '"contents":[]',
    "completion/complete": '"completion":{"values":[]}',
    "vendor/x": '"a":1',
}


# --- what needs nothing ---


@pytest.mark.parametrize("revision", LEGACY)
@pytest.mark.parametrize("method", PLAIN)
def test_result_without_modern_words_is_relayed_byte_for_byte(method: str, revision: Version) -> None:
    text = f'{{ {PLAIN[method]} , "n": 1.10 }}'
    assert raw(result(method, text, revision)) == text


@pytest.mark.parametrize("revision", LEGACY)
@pytest.mark.parametrize("method", PLAIN)
def test_complete_result_loses_the_modern_words_and_nothing_else(method: str, revision: Version) -> None:
    text = f'{{"resultType":"complete",{PLAIN[method]},"n":1.10,"big":12345678901234567890123,"f":1e400}}'
    assert raw(result(method, text, revision)) == f'{{{PLAIN[method]},"n":1.10,"big":12345678901234567890123,"f":1e400}}'


@pytest.mark.parametrize("text", ['{"resultType":"complete"}', '{ "resultType" : "complete" }'])
def test_result_of_nothing_but_its_type_is_an_empty_object(text: str) -> None:
    assert raw(result("vendor/x", text)) == "{}"


@pytest.mark.parametrize("revision", LEGACY)
@pytest.mark.parametrize("method", ["notifications/tools/list_changed", "vendor/x"])
def test_notification_without_params_stays_without(method: str, revision: Version) -> None:
    assert raw(notification(method, "", revision)) == ""


@pytest.mark.parametrize("revision", LEGACY)
def test_notification_without_modern_words_is_relayed_byte_for_byte(revision: Version) -> None:
    text = '{ "progressToken":"p", "progress":1.10, "x": 1e400 }'
    assert raw(notification("notifications/progress", text, revision)) == text


@pytest.mark.parametrize("revision", LEGACY)
def test_error_is_relayed_byte_for_byte(revision: Version) -> None:
    text = '{ "code": -32000, "message":"m", "data":1.10 }'
    assert raw(error("tools/call", text, revision)) == text


@pytest.mark.parametrize("text", [None, "{}"])
@pytest.mark.parametrize("revision", LEGACY)
def test_question_for_roots_stays_without_params(text: str | None, revision: Version) -> None:
    assert raw(question("roots/list", text, revision)) == ""


def test_text_for_a_modern_client_is_relayed_byte_for_byte() -> None:
    text = b'{"resultType":"complete","content":[]}'
    assert downchain.result_to_legacy(Raw(text), Crossing("tools/call", LATEST_MODERN)) == Shaped(text)


def test_given_text_is_not_altered() -> None:
    given = Raw(b'{"resultType":"complete","content":[]}')
    downchain.result_to_legacy(given, Crossing("tools/call", NOVEMBER))
    assert bytes(given) == b'{"resultType":"complete","content":[]}'


# --- everything that the specification shows ---


@pytest.mark.skipif(not EXAMPLES, reason="the specification's examples are not on this machine")
@pytest.mark.parametrize("revision", LEGACY)
@pytest.mark.parametrize("path", [path for path in EXAMPLES if path.parent.name in RESULTS], ids=lambda path: path.stem)
def test_every_result_of_the_specification_is_valid_for_every_legacy_client(path: Path, revision: Version) -> None:
    result(RESULTS[path.parent.name], path.read_text(encoding="utf-8"), revision)


@pytest.mark.skipif(not EXAMPLES, reason="the specification's examples are not on this machine")
@pytest.mark.parametrize("revision", LEGACY)
@pytest.mark.parametrize("path", [path for path in EXAMPLES if path.parent.name == "InputRequests"], ids=lambda path: path.stem)
def test_every_question_of_the_specification_is_valid_or_refused_by_name(path: Path, revision: Version) -> None:
    for entry in json.loads(path.read_text(encoding="utf-8")).values():
        shaped = question(entry["method"], json.dumps(entry["params"]) if "params" in entry else None, revision)
        refused = {"pr0382_elicitation", "sep1036_url_elicitation", "sep1577_sampling_tools"}
        assert isinstance(shaped, Shaped) or shaped.change in refused


# --- what is malformed ---


@pytest.mark.parametrize("revision", LEGACY)
def test_list_that_is_null_is_an_empty_one(revision: Version) -> None:
    assert told(result("tools/list", '{"resultType":"complete","tools":null}', revision)) == (
        '{"tools":[]}',
        ["shape: tools/list: tools was null, repaired"],
    )


def test_result_that_is_null_is_an_empty_one() -> None:
    assert told(result("vendor/x", "null")) == ("{}", ["shape: vendor/x: the result was null, taken as empty"])


@pytest.mark.parametrize(("text", "what"), [("[]", "an array"), ('"x"', "a string"), ("7", "a number"), ("true", "true")])
def test_result_that_is_no_object_is_a_fault(text: str, what: str) -> None:
    assert fault("tools/call", text) == Fault("shape", f"tools/call: the result is {what}, not an object")


def test_repair_is_a_fault_where_none_is_wanted() -> None:
    assert fault("tools/list", '{"tools":null}', strict=True) == Fault("shape", "tools/list: tools was null, repaired")


def test_what_no_repair_reaches_is_a_fault() -> None:
    assert fault("resources/read", '{"resultType":"complete"}') == Fault("shape", "resources/read: contents is missing")


def test_notification_whose_params_are_null_has_empty_ones() -> None:
    assert told(notification("vendor/x", "null")) == ("{}", ["shape: vendor/x: the params were null, taken as empty"])


def test_notification_whose_params_are_no_object_is_a_fault() -> None:
    assert notification("vendor/x", "[]") == Fault("shape", "vendor/x: the params are an array, not an object")


def test_progress_without_a_number_is_a_fault() -> None:
    assert notification("notifications/progress", "") == Fault("shape", "notifications/progress: progress is missing")


def test_log_level_of_another_spelling_is_repaired() -> None:
    assert told(notification("notifications/message", '{"level":"WARN","data":1}')) == (
        '{"level":"warning","data":1}',
        ["shape: notifications/message: level was a string, repaired"],
    )


def test_error_without_a_code_is_an_internal_one() -> None:
    assert told(error("tools/call", '{"message":"m"}')) == (
        '{"message":"m","code":-32603}',
        ["shape: tools/call: the error's code was missing, repaired"],
    )


def test_question_of_another_method_is_refused() -> None:
    assert question("ping", None) == Fault("sep2322_mrtr", "ping: nothing that a server may ask")


@pytest.mark.parametrize(
    ("method", "text", "message"),
    [
        ("elicitation/create", None, "message is missing"),
        (
            "elicitation/create",
            '{"message":"m","requestedSchema":{"type":"array","properties":{}}}',
            "requestedSchema.type is no known value",
        ),
        ("elicitation/create", '{"mode":"url","message":"m"}', "url is missing"),
        (
            "elicitation/create",
            '{"mode":"video","message":"m","requestedSchema":{"type":"object","properties":{}}}',
            "mode is no known value",
        ),
        ("sampling/createMessage", '{"messages":[]}', "maxTokens is missing"),
        ("roots/list", '{"_meta":7}', "_meta is a number, not an object"),
    ],
)
def test_malformed_question_is_a_fault(method: str, text: str | None, message: str) -> None:
    shaped = question(method, text)
    assert isinstance(shaped, Fault)
    assert (shaped.change, shaped.message) == ("shape", f"{method}: {message}")


def test_question_that_is_no_object_is_a_fault() -> None:
    assert question("roots/list", "[]") == Fault("shape", "roots/list: the params are an array, not an object")


@pytest.mark.parametrize(
    ("method", "text", "message"),
    [
        ("elicitation/create", "[]", "the answer is an array, not an object"),
        ("elicitation/create", "{}", "action is missing"),
        ("elicitation/create", '{"action":"accept","content":{"a":{}}}', "content.a is an object"),
        ("roots/list", "{}", "roots is missing"),
        (
            "sampling/createMessage",
            '{"role":"assistant","model":"m","content":{"type":"smell"}}',
            "content is no content block of a known type",
        ),
    ],
)
def test_malformed_answer_is_a_fault(method: str, text: str, message: str) -> None:
    assert answer(method, text) == Fault("shape", f"{method}: {message}")


def test_null_of_an_answer_was_not_given() -> None:
    assert told(answer("elicitation/create", '{"action":"decline","content":null}')) == (
        '{"action":"decline"}',
        ["shape: elicitation/create: content was null, left out"],
    )


# --- capabilities ---


@pytest.mark.parametrize("revision", LEGACY)
def test_capabilities_of_every_revision_are_kept(revision: Version) -> None:
    text = b'{"tools":{"listChanged":true},"resources":{"subscribe":true},"prompts":{},"logging":{},"experimental":{"x":{"n":1.10}}}'
    assert downchain.capabilities_to_legacy(Raw(text), revision) == (text, ())


def test_extensions_that_are_not_the_cores_are_kept() -> None:
    text = b'{"extensions":{"io.modelcontextprotocol/ui":{}}}'
    assert downchain.capabilities_to_legacy(Raw(text), NOVEMBER) == (text, ())


def test_capabilities_that_are_no_object_are_none() -> None:
    assert downchain.capabilities_to_legacy(Raw(b"null"), NOVEMBER) == (
        b"{}",
        (Loss("shape", "capabilities: null, not an object, taken as none"),),
    )


def test_capability_that_is_no_object_is_repaired() -> None:
    assert downchain.capabilities_to_legacy(Raw(b'{"tools":true}'), NOVEMBER) == (
        b'{"tools":{}}',
        (Loss("shape", "capabilities: tools was not an object, taken as declared"),),
    )


# --- the list of changes ---


def test_every_change_with_a_step_down_is_listed_once() -> None:
    ids = [change.id for change in DOWN]
    assert len(ids) == len(set(ids))
    assert set(ids) == {change.id for change in {*ALL, *DOWN} if change.down_steps}


def test_changes_are_listed_newest_first_but_for_the_one_that_says_so() -> None:
    in_line = [change.since for change in DOWN if change.id != "pr0371_structured_output"]
    assert in_line == sorted(in_line, key=list(Version).index, reverse=True)


def test_whoever_shows_a_legacy_server_does_not_load_what_only_goes_down() -> None:
    import subprocess
    import sys

    code = (
        "import sys, dragoman.chain, dragoman.changes; print(sorted(n for n in sys.modules if n.startswith('dragoman.changes.v2025_06_18') "
        "or n in ('dragoman.downchain', 'dragoman.changes.down', 'dragoman.shape.questions', 'dragoman.shape.retold')))"
    )
    path = [str(Path(dragoman.changes.__file__).parents[2]), str(Path(__file__).parents[1] / "specs")]
    run = subprocess.run([sys.executable, "-c", f"import sys; sys.path[:0] = {path}; {code}"], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


@pytest.mark.parametrize(
    ("revision", "steps"),
    [
        (FIRST, ["links_as_text", "audio_as_resource"]),
        (MARCH, ["links_as_text"]),
        (JUNE, []),
        (NOVEMBER, []),
    ],
)
def test_steps_on_content_run_for_old_clients_alone(revision: Version, steps: list[str]) -> None:
    names = [step.__name__ for step in downchain._compile(Part.RESULT, "tools/call", revision)]
    assert [name for name in names if name in {"links_as_text", "audio_as_resource"}] == steps
    assert names[0] == "not_said"


def test_what_the_client_sends_goes_up_oldest_change_first() -> None:
    names = [step.__name__ for step in downchain._compile(Part.ANSWER, "elicitation/create", JUNE)]
    assert names == ["list_of_chosen", "no_reserved_keys_in_answers"]


def test_vendor_methods_share_one_compiled_entry() -> None:
    result("vendor/first", "{}")
    before = downchain._compile.cache_info().currsize, downchain._scanner.cache_info().currsize
    for number in range(50):
        result(f"vendor/{number}", "{}")
        notification(f"vendor/{number}", "{}")
    assert downchain._compile.cache_info().currsize - before[0] <= 1
    assert downchain._scanner.cache_info().currsize == before[1]


def test_steps_name_methods_or_all_of_them() -> None:
    named = {name for change in DOWN for names, _, _ in change.down_steps for name in names}
    assert {name for name in named if "/" not in name} == {EVERY, "initialize", "ping"}


# --- sizes ---


def big(method: str, before: str, after: str) -> tuple[Shaped, str]:
    content = '"content":[{"type":"text","text":"' + "ü\\n" * 3_000_000 + '"}]'
    return result(method, f"{{{before}{content}{after}}}"), content


@pytest.mark.parametrize(
    ("before", "after", "kept_before", "kept_after"),
    [
        ("", "", "", ""),
        ('"resultType":"complete",', "", "", ""),
        ('"resultType":"complete","a":1.10,', ',"_meta":{"io.modelcontextprotocol/serverInfo":{}},"b":{}', '"a":1.10,', ',"b":{}'),
    ],
)
def test_result_of_ten_megabytes_is_told_by_views_of_what_came_in(before: str, after: str, kept_before: str, kept_after: str) -> None:
    shaped, content = big("tools/call", before, after)
    assert shaped.raw.decode() == f"{{{kept_before}{content}{kept_after}}}"
    assert sum(len(part) for part in shaped.parts if isinstance(part, bytes)) < 100


def test_big_result_of_nothing_but_modern_words_is_an_empty_object() -> None:
    meta = '{"io.modelcontextprotocol/x":"' + "x" * 100_000 + '"}'
    assert raw(result("vendor/x", f'{{"resultType":"complete","_meta":{meta}}}')) == "{}"


def nested(levels: int, text: str) -> Raw:
    return Raw(text.replace("?", "[" * levels + "]" * levels).encode())


CALLS: dict[str, Callable[[], Any]] = {
    "tools/call": lambda: downchain.result_to_legacy(nested(5000, '{"content":?}'), Crossing("tools/call", NOVEMBER)),
    "tools/list": lambda: downchain.result_to_legacy(
        nested(600, '{"tools":[{"name":"a","inputSchema":{"type":"object"},"outputSchema":{"anyOf":?}}]}'), Crossing("tools/list", NOVEMBER)
    ),
    "vendor/x": lambda: downchain.notification_to_legacy(nested(5000, '{"a":?}'), Crossing("vendor/x", NOVEMBER)),
    "elicitation/create": lambda: downchain.question_to_legacy("elicitation/create", nested(5000, '{"a":?}'), NOVEMBER, "e"),
    "roots/list": lambda: downchain.answer_to_modern("roots/list", None, nested(5000, '{"roots":?}'), NOVEMBER),
}


@pytest.mark.parametrize("method", CALLS)
def test_text_that_is_nested_too_deeply_is_a_fault_and_no_crash(method: str) -> None:
    assert CALLS[method]() == Fault("shape", f"{method}: nested too deeply")


def test_error_that_is_nested_too_deeply_is_an_internal_one() -> None:
    shaped = downchain.error_to_legacy(nested(5000, '{"code":1,"message":"m","data":?}'), Crossing("tools/call", NOVEMBER))
    assert shaped.raw == b'{"code":-32603,"message":"tools/call: nested too deeply"}'


def test_capabilities_that_are_nested_too_deeply_are_none() -> None:
    assert downchain.capabilities_to_legacy(nested(5000, '{"tools":{"a":?}}'), NOVEMBER)[0] == b"{}"
