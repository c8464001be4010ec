"""The revisions of the protocol and the two eras they fall into (2026-07-28, basic/versioning).

A revision is named after a date, but only the five known ones are values: a string from a peer is looked up, never
compared, so an unknown revision can't pass for a newer one. Comparing two members is meaningful (they order by date),
but it belongs in this package and in routing; all other code asks the method table or a change for its span.
"""

from __future__ import annotations

from enum import Enum, StrEnum


class Era(Enum):
    """Which conversation a revision speaks: a handshake with sessions, or stateless requests."""

    LEGACY = "legacy"
    MODERN = "modern"


class Version(StrEnum):
    """One known revision; the value is the string on the wire."""

    V2024_11_05 = "2024-11-05"
    V2025_03_26 = "2025-03-26"
    V2025_06_18 = "2025-06-18"
    V2025_11_25 = "2025-11-25"
    V2026_07_28 = "2026-07-28"

    @property
    def era(self) -> Era:
        """The era of this revision."""
        return Era.MODERN if self in MODERN else Era.LEGACY


LEGACY: tuple[Version, ...] = (Version.V2024_11_05, Version.V2025_03_26, Version.V2025_06_18, Version.V2025_11_25)
MODERN: tuple[Version, ...] = (Version.V2026_07_28,)
ALL: tuple[Version, ...] = LEGACY + MODERN
OLDEST = LEGACY[0]
LATEST_LEGACY = LEGACY[-1]
LATEST_MODERN = MODERN[-1]

_BY_TEXT: dict[str, Version] = {version.value: version for version in ALL}


def parse(text: object) -> Version | None:
    """The revision that ``text`` names exactly, or ``None``; anything but a known string (a number, null) is ``None``."""
    return _BY_TEXT.get(text) if isinstance(text, str) else None


def nearest_legacy(text: object) -> Version:
    """The newest known legacy revision at or below the date ``text``.

    A server may answer ``initialize`` with a revision that nobody knows. A date before the first revision gives the
    first one; so does what is no date at all, because nothing may be assumed of it.
    """
    if not isinstance(text, str) or not _is_date(text):
        return OLDEST
    at_or_below = [version for version in LEGACY if version.value <= text]
    return at_or_below[-1] if at_or_below else OLDEST


def _is_date(text: str) -> bool:
    """Whether ``text`` has the shape ``YYYY-MM-DD`` in ASCII digits, the only shape that orders as a string."""
    digits = text[:4] + text[5:7] + text[8:]
    return len(text) == 10 and text[4] == text[7] == "-" and digits.isascii() and digits.isdigit()
