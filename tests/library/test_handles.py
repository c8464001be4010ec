"""Handles: what a client carries instead of a session, sealed or stored, for its own principal and so long."""

import time
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import BaseModel
from tests.library.peer import EVERY, KEY, Judged, asynchronous, refused, told

from dragoman import Context, Handles, Server, ToolError
from dragoman.library.handles import MemoryStore


class Cart(BaseModel):
    items: list[str] = []
    paid: float | None = None


@dataclass
class Entry:
    value: bytes
    life: int


class Shelf:
    """A store of a few lines, as others' are; it shows what it was asked."""

    def __init__(self) -> None:
        self.entries: dict[str, Entry] = {}

    async def get(self, name: str, /) -> bytes | None:
        entry = self.entries.get(name)
        return entry and entry.value

    async def set(self, name: str, value: bytes, /, *, ex: int) -> None:
        self.entries[name] = Entry(value, ex)

    async def delete(self, name: str, /) -> None:
        self.entries.pop(name, None)


def shop(handles: Handles[Cart]) -> Server:
    server = Server("shop", "1")

    @server.tool()
    async def new(context: Context) -> str:
        return await handles.mint(context, Cart())

    @server.tool()
    async def add(context: Context, cart: str, item: str) -> str:
        found = await handles.open(context, cart)
        return await handles.update(context, cart, Cart(items=[*found.items, item]))

    @server.tool()
    async def show(context: Context, cart: str) -> str:
        return repr(await handles.open(context, cart))

    @server.tool()
    async def drop(context: Context, cart: str) -> str:
        await handles.drop(context, cart)
        return "dropped"

    return server


def sealed(life: float = 86400.0) -> Server:
    return shop(Handles("cart", Cart, life=life))


async def call(client: Judged, tool: str, **arguments: str) -> str:
    return told(await client.call_tool(tool, arguments))


async def refusal(client: Judged, tool: str, **arguments: str) -> str:
    return refused(await client.call_tool(tool, arguments))


@pytest.mark.parametrize("version", EVERY)
@pytest.mark.parametrize("stored", [False, True], ids=["sealed", "stored"])
@asynchronous
async def test_a_handle_carries_its_value_from_call_to_call(version: str, stored: bool) -> None:
    server = shop(Handles("cart", Cart, store=MemoryStore())) if stored else sealed()
    async with Judged(server, version=version) as client:
        cart = await call(client, "new")
        assert cart.startswith("cart_")
        second = await call(client, "add", cart=cart, item="egg")
        third = await call(client, "add", cart=second, item="ham")
        assert await call(client, "show", cart=third) == "Cart(items=['egg', 'ham'], paid=None)"
        assert (cart == second == third) is stored
        old = await call(client, "show", cart=cart)
        assert old == ("Cart(items=['egg', 'ham'], paid=None)" if stored else "Cart(items=[], paid=None)")


@asynchronous
async def test_a_sealed_handle_shows_nothing_and_is_read_by_every_worker_with_the_key() -> None:
    async with Judged(sealed(), state_key=KEY) as one, Judged(sealed(), state_key=KEY) as two, Judged(sealed()) as other:
        cart = await call(one, "add", cart=await call(one, "new"), item="secret")
        assert "secret" not in cart
        assert await call(two, "show", cart=cart) == "Cart(items=['secret'], paid=None)"
        assert "no cart handle" in await refusal(other, "show", cart=cart)


@pytest.mark.parametrize("stored", [False, True], ids=["sealed", "stored"])
@asynchronous
async def test_a_handle_of_another_principal_is_none(stored: bool) -> None:
    server = shop(Handles("cart", Cart, store=MemoryStore())) if stored else sealed()
    async with (
        Judged(server, state_key=KEY, principal="ada") as ada,
        Judged(server, state_key=KEY, principal="eve") as eve,
        Judged(server, state_key=KEY) as nobody,
        Judged(server, state_key=KEY, principal="ada") as again,
    ):
        cart = await call(ada, "new")
        for other in (eve, nobody):
            assert "no cart handle" in await refusal(other, "show", cart=cart)
            assert "no cart handle" in await refusal(other, "add", cart=cart, item="x")
        if stored:
            assert await call(eve, "drop", cart=cart) == "dropped"
        assert await call(again, "show", cart=cart) == "Cart(items=[], paid=None)"


@pytest.mark.parametrize("stored", [False, True], ids=["sealed", "stored"])
@asynchronous
async def test_what_is_no_handle_is_a_tool_error_that_says_what_to_do(stored: bool) -> None:
    server = shop(Handles("cart", Cart, store=MemoryStore())) if stored else sealed()
    async with Judged(server, state_key=KEY) as client:
        cart = await call(client, "new")
        for wrong in (
            "",
            "cart",
            "cart_",
            "_",
            cart[:-1],
            cart + "A",
            cart[:8] + ("A" if cart[8] != "A" else "B") + cart[9:],
            cart.replace("cart_", "card_"),
            cart.removeprefix("cart_"),
            "cart_§",
            "cart_" + "A" * 100_000,
        ):
            text = await refusal(client, "show", cart=wrong)
            assert "no cart handle that can be used" in text
            assert "Make a new one" in text
            assert len(text) < 300


