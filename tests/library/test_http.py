"""A server of the library under uvicorn in a process of its own: streams, clients that leave, and the end (basic/transports)."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import httpx2
import pytest
from tests.library.http_clients import LEGACY, MODERN, Json, RawHttp, RawSse, Worker, next_of
from tests.library.http_hosts import greeted, sent, text_of

ALL = (*LEGACY, MODERN)
GRACE = 2
SOON = GRACE + 6.0


@pytest.fixture(scope="module")
def shared() -> Iterator[Worker]:
    """One server for the tests that leave it as it was."""
    with Worker("http", "h") as worker:
        yield worker


@pytest.fixture
def alone() -> Iterator[Worker]:
    """A server that the test ends; uvicorn waits two seconds for open connections."""
    with Worker("http", "h", f"grace={GRACE}") as worker:
        yield worker


@pytest.fixture(params=[[], ["mounted=1"]], ids=["itself", "mounted"])
def patient(request: pytest.FixtureRequest) -> Iterator[Worker]:
    """A server that the test ends, alone or in another application; uvicorn waits for open connections without end."""
    with Worker("http", "h", *request.param) as worker:
        yield worker


@asynccontextmanager
async def connected(worker: Worker) -> AsyncIterator[tuple[httpx2.AsyncClient, str]]:
    async with httpx2.AsyncClient(timeout=20, limits=httpx2.Limits(max_connections=None)) as http:
        yield http, f"http://127.0.0.1:{worker.port}/mcp"


# -- clients that leave


def test_modern_client_that_closes_its_stream_cancels_the_handler(shared: Worker) -> None:
    async def run() -> None:
        async with connected(shared) as (http, url):
            seen = sum("wait was cancelled" in line for line in shared.told)
            async with sent(RawHttp(MODERN, http, url), "tools/call", 7, name="wait", arguments={}) as frames:
                assert (await next_of(frames))["method"] == "notifications/progress"
            await shared.hears("wait was cancelled", seen + 1)

    asyncio.run(run())


@pytest.mark.parametrize("version", LEGACY)
def test_legacy_client_that_cancels_cancels_the_handler(version: str, shared: Worker) -> None:
    async def run() -> None:
        async with connected(shared) as (http, url):
            client = await greeted(version, http, url)
            seen = sum("wait was cancelled" in line for line in shared.told)
            async with sent(client, "tools/call", 7, name="wait", arguments={}) as frames:
                assert (await next_of(frames))["method"] == "notifications/progress"
                await client.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}})
                await shared.hears("wait was cancelled", seen + 1)

    asyncio.run(run())


def test_legacy_client_that_only_disconnects_cancels_nothing(shared: Worker) -> None:
    """2025-11-25, basic/transports#sending-messages-to-the-server: disconnection is no cancellation."""

    async def run() -> None:
        async with connected(shared) as (http, url):
            client = await greeted("2025-11-25", http, url)
            seen = sum("wait was cancelled" in line for line in shared.told)
            async with sent(client, "tools/call", 7, name="wait", arguments={}) as frames:
                assert (await next_of(frames))["method"] == "notifications/progress"
            assert text_of(await client.call("name")) == "h"
            assert sum("wait was cancelled" in line for line in shared.told) == seen
            await client.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}})
            await shared.hears("wait was cancelled", seen + 1)

    asyncio.run(run())


@pytest.mark.parametrize("version", LEGACY)
def test_session_that_is_deleted_cancels_its_handlers_and_is_unknown_afterwards(version: str, shared: Worker) -> None:
    async def run() -> None:
        async with connected(shared) as (http, url):
            client = await greeted(version, http, url)
            seen = sum("wait was cancelled" in line for line in shared.told)
            async with sent(client, "tools/call", 7, name="wait", arguments={}) as frames:
                await next_of(frames)
                assert (await http.delete(url, headers=client.fields({}))).status_code in (200, 202, 204)
                await shared.hears("wait was cancelled", seen + 1)
            await client.request("tools/list")
            assert client.statuses[-1] == 404
            assert (await http.delete(url, headers=client.fields({}))).status_code == 404

    asyncio.run(run())


# -- changes


@pytest.mark.parametrize("version", LEGACY)
def test_change_of_a_list_reaches_the_get_stream_of_a_legacy_session(version: str, shared: Worker) -> None:
    async def run() -> None:
        async with connected(shared) as (http, url):
            client = await greeted(version, http, url)
            async with client.stream() as frames:
                for what in ("tools", "prompts", "resources"):
                    assert text_of(await RawHttp(MODERN, http, url).call("change", what=what)) == "told"
                    assert (await next_of(frames))["method"] == f"notifications/{what}/list_changed"

    asyncio.run(run())


