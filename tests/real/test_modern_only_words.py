"""Everything that a modern-only server offers, told to a client of each legacy revision in the words of that revision.

A client written by hand opens a session through ``dragoman wrap``, lists and uses all there is, and answers every question as the
question says, or does something else while it is asked. Each frame that it reads is valid for its revision (``pipe.py`` judges it), each
that the server reads is judged too.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from harness import PEERS
from modern_side import judge_modern_server, modern_only, server_was_modern, spoken_with_client
from pipe import Pipe

from faces import tapped
from oracle import JsonObject, Oracle

REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
FORMS = REVISIONS[2:]
every_revision = pytest.mark.parametrize("revision", REVISIONS)
revisions_with_forms = pytest.mark.parametrize("revision", FORMS)
ARGUMENTS: dict[str, JsonObject] = {
    "add": {"a": 1, "b": 2},
    "barrier": {"count": 1},
    "await_cancels": {"count": 0},
    "touch": {"uri": "demo://watched"},
}
SAMPLED: JsonObject = {"role": "assistant", "content": {"type": "text", "text": "four"}, "model": "small-1"}


def filled(field: JsonObject) -> Any:
    """A value for one field of a form."""
    choices = field.get("enum") or [option["const"] for option in field.get("oneOf", [])]
    if choices:
        return choices[-1]
    return {"boolean": True, "integer": 1, "number": 1.5, "array": field.get("items", {}).get("enum", [])}.get(field["type"], "Ada")


class Session:
    """A legacy client of one revision; ``asked`` are the questions that it was asked."""

    def __init__(self, pipe: Pipe, revision: str) -> None:
        self.pipe, self.revision = pipe, revision
        self.asked: list[JsonObject] = []
        self.notes: list[JsonObject] = []
        self._last = 0
        modes: JsonObject = {"form": {}, "url": {}} if revision == "2025-11-25" else {}
        capabilities = {"sampling": {}, "roots": {}, **({"elicitation": modes} if revision in FORMS else {})}
        info = {"name": "by-hand", "version": "1"}
        self.hello = self.ask("initialize", {"protocolVersion": revision, "capabilities": capabilities, "clientInfo": info})["result"]
        self.write(method="notifications/initialized")

    def write(self, **frame: Any) -> None:
        self.pipe.write(json.dumps({"jsonrpc": "2.0", **frame}))

    def ask(self, method: str, params: JsonObject | None = None) -> JsonObject:
        """The response to a request; questions on the way are answered, notifications kept."""
        self._last += 1
        self.write(id=self._last, method=method, params=params or {})
        while True:
            frame = self.pipe.read()
            if "method" not in frame:
                assert frame["id"] == self._last
                return frame
            if "id" in frame:
                self.asked.append(frame)
                self.write(id=frame["id"], result=self._answer(frame))
            else:
                self.notes.append(frame)

    def _answer(self, question: JsonObject) -> JsonObject:
        if question["method"] == "roots/list":
            return {"roots": [{"uri": "file:///home/ada"}]}
        if question["method"] == "sampling/createMessage":
            return SAMPLED
        if question["params"].get("mode") == "url":
            return {"action": "accept"}
        fields = question["params"]["requestedSchema"]["properties"]
        return {"action": "accept", "content": {name: filled(field) for name, field in fields.items()}}

    def call(self, name: str, **arguments: Any) -> JsonObject:
        return self.ask("tools/call", {"name": name, "arguments": arguments or ARGUMENTS.get(name, {}), "_meta": {"progressToken": name}})

    def said(self, name: str, **arguments: Any) -> Any:
        """What a tool's one text says, read as JSON."""
        (block,) = self.call(name, **arguments)["result"]["content"]
        return json.loads(block["text"])


Open = Callable[[str], Session]


