"""The token for the requests to one server: where it comes from, and what is done when the server refuses it.

Theory of operation. Requests ask for header fields (``apply``) and tell of refusals (``challenged``); both may happen many times at once.
Work on the authorization is done by one task at a time, which no request's end interrupts; those that wait look first whether
the token has changed since theirs was refused, so one login serves them all. The same holds between processes, by the
locks of the token file.

A refusal can only be answered by something new, or it would be answered for ever: another token than the refused one; a refresh, but not
of what was just refreshed; a login, but after a login only if the server now names another authorization server; for a scope,
a login only if the token lacks it. A person who did not log in is not asked again for a while.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, TypeVar

from dragoman.auth.challenge import Challenge, bearer
from dragoman.auth.errors import AuthError, LoginNeeded, NobodyCame, Refused, StoreError, require
from dragoman.auth.record import Record, canonical
from dragoman.auth.settings import CLIENT_CREDENTIALS, NEVER, Settings
from dragoman.auth.store import LOGGING_IN, REFRESHING, Store

T = TypeVar("T")
_PREFIX = "Bearer "
_REST = 60.0  # before a person is asked again
_MOST_STEPS = 2  # for one scope
_LOCK_PATIENCE = 60.0
_OTHERS = "another program has been waiting for a login at this server all the time"


class OAuth:
    """Implements ``Credentials`` for one server and one principal.

    ``say`` gets lines for the operator; ``terminal`` is a descriptor where a person may type, if there is one that is not the client's.
    """

    def __init__(
        self,
        server: str,
        settings: Settings,
        *,
        say: Callable[[str], None],
        principal: str = "",
        terminal: int | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        settings.check()
        self.server = canonical(server)
        self.store = Store(self.server, principal, settings.token_dir)
        self._settings = settings
        self._say = say
        self._terminal = terminal
        self._clock = clock
        self._record: Record | None = None
        self._lock = asyncio.Lock()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._steps: dict[str, int] = {}
        self._failure: tuple[float, AuthError] | None = None
        self._is_kept = True
        self._is_machine = settings.grant == CLIENT_CREDENTIALS

    def __repr__(self) -> str:
        return f"OAuth({self.server!r})"

    async def apply(self) -> Mapping[str, str]:
        """The header fields for the next request to the server. Raises ``StoreError``."""
        record = self._record or self._reload()
        # A login under way brings another token; until then, the one that still works will do.
        is_busy = self._lock.locked() and bool(record.usable(self._clock()))
        if record.is_ending(self._clock()) and record.refresh_token and not is_busy:
            try:
                await self._outlasting(self._renew(record.access_token))
            except StoreError:
                raise
            except AuthError as fault:
                if not record.usable(self._clock()):
                    self._say(f"the token could not be refreshed: {fault}")
        token = (self._record or record).usable(self._clock())
        return {"Authorization": _PREFIX + token} if token else {}

    async def challenged(self, status: int, headers: Mapping[str, str], used: Mapping[str, str]) -> bool:
        """The server answered 401 or 403 to a request with ``used``; whether to send it again. Raises ``AuthError``."""
        challenge = bearer(_field(headers, "www-authenticate"))
        if challenge is None or status not in (401, 403) or (status == 403 and challenge.error != "insufficient_scope"):
            return False
        field = _field(used, "authorization")
        token = field[len(_PREFIX) :] if field.startswith(_PREFIX) else ""
        return await self._outlasting(self._answer(status, challenge, token))

    async def log_in(self, challenge: Challenge) -> None:
        """Log in now, whatever is kept. Raises ``AuthError``."""
        async with self._lock, self.store.alone(LOGGING_IN, self._settings.login_timeout) as is_alone:
            if not is_alone:
                raise LoginNeeded(_OTHERS)
            await self._log_in(self._reload(), 401, challenge, only_if_moved=False)

    async def close(self) -> None:
        """Give up what is under way."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # -- one at a time ---------------------------------------------------------------------------------------------

    async def _outlasting(self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for work that goes on if we are cancelled: a person may be in the middle of it."""
        task: asyncio.Task[T] = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return await asyncio.shield(task)

    def _done(self, task: asyncio.Task[T]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # it has been seen, if nobody waits any more

    async def _renew(self, token: str) -> None:
        async with self._lock:
            record = self._reload()
            if record.access_token == token and record.refresh_token:
                await self._refresh(record)

    async def _answer(self, status: int, challenge: Challenge, token: str) -> bool:
        async with self._lock:
            record = self._reload()
            if self._has_other(record, token):
                return True
            if status == 401 or not token:
                return await self._answer_refusal(record, challenge, token)
            return await self._step_up(record, challenge, token)

    def _has_other(self, record: Record, token: str) -> bool:
        return record.usable(self._clock()) not in ("", token)

    async def _answer_refusal(self, record: Record, challenge: Challenge, token: str) -> bool:
        now = self._clock()
        if record.refresh_token and not (token and record.is_just_refreshed(now)):
            record = await self._refresh(record)
            if self._has_other(record, token):
                return True
        is_new = bool(token) and record.access_token == token and record.is_just_logged_in(now, by_person=not self._is_machine)
        return await self._authorize(401, challenge, token, only_if_moved=is_new) is not None

    async def _step_up(self, record: Record, challenge: Challenge, token: str) -> bool:
        needed = set(challenge.scope.split())
        steps = self._steps.get(challenge.scope, 0)
        if (needed and needed <= set(record.scope.split())) or steps >= _MOST_STEPS:
            return False  # another login would give the same
        self._steps[challenge.scope] = steps + 1
        new = await self._authorize(403, challenge, token)
        if new is None or new.access_token == token:
            return False
        # A server may name what it has granted in other words (scopes form hierarchies): the request itself tells whether it is enough.
        if needed and needed <= set(new.scope.split()):
            del self._steps[challenge.scope]
        return True

    # -- refreshing ------------------------------------------------------------------------------------------------

    async def _refresh(self, record: Record) -> Record:
        """The record with new tokens; without any if the refresh token is good no more."""
        await _load_flow()
        from dragoman.auth.flow import Flow

        async with self.store.alone(REFRESHING, _LOCK_PATIENCE) as is_alone:
            if not is_alone:
                raise AuthError("another program has been refreshing the token all the time")
            latest = self._reload()
            if latest.access_token != record.access_token:
                return latest
            flow = Flow(latest, self._settings, self._clock, self._keep)
            try:
                record = await flow.refreshed()
            except Refused as refusal:
                self._say(f"the login at {latest.issuer or self.server} has ended: {refusal}")
                record = latest.without_client() if refusal.code == "invalid_client" else latest.without_tokens()
            self._keep(record)
        return record

    # -- logging in ------------------------------------------------------------------------------------------------

    async def _authorize(self, status: int, challenge: Challenge, token: str, *, only_if_moved: bool = False) -> Record | None:
        """The record with new tokens; ``None`` if that cannot help."""
        self._judge_failure()
        if self._settings.login == NEVER and not self._is_machine:
            scope = f" --scope '{challenge.scope}'" if status == 403 and challenge.scope else ""
            raise LoginNeeded(f"{self.server} wants a login: run dragoman login{scope} {self.server}")
        async with self.store.alone(LOGGING_IN, self._settings.login_timeout) as is_alone:
            record = self._reload()
            if self._has_other(record, token):
                return record
            if not is_alone:
                raise LoginNeeded(_OTHERS)
            return await self._log_in(record, status, challenge, only_if_moved=only_if_moved)

    async def _log_in(self, record: Record, status: int, challenge: Challenge, *, only_if_moved: bool) -> Record | None:
        await _load_flow()
        from dragoman.auth.flow import Flow, NotMoved
        from dragoman.auth.login import Login

        login = Login(self._settings, self._say, self._terminal)
        flow = Flow(record, self._settings, self._clock, self._keep)
        try:
            new = await flow.authorized(status, challenge, login, only_if_moved=only_if_moved)
        except NotMoved:
            return None
        except AuthError as fault:
            self._note_failure(fault, status, was_shown=login.was_shown)
            raise
        self._failure = None
        async with self.store.alone(REFRESHING, _LOCK_PATIENCE):  # whoever refreshes now would write over it
            self._keep(new)
        return new

    def _judge_failure(self) -> None:
        if self._failure is not None:
            at, fault = self._failure
            if time.monotonic() - at < _REST:
                raise fault.with_traceback(None)
            self._failure = None

    def _note_failure(self, fault: AuthError, status: int, *, was_shown: bool) -> None:
        if was_shown:
            self._failure = time.monotonic(), fault
        # A client that the authorization server has forgotten shows as a page with no way back, or as a code without a token.
        is_forgotten = isinstance(fault, NobodyCame) or (isinstance(fault, Refused) and fault.code == "invalid_client")
        record = self._reload()
        if record.client is not None and is_forgotten and (status == 401 or not record.access_token):
            self._keep(record.without_client())

    # -- keeping ---------------------------------------------------------------------------------------------------

    def _reload(self) -> Record:
        if self._is_kept or self._record is None:
            self._record = self._fitting(self.store.load())
        return self._record

    def _fitting(self, record: Record) -> Record:
        """Tokens of another client than the one that we are told to be are not ours to use."""
        wanted = self._settings.client_id
        return record.without_tokens() if wanted and record.client_id and record.client_id != wanted else record

    def _keep(self, record: Record) -> None:
        self._record = record
        try:
            self.store.save(record)
        except StoreError as fault:
            if self._is_kept:
                self._say(f"{fault}; the login will be lost when this program ends")
            self._is_kept = False


async def _load_flow() -> None:
    """The SDK takes a second to import, in which the loop should not stand still. Raises ``NotInstalled``."""
    from importlib import import_module

    require()
    await asyncio.to_thread(import_module, "dragoman.auth.flow")


def _field(headers: Mapping[str, str], name: str) -> str:
    return next((value for key, value in headers.items() if key.lower() == name), "")
