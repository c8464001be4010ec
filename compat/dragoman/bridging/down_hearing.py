"""Notifications of a modern server on their way to a legacy client, and what of it cannot be read.

Progress goes to the request that owns the token; one token of the client's spans all rounds of its call and must increase over
them all. Log messages are filtered by the level that the client has set. What comes on the subscription stream goes to the session.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Raw

from dragoman import chain, downchain, frame
from dragoman.bridging import effects
from dragoman.bridging.broken import ids_in, looks_like_frame, shown
from dragoman.bridging.down_calls import DownCall
from dragoman.bridging.down_stream import ACKNOWLEDGED, UPDATED
from dragoman.bridging.ids import number_of
from dragoman.bridging.listens import LIST_CHANGES
from dragoman.errors import Refusal
from dragoman_specs.names import LOG_LEVELS, META_SUBSCRIPTION_ID, PROGRESS_TOKEN

if TYPE_CHECKING:
    from dragoman.bridging.downgrade_server import DowngradeServer

_CHANGES = {method for _, method in LIST_CHANGES.values()}


class DownHearing:
    """Reads them for one bridge."""

    def __init__(self, bridge: DowngradeServer) -> None:
        self._bridge = bridge
        self._context = bridge.context

    def hear(self, note: frame.Notification) -> None:
        """One notification."""
        params = frame.members(note.params) or {}
        meta = frame.members(params.get("_meta")) or {}
        stream = self._bridge.stream
        if note.method == ACKNOWLEDGED:
            stream.acknowledged(meta, params)
        elif note.method == "notifications/cancelled":
            stream.ended(number_of(bytes(params.get("requestId", Raw(b"")))) or 0, "it has ended it")
        elif note.method in _CHANGES or note.method == UPDATED:
            if note.method == "notifications/tools/list_changed":
                self._bridge.outputs.forget()
            if stream.carries(note.method, meta, params):
                self._pass_on(note, None)
        elif note.method == "notifications/progress":
            self._progress(note, params)
        elif META_SUBSCRIPTION_ID not in meta:
            self._message(note, params)

    def _progress(self, note: frame.Notification, params: dict[str, Raw]) -> None:
        call = self._bridge.in_progress(number_of(bytes(params.get(PROGRESS_TOKEN, Raw(b"")))) or 0)
        if call is None or call.token is None:
            self._context.loss("progress", "notifications/progress for no request in flight")
            return
        try:
            value = float(bytes(params.get("progress", Raw(b"x"))))
        except ValueError:
            self._context.loss("progress", "notifications/progress without a number")
            return
        if call.last_progress is not None and value <= call.last_progress:
            self._context.loss("progress", "notifications/progress that did not increase")
            return
        call.last_progress = value
        params[PROGRESS_TOKEN] = call.token
        self._pass_on(frame.Notification(note.method, Raw(frame.encode(params))), call)

    def _message(self, note: frame.Notification, params: dict[str, Raw]) -> None:
        level, wanted = frame.text(params.get("level")), self._bridge.level
        if note.method == "notifications/message" and (
            wanted is None or (level in LOG_LEVELS and LOG_LEVELS.index(level) < LOG_LEVELS.index(wanted))
        ):
            self._context.log(effects.DEBUG, "a log message that the client did not ask for")
            return
        about = number_of(self._context.about)
        self._pass_on(note, (None if about is None else self._bridge.in_progress(about)) or self._bridge.oldest)

    def _pass_on(self, note: frame.Notification, call: DownCall | None) -> None:
        crossing = chain.Crossing(note.method, self._bridge.speaks)
        shaped = downchain.notification_to_legacy(note.params or Raw(b""), crossing)
        if isinstance(shaped, chain.Fault):
            self._context.loss(shaped.change, shaped.message)
        else:
            self._bridge.client.tell(note.method, shaped.raw or None, None if call is None else call.client_id)

    def broken(self, line: bytes, refusal: Refusal, *, whole: bool = True) -> None:
        """A line that could not be read: its owner hears of it; text goes to the operator."""
        if not looks_like_frame(line):
            self._context.noise(shown(line))
            return
        self._context.invalid(f"a line that is no valid message: {shown(line)}")
        call = self._bridge.owner([number_of(text) for text in ids_in(line, whole=whole)])
        if call is None:
            self._context.loss("framing", f"{refusal.message}; whose it was could not be told")
        else:
            self._bridge.fail(call, refusal)
