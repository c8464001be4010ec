"""The life and death of servers, and ours: every end is told with its reason, nothing is left behind."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

import pytest

ECHO = """
import sys
for line in sys.stdin.buffer:
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
"""
PID = "import os; print(os.getpid(), flush=True); "
STUBBORN = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print(os.getpid(), flush=True)
while True: time.sleep(1000)
"""


def test_server_that_reads_to_the_end_of_its_stdin_exits_by_itself(relay, tmp_path: Path):
    mark = tmp_path / "mark"
    bridge = relay(f"print(input(), flush=True); print(repr(__import__('sys').stdin.read()), file=open({str(mark)!r}, 'w'))")
    bridge.send(b"x\n")
    assert bridge.finish() == (b"x\n", b"", 0)
    assert mark.read_text() == "''\n"


def test_server_that_was_never_asked_is_ended_too(relay):
    bridge = relay(ECHO)
    assert bridge.finish() == (b"", b"", 0)


def test_exit_is_told_with_its_status_and_the_last_lines_of_stderr(relay):
    bridge = relay("import sys; input(); print('first\\nlast', file=sys.stderr); sys.exit(3)")
    bridge.send(b"x\n")
    assert bridge.line() == b"lost 1: the server exited with status 3; the last lines of its stderr:|first|last"


def test_only_the_last_twenty_lines_of_stderr_are_told(relay):
    bridge = relay("import sys; input(); [print('e', n, file=sys.stderr) for n in range(30)]; sys.exit(0)")
    bridge.send(b"x\n")
    lines = "|".join(f"e {n}" for n in range(10, 30))
    assert bridge.line() == f"lost 1: the server exited with status 0; the last lines of its stderr:|{lines}".encode()


def test_server_that_exits_before_the_first_frame_is_told_when_it_is_needed(relay, held):
    bridge = relay("import sys; sys.exit('no token')")
    for pid in bridge.children():
        held(pid).ends_within(5)
    bridge.send(b"x\n")
    assert bridge.line() == b"lost 1: the server exited with status 1; the last lines of its stderr:|no token"


def test_next_frame_after_a_loss_gets_a_fresh_server(relay):
    bridge = relay("import sys; print('hello', input(), flush=True); input(); sys.exit(2)")
    bridge.send(b"1\n")
    assert bridge.line() == b"hello 1"
    bridge.send(b"2\n")
    assert bridge.line() == b"lost 1: the server exited with status 2"
    bridge.send(b"3\n")
    assert bridge.line() == b"hello 3"


def test_server_killed_in_the_middle_of_a_line_is_told_after_what_it_said(relay):
    bridge = relay("import os; input(); os.write(1, b'whole\\npart'); os.kill(os.getpid(), 9)")
    bridge.send(b"x\n")
    assert [bridge.line(), bridge.line()] == [b"whole", b"part"]
    assert bridge.line() == b"lost 1: the server was killed by signal 9 (SIGKILL)"


def test_last_line_without_newline_comes_right_before_the_loss(relay):
    bridge = relay("import os, time; input(); os.write(1, b'part'); os.close(1); time.sleep(1000)", "--grace", "0.1")
    bridge.send(b"x\n")
    assert bridge.line() == b"part"
    assert bridge.line() == b"lost 1: the server closed its stdout but is still running"


def test_everything_that_a_server_said_before_its_exit_arrives(relay):
    bridge = relay("input(); print('\\n'.join(['x' * 999] * 3000))")
    bridge.send(b"x\n")
    assert bridge.take(3_000_000) == (b"x" * 999 + b"\n") * 3000
    assert bridge.line() == b"lost 1: the server exited with status 0"


def test_server_that_closes_its_stdout_but_lives_is_lost(relay, held):
    bridge = relay(PID + "os.close(1); import time; time.sleep(1000)", "--grace", "0.1")
    bridge.send(b"x\n")
    server = held(int(bridge.line()))
    assert bridge.line() == b"lost 1: the server closed its stdout but is still running"
    assert server.ends_within(10)


