"""The shapes of what servers ask (2026-07-28 ``InputRequest``; client/{elicitation,sampling,roots}), as far as a client relies on them.

These are checks, not models: what is read is thrown away, a member that no class names is legal and stays in the raw
text. Numbers of a form come through ``number``, so ``100.0`` is whole, as JSON Schema has it, and 1e400 is no fault.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from dragoman.shape.parts import Role, SampleBlock, Tool, ToolResultBlock, ToolUseBlock

Text = str | UnsetType
Texts = list[str] | UnsetType
Count = int | UnsetType
Number = float | int | UnsetType
Share = Annotated[float, Meta(ge=0, le=1)] | UnsetType
_Empty: Any = Raw(b"")


# --- forms (client/elicitation#requested-schema) ---


class Choice(Struct, gc=False):
    """One titled option of an enum."""

    const: str
    title: str


class _Property(Struct, gc=False, kw_only=True, tag_field="type", rename="camel"):
    title: Text = UNSET
    description: Text = UNSET


class StringProperty(_Property, tag="string"):
    """Free text, or one choice: ``enum``, with 2025-06-18's ``enumNames`` or without, or ``oneOf``."""

    default: Text = UNSET
    format: Literal["date", "date-time", "email", "uri"] | UnsetType = UNSET
    min_length: Count = UNSET
    max_length: Count = UNSET
    enum: Texts = UNSET
    enum_names: Texts = UNSET
    one_of: list[Choice] | UnsetType = UNSET


class NumberProperty(_Property, tag="number"):
    """A number."""

    default: Number = UNSET
    minimum: Number = UNSET
    maximum: Number = UNSET


class IntegerProperty(NumberProperty, tag="integer"):
    """A whole number."""


class BooleanProperty(_Property, tag="boolean"):
    """Yes or no."""

    default: bool | UnsetType = UNSET


class Options(Struct, gc=False, rename="camel"):
    """The items of a multiple choice: ``type`` and ``enum``, or ``anyOf``."""

    type: Literal["string"] | UnsetType = UNSET
    enum: Texts = UNSET
    any_of: list[Choice] | UnsetType = UNSET

    def __post_init__(self) -> None:
        if self.any_of is UNSET and (self.enum is UNSET or self.type is UNSET):
            raise ValueError("Object missing required field `anyOf`, or `enum` and `type`")


class ArrayProperty(_Property, tag="array", kw_only=True):
    """Several choices (2025-11-25 and later)."""

    items: Options
    default: Texts = UNSET
    min_items: Count = UNSET
    max_items: Count = UNSET


Property = StringProperty | NumberProperty | IntegerProperty | BooleanProperty | ArrayProperty


class Form(Struct, gc=False):
    """``requestedSchema``; its properties are looked at one by one, for a message that names the faulty one."""

    type: Literal["object"]
    properties: dict[str, Raw]
    required: Texts = UNSET
    dialect: Text = msgspec.field(default=UNSET, name="$schema")


class FormParams(Struct, gc=False, rename="camel"):
    """``elicitation/create`` in form mode."""

    message: str
    requested_schema: Form


class UrlParams(Struct, gc=False):
    """``elicitation/create`` in URL mode."""

    message: str
    url: str

    def __post_init__(self) -> None:
        if not _is_url(self.url):
            raise ValueError("`url` is no URL")


def _is_url(text: str) -> bool:
    scheme, colon, rest = text.partition(":")
    return bool(colon and rest) and scheme[:1].isalpha() and text.isascii() and text.isprintable() and " " not in text


# --- sampling (client/sampling) ---


class Message(Struct, gc=False):
    """One message; a single block and an array of blocks are both legal."""

    role: Role
    content: SampleBlock | list[SampleBlock]
    meta: dict[str, Raw] | UnsetType = msgspec.field(default=UNSET, name="_meta")

    def blocks(self) -> list[SampleBlock]:
        """The content as an array."""
        return self.content if isinstance(self.content, list) else [self.content]


class Hint(Struct, gc=False):
    """A model by name."""

    name: Text = UNSET


class Preferences(Struct, gc=False, rename="camel"):
    """Which model to take."""

    cost_priority: Share = UNSET
    speed_priority: Share = UNSET
    intelligence_priority: Share = UNSET
    hints: list[Hint] | UnsetType = UNSET


class ToolChoice(Struct, gc=False):
    """Whether the model must use a tool."""

    mode: Literal["auto", "none", "required"] | UnsetType = UNSET


class SamplingParams(Struct, gc=False, rename="camel"):
    """``sampling/createMessage``."""

    max_tokens: Raw
    messages: list[Message]
    include_context: Literal["none", "thisServer", "allServers"] | UnsetType = UNSET
    metadata: dict[str, Raw] | UnsetType = UNSET
    model_preferences: Preferences | UnsetType = UNSET
    stop_sequences: Texts = UNSET
    system_prompt: Text = UNSET
    temperature: Raw = _Empty
    tool_choice: ToolChoice | UnsetType = UNSET
    tools: list[Tool] | UnsetType = UNSET

    def __post_init__(self) -> None:
        if not _is_number(loads(self.max_tokens), int):
            raise ValueError("`maxTokens` is no integer")
        if self.temperature is not _Empty and not _is_number(loads(self.temperature), int, float):
            raise ValueError("`temperature` is no number")
        if fault := _tool_fault(self.messages):
            raise ValueError(fault)


def _is_number(value: Any, *types: type) -> bool:
    return type(value) in types  # a bool is an int, but not here


def _tool_fault(messages: list[Message]) -> str | None:
    """client/sampling#message-content-constraints: what a client answers -32602 to, as 2025-11-25 lists it under its errors."""
    open_uses: set[str] = set()
    for index, message in enumerate(messages):
        blocks = message.blocks()
        results = {block.tool_use_id for block in blocks if isinstance(block, ToolResultBlock)}
        if results and not all(isinstance(block, ToolResultBlock) for block in blocks):
            return f"`messages[{index}]` mixes tool results with other content"
        if open_uses - results:
            return f"`messages[{index}]` lacks the tool results of the message before"
        open_uses = {block.id for block in blocks if isinstance(block, ToolUseBlock)}
    return "`messages` end before the tool results" if open_uses else None


# --- reading ---


def number(literal: str) -> float | int:
    """A number with a fraction or an exponent, good enough to tell whether it is whole and in range."""
    value = float(literal)
    if value - value != 0:  # infinite: too large for a float, and whole
        return 10**309 if value > 0 else -(10**309)
    return int(value) if value.is_integer() else value


loads: Callable[[bytes | Raw], Any] = msgspec.json.Decoder(float_hook=number).decode


def read(raw: bytes | Raw, shape: Any, where: str) -> Any:
    """The value as ``shape``; a ``str`` that names the faulty member below ``where`` if it does not fit."""
    try:
        return msgspec.json.decode(raw, type=shape)
    except msgspec.MsgspecError as fault:
        return _named(fault, where)


def read_property(raw: bytes | Raw, where: str) -> Property | str:
    """One property of a form, or what is wrong with it."""
    try:
        value: Property = msgspec.convert(loads(raw), Property)
    except msgspec.MsgspecError as fault:
        return _named(fault, where)
    return value


def _named(fault: Exception, where: str) -> str:
    message, _, path = str(fault).partition(" - at `$")
    return f"{where}{path.removesuffix('`')}: {message}"
