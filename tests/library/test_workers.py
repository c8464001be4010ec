"""One handler with a question in its middle, for clients of all revisions, on one worker and on two (basic/patterns/mrtr)."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitResult
from tests.library.http_clients import MODERN, WITHOUT_ELICITATION, Balancer, RawHttp, RawSse, Worker
from tests.library.http_hosts import text_of

Pair = tuple[Worker, Worker]
WITH_ELICITATION = ("2025-06-18", "2025-11-25", MODERN)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """Two workers with one key."""
    path = tmp_path_factory.mktemp("keys") / "key"
    path.write_bytes(os.urandom(32))
    path.chmod(0o600)
    key = f"state_key_file={path}"
    with Worker("http", "a", key) as one, Worker("http", "b", key) as two:
        yield one, two


@pytest.fixture
def one(pair: Pair) -> Worker:
    """One of them alone."""
    return pair[0]


@pytest.fixture(scope="module")
def stranger() -> Iterator[Worker]:
    """A worker with a key of its own."""
    with Worker("http", "c") as worker:
        yield worker


@asynccontextmanager
async def client_of(version: str, *workers: Worker) -> AsyncIterator[tuple[RawHttp, Balancer]]:
    """A client that has greeted, and the way that its requests go."""
    balancer = Balancer(*(each.port for each in workers))
    async with httpx2.AsyncClient(transport=balancer, timeout=20) as http:
        client = RawHttp(version, http, "http://127.0.0.1/mcp")
        await client.greet()
        yield client, balancer


@asynccontextmanager
async def official(mode: str, *workers: Worker) -> AsyncIterator[tuple[Client, Balancer]]:
    async def elicited(_: object, params: Any) -> ElicitResult:
        return ElicitResult(action="accept", content={"env": "staging"} if params.message == "Deploy where?" else {"sure": True})

    balancer = Balancer(*(each.port for each in workers))
    async with httpx2.AsyncClient(transport=balancer, timeout=20) as http:
        transport = streamable_http_client("http://127.0.0.1/mcp", http_client=http)
        async with Client(transport, mode=mode, elicitation_callback=elicited) as client:
            yield client, balancer


# -- one worker


def test_question_on_one_worker_has_the_same_outcome_for_every_revision_that_has_elicitation(one: Worker) -> None:
    async def run() -> None:
        for version in WITH_ELICITATION:
            async with client_of(version, one) as (client, _):
                assert text_of(await client.call("deploy")) == "deployed to staging", version
                assert [each["method"] for each in client.asked] == ["elicitation/create"]

    asyncio.run(run())


def test_question_on_one_worker_is_a_tool_error_that_names_elicitation_for_clients_before_2025_06_18(one: Worker) -> None:
    async def run() -> None:
        for version in WITHOUT_ELICITATION:
            async with client_of(version, one) as (client, _):
                found = (await client.call("deploy"))["result"]
                assert found["isError"] is True
                assert "elicitation" in found["content"][0]["text"]
                assert client.asked == []

    asyncio.run(run())


@pytest.mark.parametrize("version", WITHOUT_ELICITATION)
def test_question_over_the_two_endpoints_of_2024_is_a_tool_error_that_names_elicitation(version: str, one: Worker) -> None:
    async def run() -> None:
        async with httpx2.AsyncClient(timeout=20) as http, RawSse(version, http, f"http://127.0.0.1:{one.port}").connected() as client:
            await client.greet()
            assert text_of(await client.call("name")) == "a"
            found = (await client.call("deploy"))["result"]
            assert (found["isError"], "elicitation" in found["content"][0]["text"]) == (True, True)

    asyncio.run(run())


@pytest.mark.parametrize("mode", ["auto", MODERN, "legacy"])
def test_question_on_one_worker_is_answered_by_the_official_client(mode: str, one: Worker) -> None:
    async def run() -> None:
        async with official(mode, one) as (client, _):
            assert client.protocol_version == ("2025-11-25" if mode == "legacy" else MODERN)
            found = await client.call_tool("deploy", {})
            assert (found.content[0].text, found.is_error) == ("deployed to staging", False)

    asyncio.run(run())


# -- two workers


def test_retry_of_a_modern_client_lands_on_the_other_worker_and_goes_on_there(pair: Pair) -> None:
    async def run() -> None:
        async with client_of(MODERN, *pair) as (client, balancer):
            assert text_of(await client.call("trail")) == "asked by b, answered by a"
            assert text_of(await client.call("deploy")) == "deployed to staging"
            assert balancer.seen == [
                ("server/discover", "a"),
                ("tools/call", "b"),
                ("tools/call", "a"),
                ("tools/call", "b"),
                ("tools/call", "a"),
            ]

    asyncio.run(run())


def test_two_questions_of_a_modern_client_go_from_worker_to_worker_and_back(pair: Pair) -> None:
    def answer(_: str, params: dict[str, Any]) -> dict[str, Any]:
        return {"action": "accept", "content": {"env": "production"} if params["message"] == "Deploy where?" else {"sure": True}}

    async def run() -> None:
        async with client_of(MODERN, *pair) as (client, balancer):
            client._answer = answer
            assert text_of(await client.call("deploy")) == "deployed to production, sure: True"
            assert [worker for _, worker in balancer.seen] == ["a", "b", "a", "b"]

    asyncio.run(run())


@pytest.mark.parametrize("mode", ["auto", MODERN])
def test_retry_of_the_official_client_lands_on_the_other_worker_and_goes_on_there(mode: str, pair: Pair) -> None:
    async def run() -> None:
        async with official(mode, *pair) as (client, balancer):
            found = await client.call_tool("trail", {})
            calls = [worker for method, worker in balancer.seen if method == "tools/call"]
            assert sorted(calls) == ["a", "b"]
            assert found.content[0].text == f"asked by {calls[0]}, answered by {calls[1]}"
            assert (await client.call_tool("deploy", {})).content[0].text == "deployed to staging"

    asyncio.run(run())


@pytest.mark.parametrize("version", ["2025-06-18", "2025-11-25"])
def test_question_to_a_legacy_client_with_session_affinity_is_answered_on_its_worker(version: str, pair: Pair) -> None:
    async def run() -> None:
        balancer, found = Balancer(*(each.port for each in pair)), []
        async with httpx2.AsyncClient(transport=balancer, timeout=20) as http:
            for _ in range(2):
                client = RawHttp(version, http, "http://127.0.0.1/mcp")
                await client.greet()
                assert text_of(await client.call("deploy")) == "deployed to staging"
                found.append(text_of(await client.call("trail")))
            assert sorted(found) == ["asked by a, answered by a", "asked by b, answered by b"]

    asyncio.run(run())


def test_question_to_the_official_client_in_a_session_with_affinity_is_answered_on_its_worker(pair: Pair) -> None:
    async def run() -> None:
        async with official("legacy", *pair) as (client, balancer):
            assert (await client.call_tool("deploy", {})).content[0].text == "deployed to staging"
            assert len({worker for _, worker in balancer.seen}) == 1

    asyncio.run(run())


@pytest.mark.parametrize("version", WITHOUT_ELICITATION)
def test_question_on_two_workers_is_a_tool_error_for_clients_before_2025_06_18(version: str, pair: Pair) -> None:
    async def run() -> None:
        async with client_of(version, *pair) as (client, _):
            found = (await client.call("deploy"))["result"]
            assert (found["isError"], "elicitation" in found["content"][0]["text"]) == (True, True)

    asyncio.run(run())


def test_retry_on_a_worker_of_another_key_is_refused_and_says_what_to_do(one: Worker, stranger: Worker) -> None:
    async def run() -> None:
        async with client_of(MODERN, one, stranger) as (client, balancer):
            found = await client.call("deploy")
            assert found["error"]["code"] == -32602
            assert found["error"]["message"] == (
                "Invalid params: requestState is not one of this request's, or too old: call again without it"
            )
            assert [worker for _, worker in balancer.seen] == ["a", "c", "a"]

    asyncio.run(run())


def test_session_that_is_sent_to_another_worker_is_unknown_there(pair: Pair) -> None:
    async def run() -> None:
        async with client_of("2025-11-25", pair[0]) as (client, _):
            client.url = f"http://127.0.0.1:{pair[1].port}/mcp"
            async with httpx2.AsyncClient(timeout=20) as elsewhere:
                client.http = elsewhere
                found = await client.request("tools/list")
            assert client.statuses[-1] == 404
            assert "error" in found

    asyncio.run(run())


def test_many_modern_calls_at_once_each_find_their_way_over_two_workers(pair: Pair) -> None:
    async def run() -> None:
        async with client_of(MODERN, *pair) as (client, _):
            async with asyncio.TaskGroup() as group:
                calls = [group.create_task(client.call("deploy")) for _ in range(40)]
            assert [text_of(call.result()) for call in calls] == ["deployed to staging"] * 40

    asyncio.run(run())
