"""DowngradeServer: a server of 2026-07-28 shown to one legacy client (2024-11-05 … 2025-11-25).

Theory of operation. The client has a handshake and a session, the server has neither: ``initialize`` is answered from
``server/discover``, and what the client said of itself is stamped on every request. ``ping`` and the log level are answered
here, subscriptions ride on one stream (``down_stream``), ``input_required`` becomes questions on the call's own stream
(``down_questions``), a batch is answered as one (``down_batches``). The server's process holds nothing of the client's between two
requests: when it dies, its calls fail and the next request starts another.

It is driven like a ``Relay`` and can take one's place; ``told`` is handed each frame for the client, with the id of the request
that it answers, and that of the call that it belongs to.
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from dragoman import chain, downchain, errors, frame
from dragoman.bridging import effects
from dragoman.bridging.context import Context
from dragoman.bridging.down_batches import take_batch
from dragoman.bridging.down_calls import DownCall, members_of, result_type
from dragoman.bridging.down_client import DownClient
from dragoman.bridging.down_handshake import Hello, initialize_result, unusable
from dragoman.bridging.down_hearing import DownHearing
from dragoman.bridging.down_questions import DownQuestions
from dragoman.bridging.down_stream import DownStream
from dragoman.bridging.ids import number_of
from dragoman.bridging.outputs import Outputs
from dragoman.bridging.patience import Patience
from dragoman.bridging.relay import Told
from dragoman.bridging.session import Answer, Waiter
from dragoman.errors import Refusal
from dragoman_specs.names import LOG_LEVELS, META_LOG_LEVEL
from dragoman_specs.version import LATEST_LEGACY, Version

_SWALLOWED = frozenset(("notifications/roots/list_changed", "notifications/progress"))
_NOT_LEGACY = frozenset(("server/discover", "subscriptions/listen"))


class DowngradeServer:
    """See the module. ``number`` is the server process, None while there is none."""

    def __init__(self, context: Context, told: Told, number: int | None = None) -> None:
        self.context = context
        self.number = number
        self.level: str | None = None
        self.client = DownClient(told)
        self.patience: Patience[int] = Patience(context, "down-late")
        self.stream = DownStream(self)
        self.outputs = Outputs()
        self._hello: Hello | None = None
        self._initialized = False
        self._calls: dict[bytes, DownCall] = {}
        self._by_wire: dict[int, DownCall] = {}
        self._own: dict[int, Waiter] = {}
        self._questions = DownQuestions(self)
        self._hearing = DownHearing(self)

    # -- facts -----------------------------------------------------------------------------------------------------

    @property
    def revision(self) -> Version | None:
        """What the handshake has agreed on; None before that."""
        return self._hello.revision if self._hello is not None and self._initialized else None

    @property
    def speaks(self) -> Version:
        """The revision that the client is spoken to in."""
        return LATEST_LEGACY if self._hello is None else self._hello.revision

    @property
    def capabilities(self) -> dict[str, Any]:
        """The client's, as a modern server knows them."""
        return {} if self._hello is None else self._hello.capabilities

    @property
    def idle(self) -> bool:
        """Whether nobody waits for an answer."""
        return not self._calls and not self._own and not self.stream.waits

    @property
    def oldest(self) -> DownCall | None:
        """The call that the server has worked on longest."""
        return next(iter(self._by_wire.values()), None)

    def in_progress(self, wire_id: int) -> DownCall | None:
        """The call whose round has this id; it is alive."""
        self.patience.alive(wire_id)
        return self._by_wire.get(wire_id)

    # -- from the client -----------------------------------------------------------------------------------------------

    def from_client(self, message: frame.Frame | list[frame.Frame], line: bytes) -> None:
        """A message of the client's."""
        if isinstance(message, list):
            take_batch(self, message, self.revision)
        elif isinstance(message, frame.Request):
            self._request(message)
        elif isinstance(message, frame.Notification):
            self._notified(message)
        elif isinstance(message, frame.Result | frame.Failure):
            self._questions.answered(message)

    def in_use(self, client_id: bytes) -> bool:
        """Whether a request of this id waits for its answer."""
        key = frame.id_key(client_id)
        return key in self._calls or self.stream.waits_for(key)

    def _request(self, request: frame.Request) -> None:
        method = request.method
        if self.in_use(request.id):
            self.client.refuse_second(request.id)
        elif method == "ping":
            self.client.answer(request.id, "result", b"{}")
        elif method == "initialize":
            self.initialize(request, None)
        elif not self._initialized:
            self.client.refuse(request.id, errors.not_initialized())
        elif method == "logging/setLevel":
            self._set_level(request)
        elif method in ("resources/subscribe", "resources/unsubscribe"):
            self.stream.request(request)
        elif method in _NOT_LEGACY or method.startswith("tasks/"):
            self.client.refuse(request.id, errors.unknown_method(method))
        else:
            self._start(request)

    def initialize(self, request: frame.Request, discovered: Raw | None) -> None:
        """The client's handshake; ``discovered`` is the server's ``DiscoverResult``, if it was asked before."""
        hello = self._hello = Hello(request)
        if discovered is not None:
            self._discovered(hello, frame.Result(request.id, discovered))
            return
        wire_id = self.context.ids.wire()
        self._own[wire_id] = lambda answer: self._discovered(hello, answer)
        if self.context.options.start_timeout:
            self.context.timer(f"down-start:{wire_id}", self.context.options.start_timeout)
        self.ask(wire_id, "server/discover", {})

    def _discovered(self, hello: Hello, answer: Answer) -> None:
        if isinstance(answer, frame.Failure):
            why = frame.text((frame.members(answer.error) or {}).get("message")) or "no message"
            self.client.refuse(hello.client_id, self._undiscovered(why, answer.error))
            return
        members = frame.members(answer.result) or {}
        fault = unusable(members)
        if fault is not None:
            self.client.refuse(hello.client_id, errors.server_fault(fault))
            return
        self.stream.declared = frame.members(members.get("capabilities")) or {}
        result = initialize_result(self.context, hello, members)
        self._initialized = True
        self.context.worked()
        self.client.answer(hello.client_id, "result", result)

    def _undiscovered(self, why: str, error: Raw) -> Refusal:
        return errors.server_fault(f"The server did not answer server/discover: {why}", errors.challenge_in(error))

    def _set_level(self, request: frame.Request) -> None:
        level = frame.text((frame.members(request.params) or {}).get("level"))
        if level in LOG_LEVELS:
            self.level = level
            self.client.answer(request.id, "result", b"{}")
        else:
            self.client.refuse(request.id, errors.invalid_params(f"level must be one of {', '.join(LOG_LEVELS)}"))

    def _start(self, request: frame.Request) -> None:
        params = frame.members(request.params)
        if params is None:
            self.client.refuse(request.id, errors.invalid_params("params must be an object"))
            return
        call = DownCall(self.context.ids.call(), request, params)
        self._calls[frame.id_key(request.id)] = call
        self.send(call)

    def _notified(self, note: frame.Notification) -> None:
        params = frame.members(note.params) or {}
        if note.method == "notifications/cancelled":
            target = bytes(params.get("requestId", Raw(b"null")))
            call = self._calls.get(frame.id_key(target)) if frame.valid_id(target) else None
            if call is not None:
                self._drop(call, frame.text(params.get("reason")) or "cancelled by the client")
            elif frame.valid_id(target):
                self.stream.withdraw(target)
        elif note.method == "notifications/initialized":
            self.stream.begin()
        elif note.method not in _SWALLOWED and self.number is not None:
            self.context.to_server(self.number, frame.notification(note.method, None if note.params is None else bytes(note.params)))

    def _drop(self, call: DownCall, reason: str) -> None:
        """Nobody waits for the call any more."""
        self._calls.pop(frame.id_key(call.client_id), None)
        self.client.leave(call.client_id)
        self._questions.withdraw(call, reason)
        if self._by_wire.pop(call.wire_id, None) is not None:
            self.patience.end(call.wire_id)
            self.cancel(call.wire_id, reason)

    def forget(self, client_id: bytes) -> None:
        """A request has been answered otherwise."""
        call = self._calls.get(frame.id_key(client_id))
        if call is not None:
            self._drop(call, "it was answered otherwise")
        else:
            self.stream.withdraw(client_id)

    # -- to the server -------------------------------------------------------------------------------------------------

    @property
    def _stamps(self) -> dict[str, Raw]:
        stamps = {} if self._hello is None else self._hello.stamps
        return stamps if self.level is None else {**stamps, META_LOG_LEVEL: Raw(frame.encode(self.level))}

    def send(self, call: DownCall) -> None:
        """The next round of a call."""
        session = self._open()
        if session is None:
            self.fail(call, errors.server_fault(self.context.restarts.why(self.context.now)))
            return
        wire_id = self.context.ids.wire()
        self._by_wire[wire_id] = call
        self.patience.begin(wire_id)
        self.context.to_server(session, call.request(wire_id, self._stamps))

    def ask(self, wire_id: int, method: str, params: dict[str, Raw]) -> None:
        """A request of the bridge's own, under the client's stamps."""
        session = self._open()
        if session is None:
            why = self.context.restarts.why(self.context.now)
            self._answered(frame.Failure(b"%d" % wire_id, Raw(errors.server_fault(why).encode())))
            return
        stamped = {**params, "_meta": Raw(frame.encode(self._stamps))}
        self.context.to_server(session, frame.request(b"%d" % wire_id, method, frame.encode(stamped)))

    def _open(self) -> int | None:
        if self.number is None and not self.context.restarts.pause(self.context.now):
            self.number = self.context.ids.session()
            self.context.open(self.number)
            self.stream.process_opened()
        return self.number

    def cancel(self, wire_id: int, reason: str) -> None:
        """Tell the server that nobody waits for a request."""
        if self.number is not None:
            params = frame.encode({"requestId": wire_id, "reason": reason})
            self.context.to_server(self.number, frame.notification("notifications/cancelled", params))

    # -- from the server -----------------------------------------------------------------------------------------------

    def from_server(self, line: bytes) -> None:
        """A line of the server's."""
        message = frame.parse(line, lenient=True)
        if isinstance(message, frame.Result | frame.Failure):
            self._answered(message)
        elif isinstance(message, frame.Notification):
            self._hearing.hear(message)
        elif isinstance(message, frame.Request):
            # It may send none, and a client may answer none (2026-07-28, basic/transports/stdio#sending-messages).
            self.context.invalid(f"a request, {message.method[:100]}, which its revision has no room for: it stays without an answer")
        elif isinstance(message, frame.Malformed):
            self._hearing.broken(line, errors.unreadable_answer(message.message))
        elif isinstance(message, list):
            self.context.loss("pr0416_no_batching", "a batch from a server whose revision has none")

    def _answered(self, answer: Answer) -> None:
        wire_id = number_of(answer.id)
        if answer.id is None and len(self._by_wire) == 1:
            wire_id = next(iter(self._by_wire))
        if wire_id is None:
            self.context.loss("id", "an answer of the server's to no request in flight")
            return
        waiter = self._own.pop(wire_id, None)
        call = self._by_wire.pop(wire_id, None)
        self.patience.end(wire_id)
        if waiter is not None:
            waiter(answer)
        elif call is not None:
            call.wire_id = 0
            self._call_answered(call, answer)
        elif not self.stream.answered(wire_id, answer):
            self.context.log(effects.DEBUG, "the server has answered a request that was cancelled, or none")

    def _call_answered(self, call: DownCall, answer: Answer) -> None:
        if isinstance(answer, frame.Failure):
            if self._questions.lacking(call, answer.error):
                return
            shaped = downchain.error_to_legacy(answer.error, self._crossing(call))
            self.finish(call, "error", shaped.parts, shaped.losses)
            return
        members = members_of(answer.result)
        kind = result_type(members)
        if kind == "input_required":
            self._questions.ask(call, members or {})
        elif kind != "complete":
            self.fail(call, errors.invalid_result(f"2026-07-28 knows no resultType {str(kind)[:50]!r}"))
        else:
            self._completed(call, answer.result, members)

    def _completed(self, call: DownCall, result: Raw, members: dict[str, Raw] | None) -> None:
        if call.method == "tools/list":
            self.outputs.learn(result)
        shaped = downchain.result_to_legacy(result, self._crossing(call), members)
        if isinstance(shaped, chain.Fault):
            self.context.loss(shaped.change, shaped.message)
            self.fail(call, errors.invalid_result(shaped.message))
        else:
            self._questions.completed(call, result)
            self.finish(call, "result", shaped.parts, shaped.losses)

    def _crossing(self, call: DownCall) -> chain.Crossing:
        schema, strict = self.outputs.of(call.name), self.context.options.strict
        return chain.Crossing(call.method, self.speaks, name=call.name, uri=call.uri, strict=strict, output_schema=schema)

    # -- to the client -------------------------------------------------------------------------------------------------

    def finish(self, call: DownCall, member: str, value: tuple[bytes | memoryview, ...], losses: tuple[chain.Loss, ...] = ()) -> None:
        """The call's outcome, in parts."""
        for loss in losses:
            self.context.loss(loss.change, loss.detail)
        self._calls.pop(frame.id_key(call.client_id), None)
        if self._by_wire.pop(call.wire_id, None) is not None:
            self.patience.end(call.wire_id)
        self.client.answer(call.client_id, member, *value)

    def fail(self, call: DownCall, refusal: Refusal) -> None:
        """The call ends with an error."""
        self.finish(call, "error", (refusal.encode(),))

    # -- time and ends -------------------------------------------------------------------------------------------------

    def on_timer(self, kind: str, number: int) -> None:
        """A timer whose name begins with ``down-``."""
        if kind == "down-listen":
            self.stream.on_timer()
        elif kind == "down-late":
            self._sweep()
        elif kind == "down-start":
            if number in self._own:
                slow = errors.server_never_started(self.context.options.start_timeout or 0.0)
                self._answered(frame.Failure(b"%d" % number, Raw(slow.encode())))
        else:
            call = next((call for call in self._calls.values() if call.number == number), None)
            if kind == "down-pace" and call is not None and not call.wire_id:
                self.send(call)
            elif kind == "down-ask" and call is not None and call.questions:
                self._questions.end(call, "The client did not answer in time")

    def _sweep(self) -> None:
        for wire_id in self.patience.expired():
            call = self._by_wire.get(wire_id)
            method = "subscriptions/listen" if call is None else call.method
            refusal = errors.server_slow(method, self.context.options.request_timeout or 0.0)
            if call is not None:
                self.cancel(wire_id, refusal.message)
                self.fail(call, refusal)
            elif self.stream.ended(wire_id, refusal.message):
                self.cancel(wire_id, refusal.message)

    def too_long(self, head: bytes, size: int) -> None:
        """A line over the limit was skipped."""
        self._hearing.broken(head, errors.answer_too_long(size), whole=False)

    def owner(self, ids: list[int | None]) -> DownCall | None:
        """The call that a broken answer belongs to: by its id, or, where none can be read, the only one there is."""
        if not ids and len(self._by_wire) == 1:
            return self.oldest
        return next((self._by_wire[number] for number in ids if number in self._by_wire), None)

    def lost(self, reason: str) -> None:
        """The process is gone: what was in flight fails, the rest goes on."""
        self.number = None
        refusal = errors.server_ended(reason)
        if not self._initialized:
            self.context.failed(refusal.message)
        self.context.unserved = True
        self.context.log(effects.ERROR, errors.ending(reason))
        own, self._own = self._own, {}
        for wire_id, waiter in own.items():
            waiter(frame.Failure(b"%d" % wire_id, Raw(refusal.encode())))
        for call in list(self._by_wire.values()):
            self.fail(call, refusal)
        self.stream.process_lost()

    def leave(self) -> None:
        """The process is closed by us; the next request starts another."""
        self.number = None
        self.stream.process_closed()

    def give_up(self, refusal: Refusal) -> None:
        """Answer everybody who waits with an error."""
        for call in list(self._calls.values()):
            self._questions.withdraw(call, refusal.message)
            self.fail(call, refusal)
        self.stream.give_up(refusal)
