"""Which era a server behind a URL speaks: ask it (2026-07-28, basic/versioning#backward-compatibility-with-initialization-based-versions).

``server/discover`` goes first, since a POST starts nothing. An answer that says nothing of the server (it is down, or busy) is asked
for again, a few times; a refusal is told with its challenge. Where credentials are known to be good and the question alone is
refused, one handshake decides.
"""

from __future__ import annotations

import asyncio

import aiohttp
from msgspec import Raw, Struct

from dragoman import frame
from dragoman.bridging.era import LEGACY, OWN_INFO, discover_params
from dragoman.http.remote import UNKNOWN, Verdict, judge_answer, no_answer
from dragoman.io.exchanges import Exchanges, Response
from dragoman.io.http_client import HttpTrouble, fields_of, trouble_of
from dragoman.io.http_settings import Who
from dragoman.remote import troubles
from dragoman.remote.effects import SILENT, UNSENT, Trouble
from dragoman.remote.sse_reader import Event, SseReader
from dragoman_specs.names import HEADER_METHOD, HEADER_PROTOCOL_VERSION, HEADER_SESSION_ID, has_version_header
from dragoman_specs.version import LATEST_LEGACY, LATEST_MODERN

PATIENCE = 15.0
"""Seconds for one answer."""
_ENOUGH = 4 << 20
_PAUSES = (0.25, 1.0)
_LONGEST_PAUSE = 5.0
_ID = b'"dragoman-probe"'


class Answer(Struct, frozen=True):
    """One HTTP answer: ``fields`` have lower-case names; of a stream ``body`` is the first response in it."""

    status: int
    fields: dict[str, str]
    body: bytes


async def ask(client: Exchanges, method: str, headers: dict[str, str], body: bytes, who: Who | None, patience: float) -> Answer:
    """One request and what is needed of its answer. Raises ``HttpTrouble``."""
    try:
        async with client.exchange(method, headers, body, who=who, patience=patience) as response, asyncio.timeout(patience):
            fields = fields_of(response)
            if fields.get("content-type", "").lower().startswith("text/event-stream"):
                return Answer(response.status, fields, await _first_answer(response))
            return Answer(response.status, fields, await _beginning(response))
    except (TimeoutError, aiohttp.ClientError, OSError) as fault:
        raise HttpTrouble(trouble_of(fault)) from None


async def _first_answer(response: Response) -> bytes:
    reader = SseReader(_ENOUGH)
    async for chunk in response.content.iter_any():
        for event in reader.feed(chunk):
            if isinstance(event, Event) and isinstance(frame.parse(event.data, lenient=True), frame.Result | frame.Failure):
                return event.data
    return b""


async def _beginning(response: Response) -> bytes:
    pieces: list[bytes] = []
    size = 0
    async for chunk in response.content.iter_any():
        pieces.append(chunk)
        size += len(chunk)
        if size > _ENOUGH:  # what was cut off could have been anything
            raise HttpTrouble(Trouble(SILENT, f"its answer is longer than {_ENOUGH >> 20} MiB", final=True))
    return b"".join(pieces)


def discover_request() -> tuple[dict[str, str], bytes]:
    """The fields and the body of the question."""
    headers = {HEADER_PROTOCOL_VERSION: str(LATEST_MODERN), HEADER_METHOD: "server/discover"}
    return headers, frame.request(_ID, "server/discover", discover_params())[:-1]


async def detect(client: Exchanges, who: Who | None = None, patience: float = PATIENCE, *, doubtful: bool = False) -> Verdict:
    """The verdict on the server behind ``client``; ``patience`` is for each of its answers, in seconds.

    ``doubtful``: a verdict before has proved wrong, so that a handshake that is accepted counts for more than words.
    """
    if doubtful:
        greeted = await _greeted(client, who, patience)
        if greeted:
            return Verdict(LEGACY, "it accepts initialize, and what it said of its era before has proved wrong")
    headers, body = discover_request()
    verdict = no_answer("it was not asked")
    for pause in (*_PAUSES, None):
        wanted: float | None = None
        try:
            answer = await ask(client, "POST", headers, body, who, patience)
        except HttpTrouble as fault:
            trouble = fault.trouble
            why = f"it refused the caller with status {trouble.status} ({trouble.text})" if trouble.status else trouble.text
            verdict = no_answer(why, trouble.challenge, trouble.status)
            if trouble.final or trouble.kind != UNSENT:
                return verdict
        else:
            verdict = judge_answer(answer.status, answer.body, answer.fields.get("www-authenticate", "").encode() or None)
            if verdict.era != UNKNOWN:
                return verdict
            if answer.status in troubles.REFUSED:
                return await _shown_in(client, verdict, who, patience)
            wanted = _seconds(answer.fields.get("retry-after", ""))
        if pause is None or (wanted or 0.0) > _LONGEST_PAUSE:
            break
        await asyncio.sleep(pause if wanted is None else wanted)
    return verdict


async def _has_token(client: Exchanges, who: Who | None) -> bool:
    if who is not None and who.authorization is not None:
        return True
    credentials = client.credentials if who is None else who.credentials
    return credentials is not None and bool(await credentials.apply())


async def _shown_in(client: Exchanges, refused: Verdict, who: Who | None, patience: float) -> Verdict:
    """The question was refused: whether the caller is, or only what was asked, a handshake tells."""
    if not client.settings.headers and not await _has_token(client, who):
        return refused
    if not await _greeted(client, who, patience):
        return refused
    return Verdict(LEGACY, "it refuses server/discover, and accepts initialize")


def _seconds(text: str) -> float | None:
    text = text.strip()
    return float(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


async def _greeted(client: Exchanges, who: Who | None, patience: float) -> bool:
    """Whether the server accepts a handshake; the session that this may begin is ended."""
    params = {"protocolVersion": str(LATEST_LEGACY), "capabilities": {}, "clientInfo": Raw(OWN_INFO)}
    try:
        answer = await ask(client, "POST", {}, frame.request(_ID, "initialize", frame.encode(params))[:-1], who, patience)
        message = frame.parse(answer.body, lenient=True)
        if answer.status >= 300 or not isinstance(message, frame.Result):
            return False
        if session := answer.fields.get("mcp-session-id"):
            version = frame.text((frame.members(message.result) or {}).get("protocolVersion")) or str(LATEST_LEGACY)
            fields = {HEADER_PROTOCOL_VERSION: version} if has_version_header(version) else {}
            await ask(client, "DELETE", {HEADER_SESSION_ID: session, **fields}, b"", who, patience)
    except HttpTrouble:
        return False
    return True
