from __future__ import annotations

import pytest

from downcrossings import FIRST, JUNE, MARCH, NOVEMBER, question, raw
from dragoman.chain import Fault
from dragoman_specs.version import Version

FORM = '{ "message":"m","requestedSchema":{"type":"object","properties":{"n":{"type":"number","minimum":1.10}}} }'


@pytest.mark.parametrize("revision", [JUNE, NOVEMBER])
def test_form_to_client_that_has_forms_is_untouched(revision: Version) -> None:
    assert raw(question("elicitation/create", FORM, revision)) == FORM


@pytest.mark.parametrize("revision", [FIRST, MARCH])
def test_form_to_older_client_is_refused(revision: Version) -> None:
    assert question("elicitation/create", FORM, revision) == Fault(
        "pr0382_elicitation", "the server asked the user for something, which the client's revision does not know"
    )
