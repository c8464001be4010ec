from __future__ import annotations

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
