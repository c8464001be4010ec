from __future__ import annotations

import pytest

from crossings import FIRST, JUNE, NOVEMBER, answer, raw
from dragoman.chain import Fault
from dragoman_specs.version import Version

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