def test_server_that_closes_its_stdin_is_lost_with_the_next_frame(relay):
    bridge = relay("import os, time; print(input(), flush=True); os.close(0); print('closed', flush=True); time.sleep(1000)")
    bridge.send(b"1\n")
    assert [bridge.line(), bridge.line()] == [b"1", b"closed"]
    bridge.send(b"2\n")
    assert bridge.line() == b"lost 1: the server closed its stdin"


def test_grandchild_that_holds_stdout_does_not_hide_the_exit(relay, held):
    bridge = relay(
        """
import subprocess, sys
input()
print(subprocess.Popen(['sleep', '1000'], stdin=subprocess.DEVNULL).pid, flush=True)
sys.exit(4)
"""
    )
    bridge.send(b"x\n")
    grandchild = held(int(bridge.line()))
    assert bridge.line() == b"lost 1: the server exited with status 4"
    assert grandchild.ends_within(5)


def test_server_that_ignores_eof_and_sigterm_is_killed_with_its_family(relay, held):
    bridge = relay("import subprocess; print(subprocess.Popen(['sleep', '1000']).pid, flush=True)" + STUBBORN, "--grace", "0.1")
    bridge.send(b"x\n")
    grandchild, server = held(int(bridge.line())), held(int(bridge.line()))
    assert bridge.finish()[2] == 0
    assert server.ends_within(0)
    assert grandchild.ends_within(1)


def test_server_that_ignores_eof_is_asked_to_terminate_first(relay, tmp_path: Path):
    mark = tmp_path / "mark"
    bridge = relay(
        f"""
import signal, sys, time
def end(*_):
    open({str(mark)!r}, 'w').write('asked')
    sys.exit()
signal.signal(signal.SIGTERM, end)
print('ready', flush=True)
while True: time.sleep(1000)
""",
        "--grace",
        "0.1",
    )
    bridge.send(b"x\n")
    assert bridge.line() == b"ready"
    bridge.finish()
    assert mark.read_text() == "asked"


def test_server_that_never_reads_does_not_hold_up_the_end(relay):
    bridge = relay("import time; time.sleep(1000)", "--drain", "0.1", "--grace", "0.1")
    bridge.send_what_fits((b"x" * 1023 + b"\n") * 1024 * 30, 0.1)
    out, err, status = bridge.finish()
    assert (out, status) == (b"", 0)
    assert b"nothing came any more" in err


def test_server_that_takes_nothing_for_too_long_is_lost_and_the_next_frame_gets_another(relay, tmp_path: Path):
    mark = tmp_path / "second"
    code = f"""
import os, sys, time
if not os.path.exists({str(mark)!r}):
    open({str(mark)!r}, "w").close()
    time.sleep(1000)
for line in sys.stdin.buffer:
    sys.stdout.buffer.write(line); sys.stdout.flush()
"""
    bridge = relay(code, "--stall", "0.3", "--grace", "0.1")
    bridge.send(b"x" * (20 << 20) + b"\n")
    assert bridge.line() == b"lost 1: the server takes nothing of what is written to its stdin"
    bridge.send(b"again\n")
    assert bridge.line() == b"again"


def test_session_closed_by_the_core_ends_its_server_and_the_next_gets_another(relay, held):
    bridge = relay("import os; print(os.getpid(), input(), flush=True); input()")
    bridge.send(b"1\n")
    first, _, said = bridge.line().partition(b" ")
    server = held(int(first))
    bridge.send(b"close-session\n2\n")
    second, _, then = bridge.line().partition(b" ")
    assert (said, then) == (b"1", b"2")
    assert first != second
    assert server.ends_within(5)


def test_ended_servers_leave_no_zombie(relay):
    bridge = relay("import sys; input(); sys.exit(1)")
    for number in range(1, 4):
        bridge.send(b"x\n")
        assert bridge.line() == b"lost %d: the server exited with status 1" % number
    bridge.send(b"timer done\n")
    assert bridge.line() == b"timer done"
    states = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] for pid in bridge.children()]
    assert "Z" not in states


def test_command_that_is_not_there_is_told_and_is_our_failure(relay):
    bridge = relay(command=["no-such-program"])
    bridge.send(b"x\n")
    assert bridge.line() == b"lost 1: could not be started: command not found: no-such-program"
    assert bridge.finish()[2] == 1


