"""The ``WWW-Authenticate`` field of a 401 or 403 (basic/authorization#scope-challenge-handling; RFC 9110, section 11.6.1; RFC 6750).

A field may hold several challenges, of several schemes, and a word such as ``scope=`` may stand inside a quoted text. So the
field is read as its grammar says, and only the parameters of the Bearer challenge count.
"""

from __future__ import annotations

import re

from msgspec import Struct

_SPACE = re.compile(r"[\s,]*")
# An unquoted value should be a token, but addresses are met there too.
_PARAMETER = re.compile(r'([!#$%&\'*+.^_`|~0-9A-Za-z-]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^\s,"=][^\s,"]*))', re.DOTALL)
_SCHEME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+(?=[\s,]|$)")
_OTHER = re.compile(r"[^\s,]+")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_SCOPE = re.compile(r"[!#-\[\]-~]+")
_ADDRESS = re.compile(r"https?://[!#-\[\]-~]+", re.IGNORECASE)
_CODE = re.compile(r"[!#-\[\]-~]{1,64}")
_LONGEST = 16 * 1024


class Challenge(Struct, frozen=True):
    """What the server says: all of it may be empty."""

    error: str = ""
    scope: str = ""
    resource_metadata: str = ""

    def field(self) -> str:
        """The same as a field value."""
        values = (("error", self.error), ("scope", self.scope), ("resource_metadata", self.resource_metadata))
        return "Bearer " + ", ".join(f'{name}="{value}"' for name, value in values if value)


def bearer(field: str) -> Challenge | None:
    """The Bearer challenge of a field; ``None`` if it asks for other schemes alone. An empty field is an empty challenge."""
    found = challenges(field[:_LONGEST])
    ours = [parameters for scheme, parameters in found if scheme == "bearer"]
    if not ours:
        return None if found else Challenge()
    best = next((parameters for parameters in ours if "resource_metadata" in parameters), ours[0])
    address, error = best.get("resource_metadata", ""), best.get("error", "")
    return Challenge(
        error=error if _CODE.fullmatch(error) else "",
        scope=" ".join(word for word in best.get("scope", "").split() if _SCOPE.fullmatch(word)),
        resource_metadata=address if _ADDRESS.fullmatch(address) else "",
    )


def challenges(field: str) -> list[tuple[str, dict[str, str]]]:
    """Every challenge as its scheme in small letters and its parameters; of a name that stands twice the first value counts."""
    found: list[tuple[str, dict[str, str]]] = []
    at = 0
    while at < len(field):
        at = _end(_SPACE, field, at)
        parameter = _PARAMETER.match(field, at)
        if parameter is not None:
            if found:
                name, quoted, plain = parameter.groups()
                found[-1][1].setdefault(name.lower(), plain if quoted is None else _ESCAPED.sub(r"\1", quoted))
            at = parameter.end()
        elif scheme := _SCHEME.match(field, at):
            found.append((scheme[0].lower(), {}))
            at = scheme.end()
        else:  # a token68, or nothing known
            at = max(_end(_OTHER, field, at), at + 1)
    return found


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return at if match is None else match.end()
