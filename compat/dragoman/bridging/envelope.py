"""sep2575_envelope: what every modern request carries in ``_meta`` (2026-07-28, basic/index#meta).

Required are ``protocolVersion`` and ``clientCapabilities``; a request without them is malformed (-32602), one for a
revision that is not served is answered -32022 with the revisions that are. The keys are the envelope: they are taken
off here, and what is left of ``_meta`` belongs to the server behind the bridge.
"""

from __future__ import annotations

from collections.abc import Sized
from typing import Any

from msgspec import Raw, Struct

from dragoman import frame
from dragoman.bridging.capabilities import invalid_capabilities, invalid_implementation
from dragoman.errors import Refusal, invalid_params, unsupported_version
from dragoman_specs.names import (
    LOG_LEVELS,
    META_CLIENT_CAPABILITIES,
    META_CLIENT_INFO,
    META_LOG_LEVEL,
    META_PROTOCOL_VERSION,
    META_SERVER_INFO,
    META_SUBSCRIPTION_ID,
)
from dragoman_specs.version import MODERN

SUPPORTED = [str(version) for version in MODERN]
_SUPPORTED_RAW = {frame.encode(version): version for version in SUPPORTED}
_CACHED, _CACHED_BYTES = 256, 4096


class Unmarked(Refusal, frozen=True):
    """The refusal of a request that names no revision in ``_meta``, and so may be of another era."""


class Envelope(Struct):
    """One request without its wrapping.

    ``params`` are the remaining top-level members (``_meta`` among them only while a key of it remains), ``meta`` that
    remainder. ``progress_token`` is the client's token as JSON text, ``version`` the revision, one of those served.
    """

    params: dict[str, Raw]
    meta: dict[str, Raw]
    capabilities: dict[str, Any]
    client_info: bytes | None
    log_level: str | None
    progress_token: bytes | None
    version: str


class EnvelopeReader:
    """Reads envelopes; remembers those already checked, because a client sends the same one with every request.

    A whole ``_meta`` of which nothing remains is kept by its text, and its parts by theirs. Nobody changes what is kept.
    """

    def __init__(self) -> None:
        self._metas: dict[bytes, tuple[dict[str, Raw], dict[str, Any], bytes | None, str | None, None, str]] = {}
        self._capabilities: dict[bytes, dict[str, Any]] = {}
        self._infos: set[bytes] = set()

    def read(self, params: Raw | None) -> Envelope | Refusal:
        """Check and take off the envelope of a request's params."""
        members = frame.members(params)
        if members is None:
            return _unmarked("params must be an object")
        meta_raw = members.pop("_meta", None)
        if meta_raw is None:
            needed = f"{META_PROTOCOL_VERSION} and {META_CLIENT_CAPABILITIES}"
            return _unmarked(f"params._meta is missing; every request of 2026-07-28 needs {needed} in it")
        text = bytes(meta_raw)
        known = self._metas.get(text)
        if known is not None:
            return Envelope(members, *known)
        meta = frame.members(meta_raw)
        if meta is None:
            return _unmarked("params._meta must be an object")
        version = _version(meta.pop(META_PROTOCOL_VERSION, None))
        if isinstance(version, Refusal):
            is_whole = isinstance(version, Unmarked) or META_CLIENT_CAPABILITIES in meta
            return version if is_whole else _lacks(META_CLIENT_CAPABILITIES)
        envelope = self._rest(members, meta, version)
        if isinstance(envelope, Envelope) and not envelope.meta and _is_kept(text, self._metas):
            self._metas[text] = (envelope.meta, envelope.capabilities, envelope.client_info, envelope.log_level, None, version)
        return envelope

    def _rest(self, members: dict[str, Raw], meta: dict[str, Raw], version: str) -> Envelope | Refusal:
        capabilities = self._read_capabilities(meta.pop(META_CLIENT_CAPABILITIES, None))
        if isinstance(capabilities, Refusal):
            return capabilities
        info = meta.pop(META_CLIENT_INFO, None)
        info_text = None if info is None else bytes(info)
        if info_text is not None and (fault := self._check_info(info_text)):
            return invalid_params(f"params._meta.{META_CLIENT_INFO}: {fault}")
        level = meta.pop(META_LOG_LEVEL, None)
        level_name = frame.text(level)
        if level is not None and level_name not in LOG_LEVELS:
            return invalid_params(f"params._meta.{META_LOG_LEVEL} must be one of {', '.join(LOG_LEVELS)}")
        token = meta.get("progressToken")
        token_text = None if token is None else bytes(token)
        if token_text is not None and not frame.valid_id(token_text):
            return invalid_params("params._meta.progressToken must be a string or an integer")
        meta.pop(META_SERVER_INFO, None)
        meta.pop(META_SUBSCRIPTION_ID, None)
        return Envelope(members, meta, capabilities, info_text, level_name, token_text, version)

    def _read_capabilities(self, raw: Raw | None) -> dict[str, Any] | Refusal:
        if raw is None:
            return _lacks(META_CLIENT_CAPABILITIES)
        text = bytes(raw)
        known = self._capabilities.get(text)
        if known is not None:
            return known
        value = frame.tree(text)
        fault = invalid_capabilities(value)
        if fault:
            return invalid_params(f"params._meta.{META_CLIENT_CAPABILITIES}: {fault}")
        if _is_kept(text, self._capabilities):
            self._capabilities[text] = value
        return value  # type: ignore[no-any-return]

    def _check_info(self, text: bytes) -> str | None:
        if text in self._infos:
            return None
        fault = invalid_implementation(frame.tree(text))
        if fault is None and _is_kept(text, self._infos):
            self._infos.add(text)
        return fault


def _lacks(key: str) -> Refusal:
    return invalid_params(f"params._meta.{key} is missing")


def _is_kept(text: bytes, kept: Sized) -> bool:
    return len(text) <= _CACHED_BYTES and len(kept) < _CACHED


def _version(raw: Raw | None) -> str | Refusal:
    if raw is None:
        return _unmarked(f"params._meta.{META_PROTOCOL_VERSION} is missing")
    known = _SUPPORTED_RAW.get(bytes(raw))
    if known is not None:
        return known
    requested = frame.text(raw)
    if requested is None:
        return invalid_params(f"params._meta.{META_PROTOCOL_VERSION} must be a string")
    if requested in SUPPORTED:
        return requested
    return unsupported_version(requested)


def _unmarked(what: str) -> Unmarked:
    refusal = invalid_params(what)
    return Unmarked(refusal.code, refusal.message)
