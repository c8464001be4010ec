"""``input_required`` of a modern server, asked of a legacy client (sep2322_mrtr; 2025-11-25, client/elicitation, sampling, roots).

Each entry is a real request on the call's own stream, all of a round at once. A client that lacks the capability, answers with an
error, or does not answer in time ends the call: with a tool error that a model can read, else with an error; the other
questions of the round are taken back.

An accepted form that does not fit what was asked goes to the server all the same: both sides SHOULD check it, but only the server
can ask again, and has no member to say why in (2026-07-28, basic/patterns/mrtr#error-handling). So the operator is told, and
the client if the server never stops asking.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Raw

from dragoman import chain, downchain, errors, frame
from dragoman.bridging import effects
from dragoman.bridging.down_calls import PACE, ROUNDS, Asked, DownCall
from dragoman.bridging.ids import number_of
from dragoman.bridging.questions import Question, invalid_answer, missing_capability, read_question
from dragoman_specs.methods import ASKS
from dragoman_specs.names import MISSING_CLIENT_CAPABILITY
from dragoman_specs.version import Version

if TYPE_CHECKING:
    from dragoman.bridging.downgrade_server import DowngradeServer
    from dragoman.bridging.session import Answer

_NULL = Raw(b"null")


class DownQuestions:
    """Questions at one client, by their wire ids."""

    def __init__(self, bridge: DowngradeServer) -> None:
        self._bridge = bridge
        self._context = bridge.context
        self._open: dict[int, DownCall] = {}

    def ask(self, call: DownCall, members: dict[str, Raw]) -> None:
        """A round; ``members`` are those of the ``InputRequiredResult``."""
        call.rounds += 1
        given = {name: members[name] for name in ("inputRequests", "requestState") if bytes(members.get(name, _NULL)) != b"null"}
        entries, state = frame.members(given.get("inputRequests")), given.get("requestState")
        fault = _fault(call.method, entries, state)
        if fault is not None:
            self._bridge.fail(call, errors.invalid_result(fault))
        elif call.rounds > ROUNDS:
            misfit = f"; the client's last answer did not fit the question: {call.misfit}" if call.misfit else ""
            self._bridge.fail(call, errors.server_fault(f"The server asked more than {ROUNDS} times in one call{misfit}"))
        else:
            call.state, call.misfit = state, ""
            if entries:
                self._send(call, entries)
            else:
                self._context.timer(f"down-pace:{call.number}", PACE)

    def _send(self, call: DownCall, entries: dict[str, Raw]) -> None:
        lines = self._read(call, entries)
        if isinstance(lines, str):
            call.questions.clear()
            self._refuse(call, lines)
            return
        for wire_id, line in lines:
            self._open[wire_id] = call
            self._bridge.client.question(line, call.client_id)
        self._context.timer(f"down-ask:{call.number}", self._context.question_timeout)

    def _read(self, call: DownCall, entries: dict[str, Raw]) -> list[tuple[int, bytes]] | str:
        """The requests of a round, or why none of it can be asked."""
        lines = []
        capabilities, revision = self._bridge.capabilities, self._bridge.speaks
        for key, raw in entries.items():
            entry = frame.members(raw) or {}
            method, params = frame.text(entry.get("method")) or "", entry.get("params")
            wire_id = self._context.ids.wire()
            question = read_question(b"%d" % wire_id, method, params, capabilities)
            if not isinstance(question, Question):
                return f"The server asked what cannot be asked: {question.message}"
            missing = missing_capability(question, capabilities)
            if missing is not None:
                return f"This needs {method}, which the client did not declare ({', '.join(sorted(missing))})"
            # As it was read: with its mistakes mended, and what this client may be asked.
            params = (frame.members(Raw(question.request)) or {}).get("params")
            elicitation_id = f"{self._context.ids.instance}-{wire_id}"
            shaped = downchain.question_to_legacy(method, params, revision, elicitation_id)
            if isinstance(shaped, chain.Fault):
                return f"The server asked what the client's revision has no words for: {shaped.message}"
            for loss in shaped.losses:
                self._context.loss(loss.change, loss.detail)
            call.questions[wire_id] = Asked(key, question, params, elicitation_id if question.mode == "url" else None)
            lines.append((wire_id, frame.request(b"%d" % wire_id, method, shaped.raw or b"{}")))
        return lines

    def answered(self, answer: Answer) -> None:
        """The client has answered one."""
        wire_id = number_of(answer.id) or 0
        call = self._open.pop(wire_id, None)
        asked = call.questions.pop(wire_id, None) if call is not None else None
        if call is None or asked is None:
            self._context.log(effects.DEBUG, "the client has answered a question that was withdrawn, or none")
            return
        if isinstance(answer, frame.Failure):
            said = frame.text((frame.members(answer.error) or {}).get("message")) or "no message"
            self.end(call, f"The client answered {asked.method} with an error: {said}")
            return
        shaped = downchain.answer_to_modern(asked.method, asked.params, answer.result, self._bridge.speaks)
        if isinstance(shaped, chain.Fault):
            self.end(call, f"The client's answer to {asked.method} is not valid: {shaped.message}")
            return
        call.answers[asked.key] = Raw(shaped.raw)
        self._look_at(call, asked, call.answers[asked.key])
        if not call.questions:
            self._context.cancel_timer(f"down-ask:{call.number}")
            self._bridge.send(call)

    def _look_at(self, call: DownCall, asked: Asked, answer: Raw) -> None:
        fault = invalid_answer(asked.question, answer)
        if fault is not None:
            call.misfit = fault
            self._context.log(
                effects.INFO, f"the client's answer to {asked.method} does not fit the question ({fault}): the server decides"
            )
        elif asked.elicitation_id is not None and frame.text((frame.members(answer) or {}).get("action")) == "accept":
            call.opened.append(asked.elicitation_id)

    def completed(self, call: DownCall, result: Raw) -> None:
        """The call ends well: what the user did in a browser is done (2025-11-25, client/elicitation, completion notifications)."""
        if not call.opened or bytes((frame.members(result) or {}).get("isError", _NULL)) == b"true":
            return
        if self._bridge.speaks is Version.V2025_11_25:
            for elicitation_id in call.opened:
                params = frame.encode({"elicitationId": elicitation_id})
                self._bridge.client.tell("notifications/elicitation/complete", params, call.client_id)

    def lacking(self, call: DownCall, error: Raw) -> bool:
        """A tool needs what the client cannot do (-32021): for the model to read, since older revisions have no error for it."""
        members = frame.members(error) or {}
        if call.method != "tools/call" or bytes(members.get("code", _NULL)) != b"%d" % MISSING_CLIENT_CAPABILITY:
            return False
        needed = frame.members((frame.members(members.get("data")) or {}).get("requiredCapabilities")) or {}
        names = f", which lacks {', '.join(needed)}" if needed else ""
        self._refuse(call, f"This tool cannot be used with this client{names}: {frame.text(members.get('message')) or 'it says no more'}")
        return True

    def end(self, call: DownCall, why: str) -> None:
        """The call ends without the answers."""
        self.withdraw(call, why)
        self._refuse(call, why)

    def withdraw(self, call: DownCall, reason: str) -> None:
        """Take the call's open questions back; nobody waits between its rounds any more."""
        for wire_id in list(call.questions):
            del call.questions[wire_id]
            self._open.pop(wire_id, None)
            self._bridge.client.tell("notifications/cancelled", frame.encode({"requestId": wire_id, "reason": reason}), call.client_id)
        for timer in ("down-ask", "down-pace"):
            self._context.cancel_timer(f"{timer}:{call.number}")

    def _refuse(self, call: DownCall, why: str) -> None:
        if call.method == "tools/call":
            result = frame.encode({"content": [{"type": "text", "text": why}], "isError": True})
            self._bridge.finish(call, "result", (result,))
        else:
            self._bridge.fail(call, errors.server_fault(why))


def _fault(method: str, entries: dict[str, Raw] | None, state: Raw | None) -> str | None:
    """What is wrong with an ``InputRequiredResult`` as a whole; null stands for an absent member."""
    if method not in ASKS:
        return f"{method} may not be answered with input_required"
    if entries is None:
        return "inputRequests must be an object"
    if state is not None and frame.text(state) is None:
        return "requestState must be a string"
    if not entries and state is None:
        return "input_required with neither a question nor a state"
    return None
