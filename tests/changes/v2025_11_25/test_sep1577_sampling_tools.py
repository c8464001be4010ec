from __future__ import annotations

import pytest

from crossings import FIRST, JUNE, NOVEMBER, answer, raw
from downcrossings import answer as answer_up
from downcrossings import question
from dragoman.chain import Fault
from dragoman_specs.version import LEGACY, Version

METHOD = "sampling/createMessage"
TEXT = '{"type":"text","text":"hi"}'
USE = '{"type":"tool_use","id":"1","name":"add","input":{"a":1.10}}'


def sample(content: str) -> str:
    return f'{{"role":"assistant","model":"m","content":{content},"stopReason":"endTurn","x":1e400}}'


@pytest.mark.parametrize("content", [TEXT, f"[{TEXT}]", f"[{TEXT},{TEXT}]", "[]", USE, f"[{TEXT},{USE}]"])
def test_every_sample_to_november_server_is_untouched(content: str) -> None:
    assert raw(answer(METHOD, sample(content), NOVEMBER)) == sample(content)


@pytest.mark.parametrize("revision", [FIRST, JUNE])
def test_single_block_to_older_server_is_untouched(revision: Version) -> None:
    assert raw(answer(METHOD, sample(TEXT), revision)) == sample(TEXT)


@pytest.mark.parametrize("revision", [FIRST, JUNE])
def test_list_of_one_to_older_server_is_unwrapped(revision: Version) -> None:
    assert raw(answer(METHOD, sample(f"[{TEXT}]"), revision)) == sample(TEXT)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (f"[{TEXT},{TEXT}]", "the client answered with 2 content blocks, the server's revision takes one"),
        ("[]", "the client answered with 0 content blocks, the server's revision takes one"),
        (USE, "the client answered with tool_use, which the server's revision does not know"),
        (f"[{USE}]", "the client answered with tool_use, which the server's revision does not know"),
        (
            '{"type":"tool_result","toolUseId":"1","content":[]}',
            "the client answered with tool_result, which the server's revision does not know",
        ),
    ],
)
def test_what_has_no_older_form_is_refused(content: str, message: str) -> None:
    assert answer(METHOD, sample(content), JUNE) == Fault("sep1577_sampling_tools", message)


# --- a modern server that asks an older client ---

TOOL = '{"name":"add","inputSchema":{"type":"object"}}'
IMAGE = '{"type":"image","data":"AA==","mimeType":"image/png"}'
RESULT = '{"type":"tool_result","toolUseId":"1","content":[]}'


def asked(messages: str, *more: str) -> str:
    return "{" + ",".join((f'"messages":[{messages}]', '"maxTokens":9', '"temperature":0.70', *more)) + "}"


def said(content: str) -> str:
    return f'{{"role":"user","content":{content},"x":1.10}}'


@pytest.mark.parametrize("revision", LEGACY)
def test_question_after_single_blocks_is_untouched(revision: Version) -> None:
    text = asked(f"{said(TEXT)}, {said(IMAGE)}", '"includeContext":"thisServer"', '"metadata":{"a": 1e400}')
    assert raw(question(METHOD, text, revision)) == text


def test_question_with_lists_and_tools_to_november_client_is_untouched() -> None:
    text = asked(f"{said(f'[{TEXT},{IMAGE}]')},{said(f'[{TEXT}]')}", f'"tools":[{TOOL}]', '"toolChoice":{"mode":"auto"}')
    assert raw(question(METHOD, text, NOVEMBER)) == text


@pytest.mark.parametrize("revision", [FIRST, JUNE])
def test_list_of_one_to_older_client_is_unwrapped(revision: Version) -> None:
    assert raw(question(METHOD, asked(said(f"[{TEXT}]")), revision)) == asked(said(TEXT))


@pytest.mark.parametrize("revision", [FIRST, JUNE])
def test_list_of_two_to_older_client_is_two_messages_of_the_same_speaker(revision: Version) -> None:
    assert raw(question(METHOD, asked(said(f"[{TEXT},{IMAGE}]")), revision)) == asked(f"{said(TEXT)},{said(IMAGE)}")


@pytest.mark.parametrize("revision", [FIRST, JUNE])
def test_empty_list_of_tools_to_older_client_is_left_out_with_the_choice(revision: Version) -> None:
    text = asked(said(TEXT), '"tools":[]', '"toolChoice":{"mode":"none"}')
    assert raw(question(METHOD, text, revision)) == asked(said(TEXT))


@pytest.mark.parametrize("revision", [FIRST, JUNE])
def test_tools_to_older_client_are_refused(revision: Version) -> None:
    assert question(METHOD, asked(said(TEXT), f'"tools":[{TOOL}]'), revision) == Fault(
        "sep1577_sampling_tools", "the server asked for a sample with tools, which the client's revision does not know"
    )


@pytest.mark.parametrize(("content", "tag"), [(USE, "tool_use"), (f"[{RESULT}]", "tool_result"), (f"[{TEXT},{USE}]", "tool_use")])
def test_use_of_tools_to_older_client_is_refused(content: str, tag: str) -> None:
    assert question(METHOD, asked(said(content)), JUNE) == Fault(
        "sep1577_sampling_tools", f"the server asked for a sample after {tag}, which the client's revision does not know"
    )


@pytest.mark.parametrize("revision", LEGACY)
def test_sample_of_older_client_reaches_a_modern_server_untouched(revision: Version) -> None:
    assert raw(answer_up(METHOD, sample(TEXT), revision)) == sample(TEXT)
