"""Field cases about bytes and lines, with real processes (2026-07-28, basic/transports/stdio; UTF-8: basic/transports)."""

from __future__ import annotations

import json

from tests.cases.conftest import Wrap

SEPARATORS = "a\u2028b\u2029c\u0085d\x0be\x0cf"
HELLO = (
    b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},'
    b'"clientInfo":{"name":"old","version":"1"}}}'
)


def test_b119_separators_inside_a_string_end_no_line_in_either_direction(wrap: Wrap) -> None:
    """The case also wants them escaped; no page asks for that, newline is the one delimiter, and a relay changes no string."""
    bridge = wrap()
    assert bridge.said("echo", text=SEPARATORS) == SEPARATORS
    shown = [json.loads(entry["line"]) for entry in bridge.seen()]
    assert shown[-1]["params"]["arguments"] == {"text": SEPARATORS}
    assert bridge.said("echo", text="next") == "next"


def test_b121_return_before_the_newline_never_reaches_the_server(wrap: Wrap) -> None:
    bridge = wrap()
    bridge.write(HELLO + b"\r")
    assert bridge.read()["id"] == 0
    bridge.write(b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}\r')
    assert bridge.read()["id"] == 1
    assert [entry["line"][-2:] for entry in bridge.seen()] == ["}\n", "}\n"]


def test_b121_modern_client_that_ends_its_lines_so_is_served_alike(wrap: Wrap) -> None:
    bridge = wrap()
    for number in (1, 2):
        meta = b'"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}'
        bridge.write(b'{"jsonrpc":"2.0","id":%d,"method":"tools/list","params":{"_meta":{%b}}}\r' % (number, meta))
        assert bridge.read()["id"] == number
    assert {entry["line"][-2:] for entry in bridge.seen()} == {"}\n"}


def test_b122_return_before_the_newline_never_reaches_a_legacy_client(wrap: Wrap) -> None:
    bridge = wrap("crlf")
    bridge.write(HELLO)
    assert bridge.line().endswith(b"}")
    bridge.write(b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}')
    assert bridge.line().endswith(b"}")


def test_b122_return_before_the_newline_never_reaches_a_modern_client(wrap: Wrap) -> None:
    bridge = wrap("crlf")
    bridge.call("pid")
    assert bridge.line().endswith(b"}")


def test_b123_byte_order_mark_is_taken_off_and_a_bad_line_is_answered_and_ends_nothing(wrap: Wrap) -> None:
    """basic/index#error-responses: the answer to what cannot be read has no id, not a null one."""
    bridge = wrap()
    meta = b'"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}'
    bridge.write(b'\xef\xbb\xbf{"jsonrpc":"2.0","id":77,"method":"tools/list","params":{"_meta":{%b}}}' % meta)
    assert bridge.read()["id"] == 77
    bridge.write(b"not json")
    answer = bridge.read()
    assert answer["error"]["code"] == -32700
    assert "id" not in answer
    assert bridge.said("echo", text="served") == "served"


def test_b123_byte_order_mark_of_a_legacy_client_never_reaches_the_server(wrap: Wrap) -> None:
    bridge = wrap()
    bridge.write(b"\xef\xbb\xbf" + HELLO)
    assert bridge.read()["id"] == 0
    assert bridge.seen()[0]["line"] == HELLO.decode() + "\n"


def test_b124_text_reaches_the_server_as_the_utf8_that_the_client_wrote(wrap: Wrap) -> None:
    """The case wants it escaped for servers that read another code page; basic/transports demands UTF-8, and a relay keeps it."""
    text = "Grüße Привет 日本語 😀"
    bridge = wrap()
    assert bridge.said("points", text=text) == " ".join(f"{ord(character):x}" for character in text)
    assert bridge.said("echo", text=text) == text


def test_b124_server_that_reads_another_code_page_is_cured_with_a_variable(wrap: Wrap) -> None:
    elsewhere = ("--env", "PYTHONUTF8=0", "--env", "PYTHONCOERCECLOCALE=0", "--env", "LC_ALL=C")
    wrong = wrap("text", *elsewhere, "--env", "PYTHONIOENCODING=cp1251")
    assert wrong.said("points", text="é") == "413 a9"
    assert wrap("text", *elsewhere, "--env", "PYTHONIOENCODING=utf-8").said("points", text="é") == "e9"


def test_b131_text_before_the_handshake_goes_to_the_operator_and_never_to_the_client(wrap: Wrap) -> None:
    bridge = wrap("banner")
    assert bridge.said("echo", text="first") == "first"
    assert "Small Server v1.0 ready" in bridge.told("Small Server")


def test_b131_legacy_client_never_sees_such_text_either(wrap: Wrap) -> None:
    bridge = wrap("banner")
    bridge.write(HELLO)
    assert bridge.read()["id"] == 0
    assert "Small Server v1.0 ready" in bridge.told("Small Server")


def test_b131_text_is_no_answer_to_the_probe(wrap: Wrap) -> None:
    bridge = wrap("banner", "--probe", "--log-level", "info")
    pid = int(bridge.said("pid"))
    assert bridge.shown_to(pid)[0] == "initialize"
    assert "error -32601" in bridge.told("the server is legacy")