@pytest.fixture
def opened(tmp_path: Path, oracle: Oracle) -> Iterator[Open]:
    """``opened(revision)``: a session; afterwards what passed on the server's side is judged."""
    tap = [sys.executable, str(PEERS / "tap.py"), str(tmp_path / "server.jsonl"), "--"]
    sessions: list[Session] = []
    with Pipe(tmp_path, oracle, [*tap, *modern_only()]) as pipe:

        def begin(revision: str) -> Session:
            sessions.append(Session(pipe, revision))
            return sessions[-1]

        yield begin
        assert pipe.leave() == 0
    (session,) = sessions
    spoken_with_client(pipe.face, session.revision)
    server_was_modern(judge_modern_server(oracle, tapped(tmp_path / "server.jsonl")))
    assert "Traceback" not in pipe.stderr()
    assert "was shown a legacy word" not in pipe.stderr()


@every_revision
def test_everything_offered_can_be_used(opened: Open, revision: str) -> None:
    session = opened(revision)
    for tool in session.ask("tools/list")["result"]["tools"]:
        if tool["name"] not in ("slow", "crash"):
            assert {"result", "error"} & set(session.call(tool["name"]))
    for prompt in session.ask("prompts/list")["result"]["prompts"]:
        given = {argument["name"]: "x" for argument in prompt.get("arguments", [])}
        assert "result" in session.ask("prompts/get", {"name": prompt["name"], "arguments": given})
    for uri in ("demo://text", "demo://blob", "demo://asks", "demo://two", "demo://watched", "demo://item/7"):
        assert "result" in session.ask("resources/read", {"uri": uri})
    assert "result" in session.ask("resources/templates/list")


@every_revision
def test_capabilities_are_those_of_the_revision(opened: Open, revision: str) -> None:
    session = opened(revision)
    assert session.hello["protocolVersion"] == revision
    assert ("completions" in session.hello["capabilities"]) == (revision != "2024-11-05")
    assert session.hello["capabilities"]["resources"] == {"subscribe": True, "listChanged": True}


@pytest.mark.parametrize(
    ("revision", "kinds"),
    [
        ("2024-11-05", ["text", "image", "resource", "text", "resource", "text"]),
        ("2025-03-26", ["text", "image", "resource", "audio", "text"]),
        ("2025-06-18", ["text", "image", "resource", "audio", "resource_link"]),
        ("2025-11-25", ["text", "image", "resource", "audio", "resource_link"]),
    ],
)
def test_block_that_the_revision_does_not_have_is_told_otherwise(opened: Open, revision: str, kinds: list[str]) -> None:
    found = opened(revision).call("mixed")["result"]["content"]
    assert [block["type"] for block in found] == kinds
    assert "demo://text" in json.dumps(found[-1])
    sounds = [block.get("resource", block) for block in found if "audio/wav" in json.dumps(block) and block["type"] != "text"]
    assert [sound.get("blob", sound.get("data")) for sound in sounds] == [
        "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQIAAAAAAA=="
    ]


@every_revision
def test_output_that_is_no_object_is_an_object_or_a_text(opened: Open, revision: str) -> None:
    session = opened(revision)
    (tool,) = [tool for tool in session.ask("tools/list")["result"]["tools"] if tool["name"] == "list_output"]
    result = session.call("list_output")["result"]
    assert result["content"] == [{"type": "text", "text": "[1, 2, 3]"}]
    if revision in FORMS:
        assert tool["outputSchema"]["properties"]["result"]["items"] == {"$ref": "#/properties/result/$defs/whole"}
        assert result["structuredContent"] == {"result": [1, 2, 3]}
    else:
        assert "structuredContent" not in result


@revisions_with_forms
def test_output_of_a_tool_that_was_never_listed_is_an_object_all_the_same(opened: Open, revision: str) -> None:
    result = opened(revision).call("list_output")["result"]
    assert isinstance(result.get("structuredContent", {}), dict)
    assert result["content"] == [{"type": "text", "text": "[1, 2, 3]"}]


@revisions_with_forms
def test_form_with_several_choices_is_answered_as_it_was_asked(opened: Open, revision: str) -> None:
    session = opened(revision)
    answer = session.said("ask_form")
    assert answer == {"action": "accept", "content": {"name": "Ada", "size": "l", "tags": ["x", "y", "z"]}}
    # 2025-06-18 has no arrays in forms: each option is a field of its own.
    kinds = [field["type"] for field in session.asked[0]["params"]["requestedSchema"]["properties"].values()]
    assert ("array" in kinds) == (revision == "2025-11-25")
    assert kinds.count("boolean") == (0 if revision == "2025-11-25" else 3)


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-03-26"])
def test_form_is_nothing_that_an_older_client_can_be_asked(opened: Open, revision: str) -> None:
    session = opened(revision)
    assert "elicitation" in json.dumps(session.call("ask_form"))
    assert session.asked == []
    assert session.said("ask_sampling") == SAMPLED


