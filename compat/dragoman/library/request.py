"""One request on its way through a server of the library: what was asked, by whom, and what is told before the answer."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import Any

import msgspec

from dragoman import frame
from dragoman.bridging.envelope import Envelope
from dragoman.bridging.sealing import Sealer, digest_of
from dragoman.library.errors import ProtocolError
from dragoman.library.questions import Question
from dragoman.library.rounds import Asked, Rounds
from dragoman_specs.names import INVALID_PARAMS, LOG_LEVELS, MISSING_CLIENT_CAPABILITY

Send = Callable[[bytes], None]
_decode = msgspec.json.Decoder().decode


class Origin:
    """Where a request came from: the ASGI ``scope`` of its HTTP request (None elsewhere), and who sent it, as far as that is known."""

    __slots__ = ("principal", "scope")

    def __init__(self, scope: dict[str, Any] | None = None, principal: str | None = None) -> None:
        self.scope = scope
        self.principal = principal


class Handling:
    """See the module. ``send`` takes finished lines without their newline, ``wall`` is epoch seconds, ``state`` the lifespan's."""

    def __init__(
        self, request: frame.Request, envelope: Envelope, send: Send, sealer: Sealer, wall: float, origin: Origin, state: Any
    ) -> None:
        self.id = request.id
        self.method = request.method
        self.origin = origin
        self.state = state
        self.sealer = sealer
        self.wall = wall
        self._request = request
        self.capabilities = envelope.capabilities
        self._envelope = envelope
        self._send = send
        self._told: float | None = None
        self._lock = threading.Lock()
        self._rounds: Rounds | None = None
        if "requestState" in envelope.params or "inputResponses" in envelope.params:
            self._resume()

    @property
    def meta(self) -> dict[str, Any]:
        """All of ``_meta``."""
        found = _decode(self._request.params or b"{}").get("_meta", {})
        return found if isinstance(found, dict) else {}

    @property
    def client(self) -> dict[str, Any]:
        """``clientInfo``; {} if there is none."""
        info = self._envelope.client_info
        return {} if info is None else _decode(info)

    def param(self, name: str) -> Any:
        """A member of params; None if it is left out. Raises ``ProtocolError`` for what cannot be read."""
        raw = self._envelope.params.get(name)
        if raw is None:
            return None
        try:
            return _decode(raw)
        except (msgspec.MsgspecError, RecursionError) as fault:
            raise ProtocolError(INVALID_PARAMS, f"Invalid params: {name}: {fault}") from None

    @property
    def rounds(self) -> Rounds:
        """What was asked and answered; most requests ask nothing."""
        if self._rounds is None:
            bound = digest_of(self.method, self._envelope.params)
            principal = self.origin.principal
            self._rounds = Rounds(self.sealer, (bound if principal is None else f"{bound} {principal}").encode(), self.wall)
        return self._rounds

    @property
    def pending(self) -> dict[str, Question[Any]]:
        """The questions that the run ended with."""
        return {} if self._rounds is None else self._rounds.pending

    def _resume(self) -> None:
        state, answers = self.param("requestState"), self.param("inputResponses") if "inputResponses" in self._envelope.params else {}
        if not isinstance(answers, dict):
            raise ProtocolError(INVALID_PARAMS, "Invalid params: inputResponses must be an object")
        self.rounds.fresh, self.rounds.is_first = answers, state is None
        if state is not None and not (isinstance(state, str) and self.rounds.resume(state)):
            raise ProtocolError(
                INVALID_PARAMS, "Invalid params: requestState is not one of this request's, or too old: call again without it"
            )

    def text(self, name: str) -> str:
        """A member of params that has to be a text."""
        value = self.param(name)
        if not isinstance(value, str):
            raise ProtocolError(INVALID_PARAMS, f"Invalid params: {name} must be a string")
        return value

    def object(self, name: str) -> dict[str, Any]:
        """A member of params that is an object, or left out."""
        value = self.param(name)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise ProtocolError(INVALID_PARAMS, f"Invalid params: {name} must be an object")
        return value

    def ask(self, questions: tuple[Question[Any], ...]) -> list[Any]:
        """See ``Context.ask``."""
        try:
            return self.rounds.ask(questions)
        except Asked as asked:
            missing = _missing(asked.questions.values(), self.capabilities)
            if not missing:
                raise
            self.rounds.pending.clear()
            told = f"This call needs a client capability that the request did not declare: {', '.join(_names_of(missing))}"
            raise ProtocolError(MISSING_CLIENT_CAPABILITY, told, {"requiredCapabilities": missing}) from None

    def progress(self, value: float, total: float | None, message: str | None) -> None:
        """See ``Context.progress``."""
        if not all(math.isfinite(each) for each in (value, total or 0)):
            raise ValueError(f"progress is told in finite numbers, not {value} of {total}")
        token = self._envelope.progress_token
        if token is None:
            return
        told: dict[str, Any] = {"progressToken": msgspec.Raw(token), "progress": value}
        if total is not None:
            told["total"] = total
        if message is not None:
            told["message"] = message
        with self._lock:  # threads of the handler's may tell it at once
            if self._told is None or value > self._told:
                self._told = value
                self.tell("notifications/progress", told)

    def log(self, level: str, data: Any, logger: str | None) -> None:
        """See ``Context.log``."""
        wanted = self._envelope.log_level
        if wanted is not None and LOG_LEVELS.index(level) >= LOG_LEVELS.index(wanted):
            self.tell("notifications/message", {"level": level, "data": data, **({"logger": logger} if logger else {})})

    def tell(self, method: str, params: dict[str, Any]) -> None:
        """A notification on the request's own stream. Raises ``TypeError`` for what has no form in JSON."""
        self._send(frame.notification(method, one_line(msgspec.json.encode(params)))[:-1])


def one_line(text: bytes) -> bytes:
    """JSON on one line: only what came as it is (``msgspec.Raw``) has line ends, and between tokens a space means as much."""
    return text.replace(b"\n", b" ").replace(b"\r", b" ") if b"\n" in text or b"\r" in text else text


def _names_of(missing: dict[str, Any]) -> list[str]:
    return [name for each, subs in missing.items() for name in ([f"{each}.{sub}" for sub in subs] if subs else [each])]


def _missing(questions: Any, capabilities: dict[str, Any]) -> dict[str, Any]:
    """What the questions need beyond what the client declared."""
    missing: dict[str, Any] = {}
    for question in questions:
        for name, subs in question.needs().items():
            has = capabilities.get(name)
            # A client that declares elicitation and no mode of it means forms (client/elicitation#capabilities).
            lacking = [sub for sub in subs if not isinstance(has, dict) or (sub not in has and not (sub == "form" and not has))]
            if not isinstance(has, dict) or lacking:
                missing.setdefault(name, {}).update({sub: {} for sub in lacking})
    return missing
