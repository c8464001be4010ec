"""What handlers raise: the client learns what it has to, the operator the rest, and nobody waits for ever."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest
from tests.library.peer import BEFORE, EVERY, MODERN, Judged, asynchronous, called, once, refused, told, tracebacks

from dragoman import ProtocolError, ResourceNotFound, Server, ToolError

BOTH = (BEFORE, MODERN)


class Own(BaseException):
    """As authors derive it, not knowing better."""


def endless() -> None:
    endless()


def cyclic() -> list[Any]:
    ring: list[Any] = []
    ring.append(ring)
    return ring


def deep() -> list[Any]:
    nested: list[Any] = []
    for _ in range(100_000):
        nested = [nested]
    return nested


def raising(make: Callable[[], BaseException | None], *, threaded: bool = False) -> Server:
    """A server with a tool, a prompt, a resource and completions that all raise what is made."""
    server = Server("s", "1")

    def fail() -> Any:
        fault = make()
        if fault is not None:
            raise fault

    async def fail_async() -> Any:
        fail()

    handler = fail if threaded else fail_async
    server.tool("fail")(handler)
    server.prompt("fail")(handler)
    server.resource("fail:it")(handler)

    @server.completion
    def complete(ref: str, argument: str, value: str, chosen: dict[str, str]) -> list[str]:
        fail()
        return []

    return server


@pytest.mark.parametrize("version", EVERY)
@asynchronous
async def test_a_tool_error_is_a_text_for_the_model_and_no_news_for_the_operator(version: str, caplog: pytest.LogCaptureFixture) -> None:
    server = raising(lambda: ToolError("No eggs are left"))
    assert await called(server, "fail", version=version) == {"content": [{"type": "text", "text": "No eggs are left"}], "isError": True}
    assert tracebacks(caplog) == []


@pytest.mark.parametrize("version", EVERY)
@asynchronous
async def test_a_protocol_error_is_an_error_with_its_code_and_data(version: str, caplog: pytest.LogCaptureFixture) -> None:
    server = raising(lambda: ProtocolError(-31000, "No", {"why": [1, None, "x"]}))
    with pytest.raises(ProtocolError, match="No") as error:
        await called(server, "fail", version=version)
    assert error.value.code == -31000
    assert error.value.data == {"why": [1, None, "x"]}
    assert tracebacks(caplog) == []


@pytest.mark.parametrize(
    ("code", "told"), [(-32050, -32603), (-32099, -32603), (-32020, -32603), (-32021, -32603), (-32042, -32603), (-32002, -32602)]
)
@asynchronous
async def test_a_code_that_the_specification_keeps_for_itself_becomes_the_nearest_that_is_allowed(code: int, told: int) -> None:
    with pytest.raises(ProtocolError, match="No") as error:
        await called(raising(lambda: ProtocolError(code, "No")), "fail")
    assert error.value.code == told


@pytest.mark.parametrize("version", BOTH)
@pytest.mark.parametrize("data", [object(), {1, 2}, 2**80, cyclic(), deep(), float("nan"), "\ud800"], ids=lambda each: type(each).__name__)
@asynchronous
async def test_data_without_a_form_in_json_costs_the_data_and_not_the_answer(version: str, data: Any) -> None:
    with pytest.raises(ProtocolError) as error:
        await called(raising(lambda: ProtocolError(-1, "No", data)), "fail", version=version)
    assert (error.value.code, error.value.message) == (-1, "No")


@pytest.mark.parametrize("version", BOTH)
@asynchronous
async def test_a_text_that_utf_8_does_not_have_is_told_with_escapes(version: str) -> None:
    """As of a file's name that was read with ``surrogateescape``."""
    assert refused(await called(raising(lambda: ToolError("no file \ud800")), "fail", version=version)) == "no file \\ud800"
    with pytest.raises(ProtocolError) as error:
        await called(raising(lambda: ProtocolError(-1, "no file \ud800")), "fail", version=version)
    assert (error.value.code, error.value.message) == (-1, "no file \\ud800")


