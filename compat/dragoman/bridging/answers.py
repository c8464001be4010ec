"""A legacy server's answers, told to a modern client.

The stateless part (result types, cache hints, error codes, repairs) is the chain's; here is what needs memory: capabilities
that were missing (-32021), URL elicitations (-32042), cursors, tool facts learnt from lists, tools that run only as a task
(2025-11-25, basic/utilities/tasks), and answers that are broken or whose owner must be guessed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Raw

from dragoman import chain, errors, frame
from dragoman.bridging.broken import ids_in, is_call, looks_like_frame, shown
from dragoman.bridging.calls import DONE, Call
from dragoman.bridging.cursors import wrap
from dragoman.bridging.ids import number_of
from dragoman.bridging.questions import missing_url_elicitation, url_elicitations
from dragoman.bridging.session import PATIENCE
from dragoman.errors import Refusal
from dragoman_specs.methods import ASKS
from dragoman_specs.names import META_SERVER_INFO, META_SUBSCRIPTION_ID, METHOD_NOT_FOUND, URL_ELICITATION_REQUIRED

if TYPE_CHECKING:
    from dragoman.bridging.session import Session
    from dragoman.bridging.upgrade_server import UpgradeServer

LISTS = frozenset({"tools/list", "prompts/list", "resources/list", "resources/templates/list"})

_FALSE = Raw(b"false")


class Answers:
    """Shapes outcomes."""

    def __init__(self, bridge: UpgradeServer) -> None:
        self._bridge = bridge
        self._context = bridge.context

    # -- whole answers -----------------------------------------------------------------------------------------------

    def answered(self, call: Call, answer: frame.Result | frame.Failure) -> None:
        """The server has answered a call."""
        if isinstance(answer, frame.Failure):
            self._failed(call, answer.error)
            return
        if call.sent_as_task and self._task_created(call, answer.result):
            return
        session: Session = call.session
        if call.refused and bytes((frame.members(answer.result) or {}).get("isError", _FALSE)) == b"true":
            self._missing(call, call.refused, _first_text(answer.result), serverResult=answer.result)
            return
        shaped = chain.result_to_client(answer.result, self.crossing(call))
        if isinstance(shaped, chain.Fault):
            self._context.loss(shaped.change, shaped.message)
            self._bridge.deliver(call, "error", errors.invalid_result(shaped.message).encode())
            return
        for loss in shaped.losses:
            self._context.loss(loss.change, loss.detail)
        if call.method not in LISTS:
            self._bridge.deliver(call, "result", *shaped.parts)
            return
        if call.method == "tools/list":
            self._bridge.tools.learn(answer.result)
        self._bridge.deliver(call, "result", wrap(shaped.raw, session, self._context.ids.instance))

    def crossing(self, call: Call) -> chain.Crossing:
        """The facts of one crossing."""
        session: Session = call.session
        options = self._context.options
        return chain.Crossing(
            call.method,
            session.revision,
            session.server_info,
            session.server_capabilities,
            options.list_ttl_ms,
            call.name,
            call.uri,
            call.name is not None and self._bridge.tools.task_only(call.name),
            options.strict,
        )

    def _failed(self, call: Call, error: Raw) -> None:
        members = frame.members(error) or {}
        if call.method in ASKS and bytes(members.get("code", Raw(b"0"))) == b"%d" % URL_ELICITATION_REQUIRED:
            self._url_required(call, members)
            return
        if call.refused:
            self._missing(call, call.refused, frame.text(members.get("message")) or "", serverError=error)
            return
        if self._may_be_task_only(call, members):
            self._bridge.tools.list_all(call.session, lambda: self._listed(call, error))
            return
        self._tell_error(call, error)

    def _listed(self, call: Call, error: Raw) -> None:
        if call.status == DONE:
            return
        if call.name is not None and self._bridge.tools.task_only(call.name):
            self._bridge.admitted(call)
        else:
            self._tell_error(call, error)

    def _may_be_task_only(self, call: Call, members: dict[str, Raw]) -> bool:
        """-32601 to a tool that no list has named yet: perhaps it runs only as a task (2025-11-25, tasks#tool-level-negotiation)."""
        unknown = call.method == "tools/call" and call.name is not None and call.name not in self._bridge.tools and not call.sent_as_task
        refused = bytes(members.get("code", _FALSE)) == b"%d" % METHOD_NOT_FOUND
        return unknown and refused and bool(call.session.declares("tasks", "requests", "tools", "call"))

    def _tell_error(self, call: Call, error: Raw) -> None:
        shaped = chain.error_to_client(error, self.crossing(call))
        for loss in shaped.losses:
            self._context.loss(loss.change, loss.detail)
        self._bridge.deliver(call, "error", shaped.raw)

    def _url_required(self, call: Call, members: dict[str, Raw]) -> None:
        data = members.get("data")
        inputs = None if data is None else url_elicitations(frame.tree(data))
        missing = missing_url_elicitation(call.capabilities)
        if inputs is None:
            text = "The server asked for a URL elicitation (-32042) without saying which"
            self._bridge.deliver(call, "error", errors.server_fault(text).encode())
        elif missing is not None:
            self._missing(call, missing)
        elif call.waiters:
            self._bridge.parking.park_for_rerun(call, inputs)
        else:
            text = "The server asked for a URL elicitation while nobody waited for this call: call again"
            self._bridge.deliver(call, "error", errors.server_fault(text).encode())

    def _missing(self, call: Call, capabilities: dict[str, Any], said: str = "", **own: Raw) -> None:
        self._bridge.deliver(call, "error", errors.missing_capability(capabilities, said, **own).encode())

    # -- stamps ------------------------------------------------------------------------------------------------------

    def stamp(self, session: Session, body: bytes) -> bytes:
        """A result object of the bridge's own, with the server's identity."""
        if not session.server_info:
            return b"{%b}" % body
        return b'{%b,"_meta":{"%b":%b}}' % (body, META_SERVER_INFO.encode(), session.server_info)

    def listen_result(self, client_id: bytes) -> bytes:
        """``SubscriptionsListenResult``: the graceful end of a stream."""
        meta = {META_SUBSCRIPTION_ID: Raw(self._context.spoken(client_id))}
        session = self._bridge.pool.anyone()
        if session is not None and session.server_info:
            meta[META_SERVER_INFO] = Raw(session.server_info)
        return frame.encode({"resultType": "complete", "_meta": meta})

    # -- tasks (sep1686_tasks) ---------------------------------------------------------------------------------------

    def as_task(self, call: Call, params: dict[str, Raw]) -> dict[str, Raw]:
        """A tool that runs only as a task is called as one, if the server declared that it can be."""
        if call.method != "tools/call" or call.name is None or not self._bridge.tools.task_only(call.name):
            return params
        if not call.session.declares("tasks", "requests", "tools", "call"):
            return params
        call.sent_as_task = True
        return {**params, "task": Raw(b"{}")}

    def _task_created(self, call: Call, result: Raw) -> bool:
        task_id = _created_task(result)
        if task_id is None or call.task_id is not None:
            return False
        call.task_id = task_id
        session: Session = call.session
        call.wire_id = self._context.ids.wire()
        session.pending[call.wire_id] = call
        line = frame.request(b"%d" % call.wire_id, "tasks/result", frame.encode({"taskId": task_id}))
        self._context.to_server(session.number, line)
        return True

    def cancel(self, call: Call, reason: str) -> None:
        """Tell the server that nobody waits for a call."""
        session: Session = call.session
        if call.task_id is not None:
            session.give_up(call.wire_id)
            self._cancel_task(session, call.task_id)
        elif call.sent_as_task:
            # A task is cancelled by its id (2025-11-25, basic/utilities/cancellation), which the answer under way will tell.
            session.pending[call.wire_id] = lambda answer: self._created_too_late(session, answer)
        else:
            session.give_up(call.wire_id)
            session.notify("notifications/cancelled", frame.encode({"requestId": call.wire_id, "reason": reason}))

    def _created_too_late(self, session: Session, answer: frame.Result | frame.Failure) -> None:
        task_id = _created_task(answer.result) if isinstance(answer, frame.Result) else None
        if task_id is not None:
            self._cancel_task(session, task_id)

    def _cancel_task(self, session: Session, task_id: str) -> None:
        if not session.declares("tasks", "cancel"):
            self._context.loss("sep1686_tasks", "a task that nobody waits for runs on: its server declares no tasks.cancel")
            return
        session.request("tasks/cancel", frame.encode({"taskId": task_id}), lambda _answer: None, patience=PATIENCE)

    # -- broken answers ----------------------------------------------------------------------------------------------

    def owner(self, session: Session, frame_id: bytes | None) -> int | None:
        """The wire id that an answer belongs to; ids that came back as strings are recognised, a null id if only one waits."""
        if frame_id is None:
            return next(iter(session.pending)) if len(session.pending) == 1 else None
        number = number_of(frame_id)
        return number if number in session.pending else None

    def is_late(self, session: Session, frame_id: bytes | None) -> bool:
        """Whether an answer to nothing in flight is the one to a request that was given up."""
        number = number_of(frame_id)
        return number is not None and session.given_up.pop(number, False)

    def malformed(self, session: Session, fault: frame.Malformed, line: bytes) -> None:
        """A line of the server's that is no frame: its owner hears of it; text goes to the operator."""
        if not looks_like_frame(line):
            self._context.noise(shown(line))
            return
        self._context.invalid(f"a line that is no valid message ({fault.message}): {shown(line)}")
        if is_call(line):
            asked = next(iter(ids_in(line[: line.find(b'"params"')])), None)
            if asked is not None:
                self._context.refuse_server(session.number, asked, Refusal(fault.code, fault.message))
            self._context.loss("framing", "a request or notification of the server's that could not be read")
            return
        self.broken(session, line, errors.unreadable_answer(fault.message))

    def broken(self, session: Session, line: bytes, refusal: Refusal, *, whole: bool = True) -> None:
        """Answer whoever waits for a line that could not be read (not ``whole``: ``line`` is its head only)."""
        ids = ids_in(line, whole=whole)
        wire_id = next((known for text in ids if (known := self.owner(session, text)) is not None), None)
        if not ids and len(session.pending) == 1:
            wire_id = next(iter(session.pending))
        if wire_id is None:
            self._context.loss("framing", f"{refusal.message}; whose it was could not be told")
            return
        entry = session.pending.pop(wire_id)
        error = refusal.encode()
        if isinstance(entry, Call):
            self._bridge.deliver(entry, "error", error)
        else:
            entry(frame.Failure(b"%d" % wire_id, Raw(error)))
        self._bridge.pool.settled(session)


def _created_task(result: Raw) -> str | None:
    """The id in a ``CreateTaskResult``; None for any other result."""
    task = frame.members((frame.members(result) or {}).get("task") or Raw(b"null"))
    return frame.text(task.get("taskId")) if task else None


def _first_text(result: Raw) -> str:
    """The first words of a tool result, for an error text."""
    content = (frame.members(result) or {}).get("content")
    try:
        blocks = msgspec.json.decode(content or b"[]", type=list[dict[str, Raw]])
    except msgspec.MsgspecError:
        return ""
    return next((words for block in blocks if (words := frame.text(block.get("text")))), "")[:500]
