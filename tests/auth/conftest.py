"""A world for authorization: an MCP server, two authorization servers, a person with a browser, and the bridge's credentials."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.auth.authority import Authority, Protected, serving

from dragoman.auth.credentials import OAuth
from dragoman.auth.settings import Settings


class World:
    """Of one test. ``visits`` are the pages the person was sent to, ``told`` is what the operator read."""

    def __init__(self, server: Protected, first: Authority, second: Authority, folder: Path) -> None:
        self.server = server
        self.authority = first
        self.other = second
        self.folder = folder
        self.told: list[str] = []
        self.visits: list[str] = []
        self.pages: list[httpx2.Response] = []
        self.logs_in = True
        self.now = 1_000_000.0
        self.visited = asyncio.Event()
        self._errands: set[asyncio.Task[None]] = set()
        self._made: list[OAuth] = []

    def settings(self, **given: Any) -> Settings:
        usual = {"login": "print", "login_timeout": 10.0, "request_timeout": 10.0, "token_dir": str(self.folder / "tokens")}
        return Settings(**{**usual, **given})

    def oauth(self, principal: str = "", terminal: int | None = None, **given: Any) -> OAuth:
        """Credentials whose clock is the world's."""
        made = OAuth(self.server.url, self.settings(**given), say=self.say, principal=principal, terminal=terminal, clock=lambda: self.now)
        self._made.append(made)
        return made

    def say(self, text: str) -> None:
        self.told.append(text)
        if text.startswith("http"):
            self.visits.append(text)
            self.visited.set()
            if self.logs_in:
                errand = asyncio.get_running_loop().create_task(self.browse(text))
                self._errands.add(errand)
                errand.add_done_callback(self._errands.discard)

    async def browse(self, url: str) -> None:
        """What a browser does: it follows redirects, the last of them to the bridge."""
        async with httpx2.AsyncClient(follow_redirects=True, trust_env=False, verify=False) as browser:
            self.pages.append(await browser.get(url))

    async def request(self, oauth: OAuth, most: int = 5) -> int:
        """One request of the bridge's HTTP client: it is sent again as long as the credentials say so."""
        async with httpx2.AsyncClient(trust_env=False, verify=False) as client:
            for _ in range(most):
                used = await oauth.apply()
                answer = await client.post(self.server.url, json={}, headers=dict(used))
                if answer.status_code not in (401, 403) or not await oauth.challenged(answer.status_code, answer.headers, used):
                    return answer.status_code
        raise AssertionError(f"still refused after {most} requests")

    def play(self, story: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Run a story to its end."""

        async def whole() -> None:
            try:
                await story()
            finally:
                for oauth in self._made:
                    await oauth.close()
                await asyncio.gather(*self._errands)

        asyncio.run(whole())

    def asked(self, path: str) -> list[dict[str, Any]]:
        return self.authority.asked(path)


@pytest.fixture(scope="session")
def parties() -> Iterator[tuple[Protected, Authority, Authority]]:
    server, first, second = Protected(), Authority(), Authority()
    with serving(server.app) as port, serving(first.app) as first_port, serving(second.app) as second_port:
        server.base = f"http://localhost:{port}"
        first.base = f"http://localhost:{first_port}"
        second.base = f"http://localhost:{second_port}"
        yield server, first, second


@pytest.fixture
def world(parties: tuple[Protected, Authority, Authority], tmp_path: Path) -> World:
    server, first, second = parties
    first.reset()
    second.reset()
    server.reset(first)
    return World(server, first, second, tmp_path)