@pytest.mark.parametrize("version", EVERY)
@asynchronous
async def test_a_resource_that_is_not_found_has_the_code_of_the_revision(version: str) -> None:
    async with Judged(raising(lambda: ResourceNotFound("fail:it")), version=version) as client:
        for uri in ("fail:it", "fail:other"):
            with pytest.raises(ProtocolError, match=f"Resource not found: {uri}") as error:
                await client.read_resource(uri)
            assert error.value.code == (-32602 if version == MODERN else -32002)
            assert error.value.data == {"uri": uri}


FAULTS: list[tuple[Callable[[], BaseException | None], str]] = [
    (lambda: ValueError("the secret"), "ValueError"),
    (lambda: KeyError("the secret"), "KeyError"),
    (lambda: SystemExit("the secret"), "SystemExit"),
    (lambda: Own("the secret"), "Own"),
    (lambda: ExceptionGroup("the secret", [OSError("the secret"), KeyError("the secret")]), "OSError"),
    (lambda: BaseExceptionGroup("the secret", [LookupError("the secret"), Own("the secret")]), "LookupError"),
    (lambda: endless() or None, "RecursionError"),
]


@pytest.mark.parametrize("version", BOTH)
@pytest.mark.parametrize("threaded", [False, True], ids=["async", "thread"])
@pytest.mark.parametrize(("make", "name"), FAULTS, ids=[name for _, name in FAULTS])
@asynchronous
async def test_of_any_other_exception_the_client_learns_the_type_alone_and_the_operator_all(
    version: str, threaded: bool, make: Callable[[], BaseException | None], name: str, caplog: pytest.LogCaptureFixture
) -> None:
    server = raising(make, threaded=threaded)
    async with Judged(server, version=version) as client, asyncio.timeout(5):
        try:
            text = refused(await client.call_tool("fail"))
        except ProtocolError as error:
            text = error.message
        assert name in text
        for asking in (client.get_prompt("fail"), client.read_resource("fail:it")):
            with pytest.raises(ProtocolError) as fault:
                await asking
            assert fault.value.code == -32603
            assert name in fault.value.message
        if version != "2024-11-05":
            with pytest.raises(ProtocolError, match=name):
                await client.complete({"type": "ref/prompt", "name": "fail"}, "a", "b")
    heard = b"".join(client.heard)
    assert b"secret" not in heard
    assert b"Traceback" not in heard
    assert b".py" not in heard
    assert [each.rpartition(": ")[2] for each in tracebacks(caplog)] == [name] * 4
    assert all(record.name == "dragoman" for record in caplog.records)


@pytest.mark.parametrize("version", EVERY)
@asynchronous
async def test_the_client_is_told_which_tool_is_out_of_order(version: str) -> None:
    text = refused(await called(raising(lambda: ValueError("x")), "fail", version=version))
    assert text == "The tool fail is out of order: it failed with ValueError"


@pytest.mark.parametrize("version", BOTH)
@pytest.mark.parametrize(
    "group", [ExceptionGroup("a", [ToolError("No eggs")]), ExceptionGroup("a", [ExceptionGroup("b", [ToolError("No eggs")])])]
)
@asynchronous
async def test_a_group_of_one_alone_counts_as_that_one(version: str, group: BaseException) -> None:
    assert refused(await called(raising(lambda: group), "fail", version=version)) == "No eggs"


@asynchronous
async def test_of_a_group_the_operator_is_told_every_one(caplog: pytest.LogCaptureFixture) -> None:
    await called(raising(lambda: ExceptionGroup("both", [ValueError("first"), KeyError("second")])), "fail")
    assert all(word in caplog.text for word in ("both", "first", "second"))


@pytest.mark.parametrize("version", BOTH)
@asynchronous
async def test_generator_exit_from_a_handler_is_answered(version: str) -> None:
    with pytest.raises(ProtocolError, match="GeneratorExit") as error:
        await called(raising(GeneratorExit), "fail", version=version)
    assert error.value.code == -32603


@pytest.mark.parametrize("version", BOTH)
@asynchronous
async def test_stop_iteration_in_a_thread_is_an_exception_like_any(version: str, caplog: pytest.LogCaptureFixture) -> None:
    server = Server("s")

    @server.tool()
    def first(of: list[int]) -> str:
        return str(next(iter(of)))

    assert told(await called(server, "first", {"of": [3]}, version=version)) == "3"
    assert "out of order" in refused(await called(server, "first", {"of": []}, version=version))
    assert len(tracebacks(caplog)) == 1


