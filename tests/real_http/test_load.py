"""Many clients at once: every answer goes to its own caller, and when they have left, so has everything that was there for them.

All clients use the same request ids, and every call brings words of its own that must come back; legacy sessions ask for progress under
the same tokens too. So an answer or a note that strays is seen.
"""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest
from harness import legacy
from raw_http import CALL_HEADERS, ENVELOPE, Connection, tool_call
from serving import Served

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]
MODERN_CLIENTS, MODERN_CALLS = 200, 50
LEGACY_SESSIONS, LEGACY_CALLS = 50, 10
LIMIT = 120.0
LIST = {"jsonrpc": "2.0", "id": "list", "method": "tools/list"}


async def modern_client(served: Served, name: str, calls: int) -> int:
    async with Connection(served.port, served.path) as connection:
        for number in range(calls):
            said = f"{name} says {number} " + "x" * (number % 7 * 100)
            answer = await connection.call(number, "echo", {"text": said})
            assert answer.status == 200, answer
            (message,) = answer.messages
            assert message["id"] == number
            assert message["result"]["content"] == [{"type": "text", "text": said}]
    return calls


async def legacy_session(served: Served, name: str, calls: int) -> int:
    async with Connection(served.port, served.path) as connection, Connection(served.port, served.path) as listening:
        await connection.initialize("2025-11-25")
        listening.headers = connection.headers
        listening.send("GET", Accept="text/event-stream")
        assert (await listening.head())[0] == 200
        for number in range(1, calls + 1):
            await check_legacy_calls(connection, f"{name} says {number}", number)
        # Each session has a server of its own, so each hears of its own change, and of that alone.
        for number in (calls + 1, calls + 2):
            await connection.legacy_call(2 * number, "mutate", {})
            assert (await listening.event())["method"] == "notifications/tools/list_changed"
        (listed,) = messages_of(await connection.ask("POST", LIST))
        names = [tool["name"] for tool in listed["result"]["tools"]]
        assert [name for name in names if name.startswith("extra-")] == ["extra-1", "extra-2"]
        ended = await connection.ask("DELETE")
        assert ended.status in (200, 202, 204), ended
        late = await connection.legacy_call(999, "echo", {"text": "too late"})
        assert late.status == 404, late
    return 2 * calls


async def check_legacy_calls(connection: Connection, said: str, number: int) -> None:
    """A call, and one that tells of its progress before its result."""
    (message,) = messages_of(await connection.legacy_call(2 * number, "echo", {"text": said}))
    assert message["id"] == 2 * number
    assert message["result"]["content"] == [{"type": "text", "text": said}]
    *notes, message = messages_of(await connection.legacy_call(2 * number + 1, "progress", {}, {"progressToken": number}))
    told = [(note["params"]["progressToken"], note["params"]["progress"]) for note in notes]
    assert told == [(number, 0), (number, 50), (number, 100)]
    assert message["id"] == 2 * number + 1


def messages_of(answer: Any) -> Any:
    assert answer.status == 200, answer
    return answer.messages


def settles(served: Served, servers: int, descriptors: int) -> None:
    """Wait, bounded, until so many servers are left, every other was reaped, and no more than these descriptors are open."""
    limit = time.monotonic() + 15
    left = served.servers(), served.unreaped(), served.descriptors()
    while (len(left[0]) != servers or left[1] or left[2] > descriptors) and time.monotonic() < limit:
        time.sleep(0.05)
        left = served.servers(), served.unreaped(), served.descriptors()
    assert len(left[0]) == servers
    assert left[1] == []
    assert left[2] <= descriptors
    served.health_becomes(processes=servers)


async def warm_up(served: Served) -> int:
    """Have the server of the modern clients started; the descriptors that are open then."""
    await modern_client(served, "first", 1)
    return served.descriptors()


def test_250_clients_at_once_get_their_own_answers_and_leave_nothing(tmp_path: Path) -> None:
    async def everybody(served: Served) -> int:
        clients = [modern_client(served, f"modern-{number}", MODERN_CALLS) for number in range(MODERN_CLIENTS)]
        sessions = [legacy_session(served, f"legacy-{number}", LEGACY_CALLS) for number in range(LEGACY_SESSIONS)]
        return sum(await asyncio.wait_for(asyncio.gather(*clients, *sessions), LIMIT))

    with Served(tmp_path, legacy("2025-11-25"), tapped=False) as served:
        open_before = asyncio.run(warm_up(served))
        assert asyncio.run(everybody(served)) == MODERN_CLIENTS * MODERN_CALLS + LEGACY_SESSIONS * LEGACY_CALLS * 2
        # The modern clients were one principal with the same capabilities: one server was for all of them, and stays warm.
        settles(served, 1, open_before)
        served.health_becomes(exchanges=1, sessions=0)  # the exchange is the one that asks
    assert "Traceback" not in served.stderr()


def test_clients_that_hang_up_in_the_middle_leave_nothing(tmp_path: Path) -> None:
    async def visitor(served: Served, number: int) -> None:
        modern, token = number % 2 == 0, {"progressToken": "t"}
        async with Connection(served.port, served.path) as connection:
            if modern:
                connection.send("POST", tool_call(1, "slow", {}, ENVELOPE | token), **CALL_HEADERS, Mcp_Name="slow")
            else:
                await connection.initialize("2025-11-25")
                connection.send("POST", tool_call(1, "slow", {}, token))
            # The tool tells of progress and then waits: with the head of the stream the call is known to run.
            assert (await connection.head())[0] == 200
        if not modern:
            async with Connection(served.port, served.path) as other:
                other.headers = connection.headers
                assert (await other.ask("DELETE")).status in (200, 202, 204)

    async def everybody(served: Served) -> None:
        await asyncio.wait_for(asyncio.gather(*(visitor(served, number) for number in range(40))), LIMIT)

    with Served(tmp_path, legacy("2025-11-25"), tapped=False) as served:
        open_before = asyncio.run(warm_up(served))
        asyncio.run(everybody(served))
        served.health_becomes(exchanges=1, sessions=0)  # the exchange is the one that asks
        settles(served, 1, open_before)
    assert "Traceback" not in served.stderr()
