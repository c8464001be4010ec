"""Shorthand for tests of the stateless translation: JSON text in, JSON text and losses out, everything seen by the oracle."""

from __future__ import annotations

import json
from typing import Any

from msgspec import Raw

from dragoman import chain
from dragoman.chain import Crossing, Fault, Shaped
from dragoman_specs.version import Version
from oracle import Oracle, spec_folder

NOVEMBER = Version.V2025_11_25
JUNE = Version.V2025_06_18
MARCH = Version.V2025_03_26
FIRST = Version.V2024_11_05

_ORACLE = Oracle(spec_folder())


def crossing(method: str, revision: Version = NOVEMBER, *, server_info: bytes = b"", capabilities: Any = None, **facts: Any) -> Crossing:
    return Crossing(method, revision, server_info, capabilities or {}, **facts)


def result(method: str, text: str, revision: Version = NOVEMBER, **facts: Any) -> Shaped:
    """The result as a modern client gets it."""
    shaped = chain.result_to_client(Raw(text.encode()), crossing(method, revision, **facts))
    assert isinstance(shaped, Shaped), shaped
    _ORACLE.check_to_client({"jsonrpc": "2.0", "id": 1, "result": json.loads(shaped.raw)}, method)
    return shaped


def fault(method: str, text: str, revision: Version = NOVEMBER, **facts: Any) -> Fault:
    """The fault of a result that can't be told."""
    found = chain.result_to_client(Raw(text.encode()), crossing(method, revision, **facts))
    assert isinstance(found, Fault), found
    return found


def error(method: str, text: str, revision: Version = NOVEMBER, **facts: Any) -> Shaped:
    """The error as a modern client gets it."""
    shaped = chain.error_to_client(Raw(text.encode()), crossing(method, revision, **facts))
    _ORACLE.check_to_client({"jsonrpc": "2.0", "id": 1, "error": json.loads(shaped.raw)}, method)
    return shaped


def notification(method: str, text: str, revision: Version = NOVEMBER, **facts: Any) -> Shaped | Fault:
    """The params of a notification as a modern client gets them."""
    shaped = chain.notification_to_client(Raw(text.encode()), crossing(method, revision, **facts))
    if isinstance(shaped, Shaped):
        _ORACLE.check_to_client({"jsonrpc": "2.0", "method": method, "params": json.loads(shaped.raw)})
    return shaped


def answer(method: str, text: str, revision: Version) -> Shaped | Fault:
    """The client's answer as a legacy server gets it."""
    shaped = chain.answer_to_server(method, Raw(text.encode()), revision)
    if isinstance(shaped, Shaped):
        _ORACLE.check_to_server({"jsonrpc": "2.0", "id": 1, "result": json.loads(shaped.raw)}, revision, method)
    return shaped


def raw(shaped: Shaped | Fault) -> str:
    """The text, where nothing was lost."""
    assert isinstance(shaped, Shaped), shaped
    assert shaped.losses == ()
    return shaped.raw.decode()


def told(shaped: Shaped | Fault) -> tuple[str, list[str]]:
    """The text and the losses, each with its change."""
    assert isinstance(shaped, Shaped), shaped
    return shaped.raw.decode(), [f"{loss.change}: {loss.detail}" for loss in shaped.losses]


def params(method: str, members: dict[str, str], revision: Version = NOVEMBER) -> dict[str, str]:
    """A request's params as a legacy server gets them."""
    raws = {name: Raw(text.encode()) for name, text in members.items()}
    return {name: bytes(value).decode() for name, value in chain.params_to_server(method, raws, revision).items()}
