"""``requestState``: what a parked call hands to the client and gets back (2026-07-28, basic/patterns/mrtr#server-requirements).

The text passes through the client, so it is an attacker's input until it opens: it is encrypted and authenticated, and
bound to whom it was given (the associated data), to a request, a round and an expiry (the content). What the seal cannot
give, single use, is for the holder of the calls to keep.
"""

from __future__ import annotations

import binascii
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import msgspec
from msgspec import Raw, Struct

from dragoman_specs.methods import find
from dragoman_specs.version import LATEST_MODERN

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

KEY_SIZE = 32
_NONCE_SIZE = 12
_TAG_SIZE = 16
_LABEL = b"dragoman requestState 1\0"
_TO_URL = bytes.maketrans(b"+/", b"-_")
_FROM_URL = bytes.maketrans(b"-_", b"+/")
# A JavaScript peer spells whole numbers out up to here; a bound keeps 1e999999 from growing into a megabyte.
_LONGEST_SPELLED_OUT = 22


class Sealer(Protocol):
    """Makes opaque texts that only it can read and nobody can change."""

    def seal(self, payload: bytes, bound: bytes) -> str:
        """A text that opens to ``payload`` under the same ``bound``; two seals of one payload differ."""
        ...

    def open(self, text: str, bound: bytes) -> bytes | None:
        """The payload; None for a text that was changed, made elsewhere, or sealed under another ``bound``."""
        ...


class AeadSealer:
    """AES-256-GCM under ``key``, or under a key of this process alone; ``random(n)`` gives n unpredictable bytes.

    The cipher is loaded at the first question, not at the start.
    """

    __slots__ = ("_cipher", "_key", "_random")

    def __init__(self, key: bytes | None, random: Callable[[int], bytes]) -> None:
        self._key = random(KEY_SIZE) if key is None else key
        if len(self._key) != KEY_SIZE:
            raise ValueError(f"a sealing key has {KEY_SIZE} bytes, this one has {len(self._key)}")
        self._random = random
        self._cipher: AESGCM | None = None

    def seal(self, payload: bytes, bound: bytes) -> str:
        """See ``Sealer``."""
        nonce = self._random(_NONCE_SIZE)
        return _to_text(nonce + self._loaded().encrypt(nonce, payload, _LABEL + bound))

    def open(self, text: str, bound: bytes) -> bytes | None:
        """See ``Sealer``."""
        sealed = _from_text(text)
        if sealed is None or len(sealed) < _NONCE_SIZE + _TAG_SIZE:
            return None
        from cryptography.exceptions import InvalidTag

        try:
            return self._loaded().decrypt(sealed[:_NONCE_SIZE], sealed[_NONCE_SIZE:], _LABEL + bound)
        except InvalidTag:
            return None

    def _loaded(self) -> AESGCM:
        if self._cipher is None:
            from cryptography.hazmat.primitives.ciphers.aead import AESGCM

            self._cipher = AESGCM(self._key)
        return self._cipher


def _to_text(data: bytes) -> str:
    return binascii.b2a_base64(data, newline=False).translate(_TO_URL).rstrip(b"=").decode()


def _from_text(text: str) -> bytes | None:
    """The bytes of an unpadded URL-safe text, and only of the one spelling that ``_to_text`` gives them.

    The last character of such a text has bits that no byte uses; ignoring them would let one state have many spellings.
    """
    try:
        data = binascii.a2b_base64(text.encode("ascii").translate(_FROM_URL) + b"=" * (-len(text) % 4))
    except ValueError:  # UnicodeEncodeError and binascii.Error are ValueErrors
        return None
    return data if _to_text(data) == text else None


class State(Struct, frozen=True, array_like=True):
    """What a state says: which call of which process, which round, until when (epoch seconds), and for which request.

    ``request`` is the ``digest_of`` the request that was answered with it. ``questions`` maps each key of
    ``inputRequests`` to the digest of its question, ``elicitations`` the keys of URL elicitations to the ids that their
    server gave them, which 2026-07-28 has no member for.
    """

    instance: str
    call: int
    round: int
    expiry: float
    request: str
    questions: dict[str, str] = {}
    elicitations: dict[str, str] = {}

    def expired(self, now: float) -> bool:
        """Whether ``now`` (epoch seconds) is at or after the expiry."""
        return not now < self.expiry

    def encode(self) -> bytes:
        """The payload to seal."""
        return msgspec.msgpack.encode(self)


def read_state(payload: bytes) -> State | None:
    """The state in an opened payload; None if another version of this program wrote it."""
    try:
        return msgspec.msgpack.decode(payload, type=State)
    except msgspec.MsgspecError:
        return None


def digest_of(method: str, params: dict[str, Raw]) -> str:
    """Names a request by what makes it this request: its method, its target (``name`` or ``uri``) and its ``arguments``.

    Everything else (``_meta``, ``inputResponses``, ``requestState``) may differ between a request and its retry.
    """
    row = find(method, LATEST_MODERN, "client")
    target = None if row is None else row.name_member
    parts = [b"" if target is None or target not in params else canonical_json(params[target])]
    parts.append(canonical_json(params["arguments"]) if "arguments" in params else b"{}")
    return digest(method, *parts)


def digest(method: str, *parts: bytes) -> str:
    """SHA-256 over a method and canonical texts, in hexadecimal."""
    from hashlib import sha256

    # A canonical text holds no control character, so the separator cannot be part of one.
    return sha256(b"\0".join((method.encode(), *parts))).hexdigest()


def canonical_json(raw: bytes | Raw) -> bytes:
    """One spelling for all spellings of a JSON value: key order, white space, escapes and number formats don't matter.

    Numbers are compared exactly, never as floats. A value that cannot be read as a tree (nested deeper than Python goes,
    an integer of thousands of digits) stays as it is written.
    """
    try:
        return msgspec.json.encode(_decode(raw), order="sorted")
    except (msgspec.MsgspecError, RecursionError):
        return bytes(raw)


def _exact(literal: str) -> Raw:
    """The value of a number with a fraction or an exponent: its digits without zeros at the ends, and a power of ten."""
    mantissa, _, exponent = literal.lower().partition("e")
    whole, _, fraction = mantissa.removeprefix("-").partition(".")
    digits = (whole + fraction).lstrip("0")
    significant = digits.rstrip("0")
    if not significant:
        return Raw(b"0")
    try:
        power = int(exponent or "0") - len(fraction) + len(digits) - len(significant)
    except ValueError:  # an exponent of more digits than Python converts
        return Raw(literal.encode())
    sign = "-" if mantissa[0] == "-" else ""
    if power >= 0 and len(significant) + power <= _LONGEST_SPELLED_OUT:
        return Raw(f"{sign}{significant}{'0' * power}".encode())
    return Raw(f"{sign}{significant}e{power}".encode())


_decode: Callable[[bytes | Raw], Any] = msgspec.json.Decoder(float_hook=_exact).decode
