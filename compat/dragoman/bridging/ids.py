"""Ids of the layer's own: counters, so that a conversation is repeatable.

Wire ids are integers, unique for the life of the process over all sessions: a late answer of a dead session can never
be taken for another's. A wire id is also the progress token of its call.
"""

from __future__ import annotations

_DIGITS = 18


class Ids:
    """Counters for sessions, wire requests and calls; ``instance`` tells this process from any other."""

    __slots__ = ("_call", "_session", "_wire", "instance")

    def __init__(self, instance: str) -> None:
        self.instance = instance
        self._wire = 0
        self._session = 0
        self._call = 0

    def wire(self) -> int:
        """The next id of a request to a server."""
        self._wire += 1
        return self._wire

    def session(self) -> int:
        """The next session number."""
        self._session += 1
        return self._session

    def call(self) -> int:
        """The next number of a call."""
        self._call += 1
        return self._call


def number_of(text: bytes | None) -> int | None:
    """The wire id that an id or token of a server's stands for: some servers send numbers back as strings."""
    digits = b"" if text is None else text.strip(b'"')
    return int(digits) if digits.isdigit() and len(digits) <= _DIGITS else None
