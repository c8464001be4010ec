"""examples/shop_prices.py for clients of every revision: who hears of which fault."""

from __future__ import annotations

from tests.examples.raw import Http, Peer

SERVER = "shop_prices"


def test_a_price_is_told_and_structured_where_the_revision_has_that(peer: Peer) -> None:
    text = {"type": "text", "text": '{"product":"coffee","quantity":3,"total":"22.47","currency":"EUR"}'}
    value = {"product": "coffee", "quantity": 3, "total": "22.47", "currency": "EUR"}
    assert (
        peer.call("price", product="coffee", quantity=3)
        == {
            "2024-11-05": {"content": [text]},
            "2025-03-26": {"content": [text]},
            "2025-06-18": {"content": [text], "structuredContent": value},
            "2025-11-25": {"content": [text], "structuredContent": value},
            "2026-07-28": {"content": [text], "structuredContent": value},
        }[peer.revision]
    )


def test_the_tool_has_an_output_schema_where_the_revision_has_that(peer: Peer) -> None:
    (tool,) = peer.result("tools/list")["tools"]
    assert tool["inputSchema"]["properties"] == {
        "product": {"type": "string"},
        "quantity": {"type": "integer", "minimum": 1, "maximum": 100, "default": 1},
    }
    assert ("outputSchema" in tool) == (peer.revision in ("2025-06-18", "2025-11-25", "2026-07-28"))


def test_one_is_the_quantity_that_is_not_given(peer: Peer) -> None:
    assert peer.text("price", product="apple") == '{"product":"apple","quantity":1,"total":"0.35","currency":"EUR"}'


def test_an_unknown_product_is_an_error_of_the_tool(peer: Peer) -> None:
    assert peer.call("price", product="coffe") == {
        "content": [{"type": "text", "text": "There is no coffe here. Is it coffee?"}],
        "isError": True,
    }
    assert peer.call("price", product="car") == {
        "content": [{"type": "text", "text": "There is no car here. There is apple, bread, butter, coffee, honey."}],
        "isError": True,
    }


def test_a_quantity_of_none_is_an_error_of_the_tool(peer: Peer) -> None:
    result = peer.call("price", product="apple", quantity=0)
    assert result["isError"] is True
    assert result["content"][0]["text"] == (
        "The arguments do not fit the schema of price:\nquantity: Input should be greater than or equal to 1"
    )


def test_an_unknown_tool_is_an_error_of_the_protocol(peer: Peer) -> None:
    assert peer.error("tools/call", {"name": "prize", "arguments": {}}) == {"code": -32602, "message": "Unknown tool: prize"}


def test_an_unknown_method_is_an_error_of_the_protocol(peer: Peer) -> None:
    assert peer.error("shop/close") == {"code": -32601, "message": "Method not found: shop/close"}
    if isinstance(peer, Http):
        assert peer.status == (404 if peer.is_modern else 200)


def test_methods_of_what_the_server_does_not_offer_are_unknown(peer: Peer) -> None:
    asked = {"prompts/list": {}, "prompts/get": {"name": "greet"}, "resources/list": {}, "resources/read": {"uri": "file:///a"}}
    errors = {method: peer.request(method, params).get("error", {}).get("code") for method, params in asked.items()}
    assert errors == {"prompts/list": -32601, "prompts/get": -32601, "resources/list": -32601, "resources/read": -32601}
