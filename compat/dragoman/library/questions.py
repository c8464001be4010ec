"""What a handler can ask the client in the middle of a call (client/elicitation, client/sampling, client/roots), and the answers.

A question is a value: ``await context.ask(Elicit("Which one?", Choice))``. What it takes from the client's side is a capability, which the
client declares with each request (2026-07-28, basic/index#meta) or with its handshake; ``Context.ask`` looks. ``key`` is its name in
``inputRequests``, one of its own in the handler; by default the kind and a number in the order of asking. An answer that comes with a
call's first request, unasked, counts under such a name alone.
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar, overload

from dragoman.library.forms import form_of

T = TypeVar("T")


class Elicited(Generic[T]):
    """What the user did (client/elicitation#response-actions): ``action`` is "accept", "decline" or "cancel"; ``value`` is None but for
    "accept".
    """

    __slots__ = ("action", "value")

    def __init__(self, action: str, value: T | None) -> None:
        self.action = action
        self.value = value

    @property
    def accepted(self) -> bool:
        """Whether the user said yes."""
        return self.action == "accept"

    def __repr__(self) -> str:
        return f"Elicited({self.action!r}, {self.value!r})"


class Question(Generic[T]):
    """What the kinds have in common: the method, its params, the capability that it needs and how its answer is read."""

    method = ""
    kind = ""
    name: str | None = None
    """Its key in ``inputRequests``, where the author has chosen one."""

    def params(self) -> dict[str, Any]:
        """The params of the request."""
        raise NotImplementedError

    def needs(self) -> dict[str, Any]:
        """The client capability without which it cannot be asked."""
        raise NotImplementedError

    def read(self, answer: dict[str, Any]) -> T:
        """The answer as the handler gets it. Raises ``ValueError`` for one that does not fit."""
        raise NotImplementedError


class Elicit(Question[Elicited[T]]):
    """A form for the user (client/elicitation#form-mode, 2025-06-18 and later). The answer is an ``Elicited``.

    ``message`` says what is asked and why. ``fields`` is a class with flat fields (a pydantic model, a dataclass, a ``TypedDict``) whose
    instance is the answer's value, or a JSON Schema of an object, with a dict as the value; None: the user only says yes or no. Raises
    ``TypeError`` for fields that a form cannot have. Not for secrets: those go by ``ElicitURL``.
    """

    method = "elicitation/create"
    kind = "elicitation"

    @overload
    def __init__(self: Elicit[dict[str, Any]], message: str, fields: dict[str, Any] | None = None, *, key: str | None = None) -> None: ...
    @overload
    def __init__(self, message: str, fields: type[T], *, key: str | None = None) -> None: ...
    def __init__(self, message: str, fields: type[T] | dict[str, Any] | None = None, *, key: str | None = None) -> None:
        self.message = message
        self.name = key
        self._schema, self._check = form_of({"type": "object", "properties": {}} if fields is None else fields)

    def params(self) -> dict[str, Any]:
        """See ``Question``."""
        return {"mode": "form", "message": self.message, "requestedSchema": self._schema}

    def needs(self) -> dict[str, Any]:
        """See ``Question``."""
        return {"elicitation": {"form": {}}}

    def read(self, answer: dict[str, Any]) -> Elicited[T]:
        """See ``Question``."""
        action = _action_of(answer)
        if action != "accept":
            return Elicited(action, None)
        made: T = self._check(answer.get("content", {}))
        return Elicited(action, made)


class ElicitURL(Question[Elicited[None]]):
    """A page for the user to visit (client/elicitation#url-mode, 2025-11-25 and later; SEP-1036), for what must not pass through the
    client.

    "accept" says that the user agreed to go there, not that anything was done there.
    """

    method = "elicitation/create"
    kind = "elicitation"

    def __init__(self, message: str, url: str, *, key: str | None = None) -> None:
        self.message = message
        self.name = key
        self.url = url

    def params(self) -> dict[str, Any]:
        """See ``Question``."""
        return {"mode": "url", "message": self.message, "url": self.url}

    def needs(self) -> dict[str, Any]:
        """See ``Question``."""
        return {"elicitation": {"url": {}}}

    def read(self, answer: dict[str, Any]) -> Elicited[None]:
        """See ``Question``."""
        action = _action_of(answer)
        return Elicited(action, None)


class Sample(Question[dict[str, Any]]):
    """A completion by the client's model (client/sampling; deprecated by SEP-2577, 2026-07-28).

    ``messages`` is a text of the user's, or a list of ``SamplingMessage``; ``max_tokens`` bounds the answer; ``more`` are further members
    of the request by their names on the wire (``systemPrompt="…"``, ``tools=[…]``). The answer is the ``CreateMessageResult``, a dict.
    """

    method = "sampling/createMessage"
    kind = "sampling"

    def __init__(self, messages: str | list[dict[str, Any]], max_tokens: int, *, key: str | None = None, **more: Any) -> None:
        self.name = key
        if isinstance(messages, str):
            messages = [{"role": "user", "content": {"type": "text", "text": messages}}]
        self._params = {"messages": messages, "maxTokens": max_tokens, **more}

    def params(self) -> dict[str, Any]:
        """See ``Question``."""
        return self._params

    def needs(self) -> dict[str, Any]:
        """See ``Question``."""
        return {"sampling": {"tools": {}} if "tools" in self._params else {}}

    def read(self, answer: dict[str, Any]) -> dict[str, Any]:
        """See ``Question``."""
        if "content" not in answer or "role" not in answer:
            raise ValueError("a result of sampling has a role and content")
        return answer


class Roots(Question[list[dict[str, Any]]]):
    """The client's roots (client/roots; deprecated by SEP-2577, 2026-07-28): a list of dicts with ``uri`` and perhaps ``name``."""

    method = "roots/list"
    kind = "roots"

    def __init__(self, *, key: str | None = None) -> None:
        self.name = key

    def params(self) -> dict[str, Any]:
        """See ``Question``."""
        return {}

    def needs(self) -> dict[str, Any]:
        """See ``Question``."""
        return {"roots": {}}

    def read(self, answer: dict[str, Any]) -> list[dict[str, Any]]:
        """See ``Question``."""
        roots = answer.get("roots")
        if not isinstance(roots, list) or not all(isinstance(root, dict) and isinstance(root.get("uri"), str) for root in roots):
            raise ValueError("roots is a list of objects with a uri")
        return roots


def _action_of(answer: dict[str, Any]) -> str:
    action = answer.get("action")
    if action not in ("accept", "decline", "cancel"):
        raise ValueError(f"action is accept, decline or cancel, not {action!r}")
    return str(action)
