"""The chain itself: which steps run for whom, and what a crossing may not do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec import Raw

import dragoman.changes
from crossings import FIRST, JUNE, MARCH, NOVEMBER, crossing, raw, result
from dragoman import chain
from dragoman.change import EVERY, Part
from dragoman.changes import ALL
from dragoman.changes.down import DOWN
from dragoman.shape import RESULTS, STAMPED
from dragoman_specs.version import LATEST_MODERN, LEGACY, Version

INFO = b'{"name":"s","version":"1"}'
PLAIN = '{"content":[{"type":"text","text":"hi"}]}'


@pytest.mark.parametrize(
    ("method", "text"),
    [
        ("vendor/x", '{"a":1.10}'),
        ("tools/call", PLAIN),
        ("prompts/list", '{"prompts":[],"resultType":"complete","ttlMs":7,"cacheScope":"public"}'),
    ],
)
def test_result_of_a_modern_server_is_relayed_byte_for_byte(method: str, text: str) -> None:
    assert chain.result_to_client(Raw(text.encode()), crossing(method, LATEST_MODERN, server_info=INFO)) == chain.Shaped(text.encode())


@pytest.mark.parametrize("revision", LEGACY)
def test_params_without_modern_words_are_the_same_object(revision: Version) -> None:
    members = {"cursor": Raw(b'"c"')}
    assert chain.params_to_server("tools/list", members, revision) is members


def test_every_change_is_listed_once_oldest_first() -> None:
    ids = [change.id for change in ALL]
    assert len(ids) == len(set(ids))
    assert [change.since for change in ALL] == sorted((change.since for change in ALL), key=list(Version).index)


def test_every_change_has_the_file_that_its_id_and_revision_name() -> None:
    folder = Path(dragoman.changes.__file__).parent
    files = {path.relative_to(folder).with_suffix("").as_posix() for path in folder.glob("v*/*.py") if path.stem != "__init__"}
    assert files == {f"v{change.since.replace('-', '_')}/{change.id}" for change in (*ALL, *DOWN)}


def test_every_change_has_a_test_file() -> None:
    folder = Path(__file__).parent / "changes"
    files = {path.relative_to(folder).as_posix() for path in folder.glob("v*/*.py")}
    assert files == {f"v{change.since.replace('-', '_')}/test_{change.id}.py" for change in (*ALL, *DOWN)}


def test_every_change_has_a_step() -> None:
    assert [change.id for change in ALL if not change.steps] == []


def test_change_is_found_by_its_id_and_described_for_a_log_line() -> None:
    assert chain.find("sep2549_cache_hints") is ALL[[change.id for change in ALL].index("sep2549_cache_hints")]
    assert chain.describe("sep2549_cache_hints") == "sep2549_cache_hints (2026-07-28)"


def test_area_is_no_change_and_describes_itself() -> None:
    assert chain.find("shape") is None
    assert chain.describe("shape") == "shape"


@pytest.mark.parametrize(
    ("revision", "steps"),
    [
        (FIRST, ["no_envelope_in_answers", "no_type", "one_block", "no_audio"]),
        (MARCH, ["no_envelope_in_answers", "no_type", "one_block"]),
        (JUNE, ["no_envelope_in_answers", "no_type", "one_block"]),
        (NOVEMBER, ["no_envelope_in_answers", "no_type"]),
        (LATEST_MODERN, []),
    ],
)
def test_what_the_client_sends_goes_down_newest_change_first(revision: Version, steps: list[str]) -> None:
    names = [step.__name__ for step in chain._compile(Part.ANSWER, "sampling/createMessage", revision)]
    assert names == steps


def test_vendor_methods_share_one_compiled_entry() -> None:
    chain.result_to_client(Raw(b"{}"), crossing("vendor/first"))
    before = chain._compile.cache_info().currsize, len(chain._prefixes)
    for number in range(50):
        chain.result_to_client(Raw(b"{}"), crossing(f"vendor/{number}"))
        chain.notification_to_client(Raw(b"{}"), crossing(f"vendor/{number}"))
        chain.params_to_server(f"vendor/{number}", {}, NOVEMBER)
    after = chain._compile.cache_info().currsize, len(chain._prefixes)
    assert after[0] - before[0] <= 2
    assert after[1] == before[1]


def test_prefixes_of_many_identities_stay_few() -> None:
    for number in range(200):
        told = raw(result("vendor/x", "{}", server_info=b'{"name":"s","version":"%d"}' % number))
        assert json.loads(told)["_meta"]["io.modelcontextprotocol/serverInfo"]["version"] == str(number)
    assert len(chain._prefixes) <= 64


@pytest.mark.parametrize("method", [*RESULTS, "vendor/x"])
def test_hot_path_and_slow_path_tell_the_same_members(method: str) -> None:
    texts = {
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
    hot = raw(result(method, f"{{{texts[method]}}}", server_info=INFO))
    slow = raw(result(method, f'{{{texts[method]},"_meta":{{}}}}', server_info=INFO))
    assert json.loads(hot) == json.loads(slow)
    assert list(json.loads(hot))[: -1 if hot.count(",") else None] == [name for name in STAMPED if name in json.loads(hot)]


def test_result_of_ten_megabytes_comes_out_whole() -> None:
    text = '{"content":[{"type":"text","text":"' + "ü\\n" * 3_000_000 + '"}]}'
    shaped = chain.result_to_client(Raw(text.encode()), crossing("tools/call"))
    assert isinstance(shaped, chain.Shaped)
    assert shaped.raw == b'{"resultType":"complete",' + text.encode()[1:]


def test_steps_name_methods_or_all_of_them() -> None:
    named = {name for change in ALL for names, _, _ in change.steps for name in names}
    assert {name for name in named if "/" not in name} == {EVERY, "initialize", "ping"}


def nested(levels: int, text: str) -> Raw:
    return Raw(text.replace("?", "[" * levels + "]" * levels).encode())


def test_deep_but_readable_result_comes_out_whole() -> None:
    assert isinstance(chain.result_to_client(nested(500, '{"content":[],"structuredContent":?}'), crossing("tools/call")), chain.Shaped)


def test_text_that_is_nested_too_deeply_is_a_fault_and_no_crash() -> None:
    assert chain.result_to_client(nested(5000, '{"content":?}'), crossing("tools/call")) == chain.Fault(
        "shape", "tools/call: nested too deeply"
    )
    assert chain.notification_to_client(nested(5000, '{"a":?}'), crossing("vendor/x")) == chain.Fault(
        "shape", "vendor/x: nested too deeply"
    )
    assert chain.answer_to_server("roots/list", nested(5000, '{"roots":?}'), NOVEMBER) == chain.Fault(
        "shape", "roots/list: nested too deeply"
    )
    error = chain.error_to_client(nested(5000, '{"code":1,"message":"m","data":?}'), crossing("tools/call"))
    assert error.raw == b'{"code":-32603,"message":"tools/call: nested too deeply"}'
