"""What a command line asks for, and cannot be done."""

from __future__ import annotations


class Unusable(Exception):
    """The text is for people; ``status`` is the exit status."""

    def __init__(self, text: str, status: int = 2) -> None:
        super().__init__(text)
        self.status = status
