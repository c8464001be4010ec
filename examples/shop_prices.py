"""The prices of a shop: three ways to be wrong, and who hears of each.

* A product that the shop does not have is the tool's own business: ``ToolError`` makes a result with ``isError``, for the model to read
  and to do better.
* A tool that does not exist is the client's fault: the error -32602, which the library answers.
* So is a method that does not exist: the error -32601, over HTTP with status 404 for clients of 2026-07-28.
"""

import sys
from difflib import get_close_matches
from typing import Annotated

from pydantic import BaseModel, Field

from dragoman import Server, ToolError, asgi, serve_stdio

CENTS = {"apple": 35, "bread": 290, "butter": 319, "coffee": 749, "honey": 560}

server = Server("shop-prices", "1.3")


class Price(BaseModel):
    """A price in euros, as a text with two decimals: prices are no binary fractions."""

    product: str
    quantity: int
    total: str
    currency: str = "EUR"


@server.tool(title="Price", annotations={"readOnlyHint": True})
def price(product: str, quantity: Annotated[int, Field(ge=1, le=100)] = 1) -> Price:
    """Tell what a quantity of a product costs."""
    cents = CENTS.get(product)
    if cents is None:
        near = get_close_matches(product, CENTS, n=1)
        raise ToolError(f"There is no {product} here. {f'Is it {near[0]}?' if near else 'There is ' + ', '.join(CENTS) + '.'}")
    euros, rest = divmod(cents * quantity, 100)
    return Price(product=product, quantity=quantity, total=f"{euros}.{rest:02}")


app = asgi(server, sse=True)  # sse: clients of 2024-11-05, which know no other HTTP

if __name__ == "__main__":
    sys.exit(serve_stdio(server))
