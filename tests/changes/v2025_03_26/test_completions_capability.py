"""completions_capability: what a server of 2024-11-05 could not declare."""

from __future__ import annotations

import pytest
from msgspec import Raw

from dragoman import chain, downchain
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


@pytest.mark.parametrize("revision", LEGACY[1:])
def test_client_whose_revision_has_the_capability_is_told_of_it(revision: Version) -> None:
    assert downchain.capabilities_to_legacy(Raw(b'{"prompts":{},"completions":{}}'), revision) == (b'{"prompts":{},"completions":{}}', ())


def test_2024_client_hears_nothing_of_it() -> None:
    assert downchain.capabilities_to_legacy(Raw(b'{"completions":{},"prompts":{}}'), Version.V2024_11_05) == (b'{"prompts":{}}', ())


def test_2024_client_of_a_server_without_it_is_told_the_same() -> None:
    assert downchain.capabilities_to_legacy(Raw(b'{"prompts":{}}'), Version.V2024_11_05) == (b'{"prompts":{}}', ())
