"""A server of the library over the pipes of a real process, for clients of all revisions (basic/transports/stdio)."""

from __future__ import annotations

import asyncio
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp_types import ElicitResult
from tests.library.http_clients import LEGACY, MODERN, WITHOUT_ELICITATION, WORKER, RawStdio, Worker, meta_of
from tests.library.http_hosts import text_of
from tests.serve.conftest import ENVIRONMENT

ALL = (*LEGACY, MODERN)
WITH_ELICITATION = ("2025-06-18", "2025-11-25", MODERN)
SOON = 4.0
DRAINED = SOON + 5.0  # a call in flight has five seconds to come to its end


@pytest.fixture
def pipes() -> Iterator[Worker]:
    with Worker("stdio", "s") as worker:
        yield worker


async def greeted(pipes: Worker, version: str) -> RawStdio:
    client = RawStdio(version, pipes)
    await client.greet()
    return client


def begun(client: RawStdio, tool: str, number: int = 1000, **arguments: Any) -> Any:
    """Say a call and do not wait for its answer."""
    meta = {"progressToken": number}
    if client.version == MODERN:
        meta |= meta_of({})
    params = {"name": tool, "arguments": arguments, "_meta": meta}
    return client.say({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})


# -- a question in the middle of a handler


@pytest.mark.parametrize("version", WITH_ELICITATION)
def test_question_over_stdio_has_the_same_outcome_for_every_revision_that_has_elicitation(version: str, pipes: Worker) -> None:
    async def run() -> None:
        client = await greeted(pipes, version)
        assert text_of(await client.call("deploy")) == "deployed to staging"
        assert text_of(await client.call("trail")) == "asked by s, answered by s"
        assert [each["method"] for each in client.asked] == ["elicitation/create"] * 2

    asyncio.run(run())


@pytest.mark.parametrize("version", WITHOUT_ELICITATION)
def test_question_over_stdio_is_a_tool_error_that_names_elicitation_for_clients_before_2025_06_18(version: str, pipes: Worker) -> None:
    async def run() -> None:
        client = await greeted(pipes, version)
        found = (await client.call("deploy"))["result"]
        assert (found["isError"], "elicitation" in found["content"][0]["text"]) == (True, True)
        assert client.asked == []

    asyncio.run(run())


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_question_over_stdio_is_answered_by_the_official_client(mode: str) -> None:
    async def elicited(_: object, params: Any) -> ElicitResult:
        return ElicitResult(action="accept", content={"env": "staging"})

    async def run() -> None:
        process = StdioServerParameters(command=sys.executable, args=[str(WORKER), "stdio", "s"], env=ENVIRONMENT)
        async with Client(process, mode=mode, elicitation_callback=elicited) as client:
            assert client.protocol_version == ("2025-11-25" if mode == "legacy" else MODERN)
            found = await client.call_tool("deploy", {})
            assert (found.content[0].text, found.is_error) == ("deployed to staging", False)

    asyncio.run(run())


# -- the wire


@pytest.mark.parametrize("version", ["2024-11-05", MODERN])
def test_what_a_handler_prints_goes_to_stderr_and_leaves_the_wire_alone(version: str, pipes: Worker) -> None:
    async def run() -> None:
        client = await greeted(pipes, version)
        assert text_of(await client.call("shout")) == "shouted"
        for words in ("printed", "written", "to the descriptor", "from a child", "from C"):
            await pipes.hears(words)
        assert text_of(await client.call("name")) == "s"

    asyncio.run(run())


@pytest.mark.parametrize("version", ["2024-11-05", MODERN])
def test_result_of_ten_megabytes_arrives_whole(version: str, pipes: Worker) -> None:
    async def run() -> None:
        client = await greeted(pipes, version)
        assert text_of(await client.call("large", size=10_000_000)) == "x" * 10_000_000

    asyncio.run(run())


@pytest.mark.parametrize("version", ["2025-11-25", MODERN])
def test_three_hundred_calls_in_flight_are_each_answered_once(version: str, pipes: Worker) -> None:
    async def run() -> None:
        client = await greeted(pipes, version)
        for number in range(1000, 1300):
            await begun(client, "name" if number % 2 else "shout", number)
        found: list[int] = []
        async with asyncio.timeout(20):
            while len(found) < 300:
                found.append(client_frame(await client.line())["id"])
        assert sorted(found) == list(range(1000, 1300))

    asyncio.run(run())


