"""Media types of requests and answers (RFC 9110, sections 8.3 and 12.5.1; basic/transports/streamable-http#sending-messages).

A body is ``application/json`` in UTF-8, and nothing that a browser may send across origins without asking first. A client
lists the two types that it must be able to read, and is never sent one that it does not want.
"""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import Struct

_TOKEN = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_QUOTED = rb'"(?:[^"\\]|\\.)*+"'
_TYPE = re.compile(rb"[ \t]*+(" + _TOKEN + rb"/" + _TOKEN + rb")[ \t]*+")
# An empty parameter ("; ;") is allowed by the grammar.
_PARAMETER = re.compile(rb";[ \t]*+(?:(" + _TOKEN + rb")=(" + _TOKEN + rb"|" + _QUOTED + rb")[ \t]*+)?+")
_WEIGHT = re.compile(rb"0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?")
_MEMBERS = re.compile(rb"(?:[^,\"]++|" + _QUOTED + rb"|\")++")
_UTF8 = (b"utf-8", b"utf8")
_CACHED = 64


def _read(text: bytes) -> tuple[bytes, list[tuple[bytes, bytes]]] | None:
    """A media type or range and its parameters, type and names in lower case; None for what is none."""
    found = _TYPE.match(text)
    if found is None:
        return None
    parameters: list[tuple[bytes, bytes]] = []
    at = found.end()
    while at < len(text):
        parameter = _PARAMETER.match(text, at)
        if parameter is None:
            return None
        if parameter[1] is not None:
            parameters.append((parameter[1].lower(), parameter[2].strip(b'"')))
        at = parameter.end()
    return found[1].lower(), parameters


@lru_cache(_CACHED)
def is_json(content_type: bytes | None) -> bool:
    """Whether a ``Content-Type`` announces JSON in UTF-8."""
    media = None if content_type is None else _read(content_type)
    if media is None or media[0] != b"application/json":
        return False
    return all(value.lower() in _UTF8 for name, value in media[1] if name == b"charset")


class Accepts(Struct, frozen=True, gc=False):
    """Which of the two kinds of answer a client takes."""

    json: bool
    events: bool


@lru_cache(_CACHED)
def accepts(accept: bytes | None) -> Accepts:
    """What an ``Accept`` field (all of its lines, joined) asks for; absent or empty it asks for nothing in particular.

    The most exact range decides, wherever it stands; a member that can't be read is passed over.
    """
    if accept is None or not accept.strip(b" \t,"):
        return Accepts(json=True, events=True)
    wanted: dict[bytes, bool] = {}
    for member in _MEMBERS.findall(accept):
        media = _read(member)
        if media is None:
            continue
        weight = next((value for name, value in media[1] if name == b"q"), b"1")
        if _WEIGHT.fullmatch(weight):
            wanted[media[0]] = wanted.get(media[0], False) or weight.strip(b"0.") != b""
    return Accepts(json=_takes(wanted, b"application", b"json"), events=_takes(wanted, b"text", b"event-stream"))


def _takes(wanted: dict[bytes, bool], kind: bytes, name: bytes) -> bool:
    ranges = (kind + b"/" + name, kind + b"/*", b"*/*")
    return next((wanted[media] for media in ranges if media in wanted), False)
