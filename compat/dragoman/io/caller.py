"""For whom a request to a server behind a URL is sent."""

from __future__ import annotations

from typing import NamedTuple


class Caller(NamedTuple):
    """The name of a principal ("": whoever runs us), and its credentials, where they are passed on."""

    principal: str = ""
    authorization: str | None = None


NOBODY = Caller()
