"""Frames through the shell, both ways: exact, whole, in bounded memory."""

from __future__ import annotations

import os
import subprocess
import threading
from pathlib import Path

import pytest

ECHO = """
import sys
for line in sys.stdin.buffer:
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
"""
MEGABYTE = 1 << 20


@pytest.mark.parametrize(
    "line",
    [
        b"{}",
        "\u2028\u2029\x85\x0b\x0c é".encode(),
        b"with a return\r",
        b"\xef\xbb\xbf{}",
        b"\x00\x01",
        b"\xff\xfe not utf-8",
        b"",
        b"x" * 65536,
    ],
)
def test_line_is_relayed_byte_for_byte(relay, line):
    bridge = relay(ECHO)
    bridge.send(line + b"\n")
    assert bridge.line() == line


def test_lines_that_arrive_together_stay_in_order(relay):
    bridge = relay(ECHO)
    lines = b"".join(b"%d\n" % number for number in range(5000))
    bridge.send(lines)
    assert bridge.take(len(lines)) == lines


def test_line_that_arrives_in_pieces_is_whole(relay):
    bridge = relay(ECHO)
    bridge.send(b"one, ")
    bridge.send(b"two")
    bridge.send(b"\nthree\n")
    assert [bridge.line(), bridge.line()] == [b"one, two", b"three"]


def test_last_line_without_newline_is_delivered_at_the_end_of_both_streams(relay):
    bridge = relay("import sys; print('got', sys.stdin.readline(), end='')")
    bridge.send(b"all")
    out, _, status = bridge.finish()
    assert out.startswith(b"got all\n")
    assert status == 0


def test_everything_in_flight_at_eof_is_answered(relay):
    bridge = relay(ECHO)
    bridge.send(b"1\n2\n3\n")
    assert bridge.finish() == (b"1\n2\n3\n", b"", 0)


def test_line_of_20_megabytes_is_relayed_whole(relay):
    bridge = relay(ECHO)
    line = os.urandom(1000).replace(b"\n", b"-") * 20_000 + b"\n"
    writer = threading.Thread(target=bridge.send, args=(line,))
    writer.start()
    assert bridge.take(len(line)) == line
    writer.join()


def test_line_at_the_limit_passes(relay):
    bridge = relay(ECHO, "--max-line", "100000")
    bridge.send(b"x" * 100_000 + b"\n")
    assert bridge.line() == b"x" * 100_000


def test_line_of_the_client_over_the_limit_is_skipped_and_the_next_passes(relay):
    bridge = relay(ECHO, "--max-line", "100000")
    bridge.send(b"y" * 100_001 + b"\nnext\n")
    assert [bridge.line(), bridge.line()] == [b"client line too long: 100001 bytes, head 65536", b"next"]


def test_line_of_the_server_over_the_limit_is_skipped_and_the_next_passes(relay):
    bridge = relay("print('z' * 3_000_000); print('next')", "--max-line", "100000")
    bridge.send(b"go\n")
    assert [bridge.line(), bridge.line()] == [b"server line too long: 3000000 bytes, head 65536", b"next"]


def test_client_that_does_not_read_is_not_read_either_and_loses_nothing(relay):
    bridge = relay(ECHO)
    block = (b"b" * 1023 + b"\n") * 1024
    everything = block * 80
    sent = bridge.send_what_fits(everything)
    assert sent < len(everything)
    writer = threading.Thread(target=bridge.send, args=(everything[sent:],))
    writer.start()
    assert bridge.take(len(everything)) == everything
    writer.join()
    assert bridge.memory() < 120 * MEGABYTE


def test_server_that_does_not_read_stops_the_client_until_it_reads(relay, tmp_path):
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    bridge = relay(
        f"""
import sys
open({str(gate)!r}).read()
print(sum(len(line) for line in iter(sys.stdin.buffer.readline, b'last\\n')))
"""
    )
    block = (b"b" * 1023 + b"\n") * 1024
    everything = block * 40
    sent = bridge.send_what_fits(everything)
    assert sent < 20 * MEGABYTE
    gate.write_text("go")
    bridge.send(everything[sent:] + b"last\n")
    assert bridge.line() == b"%d" % len(everything)
    assert bridge.memory() < 120 * MEGABYTE


def test_server_that_speaks_first_and_much_does_not_stop_either_side(relay):
    bridge = relay(
        """
import sys
for _ in range(30):
    sys.stdout.write(('s' * 1023 + '\\n') * 1024)
for line in sys.stdin:
    print('heard', line, end='', flush=True)
"""
    )
    block = (b"c" * 1023 + b"\n") * 1024
    writer = threading.Thread(target=bridge.send, args=(block * 30 + b"last\n",))
    writer.start()
    assert bridge.take(30 * MEGABYTE) == b"s" * 1023 + b"\n" + (b"s" * 1023 + b"\n") * (30 * 1024 - 1)
    while (line := bridge.line()) != b"heard last":
        assert line == b"heard " + b"c" * 1023
    writer.join()


def test_server_that_floods_stderr_is_drained_though_nobody_reads_ours(relay):
    bridge = relay(
        """
import sys
for _ in range(20):
    sys.stderr.write('e' * (1 << 20))
print('hello', sys.stdin.readline().strip())
"""
    )
    bridge.send(b"there\n")
    assert bridge.line() == b"hello there"
    assert bridge.memory() < 100 * MEGABYTE


def test_stderr_of_the_server_is_passed_on_as_it_is(relay):
    bridge = relay("import sys; sys.stderr.buffer.write(b'a\\n\\xff\\nb'); sys.stderr.flush(); print('hello'); input(); input()")
    bridge.send(b"x\n")
    assert bridge.line() == b"hello"
    _, err, _ = bridge.finish()
    assert err.startswith(b"a\n\xff\nb")


def test_frames_come_from_a_file_and_go_to_a_file(relay, tmp_path: Path):
    source = tmp_path / "in"
    source.write_bytes(b"1\n2\n")
    target = tmp_path / "out"
    with source.open("rb") as frames, target.open("wb") as answers:
        answers.write(b"before\n")
        answers.flush()
        bridge = relay(ECHO, stdin=frames.fileno(), stdout=answers.fileno())
        assert bridge.process.wait() == 0
    assert target.read_bytes() == b"before\n1\n2\n"


def test_frames_come_and_go_over_socket_pairs(relay):
    """Hosts built on libuv give these to their children."""
    import socket

    ours, theirs = socket.socketpair()
    with ours, theirs:
        bridge = relay(ECHO, stdin=theirs.fileno(), stdout=theirs.fileno())
        theirs.close()
        line = b"s" * 3_000_000 + b"\n"
        writer = threading.Thread(target=ours.sendall, args=(line,))
        writer.start()
        got = b""
        while len(got) < len(line):
            got += ours.recv(1 << 20)
        writer.join()
        assert got == line
        ours.shutdown(socket.SHUT_WR)
        assert bridge.process.wait() == 0


def test_descriptors_that_we_were_given_stay_blocking(relay):
    read_end, write_end = os.pipe()
    bridge = relay(ECHO, stdout=write_end, stderr=subprocess.DEVNULL)
    bridge.send(b"x\n")
    assert os.read(read_end, 100) == b"x\n"
    assert os.get_blocking(write_end)
    os.close(write_end)
    os.close(read_end)


def test_timers_fire_and_cancelled_ones_do_not(relay):
    bridge = relay(ECHO)
    bridge.send(b"timer one\n")
    assert bridge.line() == b"timer one"
    bridge.send(b"end\n")
    assert bridge.line() == b"end"