def client_frame(line: bytes) -> dict[str, Any]:
    import json

    frame: dict[str, Any] = json.loads(line)
    assert frame["jsonrpc"] == "2.0"
    return frame


def test_slow_calls_do_not_hold_up_a_quick_one(pipes: Worker) -> None:
    async def run() -> None:
        client = await greeted(pipes, MODERN)
        for number in (1000, 1001):
            await begun(client, "block", number, seconds=1.0)
        await pipes.hears("blocking", 2)
        before = time.monotonic()
        assert text_of(await client.call("name")) == "s"
        assert time.monotonic() - before < 0.9

    asyncio.run(run())


GARBAGE = [
    b"hello",
    b"",
    b"{",
    b"[]",
    b"null",
    b"\xff\xfe\x00",
    b'{"jsonrpc":"1.0","id":1,"method":"ping"}',
    b'{"jsonrpc":"2.0"}',
    b'{"jsonrpc":"2.0","id":77,"result":{}}',
    b'{"jsonrpc":"2.0","id":{},"method":"tools/list"}',
    b'{"jsonrpc":"2.0","method":"notifications/nonsense","params":[1]}',
    b"[" * 100_000,
]


@pytest.mark.parametrize("version", ["2024-11-05", MODERN])
def test_garbage_lines_do_not_end_the_connection(version: str, pipes: Worker) -> None:
    async def run() -> None:
        client = await greeted(pipes, version)
        for line in GARBAGE:
            await client.write(line)
        await begun(client, "name", 4000)
        async with asyncio.timeout(20):
            while (frame := client_frame(await client.line())).get("id") != 4000:
                assert frame["error"]["code"] in (-32700, -32600), frame
        assert text_of(frame) == "s"

    asyncio.run(run())


def test_garbage_before_the_first_request_does_not_end_the_connection(pipes: Worker) -> None:
    async def run() -> None:
        client = RawStdio("2025-06-18", pipes)
        await client.write(b"GET / HTTP/1.1\n")
        await client.say({"jsonrpc": "2.0", "id": 1, "method": "ping"})
        async with asyncio.timeout(20):
            while (frame := client_frame(await client.line())).get("id") != 1:
                assert frame["error"]["code"] == -32700

    asyncio.run(run())


# -- cancellation


@pytest.mark.parametrize("version", ["2025-11-25", MODERN])
def test_cancelled_call_ends_its_handler_and_gets_no_answer(version: str, pipes: Worker) -> None:
    async def run() -> None:
        client = await greeted(pipes, version)
        await begun(client, "wait")
        await pipes.hears("waiting")
        await client.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1000}})
        await pipes.hears("wait was cancelled")
        assert text_of(await client.call("name")) == "s"
        assert {each["method"] for each in client.told} <= {"notifications/progress"}

    asyncio.run(run())


# -- the end


@pytest.mark.parametrize(
    ("number", "status", "version"),
    [(signal.SIGTERM, 143, MODERN), (signal.SIGINT, 130, "2025-11-25"), (None, 0, MODERN), (None, 0, "2024-11-05")],
)
def test_end_leaves_the_lifespan_and_tells_by_the_exit_status(
    number: signal.Signals | None, status: int, version: str, pipes: Worker
) -> None:
    async def run() -> None:
        client = await greeted(pipes, version)
        assert text_of(await client.call("name")) == "s"
        end(pipes, number)
        assert await pipes.wait(SOON) == status
        assert pipes.told == ["lifespan entered", "lifespan left"]

    asyncio.run(run())


def test_end_with_a_handler_at_work_cancels_it_and_leaves_the_lifespan_after_it(pipes: Worker) -> None:
    async def run() -> None:
        client = await greeted(pipes, MODERN)
        await begun(client, "wait")
        await pipes.hears("waiting")
        end(pipes, None)
        assert await pipes.wait(DRAINED) == 0
        assert pipes.told == ["lifespan entered", "waiting", "wait was cancelled", "lifespan left"]

    asyncio.run(run())


async def heard_soon(pipes: Worker, text: str) -> bool:
    """Well before the five seconds are over that a call in flight has."""
    try:
        await pipes.hears(text, seconds=0.8)
    except AssertionError:
        return False
    return True


