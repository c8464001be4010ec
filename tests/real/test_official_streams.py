"""The official client and what goes on beside results: progress, logs, cancellation, death, subscriptions, through ``dragoman wrap``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
import mcp_types as types
import pytest
from harness import DIRECT, LEGACY, MODERN, Link, legacy, lines_to_client, words
from mcp import Client, MCPError

REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
LATEST = REVISIONS[-1]
LinkTo = Callable[..., Link]
every_revision = pytest.mark.parametrize("revision", REVISIONS)
three_ways = pytest.mark.parametrize("how", [DIRECT, LEGACY, MODERN])


# ---------------------------------------------------------------------------------------------------- progress, logs


@every_revision
@three_ways
def test_progress_arrives_in_order_before_the_result(link: LinkTo, revision: str, how: str) -> None:
    reported: list[tuple[float, float | None, str | None]] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        reported.append((progress, total, message))

    async def scenario(client: Client) -> None:
        assert words(await client.call_tool("progress", {}, progress_callback=on_progress)) == "progressed"

    link(how, legacy(revision)).run(scenario)
    said = [f"at {value}" if revision >= "2025-03-26" else None for value in (0, 50, 100)]
    assert reported == list(zip((0, 50, 100), (100, 100, 100), said, strict=True))


def test_no_token_means_no_progress(link: LinkTo) -> None:
    async def scenario(client: Client) -> None:
        await client.call_tool("progress", {})

    seen = link(MODERN, legacy(LATEST)).run(scenario)
    assert not [line for line in lines_to_client(seen) if "notifications/progress" in line]


@every_revision
def test_log_messages_come_at_the_level_asked_for(link: LinkTo, revision: str) -> None:
    heard: list[str] = []

    async def on_log(params: types.LoggingMessageNotificationParams) -> None:
        heard.append(params.level)

    async def scenario(client: Client) -> None:
        assert words(await client.call_tool("log", {})) == "logged at error"

    link(MODERN, legacy(revision)).run(scenario, logging_callback=on_log, log_level="error")
    assert heard == ["error", "critical", "alert", "emergency"]


def test_no_level_means_no_log_messages(link: LinkTo) -> None:
    async def scenario(client: Client) -> None:
        await client.call_tool("log", {})

    seen = link(MODERN, legacy(LATEST)).run(scenario)
    assert not [line for line in lines_to_client(seen) if "notifications/message" in line]


def test_level_of_one_call_does_not_last(link: LinkTo) -> None:
    heard: list[str] = []

    async def on_log(params: types.LoggingMessageNotificationParams) -> None:
        heard.append(params.level)

    async def scenario(client: Client) -> None:
        level: Any = {"io.modelcontextprotocol/logLevel": "emergency"}
        await client.call_tool("log", {}, meta=level)
        await client.call_tool("log", {})

    link(MODERN, legacy(LATEST)).run(scenario, logging_callback=on_log)
    assert heard == ["emergency"]


# ------------------------------------------------------------------------------------------------- cancellation, death


@every_revision
@three_ways
def test_cancelled_call_is_cancelled_on_the_server(link: LinkTo, revision: str, how: str) -> None:
    async def scenario(client: Client) -> None:
        begun = anyio.Event()

        async def on_progress(progress: float, total: float | None, message: str | None) -> None:
            begun.set()

        async def call_slow() -> None:
            await client.call_tool("slow", {}, progress_callback=on_progress)

        async with anyio.create_task_group() as group:
            group.start_soon(call_slow)
            await begun.wait()
            group.cancel_scope.cancel()
        assert words(await client.call_tool("await_cancels", {"count": 1})) == "1 cancelled"

    link(how, legacy(revision)).run(scenario)


def test_slow_call_holds_nobody_up(link: LinkTo) -> None:
    answers: list[str] = []

    async def scenario(client: Client) -> None:
        async def call_slow() -> None:
            answers.append(words(await client.call_tool("slow", {})))

        async with anyio.create_task_group() as group:
            group.start_soon(call_slow)
            answers.append(words(await client.call_tool("echo", {"text": "first"})))
            await client.call_tool("release", {"count": 1})
        assert answers == ["first", "released"]

    link(MODERN, legacy(LATEST)).run(scenario)


@every_revision
def test_death_in_a_call_is_told_to_its_owner_and_the_next_call_works(link: LinkTo, revision: str) -> None:
    async def scenario(client: Client) -> None:
        with pytest.raises(MCPError) as caught:
            await client.call_tool("crash", {})
        assert caught.value.code == -32603
        assert "crashing as asked" in caught.value.message
        assert words(await client.call_tool("echo", {"text": "alive"})) == "alive"

    link(MODERN, legacy(revision)).run(scenario)


# -------------------------------------------------------------------------------------------------------- subscriptions


@every_revision
def test_list_changed_reaches_an_open_listen(link: LinkTo, revision: str) -> None:
    async def scenario(client: Client) -> None:
        async with client.listen(tools_list_changed=True) as subscription:
            assert subscription.honored.tools_list_changed
            assert "extra-1" not in [tool.name for tool in (await client.list_tools()).tools]
            await client.call_tool("mutate", {})
            await anext(aiter(subscription))
            assert "extra-1" in [tool.name for tool in (await client.list_tools()).tools]

    link(MODERN, legacy(revision)).run(scenario)


@every_revision
def test_resource_updates_follow_the_open_listens(link: LinkTo, revision: str) -> None:
    async def scenario(client: Client) -> None:
        assert words(await client.call_tool("touch", {"uri": "demo://watched"})) == "nobody subscribed"
        async with client.listen(resource_subscriptions=["demo://watched"]) as subscription:
            assert words(await client.call_tool("subscriptions", {})) == '["demo://watched"]'
            async with client.listen(resource_subscriptions=["demo://watched", "demo://text"]):
                assert words(await client.call_tool("subscriptions", {})) == '["demo://text", "demo://watched"]'
            await client.call_tool("touch", {"uri": "demo://watched"})
            event = await anext(aiter(subscription))
            assert str(getattr(event, "uri", None)) == "demo://watched"

    link(MODERN, legacy(revision)).run(scenario)


def test_change_nobody_listens_for_is_not_sent(link: LinkTo) -> None:
    async def scenario(client: Client) -> None:
        await client.call_tool("mutate", {})
        async with client.listen(prompts_list_changed=True) as subscription:
            await client.call_tool("mutate", {"kind": "tools"})
            await client.call_tool("mutate", {"kind": "prompts"})
            await anext(aiter(subscription))

    seen = link(MODERN, legacy(LATEST)).run(scenario)
    assert not [line for line in lines_to_client(seen) if "notifications/tools/list_changed" in line]


@every_revision
@pytest.mark.parametrize("how", [DIRECT, LEGACY])
@pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning")
def test_legacy_client_uses_what_the_modern_revision_removed(link: LinkTo, revision: str, how: str) -> None:
    levels: list[str] = []
    updated: list[str] = []
    told = anyio.Event()

    async def on_log(params: types.LoggingMessageNotificationParams) -> None:
        levels.append(params.level)

    async def on_message(message: Any) -> None:
        if isinstance(message, types.ResourceUpdatedNotification):
            updated.append(str(message.params.uri))
            told.set()

    async def scenario(client: Client) -> None:
        await client.send_ping()
        await client.set_logging_level("alert")
        await client.call_tool("log", {})
        await client.subscribe_resource("demo://watched")
        await client.call_tool("touch", {"uri": "demo://watched"})
        await told.wait()
        await client.unsubscribe_resource("demo://watched")
        assert words(await client.call_tool("touch", {"uri": "demo://watched"})) == "nobody subscribed"

    link(how, legacy(revision)).run(scenario, logging_callback=on_log, message_handler=on_message)
    assert levels == ["alert", "emergency"]
    assert updated == ["demo://watched"]