def test_page_is_asked_for_with_an_id(opened: Open) -> None:
    session = opened("2025-11-25")
    assert session.said("ask_url") == {"action": "accept"}
    params = session.asked[0]["params"]
    assert (params["mode"], params["url"]) == ("url", "https://example.test/sign-in")
    assert params["elicitationId"]


@every_revision
def test_progress_says_in_words_how_far_it_is_where_there_are_words(opened: Open, revision: str) -> None:
    session = opened(revision)
    session.call("progress")
    told = [note["params"] for note in session.notes if note["method"] == "notifications/progress"]
    assert [(params["progressToken"], params["progress"], params["total"]) for params in told] == [
        ("progress", value, 100) for value in (0, 50, 100)
    ]


@every_revision
def test_change_is_announced_and_resource_is_followed(opened: Open, revision: str) -> None:
    session = opened(revision)
    assert session.ask("resources/subscribe", {"uri": "demo://watched"})["result"] == {}
    session.call("mutate")
    session.call("touch")
    assert [note["method"] for note in session.notes] == ["notifications/tools/list_changed", "notifications/resources/updated"]
    assert [note["params"] for note in session.notes if "params" in note and "uri" in note["params"]] == [{"uri": "demo://watched"}]
    assert session.ask("resources/unsubscribe", {"uri": "demo://watched"})["result"] == {}


# ------------------------------------------------------------------------------------------------------ while it is asked


def asked(session: Session, number: int) -> JsonObject:
    """The question of a call that asks."""
    session.write(id=number, method="tools/call", params={"name": "ask_form", "arguments": {"fields": "one"}})
    question = session.pipe.read()
    assert question["method"] == "elicitation/create"
    return question


@revisions_with_forms
def test_call_that_waits_for_its_client_holds_nobody_up(opened: Open, revision: str) -> None:
    session = opened(revision)
    question = asked(session, 900)
    assert session.call("echo", text="meanwhile")["result"]["content"][0]["text"] == "meanwhile"
    session.write(id=question["id"], result={"action": "decline"})
    answer = session.pipe.response(900)
    assert json.loads(answer["result"]["content"][0]["text"]) == {"action": "decline"}


@revisions_with_forms
def test_call_that_is_cancelled_takes_its_question_back(opened: Open, revision: str) -> None:
    session = opened(revision)
    question = asked(session, 900)
    session.write(method="notifications/cancelled", params={"requestId": 900})
    withdrawn = session.pipe.read()
    assert (withdrawn["method"], withdrawn["params"]["requestId"]) == ("notifications/cancelled", question["id"])
    session.write(id=question["id"], result={"action": "accept", "content": {"name": "too late"}})
    assert session.call("echo", text="after")["result"]["content"][0]["text"] == "after"


def test_other_questions_of_a_round_are_taken_back_when_one_fails(opened: Open) -> None:
    session = opened("2025-11-25")
    session.write(id=900, method="tools/call", params={"name": "ask_three", "arguments": {}})
    questions = {frame["method"]: frame["id"] for frame in (session.pipe.read() for _ in range(3))}
    session.write(id=questions["sampling/createMessage"], error={"code": -1, "message": "no model today"})
    frames = [session.pipe.read() for _ in range(3)]
    withdrawn = {frame["params"]["requestId"] for frame in frames if frame.get("method") == "notifications/cancelled"}
    assert withdrawn == {questions["elicitation/create"], questions["roots/list"]}
    (ended,) = [frame for frame in frames if "method" not in frame]
    assert ended["result"]["isError"]
    assert "no model today" in ended["result"]["content"][0]["text"]


def test_client_that_hangs_up_while_it_is_asked_leaves_nothing_behind(opened: Open) -> None:
    asked(opened("2025-11-25"), 900)  # leaving is what the fixture does