@pytest.mark.parametrize("version", LEGACY)
def test_change_of_a_resource_reaches_the_session_that_has_subscribed_to_it_and_no_other(version: str, shared: Worker) -> None:
    async def run() -> None:
        async with connected(shared) as (http, url):
            client, other = await greeted(version, http, url), await greeted(version, http, url)
            assert (await client.request("resources/subscribe", {"uri": "note://one"}))["result"] == {}
            async with client.stream() as frames, other.stream() as others:
                await RawHttp(MODERN, http, url).call("change", what="note://one")
                await RawHttp(MODERN, http, url).call("change", what="prompts")
                found = await next_of(frames)
                assert (found["method"], found["params"]["uri"]) == ("notifications/resources/updated", "note://one")
                assert (await next_of(others))["method"] == "notifications/prompts/list_changed"

    asyncio.run(run())


def test_change_reaches_the_listen_streams_that_asked_for_it(shared: Worker) -> None:
    async def run() -> None:
        async with connected(shared) as (http, url):
            client = RawHttp(MODERN, http, url)
            wanted = {"toolsListChanged": True, "resourceSubscriptions": ["note://one"]}
            async with (
                sent(client, "subscriptions/listen", 7, notifications=wanted) as frames,
                sent(client, "subscriptions/listen", 8, notifications={"promptsListChanged": True}) as others,
            ):
                for each, number in ((frames, 7), (others, 8)):
                    found = await next_of(each)
                    assert found["method"] == "notifications/subscriptions/acknowledged"
                    assert found["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == number
                for what in ("tools", "note://one", "prompts"):
                    await RawHttp(MODERN, http, url).call("change", what=what)
                assert (await next_of(frames))["method"] == "notifications/tools/list_changed"
                found = await next_of(frames)
                assert (found["method"], found["params"]["uri"]) == ("notifications/resources/updated", "note://one")
                assert (await next_of(others))["method"] == "notifications/prompts/list_changed"

    asyncio.run(run())


def test_change_reaches_the_stream_of_the_two_endpoints_of_2024(shared: Worker) -> None:
    async def run() -> None:
        async with connected(shared) as (http, url), RawSse("2024-11-05", http, url.removesuffix("/mcp")).connected() as client:
            await client.greet()
            await RawHttp(MODERN, http, url).call("change", what="tools")
            found = await client.request("tools/list")
            assert "result" in found
            assert [each["method"] for each in client.told] == ["notifications/tools/list_changed"]

    asyncio.run(run())


# -- many


def test_more_than_a_hundred_legacy_sessions_at_once_are_each_served(shared: Worker) -> None:
    async def run() -> None:
        async with connected(shared) as (http, url):

            async def one(number: int) -> RawHttp:
                client = await greeted(LEGACY[number % 4], http, url)
                assert text_of(await client.call("name")) == "h"
                return client

            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(one(number)) for number in range(120)]
            clients = [task.result() for task in tasks]
            assert len({client.session for client in clients}) == 120
            async with asyncio.TaskGroup() as group:
                again = [group.create_task(client.call("name")) for client in clients]
            assert {text_of(task.result()) for task in again} == {"h"}

    asyncio.run(run())


def test_many_listen_streams_each_hear_of_a_change_once(shared: Worker) -> None:
    async def run() -> None:
        async with connected(shared) as (http, url):
            acknowledged = asyncio.Semaphore(0)

            async def one(number: int) -> list[str]:
                wanted = {"promptsListChanged": True}
                async with sent(RawHttp(MODERN, http, url), "subscriptions/listen", number, notifications=wanted) as frames:
                    assert (await next_of(frames))["method"] == "notifications/subscriptions/acknowledged"
                    acknowledged.release()
                    return [(await next_of(frames))["method"], (await next_of(frames))["method"]]

            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(one(number)) for number in range(1, 101)]
                for _ in tasks:
                    await acknowledged.acquire()
                for _ in range(2):
                    await RawHttp(MODERN, http, url).call("change", what="prompts")
            assert {tuple(task.result()) for task in tasks} == {("notifications/prompts/list_changed",) * 2}

    asyncio.run(run())


@pytest.mark.parametrize("version", ["2025-11-25", MODERN])
def test_result_of_ten_megabytes_arrives_whole(version: str, shared: Worker) -> None:
    async def run() -> None:
        async with connected(shared) as (http, url):
            client = await greeted(version, http, url)
            assert text_of(await client.call("large", size=10_000_000)) == "x" * 10_000_000

    asyncio.run(run())


# -- the end


async def rest_of(frames: AsyncIterator[Json]) -> list[Json]:
    """What still comes on a stream; a connection that breaks ends it too."""
    found: list[Json] = []
    try:
        async with asyncio.timeout(SOON):
            async for frame in frames:
                found.append(frame)  # noqa: PERF401 - what came before a break is kept
    except httpx2.RemoteProtocolError:
        pass
    return found


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_with_nothing_at_work_ends_the_process_at_once_and_leaves_the_lifespan(number: signal.Signals, alone: Worker) -> None:
    async def run() -> None:
        async with connected(alone) as (http, url):
            assert text_of(await (await greeted("2025-11-25", http, url)).call("name")) == "h"
            assert text_of(await RawHttp(MODERN, http, url).call("name")) == "h"
        before = time.monotonic()
        alone.process.send_signal(number)
        await alone.wait(SOON)
        assert time.monotonic() - before < GRACE
        assert alone.told == ["lifespan entered", "lifespan left"]

    asyncio.run(run())


