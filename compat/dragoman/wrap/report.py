"""A diagnosis as one JSON object, and as text for people (docs/probe.md).

The text is made of the object, so both say the same, and secrets are taken out of it once: values of ``--env`` and ``--header``
that a server repeats are shown as dots.
"""

from __future__ import annotations

import textwrap
from typing import Any

from dragoman import frame
from dragoman.bridging.diagnosis import Diagnosis, one_line
from dragoman.wrap.probe_plan import Row, rows
from dragoman_specs.version import LEGACY, parse

_WIDTH = 79
_COLUMN = 14
_HIDDEN = "…"
_SHORTEST_SECRET = 8  # shorter words are found everywhere, and hide nothing
_OF_THE_PEER = ("why", "server", "capabilities", "evidence", "challenge", "stderr", "notes")


def as_object(target: str, found: Diagnosis, secrets: tuple[str, ...] = ()) -> dict[str, Any]:
    """The object of ``--json``."""
    served = rows(found)
    value = {
        "target": one_line(target, 500),
        "usable": found.usable,
        "era": found.era,
        "why": found.why,
        "transport": found.transport,
        "accepts": {"initialize": found.accepts_handshake, "server/discover": found.accepts_modern},
        "revisions": {
            "negotiated": found.negotiated,
            "spokenAs": found.legacy_revision,
            "supported": found.supported,
            "offers": found.offers,
        },
        "server": found.server_info or None,
        "capabilities": found.capabilities,
        "evidence": [{"asked": step.asked, "answered": step.answered, "means": step.means} for step in found.steps],
        "challenge": found.challenge,
        "stderr": found.stderr,
        "notes": found.notes,
        "advice": found.advice,
        "clients": [_client(row) for row in served],
        "changes": _changes(served),
    }
    words = {word for text in secrets for word in (text, *text.split()) if len(word) >= _SHORTEST_SECRET}
    longest_first = tuple(sorted(words, key=len, reverse=True))
    return value | {name: _without(value[name], longest_first) for name in _OF_THE_PEER}


def _client(row: Row) -> dict[str, Any]:
    return {
        "revision": row.client,
        "shape": row.shape.value,
        "spokenTo": row.spoken,
        "changes": [change.id for change in row.changes],
    }


def _changes(served: list[Row]) -> list[dict[str, Any]]:
    """Every change that some client is served with, newest first; told once, however many clients it is for."""
    longest = max((row.changes for row in served), key=len, default=())
    return [{"id": change.id, "since": change.since, "title": change.title, "overHttp": change.over_http} for change in longest]


def _without(value: Any, secrets: tuple[str, ...]) -> Any:
    if isinstance(value, str):
        text = str(value)
        for secret in secrets:
            text = text.replace(secret, _HIDDEN)
        return text
    if isinstance(value, dict):
        return {_without(key, secrets): _without(item, secrets) for key, item in value.items()}
    if isinstance(value, list):
        return [_without(item, secrets) for item in value]
    return value


def as_json(value: dict[str, Any]) -> str:
    """One line, without escapes for terminals."""
    return frame.encode(value).decode() + "\n"


# --- text ---


def as_text(value: dict[str, Any]) -> str:
    """The same for people."""
    lines = [
        *_entry("target", value["target"]),
        *_entry("era", f"{value['era']}: {value['why']}"),
        *_entry("transport", value["transport"]),
        *_entry("revisions", _revisions(value["revisions"])),
        *_offers(value["revisions"]["offers"]),
        *_entry("server", _server(value["server"])),
        *_entry("capabilities", _capabilities(value["capabilities"])),
        *_entry("challenge", value["challenge"]),
    ]
    lines += _section("what was asked, and answered", _evidence(value["evidence"]))
    lines += _section("the last lines of its stderr", [f"  {line}" for line in value["stderr"]])
    lines += _section("what clients will get", _clients(value["clients"]))
    lines += _section(_changes_title(value["clients"]), _titles(value))
    lines += _section("notes", _bullets(value["notes"]))
    lines += _section("what to do", _bullets(value["advice"]))
    return "\n".join(lines) + "\n"


def _entry(name: str, text: str | None) -> list[str]:
    if not text:
        return []
    return _wrapped(text, f"{name:<{_COLUMN}}", " " * _COLUMN)


def _section(title: str, lines: list[str]) -> list[str]:
    return ["", f"{title}:", *lines] if lines else []


def _wrapped(text: str, first: str, then: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent=first, subsequent_indent=then, break_on_hyphens=False, break_long_words=False)


def _bullets(texts: list[str]) -> list[str]:
    return [line for text in texts for line in _wrapped(text, "  * ", "    ")]


def _revisions(value: dict[str, Any]) -> str:
    parts = []
    if value["supported"]:
        parts.append(f"{', '.join(one_line(text, 40) for text in value['supported'][:20])} (named by server/discover)")
    if value["negotiated"] is not None:
        parts.append(f"{one_line(value['negotiated'], 40)} (agreed on in its handshake)")
    return "; ".join(parts)


def _offers(offers: dict[str, str]) -> list[str]:
    """What each revision was answered with, below each other."""
    lines: list[str] = []
    for offered, answered in offers.items():
        lines += _wrapped(f"{offered}: {answered}", f"{'' if lines else 'offered':<{_COLUMN}}", " " * (_COLUMN + 2))
    return lines


def _server(value: dict[str, str] | None) -> str:
    return "" if value is None else one_line(" ".join(value[name] for name in ("name", "version") if name in value))


def _capabilities(value: dict[str, Any] | None) -> str:
    """Each with what it has switched on, as in ``tools (listChanged)``."""
    if value is None:
        return ""
    shown = []
    for name, content in value.items():
        inner = [key for key, item in content.items() if item is not False] if isinstance(content, dict) else []
        shown.append(one_line(name, 60) + (f" ({', '.join(one_line(key, 60) for key in inner)})" if inner else ""))
    return ", ".join(shown) or "none"


def _evidence(steps: list[dict[str, str]]) -> list[str]:
    lines: list[str] = []
    for number, step in enumerate(steps, start=1):
        lines += _wrapped(step["asked"], f"  {number}. ", "     ")
        lines += _wrapped(step["answered"], "     < ", "       ")
        if step["means"]:
            lines += _wrapped(step["means"], "     = ", "       ")
    return lines


def _clients(clients: list[dict[str, Any]]) -> list[str]:
    lines: list[str] = []
    for client in clients:
        if client["shape"] == "passthrough":
            text = "passthrough: all is relayed" + (", the handshake too" if parse(client["revision"]) in LEGACY else "")
        else:
            text = f"{client['shape']}: {len(client['changes'])} changes, spoken to as {client['spokenTo']}"
        lines += _wrapped(text, f"  {client['revision']}  ", " " * _COLUMN)
    return lines


def _changes_title(clients: list[dict[str, Any]]) -> str:
    title = "changes that are translated, newest first"
    if sum(bool(client["changes"]) for client in clients) > 1:
        title += " (for a client: those after its revision)"
    return title


def _titles(value: dict[str, Any]) -> list[str]:
    lines: list[str] = []
    since = None
    for change in value["changes"]:
        if change["since"] != since:
            since = change["since"]
            lines.append(f"  {since}")
        title = change["title"] + (" (over HTTP)" if change["overHttp"] else "")
        lines += _wrapped(title, f"    {change['id']:<27} ", " " * 32)
    return lines