@pytest.mark.parametrize("first", [signal.SIGTERM, signal.SIGINT, None])
def test_signal_after_the_beginning_of_the_end_waits_for_nothing(first: signal.Signals | None, pipes: Worker) -> None:
    async def run() -> None:
        client = await greeted(pipes, MODERN)
        await begun(client, "wait")
        await pipes.hears("waiting")
        end(pipes, first)
        for _ in range(5):  # two signals at once may be taken for one
            end(pipes, signal.SIGTERM)
            if await heard_soon(pipes, "wait was cancelled"):
                break
        assert await pipes.wait(SOON) == (130 if first == signal.SIGINT else 143)
        assert pipes.told == ["lifespan entered", "waiting", "wait was cancelled", "lifespan left"]

    asyncio.run(run())


@pytest.mark.parametrize("number", [signal.SIGTERM, None])
def test_end_does_not_wait_for_a_handler_that_blocks_its_thread(number: signal.Signals | None, pipes: Worker) -> None:
    async def run() -> None:
        client = await greeted(pipes, MODERN)
        await begun(client, "block", seconds=50)
        await pipes.hears("blocking")
        end(pipes, number)
        assert await pipes.wait(DRAINED) == (0 if number is None else 143)
        assert pipes.told == ["lifespan entered", "blocking", "lifespan left"]

    asyncio.run(run())


@pytest.mark.parametrize("how", [None, signal.SIGTERM])
def test_open_listen_stream_is_nothing_that_the_end_waits_for_and_ends_with_its_result(pipes: Worker, how: int | None) -> None:
    async def run() -> None:
        client = await greeted(pipes, MODERN)
        params = {"notifications": {"toolsListChanged": True}, "_meta": meta_of({})}
        await client.say({"jsonrpc": "2.0", "id": 50, "method": "subscriptions/listen", "params": params})
        assert client_frame(await client.line())["method"] == "notifications/subscriptions/acknowledged"
        end(pipes, how)
        (last,) = [client_frame(line) for line in iter(pipes.process.stdout.readline, b"")]
        assert (last["id"], last["result"]["resultType"]) == (50, "complete")
        assert last["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == 50
        assert await pipes.wait(SOON) == (0 if how is None else 128 + how)

    asyncio.run(run())


def test_call_that_is_nearly_done_is_answered_after_the_client_has_closed_its_side(pipes: Worker) -> None:
    async def run() -> None:
        client = await greeted(pipes, MODERN)
        await begun(client, "nap", seconds=0.3)
        await pipes.hears("napping")
        pipes.process.stdin.close()
        lines = [client_frame(line) for line in iter(pipes.process.stdout.readline, b"")]
        assert [text_of(each) for each in lines if "id" in each] == ["rested"]
        assert await pipes.wait(SOON) == 0

    asyncio.run(run())


def test_client_that_never_says_anything_ends_it_in_order(pipes: Worker) -> None:
    async def run() -> None:
        pipes.process.stdin.close()
        assert await pipes.wait(SOON) == 0
        assert [line for line in pipes.told if not line.startswith("lifespan")] == []

    asyncio.run(run())


def test_client_that_closes_stdout_too_ends_it(pipes: Worker) -> None:
    async def run() -> None:
        client = await greeted(pipes, MODERN)
        pipes.process.stdout.close()
        with suppress(BrokenPipeError):  # it may have noticed already
            await begun(client, "large", size=1_000_000)
        await pipes.wait(SOON)
        assert pipes.told[-1] == "lifespan left"
        assert [line for line in pipes.told if "Traceback" in line] == []

    asyncio.run(run())


def end(pipes: Worker, number: signal.Signals | None) -> None:
    if number is None:
        pipes.process.stdin.close()
    else:
        pipes.process.send_signal(number)


# -- a key that cannot be used


@pytest.mark.parametrize(
    ("kind", "content", "text"),
    [
        ("stdio", None, "there is no state key file"),
        ("stdio", b"short", "has 5 bytes, at least 32"),
        ("stdio", b"", "has 0 bytes, at least 32"),
        ("http", None, "there is no state key file"),
    ],
    ids=["none", "short", "empty", "http"],
)
def test_state_key_file_that_cannot_be_used_is_told_in_a_line_that_names_it(
    kind: str, content: bytes | None, text: str, tmp_path: Path
) -> None:
    path = tmp_path / "key"
    if content is not None:
        path.write_bytes(content)
        path.chmod(0o600)

    async def run() -> None:
        with Worker(kind, "s", f"state_key_file={path}") as pipes:
            assert await pipes.wait(SOON) not in (0, -signal.SIGSEGV)
            assert text in pipes.told[-1]
            assert str(path) in pipes.told[-1]

    asyncio.run(run())
