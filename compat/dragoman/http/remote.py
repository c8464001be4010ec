"""Which era a server behind a URL speaks, judged by its HTTP answer to ``server/discover`` (2026-07-28, basic/versioning).

The body decides before the status: a modern server answers 400 and 404 too, and then in words that only it knows. Whatever is
no such word is a legacy server's, or something's on the way to it, and ``initialize`` will show. But not every answer is
evidence: a refused caller has seen nothing of the server, and neither has one whose request was lost or put off.
"""

from __future__ import annotations

from msgspec import Struct

from dragoman import frame
from dragoman.bridging.era import LEGACY, MODERN, judge

UNKNOWN = "unknown"
_REFUSED = (401, 403)
_PUT_OFF = 429


class Verdict(Struct, frozen=True):
    """``era`` is ``LEGACY``, ``MODERN`` or ``UNKNOWN``, and ``why`` says so in words.

    ``challenge``: the answer asks for credentials (RFC 9110, section 11.6.1), to be shown to whoever can give them. ``keep``:
    the verdict may be remembered for this server.
    """

    era: str
    why: str
    challenge: bytes | None = None
    keep: bool = True
    status: int = 0


def judge_answer(status: int, body: bytes, challenge: bytes | None = None) -> Verdict:
    """The verdict on one answer; ``challenge`` is its ``WWW-Authenticate``, if any."""
    message = frame.parse(body, lenient=True)
    if isinstance(message, frame.Result | frame.Failure):
        era, why = judge(message)
        if era == MODERN:
            return Verdict(MODERN, why)
    else:
        era, why = LEGACY, f"it answered server/discover with status {status} and no JSON-RPC message"
    if status in _REFUSED:
        return Verdict(UNKNOWN, f"it refused the caller with status {status}", challenge, keep=False, status=status)
    if status == _PUT_OFF or status >= 500:
        return Verdict(UNKNOWN, f"it answered with status {status}, which says nothing about its era", keep=False)
    return Verdict(era, why)


def no_answer(why: str, challenge: str = "", status: int = 0) -> Verdict:
    """The verdict when there was none: no connection, none in time, or no credentials for it."""
    return Verdict(UNKNOWN, why, challenge.encode("latin-1", "replace") or None, keep=False, status=status)
