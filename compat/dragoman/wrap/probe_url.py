"""Which era the server behind a URL speaks, and over which transport (2026-07-28, basic/versioning and basic/transports).

``server/discover`` first: a POST starts nothing. Its answer is judged as for clients (``http.remote``), and where it proves
nothing ``initialize`` may: gateways refuse methods that they do not know with 401 or 500 and let the handshake through. If that is
answered 400, 404 or 405, the URL may be a stream of 2024-11-05: it begins with an ``endpoint`` event (2025-03-26,
basic/transports#backwards-compatibility). A session that was opened is ended.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol
from urllib.parse import urljoin, urlsplit

from dragoman import frame
from dragoman.bridging.diagnosis import (
    HTTP_SSE,
    STREAMABLE_HTTP,
    Diagnosis,
    in_words,
    initialize_params,
    message_of,
    named_in,
    one_line,
    read_discovery,
    read_handshake,
)
from dragoman.bridging.era import LEGACY, MODERN, discover_params, judge
from dragoman.http.remote import UNKNOWN, judge_answer
from dragoman.io.http_asker import Answer, NoAnswer, Resolve, Streamed
from dragoman.wrap.probe_command import offer_in_words
from dragoman_specs import version
from dragoman_specs.names import HEADER_METHOD, HEADER_PROTOCOL_VERSION, HEADER_SESSION_ID
from dragoman_specs.version import LATEST_LEGACY, LATEST_MODERN, Version

_JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
_MODERN = {**_JSON, HEADER_PROTOCOL_VERSION: str(LATEST_MODERN), HEADER_METHOD: "server/discover"}
_STREAM = {"Accept": "text/event-stream"}
_ID = b'"dragoman-probe"'
_PERHAPS_A_STREAM = frozenset((400, 404, 405))
_READ = (200, 400)
_REFUSED = (401, 403)
_PUT_OFF = 429
_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_LONGEST_CHALLENGE = 1000


class Asker(Protocol):
    """Sends one request at a time to one URL, with the credentials that were given."""

    remarks: list[str]
    """What is to be told of redirects that were followed, and of credentials that could not be had."""

    @property
    def has_credentials(self) -> bool:
        """Whether any were sent."""

    def ask(self, method: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """The answer to a POST or DELETE. Raises ``NoAnswer``."""

    def ask_stream(self, headers: Mapping[str, str], body: bytes, resolve: Resolve) -> Streamed:
        """GET the stream, wait for its ``endpoint``, POST ``body`` to what ``resolve`` makes of it, wait for the answer on the stream.

        If ``resolve`` answers None nothing is posted. Raises ``NoAnswer``, also for a stream that begins with anything else.
        """


def diagnose_url(url: str, asker: Asker, *, every: bool = False) -> Diagnosis:
    """What is found out; ``every`` also offers each of the legacy revisions in turn."""
    probe = _Probe(url, asker)
    probe.discover()
    if not probe.over:
        probe.initialize()
    if not probe.found.usable and probe.last is not None and probe.last.status in _PERHAPS_A_STREAM:
        probe.stream()
    if every and probe.found.accepts_handshake:
        probe.offer_each()
    for text in asker.remarks:
        probe.found.note(one_line(text, 300))
    if probe.found.usable:
        probe.warn()
    else:
        probe.found.transport = None
        probe.give_up()
    return probe.found


class _Probe:
    def __init__(self, url: str, asker: Asker) -> None:
        self.found = Diagnosis(transport=STREAMABLE_HTTP)
        self.over = False  # nothing is there, or it asked not to be asked
        self.last: Answer | None = None  # to a POST
        self._url = url
        self._asker = asker
        self._fault = ""
        self._undecided = True  # server/discover has not been answered in a way that shows the era
        self._refused = 0  # with this status, while credentials may help

    # -- the questions -----------------------------------------------------------------------------------------------

    def discover(self) -> None:
        """Ask with the words of 2026-07-28."""
        asked = "POST server/discover"
        answer = self._post(asked, _MODERN, "server/discover", discover_params())
        if answer is None:
            return
        verdict = judge_answer(answer.status, answer.body, answer.headers.get("www-authenticate", "").encode() or None)
        message = message_of(answer.body)
        if verdict.era == MODERN and message is not None:
            read_discovery(self.found, message)
            self.found.why = verdict.why
        elif verdict.era != UNKNOWN:
            self.found.accepts_modern = False
        self._undecided = verdict.era == UNKNOWN
        self.over = answer.status == _PUT_OFF
        self.found.step(asked, _in_words(answer), verdict.why if message is not None or verdict.era == UNKNOWN else "no sign of 2026-07-28")

    def initialize(self) -> None:
        """Ask with the words of every other revision."""
        offered: Version | None = LATEST_LEGACY
        tried: list[Version] = []
        while offered is not None:
            tried.append(offered)
            asked = f"POST initialize, offering {offered}"
            answer = self._post(asked, _JSON, "initialize", initialize_params(offered))
            if answer is None:
                return
            message = message_of(answer.body)
            # Only a server that has read the offer can name another; on 404 and 405 the text is a matter of the endpoint.
            offered = named_in(message, tried) if isinstance(message, frame.Failure) and answer.status in _READ else None
            self.found.step(asked, _in_words(answer), f"it may accept {offered}" if offered else self._judge(answer))

    def _judge(self, answer: Answer) -> str:
        """What an answer to ``initialize`` means."""
        found, message = self.found, message_of(answer.body)
        if isinstance(message, frame.Result) and answer.status < 300 and read_handshake(found, message.result):
            found.why = f"{found.why}, and it accepts initialize too" if found.accepts_modern else "it accepts initialize"
            self._leave(answer)
            return "it accepts the handshake"
        if answer.status in _REFUSED or answer.status == _PUT_OFF or answer.status >= 500:
            return "that says nothing about its era"
        found.accepts_handshake = False
        if message is not None and not found.accepts_modern:
            era, why = judge(message)
            if era == MODERN:
                read_discovery(found, message)
                found.why = why
                return why
        return "it refuses the handshake" if isinstance(message, frame.Failure) else "that is no handshake"

    def stream(self) -> None:
        """Ask for a stream of 2024-11-05."""
        asked = "GET a stream, and POST initialize to its endpoint"
        body = frame.request(_ID, "initialize", initialize_params(LATEST_LEGACY))
        try:
            streamed = self._asker.ask_stream(_STREAM, body, self._resolve)
        except NoAnswer as fault:
            self.found.step(asked, one_line(str(fault)), "no stream of 2024-11-05")
            return
        if streamed.endpoint is None:
            self.found.step(asked, f"status {streamed.status}, no endpoint event", "no stream of 2024-11-05")
        elif self._resolve(streamed.endpoint) is None:
            self.found.step(asked, "an endpoint event that names another host", "refused: credentials may go to this one only")
        else:
            self.found.transport = HTTP_SSE
            message = message_of(streamed.body)
            accepted = isinstance(message, frame.Result) and read_handshake(self.found, message.result)
            self.found.step(
                asked, _in_words(Answer(200, {}, streamed.body)), "a server of HTTP+SSE" if accepted else "it refuses the handshake"
            )
            if accepted:
                self.found.why = "its stream begins with an endpoint event, and it accepts initialize"

    def offer_each(self) -> None:
        """Offer each legacy revision, each in a session of its own."""
        for offered in version.LEGACY:
            body = frame.request(_ID, "initialize", initialize_params(offered))
            try:
                if self.found.transport == HTTP_SSE:
                    answer = Answer(200, {}, self._asker.ask_stream(_STREAM, body, self._resolve).body)
                else:
                    answer = self._asker.ask("POST", _JSON, body)
                    self._leave(answer)
            except NoAnswer as fault:
                self.found.offers[offered] = one_line(str(fault))
                continue
            message = message_of(answer.body)
            self.found.offers[offered] = _in_words(answer) if message is None else offer_in_words(message)

    def _post(self, asked: str, headers: Mapping[str, str], method: str, params: bytes) -> Answer | None:
        try:
            self.last = answer = self._asker.ask("POST", headers, frame.request(_ID, method, params))
        except NoAnswer as fault:
            self.last = None
            self.over = not fault.silent
            self._fault = one_line(str(fault))
            self.found.step(asked, self._fault, "that says nothing about its era")
            return None
        if answer.status in _REFUSED:
            self._refused = answer.status
            challenge = answer.headers.get("www-authenticate")
            self.found.challenge = one_line(challenge, _LONGEST_CHALLENGE) if challenge else self.found.challenge
        return answer

    def _leave(self, answer: Answer) -> None:
        """End the session that ``answer`` opened, if it opened one. Servers may refuse that."""
        session = answer.headers.get(HEADER_SESSION_ID.lower())
        if session is None:
            return
        headers = {HEADER_SESSION_ID: session}
        if self.found.legacy_revision is not None:
            headers[HEADER_PROTOCOL_VERSION] = str(self.found.legacy_revision)
        try:
            self._asker.ask("DELETE", headers, b"")
        except NoAnswer:
            pass

    def _resolve(self, endpoint: str) -> str | None:
        """The endpoint's URL; None: it leads to another origin."""
        whole = _joined(self._url, endpoint)
        return whole if _origin(whole) == _origin(self._url) is not None else None

    # -- the end -------------------------------------------------------------------------------------------------------

    def warn(self) -> None:
        """It can be used, but not every question got through."""
        if self._undecided and not (self._refused and self._asker.has_credentials):
            era = MODERN if self.found.accepts_modern else LEGACY
            self.found.advise(
                f"give dragoman --server-era {era}: by itself it goes by the answer to server/discover, which did not show it"
            )
        if self._refused:
            self.found.note(
                f"one of the questions was refused with status {self._refused}, though not all were: a gateway may stand in front"
            )

    def give_up(self) -> None:
        """Say what stands in the way, and what to do."""
        found, last = self.found, self.last
        if self._refused:
            found.why = f"it refused the caller with status {self._refused}"
            self._advise_credentials()
        elif last is None:
            found.why = self._fault
            if self.over:
                found.advise("is the URL right, and the server running? Proxies are taken from the environment")
        elif last.status in _REDIRECTS:
            found.why = f"it redirects to {without_secrets(_joined(self._url, last.headers.get('location', '')))}"
            found.advise("if that is where the server is, give that URL")
        elif last.status == _PUT_OFF or last.status >= 500:
            wait = last.headers.get("retry-after")
            found.why = f"it answered with status {last.status}" + (f" (Retry-After: {one_line(wait, 40)})" if wait else "")
            found.advise("try again later: that says nothing about its era")
        elif "html" in last.headers.get("content-type", ""):
            found.why = "a web page is there, no MCP server"
            found.advise("give the URL of the MCP endpoint; its path is often /mcp or /sse")
        elif last.status in (404, 405):
            found.why = f"no MCP server is at this path (status {last.status})"
            found.advise("give the URL of the MCP endpoint; its path is often /mcp or /sse")
        else:
            found.why = "it answers neither server/discover nor initialize as an MCP server does"

    def _advise_credentials(self) -> None:
        if self._asker.has_credentials:
            self.found.advise("the credentials that were given are not accepted, or not for this: the challenge may say what is missing")
        else:
            self.found.advise("give credentials: dragoman login URL, --bearer-env VARIABLE, or --header NAME=VALUE")
        if self.found.challenge and "resource_metadata" in self.found.challenge:
            self.found.advise("the challenge names where its authorization server is described: dragoman login URL goes there")


def _joined(base: str, reference: str) -> str:
    try:
        return urljoin(base, reference)
    except ValueError:  # an address in brackets that is none
        return reference


def _origin(url: str) -> tuple[str, str | None, int | None] | None:
    try:
        parts = urlsplit(url)
        return parts.scheme, parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:
        return None


def without_secrets(url: str) -> str:
    """A URL as it can be shown: user, password, query and fragment may be secrets."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        port = f":{parts.port}" if parts.port is not None else ""
    except ValueError:
        return "what is no URL"
    return one_line(f"{parts.scheme}://{f'[{host}]' if ':' in host else host}{port}{parts.path}" + ("?…" if parts.query else ""))


def _in_words(answer: Answer) -> str:
    """Status and content of an HTTP answer."""
    message = message_of(answer.body)
    if message is not None:
        return f"status {answer.status}, {in_words(message)}"
    if not answer.body.strip():
        return f"status {answer.status} and nothing more"
    kind = one_line(answer.headers.get("content-type", "no content type").partition(";")[0], 60)
    text = one_line(answer.body.decode("utf-8", "replace"), 60)
    return f"status {answer.status}, {kind}: {text}"
