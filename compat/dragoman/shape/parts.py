"""The parts of messages in 2026-07-28 (schema.mdx), as far as a reader may rely on them: required members and the types of all members.

Theory of operation: msgspec checks a value against these classes while it scans the text once. What is read is thrown
away; a member that no class names is legal and only skipped. Strings that can be large (``text``, ``data``, ``blob``) and
free values stay raw, so a payload of any size is neither copied nor decoded. The scan may refuse what is valid in a rare
spelling (``1.0`` for an integer): ``mend`` looks again. It never lets pass what is not.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Raw, Struct, UnsetType, field

from dragoman.change import ABSENT

Role = Literal["assistant", "user"]
MetaObject = dict[str, Raw] | UnsetType

_QUOTE = ord('"')


def is_text(raw: Raw) -> bool:
    """Whether a member is there and is a JSON string, without touching more than its first byte."""
    return raw is not ABSENT and memoryview(raw)[0] == _QUOTE


class Shape(Struct, rename="camel", gc=False):
    """Members are named as on the wire."""


# --- the parts of parts ---


class Annotations(Shape):
    """server/resources#annotations."""

    audience: list[Role] | UnsetType = UNSET
    last_modified: str | UnsetType = UNSET
    priority: Annotated[float, Meta(ge=0, le=1)] | UnsetType = UNSET


class Icon(Shape):
    """basic/index#icons."""

    src: str
    mime_type: str | UnsetType = UNSET
    sizes: list[str] | UnsetType = UNSET
    theme: Literal["dark", "light"] | UnsetType = UNSET


class Implementation(Shape):
    """A server's or client's name and version."""

    name: str
    version: str
    title: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    icons: list[Icon] | UnsetType = UNSET
    website_url: str | UnsetType = UNSET


# --- resources ---


class Contents(Shape):
    """What a resource holds: text, or a blob in base64 (server/resources#resource-contents)."""

    uri: str
    text: Raw = ABSENT
    blob: Raw = ABSENT
    mime_type: str | UnsetType = UNSET
    meta: MetaObject = field(default=UNSET, name="_meta")

    def __post_init__(self) -> None:
        if not is_text(self.text) and not is_text(self.blob):
            raise ValueError("neither text nor blob is a string")


class Resource(Shape):
    """server/resources#resource."""

    uri: str
    name: str
    title: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    mime_type: str | UnsetType = UNSET
    size: int | UnsetType = UNSET
    icons: list[Icon] | UnsetType = UNSET
    annotations: Annotations | UnsetType = UNSET
    meta: MetaObject = field(default=UNSET, name="_meta")


class ResourceTemplate(Shape):
    """server/resources#resource-templates."""

    uri_template: str
    name: str
    title: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    mime_type: str | UnsetType = UNSET
    icons: list[Icon] | UnsetType = UNSET
    annotations: Annotations | UnsetType = UNSET
    meta: MetaObject = field(default=UNSET, name="_meta")


# --- content blocks ---


class TextBlock(Shape, kw_only=True, tag_field="type", tag="text"):
    """server/tools#text-content."""

    text: Raw
    annotations: Annotations | UnsetType = UNSET
    meta: MetaObject = field(default=UNSET, name="_meta")

    def __post_init__(self) -> None:
        if not is_text(self.text):
            raise ValueError("text is not a string")


class ImageBlock(Shape, kw_only=True, tag_field="type", tag="image"):
    """server/tools#image-content."""

    data: Raw
    mime_type: str
    annotations: Annotations | UnsetType = UNSET
    meta: MetaObject = field(default=UNSET, name="_meta")

    def __post_init__(self) -> None:
        if not is_text(self.data):
            raise ValueError("data is not a string")


class AudioBlock(ImageBlock, kw_only=True, tag_field="type", tag="audio"):
    """server/tools#audio-content."""


class LinkBlock(Resource, kw_only=True, tag_field="type", tag="resource_link"):
    """server/tools#resource-links."""


class EmbeddedBlock(Shape, kw_only=True, tag_field="type", tag="resource"):
    """server/tools#embedded-resources."""

    resource: Contents
    annotations: Annotations | UnsetType = UNSET
    meta: MetaObject = field(default=UNSET, name="_meta")


Block = TextBlock | ImageBlock | AudioBlock | LinkBlock | EmbeddedBlock


class ToolUseBlock(Shape, kw_only=True, tag_field="type", tag="tool_use"):
    """client/sampling."""

    id: str
    name: str
    input: dict[str, Raw]
    meta: MetaObject = field(default=UNSET, name="_meta")


class ToolResultBlock(Shape, kw_only=True, tag_field="type", tag="tool_result"):
    """client/sampling."""

    tool_use_id: str
    content: list[Block]
    is_error: bool | UnsetType = UNSET
    meta: MetaObject = field(default=UNSET, name="_meta")


SampleBlock = TextBlock | ImageBlock | AudioBlock | ToolUseBlock | ToolResultBlock


# --- tools, prompts, completion ---


class InputSchema(Shape):
    """The root of a tool's ``inputSchema``; its keywords are the business of sep2106_json_schema."""

    type: Literal["object"]
    dialect: str | UnsetType = field(default=UNSET, name="$schema")


class OutputSchema(Shape):
    """The root of a tool's ``outputSchema``."""

    dialect: str | UnsetType = field(default=UNSET, name="$schema")


class ToolAnnotations(Shape):
    """Hints about a tool."""

    title: str | UnsetType = UNSET
    read_only_hint: bool | UnsetType = UNSET
    destructive_hint: bool | UnsetType = UNSET
    idempotent_hint: bool | UnsetType = UNSET
    open_world_hint: bool | UnsetType = UNSET


class Tool(Shape):
    """server/tools#tool."""

    name: str
    input_schema: InputSchema
    title: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    output_schema: OutputSchema | UnsetType = UNSET
    icons: list[Icon] | UnsetType = UNSET
    annotations: ToolAnnotations | UnsetType = UNSET
    meta: MetaObject = field(default=UNSET, name="_meta")


class PromptArgument(Shape):
    """server/prompts#prompt."""

    name: str
    title: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    required: bool | UnsetType = UNSET


class Prompt(Shape):
    """server/prompts#prompt."""

    name: str
    title: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    arguments: list[PromptArgument] | UnsetType = UNSET
    icons: list[Icon] | UnsetType = UNSET
    meta: MetaObject = field(default=UNSET, name="_meta")


class PromptMessage(Shape):
    """server/prompts#promptmessage."""

    role: Role
    content: Block


class Completion(Shape):
    """server/utilities/completion: at most 100 values."""

    values: Annotated[list[str], Meta(max_length=100)]
    total: int | UnsetType = UNSET
    has_more: bool | UnsetType = UNSET
