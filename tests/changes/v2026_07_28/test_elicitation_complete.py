from __future__ import annotations

from downcrossings import NOVEMBER, question, raw

METHOD = "elicitation/create"
FORM = '{ "message":"m","requestedSchema":{"type":"object","properties":{}} }'


def test_form_gets_no_id() -> None:
    assert raw(question(METHOD, FORM, NOVEMBER, "e-7")) == FORM


def test_url_gets_the_id_of_the_bridge() -> None:
    text = '{"mode":"url","message":"m","url":"https://a.example/","x":1.10}'
    assert raw(question(METHOD, text, NOVEMBER, "e-7")) == text[:-1] + ',"elicitationId":"e-7"}'


def test_id_of_the_server_gives_way() -> None:
    text = '{"mode":"url","elicitationId":"own","message":"m","url":"https://a.example/"}'
    assert raw(question(METHOD, text, NOVEMBER, "e-7")) == text.replace("own", "e-7")
