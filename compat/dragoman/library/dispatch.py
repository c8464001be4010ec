"""Requests of 2026-07-28 into the functions of a server, their outcome out as lines (server/*, basic/index).

Theory of operation. Each request is a task of the event loop; several of one client run at the same time. What a handler returns is made a
result, what it raises an error: of its own (``ToolError``, ``ProtocolError``), a question (``rounds``), or a fault, which the client is
told of in one line while the traceback goes to the operator alone (the logger "dragoman"). Whoever cancels a request cancels its task.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Protocol
from urllib.parse import unquote

import msgspec

from dragoman import frame
from dragoman.bridging.envelope import EnvelopeReader
from dragoman.bridging.sealing import Sealer
from dragoman.errors import Refusal
from dragoman.library import content
from dragoman.library.content import WrongType
from dragoman.library.context import Context
from dragoman.library.errors import ProtocolError, ResourceNotFound, ToolError
from dragoman.library.hub import Listener
from dragoman.library.request import Handling, Origin, Send, one_line
from dragoman.library.rounds import Asked
from dragoman.library.server import Entry, Server
from dragoman.library.signatures import BadArguments
from dragoman.library.threads import Threads
from dragoman_specs.methods import ASKS, CACHEABLE
from dragoman_specs.names import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    META_SERVER_INFO,
    METHOD_NOT_FOUND,
    MISSING_CLIENT_CAPABILITY,
    RESOURCE_NOT_FOUND,
    URL_ELICITATION_REQUIRED,
)
from dragoman_specs.version import LATEST_MODERN


class Flight(Protocol):
    """A request at work; ``over``: nobody waits for its answer."""

    over: bool


class Dispatcher:
    """The running half of a server. ``wall`` reads epoch seconds."""

    def __init__(self, server: Server, sealer: Sealer, wall: Callable[[], float]) -> None:
        self.state: Any = None
        self._server = server
        self._sealer = sealer
        self._wall = wall
        self._envelopes = EnvelopeReader()
        self._threads: Threads | None = None
        self._methods: dict[str, Callable[[Handling], Awaitable[dict[str, Any]]]] = {
            "server/discover": self._discover,
            "tools/list": lambda handling: self._list(handling, "tools", server.tools),
            "tools/call": self._call,
            "prompts/list": lambda handling: self._list(handling, "prompts", server.prompts),
            "prompts/get": self._prompt,
            "resources/list": lambda handling: self._list(handling, "resources", server.resources),
            "resources/templates/list": lambda handling: self._list(handling, "resourceTemplates", server.templates),
            "resources/read": self._read,
            "completion/complete": self._complete,
        }

    async def serve(self, request: frame.Request, send: Send, origin: Origin, flight: Flight) -> None:
        """Answer one request by ``send``, which also takes what is told before; ``flight`` tells whether anybody waits for it still.

        (``Task.cancelling`` does not tell: task groups of Python 3.11 count theirs up and not down.)
        """
        try:
            line = await self._served(request, send, origin)
        except ProtocolError as error:
            line = _failure(request.id, error)
        except asyncio.CancelledError:
            if flight.over:
                raise
            line = self._out_of_order(request, "it was cancelled from within")
        except WrongType as fault:
            _report(f"{request.method} failed", fault)
            line = self._out_of_order(request, f"the handler {fault}")
        except BaseException as fault:
            if isinstance(fault, GeneratorExit) and not _in_loop():
                raise
            _report(f"{request.method} failed", fault)
            line = self._out_of_order(request, type(fault).__name__)
            if isinstance(fault, KeyboardInterrupt):
                send(line)
                raise
        if not flight.over:  # a request that was taken back is not answered (basic/patterns/cancellation)
            send(line)

    def close(self) -> None:
        """No handler is started any more; those in threads may run on."""
        if self._threads is not None:
            self._threads.close()
            self._threads = None

    def _out_of_order(self, request: frame.Request, why: str) -> bytes:
        return frame.failure(request.id, frame.error(INTERNAL_ERROR, f"The server failed on {request.method}: {why}"))[:-1]

    async def _served(self, request: frame.Request, send: Send, origin: Origin) -> bytes:
        envelope = self._envelopes.read(request.params)
        if isinstance(envelope, Refusal):
            return frame.failure(request.id, envelope.encode())[:-1]
        handling = Handling(request, envelope, send, self._sealer, self._wall(), origin, self.state)
        if request.method == "subscriptions/listen":
            await self._listen(handling, send)
        method = self._methods.get(request.method)
        needed = request.method.partition("/")[0]
        # What has been offered once has been announced to clients that live on.
        if method is None or (needed in _CAPABILITIES and needed not in self._server.offered):
            raise ProtocolError(METHOD_NOT_FOUND, f"Method not found: {request.method[:200]}")
        try:
            result = await method(handling)
        except Asked:
            if request.method not in ASKS:
                raise RuntimeError(f"nothing can be asked in {request.method} (basic/patterns/mrtr#supported-requests)") from None
            return self._result(handling, _input_required(handling))
        if request.method in CACHEABLE:
            hints = _PRIVATE if request.method == "resources/read" else self._server.hints
            result = {**hints, **result}
        try:
            return self._result(handling, {"resultType": "complete", **result})
        except WrongType as fault:
            if request.method != "tools/call":
                raise
            return self._result(handling, self._broken(handling.text("name"), fault))

    def _broken(self, name: str, fault: BaseException) -> dict[str, Any]:
        """What a model is told of a tool that failed by a fault of its own."""
        _report(f"the tool {name} failed", fault)
        what = str(fault) if isinstance(fault, WrongType) else f"failed with {type(fault).__name__}"
        return {"resultType": "complete", **_refused(f"The tool {name} is out of order: it {what}")}

    def _result(self, handling: Handling, result: dict[str, Any]) -> bytes:
        meta = result.get("_meta")
        result["_meta"] = {**(meta if isinstance(meta, dict) else {}), META_SERVER_INFO: self._server.info}
        try:
            body = one_line(msgspec.json.encode(result))
        except (TypeError, ValueError, OverflowError, RecursionError) as fault:  # in what a handler returned as a whole result or block
            raise WrongType(f"returned what has no form in JSON: {fault}") from None
        if len(body) > self._server.max_result:
            told = f"The result has {len(body)} bytes, more than the server allows ({self._server.max_result})"
            raise ProtocolError(INTERNAL_ERROR, told)
        return frame.own_result(handling.id, body)

    # -- what is offered ---------------------------------------------------------------------------------------------

    async def _discover(self, _: Handling) -> dict[str, Any]:
        server = self._server
        capabilities: dict[str, Any] = {"logging": {}, **{each: dict(_CAPABILITIES[each]) for each in sorted(server.offered)}}
        if server.completions is not None:
            capabilities["completions"] = {}
        told: dict[str, Any] = {"supportedVersions": [str(LATEST_MODERN)], "capabilities": capabilities}
        return told if server.instructions is None else {**told, "instructions": server.instructions}

    async def _list(self, handling: Handling, member: str, entries: dict[str, Entry]) -> dict[str, Any]:
        cursor, size = handling.param("cursor"), self._server.page_size
        shown = [entry.shown for entry in list(entries.values())]  # handlers in threads may change it
        if cursor is None and size is None:
            return {member: shown}
        start = 0
        if cursor is not None:
            is_ours = size is not None and isinstance(cursor, str) and cursor.isascii() and cursor.isdigit() and len(cursor) < _DIGITS
            start = int(cursor) if is_ours else len(shown)
            if start >= len(shown):
                raise ProtocolError(INVALID_PARAMS, "Invalid params: this cursor is none of this server's, or of a list that has changed")
        size = size or len(shown)
        more = {"nextCursor": str(start + size)} if start + size < len(shown) else {}
        return {member: shown[start : start + size], **more}

    # -- handlers ----------------------------------------------------------------------------------------------------

    async def _call(self, handling: Handling) -> dict[str, Any]:
        name = handling.text("name")
        entry = self._server.tools.get(name)
        if entry is None:
            raise ProtocolError(INVALID_PARAMS, f"Unknown tool: {name[:200]}")
        try:
            arguments = entry.signature.read(handling.object("arguments"))
        except BadArguments as refusal:
            return _refused(f"The arguments do not fit the schema of {name}:\n{refusal}")
        try:
            value = await self._run(entry, handling, arguments)
            return content.tool_result(value, entry.dump)
        except ToolError as refusal:
            return _refused(str(refusal))
        except (ProtocolError, Asked):
            raise
        except (Exception, SystemExit) as fault:  # noqa: BLE001 - see serve
            return self._broken(name, fault)

    async def _prompt(self, handling: Handling) -> dict[str, Any]:
        name = handling.text("name")
        entry = self._server.prompts.get(name)
        if entry is None:
            raise ProtocolError(INVALID_PARAMS, f"Unknown prompt: {name[:200]}")
        value = await self._run(entry, handling, _read_params(entry, handling.object("arguments")))
        return content.prompt_result(entry.shown.get("description"), value)

    async def _read(self, handling: Handling) -> dict[str, Any]:
        uri = handling.text("uri")
        entry, found = self._server.resources.get(uri), {}
        if entry is None:
            for each in list(self._server.templates.values()):
                match = each.pattern.fullmatch(uri) if each.pattern is not None else None
                if match is not None:
                    entry, found = each, {name: unquote(value) for name, value in match.groupdict().items()}
                    break
        if entry is None:
            raise ResourceNotFound(uri)
        try:
            arguments = entry.signature.read(found)
        except BadArguments:  # the template has no such values
            raise ResourceNotFound(uri) from None
        try:
            value = await self._run(entry, handling, arguments)
        except ResourceNotFound as fault:  # it may name a part of what was asked for, or another spelling
            raise ProtocolError(fault.code, fault.message, {"uri": uri}) from None
        return {**entry.hints, **content.resource_result(uri, entry.shown.get("mimeType"), value)}

    async def _complete(self, handling: Handling) -> dict[str, Any]:
        entry, ref, argument = self._server.completions, handling.object("ref"), handling.object("argument")
        if entry is None:
            raise ProtocolError(METHOD_NOT_FOUND, "Method not found: completion/complete")
        target, name, value = ref.get("name", ref.get("uri")), argument.get("name"), argument.get("value")
        if not (isinstance(target, str) and isinstance(name, str) and isinstance(value, str)):
            raise ProtocolError(INVALID_PARAMS, "Invalid params: ref has a name or a uri, argument a name and a value, each a string")
        context = handling.object("context").get("arguments", {})
        if not isinstance(context, dict):
            raise ProtocolError(INVALID_PARAMS, "Invalid params: context.arguments must be an object")
        names = (each.name for each in entry.signature.named)
        arguments = dict(zip(names, (target, name, value, context), strict=True))
        return content.completion_result(await self._run(entry, handling, arguments))

    async def _run(self, entry: Entry, handling: Handling, named: dict[str, Any]) -> Any:
        """The function behind an entry; one that is not async runs in a thread, so that it holds up nobody."""
        if entry.signature.context is not None:
            named = {**named, entry.signature.context: Context(handling)}
        try:
            value = await (entry.function(**named) if entry.is_async else self._in_thread(entry.function, named))
        except BaseExceptionGroup as group:
            raise _one_of(group) from group
        if handling.pending:
            raise RuntimeError("a handler caught the exception that ends its run when it asks (use except Exception)")
        return value

    def _in_thread(self, function: Callable[..., Any], named: dict[str, Any]) -> asyncio.Future[Any]:
        if self._threads is None:
            self._threads = Threads(self._server.threads)
        return self._threads.run(partial(contextvars.copy_context().run, function, **named))

    # -- streams -----------------------------------------------------------------------------------------------------

    async def _listen(self, handling: Handling, send: Send) -> None:
        listener = Listener(handling.id, handling.param("notifications"), send, self._server.offered)
        self._server.hub.add(listener)
        try:
            await asyncio.get_running_loop().create_future()  # until it is cancelled
        finally:
            self._server.hub.remove(listener)


_DIGITS = 10
_RESERVED = range(-32099, -32019)  # for the specification's own errors, of which a handler knows one
_PRIVATE = {"ttlMs": 0, "cacheScope": "private"}  # of what is read, unless the resource has hints of its own
_CAPABILITIES: dict[str, dict[str, Any]] = {
    "tools": {"listChanged": True},
    "prompts": {"listChanged": True},
    "resources": {"listChanged": True, "subscribe": True},
}


def _one_of(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """What a group of exceptions (of a task group) means: faults before errors of the handler's own, those before questions."""
    leaves: list[BaseException] = []
    waiting: list[BaseException] = [group]
    while waiting:
        each = waiting.pop(0)
        if isinstance(each, BaseExceptionGroup):
            waiting += each.exceptions
        else:
            leaves.append(each)
    rest = [each for each in leaves if not isinstance(each, Asked)]
    faults = [each for each in rest if not isinstance(each, ToolError | ProtocolError)]
    return (faults or rest or leaves)[0]


