"""Whole messages of 2026-07-28: results, the params of notifications, and the client's answers to questions (schema.mdx).

Stated as in ``parts``: what msgspec checks while it scans the text.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from msgspec import UNSET, Raw, UnsetType, field

from dragoman.change import ABSENT
from dragoman.shape.parts import (
    Block,
    Completion,
    Contents,
    MetaObject,
    Prompt,
    PromptMessage,
    Resource,
    ResourceTemplate,
    Role,
    SampleBlock,
    Shape,
    Tool,
)
from dragoman_specs.names import LOG_LEVELS

_NULL = ord("n")

# --- results ---


class Result(Shape, kw_only=True):
    """Every result. The members named here are those that changes write; a result without any needs no rebuilding."""

    result_type: Raw = ABSENT
    meta: Raw = field(default=ABSENT, name="_meta")
    ttl_ms: Raw = ABSENT
    cache_scope: Raw = ABSENT

    def is_plain(self) -> bool:
        """Whether it has none of the members of ``STAMPED``."""
        return self.result_type is ABSENT and self.meta is ABSENT and self.ttl_ms is ABSENT and self.cache_scope is ABSENT


STAMPED: Final = ("resultType", "_meta", "ttlMs", "cacheScope")
"""The members of ``Result`` on the wire, in the order in which they are written."""


class Page(Result, kw_only=True):
    """server/utilities/pagination."""

    next_cursor: str | UnsetType = UNSET


class ToolPage(Page, kw_only=True):
    """``tools/list``."""

    tools: list[Tool]


class PromptPage(Page, kw_only=True):
    """``prompts/list``."""

    prompts: list[Prompt]


class ResourcePage(Page, kw_only=True):
    """``resources/list``."""

    resources: list[Resource]


class TemplatePage(Page, kw_only=True):
    """``resources/templates/list``."""

    resource_templates: list[ResourceTemplate]


class ToolResult(Result, kw_only=True):
    """``tools/call``."""

    content: list[Block]
    is_error: bool | UnsetType = UNSET
    # Any value since 2026-07-28, so null became one. A legacy server can only have meant "none" by it.
    structured_content: Raw = ABSENT

    def __post_init__(self) -> None:
        if self.structured_content is not ABSENT and memoryview(self.structured_content)[0] == _NULL:
            raise ValueError("structuredContent is null")


class PromptResult(Result, kw_only=True):
    """``prompts/get``."""

    messages: list[PromptMessage]
    description: str | UnsetType = UNSET


class ReadResult(Result, kw_only=True):
    """``resources/read``."""

    contents: list[Contents]


class CompleteResult(Result, kw_only=True):
    """``completion/complete``."""

    completion: Completion


RESULTS: Final[dict[str, type[Result]]] = {
    "tools/list": ToolPage,
    "tools/call": ToolResult,
    "prompts/list": PromptPage,
    "prompts/get": PromptResult,
    "resources/list": ResourcePage,
    "resources/templates/list": TemplatePage,
    "resources/read": ReadResult,
    "completion/complete": CompleteResult,
}

ITEMS: Final = {"tools/list": "tools"}
"""Lists whose items changes reshape one by one, and the member that holds them."""


# --- notifications ---


class Bare(Shape):
    """Any notification's params."""

    meta: MetaObject = field(default=UNSET, name="_meta")


class Progress(Bare, kw_only=True):
    """basic/patterns/progress. The token is the bridge's business."""

    progress: float
    total: float | UnsetType = UNSET
    message: str | UnsetType = UNSET


class LogMessage(Bare, kw_only=True):
    """server/utilities/logging."""

    level: Literal[LOG_LEVELS]  # type: ignore[valid-type]
    data: Raw
    logger: str | UnsetType = UNSET


class Updated(Bare, kw_only=True):
    """server/resources#subscriptions."""

    uri: str


NOTIFICATIONS: Final[dict[str, type[Bare]]] = {
    "notifications/progress": Progress,
    "notifications/message": LogMessage,
    "notifications/resources/updated": Updated,
}


# --- answers of the client ---


class Root(Shape):
    """client/roots."""

    uri: str
    name: str | UnsetType = UNSET
    meta: MetaObject = field(default=UNSET, name="_meta")


class RootsAnswer(Shape):
    """client/roots."""

    roots: list[Root]
    meta: MetaObject = field(default=UNSET, name="_meta")


class FormAnswer(Shape):
    """client/elicitation#response-actions."""

    action: Literal["accept", "cancel", "decline"]
    content: dict[str, str | int | float | bool | list[str]] | UnsetType = UNSET
    meta: MetaObject = field(default=UNSET, name="_meta")


class Sample(Shape):
    """client/sampling."""

    role: Role
    model: str
    content: SampleBlock | list[SampleBlock]
    stop_reason: str | UnsetType = UNSET
    meta: MetaObject = field(default=UNSET, name="_meta")


ANSWERS: Final[dict[str, Any]] = {
    "elicitation/create": FormAnswer,
    "sampling/createMessage": Sample,
    "roots/list": RootsAnswer,
}
