"""Mistakes of authors are errors where they are made, which say whose they are and what is wrong."""

import functools
import math
import sys
import typing
from typing import Annotated, Any, NoReturn, Optional

import pytest
from tests.library.peer import asynchronous, called, told

from dragoman import Client, Context, Server, asgi, serve_stdio

if typing.TYPE_CHECKING:
    from decimal import Decimal


class Foreign:
    pass


class Callee:
    """An object that is called like a function."""

    async def __call__(self, number: int, context: Context) -> str:
        return f"{number} {context.client['name']}"


class Plain(typing.TypedDict):
    name: str


class Methods:
    def __init__(self, word: str) -> None:
        self.word = word

    async def say(self, number: int = 1) -> str:
        """Says it."""
        return self.word * number

    @classmethod
    def of_class(cls, number: int) -> str:
        return f"{cls.__name__} {number}"

    @staticmethod
    def of_none(number: int) -> str:
        return str(number)


def add(a: int, b: int = 2) -> str:
    """Adds."""
    return str(a + b)


def many(*values: int) -> str: ...
def named(**values: int) -> str: ...
def positional(value: int, /) -> str: ...
def foreign(value: Foreign) -> str: ...
def foreign_list(value: list[Foreign]) -> str: ...
def returning_foreign() -> Foreign: ...
def calling(value: typing.Callable[[int], int]) -> str: ...
def unknown(value: "Nowhere") -> str: ...  # type: ignore[name-defined]  # noqa: F821 - that it is unknown is what is tested
def hidden(value: "Decimal") -> str: ...
def unreadable(value: "not valid (") -> str: ...  # type: ignore[valid-type]  # noqa: F722 - that it cannot be read is what is tested
def no_attribute(value: "typing.Nowhere") -> str: ...  # type: ignore[name-defined]
def two_contexts(first: Context, second: Context) -> str: ...


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (many, r"\*values"),
        (named, r"\*\*values"),
        (positional, "value"),
        (foreign, "Foreign"),
        (foreign_list, "Foreign"),
        (returning_foreign, "Foreign"),
        (calling, "value|Callable"),
        (unknown, "Nowhere"),
        (hidden, r"Decimal.*TYPE_CHECKING"),
        (unreadable, "annotation"),
        (no_attribute, "Nowhere"),
        (two_contexts, "Context|second"),
    ],
)
@pytest.mark.parametrize("what", ["tool", "prompt"])
def test_a_function_that_no_arguments_can_be_told_of_is_a_type_error_with_its_name(function: Any, words: str, what: str) -> None:
    server = Server("s")
    if function is returning_foreign and what == "prompt":
        return  # what it returns is looked at when it does
    with pytest.raises(TypeError, match=words) as error:
        getattr(server, what)()(function)
    assert function.__name__ in str(error.value)
    assert len(str(error.value)) < 600
    assert server.tools == server.prompts == {}


@pytest.mark.parametrize("what", ["tool", "prompt"])
def test_a_lambda_needs_a_name(what: str) -> None:
    with pytest.raises(TypeError, match="has no name: give it one"):
        getattr(Server("s"), what)()(lambda: "x")
    getattr(Server("s"), what)("named")(lambda: "x")


@pytest.mark.parametrize("what", ["tool", "prompt", "resource"])
def test_a_decorator_without_its_parentheses_is_a_type_error_that_shows_how(what: str) -> None:
    with pytest.raises(TypeError, match=rf"{what}\("):
        getattr(Server("s"), what)(add)


@pytest.mark.parametrize("function", [3, None, "add", object()])
@pytest.mark.parametrize("what", ["tool", "prompt"])
def test_what_cannot_be_called_is_a_type_error(function: Any, what: str) -> None:
    with pytest.raises(TypeError):
        getattr(Server("s"), what)("x")(function)


@pytest.mark.parametrize("name", ["a b", "a" * 129, "ř", "a/b", "a\n"])
def test_a_name_that_no_tool_may_have_is_a_value_error(name: str) -> None:
    with pytest.raises(ValueError, match=r"the name of a tool has 1 to 128 letters, digits, _, - and \."):
        Server("s").tool(name)(add)


def test_two_of_one_name_are_a_value_error_that_names_them() -> None:
    server = Server("s")
    server.tool()(add)
    server.prompt()(add)
    server.resource("note://1", name="a")(lambda: "x")
    server.resource("note://{a}/{b}")(add)
    server.completion(lambda ref, argument, value, chosen: [])
    with pytest.raises(ValueError, match="two tools of the name add"):
        server.tool()(add)
    with pytest.raises(ValueError, match="two prompts of the name add"):
        server.prompt()(add)
    with pytest.raises(ValueError, match=r"two resources of the name note://1"):
        server.resource("note://1", name="b")(lambda: "x")
    with pytest.raises(ValueError, match=r"note://\{a\}/\{b\}"):
        server.resource("note://{a}/{b}")(add)
    with pytest.raises(ValueError, match="a function for completions already"):
        server.completion(lambda ref, argument, value, chosen: [])
    server.remove("tools", "add")
    server.tool()(add)


@pytest.mark.parametrize("uri", ["note://x", "note://{a}", "note://{a}/{b}/{c}", "note://{a}/{c}", "note://{A}/{b}"])
def test_a_template_with_other_variables_than_the_function_has_parameters_names_both(uri: str) -> None:
    with pytest.raises(TypeError, match="add") as error:
        Server("s").resource(uri)(add)
    assert uri in str(error.value)


