"""completions_capability: what a server of 2024-11-05 could not declare."""

from __future__ import annotations

import pytest
from msgspec import Raw

from dragoman import chain
from dragoman_specs.version import LEGACY, Version


@pytest.mark.parametrize("revision", LEGACY[1:])
def test_server_whose_revision_has_the_capability_is_taken_at_its_word(revision: Version) -> None:
    assert chain.capabilities_to_client(Raw(b'{"prompts":{}}'), revision) == ({"prompts": {}}, ())


@pytest.mark.parametrize("text", [b"{}", b'{"tools":{}}', b'{"logging":{}}'])
def test_2024_server_with_nothing_to_complete_declares_nothing_more(text: bytes) -> None:
    assert "completions" not in chain.capabilities_to_client(Raw(text), Version.V2024_11_05)[0]


@pytest.mark.parametrize("name", ["prompts", "resources"])
def test_2024_server_with_prompts_or_resources_is_shown_with_completions(name: str) -> None:
    text = b'{"%b":{}}' % name.encode()
    assert chain.capabilities_to_client(Raw(text), Version.V2024_11_05) == ({name: {}, "completions": {}}, ())
