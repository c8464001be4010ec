"""What HTTP requests to a server go by: ``HttpClient`` over the network, or whatever stands for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractAsyncContextManager

    from dragoman.io.http_settings import Credentials, HttpSettings, Who


class Response(Protocol):
    """The head of an answer; ``content.iter_any()`` are the pieces of its body."""

    @property
    def status(self) -> int:
        """Of HTTP."""

    @property
    def headers(self) -> Any:
        """The fields; ``items()`` are all of them in their order."""

    @property
    def content(self) -> Any:
        """The body."""


class Exchanges(Protocol):
    """See the module. ``turns``: how many requests that others can wait for are made at once."""

    settings: HttpSettings
    credentials: Credentials | None

    @property
    def turns(self) -> AbstractAsyncContextManager[None]:
        """See the class."""

    on_redirect: Callable[[str], None]

    def exchange(
        self,
        method: str,
        headers: Mapping[str, str],
        body: bytes,
        *,
        url: str = "",
        who: Who | None = None,
        patience: float | None = None,
    ) -> AbstractAsyncContextManager[Response]:
        """One request and the head of its answer. Raises ``HttpTrouble``."""

    def redacted(self, text: str) -> str:
        """A text of the server's without what it repeats of who we are."""

    async def close(self) -> None:
        """Close every connection."""
