"""From an HTTP request to the part that serves it: paths, methods, gate, media types, sessions (basic/transports).

The order is that of the specification's checks: size, Host and Origin, then the body (see ``ladder``). Everything that is
refused here has cost no process.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from dragoman import errors, frame
from dragoman.bridging.relay import legacy_offer
from dragoman.errors import Refusal
from dragoman.http.effects import Begin, Chunk, End, Header, Headers, Respond
from dragoman.http.exchange import Exchange
from dragoman.http.ladder import Initialize, InSession, Ladder, Modern, ModernNotification
from dragoman.http.legacy import BATCHING, POLLING, LegacySession
from dragoman.http.media import accepts, is_json
from dragoman.http.origins import Gate
from dragoman.http.principals import ANONYMOUS, Principals
from dragoman.http.reading import read
from dragoman.http.rejection import Rejection, plain, rpc
from dragoman.http.request import Fields, HttpRequest, duplicate
from dragoman.http.sse import JSON_HEADERS, event
from dragoman.http.streams import read_event_id
from dragoman_specs.version import Era, parse

if TYPE_CHECKING:
    from dragoman.http.face import HttpFace
    from dragoman.http.modern import ModernSide

HEALTH, SSE, MESSAGES = "/healthz", "/sse", "/messages"
_METHODS = {"POST", "GET", "DELETE"}
_ALLOW = (b"allow", b"POST, GET, DELETE, OPTIONS")
_RETRY_AFTER = (b"retry-after", b"5")
_NO_JSON = "Content-Type must be application/json, in UTF-8"
_UNKNOWN = -1
_ERRORS = 400
_MOST_ENTRIES = 1000  # of one batch


class Doors:
    """Judges heads, and leads whole requests to their part."""

    def __init__(self, face: HttpFace) -> None:
        self._face = face
        self._http = face.shared.http
        self._gate = Gate(self._http)
        self._ladder = Ladder()
        self._principals = Principals(self._http)
        self._paths = {self._http.path, HEALTH} | ({SSE, MESSAGES} if self._http.sse else set())

    # -- the head --------------------------------------------------------------------------------------------------

    def head(self, request: HttpRequest) -> Rejection | int:
        """See ``HttpFace.head``."""
        verdict = self._head(request)
        if isinstance(verdict, Rejection) and verdict.status >= _ERRORS:
            self._face.log(f"refused with {verdict.status}: {verdict.body[:300].decode(errors='replace')}")
        return verdict

    def _head(self, request: HttpRequest) -> Rejection | int:
        fields = request.fields
        if request.place not in self._paths:
            return plain(404, f"nothing is served here; the MCP endpoint is {self._http.path}")
        why = self._gate.check(fields, request.local)
        if why is not None and (request.place != HEALTH or fields.get(b"origin") is not None):
            return rpc(403, None, errors.bad_http(why))
        repeated = duplicate(fields)
        if repeated is not None:
            return rpc(400, None, errors.bad_http(f"the {repeated.decode('latin-1')} header stands more than once"))
        if request.method == "OPTIONS":
            return self._gate.preflight(fields)
        return self._method(request, fields)

    def _method(self, request: HttpRequest, fields: Fields) -> Rejection | int:
        place, method = request.place, request.method
        if method == "POST" and place not in (HEALTH, SSE):
            if is_json(fields.get(b"content-type")) and fields.get(b"content-encoding") in (None, b"identity"):
                return self._http.max_body
            what = "a Content-Encoding is not served" if is_json(fields.get(b"content-type")) else _NO_JSON
            return rpc(415, None, errors.bad_http(what), *self._gate.cors(fields))
        if place == HEALTH:
            return 0 if method in ("GET", "HEAD") else plain(405, "", (b"allow", b"GET"))
        cors = self._gate.cors(fields)
        if place == SSE and method != "GET":
            # A client that tries Streamable HTTP first falls back on this status (2024-11-05 clients only ever GET).
            return rpc(405, None, errors.bad_http("this endpoint of 2024-11-05 takes GET only"), (b"allow", b"GET"), *cors)
        if place == MESSAGES:
            return rpc(405, None, errors.bad_http("this endpoint of 2024-11-05 takes POST only"), (b"allow", b"POST"), *cors)
        if method not in _METHODS:
            return rpc(405, None, errors.bad_http(f"{method[:20]} is not served"), _ALLOW, *cors)
        return 0

    def exchange(self, number: int, request: HttpRequest, emit: Callable[[Begin | Chunk | End | Respond], None]) -> Exchange:
        """The answer-to-be of a request."""
        accepted = accepts(request.fields.joined(b"accept"))
        cors: Headers = self._gate.cors(request.fields)
        exchange = Exchange(number, emit, cors, takes_stream=accepted.events, takes_json=accepted.json)
        exchange.forwards = self._http.forward_authorization
        return exchange

    def caller(self, request: HttpRequest) -> tuple[str, str | None]:
        """For whom a request is: the principal's name, and its credentials, if they are passed on.

        Where that cannot be told it will be refused, and is nobody's until then.
        """
        principal = self._principals.of(request.fields, local=request.local)
        passed_on = request.fields.get(b"authorization") if self._http.forward_authorization else None
        name = self._face.shared.name_of(ANONYMOUS if isinstance(principal, Rejection) else principal)
        return name, None if passed_on is None else passed_on.decode("latin-1")

    # -- the whole request -----------------------------------------------------------------------------------------

    def request(self, exchange: Exchange, request: HttpRequest, body: bytes) -> None:
        """Lead a complete request to its part."""
        face, fields = self._face, request.fields
        if request.place == HEALTH:
            # A probe may come under any name; what is told under one that is not ours is what its sender knows already.
            told = face.health() if self._gate.check(fields, request.local) is None else {"status": face.health()["status"]}
            exchange.respond(503 if face.closing else 200, frame.encode(told), JSON_HEADERS)
            return
        if face.closing and request.method == "GET":
            self._refuse(exchange, 503, errors.going_down(), _RETRY_AFTER)
            return
        principal = self._principals.of(fields, local=request.local)
        if isinstance(principal, Rejection):
            self._reject(exchange, principal)
            return
        if self._http.forward_authorization:
            face.shared.came_with(principal, fields.get(b"authorization"))
        if request.place == SSE:
            self._open_two_endpoints(exchange, principal)
        elif request.place == MESSAGES:
            self._two_endpoints(exchange, request, principal, body)
        elif request.method == "POST":
            self._post(exchange, fields, principal, body)
        else:
            self._session_request(exchange, request, principal)

    def _reject(self, exchange: Exchange, rejection: Rejection) -> None:
        self._face.log(f"refused with {rejection.status}: {rejection.body[:300].decode(errors='replace')}")
        exchange.respond(rejection.status, rejection.body, rejection.headers)

    def _refuse(self, exchange: Exchange, status: int, refusal: Refusal, *headers: Header) -> None:
        """Answer with an error that carries the request's id."""
        self._reject(exchange, rpc(status, exchange.client_id, refusal, *headers))

    def _is_late(self, exchange: Exchange, message: frame.Frame | list[frame.Frame] | None) -> bool:
        """Whether the message came after the end had begun; what helps a call to its own end is still taken."""
        if not self._face.closing or not isinstance(message, frame.Request | list):
            return False
        self._refuse(exchange, 503, errors.going_down(), _RETRY_AFTER)
        return True

    def _may_start(self, exchange: Exchange, principal: bytes, processes: int = 1) -> bool:
        """Whether so many server processes may be started; else the request is answered 503."""
        if not processes:
            return True
        face = self._face
        restarts = face.shared.restarts(principal)
        pause = restarts.pause(face.now)
        if pause:
            refusal = errors.server_fault(restarts.why(face.now))
            self._refuse(exchange, 503, refusal, (b"retry-after", b"%d" % (pause + 1)))
        elif not face.room(processes):
            self._refuse(exchange, 503, errors.busy(self._http.max_sessions), _RETRY_AFTER)
        else:
            return True
        return False

    def _post(self, exchange: Exchange, fields: Fields, principal: bytes, body: bytes) -> None:
        message, body = read(body)
        if isinstance(message, frame.Request):
            exchange.client_id, exchange.method = message.id, message.method
        if self._is_late(exchange, message):
            return
        if not exchange.takes_stream and exchange.stream_only:
            self._refuse(exchange, 406, errors.bad_http("Accept must list application/json and text/event-stream"))
            return
        route = self._ladder.judge(message, body, fields)
        if isinstance(route, Modern):
            self._modern(exchange, route, fields, principal)
        elif isinstance(route, InSession):
            self._in_session(exchange, route, fields, principal, body)
        elif isinstance(route, Initialize):
            self._initialize(exchange, route.request, principal, body)
        elif isinstance(route, ModernNotification):
            self._notification(exchange, route, principal)
        else:
            self._reject(exchange, route)

    # -- modern ----------------------------------------------------------------------------------------------------

    def _modern(self, exchange: Exchange, route: Modern, fields: Fields, principal: bytes) -> None:
        side = self._face.side(principal)
        if route.request.method == "subscriptions/listen" and not exchange.takes_stream:
            self._refuse(exchange, 406, errors.bad_http("Accept must list text/event-stream for a stream"))
        elif self._may_start(exchange, principal, self._wanted(side, route)):
            side = side or self._face.open_side(principal)
            side.request(exchange, route.request, route.envelope, fields)
            self._face.drain(side)

    def _wanted(self, side: ModernSide | None, route: Modern) -> int:
        """How many processes a request would start."""
        if side is not None:
            return side.processes_for(route.request, route.envelope)
        return 2 if self._http.isolation == "session" and route.request.method == "tools/call" else 1

    def _notification(self, exchange: Exchange, route: ModernNotification, principal: bytes) -> None:
        side = self._face.side(principal)
        if side is None:
            if route.note.method != "notifications/cancelled":
                self._face.loss("notification", f"{route.note.method[:100]} from a client that no server was started for")
        else:
            mine = [open_ for open_ in self._face.exchanges.values() if open_.owner is side]
            side.notification(route.note, mine)
            self._face.drain(side)
        exchange.respond(202)

    # -- legacy ----------------------------------------------------------------------------------------------------

    def _initialize(self, exchange: Exchange, request: frame.Request, principal: bytes, line: bytes) -> None:
        if not self._may_start(exchange, principal):
            return
        session = self._face.open_session(principal)
        session.initialize(exchange, request, legacy_offer(session.context, request, line))
        self._face.drain(session)

    def _session(self, exchange: Exchange, fields: Fields, text: bytes, principal: bytes) -> LegacySession | None:
        """The session that a request names, or None and a refusal; somebody else's is as unknown as none."""
        session = self._face.sessions.get(text.decode("latin-1"))
        if session is None or session.principal != principal or session.two_endpoints:
            self._refuse(exchange, 404, errors.unknown_session())
            return None
        said = fields.get(b"mcp-protocol-version")
        # Clients are known to name the revision that they asked for instead of the one that was agreed. It is neither invalid nor
        # unsupported, which is all that a server has to refuse (2025-11-25, basic/transports#protocol-version-header).
        version = None if said is None else parse(said.decode("latin-1"))
        if said is not None and session.revision is not None and (version is None or version.era is not Era.LEGACY):
            self._refuse(exchange, 400, errors.wrong_version_header(said.decode("latin-1"), session.revision))
            return None
        session.context.now = self._face.now
        return session

    def _in_session(self, exchange: Exchange, route: InSession, fields: Fields, principal: bytes, line: bytes) -> None:
        session = self._session(exchange, fields, route.id, principal)
        if session is not None:
            self._say(session, exchange, route.message, line)

    def _say(self, session: LegacySession, exchange: Exchange, message: frame.Frame | list[frame.Frame], line: bytes) -> None:
        if session.needs_process and not self._may_start(exchange, session.principal):
            return
        if isinstance(message, list):
            refusal = self._batch_refusal(session, message)
            if refusal is not None:
                self._reject(exchange, rpc(400, None, refusal, null_id=session.revision is not POLLING))
            else:
                session.batch(exchange, message, line)
        else:
            session.message(exchange, message, line)
        self._face.drain(session)

    def _batch_refusal(self, session: LegacySession, items: list[frame.Frame]) -> Refusal | None:
        if session.revision is not BATCHING:
            return errors.no_http_batches()
        if not items:
            return errors.empty_batch()
        if len(items) > _MOST_ENTRIES:
            return errors.big_batch(_MOST_ENTRIES)
        if any(isinstance(item, frame.Request) and item.method == "initialize" for item in items):
            return errors.initialize_in_batch()
        return None

    def _session_request(self, exchange: Exchange, request: HttpRequest, principal: bytes) -> None:
        """GET or DELETE: only a session has anything to give or to end."""
        fields = request.fields
        text = fields.get(b"mcp-session-id")
        if text is None:
            self._refuse(exchange, 405, errors.bad_http(f"{request.method} needs an Mcp-Session-Id"), _ALLOW)
            return
        session = self._session(exchange, fields, text, principal)
        if session is None:
            return
        if request.method == "DELETE":
            session.end("the client has ended it")
            self._face.drain(session)
            exchange.respond(204)
        elif not exchange.takes_stream:
            self._refuse(exchange, 406, errors.bad_http("Accept must list text/event-stream"))
        else:
            last_event = fields.get(b"last-event-id")
            if not session.listen(exchange, None if last_event is None else read_event_id(last_event) or (_UNKNOWN, 0)):
                self._refuse(exchange, 405, errors.bad_http("the stream has ended, and nothing came after that event"), _ALLOW)
            self._face.drain(session)

    # -- the two endpoints of 2024-11-05 -----------------------------------------------------------------------------

    def _open_two_endpoints(self, exchange: Exchange, principal: bytes) -> None:
        if not exchange.takes_stream:
            self._refuse(exchange, 406, errors.bad_http("Accept must list text/event-stream"))
            return
        session = self._face.open_session(principal, two_endpoints=True)
        session.listen(exchange, None)
        # Relative, so that it stays below whatever prefix a proxy adds (2024-11-05, basic/transports#http-with-sse).
        exchange.event(event(b"messages?session_id=%b" % session.id.encode(), name=b"endpoint"))
        self._face.drain(session)

    def _two_endpoints(self, exchange: Exchange, request: HttpRequest, principal: bytes, body: bytes) -> None:
        session_id = next((part[11:] for part in request.query.split(b"&") if part.startswith(b"session_id=")), b"")
        session = self._face.sessions.get(session_id.decode("latin-1"))
        message, line = read(body)
        if isinstance(message, frame.Request):
            exchange.client_id, exchange.method = message.id, message.method
        if self._is_late(exchange, message):
            return
        if session is None or session.principal != principal or not session.two_endpoints:
            self._refuse(exchange, 404, errors.unknown_session())
            return
        session.context.now = self._face.now
        if message is None or isinstance(message, frame.Malformed):
            refusal = errors.empty_body() if message is None else Refusal(message.code, message.message)
            self._reject(exchange, rpc(400, message.id if message else None, refusal, null_id=True))
        elif not isinstance(message, frame.Request) or message.method != "initialize" or session.revision is not None or not session.idle:
            self._say(session, exchange, message, line)
        elif not session.needs_process or self._may_start(exchange, principal):
            session.initialize(exchange, message, legacy_offer(session.context, message, line))
            self._face.drain(session)