@pytest.mark.parametrize(
    "uri", ["note://{?a,b}", "note://{a*}/{b}", "note://{a,b}", "note://{#a}/{b}", "note://{a}/{b", "note://{a:3}/{b}"]
)
def test_an_expression_that_templates_here_do_not_have_is_an_error_that_shows_it(uri: str) -> None:
    with pytest.raises((TypeError, ValueError), match="note://") as error:
        Server("s").resource(uri)(add)
    assert "expression" in str(error.value) or "level" in str(error.value) or "variable" in str(error.value)


def test_an_expression_is_no_literal_text_of_a_resource_without_arguments() -> None:
    with pytest.raises((TypeError, ValueError)):
        Server("s").resource("note://{?a}", name="x")(lambda: "x")


@pytest.mark.parametrize("uri", ["note", "", "/a/b"])
def test_a_resource_without_a_scheme_is_a_value_error(uri: str) -> None:
    with pytest.raises(ValueError, match=r"URI|uri"):
        Server("s").resource(uri, name="x")(lambda: "x")


@pytest.mark.parametrize(
    "settings",
    [
        {"page_size": 0},
        {"page_size": -1},
        {"ttl": -1},
        {"ttl": math.nan},
        {"ttl": math.inf},
        {"scope": "everybody"},
        {"threads": 0},
        {"max_result": 0},
    ],
    ids=repr,
)
def test_a_setting_of_a_server_that_cannot_be_is_a_value_error_that_names_it(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(settings))):
        Server("s", **settings)


def test_cache_hints_of_a_resource_that_cannot_be_are_a_value_error() -> None:
    for hints in ({"ttl": -1}, {"ttl": 1, "scope": "everybody"}, {"scope": "everybody"}):
        with pytest.raises(ValueError, match=r"ttl|scope"):
            Server("s").resource("note://1", name="x", **hints)(lambda: "x")


@pytest.mark.parametrize("taker", [asgi, serve_stdio, Client])
@pytest.mark.parametrize("given", ["server", None, Server])
def test_what_is_no_server_is_a_type_error(taker: Any, given: Any) -> None:
    with pytest.raises(TypeError, match="takes a Server of dragoman, not"):
        taker(given)


def test_a_version_that_is_none_is_a_value_error_that_names_those_that_are() -> None:
    with pytest.raises(ValueError, match=r"2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25, 2026-07-28, not '2025'"):
        Client(Server("s"), version="2025")


@pytest.mark.parametrize("function", [lambda ref, argument: [], list, add])
def test_a_function_for_completions_with_other_parameters_is_a_type_error(function: Any) -> None:
    with pytest.raises(TypeError, match=r"ref, argument, value and chosen|no function"):
        Server("s").completion(function)


@asynchronous
async def test_a_parameter_may_be_an_optional_or_annotated_context() -> None:
    server = Server("s")

    @server.tool()
    def optional(number: int, context: Context | None = None) -> str:
        return f"{number} {context is not None}"

    @server.tool()
    def old_optional(number: int, context: Optional[Context] = None) -> str:  # noqa: UP045 - the spelling is what is tested
        return f"{number} {context is not None}"

    @server.tool()
    def annotated(number: int, context: Annotated[Context, "seen"]) -> str:
        return f"{number} {context is not None}"

    for name in ("optional", "old_optional", "annotated"):
        assert told(await called(server, name, {"number": 1})) == "1 True"
        assert list(server.tools[name].shown["inputSchema"]["properties"]) == ["number"]


@asynchronous
async def test_methods_objects_and_partial_functions_are_functions_too() -> None:
    server, methods = Server("s"), Methods("ab")
    server.tool()(methods.say)
    server.tool()(Methods.of_class)
    server.tool()(Methods.of_none)
    server.tool("callee")(Callee())
    server.tool("partial")(functools.partial(add, b=5))
    server.tool("bound")(functools.partial(add, 5))
    assert server.tools["say"].shown["description"] == "Says it."
    assert told(await called(server, "say", {"number": 2})) == "abab"
    assert told(await called(server, "of_class", {"number": 2})) == "Methods 2"
    assert told(await called(server, "of_none", {"number": 2})) == "2"
    assert told(await called(server, "callee", {"number": 2})) == "2 test"
    assert told(await called(server, "partial", {"a": 1})) == "6"
    assert told(await called(server, "bound", {"b": 1})) == "6"


@asynchronous
async def test_a_function_that_never_returns_needs_no_output() -> None:
    server = Server("s")

    @server.tool()
    def fail() -> NoReturn:
        raise ValueError

    assert "outputSchema" not in server.tools["fail"].shown


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="Python 3.12 and later have the TypedDict that pydantic needs")
def test_the_typed_dict_of_python_3_11_is_a_type_error_that_shows_the_other_one() -> None:
    def take(value: Plain) -> str: ...
    def give() -> Plain: ...

    for function in (take, give):
        with pytest.raises(TypeError, match="typing_extensions") as error:
            Server("s").tool()(function)
        assert function.__name__ in str(error.value)


def test_a_decorator_gives_the_function_back_as_it_was() -> None:
    server = Server("s")
    assert server.tool()(add) is add
    assert server.prompt()(add) is add
    assert server.resource("add://{a}/{b}")(add) is add
    function = lambda ref, argument, value, chosen: []  # noqa: E731 - it has to be one object
    assert server.completion(function) is function
