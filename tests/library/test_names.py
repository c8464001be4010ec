"""What ``from dragoman import …`` gives: which names, at what cost, and with which types."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import dragoman

ROOT = Path(__file__).parents[2]
PATHS = os.pathsep.join(str(ROOT / root) for root in ("compat", "specs"))
ENVIRONMENT = {**os.environ, "PYTHONPATH": PATHS, "MYPYPATH": PATHS}
NAMES = [
    "Client",
    "Context",
    "Elicit",
    "ElicitURL",
    "Handles",
    "ProtocolError",
    "ResourceNotFound",
    "Roots",
    "Sample",
    "Server",
    "ToolError",
    "asgi",
    "bridge",
    "content",
    "serve_stdio",
]
HEAVY = ("asyncio", "pydantic", "aiohttp", "uvicorn", "msgspec", "logging", "cryptography", "jsonschema_rs", "dragoman.library")
TYPED = """
import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, assert_type

from dragoman import (
    Client, Context, Elicit, ElicitURL, Handles, ProtocolError, ResourceNotFound, Roots, Sample, Server, ToolError, asgi, bridge, content,
    serve_stdio,
)


@dataclass
class Choice:
    size: int


@asynccontextmanager
async def life(server: Server) -> AsyncIterator[dict[str, int]]:
    yield {"answer": 42}


server = Server("shop", "1", title="Shop", instructions="Buy.", ttl=60.0, scope="public", page_size=10, lifespan=life)
carts = Handles("cart", list[str])


@server.tool()
async def order(context: Context, what: str, count: int = 1) -> str:
    chosen = await context.ask(Elicit("Which size?", Choice))
    if chosen.value is not None:
        assert_type(chosen.value, Choice)
        assert_type(chosen.value.size, int)
    assert_type(chosen.accepted, bool)
    assert_type(chosen.action, str)
    form, roots = await context.ask(Elicit("Which?", Choice), Roots())
    assert_type(form.value, Choice | None)
    assert_type(roots, list[dict[str, Any]])
    page, sampled, again = await context.ask(ElicitURL("Pay", "https://example.com/"), Sample("Hello", 10), Elicit("Sure?", Choice))
    assert_type(page.action, str)
    assert_type(page.value, None)
    assert_type(sampled, dict[str, Any])
    assert_type(again.value, Choice | None)
    many = await context.ask(Roots(), Roots(), Roots(), Roots(), Roots())
    assert_type(many, tuple[Any, ...])
    assert_type(await context.once("price", lambda: 3), int)
    assert_type(await context.once("paid", paid), bool)
    context.progress(1, 2, "half")
    context.log("info", {"what": what}, "orders")
    assert_type(context.client, dict[str, Any])
    assert_type(context.principal, str | None)
    handle = await carts.mint(context, [what])
    assert_type(handle, str)
    assert_type(await carts.open(context, handle), list[str])
    assert_type(await carts.update(context, handle, []), str)
    if count > 9:
        raise ToolError("too many")
    return what


async def paid() -> bool:
    return True


assert_type(asyncio.iscoroutinefunction(order), bool)


@server.resource("note://{name}", mime_type="text/plain", ttl=5)
def note(name: str) -> str:
    raise ResourceNotFound(name)


@server.prompt(title="Review")
def review(code: str) -> list[content.Content]:
    return [content.message("user", content.text(code)), content.message("assistant", "Yes.")]


@server.completion
def complete(ref: str, argument: str, value: str, chosen: dict[str, str]) -> list[str]:
    return [value]


@server.tool(schema={"type": "object"}, output_schema={"type": "object"}, annotations={"readOnlyHint": True}, more={"icons": []})
def raw(**arguments: Any) -> Any:
    raise ProtocolError(-32000, "no", {"a": 1})


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    return {"action": "decline"}


async def main() -> None:
    async with Client(server, version="2025-06-18", answer=answer, info={"name": "a", "version": "1"}) as client:
        assert_type(client, Client)
        assert_type(await client.call_tool("order", {"what": "egg"}), dict[str, Any])
        assert_type(await client.list_tools(), list[dict[str, Any]])


