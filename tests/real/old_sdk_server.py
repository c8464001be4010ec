"""A server for the official Python SDK 1.12.4 (2025-06-18): forms, sampling, progress, logs, a resource template and a prompt.

It runs under that SDK's own environment, so nothing of this repository is imported.
"""

from mcp.server.fastmcp import Context, FastMCP
from mcp.types import SamplingMessage, TextContent
from pydantic import BaseModel

server = FastMCP("old-sdk")


class Booking(BaseModel):
    """The form that ``book`` shows."""

    name: str


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
async def steps(count: int, ctx: Context) -> str:
    """Report progress ``count`` times."""
    for number in range(count):
        await ctx.report_progress(number + 1, count)
    return "done"


@server.tool()
async def chatter(ctx: Context) -> str:
    """Log at four levels."""
    await ctx.debug("detail")
    await ctx.info("news")
    await ctx.warning("careful")
    await ctx.error("broken")
    return "said"


@server.tool()
async def book(day: str, ctx: Context) -> str:
    """Ask for a name."""
    answer = await ctx.elicit(f"Who comes on {day}?", Booking)
    return f"booked for {answer.data.name}" if answer.action == "accept" else answer.action


@server.tool()
async def poem(ctx: Context) -> str:
    """Ask the model."""
    message = SamplingMessage(role="user", content=TextContent(type="text", text="A poem, please"))
    result = await ctx.session.create_message([message], max_tokens=20)
    return result.content.text


@server.resource("notes://{day}")
def note(day: str) -> str:
    """Return the note of a day."""
    return f"note of {day}"


@server.prompt()
def review(code: str) -> str:
    """Ask for a review."""
    return f"Review this: {code}"


if __name__ == "__main__":
    server.run()
