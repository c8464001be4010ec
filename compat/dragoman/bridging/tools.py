"""What lists said of each tool: facts that later calls need and do not carry themselves.

Whether a tool runs only as a task (2025-11-25, basic/utilities/tasks#tool-level-negotiation), whether running it twice does
no harm (tool annotations), and the schemas that mirror arguments into HTTP headers (2026-07-28,
basic/transports/streamable-http#custom-headers-from-tool-parameters). Every list that passes by teaches; ``when_complete``
reads all pages first. All is forgotten when the list has changed; after the end of a process it is read again, and holds until then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import msgspec
from msgspec import Raw, Struct

from dragoman import frame
from dragoman.bridging.session import PATIENCE, READY

if TYPE_CHECKING:
    from dragoman.bridging.session import Waiter

_TOOLS = 10_000
_PAGES = 1_000
_AGAIN = 3
_MIRROR = b"x-mcp-header"
_ESCAPED = b"\\u"
"""JSON may spell any word with these."""
_NULL = Raw(b"null")
_EMPTY = Raw(b"")


class _Hints(Struct, rename="camel"):
    read_only_hint: Any = None
    idempotent_hint: Any = None


class _Execution(Struct, rename="camel"):
    task_support: Any = None


class _Tool(Struct, rename="camel"):
    name: str
    annotations: _Hints | None = None
    execution: _Execution | None = None
    input_schema: Raw = _EMPTY


class _Listed(Struct):
    tools: list[Raw]


_decode_listed = msgspec.json.Decoder(_Listed).decode
_decode_tool = msgspec.json.Decoder(_Tool).decode


class Lister(Protocol):
    """A connection to the server: a ``Session``, or whatever can be asked like one."""

    @property
    def phase(self) -> str:
        """``READY`` while it can be asked."""

    def when_ready(self, step: Callable[[], None]) -> None:
        """Run ``step`` when it can be, or never will."""

    def declares(self, *path: str) -> bool:
        """Whether the server has a capability."""

    def request(
        self, method: str, params: bytes, waiter: Waiter, *, patience: float | None = None, late: Callable[[], None] | None = None
    ) -> int:
        """Ask; ``late`` is called when the answer takes longer than ``patience``, and it is still waited for."""


class Tools:
    """The facts of one server; ``generation`` grows whenever they are forgotten."""

    def __init__(self, warn: Callable[[str], None]) -> None:
        self._warn = warn
        self._tools: dict[str, _Tool] = {}
        self._mirrored: dict[str, bytes] = {}
        self._waiting: list[Callable[[], None]] = []
        self._listing = False
        self.complete = False
        self.generation = 0

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def learn(self, result: Raw) -> None:
        """A page of ``tools/list``, as the server wrote it. A tool that cannot be read teaches nothing, and costs the others nothing."""
        try:
            listed = _decode_listed(result)
        except msgspec.MsgspecError:
            return
        if len(self._tools) + len(listed.tools) > _TOOLS:
            self._tools.clear()
        text = bytes(result)
        mirrors = _MIRROR in text or _ESCAPED in text
        for raw in listed.tools[:_TOOLS]:
            try:
                tool = _decode_tool(raw)
            except msgspec.MsgspecError:
                continue
            self._mirrored.pop(tool.name, None)
            if mirrors and (_MIRROR in (schema := bytes(tool.input_schema)) or _ESCAPED in schema):
                self._mirrored[tool.name] = schema
            tool.input_schema = _EMPTY  # else the whole page is kept for it
            self._tools[tool.name] = tool

    def forget(self) -> None:
        """The list has changed."""
        self._tools.clear()
        self._mirrored.clear()
        self.complete = False
        self.generation += 1

    # -- facts -----------------------------------------------------------------------------------------------------

    def is_harmless(self, name: str | None) -> bool:
        """Whether the tool is listed as read-only or idempotent, so that running it twice does no harm."""
        tool = self._tools.get(name or "")
        hints = tool.annotations if tool is not None else None
        return hints is not None and (hints.read_only_hint is True or hints.idempotent_hint is True)

    def task_only(self, name: str) -> bool:
        """Whether the tool runs only as a task."""
        tool = self._tools.get(name)
        return tool is not None and tool.execution is not None and tool.execution.task_support == "required"

    def mirrored(self, name: str) -> bytes | None:
        """The input schema of a tool that may mirror arguments into headers; None for all others."""
        return self._mirrored.get(name)

    # -- lists of our own --------------------------------------------------------------------------------------------

    def when_complete(self, session: Lister, step: Callable[[], None]) -> None:
        """Run ``step`` once all pages are known, or cannot be: a server without tools, or one that does not answer, has no facts.

        ``step`` looks itself whether the session has failed meanwhile.
        """
        if self.complete:
            step()
            return
        self._waiting.append(step)
        if not self._listing:
            self._listing = True
            session.when_ready(lambda: self._begin(session))

    def _begin(self, session: Lister) -> None:
        if session.phase == READY and session.declares("tools"):
            self._list(session, _AGAIN)
        else:
            self._over(complete=session.phase == READY)

    def _list(self, session: Lister, again: int) -> None:
        generation = self.generation

        def listed() -> None:
            if again and self.generation != generation and session.phase == READY:  # the list has changed between two pages
                self._list(session, again - 1)
            else:
                self._over(complete=True)

        def late() -> None:
            self._warn(f"the server has not answered tools/list in {PATIENCE:g} s: until it does, no Mcp-Param header is compared")
            self._over(complete=True)

        self.list_all(session, listed, late=late)

    def _over(self, *, complete: bool) -> None:
        self._listing = False
        self.complete = complete
        waiting, self._waiting = self._waiting, []
        for step in waiting:
            step()

    def list_all(self, session: Lister, step: Callable[[], None], late: Callable[[], None] | None = None) -> None:
        """Read all pages of ``tools/list``, then run ``step``, whatever came of it.

        With ``late`` a server that takes its time is not waited for: ``late`` is run, and what it lists is learnt when it comes.
        """
        self._page(session, b"{}", step, late, _PAGES)

    def _page(self, session: Lister, params: bytes, step: Callable[[], None], late: Callable[[], None] | None, left: int) -> None:
        def listed(answer: frame.Result | frame.Failure) -> None:
            members = frame.members(answer.result) if isinstance(answer, frame.Result) else None
            if isinstance(answer, frame.Result):
                self.learn(answer.result)
            cursor = (members or {}).get("nextCursor", _NULL)
            following = frame.encode({"cursor": cursor})
            if left and session.phase == READY and frame.text(cursor) is not None and params != following:
                self._page(session, following, step, late, left - 1)
            else:
                step()

        session.request("tools/list", params, listed, patience=PATIENCE, late=late)

    def session_lost(self) -> None:
        """Another process may list other tools. Nobody answers a list under way: those who wait for it go on."""
        self.complete = False
        if self._listing:
            self._over(complete=False)
