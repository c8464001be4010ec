"""A server behind a URL as a whole: its HTTP client, its era, and the connections to it.

The verdict on the era is kept for as long as the process lives; a failure never is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from dragoman.bridging.era import DUAL, MODERN
from dragoman.errors import Refusal, server_fault
from dragoman.http.remote import UNKNOWN, Verdict, no_answer
from dragoman.io.caller import NOBODY, Caller
from dragoman.io.dialer import Dialer
from dragoman.io.http_settings import Who
from dragoman.io.link import Link
from dragoman.remote.troubles import refused

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from dragoman.io.exchanges import Exchanges
    from dragoman.io.http_settings import Credentials, HttpSettings


_PRINCIPALS = 1024
_DOUBTS = 60.0  # seconds between two times that a verdict is put in doubt


class Runner(Link, Protocol):
    """The loop that HTTP lives in."""

    def begin(self, coroutine: Coroutine[Any, Any, Verdict], then: Callable[[Verdict], object]) -> None:
        """Run a coroutine in the loop, and have the shell told of its result."""


class RemoteServer:
    """See the module. ``credentials`` makes what knows who we are, in the loop."""

    def __init__(
        self,
        runner: Runner,
        settings: HttpSettings,
        label: str,
        instance: str,
        credentials: Callable[[str], Credentials | None] = lambda _principal: None,
        on_redirect: Callable[[str], None] = lambda _text: None,
        patience: float | None = None,
        start_timeout: float | None = None,
    ) -> None:
        self.settings = settings
        self.verdict: Verdict | None = None
        self._doubtful = False
        self._doubted_at = float("-inf")
        self.dialer = Dialer(self, runner, label, instance, patience)
        self._runner = runner
        self._start_timeout = start_timeout
        self._label = label
        self._make_credentials = credentials
        self._credentials: dict[str, Credentials | None] = {}
        self._on_redirect = on_redirect
        self._client: Exchanges | None = None
        self.make_client: Callable[[], Exchanges] = self._over_the_network

    def client(self) -> Exchanges:
        """The HTTP client, in the loop."""
        if self._client is None:
            self._client = self.make_client()
            self._client.on_redirect = self._on_redirect
        return self._client

    def _over_the_network(self) -> Exchanges:
        from dragoman.io.http_client import HttpClient

        return HttpClient(self.settings, self.credentials(""))

    def credentials(self, principal: str) -> Credentials | None:
        """Who we are at the server when we act for a principal ("": for whoever runs us), in the loop."""
        if principal not in self._credentials:
            if len(self._credentials) >= _PRINCIPALS:
                self._credentials.pop(next(iter(self._credentials)))
            self._credentials[principal] = self._make_credentials(principal)
        return self._credentials[principal]

    def find_era(self, forced: str, known: Callable[[str], object], unknown: Callable[[Refusal], object], caller: Caller = NOBODY) -> None:
        """Ask the server, unless ``forced`` is an era; then one of the two is called in the shell. ``caller``: on whose behalf."""

        def decided(verdict: Verdict) -> None:
            if verdict.era == UNKNOWN:
                unknown(_refusal(verdict, self._label, given=self._shows(caller)))
            else:
                self.verdict = verdict
                known(DUAL if verdict.era == MODERN and forced == "auto" else verdict.era)

        self._runner.begin(self._detect(forced, caller), decided)

    async def _detect(self, forced: str, caller: Caller) -> Verdict:
        try:
            client = self.client()
            if forced != "auto":
                return Verdict(forced, "--server-era says so")
            from dragoman.io.http_era import PATIENCE, detect

            doubtful, self._doubtful = self._doubtful, False
            return await detect(client, self.who(caller), min(PATIENCE, self._start_timeout or PATIENCE), doubtful=doubtful)
        except Exception as fault:  # noqa: BLE001 - whoever waits for the verdict must hear of it
            return no_answer(f"dragoman failed on asking it, which is its own fault: {type(fault).__name__}: {fault}")

    def doubt(self, now: float) -> bool:
        """The verdict does not hold; whether to ask again: not if that was done a moment ago."""
        if self.verdict is None or now < self._doubted_at + _DOUBTS:
            return False
        self._doubted_at, self._doubtful, self.verdict = now, True, None
        self.dialer.forget()
        return True

    def _shows(self, caller: Caller) -> bool:
        """Whether requests carry anything that says who sends them, as far as the operator or the client gave it."""
        return caller.authorization is not None or any(name.lower() == "authorization" for name in self.settings.headers)

    def who(self, caller: Caller) -> Who:
        """For whom a request of a caller's is sent."""
        return Who(caller.authorization, self.credentials(caller.principal))

    async def close(self) -> None:
        """Close every connection."""
        for each in self._credentials.values():
            if each is not None:
                await each.close()
        if self._client is not None:
            await self._client.close()


def _refusal(verdict: Verdict, label: str, *, given: bool) -> Refusal:
    """Why the server cannot be used now, and for a refusal of the caller what to do."""
    why = f"The server {label} cannot be used now: {verdict.why}"
    if not verdict.status:
        return server_fault(why)
    challenge = {} if verdict.challenge is None else {"www-authenticate": verdict.challenge.decode("latin-1")}
    told = refused(verdict.status, challenge, given=given)
    return Refusal(told.code, f"{why}; {told.message}", told.data)
