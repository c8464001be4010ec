"""Server capabilities: objects, whose presence is the declaration (server/index, 2026-07-28 ``ServerCapabilities``).

Servers write ``true``, or ``[]`` where their language has one empty container, and null or false for what they have not.
"""

from __future__ import annotations

from typing import Any, Final

from msgspec import Raw

from dragoman import frame
from dragoman.change import Notes
from dragoman.shape.mend import AREA

_FLAGS: Final[dict[str, tuple[str, ...]]] = {
    "tools": ("listChanged",),
    "prompts": ("listChanged",),
    "resources": ("listChanged", "subscribe"),
    "logging": (),
    "completions": (),
}
_OPEN: Final = ("experimental", "extensions")
"""Objects of objects."""


def mend_capabilities(capabilities: dict[str, Raw], notes: Notes) -> dict[str, Any]:
    """The capabilities as a tree with exact numbers, known ones in their right types, unknown ones as they are."""
    out: dict[str, Any] = {}
    for name, value in capabilities.items():
        declared = frame.tree(value)
        if name in _FLAGS or name in _OPEN:
            declared = _declaration(name, declared, notes)
            if declared is None:
                continue
        if name in _OPEN:
            named = {key: _declaration(f"{name}.{key}", held, notes) for key, held in declared.items()}
            declared = {key: held for key, held in named.items() if held is not None}
        for flag in _FLAGS.get(name, ()):
            if not isinstance(declared.get(flag, False), bool):
                notes.add(AREA, f"capabilities: {name}.{flag} was neither true nor false, left out")
                declared = {key: held for key, held in declared.items() if key != flag}
        out[name] = declared
    return out


def _declaration(name: str, value: Any, notes: Notes) -> dict[str, Any] | None:
    if isinstance(value, dict):
        return value
    if value is None or value is False:
        notes.add(AREA, f"capabilities: {name} was null or false, taken as not declared")
        return None
    notes.add(AREA, f"capabilities: {name} was not an object, taken as declared")
    return {}