@pytest.mark.parametrize("version", BOTH)
@pytest.mark.parametrize("threaded", [False, True], ids=["async", "thread"])
@asynchronous
async def test_a_handler_that_raises_cancelled_error_itself_is_answered(version: str, threaded: bool) -> None:
    with pytest.raises(ProtocolError, match="cancelled from within") as error:
        await called(raising(asyncio.CancelledError, threaded=threaded), "fail", version=version)
    assert error.value.code == -32603


@pytest.mark.parametrize("version", BOTH)
@asynchronous
async def test_a_timeout_of_a_handler_s_own_is_an_exception_like_any(version: str) -> None:
    server = Server("s")

    @server.tool()
    async def slow() -> str:
        async with asyncio.timeout(0.001):
            await asyncio.Event().wait()
        return "never"

    assert refused(await called(server, "slow", version=version)) == "The tool slow is out of order: it failed with TimeoutError"


@pytest.mark.parametrize("version", EVERY)
@asynchronous
async def test_a_fault_in_one_call_is_nothing_to_the_next(version: str) -> None:
    server = raising(lambda: ValueError("x"))

    @server.tool()
    async def fine() -> str:
        return "fine"

    async with Judged(server, version=version) as client:
        refused(await client.call_tool("fail"))
        assert told(await client.call_tool("fine")) == "fine"


@pytest.mark.parametrize("version", EVERY)
@pytest.mark.parametrize(
    ("method", "params", "code", "words"),
    [
        ("tools/call", {"name": "none", "arguments": {}}, -32602, "Unknown tool: none"),
        ("tools/call", {}, -32602, "name must be a string"),
        ("tools/call", {"name": 3}, -32602, "name must be a string"),
        ("prompts/get", {"name": "none"}, -32602, "Unknown prompt: none"),
        ("prompts/get", {"name": "fail", "arguments": []}, -32602, "arguments must be an object"),
        ("resources/read", {}, -32602, "uri must be a string"),
        ("nothing/here", {}, -32601, "Method not found: nothing/here"),
    ],
)
@asynchronous
async def test_what_is_no_request_of_this_server_is_an_error_that_says_why(
    version: str, method: str, params: dict[str, Any], code: int, words: str
) -> None:
    async with Judged(raising(lambda: None), version=version) as client:
        with pytest.raises(ProtocolError) as error:
            await once(client, method, params)
    assert (error.value.code, words in error.value.message) == (code, True)


@asynchronous
async def test_a_name_that_is_not_known_is_repeated_but_not_to_any_length() -> None:
    async with Judged(raising(lambda: None)) as client:
        for method, member in (("tools/call", "name"), ("prompts/get", "name")):
            with pytest.raises(ProtocolError) as error:
                await once(client, method, {member: "x" * 100_000})
            assert len(error.value.message) < 500


@pytest.mark.parametrize("code", ["one", 1.5, None])
def test_a_code_that_is_no_integer_is_a_type_error(code: Any) -> None:
    with pytest.raises(TypeError, match="the code of a JSON-RPC error is an integer"):
        ProtocolError(code, "No")


def test_an_error_shows_its_code_and_its_message() -> None:
    assert str(ProtocolError(-32000, "No")) == "No (-32000)"
    assert (ProtocolError(-1, "a").data, ProtocolError(-1, "a", 0).data) == (None, 0)
    assert ResourceNotFound("note://1").data == {"uri": "note://1"}
    assert issubclass(ResourceNotFound, ProtocolError)


@asynchronous
async def test_the_operator_is_told_by_the_logger_of_the_library_with_the_traceback(caplog: pytest.LogCaptureFixture) -> None:
    await called(raising(lambda: ValueError("the reason")), "fail")
    (record,) = [each for each in caplog.records if each.levelno >= logging.ERROR]
    assert record.name == "dragoman"
    assert record.exc_info is not None
    assert str(record.exc_info[1]) == "the reason"
    assert "fail" in record.getMessage()
