"""Error objects: an integer ``code``, a string ``message``, any ``data`` (basic/index#error-responses, in every revision)."""

from __future__ import annotations

from typing import Any, Final

from msgspec import Raw

from dragoman import frame
from dragoman.change import ABSENT, Members, Notes
from dragoman.shape.fixes import first, raw
from dragoman.shape.mend import AREA, show
from dragoman.shape.parts import is_text
from dragoman_specs.names import INTERNAL_ERROR

_INTERNAL: Final = raw(INTERNAL_ERROR)
_LONGEST = 20  # no code is longer, and Python refuses to read very long digits


def mend_error(error: Raw, method: str, notes: Notes) -> Members:
    """The members of a valid error object, with as much of what the server said as there is."""
    members = frame.members(error)
    if members is None:
        notes.add(AREA, f"{method}: the error was {show(error)}, repaired")
        message = error if is_text(error) else raw(f"The server answered with an error that is {show(error)}")
        return {"code": _INTERNAL, "message": message}
    return _with_code(_with_message(members, method, notes), method, notes)


def _with_message(error: Members, method: str, notes: Notes) -> Members:
    message = error.get("message", ABSENT)
    if is_text(message):
        return error
    notes.add(AREA, f"{method}: the error's message was {show(message)}, repaired")
    told: Any = bytes(message).decode() if first(message) not in {"", "n"} else "The server gave no message"
    return {**error, "message": raw(told)}


def _with_code(error: Members, method: str, notes: Notes) -> Members:
    code = error.get("code", ABSENT)
    number = _integer(bytes(code))
    if number and number == bytes(code):
        return error
    notes.add(AREA, f"{method}: the error's code was {show(code)}, repaired")
    if number:
        return {**error, "code": Raw(number)}
    return {**error, "code": _INTERNAL} if first(code) in {"", "n"} else internal_error(error)


def _integer(code: bytes) -> bytes:
    """The digits of a code, also of one that is spelled ``-32602.0`` or ``"-32602"``; empty if it is no integer."""
    whole, _, fraction = code.strip(b'"').partition(b".")
    digits = whole.removeprefix(b"-")
    return whole if digits.isdigit() and not fraction.strip(b"0") and len(whole) <= _LONGEST and str(int(whole)).encode() == whole else b""


def internal_error(error: Members) -> Members:
    """-32603 with the same message; what the server sent as code, message and data is in its data."""
    told = {"code": error["code"], "message": error["message"]}
    if "data" in error:
        told["data"] = error["data"]
    return {**error, "code": _INTERNAL, "data": raw(told)}
