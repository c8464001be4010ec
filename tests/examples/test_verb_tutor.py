"""examples/verb_tutor.py for clients of every revision."""

from __future__ import annotations

import pytest
from tests.examples.raw import Peer

SERVER = "verb_tutor"
WITHOUT_TITLE = {
    "name": "practise",
    "description": "Tell a form of an English verb; with a guess, tell whether it is right.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "verb": {"type": "string", "enum": ["be", "bring", "go", "sing", "write"]},
            "form": {"type": "string", "enum": ["third person", "past", "past participle", "-ing form"]},
            "guess": {"type": "string", "description": "what the learner says", "default": ""},
        },
        "required": ["verb", "form"],
        "additionalProperties": False,
    },
    "annotations": {"readOnlyHint": True},
}


def test_the_tool_is_listed_with_its_enums(peer: Peer) -> None:
    (tool,) = peer.result("tools/list")["tools"]
    assert tool == {**WITHOUT_TITLE, "title": "Practise a verb"}


def test_a_form_is_told(peer: Peer) -> None:
    assert peer.text("practise", verb="go", form="past") == "The past of go is: went."


@pytest.mark.parametrize(
    ("guess", "said"),
    [
        ("were", "Right: the past of be is was, were."),
        (" Was ", "Right: the past of be is was, were."),
        ("beed", "Not quite: the past of be is was, were, not beed."),
    ],
)
def test_a_guess_is_judged(peer: Peer, guess: str, said: str) -> None:
    assert peer.text("practise", verb="be", form="past", guess=guess) == said


def test_what_is_in_no_enum_is_an_error_that_tells_the_model_what_is(peer: Peer) -> None:
    assert peer.call("practise", verb="run", form="past") == {
        "content": [
            {
                "type": "text",
                "text": "The arguments do not fit the schema of practise:\nverb: Input should be 'be', 'bring', 'go', 'sing' or 'write'",
            }
        ],
        "isError": True,
    }


def test_the_server_names_itself_and_instructs_the_model(peer: Peer) -> None:
    instructions = "Have the learner guess first, then call practise with the guess."
    if peer.is_modern:
        found = peer.result("server/discover")
        assert found["_meta"] == {"io.modelcontextprotocol/serverInfo": {"name": "verb-tutor", "version": "1.0"}}
    else:
        found = peer.server
        assert found["serverInfo"] == {"name": "verb-tutor", "version": "1.0"}
    assert found["instructions"] == instructions
