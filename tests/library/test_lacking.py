"""A client that cannot be asked gets a clear word of what it lacks, in the form that its revision has for it."""

from typing import Any

import pytest
from tests.library.asker import SERVER, Peer
from tests.library.peer import ASKED, EVERY, MODERN, accept, asynchronous, called, refused, told

from dragoman import ProtocolError

OLDER = tuple(version for version in EVERY if version not in ASKED)
LACKING = [
    ("form", {"elicitation": {"form": {}}}),
    ("page", {"elicitation": {"url": {}}}),
    ("sample", {"sampling": {}}),
    ("sample_with_tools", {"sampling": {"tools": {}}}),
    ("roots", {"roots": {}}),
    ("several", {"elicitation": {"form": {}}, "sampling": {}, "roots": {}}),
]


@pytest.mark.parametrize(("tool", "lacking"), LACKING)
@asynchronous
async def test_a_modern_client_that_cannot_be_asked_learns_what_it_lacks(tool: str, lacking: dict[str, Any]) -> None:
    with pytest.raises(ProtocolError) as refusal:
        await called(SERVER, tool)
    assert refusal.value.code == -32021
    assert refusal.value.data == {"requiredCapabilities": lacking}


@pytest.mark.parametrize("version", EVERY[:-1])
@pytest.mark.parametrize(("tool", "lacking"), LACKING)
@asynchronous
async def test_a_legacy_client_that_cannot_be_asked_gets_a_tool_error_that_says_why(
    version: str, tool: str, lacking: dict[str, Any]
) -> None:
    text = refused(await called(SERVER, tool, version=version))
    assert all(name in text for name in lacking)


@pytest.mark.parametrize("version", OLDER)
@asynchronous
async def test_a_revision_without_forms_gets_a_tool_error_though_it_answers_everything(version: str) -> None:
    assert "elicitation" in refused(await called(SERVER, "form", version=version, answer=Peer()))


@pytest.mark.parametrize(
    ("version", "tool", "word"), [("2025-06-18", "page", "url"), ("2025-06-18", "sample_with_tools", "tools"), (MODERN, "page", "url")]
)
@asynchronous
async def test_a_capability_that_is_there_but_for_a_part_of_it_is_told_by_that_part(version: str, tool: str, word: str) -> None:
    declared = {"elicitation": {"form": {}}, "sampling": {}} if version == MODERN else {"elicitation": {}, "sampling": {}}
    if version == MODERN:
        with pytest.raises(ProtocolError) as refusal:
            await called(SERVER, tool, version=version, answer=Peer(), capabilities=declared)
        text = refusal.value.message
    else:
        text = refused(await called(SERVER, tool, version=version, answer=Peer(), capabilities=declared))
    assert word in text.replace(tool, "")


@asynchronous
async def test_a_modern_client_that_declares_elicitation_and_no_mode_of_it_means_forms() -> None:
    text = told(await called(SERVER, "form", answer=accept(name="Ada"), capabilities={"elicitation": {}}))
    assert text == "Elicited('accept', Who(name='Ada')) True"
    with pytest.raises(ProtocolError) as refusal:
        await called(SERVER, "page", answer=Peer(), capabilities={"elicitation": {}})
    assert refusal.value.code == -32021
