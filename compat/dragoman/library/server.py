"""A server as its author writes it: what it offers, and the functions behind it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar

from dragoman.library.context import Context
from dragoman.library.hub import LISTS, Hub
from dragoman.library.schemas import checker, is_plain, schema_of, writer
from dragoman.library.signatures import NAMELESS, NOTHING, Signature, is_async, name_of

F = TypeVar("F", bound=Callable[..., Any])
_VARIABLE = re.compile(r"\{(\+?[A-Za-z_][A-Za-z0-9_]*)\}")
_TOOL_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|\{")
_COMPLETING = 4  # arguments of a function for completions
SCOPES = ("private", "public")


class Entry:
    """One thing that a server offers: what clients are told of it (``shown``), and the function behind it.

    ``dump`` makes JSON of what a tool returns, ``pattern`` reads the URIs of a template, ``hints`` are cache hints of its own.
    """

    __slots__ = ("dump", "function", "hints", "is_async", "pattern", "shown", "signature")

    def __init__(self, shown: dict[str, Any], function: Callable[..., Any], signature: Signature) -> None:
        self.shown = shown
        self.function = function
        self.is_async = is_async(function)
        self.signature = signature
        self.dump: Callable[[Any], Any] | None = None
        self.pattern: re.Pattern[str] | None = None
        self.hints: dict[str, Any] = {}


class Server:
    """A server for clients of every revision, written as one of 2026-07-28: without sessions, and without a look at versions.

    * ``name``, ``version``, ``title``: what clients are told of it; ``instructions``: what their models are.
    * ``ttl`` (seconds) and ``scope`` ("private" or "public"): the cache hints of its lists (server/utilities/caching, SEP-2549).
    * ``page_size``: entries on a page of a list; None: all (server/utilities/pagination).
    * ``lifespan``: a function of the server that makes an async context manager, entered before the first request and left at the end;
      what it yields is every ``Context.state``.
    * ``max_result`` bounds a result, in bytes; ``threads`` how many handlers that are not async run at once.

    A handler is a function, async or not (then it runs in a thread of its own). Its parameters are the arguments; one annotated with
    ``Context`` gets that. What it may return and raise is said at each decorator. Any other exception is told to the operator (the logger
    "dragoman"), and the client learns no more than that and where it happened. A request that is cancelled cancels its handler
    (``asyncio.CancelledError``).
    """

    def __init__(
        self,
        name: str,
        version: str = "0",
        *,
        title: str | None = None,
        instructions: str | None = None,
        ttl: float = 0.0,
        scope: str = "private",
        page_size: int | None = None,
        lifespan: Callable[[Server], AbstractAsyncContextManager[Any]] | None = None,
        max_result: int = 64 << 20,
        threads: int = 40,
    ) -> None:
        for setting, value in (("page_size", 1 if page_size is None else page_size), ("max_result", max_result), ("threads", threads)):
            if type(value) is not int or value < 1:
                raise ValueError(f"{setting} is at least 1, not {value!r}")
        self.info: dict[str, Any] = {"name": name, "version": version, **({"title": title} if title else {})}
        self.instructions = instructions
        self.hints = _hints(ttl, scope)
        self.page_size = page_size
        self.lifespan = lifespan
        self.max_result = max_result
        self.threads = threads
        self.tools: dict[str, Entry] = {}  # by their names; resources and templates by their URIs
        self.prompts: dict[str, Entry] = {}
        self.resources: dict[str, Entry] = {}
        self.templates: dict[str, Entry] = {}
        self.completions: Entry | None = None
        self.offered: set[str] = set()
        self.hub = Hub()

    def tool(
        self,
        name: str | None = None,
        *,
        title: str | None = None,
        description: str | None = None,
        schema: Mapping[str, Any] | None = None,
        output_schema: Mapping[str, Any] | None = None,
        annotations: Mapping[str, Any] | None = None,
        more: Mapping[str, Any] | None = None,
    ) -> Callable[[F], F]:
        """Offer a function as a tool (2026-07-28, server/tools).

        ``name`` and ``description`` are the function's name and docstring unless they are given. ``schema``, a JSON Schema of an object,
        describes the arguments instead of the annotations; ``output_schema`` the result instead of the return type. ``annotations`` and
        ``more`` are members of the tool by their names on the wire (``more={"icons": […]}``). Arguments that do not fit never reach the
        function: the model is told what is wrong with them.

        The function returns a text, content blocks (see ``dragoman.content``), a value of its declared return type, or a whole result; it
        raises ``ToolError`` for the model to see, or ``ProtocolError``. Raises ``ValueError`` for a second tool of the name, ``TypeError``
        for a function that cannot be one.
        """
        _no_function(name, "tool")

        def register(function: F) -> F:
            called = _named(function, name)
            whose = f"the tool {called}"
            if _TOOL_NAME.fullmatch(called) is None:
                raise ValueError(
                    f"the name of a tool has 1 to 128 letters, digits, _, - and . (server/tools#tool-names), unlike {called!r}"
                )
            signature = Signature(function, _as_schema(schema, whose), Context)
            if schema is not None:
                signature.fit(whose)
            entry = Entry(_shown({"name": called}, title, description or inspect.getdoc(function)), function, signature)
            entry.shown["inputSchema"] = signature.schema
            told = _as_schema(output_schema, f"the output of {whose}")
            if told is not None:
                entry.shown["outputSchema"] = told
                entry.dump = checker(told, f"the output schema of {whose}")
            elif signature.returns is not NOTHING and not is_plain(signature.returns):
                entry.shown["outputSchema"] = schema_of(signature.returns, f"the return value of {whose}", written=True)
                entry.dump = writer(signature.returns, f"the return value of {whose}")
            if annotations:
                entry.shown["annotations"] = dict(annotations)
            entry.shown.update(more or {})
            self._add("tools", self.tools, called, entry)
            return function

        return register

    def resource(
        self,
        uri: str,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        mime_type: str | None = None,
        ttl: float | None = None,
        scope: str = "private",
        more: Mapping[str, Any] | None = None,
    ) -> Callable[[F], F]:
        """Offer a function as a resource, or as a template where ``uri`` has ``{variables}`` (2026-07-28, server/resources; RFC 6570,
        levels 1 and 2).

        The variables are the function's arguments: ``{name}`` is a text without a slash, ``{+name}`` any. ``ttl`` (seconds) and ``scope``
        are cache hints of its own. The function returns a text, bytes, a list of contents, or a whole result; it raises
        ``ResourceNotFound`` where there is no such resource. Raises ``ValueError`` for a second resource of the URI, ``TypeError`` for a
        function of other arguments than the variables.
        """
        _no_function(uri, "resource")
        variables = _variables(uri)
        hints = {} if ttl is None else _hints(ttl, scope)
        if scope not in SCOPES:
            raise ValueError(f"scope is one of {', '.join(SCOPES)}, not {scope!r}")

        def register(function: F) -> F:
            signature = Signature(function, None, Context)
            if sorted(signature.schema.get("properties", {})) != sorted(variables):
                raise TypeError(f"{name_of(function)} takes other arguments than {uri} has variables")
            told = {"uriTemplate" if variables else "uri": uri, "name": name or _named(function, None)}
            entry = Entry(_shown(told, title, description or inspect.getdoc(function)), function, signature)
            if mime_type:
                entry.shown["mimeType"] = mime_type
            entry.hints = hints
            if variables:
                entry.pattern = re.compile("".join(_matching(part) if odd else re.escape(part) for odd, part in _parts(uri)))
            entry.shown.update(more or {})
            self._add("resources", self.templates if variables else self.resources, uri, entry)
            return function

        return register

    def prompt(
        self, name: str | None = None, *, title: str | None = None, description: str | None = None, more: Mapping[str, Any] | None = None
    ) -> Callable[[F], F]:
        """Offer a function as a prompt (2026-07-28, server/prompts). Its arguments are texts, or what pydantic reads from texts.

        It returns a text of the user's, messages (see ``dragoman.content.message``), or a whole result.
        """
        _no_function(name, "prompt")

        def register(function: F) -> F:
            called = _named(function, name)
            signature = Signature(function, None, Context)
            required = signature.schema.get("required", [])
            entry = Entry(_shown({"name": called}, title, description or inspect.getdoc(function)), function, signature)
            entry.shown["arguments"] = [
                {"name": each, "required": each in required, **({"description": shape["description"]} if "description" in shape else {})}
                for each, shape in signature.schema.get("properties", {}).items()
            ]
            entry.shown.update(more or {})
            self._add("prompts", self.prompts, called, entry)
            return function

        return register

    def completion(self, function: F) -> F:
        """Complete arguments of prompts and templates: ``function(ref, argument, value, chosen)`` returns texts, the best first.

        ``ref`` is the name of a prompt or the URI of a template, ``argument`` the name of what is completed, ``value`` what the user has
        written of it, and ``chosen`` a dict of the arguments that have values already, empty for clients before 2025-06-18 (2026-07-28,
        server/utilities/completion).
        """
        if self.completions is not None:
            raise ValueError("there is a function for completions already")
        signature = Signature(function, {"type": "object"}, Context)
        if len(signature.named) != _COMPLETING or any(each.kind in NAMELESS for each in signature.named):
            raise TypeError(f"{name_of(function)} completes arguments: it takes ref, argument, value and chosen, and perhaps a Context")
        self.completions = Entry({}, function, signature)
        return function

    def remove(self, what: str, name: str) -> None:
        """Offer something no more; ``what`` is "tools", "prompts" or "resources". Raises ``KeyError`` if there is none of the name,
        ``ValueError`` for another ``what``.
        """
        if what not in LISTS:
            raise ValueError(f"what is offered no more is one of {', '.join(LISTS)}, not {what!r}")
        kept = {"tools": self.tools, "prompts": self.prompts}.get(what)
        if kept is None:
            kept = self.templates if name in self.templates else self.resources
        del kept[name]
        self.changed(what)

    def changed(self, what: str) -> None:
        """Tell clients that a list has changed ("tools", "prompts", "resources"), or the resource of a URI.

        It reaches the listen streams of modern clients and the sessions of legacy ones that are served by this process. May be called from
        any thread (2026-07-28, basic/patterns/subscriptions; SEP-2575).
        """
        if what not in LISTS and ":" not in what:
            raise ValueError(f"what has changed is one of {', '.join(LISTS)}, or a URI, not {what!r}")
        self.hub.changed(what)

    def _add(self, what: str, kept: dict[str, Entry], name: str, entry: Entry) -> None:
        if name in kept:
            raise ValueError(f"there are two {what} of the name {name}")
        kept[name] = entry
        self.offered.add(what)
        self.changed(what)


def known(server: object, whose: str) -> None:
    """Whether it is a ``Server``. Raises ``TypeError``."""
    if not isinstance(server, Server):
        raise TypeError(f"{whose} takes a Server of dragoman, not {server!r:.100}")


def _named(function: Callable[..., Any], name: str | None) -> str:
    called = name or getattr(function, "__name__", "")
    if not callable(function):
        raise TypeError(f"{function!r} is no function")
    if not called or called == "<lambda>":
        raise TypeError(f"{function!r} has no name: give it one")
    return str(called)


def _no_function(given: Any, decorator: str) -> None:
    if callable(given):
        arguments = "uri" if decorator == "resource" else ""
        raise TypeError(f"{name_of(given)}: the decorator is called first: @server.{decorator}({arguments})")
    if given is not None and not isinstance(given, str):
        raise TypeError(f"the first argument of @server.{decorator} is a string, not {given!r}")


def _as_schema(given: Mapping[str, Any] | None, whose: str) -> dict[str, Any] | None:
    if given is not None and not isinstance(given, Mapping):
        raise TypeError(f"the schema of {whose} is an object, not {given!r}")
    return None if given is None else dict(given)


def _variables(uri: str) -> list[str]:
    """The variables of a template. Raises ``ValueError`` for what is neither a URI nor such a template."""
    variables = [each.lstrip("+") for each in _VARIABLE.findall(uri)]
    rest = _VARIABLE.sub("", uri)
    if "{" in rest or "}" in rest:
        raise ValueError(f"{uri}: of the expressions of RFC 6570 there are {{name}} and {{+name}}")
    if len(set(variables)) < len(variables):
        raise ValueError(f"{uri} has one variable twice")
    if _URI.match(uri) is None:
        raise ValueError(f"{uri!r} is no URI: it begins with a scheme, like note:")
    return variables


def _hints(ttl: float, scope: str) -> dict[str, Any]:
    if scope not in SCOPES:
        raise ValueError(f"scope is one of {', '.join(SCOPES)}, not {scope!r}")
    if not 0 <= ttl < float("inf"):
        raise ValueError(f"ttl is a number of seconds, 0 or more, not {ttl}")
    return {"ttlMs": round(ttl * 1000), "cacheScope": scope}


def _shown(members: dict[str, Any], title: str | None, description: str | None) -> dict[str, Any]:
    return {**members, **({"title": title} if title else {}), **({"description": description} if description else {})}


def _parts(template: str) -> Iterable[tuple[bool, str]]:
    """Literal parts and variables in turn."""
    return ((bool(number % 2), part) for number, part in enumerate(_VARIABLE.split(template)))


def _matching(variable: str) -> str:
    return f"(?P<{variable[1:]}>.+)" if variable.startswith("+") else f"(?P<{variable}>[^/?#]+)"
