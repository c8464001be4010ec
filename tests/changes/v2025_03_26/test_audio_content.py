from __future__ import annotations

import json

import downcrossings as down
from crossings import FIRST, MARCH, answer, raw
from dragoman.chain import Fault

AUDIO = '{"role":"assistant","model":"m","content":{"type":"audio","data":"AA==","mimeType":"audio/wav"}}'
TEXT = '{"role":"assistant","model":"m","content":{"type":"text","text":"hi"}}'


def test_text_sample_to_2024_server_is_untouched() -> None:
    assert raw(answer("sampling/createMessage", TEXT, FIRST)) == TEXT


def test_audio_sample_to_march_server_is_untouched() -> None:
    assert raw(answer("sampling/createMessage", AUDIO, MARCH)) == AUDIO


def test_audio_sample_to_2024_server_is_refused() -> None:
    assert answer("sampling/createMessage", AUDIO, FIRST) == Fault(
        "audio_content", "the client answered with audio, which the server's revision does not know"
    )


def test_audio_in_a_list_of_one_to_2024_server_is_unwrapped_and_refused() -> None:
    listed = '{"role":"assistant","model":"m","content":[{"type":"audio","data":"AA==","mimeType":"audio/wav"}]}'
    assert answer("sampling/createMessage", listed, FIRST) == Fault(
        "audio_content", "the client answered with audio, which the server's revision does not know"
    )


# --- a modern server and a client of 2024-11-05 ---

SOUND = '{"type":"audio","data":"AA==","mimeType":"audio/wav"}'
NOTE = '{"type":"text","text":"Audio (audio/wav), embedded as the resource urn:audio:1"}'
EMBEDDED = '{"type":"resource","resource":{"uri":"urn:audio:1","mimeType":"audio/wav","blob":"AA=="}}'
WORDS = '{"type":"text","text":"hi","x":1.10}'


def test_tool_result_without_audio_to_2024_client_is_untouched() -> None:
    text = f'{{ "content":[ {WORDS} ] }}'
    assert down.raw(down.result("tools/call", text, FIRST)) == text


def test_prompt_without_audio_to_2024_client_is_untouched() -> None:
    text = f'{{ "messages":[ {{"role":"user","content":{WORDS}}} ] }}'
    assert down.raw(down.result("prompts/get", text, FIRST)) == text


def test_audio_to_march_client_is_untouched() -> None:
    text = f'{{ "content":[ {SOUND} ] }}'
    assert down.raw(down.result("tools/call", text, MARCH)) == text


def test_question_after_words_to_2024_client_is_untouched() -> None:
    text = f'{{ "maxTokens":9,"messages":[{{"role":"user","content":{WORDS}}}] }}'
    assert down.raw(down.question("sampling/createMessage", text, FIRST)) == text


def test_audio_to_2024_client_is_announced_and_embedded() -> None:
    text = f'{{"content":[{WORDS},{SOUND},{WORDS}]}}'
    assert down.raw(down.result("tools/call", text, FIRST)) == f'{{"content":[{WORDS},{NOTE},{EMBEDDED},{WORDS}]}}'


def test_each_sound_is_a_resource_of_its_own_and_keeps_its_annotations() -> None:
    second = '{"type":"audio","data":"AQ==","mimeType":"audio/mp3","annotations":{"priority":0.50},"_meta":{"a":1.10}}'
    told = json.loads(down.raw(down.result("tools/call", f'{{"content":[{SOUND},{second}]}}', FIRST)))["content"]
    assert [block.get("resource", {}).get("uri") for block in told] == [None, "urn:audio:1", None, "urn:audio:2"]
    assert (told[3]["annotations"], told[3]["_meta"]) == ({"priority": 0.5}, {"a": 1.1})


def test_audio_of_a_prompt_to_2024_client_is_two_messages_of_the_same_speaker() -> None:
    text = f'{{"messages":[{{"role":"assistant","content":{SOUND}}},{{"role":"user","content":{WORDS}}}]}}'
    assert down.raw(down.result("prompts/get", text, FIRST)) == (
        f'{{"messages":[{{"role":"assistant","content":{NOTE}}},{{"role":"assistant","content":{EMBEDDED}}},'
        f'{{"role":"user","content":{WORDS}}}]}}'
    )


def test_question_after_audio_to_2024_client_is_refused() -> None:
    text = f'{{"maxTokens":9,"messages":[{{"role":"user","content":{WORDS}}},{{"role":"user","content":{SOUND}}}]}}'
    assert down.question("sampling/createMessage", text, FIRST) == Fault(
        "audio_content", "the server asked for a sample after audio, which the client's revision does not know"
    )


def test_question_after_a_list_with_audio_to_2024_client_is_refused() -> None:
    text = f'{{"maxTokens":9,"messages":[{{"role":"user","content":[{WORDS},{SOUND}]}}]}}'
    assert isinstance(down.question("sampling/createMessage", text, FIRST), Fault)
