"""Clients for tests of the library: ``Client`` with the oracle at its ear, so that every frame that it hears has to be valid for it.

``asynchronous`` runs a test in an event loop of its own with a limit. ``once`` sends a request by hand, for tests that change, keep or
carry elsewhere what ``Client.request`` would bring back at once.
"""

import asyncio
import functools
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from pydantic import BaseModel

from dragoman import Client, Server
from faces import ClientFace
from oracle import LEGACY, MODERN, Oracle, spec_folder

Json = dict[str, Any]
BEFORE = "2025-11-25"
"""The last revision with handshakes."""
EVERY = (*LEGACY, MODERN)
ASKED = ("2025-06-18", BEFORE, MODERN)
"""The revisions whose clients can be shown a form; they are those that know structured content, too."""
LIMIT = 20.0
ORACLE = Oracle(spec_folder())
KEY = b"k" * 32
ALL = {"elicitation": {"form": {}, "url": {}}, "sampling": {"tools": {}}, "roots": {}}


class Judged(Client):
    """See the module. What the oracle has against a frame is raised when the client is left."""

    def __init__(self, server: Server, **more: Any) -> None:
        super().__init__(server, **more)
        self._face = ClientFace(ORACLE)
        self._objections: list[AssertionError] = []
        self.heard: list[bytes] = []

    def _say(self, line: bytes) -> None:
        self._face.from_client(line)
        super()._say(line)

    def _heard(self, line: bytes) -> None:
        self.heard.append(line)
        try:
            self._face.to_client(line)
        except AssertionError as objection:
            self._objections.append(objection)
        super()._heard(line)

    async def __aexit__(self, *exception: object) -> None:
        await super().__aexit__(*exception)
        if self._objections:
            raise self._objections[0]


def asynchronous(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """The test, run to its end or its limit."""

    @functools.wraps(test)
    def run(*arguments: Any, **named: Any) -> None:
        async def limited() -> None:
            async with asyncio.timeout(LIMIT):
                await test(*arguments, **named)

        asyncio.run(limited())

    return run


async def called(server: Server, tool: str, arguments: Json | None = None, **client: Any) -> Json:
    """The result of one call by a client of its own, without what every modern result has."""
    async with Judged(server, **client) as peer, asyncio.timeout(LIMIT / 4):
        return plain(await peer.call_tool(tool, arguments))


def plain(result: Json) -> Json:
    """A result without the members that the modern era alone has in all of them."""
    return {name: value for name, value in result.items() if name not in ("resultType", "_meta")}


async def once(client: Client, method: str, params: Json) -> Json:
    """One request and its result, ``input_required`` or not."""
    return await client._once(method, params, None)


async def until(condition: Callable[[], object]) -> None:
    """Wait for something that other tasks or threads bring about."""
    async with asyncio.timeout(LIMIT / 4):
        while not condition():  # noqa: ASYNC110 - what is waited for is not always of this loop
            await asyncio.sleep(0.001)


def told(result: Json) -> str:
    """The one text of a result."""
    (block,) = result["content"]
    assert block["type"] == "text"
    return str(block["text"])


def refused(result: Json) -> str:
    """The text of a tool error."""
    assert result.get("isError") is True, result
    return told(result)


def accept(**content: Any) -> Callable[[str, Json], Json]:
    """A user who fills in every form alike."""
    return lambda _method, _params: {"action": "accept", "content": content}


class Word(BaseModel):
    word: str


class Yes(BaseModel):
    yes: bool


def answering(**words: Any) -> Any:
    """A user who answers by what the message says; it remembers the messages."""

    def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
        asked.append(params["message"])
        return {"action": "accept", "content": words[params["message"]]}

    asked: list[str] = []
    answer.asked = asked  # type: ignore[attr-defined]
    return answer


def tracebacks(caplog: Any) -> list[str]:
    """What the operator was told, each with the exception's type."""
    records = [record for record in caplog.records if record.name == "dragoman" and record.levelno >= logging.ERROR]
    return [f"{record.getMessage()}: {record.exc_info[0].__name__ if record.exc_info else None}" for record in records]
