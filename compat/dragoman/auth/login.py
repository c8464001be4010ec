"""One login of a person: the page to open, and the answer that comes back (basic/authorization#authorization-flow-steps)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

from dragoman.auth.errors import LoginNeeded, NobodyCame
from dragoman.auth.listener import Listener
from dragoman.auth.person import Terminal, open_browser
from dragoman.auth.redirect import Denied, Expected, Stray
from dragoman.auth.settings import BROWSER, Settings


class Login:
    """Used once. ``terminal`` is a descriptor on which the address of the last page may be typed, if there is one."""

    def __init__(self, settings: Settings, say: Callable[[str], None], terminal: int | None) -> None:
        self.listener = Listener(settings)
        self.was_shown = False
        self._settings = settings
        self._say = say
        self._terminal = terminal

    async def show(self, url: str, issuer: str, *, announces_issuer: bool) -> None:
        """Send the person to ``url``; ``issuer`` is whose page it is."""
        state = parse_qs(urlsplit(url).query)["state"][0]
        self.listener.expect(Expected(self.listener.path, state, issuer, announces_issuer))
        self.was_shown = True
        opened = self._settings.login == BROWSER and await asyncio.to_thread(open_browser, url)
        way = "log in on the page that your browser shows, or open this address" if opened else "to log in, open this address in a browser"
        self._say(f"{way}:")
        self._say(url)
        if self._terminal is not None:
            self._say("where the browser cannot come back to this machine, paste the address here at which it ends")

    async def code(self) -> str:
        """Wait for the authorization code. Raises ``LoginNeeded``."""
        listener = self.listener
        terminal = None if self._terminal is None else Terminal(self._terminal, self._typed)
        try:
            async with asyncio.timeout(self._settings.login_timeout):
                answer = await listener.answer()
        except TimeoutError:
            raise NobodyCame(f"nobody logged in within {self._settings.login_timeout:g} s") from None
        finally:
            if terminal is not None:
                terminal.close()
        if isinstance(answer, Denied):
            raise LoginNeeded(f"the login did not succeed: {answer.why}")
        return answer.code

    def _typed(self, line: str) -> None:
        if isinstance(self.listener.hear(line), Stray):
            self._say("this is not the address at which the login ends: it has a code and the state of this login in it")
