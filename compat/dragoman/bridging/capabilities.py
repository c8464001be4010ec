"""What a client declares, read, compared and restated (2026-07-28 basic/index#meta; client/{elicitation,sampling,roots}#capabilities).

Values are decoded trees (``frame.tree``). An empty ``elicitation`` object means form mode in every revision, so two
objects are compared only after that has been made plain.
"""

from __future__ import annotations

from typing import Any

import msgspec

from dragoman_specs.names import EXTENSION_TASKS
from dragoman_specs.version import LATEST_LEGACY, Version

_SHAPES: dict[str, tuple[str, ...]] = {"elicitation": ("form", "url"), "sampling": ("context", "tools"), "roots": ()}
_MAPS = ("experimental", "extensions")
_FORM_ONLY = Version.V2025_06_18
_ICON_THEMES = ("dark", "light")


def invalid_capabilities(value: Any) -> str | None:
    """What is wrong with a ``ClientCapabilities`` object of 2026-07-28; None if nothing is."""
    if not isinstance(value, dict):
        return "must be an object"
    for name, known in _SHAPES.items():
        if name not in value:
            continue
        if not isinstance(value[name], dict):
            return f"{name} must be an object"
        for part in known:
            if part in value[name] and not isinstance(value[name][part], dict):
                return f"{name}.{part} must be an object"
    for name in _MAPS:
        if name not in value:
            continue
        if not isinstance(value[name], dict):
            return f"{name} must be an object"
        for key, settings in value[name].items():
            if not isinstance(settings, dict):
                return f"{name}[{key!r}] must be an object"
    return None


def invalid_implementation(value: Any) -> str | None:
    """What is wrong with an ``Implementation`` object (``clientInfo``) of 2026-07-28; None if nothing is."""
    if not isinstance(value, dict):
        return "must be an object"
    for name in ("name", "version"):
        if name not in value:
            return f"{name} is missing"
    for name in ("name", "version", "title", "description", "websiteUrl"):
        if name in value and not isinstance(value[name], str):
            return f"{name} must be a string"
    icons = value.get("icons", [])
    if not isinstance(icons, list):
        return "icons must be an array"
    for index, icon in enumerate(icons):
        if fault := _invalid_icon(icon):
            return f"icons[{index}] {fault}"
    return None


def _invalid_icon(icon: Any) -> str | None:
    if not isinstance(icon, dict):
        return "must be an object"
    if not isinstance(icon.get("src"), str):
        return "needs a string src"
    if not isinstance(icon.get("mimeType", ""), str):
        return "needs a string mimeType"
    sizes = icon.get("sizes", [])
    if not isinstance(sizes, list) or not all(isinstance(size, str) for size in sizes):
        return "needs an array of strings as sizes"
    if icon.get("theme", "dark") not in _ICON_THEMES:
        return "needs dark or light as theme"
    return None


def for_server(client: dict[str, Any], revision: Version) -> dict[str, Any]:
    """A modern client's capabilities as ``initialize`` of a legacy ``revision`` states them; ``client`` is not changed.

    Nothing is declared that the bridge could not carry: modern clients announce no change of their roots, and tasks
    (core in 2025-11-25, an extension in 2026-07-28) are not translated.
    """
    out = {name: value for name, value in client.items() if name != "tasks"}
    if "roots" in out:
        out["roots"] = _without(out["roots"], "listChanged")
    for name in _MAPS:
        if EXTENSION_TASKS in out.get(name, ()):
            out[name] = _without(out[name], EXTENSION_TASKS)
            if not out[name]:
                del out[name]
    if revision is LATEST_LEGACY:
        return out
    if "sampling" in out:
        out["sampling"] = _without(out["sampling"], "tools", "context")
    if "elicitation" in out:
        # The capability had no modes yet and meant forms; a client that takes URLs only would be asked what it refuses.
        if revision is _FORM_ONLY and "form" in _modes(out["elicitation"]):
            out["elicitation"] = {}
        else:
            del out["elicitation"]
    return out


def _without(value: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: part for name, part in value.items() if name not in names}


def _modes(elicitation: dict[str, Any]) -> dict[str, Any]:
    """``elicitation`` with form mode spelled out where it is meant by leaving both modes out (client/elicitation#capabilities)."""
    return elicitation if "form" in elicitation or "url" in elicitation else {**elicitation, "form": {}}


def _plain(capabilities: dict[str, Any]) -> dict[str, Any]:
    elicitation = capabilities.get("elicitation")
    return {**capabilities, "elicitation": _modes(elicitation)} if isinstance(elicitation, dict) else capabilities


def covers(have: dict[str, Any], want: dict[str, Any]) -> bool:
    """Whether every capability and sub-capability of ``want`` is in ``have``; other values must be equal."""
    return have is want or _covers(_plain(have), _plain(want))


def _covers(have: dict[str, Any], want: dict[str, Any]) -> bool:
    for name, wanted in want.items():
        if name not in have:
            return False
        held = have[name]
        if isinstance(wanted, dict):
            if not isinstance(held, dict) or not _covers(held, wanted):
                return False
        elif _text(held) != _text(wanted):
            return False
    return True


def merge_capabilities(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """The smallest object that covers both; where plain values differ, ``second`` holds."""
    return _merge(_plain(first), _plain(second))


def _merge(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    out = dict(first)
    for name, value in second.items():
        held = out.get(name)
        out[name] = _merge(held, value) if isinstance(held, dict) and isinstance(value, dict) else value
    return out


def canonical(capabilities: dict[str, Any]) -> str:
    """One text for all spellings of the same capabilities: the key under which sessions are told apart."""
    return _text(_plain(capabilities)).decode()


def _text(value: Any) -> bytes:
    return msgspec.json.encode(value, order="sorted")


def for_modern_server(client: dict[str, Any]) -> dict[str, Any]:
    """A legacy client's capabilities of ``initialize`` as the envelope of 2026-07-28 states them; ``client`` is not changed.

    Forms are spelled out, changes of the roots and the tasks of 2025-11-25 have no place there. What is of a wrong type is left out.
    """
    out = {name: value for name, value in client.items() if name != "tasks" and isinstance(value, dict)}
    if "roots" in out:
        out["roots"] = _without(out["roots"], "listChanged")
    if "elicitation" in out:
        out["elicitation"] = _modes(out["elicitation"])
    while (fault := invalid_capabilities(out)) is not None:
        del out[next(name for name in out if fault.startswith(name))]
    return out


def named_implementation(info: Any) -> dict[str, Any]:
    """A client's ``clientInfo`` with what it left out: some clients give no version, or nothing at all."""
    given = info if isinstance(info, dict) else {}
    named = {"name": "unknown client", "version": "0", **{key: value for key, value in given.items() if value is not None}}
    if invalid_implementation(named) is None:
        return named
    name, version = (str(named[key])[:200] for key in ("name", "version"))
    return {"name": name, "version": version}