@pytest.mark.parametrize("kind", ["get", "listen"])
def test_signal_ends_streams_at_once_under_a_host_that_would_wait_for_them_for_ever(kind: str) -> None:
    async def run() -> None:
        with Worker("http", "h") as patient:
            async with connected(patient) as (http, url):
                legacy, modern = await greeted("2025-11-25", http, url), RawHttp(MODERN, http, url)
                listen = sent(modern, "subscriptions/listen", 9, notifications={"toolsListChanged": True})
                async with legacy.stream() if kind == "get" else listen as frames:
                    if kind == "listen":
                        await next_of(frames)
                    patient.process.send_signal(signal.SIGTERM)
                    last = [frame["result"]["resultType"] for frame in await rest_of(frames)]
                    assert last == ([] if kind == "get" else ["complete"])
            await patient.wait(SOON)
            assert patient.told == ["lifespan entered", "lifespan left"]

    asyncio.run(run())


def test_signal_with_a_call_that_is_nearly_done_lets_it_come_to_its_end(alone: Worker) -> None:
    async def run() -> None:
        async with connected(alone) as (http, url):
            legacy = await greeted("2025-11-25", http, url)
            modern = RawHttp(MODERN, http, url)
            arguments = {"name": "nap", "arguments": {"seconds": 0.5}}
            async with sent(modern, "tools/call", 7, **arguments) as one, sent(legacy, "tools/call", 8, **arguments) as two:
                assert (await next_of(one))["method"] == (await next_of(two))["method"] == "notifications/progress"
                alone.process.send_signal(signal.SIGTERM)
                assert [text_of(frame) for frame in await rest_of(one)] == ["rested"]
                assert [text_of(frame) for frame in await rest_of(two)] == ["rested"]
            await alone.wait(SOON)
            assert alone.told == ["lifespan entered", "napping", "napping", "lifespan left"]

    asyncio.run(run())


def test_signal_with_calls_and_streams_open_ends_in_bounded_time_and_leaves_the_lifespan_last(alone: Worker) -> None:
    async def run() -> None:
        async with connected(alone) as (http, url):
            legacy = await greeted("2025-11-25", http, url)
            modern = RawHttp(MODERN, http, url)
            async with (
                legacy.stream() as gets,
                sent(modern, "subscriptions/listen", 9, notifications={"toolsListChanged": True}) as listens,
                sent(modern, "tools/call", 7, name="wait", arguments={}) as one,
                sent(legacy, "tools/call", 8, name="wait", arguments={}) as two,
            ):
                for each in (listens, one, two):
                    await next_of(each)
                before = time.monotonic()
                alone.process.send_signal(signal.SIGTERM)
                await asyncio.gather(*(rest_of(each) for each in (gets, listens, one, two)))
            await alone.wait(SOON)
            assert time.monotonic() - before < SOON
            ours = [line for line in alone.told if line.startswith(("wait", "lifespan"))]  # uvicorn tells of what it has cancelled
            assert ours == ["lifespan entered", *["waiting"] * 2, *["wait was cancelled"] * 2, "lifespan left"]

    asyncio.run(run())


def test_signal_ends_streams_so_that_a_patient_host_does_not_wait_for_them(patient: Worker) -> None:
    async def run() -> None:
        async with connected(patient) as (http, url):
            legacy = await greeted("2025-11-25", http, url)
            modern = RawHttp(MODERN, http, url)
            async with (
                legacy.stream() as gets,
                sent(modern, "subscriptions/listen", 9, notifications={"toolsListChanged": True}) as listens,
            ):
                await next_of(listens)
                patient.process.send_signal(signal.SIGTERM)
                await asyncio.gather(rest_of(gets), rest_of(listens))
            await patient.wait(SOON)
            assert [line for line in patient.told if line.startswith("lifespan")] == ["lifespan entered", "lifespan left"]

    asyncio.run(run())


def test_signal_with_a_handler_that_blocks_its_thread_ends_in_bounded_time(alone: Worker) -> None:
    async def run() -> None:
        async with connected(alone) as (http, url):
            modern = RawHttp(MODERN, http, url)
            async with sent(modern, "tools/call", 7, name="block", arguments={"seconds": 50}) as frames:
                await alone.hears("blocking")
                alone.process.send_signal(signal.SIGTERM)
                await rest_of(frames)
            await alone.wait(SOON)
            assert alone.told[-1] == "lifespan left"

    asyncio.run(run())
