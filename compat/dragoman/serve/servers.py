"""The server processes of one house, by session.

A server's end is noticed by a pidfd, not by SIGCHLD: in a mounted application that signal belongs to the host. Where there
are no pidfds, every process is looked at once a second. What is written to the servers goes out at the end of the loop's turn;
one that takes nothing of it is given up, and holds up nobody else.
"""

from __future__ import annotations

import os
from asyncio import AbstractEventLoop
from time import monotonic
from typing import TYPE_CHECKING, Protocol

from dragoman.bridging.effects import DEBUG, WARNING, Loss
from dragoman.bridging.effects import Log as LogEffect
from dragoman.io.child import EXIT_WAIT, Child
from dragoman.io.lines import TooLong
from dragoman.io.log import Log
from dragoman.io.outlet import HIGH_WATER
from dragoman.io.process import Process
from dragoman.serve.events import LoopEvents

if TYPE_CHECKING:
    from dragoman.io.link import Distant
    from dragoman.io.opener import Opener

STALL = 30.0  # a server that takes nothing of a full queue for so long is given up
_MOST = 4 * HIGH_WATER  # and so is one that leaves so much waiting, beside one longest line
_LOOK = 1.0


class Hearer(Protocol):
    """Who is told what the servers say and what becomes of them."""

    def from_server(self, session: int, line: bytes | TooLong, about: bytes | None = None) -> None:
        """A line of a server."""

    def session_lost(self, session: int, reason: str) -> None:
        """A server cannot answer any more. Said once, and not after ``close``."""

    def happened(self) -> None:
        """Something did: there may be something to send, or another time to be called at."""


class Servers:
    """Children by session, their descriptors in ``loop``, and the process that was started ahead of time."""

    def __init__(self, loop: AbstractEventLoop, launcher: Opener, hearer: Hearer, log: Log, events: LoopEvents, max_line: int) -> None:
        self.events = events
        self.stall = STALL
        self.grace = EXIT_WAIT
        self._loop = loop
        self._launcher = launcher
        self._hearer = hearer
        self._log = log
        self._max_line = max_line
        self._children: list[Child | Distant] = []
        self._sessions: dict[int, Child | Distant] = {}
        self._pidfds: dict[Child | Distant, int] = {}
        self._spare: Child | None = None
        self._looked = 0.0

    @property
    def running(self) -> bool:
        """Whether any process is left, with or without a session."""
        return bool(self._children)

    def prepare(self) -> None:
        """Take over the process that was started ahead of time; its stderr is drained from now on."""
        process = self._launcher.prepared()
        if process is not None:
            self._spare = self._adopt(process)

    def open(self, session: int) -> None:
        """Start a server for ``session``. Raises ``CannotStart``."""
        child: Child | Distant | None
        child, self._spare = self._spare, None
        if child is None:
            child = self._launcher.child(self, self._max_line)
            self._watch(child)
        self._sessions[session] = child
        child.open(session)

    def write(self, session: int, data: bytes) -> None:
        """A frame for a server; if it was lost in this very turn, the core hears of it next."""
        child = self._sessions.get(session)
        if child is not None:
            child.write(data)

    def close(self, session: int) -> None:
        """End the server of ``session``."""
        child = self._sessions.pop(session, None)
        if child is not None:
            child.close(self.grace)

    def end(self, grace: float | None = None) -> None:
        """End them all; called again, it can only go faster."""
        self._sessions.clear()
        self._spare = None
        for child in self._children:
            child.close(self.grace if grace is None else grace)

    def abandon(self) -> None:
        """The loop is dead: close what tells them to end."""
        for child in self._children:
            child.outlet.abort()

    # -- every turn

    def flush(self) -> None:
        """Send what waits for the servers, and forget those that have ended."""
        ended = False
        for child in self._children:
            outlet = child.outlet
            if outlet.backlog:
                outlet.flush()
                child.press(monotonic(), self.stall, _MOST + self._max_line)
            ended = ended or child.ended
        if ended:
            for child in self._children:
                if child.ended:
                    self._let_go(child)
            self._children = [child for child in self._children if not child.ended]

    def due(self) -> float | None:
        """When the first of them wants to be looked at."""
        unwatched = any(isinstance(child, Child) and child not in self._pidfds for child in self._children)
        due = self._looked + _LOOK if unwatched else None
        for child in self._children:
            if child.due is not None and (due is None or child.due < due):
                due = child.due
        return due

    def tick(self, now: float) -> None:
        """Look at those that want it."""
        everyone = now >= self._looked + _LOOK
        if everyone:
            self._looked = now
        for child in self._children:
            if (child.due is not None and child.due <= now) or (everyone and child not in self._pidfds):
                child.tick(now)

    # -- what a child needs of its house

    def heard(self, child: Child, lines: list[bytes | TooLong]) -> None:
        """Lines of a server's stdout."""
        session = child.session
        for line in lines:
            if session is None or self._sessions.get(session) is not child:
                return
            self._hearer.from_server(session, line)

    def stderr(self, data: bytes) -> None:
        """A server's stderr, for ours."""
        self._log.forward(data)

    def heard_remote(self, child: Distant, line: bytes, about: bytes | None) -> None:
        """A line of a server behind a URL."""
        session = child.session
        if session is not None and self._sessions.get(session) is child:
            self._hearer.from_server(session, line, about)

    def told_remote(self, effect: LogEffect | Loss) -> None:
        """What a connection has to say to the operator."""
        if isinstance(effect, Loss):
            self._log.loss(effect.change, effect.detail)
        else:
            self._log.say(effect.level, effect.text)
        self._hearer.happened()

    def lost_remote(self, child: Distant, reason: str) -> None:
        """A connection is over."""
        self._gone(child, reason)

    def ended_remote(self) -> None:
        """A connection has nothing left."""
        self._hearer.happened()

    def lost(self, child: Child, reason: str) -> None:
        """A server ended by itself."""
        self._gone(child, reason)

    def _gone(self, child: Child | Distant, reason: str) -> None:
        session = child.session
        child.close(self.grace)
        if session is not None and self._sessions.get(session) is child:
            del self._sessions[session]
            self._log.say(DEBUG, reason)
            self._hearer.session_lost(session, reason)

    # -- processes

    def _adopt(self, process: Process) -> Child:
        child = Child(process, self._launcher.label, self, self._max_line)
        self._watch(child)
        return child

    def _watch(self, child: Child | Distant) -> None:
        self._children.append(child)
        if not isinstance(child, Child):
            return
        try:
            pidfd = os.pidfd_open(child.pid)
        except (AttributeError, OSError):  # not Linux, or the host has the kernel reap children: it may be gone already
            return
        self._pidfds[child] = pidfd
        self._loop.add_reader(pidfd, self._exited, child)

    def _exited(self, child: Child) -> None:
        self._loop.remove_reader(self._pidfds[child])  # it stays readable from now on
        if child is self._spare:
            self._spare = None
            child.tick(monotonic())  # reaps it
            self._log.say(WARNING, f"the server that was started ahead of the first request has ended: {child.describe(exited=True)}")
            child.close(0.0)
        child.tick(monotonic())
        self._hearer.happened()

    def _let_go(self, child: Child | Distant) -> None:
        pidfd = self._pidfds.pop(child, None)
        if pidfd is not None:
            self._loop.remove_reader(pidfd)
            os.close(pidfd)
