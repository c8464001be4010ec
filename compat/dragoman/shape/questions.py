"""The params of what a modern server asks (2026-07-28 ``InputRequest``), as far as the steps towards a legacy client rely on them.

Apart from ``wholes`` because only those steps need it. A form's properties are looked at one by one by whoever reads them.
"""

from __future__ import annotations

from typing import Final, Literal

from msgspec import UNSET, Raw, UnsetType, field

from dragoman import frame
from dragoman.change import Members
from dragoman.shape.parts import MetaObject, Role, SampleBlock, Shape, Tool


class Question(Shape):
    """Any question; of ``roots/list`` there is no more to say."""

    meta: MetaObject = field(default=UNSET, name="_meta")


class Form(Shape):
    """client/elicitation#requested-schema."""

    type: Literal["object"]
    properties: dict[str, dict[str, Raw]]
    required: list[str] | UnsetType = UNSET


class FormQuestion(Question, kw_only=True):
    """client/elicitation#form-mode-elicitation-requests."""

    message: str
    requested_schema: Form
    mode: Literal["form"] | UnsetType = UNSET


class UrlQuestion(Question, kw_only=True):
    """client/elicitation#url-mode-elicitation-requests."""

    message: str
    url: str
    mode: Literal["url"]


class SampleMessage(Shape):
    """client/sampling."""

    role: Role
    content: SampleBlock | list[SampleBlock]


class SampleQuestion(Question, kw_only=True):
    """client/sampling."""

    messages: list[SampleMessage]
    max_tokens: int
    tools: list[Tool] | UnsetType = UNSET


_KINDS: Final[dict[str, type[Question]]] = {"sampling/createMessage": SampleQuestion, "roots/list": Question}


def kind_of(method: str, params: Members) -> type[Question] | None:
    """The shape of these params; None if it is no method that a server may ask."""
    if method == "elicitation/create":
        return UrlQuestion if frame.text(params.get("mode")) == "url" else FormQuestion
    return _KINDS.get(method)
