"""A client in the server's own process, for tests: it speaks any revision, and every frame goes the way that it goes over stdio."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Self

import msgspec

from dragoman import frame
from dragoman.bridging.broken import ids_in
from dragoman.bridging.effects import WARNING, Log, Loss
from dragoman.bridging.face import DualFace
from dragoman.bridging.ids import number_of
from dragoman.bridging.options import Options
from dragoman.library.errors import ProtocolError
from dragoman.library.hosted import Hosting
from dragoman.library.memory import Memory
from dragoman.library.runtime import Runtime
from dragoman.library.server import Server
from dragoman.library.server import known as check
from dragoman.serve.loop_link import LoopLink
from dragoman_specs.names import (
    INTERNAL_ERROR,
    META_CLIENT_CAPABILITIES,
    META_CLIENT_INFO,
    META_LOG_LEVEL,
    META_PROTOCOL_VERSION,
    META_SUBSCRIPTION_ID,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    PROGRESS_TOKEN,
)
from dragoman_specs.version import LATEST_MODERN, MODERN, Version, parse

Json = dict[str, Any]
Answer = Callable[[str, Json], Json | Awaitable[Json]]
Told = Callable[[Json], object]
_LISTS = {"tools": "toolsListChanged", "prompts": "promptsListChanged", "resources": "resourcesListChanged"}
_ROUNDS = 64
_LEFT = "the client is not in its context: async with Client(server) as client"


class Client:
    """A client of ``server`` that speaks ``version``, an async context manager: ``async with Client(server) as client: …``.

    * ``answer(method, params)`` answers what the server asks ("elicitation/create", "sampling/createMessage", "roots/list") with a result,
      a dict; it may be async, and raise ``ProtocolError``. Without it the client declares no such capability.
    * ``capabilities``: a dict, instead of what follows from ``answer``; ``info``: its ``clientInfo``, a dict.
    * ``log_level``: the server's log messages from this level on are wanted.
    * ``principal``: who it is, for ``Context.principal``.

    Methods return results as dicts and raise ``ProtocolError`` for an error. Notifications of the server's wait in ``notifications``, a
    queue of (method, params). Raises ``ValueError`` for a version that is none. Source: 2026-07-28, basic/index#meta; 2025-11-25,
    basic/lifecycle.
    """

    def __init__(
        self,
        server: Server,
        *,
        version: str = str(LATEST_MODERN),
        answer: Answer | None = None,
        capabilities: Mapping[str, Any] | None = None,
        info: Mapping[str, Any] | None = None,
        log_level: str | None = None,
        principal: str | None = None,
        state_key: bytes | None = None,
    ) -> None:
        check(server, "Client")
        known = parse(version)
        if known is None:
            raise ValueError(f"version is a revision of MCP, {', '.join(Version)}, not {version!r}")
        self.version = known
        self.server_info: Json = {}
        self.server_capabilities: Json = {}
        self.instructions: str | None = None
        self.notifications: asyncio.Queue[tuple[str, Json]] = asyncio.Queue()
        self._server = server
        self._answer = answer
        self._capabilities = dict(_declared(known, answer) if capabilities is None else capabilities)
        self._info = dict(info or {"name": "test", "version": "0"})
        self._log_level = log_level
        self._principal = principal
        self._key = state_key
        self._modern = known in MODERN
        self._next = 0
        self._waiting: dict[int, asyncio.Future[Json]] = {}
        self._progress: dict[int, Told] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._acknowledged: asyncio.Future[None] | None = None
        self._memory: Memory | None = None
        self._runtime: Runtime | None = None

    async def __aenter__(self) -> Self:
        from dragoman.library.request import Origin

        runtime = self._runtime = Runtime(self._server, self._key)
        await runtime.start()
        options = Options(server_era="modern", command_label=str(self._server.info["name"]))
        core = DualFace(options, os.urandom(8).hex(), os.urandom, time.time, self._key)
        self._memory = Memory(core, self._heard, _logged)
        origin = Origin(None, self._principal)
        self._memory.start(Hosting(runtime, LoopLink(asyncio.get_running_loop()), lambda: origin))
        try:
            await self._greet()
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        memory, self._memory = self._memory, None
        for number, waiting in self._waiting.items():
            if memory is not None:
                memory.say(_cancelled(number))
            if not waiting.done():
                waiting.set_exception(RuntimeError(_LEFT))
                waiting.exception()  # it may be that nobody waits for it any more
        for task in list(self._tasks):
            task.cancel()
        if memory is not None:
            await memory.close()
        if self._runtime is not None:
            await self._runtime.close()

    async def _greet(self) -> None:
        if self._modern:
            told = await self.request("server/discover")
            self.server_info = told.get("_meta", {}).get("io.modelcontextprotocol/serverInfo", {})
        else:
            offered = {"protocolVersion": str(self.version), "capabilities": self._capabilities, "clientInfo": self._info}
            told = await self.request("initialize", offered)
            self.server_info = told["serverInfo"]
            self._say(frame.notification("notifications/initialized"))
            if self._log_level is not None:
                await self.request("logging/setLevel", {"level": self._log_level})
        self.server_capabilities, self.instructions = told["capabilities"], told.get("instructions")

    # -- requests

    async def request(self, method: str, params: Mapping[str, Any] | None = None, *, on_progress: Told | None = None) -> Json:
        """Any request; its result. Questions in its middle are answered. Cancelling it cancels the request. Raises ``ProtocolError``."""
        sent = dict(params or {})
        for _ in range(_ROUNDS):
            result = await self._once(method, sent, on_progress)
            if not self._modern or result.get("resultType") != "input_required":
                return result
            questions = result.get("inputRequests", {})
            answers = {key: await self._answered(each["method"], each.get("params", {})) for key, each in questions.items()}
            sent = {**(params or {}), "inputResponses": answers}
            if "requestState" in result:
                sent["requestState"] = result["requestState"]
        raise ProtocolError(INTERNAL_ERROR, f"The server has asked {_ROUNDS} times")

    async def call_tool(self, name: str, arguments: Mapping[str, Any] | None = None, *, on_progress: Told | None = None) -> Json:
        """A ``CallToolResult``; ``on_progress`` gets the params of each progress notification."""
        return await self.request("tools/call", {"name": name, "arguments": dict(arguments or {})}, on_progress=on_progress)

    async def list_tools(self) -> list[Json]:
        """All tools, of all pages."""
        return await self._pages("tools/list", "tools")

    async def list_resources(self) -> list[Json]:
        """All resources, of all pages."""
        return await self._pages("resources/list", "resources")

    async def list_resource_templates(self) -> list[Json]:
        """All templates, of all pages."""
        return await self._pages("resources/templates/list", "resourceTemplates")

    async def list_prompts(self) -> list[Json]:
        """All prompts, of all pages."""
        return await self._pages("prompts/list", "prompts")

    async def read_resource(self, uri: str) -> Json:
        """A ``ReadResourceResult``."""
        return await self.request("resources/read", {"uri": uri})

    async def get_prompt(self, name: str, arguments: Mapping[str, str] | None = None) -> Json:
        """A ``GetPromptResult``."""
        return await self.request("prompts/get", {"name": name, "arguments": dict(arguments or {})})

    async def complete(self, ref: Mapping[str, Any], argument: str, value: str, chosen: Mapping[str, str] | None = None) -> Json:
        """A ``CompleteResult``."""
        params: Json = {"ref": dict(ref), "argument": {"name": argument, "value": value}}
        return await self.request("completion/complete", {**params, "context": {"arguments": dict(chosen)}} if chosen else params)

    async def listen(self, *what: str) -> None:
        """Hear of changes of lists ("tools", "prompts", "resources") and of resources, by their URIs, as the revision has it."""
        uris = [each for each in what if each not in _LISTS]
        if self._modern:
            wanted: Json = {_LISTS[each]: True for each in what if each in _LISTS}
            acknowledged = self._acknowledged = asyncio.get_running_loop().create_future()
            stream = asyncio.create_task(self._stream({**wanted, **({"resourceSubscriptions": uris} if uris else {})}))
            self._tasks.add(stream)
            stream.add_done_callback(self._tasks.discard)
            await asyncio.wait([stream, acknowledged], return_when=asyncio.FIRST_COMPLETED)
            if stream.done():
                stream.result()
        else:
            for uri in uris:
                await self.request("resources/subscribe", {"uri": uri})
            for each in _LISTS:
                if each in self.server_capabilities:
                    await self.request(f"{each}/list")  # the server's own stream is open by the time it is answered
                    break

    async def _stream(self, wanted: Json) -> None:
        await self._once("subscriptions/listen", {"notifications": wanted}, None)

    async def _pages(self, method: str, member: str) -> list[Json]:
        found: list[Json] = []
        params: Json = {}
        while True:
            page = await self.request(method, params)
            found += page[member]
            if "nextCursor" not in page:
                return found
            params = {"cursor": page["nextCursor"]}

    async def _once(self, method: str, params: Json, on_progress: Told | None) -> Json:
        if self._memory is None:
            raise RuntimeError(_LEFT)
        self._next += 1
        number = self._next
        meta: Json = dict(params.get("_meta", {}))
        if self._modern:
            meta |= {META_PROTOCOL_VERSION: str(self.version), META_CLIENT_CAPABILITIES: self._capabilities, META_CLIENT_INFO: self._info}
            if self._log_level is not None:
                meta[META_LOG_LEVEL] = self._log_level
        if on_progress is not None:
            meta[PROGRESS_TOKEN] = number
            self._progress[number] = on_progress
        waiting: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._waiting[number] = waiting
        self._say(frame.request(b"%d" % number, method, frame.encode({**params, "_meta": meta} if meta else params)))
        try:
            return await waiting
        except asyncio.CancelledError:
            if method != "initialize" and self._memory is not None:  # it must not be cancelled (2025-11-25, basic/utilities/cancellation)
                self._memory.say(_cancelled(number))
            raise
        finally:
            self._waiting.pop(number, None)
            self._progress.pop(number, None)

    def _say(self, line: bytes) -> None:
        if self._memory is not None:
            self._memory.say(line[:-1])

    async def _answered(self, method: str, params: Json) -> Json:
        if self._answer is None:
            raise ProtocolError(METHOD_NOT_FOUND, f"Method not found: {method}")
        made = self._answer(method, params)
        return await made if not isinstance(made, dict) else made

    # -- from the server

    def _heard(self, line: bytes) -> None:
        try:
            message = msgspec.json.decode(line)
        except RecursionError:
            message = {"id": _id_of(line), "error": {"code": PARSE_ERROR, "message": "Parse error: the answer is nested too deeply"}}
        if "method" not in message:
            number = message.get("id")
            waiting = self._waiting.get(self._next if number is None else number)  # null: what was just said could not be read
            if waiting is None or waiting.done():
                return
            if "error" in message:
                error = message["error"]
                waiting.set_exception(ProtocolError(error["code"], error["message"], error.get("data")))
            else:
                waiting.set_result(message["result"])
        elif "id" in message:
            task = asyncio.create_task(self._asked(message))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        else:
            self._notified(message["method"], message.get("params", {}))

    def _notified(self, method: str, params: Json) -> None:
        told = self._progress.get(params.get("progressToken", 0)) if method == "notifications/progress" else None
        if told is not None:
            told(params)
            return
        if method == "notifications/subscriptions/acknowledged":
            if self._acknowledged is not None and not self._acknowledged.done():
                self._acknowledged.set_result(None)
            return
        meta = params.get("_meta", {})
        if meta.pop(META_SUBSCRIPTION_ID, None) is not None and not meta:
            del params["_meta"]
        self.notifications.put_nowait((method, params))

    async def _asked(self, message: Json) -> None:
        """A legacy server's own request."""
        number = msgspec.json.encode(message["id"])
        try:
            result = {} if message["method"] == "ping" else await self._answered(message["method"], message.get("params", {}))
            self._say(frame.result(number, frame.encode(result)))
        except ProtocolError as error:
            self._say(frame.failure(number, frame.error(error.code, error.message, error.data)))
        except Exception as fault:  # noqa: BLE001 - of the test's own: it fails where the test waits
            for waiting in self._waiting.values():
                if not waiting.done():
                    waiting.set_exception(fault)
            self._say(frame.failure(number, frame.error(INTERNAL_ERROR, "The test's own answer failed")))


def _cancelled(number: int) -> bytes:
    return frame.notification("notifications/cancelled", frame.encode({"requestId": number, "reason": "cancelled"}))[:-1]


def _id_of(line: bytes) -> int | None:
    """Of an answer that cannot be read whole."""
    return next((number for text in ids_in(line, whole=True) if (number := number_of(text)) is not None), None)


def _declared(version: Version, answer: Answer | None) -> Json:
    if answer is None:
        return {}
    declared: Json = {"roots": {}, "sampling": {}}
    if version >= Version.V2025_11_25:
        return {**declared, "sampling": {"tools": {}}, "elicitation": {"form": {}, "url": {}}}
    return {**declared, "elicitation": {}} if version >= Version.V2025_06_18 else declared


def _logged(effect: Log | Loss) -> None:
    if isinstance(effect, Log) and effect.level >= WARNING:
        import logging

        logging.getLogger("dragoman").log(effect.level, effect.text)