def _read_params(entry: Entry, arguments: dict[str, Any]) -> dict[str, Any]:
    try:
        return entry.signature.read(arguments)
    except BadArguments as refusal:
        raise ProtocolError(INVALID_PARAMS, f"Invalid params: {refusal}") from None


def _input_required(handling: Handling) -> dict[str, Any]:
    questions = {key: {"method": each.method, "params": each.params()} for key, each in handling.pending.items()}
    return {"resultType": "input_required", "inputRequests": questions, "requestState": handling.rounds.state()}


def _refused(text: str) -> dict[str, Any]:
    return {"content": [content.text(_speakable(text))], "isError": True}


def _speakable(text: str) -> str:
    """Without what UTF-8 has no bytes for, such as halves of surrogate pairs in the names of files."""
    return text.encode("utf-8", "backslashreplace").decode()


def _code(error: ProtocolError) -> int:
    """Its code, or the nearest that 2026-07-28 lets a handler's error have (basic/index#error-codes)."""
    if error.code == RESOURCE_NOT_FOUND:
        return INVALID_PARAMS
    is_lacking = isinstance(error.data, dict) and isinstance(error.data.get("requiredCapabilities"), dict)
    if error.code == MISSING_CLIENT_CAPABILITY and is_lacking:
        return error.code
    return INTERNAL_ERROR if error.code in _RESERVED or error.code == URL_ELICITATION_REQUIRED else error.code


def _failure(request_id: bytes, error: ProtocolError) -> bytes:
    message = _speakable(str(error.message))
    try:
        return frame.failure(request_id, frame.error(_code(error), message, error.data))[:-1]
    except (TypeError, ValueError, OverflowError, RecursionError) as fault:
        _report("a ProtocolError has data without a form in JSON", fault)
        return frame.failure(request_id, frame.error(_code(error), message))[:-1]


def _in_loop() -> bool:
    """Whether there is a loop still: what is left of a task when its loop is gone is not the handler's doing."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _report(what: str, fault: BaseException) -> None:
    import logging

    logging.getLogger("dragoman").error(what, exc_info=fault)