assert_type(note("a"), str)
assert_type(review("a"), list[dict[str, Any]])
server.changed("tools")
application = asgi(server, path="/mcp", request_timeout=5.0)
other = bridge(application, app_path="/mcp", server_era="modern")


def run() -> int:
    return serve_stdio(server, request_timeout=None)
"""
WRONG = {
    'server = dragoman.Server(1, "1")': "arg-type",
    "@server.tool\ndef f() -> str: return 'a'": "arg-type",
    "async def f(context: dragoman.Context) -> str: return (await context.ask(dragoman.Roots(), dragoman.Roots()))": "return-value",
    "async def f(context: dragoman.Context) -> None: await context.ask('Which?')": "",
    "async def f(context: dragoman.Context) -> int: return await dragoman.Handles('a', str).open(context, 'a_')": "return-value",
    "@server.tool()\ndef f(a: int) -> int: return a\nf('a')": "arg-type",
    "dragoman.asgi(server, colour='red')": "call-arg",
    "dragoman.Elicit('Which?', 3)": "call-overload",
    "dragoman.nothing": "attr-defined",
}


def mypy(tmp_path: Path, text: str) -> subprocess.CompletedProcess[str]:
    (tmp_path / "user.py").write_text(text)
    arguments = ["--strict", "--no-incremental", "--config-file", os.devnull, "--no-error-summary", "user.py"]
    command = [sys.executable, "-m", "mypy", *arguments]
    return subprocess.run(command, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, check=False, timeout=120)


def test_the_public_names_are_these_fifteen() -> None:
    assert dragoman.__all__ == NAMES
    assert len(NAMES) == 15


def test_every_public_name_is_there_and_told_of() -> None:
    for name in NAMES:
        assert getattr(dragoman, name) is getattr(dragoman, name)
        assert name in dir(dragoman)


def test_a_name_that_is_none_is_an_attribute_error_that_names_it() -> None:
    with pytest.raises(AttributeError, match="'dragoman' has no attribute 'Tool'"):
        dragoman.Tool  # noqa: B018 - looking is what is tested


def test_every_public_function_and_class_says_what_it_is() -> None:
    for name in NAMES:
        assert len(getattr(dragoman, name).__doc__ or "") > 40, name


def test_importing_dragoman_imports_nothing_heavy() -> None:
    program = f"import dragoman, sys, json; print(json.dumps([each for each in {HEAVY} if each in sys.modules]))"
    ran = subprocess.run([sys.executable, "-S", "-c", program], env=ENVIRONMENT, capture_output=True, text=True, check=True, timeout=60)
    assert json.loads(ran.stdout) == []


def test_importing_a_server_needs_neither_the_http_server_nor_the_http_client() -> None:
    program = "import sys; from dragoman import Server, Context, ToolError, Elicit, serve_stdio; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", program], env=ENVIRONMENT, capture_output=True, text=True, check=True, timeout=60)
    assert not {"aiohttp", "uvicorn", "httptools"} & set(ran.stdout.split())


@pytest.mark.timeout(180)
def test_a_file_that_uses_every_public_name_has_full_types_under_strict_mypy(tmp_path: Path) -> None:
    assert all(name in TYPED for name in NAMES)
    checked = mypy(tmp_path, TYPED)
    assert checked.stdout == ""
    assert checked.returncode == 0, checked.stderr


@pytest.mark.timeout(180)
def test_each_wrong_use_of_a_public_name_is_a_type_error(tmp_path: Path) -> None:
    lines, where = ["import dragoman", "server = dragoman.Server('a')"], {}
    for text in WRONG:
        first = len(lines) + 1
        lines += text.replace("server = ", "other = ").replace("def f(", f"def f{first}(").replace("\nf(", f"\nf{first}(").splitlines()
        where[text] = range(first, len(lines) + 1)
    found: dict[int, str] = {}
    for line in mypy(tmp_path, "\n".join(lines)).stdout.splitlines():
        if ": error: " in line:
            found[int(line.split(":")[1])] = line
    for text, code in WRONG.items():
        told = [found[number] for number in where[text] if number in found]
        assert any(code in each for each in told), (text, told)