ASKED = PID + "input(); print(open(input()).read(), flush=True); input()"


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129)])
def test_signal_finishes_what_is_in_flight_and_ends_in_order(relay, held, tmp_path: Path, number, status):
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    bridge = relay(ASKED)
    bridge.send(b"\n")
    server = held(int(bridge.line()))
    bridge.send(bytes(gate) + b"\n")
    with gate.open("w") as answer:  # opens as soon as the server opens it
        bridge.signal(number)
        answer.write("answer")
    assert bridge.line() == b"answer"
    bridge.rest()
    assert bridge.process.wait() == status
    assert server.ends_within(0)


def test_second_signal_does_not_wait(relay, held, tmp_path: Path):
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    bridge = relay(ASKED.replace("import os", "import os, signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)"), "--drain", "1000")
    bridge.send(b"\n")
    server = held(int(bridge.line()))
    bridge.send(bytes(gate) + b"\n")
    with gate.open("w"):
        bridge.signal(signal.SIGTERM)
        bridge.signal(signal.SIGINT)
        assert bridge.rest() == b""
    assert bridge.process.wait() in {143, 130}  # two signals that come together are seen in the order of their numbers
    assert server.ends_within(0)


def test_signal_after_eof_does_not_wait(relay, held, tmp_path: Path):
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    bridge = relay(ASKED, "--drain", "1000", "--level", "debug")
    bridge.send(b"\n")
    server = held(int(bridge.line()))
    bridge.send(bytes(gate) + b"\n")
    with gate.open("w"):
        bridge.end_input()
        assert bridge.process.stderr.readline() == b"dragoman: debug: the client closed\n"
        bridge.signal(signal.SIGTERM)
        assert bridge.process.wait() == 143
    assert server.ends_within(0)


def test_client_that_stops_reading_ends_the_bridge(relay, held):
    bridge = relay(PID + "input(); print(input(), flush=True); input()", "--drain", "1000")
    bridge.send(b"\n")
    server = held(int(bridge.line()))
    bridge.process.stdout.close()
    bridge.process.stdout = None
    with suppress(BrokenPipeError):  # poll notices at once, and may be faster than we are; threads notice when they write
        bridge.send(b"x\n")
    assert bridge.process.wait() == 0
    assert server.ends_within(0)


def test_killed_bridge_leaves_no_stubborn_server_behind(relay, held):
    bridge = relay("import subprocess; print(subprocess.Popen(['sleep', '1000']).pid, flush=True)" + STUBBORN)
    bridge.send(b"x\n")
    grandchild, server = held(int(bridge.line())), held(int(bridge.line()))
    bridge.signal(signal.SIGKILL)
    assert bridge.rest() == b""
    assert server.ends_within(5)
    assert grandchild.ends_within(1)


def test_closed_stderr_is_no_obstacle(relay):
    command = [sys.executable, "-S", "-u", "-c", "import sys; sys.stderr.write('lost'); print(input(), flush=True); sys.exit(1)"]
    bridge = relay(command=command, stderr=None)
    bridge.send(b"x\n")
    assert bridge.line() == b"x"


def test_server_has_a_group_of_its_own(relay):
    bridge = relay("import os; input(); print(os.getpid() == os.getpgrp() == os.getsid(0), flush=True); input()")
    bridge.send(b"x\n")
    assert bridge.line() == b"True"


def test_server_does_not_ignore_the_signals_that_we_ignore(relay):
    bridge = relay(command=["sh", "-c", "read x; grep SigIgn /proc/self/status; read x"])
    bridge.send(b"x\n")
    ignored = int(bridge.line().split()[1], 16)
    assert ignored & (1 << (signal.SIGPIPE - 1)) == 0
    assert ignored & (1 << (signal.SIGXFSZ - 1)) == 0


def test_server_inherits_no_descriptor_of_ours(relay):
    bridge = relay(command=["sh", "-c", "read x; ls /proc/self/fd | tr '\\n' ' '; echo; read x"])
    bridge.send(b"x\n")
    assert bridge.line().split() == [b"0", b"1", b"2", b"3"]
