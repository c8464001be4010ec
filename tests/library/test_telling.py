"""What a handler tells while it works, and what a server tells of changes: progress, log messages, lists and resources."""

import asyncio
import sys
import threading
from typing import Any

import pytest
from tests.library.peer import BEFORE, EVERY, MODERN, Judged, asynchronous, told, until

from dragoman import Context, ProtocolError, Server

LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")


TALKING = Server("s", "1")


@TALKING.tool()
async def work(context: Context) -> str:
    for step in (0, 1, 1, 0.5, 2.5, 2.5, 3):
        context.progress(step, 3, f"step {step}")
    context.progress(4)
    return "done"


@TALKING.tool()
def work_in_thread(context: Context) -> str:
    for step in range(1, 101):
        context.progress(step, 100)
    return "done"


@TALKING.tool()
def work_in_threads(context: Context) -> str:
    def each() -> None:
        for step in range(1000):
            context.progress(step)

    threads = [threading.Thread(target=each) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return "done"


@TALKING.tool()
async def odd(context: Context) -> str:
    for value in (float("nan"), float("inf"), float("-inf")):
        with pytest.raises(ValueError, match="number"):
            context.progress(value)
        with pytest.raises(ValueError, match="number"):
            context.progress(1, value)
    context.progress(2)
    return "done"


@TALKING.tool()
async def say(context: Context) -> str:
    for level in LEVELS:
        context.log(level, {"level": level, "n": None}, "tests" if level == "error" else None)
    return "said"


@pytest.mark.parametrize("version", EVERY)
@asynchronous
async def test_progress_is_told_in_order_and_only_as_it_grows(version: str) -> None:
    heard: list[dict[str, Any]] = []
    async with Judged(TALKING, version=version) as client:
        assert told(await client.call_tool("work", on_progress=heard.append)) == "done"
        assert client.notifications.empty()
    assert [each["progress"] for each in heard] == [0, 1, 2.5, 3, 4]
    assert [each.get("total") for each in heard] == [3, 3, 3, 3, None]
    assert [each.get("message") for each in heard] == ["step 0", "step 1", "step 2.5", "step 3", None]


@pytest.mark.parametrize("version", EVERY)
@asynchronous
async def test_progress_is_not_told_to_who_did_not_ask_for_it(version: str) -> None:
    async with Judged(TALKING, version=version) as client:
        assert told(await client.call_tool("work")) == "done"
        assert client.notifications.empty()
        assert not any(b"notifications/progress" in line for line in client.heard)


@pytest.mark.parametrize("version", EVERY)
@asynchronous
async def test_progress_from_a_handler_in_a_thread_comes_before_its_answer(version: str) -> None:
    heard: list[float] = []
    async with Judged(TALKING, version=version) as client:
        assert told(await client.call_tool("work_in_thread", on_progress=lambda each: heard.append(each["progress"]))) == "done"
        assert heard[-1] == 100
        assert heard == sorted(set(heard))


@pytest.mark.parametrize("version", [BEFORE, MODERN])
@asynchronous
async def test_progress_from_many_threads_only_grows(version: str) -> None:
    heard: list[float] = []
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        async with Judged(TALKING, version=version) as client:
            for _ in range(5):
                heard.clear()
                await client.call_tool("work_in_threads", on_progress=lambda each: heard.append(each["progress"]))
                assert heard == sorted(set(heard))
    finally:
        sys.setswitchinterval(interval)


@pytest.mark.parametrize("version", [BEFORE, MODERN])
@asynchronous
async def test_progress_that_is_no_number_of_json_is_a_value_error(version: str) -> None:
    heard: list[Any] = []
    async with Judged(TALKING, version=version) as client:
        assert told(await client.call_tool("odd", on_progress=lambda each: heard.append(each["progress"]))) == "done"
    assert heard == [2]


@pytest.mark.parametrize("version", EVERY)
@pytest.mark.parametrize("level", ["debug", "warning", "emergency"])
@asynchronous
async def test_messages_from_the_wanted_level_on_are_told(version: str, level: str) -> None:
    async with Judged(TALKING, version=version, log_level=level) as client:
        assert told(await client.call_tool("say")) == "said"
        heard = [client.notifications.get_nowait() for _ in range(client.notifications.qsize())]
    wanted = LEVELS[LEVELS.index(level) :]
    assert heard == [
        ("notifications/message", {"level": each, "data": {"level": each, "n": None}, **({"logger": "tests"} if each == "error" else {})})
        for each in wanted
    ]


@asynchronous
async def test_a_modern_client_that_names_no_level_hears_no_messages() -> None:
    async with Judged(TALKING) as client:
        await client.call_tool("say")
        assert client.notifications.empty()


@asynchronous
async def test_a_level_that_is_none_is_a_value_error_that_names_those_that_are() -> None:
    server, seen = Server("s"), []

    @server.tool()
    async def say(context: Context) -> str:
        with pytest.raises(ValueError, match=r"level is one of debug, info, .*emergency, not 'fatal'") as fault:
            context.log("fatal", "x")
        seen.append(fault.value)
        return "said"

    async with Judged(server) as client:
        assert told(await client.call_tool("say")) == "said"
    assert len(seen) == 1


def offering() -> Server:
    server = Server("s", "1")
    server.tool("one")(lambda: "1")
    server.prompt("one")(lambda: "1")
    server.resource("note://1", name="one")(lambda: "1")
    server.resource("note://{id}/x", name="many")(lambda id: id)  # noqa: A006 - the name of the variable
    return server


async def heard_by(client: Judged) -> tuple[str, dict[str, Any]]:
    async with asyncio.timeout(5):
        return await client.notifications.get()


@pytest.mark.parametrize("version", EVERY)
@pytest.mark.parametrize("threaded", [False, True], ids=["loop", "thread"])
@asynchronous
async def test_changes_of_lists_and_resources_reach_who_listens_from_loop_and_thread(version: str, threaded: bool) -> None:
    server = offering()
    async with Judged(server, version=version) as client:
        await client.listen("tools", "prompts", "resources", "note://1")
        for what, method, params in (
            ("tools", "notifications/tools/list_changed", {}),
            ("prompts", "notifications/prompts/list_changed", {}),
            ("resources", "notifications/resources/list_changed", {}),
            ("note://1", "notifications/resources/updated", {"uri": "note://1"}),
        ):
            if threaded:
                await asyncio.to_thread(server.changed, what)
            else:
                server.changed(what)
            assert await heard_by(client) == (method, params)


@pytest.mark.parametrize("version", EVERY)
@asynchronous
async def test_a_resource_that_nobody_has_subscribed_to_changes_unheard(version: str) -> None:
    server = offering()
    async with Judged(server, version=version) as client:
        await client.listen("note://1")
        server.changed("note://2")
        server.changed("note://1")
        assert await heard_by(client) == ("notifications/resources/updated", {"uri": "note://1"})
        assert client.notifications.empty()


@asynchronous
async def test_a_modern_client_hears_of_no_list_that_it_did_not_ask_for() -> None:
    server = offering()
    async with Judged(server) as client:
        await client.listen("prompts")
        server.changed("tools")
        server.changed("prompts")
        assert await heard_by(client) == ("notifications/prompts/list_changed", {})


@pytest.mark.parametrize("version", EVERY)
@asynchronous
async def test_what_is_added_and_removed_while_clients_listen_is_told_and_listed(version: str) -> None:
    server = offering()
    async with Judged(server, version=version) as client:
        await client.listen("tools", "prompts", "resources")
        await client.list_tools()  # by now the stream of a legacy session stands
        server.tool("two")(lambda: "2")
        assert await heard_by(client) == ("notifications/tools/list_changed", {})
        assert [tool["name"] for tool in await client.list_tools()] == ["one", "two"]
        server.remove("tools", "one")
        assert await heard_by(client) == ("notifications/tools/list_changed", {})
        assert [tool["name"] for tool in await client.list_tools()] == ["two"]
        with pytest.raises(ProtocolError, match="Unknown tool: one"):
            await client.call_tool("one")
        server.remove("prompts", "one")
        assert await heard_by(client) == ("notifications/prompts/list_changed", {})
        for uri in ("note://1", "note://{id}/x"):
            server.remove("resources", uri)
            assert await heard_by(client) == ("notifications/resources/list_changed", {})
        assert await client.list_resources() == await client.list_resource_templates() == []


@pytest.mark.parametrize("version", EVERY)
@asynchronous
async def test_a_change_right_after_a_client_began_to_listen_is_heard(version: str) -> None:
    server = offering()
    async with Judged(server, version=version) as client:
        await client.listen("tools")
        server.changed("tools")
        assert await heard_by(client) == ("notifications/tools/list_changed", {})


@asynchronous
async def test_every_client_of_a_server_hears_of_a_change_and_none_that_has_left() -> None:
    server = offering()
    async with Judged(server) as modern, Judged(server, version=BEFORE) as legacy:
        async with Judged(server) as gone:
            await gone.listen("tools")
        for client in (modern, legacy):
            await client.listen("tools")
        server.changed("tools")
        for client in (modern, legacy):
            assert await heard_by(client) == ("notifications/tools/list_changed", {})
        assert gone.notifications.empty()
    server.changed("tools")  # nobody listens any more


@asynchronous
async def test_a_server_that_changes_in_many_threads_loses_nothing() -> None:
    server = offering()
    async with Judged(server) as client:
        await client.listen("note://1")
        await asyncio.gather(*[asyncio.to_thread(server.changed, "note://1") for _ in range(200)])
        await until(lambda: client.notifications.qsize() == 200)


@pytest.mark.parametrize("wanted", [None, [], "tools", {"resourceSubscriptions": "note://1"}, {"resourceSubscriptions": [1]}])
@asynchronous
async def test_a_listen_that_is_none_is_invalid_params(wanted: Any) -> None:
    async with Judged(offering()) as client:
        with pytest.raises(ProtocolError) as error:
            await client.request("subscriptions/listen", {"notifications": wanted} if wanted is not None else {})
        assert error.value.code == -32602


@pytest.mark.parametrize("what", ["tool", "note", "", "TOOLS"])
def test_what_can_not_have_changed_is_a_value_error(what: str) -> None:
    with pytest.raises(ValueError, match=r"what has changed is one of tools, prompts, resources, or a URI"):
        offering().changed(what)


@pytest.mark.parametrize(("what", "name"), [("tools", "none"), ("prompts", "none"), ("resources", "note://none")])
def test_removing_what_is_not_there_is_a_key_error(what: str, name: str) -> None:
    with pytest.raises(KeyError):
        offering().remove(what, name)


@asynchronous
async def test_a_stream_is_promised_only_what_the_server_offers() -> None:
    server = Server("s")
    server.tool("a")(lambda: "1")
    acknowledged: list[dict[str, Any]] = []

    class Watching(Judged):
        def _notified(self, method: str, params: dict[str, Any]) -> None:
            if method.endswith("acknowledged"):
                acknowledged.append(params["notifications"])
            super()._notified(method, params)

    async with Watching(server) as client:
        await client.listen("tools", "prompts", "resources", "note://one")
    assert acknowledged == [{"toolsListChanged": True}]


def test_removing_from_what_is_no_list_is_a_value_error_that_names_those_that_are() -> None:
    with pytest.raises(ValueError, match="tools, prompts, resources, not 'tool'"):
        offering().remove("tool", "one")
