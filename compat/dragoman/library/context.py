"""What a handler knows of its request, and what it can say while it works."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from copy import deepcopy
from typing import TYPE_CHECKING, Any, TypeVar, overload

from dragoman.library.questions import Question
from dragoman_specs.names import LOG_LEVELS

if TYPE_CHECKING:
    from dragoman.library.request import Handling

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")


class Context:
    """A handler's view of one request; it is valid until the handler returns. A handler gets it by a parameter annotated with this class.

    * ``client``: ``clientInfo`` of the request, a dict; {} if it names none (2026-07-28, basic/index#meta).
    * ``capabilities``: what the client can do, a dict in the form of 2026-07-28 whatever revision the client speaks.
    * ``meta``: all of the request's ``_meta``, a dict.
    * ``principal``: who sent it, a text, as far as the server can tell (see ``asgi``); None over stdio and for who showed nothing.
    * ``scope``: the ASGI scope of the HTTP request, a dict with headers and what middlewares have added; None over stdio.
    * ``state``: what the server's ``lifespan`` has made; None without one.
    """

    __slots__ = ("_capabilities", "_handling", "client", "meta", "principal", "scope", "state")

    def __init__(self, handling: Handling) -> None:
        self._handling = handling
        self.client: dict[str, Any] = handling.client
        self._capabilities: dict[str, Any] | None = None
        self.meta: dict[str, Any] = handling.meta
        self.principal: str | None = handling.origin.principal
        self.scope: dict[str, Any] | None = handling.origin.scope
        self.state: Any = handling.state

    @property
    def capabilities(self) -> dict[str, Any]:
        """See the class. A dict of the context's own."""
        if self._capabilities is None:
            self._capabilities = deepcopy(self._handling.capabilities)
        return self._capabilities

    @overload
    async def ask(self, question: Question[A], /) -> A: ...
    @overload
    async def ask(self, one: Question[A], two: Question[B], /) -> tuple[A, B]: ...
    @overload
    async def ask(self, one: Question[A], two: Question[B], three: Question[C], /) -> tuple[A, B, C]: ...
    @overload
    async def ask(
        self, one: Question[Any], two: Question[Any], three: Question[Any], four: Question[Any], /, *more: Question[Any]
    ) -> tuple[Any, ...]: ...
    @overload
    async def ask(self, *questions: Question[Any]) -> Any: ...
    async def ask(self, *questions: Question[Any]) -> Any:
        """Ask the client, and have the answer; several questions go out together, and their answers come as a tuple.

        The handler is run again from its start when the answers come, perhaps in another process: do nothing before this line that must not
        be done twice, or do it with ``once``; and ask the same questions in the same order as long as their answers are the same. A client
        that did not declare what a question needs gets an error that names it. Source: 2026-07-28, basic/patterns/mrtr (SEP-2322).
        """
        if not questions:
            raise TypeError("ask needs a question")
        answers = self._handling.ask(questions)
        return answers[0] if len(questions) == 1 else tuple(answers)

    @overload
    async def once(self, name: str, action: Callable[[], Awaitable[A]]) -> A: ...
    @overload
    async def once(self, name: str, action: Callable[[], A]) -> A: ...
    async def once(self, name: str, action: Callable[[], Any]) -> Any:
        """Do something before a question that must not be done twice for one call: runs after the question get the first run's outcome.

        ``name`` tells it from others of the handler; the outcome has to be JSON, and every run gets it as JSON gives it back.
        """
        rounds = self._handling.rounds
        found, value = rounds.outcome(name)
        if not found:
            made = action()
            value = rounds.done(name, await made if inspect.isawaitable(made) else made)
        return value

    def progress(self, value: float, total: float | None = None, message: str | None = None) -> None:
        """Tell how far the work is, if the client asked to hear of it; ``value`` has to grow with every call, and is not told if it does
        not.

        ``total`` is in the same unit. Source: 2026-07-28, basic/patterns/progress.
        """
        self._handling.progress(value, total, message)

    def log(self, level: str, data: Any, logger: str | None = None) -> None:
        """Tell the client something, if it asked for messages of this level (2026-07-28, server/utilities/logging; deprecated by SEP-2577).

        ``level`` is one of debug, info, notice, warning, error, critical, alert, emergency (else ``ValueError``); ``data`` is any JSON.
        """
        if level not in LOG_LEVELS:
            raise ValueError(f"level is one of {', '.join(LOG_LEVELS)}, not {level!r}")
        self._handling.log(level, data, logger)
