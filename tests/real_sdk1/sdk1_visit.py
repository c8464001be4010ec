"""One visit of the client of the first generation: its session, the person behind it, and what it was told beside answers.

This client only logs what it cannot read, and goes on: so what it logs is kept, with the faults that its message handler is handed.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
from mcp import ClientSession, types

NAME = types.Implementation(name="acceptance", version="1")


class Complaints(logging.Handler):
    """What the client logs at level warning and above."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.heard: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.heard.append(f"{record.name}: {self.format(record)}")


class Visit:
    """One run of the script: the session, and what it was told beside answers."""

    def __init__(self, complaints: list[str]) -> None:
        self.complaints = complaints
        self.action = "accept"
        self.asked: list[str] = []
        self.levels: list[str] = []
        self.told: list[str] = []
        self.tokens: list[Any] = []
        self.names: list[str] = []
        self.pages: list[int] = []
        self.changed = anyio.Condition()
        self.session: ClientSession
        self.greeting: types.InitializeResult

    async def on_log(self, params: types.LoggingMessageNotificationParams) -> None:
        async with self.changed:
            self.levels.append(params.level)
            self.changed.notify_all()

    async def on_message(self, message: Any) -> None:
        async with self.changed:
            if isinstance(message, Exception):
                self.complaints.append(f"message handler: {message!r}")
            elif isinstance(message, types.ServerNotification):
                self.notified(message.root)
            self.changed.notify_all()

    def notified(self, notification: Any) -> None:
        if isinstance(notification, types.ToolListChangedNotification):
            self.told.append("tools")
        elif isinstance(notification, types.ResourceUpdatedNotification):
            self.told.append(str(notification.params.uri))
        elif isinstance(notification, types.ProgressNotification):
            self.tokens.append(notification.params.progressToken)

    async def elicit(self, context: Any, params: types.ElicitRequestParams) -> types.ElicitResult | types.ErrorData:
        url = getattr(params, "url", None)
        self.asked.append(url or params.message)
        if self.action == "fail":
            return types.ErrorData(code=-1, message="the user is asleep")
        filled = self.action == "accept" and url is None
        return types.ElicitResult.model_validate({"action": self.action, "content": {"name": "Ada"} if filled else None})

    async def sample(self, context: Any, params: types.CreateMessageRequestParams) -> types.CreateMessageResult:
        said = types.TextContent(type="text", text="four")
        return types.CreateMessageResult(role="assistant", content=said, model="small-1", stopReason="endTurn")

    async def list_roots(self, context: Any) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root.model_validate({"uri": "file:///home/ada", "name": "home"})])

    def everything(self) -> dict[str, Any]:
        return {"elicitation_callback": self.elicit, "sampling_callback": self.sample, "list_roots_callback": self.list_roots}

    async def wait(self, condition: Callable[[], bool]) -> None:
        async with self.changed:
            while not condition():
                await self.changed.wait()

    async def result(self, name: str, arguments: dict[str, Any] | None = None, **options: Any) -> types.CallToolResult:
        return await self.session.call_tool(name, arguments or {}, **options)

    async def call(self, name: str, arguments: dict[str, Any] | None = None, **options: Any) -> str:
        (block,) = (await self.result(name, arguments, **options)).content
        assert isinstance(block, types.TextContent)
        return block.text

    async def run(self, streams: tuple[Any, ...], steps: tuple[Step, ...], callbacks: dict[str, Any]) -> dict[str, Any]:
        report: dict[str, Any] = {}
        options = {"logging_callback": self.on_log, "message_handler": self.on_message, "client_info": NAME, **callbacks}
        async with ClientSession(streams[0], streams[1], **options) as self.session:
            for step in steps:
                try:
                    with anyio.fail_after(20):
                        report[step.__name__] = await step(self)
                except BaseException as fault:
                    fault.add_note(f"in the step {step.__name__}, after {json.dumps(report)}, with the complaints {self.complaints}")
                    raise
        return report


Step = Callable[[Visit], Awaitable[Any]]
