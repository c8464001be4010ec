from __future__ import annotations

import pytest

from downcrossings import JUNE, NOVEMBER, question, raw
from dragoman.chain import Fault

METHOD = "elicitation/create"
FORM = '"message":"m","requestedSchema":{"type":"object","properties":{}}'


def test_form_that_does_not_say_so_is_untouched() -> None:
    assert raw(question(METHOD, f"{{ {FORM} }}", JUNE)) == f"{{ {FORM} }}"


def test_form_that_says_so_to_november_client_is_untouched() -> None:
    assert raw(question(METHOD, f'{{ "mode":"form",{FORM} }}', NOVEMBER)) == f'{{ "mode":"form",{FORM} }}'


def test_form_to_june_client_does_not_say_so() -> None:
    assert raw(question(METHOD, f'{{"mode":"form",{FORM}}}', JUNE)) == f"{{{FORM}}}"


def test_url_to_june_client_is_refused() -> None:
    assert question(METHOD, '{"mode":"url","message":"m","url":"https://a.example/"}', JUNE) == Fault(
        "sep1036_url_elicitation", "the server asked to open a URL, which the client's revision does not know"
    )


@pytest.mark.parametrize("said", ['"URL"', "7"])
def test_mode_that_does_not_exist_is_a_fault(said: str) -> None:
    assert isinstance(question(METHOD, f'{{"mode":{said},{FORM}}}', JUNE), Fault)
