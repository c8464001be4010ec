"""Shorthand for tests of the downgrade: what a modern server wrote, what a legacy client gets, everything seen by the oracle."""

from __future__ import annotations

import json
from typing import Any

from msgspec import Raw

from crossings import raw, told
from dragoman import downchain
from dragoman.chain import Crossing, Fault, Shaped
from dragoman_specs.version import LATEST_MODERN, LEGACY, Version
from oracle import Oracle, spec_folder

FIRST, MARCH, JUNE, NOVEMBER = LEGACY
_ORACLE = Oracle(spec_folder())
_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}

__all__ = ["FIRST", "JUNE", "LEGACY", "MARCH", "NOVEMBER", "answer", "error", "fault", "notification", "question", "raw", "result", "told"]


def result(method: str, text: str, revision: Version = NOVEMBER, **facts: Any) -> Shaped:
    """The result as a client of ``revision`` gets it."""
    shaped = downchain.result_to_legacy(Raw(text.encode()), Crossing(method, revision, **facts))
    assert isinstance(shaped, Shaped), shaped
    _ORACLE.check_to_client({"jsonrpc": "2.0", "id": 1, "result": json.loads(shaped.raw)}, method, revision)
    return shaped


def fault(method: str, text: str, revision: Version = NOVEMBER, **facts: Any) -> Fault:
    """The fault of a result that can't be told."""
    found = downchain.result_to_legacy(Raw(text.encode()), Crossing(method, revision, **facts))
    assert isinstance(found, Fault), found
    return found


def error(method: str, text: str, revision: Version = NOVEMBER, **facts: Any) -> Shaped:
    """The error as a client of ``revision`` gets it."""
    shaped = downchain.error_to_legacy(Raw(text.encode()), Crossing(method, revision, **facts))
    _ORACLE.check_to_client({"jsonrpc": "2.0", "id": 1, "error": json.loads(shaped.raw)}, method, revision)
    return shaped


def notification(method: str, text: str, revision: Version = NOVEMBER, **facts: Any) -> Shaped | Fault:
    """The params of a notification as a client of ``revision`` gets them; the tests give progress its token."""
    shaped = downchain.notification_to_legacy(Raw(text.encode()), Crossing(method, revision, **facts))
    if isinstance(shaped, Shaped):
        params = {"params": json.loads(shaped.raw)} if shaped.raw else {}
        _ORACLE.check_to_client({"jsonrpc": "2.0", "method": method, **params}, revision=revision)
    return shaped


def question(method: str, text: str | None, revision: Version = NOVEMBER, elicitation_id: str = "e-1") -> Shaped | Fault:
    """The params of a question as a client of ``revision`` gets them."""
    shaped = downchain.question_to_legacy(method, None if text is None else Raw(text.encode()), revision, elicitation_id)
    if isinstance(shaped, Shaped):
        params = {"params": json.loads(shaped.raw)} if shaped.raw else {}
        _ORACLE.check_to_client({"jsonrpc": "2.0", "id": 1, "method": method, **params}, revision=revision)
    return shaped


def answer(method: str, text: str, revision: Version = NOVEMBER, asked: str | None = None) -> Shaped | Fault:
    """The answer of a client of ``revision`` as a modern server gets it, in a retry."""
    shaped = downchain.answer_to_modern(method, None if asked is None else Raw(asked.encode()), Raw(text.encode()), revision)
    if isinstance(shaped, Shaped):
        entry = json.loads(shaped.raw)
        params = {"name": "t", "_meta": _META, "inputResponses": {"k": entry}}
        _ORACLE.check_to_server({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}, str(LATEST_MODERN))
        definition = {
            "elicitation/create": "ElicitResult",
            "sampling/createMessage": "CreateMessageResult",
            "roots/list": "ListRootsResult",
        }
        _ORACLE.schema_check(str(LATEST_MODERN), definition[method], entry, "entry of inputResponses")
    return shaped