@asynchronous
async def test_a_handle_of_another_kind_is_none() -> None:
    carts, orders = Handles("cart", str), Handles("order", str)
    server = Server("s")

    @server.tool()
    async def swap(context: Context) -> str:
        order = await orders.mint(context, "x")
        for handle in (order, order.replace("order_", "cart_")):
            with pytest.raises(ToolError, match="no cart handle"):
                await carts.open(context, handle)
        return await orders.open(context, order)

    async with Judged(server) as client:
        assert await call(client, "swap") == "x"


@asynchronous
async def test_a_sealed_handle_opens_for_its_life_and_an_update_begins_another(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_800_000_000.0
    monkeypatch.setattr(time, "time", lambda: now)
    async with Judged(sealed(life=60)) as client:
        cart = await call(client, "new")
        now += 59
        later = await call(client, "add", cart=cart, item="egg")
        now += 2
        assert "has expired" in await refusal(client, "show", cart=cart)
        assert "has expired" in await refusal(client, "add", cart=cart, item="ham")
        assert await call(client, "show", cart=later) == "Cart(items=['egg'], paid=None)"


@asynchronous
async def test_a_sealed_handle_cannot_be_taken_back(caplog: pytest.LogCaptureFixture) -> None:
    async with Judged(sealed()) as client:
        assert "TypeError" in await refusal(client, "drop", cart=await call(client, "new"))


@asynchronous
async def test_a_store_keeps_values_in_json_by_names_that_name_no_principal_for_the_life_of_the_handle() -> None:
    shelf = Shelf()
    async with Judged(shop(Handles("cart", Cart, life=90, store=shelf)), principal="ada@example.com") as client:
        cart = await call(client, "new")
        await call(client, "add", cart=cart, item="egg")
        ((name, entry),) = shelf.entries.items()
        assert name.startswith("dragoman:handle:")
        assert "ada" not in name
        assert (entry.value, entry.life) == (b'{"items":["egg"],"paid":null}', 90)
        assert await call(client, "drop", cart=cart) == "dropped"
        assert shelf.entries == {}
        assert await call(client, "drop", cart=cart) == "dropped"
        assert "no cart handle" in await refusal(client, "show", cart=cart)
        assert "no cart handle" in await refusal(client, "add", cart=cart, item="ham")
        assert shelf.entries == {}


@asynchronous
async def test_a_value_that_the_shape_of_today_does_not_know_is_no_handle_any_more() -> None:
    """As after a release that changed the shape: clients still hold handles of the one before."""
    shelf = Shelf()
    async with Judged(shop(Handles("cart", Cart, store=shelf))) as client:
        cart = await call(client, "new")
        for entry in shelf.entries.values():
            entry.value = b'{"items":3}'
        assert "older kind of cart handle" in await refusal(client, "show", cart=cart)


@pytest.mark.parametrize(("shape", "value"), [(str, "a"), (int, 3), (list[int], [1]), (dict[str, Any], {"a": None}), (bytes, b"a")])
@asynchronous
async def test_values_of_any_type_that_pydantic_knows_come_back_as_they_were(shape: Any, value: Any) -> None:
    handles, server, seen = Handles("thing", shape), Server("s"), []

    @server.tool()
    async def round_trip(context: Context) -> str:
        seen.append(await handles.open(context, await handles.mint(context, value)))
        return "done"

    async with Judged(server) as client:
        await call(client, "round_trip")
    assert seen == [value]


@pytest.mark.parametrize("kind", ["", "Cart", "my cart", "1cart", "cart_x", "c" * 33])
def test_a_kind_that_is_no_short_word_is_a_value_error(kind: str) -> None:
    with pytest.raises(ValueError, match=r"the kind of a handle is a short word"):
        Handles(kind, str)


def test_a_shape_that_pydantic_does_not_know_is_a_type_error() -> None:
    class Foreign:
        pass

    with pytest.raises(TypeError, match="Foreign"):
        Handles("thing", Foreign)


@asynchronous
async def test_the_memory_store_forgets_what_has_expired_and_the_oldest_of_too_many() -> None:
    store = MemoryStore(most=3)
    await store.set("gone", b"0", ex=0)
    assert await store.get("gone") is None
    for number in range(5):
        await store.set(f"n{number}", b"%d" % number, ex=60)
    assert [await store.get(f"n{number}") for number in range(5)] == [None, None, b"2", b"3", b"4"]
    await store.set("n2", b"new", ex=60)
    await store.set("n5", b"5", ex=60)
    assert [await store.get(f"n{number}") for number in (2, 3, 4, 5)] == [b"new", None, b"4", b"5"]


@asynchronous
async def test_the_memory_store_drops_the_expired_before_the_living() -> None:
    store = MemoryStore(most=2)
    await store.set("living", b"1", ex=60)
    await store.set("expired", b"2", ex=0)
    await store.set("new", b"3", ex=60)
    assert [await store.get(name) for name in ("living", "expired", "new")] == [b"1", None, b"3"]
    await store.delete("living")
    await store.delete("never there")
    assert await store.get("living") is None
