"""Calls side by side, ids, payloads (translation: client requests; stdio)."""

from __future__ import annotations

import json

import pytest
from syrupy.assertion import SnapshotAssertion
from tests.conversation import envelope
from tests.conversations.conftest import Converse

TEXT = {"content": [{"type": "text", "text": "done"}]}


def test_64_calls_at_once_answered_in_reverse_each_get_their_own(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    for number in range(64):
        talk.call("echo", {"n": number}, id=number)
    sent = talk.requests("tools/call")
    assert len(sent) == 64
    assert len({frame["id"] for frame in sent}) == 64
    for frame in reversed(sent):
        talk.server_frame(
            {
                "jsonrpc": "2.0",
                "id": frame["id"],
                "result": {"content": [{"type": "text", "text": str(frame["params"]["arguments"]["n"])}]},
            }
        )
    assert [talk.result_of(number)["content"][0]["text"] for number in range(64)] == [str(number) for number in range(64)]


def test_calls_waiting_for_the_handshake_go_out_in_their_order(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = converse()
    talk.call("a", id=1)
    talk.client("tools/list", id=2)
    talk.call("b", id=3)
    talk.handshake()
    assert [frame["method"] for frame in talk.to_server[2:]] == ["tools/call", "tools/list", "tools/call"]
    assert [frame["params"].get("name") for frame in talk.to_server[2:]] == ["a", None, "b"]
    talk.reply("tools/list", {"tools": []})
    assert talk.result_of(2)["tools"] == []
    assert talk.transcript() == transcript


def test_ids_that_look_alike_are_told_apart_and_come_back_exactly(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = converse()
    talk.meet()
    ids = [b"1", b'"1"', b"9007199254740993", b"-5", b"0", b'""', b'"\xc3\xa9 \xf0\x9f\x98\x80"', b"123456789012345678901234567890"]
    for number, own in enumerate(ids):
        meta = json.dumps(envelope()).encode()
        talk.client_line(
            b'{"jsonrpc":"2.0","id":%b,"method":"tools/call","params":{"name":"n%d","arguments":{},"_meta":%b}}' % (own, number, meta)
        )
    for frame in talk.requests("tools/call"):
        talk.server_frame({"jsonrpc": "2.0", "id": frame["id"], "result": {"content": [{"type": "text", "text": frame["params"]["name"]}]}})
    for number, own in enumerate(ids):
        line = next(line for line in talk.lines_to_client if b'"n%d"' % number in line)
        assert b'"id":%b,' % own in line
    assert talk.transcript() == transcript


def test_wire_ids_are_numbers_of_the_bridge(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    talk.call("a", id="same")
    talk.reply("tools/call", TEXT)
    talk.call("a", id="same")
    first, second = talk.requests("tools/call")
    assert isinstance(first["id"], int)
    assert second["id"] > first["id"]


@pytest.mark.parametrize("wrong", [None, 1.5, 1e3, True, {}, [1]])
def test_request_with_an_id_that_is_none_is_refused_without_one(converse: Converse, wrong: object) -> None:
    talk = converse()
    talk.meet()
    talk.client("tools/list", id=0)
    talk.client_frame({"jsonrpc": "2.0", "id": wrong, "method": "tools/list", "params": {"_meta": envelope()}})
    assert talk.to_client[-1]["error"]["code"] == -32600
    assert "id" not in talk.to_client[-1]
    assert len(talk.requests("tools/list")) == 1


def test_duplicate_id_in_flight_is_refused_and_the_first_is_answered(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = converse(judged=False)
    talk.meet()
    talk.call("slow", id="x")
    talk.call("other", id="x")
    assert talk.to_client[-1]["id"] == "x"
    assert talk.to_client[-1]["error"]["code"] == -32600
    assert len(talk.requests("tools/call")) == 1
    talk.reply("tools/call", TEXT)
    assert talk.to_client[-1]["id"] == "x"
    assert talk.to_client[-1]["result"]["content"] == TEXT["content"]
    talk.call("again", id="x")
    assert len(talk.requests("tools/call")) == 2
    assert talk.transcript() == transcript


def test_duplicate_id_spelled_with_an_escape_is_still_a_duplicate(converse: Converse) -> None:
    talk = converse(judged=False)
    talk.meet()
    talk.call("slow", id="x")
    meta = json.dumps(envelope()).encode()
    talk.client_line(b'{"jsonrpc":"2.0","id":"\\u0078","method":"tools/list","params":{"_meta":%b}}' % meta)
    assert talk.to_client[-1]["error"]["code"] == -32600


def test_duplicate_id_before_the_handshake_is_refused_once(converse: Converse) -> None:
    talk = converse(judged=False)
    talk.call("a", id=1)
    talk.call("b", id=1)
    talk.handshake()
    talk.reply("tools/call", TEXT)
    assert ["error" in frame for frame in talk.to_client] == [True, False]
    assert [frame["params"]["name"] for frame in talk.requests("tools/call")] == ["a"]


def test_numbers_order_and_unknown_members_survive_in_both_directions(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    meta = json.dumps(envelope()).encode()
    arguments = b'{"z":1e400,"a":-0.0,"m":1.10,"big":123456789012345678901234567890,"u":"\xe2\x80\xa8"}'
    talk.client_line(
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"later":[1.0],"name":"n","arguments":%b,"_meta":%b}}' % (arguments, meta)
    )
    line = talk.lines_to_server[-1]
    assert b'"arguments":' + arguments in line
    assert b'"later":[1.0]' in line
    wire_id = str(talk.pending("tools/call")).encode()
    talk.server_line(
        b'{"jsonrpc":"2.0","id":'
        + wire_id
        + b',"result":{"content":[],"structuredContent":'
        + arguments
        + b',"com.example":{"b":1,"a":2}}}'
    )
    assert b'"structuredContent":' + arguments in talk.lines_to_client[-1]
    assert b'"com.example":{"b":1,"a":2}' in talk.lines_to_client[-1]


@pytest.mark.parametrize("name", ["a b", "ä.ö/ü", "x" * 300, "", "tools/call", 'q"uote', "=?base64?eA==?="])
def test_tool_name_goes_byte_for_byte(converse: Converse, name: str) -> None:
    talk = converse()
    talk.meet()
    talk.call(name, id=1)
    assert talk.requests("tools/call")[0]["params"]["name"] == name


def test_completion_is_relayed_without_cache_hints(converse: Converse) -> None:
    talk = converse(capabilities={"completions": {}, "prompts": {}})
    talk.meet()
    asked = {"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "a", "value": "b"}}
    talk.client("completion/complete", asked, id=1)
    assert talk.requests("completion/complete")[0]["params"] == asked
    talk.reply("completion/complete", {"completion": {"values": ["bc"]}})
    result = {key: value for key, value in talk.result_of(1).items() if key != "_meta"}
    assert result == {"resultType": "complete", "completion": {"values": ["bc"]}}


def test_response_of_a_modern_client_is_counted_and_goes_nowhere(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    said = len(talk.to_server)
    talk.client_frame({"jsonrpc": "2.0", "id": 2, "result": {}})
    talk.client_frame({"jsonrpc": "2.0", "id": 2, "error": {"code": 1, "message": "m"}})
    assert len(talk.to_server) == said
    assert len(talk.losses) == 2
    assert len(talk.to_client) == 1


@pytest.mark.parametrize("line", [b"[]", b'[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]', b"[1]", b" [ ] "])
def test_batch_of_a_modern_client_is_refused_as_one(converse: Converse, line: bytes) -> None:
    talk = converse()
    talk.meet()
    talk.client_line(line)
    assert talk.to_client[-1] == {
        "jsonrpc": "2.0",
        "error": {"code": -32600, "message": talk.to_client[-1]["error"]["message"]},
    }


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{", -32700),
        (b"hello", -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"x":NaN}}', -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"x":"\xff"}}', -32700),
        (b"[" * 100_000, -32700),
        (b"42", -32600),
        (b'"text"', -32600),
        (b"null", -32600),
        (b"{}", -32600),
    ],
)
def test_line_that_is_no_message_is_answered_without_an_id(converse: Converse, line: bytes, code: int) -> None:
    talk = converse()
    talk.meet()
    talk.client_line(line)
    assert talk.to_client[-1]["error"]["code"] == code
    assert "id" not in talk.to_client[-1]
    talk.client("tools/list", id=1)
    assert len(talk.requests("tools/list")) == 1


@pytest.mark.parametrize(
    "line", [b'{"id":7,"method":"tools/list"}', b'{"jsonrpc":"1.0","id":7,"method":"x"}', b'{"jsonrpc":"2.0","id":7,"method":1}']
)
def test_invalid_request_with_a_readable_id_gets_it_back(converse: Converse, line: bytes) -> None:
    talk = converse()
    talk.meet()
    talk.client_line(line)
    assert talk.error_of(7)["code"] == -32600


def test_blank_lines_are_ignored_and_byte_order_mark_and_return_tolerated(converse: Converse) -> None:
    talk = converse()
    for blank in (b"", b"  ", b"\r", b"\t"):
        talk.client_line(blank)
    assert talk.to_client == []
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": envelope()}}).encode()
    talk.client_line(b"\xef\xbb\xbf" + line + b"\r")
    talk.server_line(
        b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}\r'
    )
    assert talk.result_of(1)["supportedVersions"] == ["2026-07-28"]


def test_line_separators_of_unicode_are_data(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    talk.call("echo", {"text": "a\u2028b\u2029c\x85"}, id=1)
    assert talk.requests("tools/call")[0]["params"]["arguments"] == {"text": "a\u2028b\u2029c\x85"}
    talk.reply("tools/call", {"content": [{"type": "text", "text": "d\u2028e"}]})
    assert talk.result_of(1)["content"][0]["text"] == "d\u2028e"


def test_client_line_over_the_limit_is_refused_with_its_id_and_the_rest_goes_on(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    head = b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"n","arguments":{"x":"aaaa'
    talk.client_line_too_long(head, 70_000_000)
    assert talk.error_of(7)["code"] == -32600
    assert "70000000" in talk.error_of(7)["message"]
    talk.client_line_too_long(b"aaaa", 70_000_000)
    assert "id" not in talk.to_client[-1]
    talk.call("echo", id=8)
    talk.reply("tools/call", TEXT)
    assert "result" in talk.answer_to(8)
