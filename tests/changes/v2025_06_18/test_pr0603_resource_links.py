from __future__ import annotations

import pytest

from downcrossings import FIRST, JUNE, MARCH, NOVEMBER, raw, result
from dragoman_specs.version import Version

OLD = [FIRST, MARCH]
TEXT = '{"type":"text","text":"hi","x":1.10}'
LINK = '{"type":"resource_link","name":"report","uri":"file:///r.md"}'
TOLD = '{"type":"text","text":"Resource report: file:///r.md"}'


@pytest.mark.parametrize("revision", OLD)
def test_tool_result_without_links_is_untouched(revision: Version) -> None:
    text = f'{{ "content":[ {TEXT} ] }}'
    assert raw(result("tools/call", text, revision)) == text


@pytest.mark.parametrize("revision", OLD)
def test_prompt_without_links_is_untouched(revision: Version) -> None:
    text = f'{{ "messages":[ {{"role":"user","content":{TEXT}}} ] }}'
    assert raw(result("prompts/get", text, revision)) == text


@pytest.mark.parametrize("revision", [JUNE, NOVEMBER])
def test_link_to_newer_client_is_untouched(revision: Version) -> None:
    text = f'{{ "content":[ {LINK} ] }}'
    assert raw(result("tools/call", text, revision)) == text


@pytest.mark.parametrize("revision", OLD)
def test_member_that_only_looks_like_a_link_is_untouched(revision: Version) -> None:
    text = f'{{"content":[],"_meta":{{"a":{LINK}}}}}'
    assert raw(result("tools/call", text, revision)) == text


@pytest.mark.parametrize("revision", OLD)
def test_links_between_other_blocks_become_texts_where_they_stood(revision: Version) -> None:
    text = f'{{"content":[{TEXT},{LINK},{TEXT},{LINK}]}}'
    assert raw(result("tools/call", text, revision)) == f'{{"content":[{TEXT},{TOLD},{TEXT},{TOLD}]}}'


@pytest.mark.parametrize("revision", OLD)
def test_link_of_a_prompt_becomes_a_text_of_the_same_speaker(revision: Version) -> None:
    text = f'{{"messages":[{{"role":"assistant","content":{LINK},"x":1.10}}]}}'
    assert raw(result("prompts/get", text, revision)) == f'{{"messages":[{{"role":"assistant","content":{TOLD},"x":1.10}}]}}'


def test_title_description_and_annotations_of_a_link_are_told_too() -> None:
    link = (
        '{"type":"resource_link","name":"r","title":"The report","uri":"file:///r.md","description":"Of May",'
        '"annotations":{"priority":0.50},"mimeType":"text/markdown","size":7}'
    )
    assert raw(result("tools/call", f'{{"content":[{link}]}}', MARCH)) == (
        '{"content":[{"type":"text","text":"Resource The report (r): file:///r.md\\nOf May","annotations":{"priority":0.50}}]}'
    )


def test_title_that_is_the_name_is_told_once() -> None:
    link = '{"type":"resource_link","name":"r","title":"r","uri":"a:b"}'
    assert raw(result("tools/call", f'{{"content":[{link}]}}', MARCH)) == '{"content":[{"type":"text","text":"Resource r: a:b"}]}'
