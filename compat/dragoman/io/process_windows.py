"""One started process on Windows: ``subprocess``, a process group, and a Job Object that ends the family with us.

There is no SIGTERM: ``terminate`` sends Ctrl-Break to the group, ``kill`` ends the job. Closing the job's last handle kills
everything in it, so nothing survives us either.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable

from dragoman.io.command import CannotStart, find
from dragoman.io.quoting import batch_line

if sys.platform == "win32":
    import ctypes
    import msvcrt
    import signal
    from ctypes import wintypes

    _KILL_ON_JOB_CLOSE = 0x2000
    _EXTENDED_LIMITS = 9

    class _BasicLimits(ctypes.Structure):
        _fields_ = (
            ("PerProcessUserTimeLimit", ctypes.c_int64),
            ("PerJobUserTimeLimit", ctypes.c_int64),
            ("LimitFlags", wintypes.DWORD),
            ("MinimumWorkingSetSize", ctypes.c_size_t),
            ("MaximumWorkingSetSize", ctypes.c_size_t),
            ("ActiveProcessLimit", wintypes.DWORD),
            ("Affinity", ctypes.c_size_t),
            ("PriorityClass", wintypes.DWORD),
            ("SchedulingClass", wintypes.DWORD),
        )

    class _ExtendedLimits(ctypes.Structure):
        _fields_ = (
            ("BasicLimitInformation", _BasicLimits),
            ("IoInfo", ctypes.c_uint64 * 6),
            ("ProcessMemoryLimit", ctypes.c_size_t),
            ("JobMemoryLimit", ctypes.c_size_t),
            ("PeakProcessMemoryUsed", ctypes.c_size_t),
            ("PeakJobMemoryUsed", ctypes.c_size_t),
        )

    class Process:
        """A running (or ended) server process. ``status`` is ``None`` until it ended."""

        def __init__(self, popen: subprocess.Popen[bytes], job: int | None) -> None:
            streams = [stream for stream in (popen.stdin, popen.stdout, popen.stderr) if stream is not None]
            self.pid = popen.pid
            self.status: int | None = None
            self.stdin, self.stdout, self.stderr = [_own(stream.fileno()) for stream in streams]
            for stream in streams:
                stream.close()
            self._popen = popen
            self._job = job

        def poll(self) -> int | None:
            """The exit status if the process has ended, else ``None``. Never waits."""
            self.status = self._popen.poll()
            return self.status

        def on_exit(self, post: Callable[[Callable[[bytes], None]], None], handler: Callable[[bytes], None]) -> None:
            """Have ``handler`` posted when the process ends: a thread waits for it."""
            from threading import Thread

            def wait() -> None:
                self._popen.wait()
                post(handler)

            Thread(target=wait, daemon=True).start()

        def terminate(self) -> bool:
            """Ask the group to end."""
            try:
                os.kill(self.pid, signal.CTRL_BREAK_EVENT)
            except OSError:
                return False
            return True

        def kill(self) -> bool:
            """End the whole job."""
            if self._job is not None:
                ctypes.windll.kernel32.TerminateJobObject(self._job, 1)
            elif self._popen.poll() is None:
                self._popen.kill()
            return True

        def family_lives(self) -> bool:
            """Not known on Windows; the job takes whoever is left with it."""
            if self._job is not None:
                ctypes.windll.kernel32.CloseHandle(self._job)
                self._job = None
            return False

        def dismiss(self) -> bool:
            """Nobody watches but the job."""
            return True

    def start(command: list[str], env: dict[str, str], cwd: str | None) -> Process:
        """Start ``command``; ``CannotStart`` says in words what is wrong with it."""
        path = find(command[0], cwd, env)
        batch = path.lower().endswith((".bat", ".cmd"))
        try:
            popen = subprocess.Popen(
                batch_line(path, command[1:]) if batch else [path, *command[1:]],
                executable=env.get("COMSPEC", "cmd.exe") if batch else None,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                env=env,
                cwd=cwd,
                creationflags=subprocess.CREATE_NEW_PROCESS_GROUP,
            )
        except OSError as error:
            raise CannotStart(f"cannot start {command[0]}: {error.strerror or error}") from None
        return Process(popen, _job_with(int(popen._handle)))  # type: ignore[attr-defined]  # noqa: SLF001

    def _own(fd: int) -> int:
        copy = os.dup(fd)
        msvcrt.setmode(copy, os.O_BINARY)
        return copy

    def _job_with(handle: int) -> int | None:
        """A job that ends with us, holding the process; ``None`` where the system refuses (nested jobs before Windows 8)."""
        kernel = ctypes.windll.kernel32
        kernel.CreateJobObjectW.restype = wintypes.HANDLE
        job: int | None = kernel.CreateJobObjectW(None, None)
        if not job:
            return None
        limits = _ExtendedLimits()
        limits.BasicLimitInformation.LimitFlags = _KILL_ON_JOB_CLOSE
        arguments = (wintypes.HANDLE(job), _EXTENDED_LIMITS, ctypes.byref(limits), ctypes.sizeof(limits))
        if kernel.SetInformationJobObject(*arguments) and kernel.AssignProcessToJobObject(wintypes.HANDLE(job), wintypes.HANDLE(handle)):
            return job
        kernel.CloseHandle(wintypes.HANDLE(job))
        return None
