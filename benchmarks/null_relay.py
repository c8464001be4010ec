"""The yardstick: a relay in asyncio that copies lines untouched, ``null_relay.py -- CHILD [ARG ...]``.

It is what a careful author would write who has nothing to translate: streams from the standard library, one line at a time
in each direction, flow control through ``drain``, standard error left to the child. Whatever a bridge costs beyond this is
the price of translating.
"""

from __future__ import annotations

import asyncio
import sys

LIMIT = 1 << 26
"""The longest line, in bytes: 64 MiB."""


async def copy_lines(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    """Copy every line as it comes, until the source ends; then end the sink."""
    while line := await source.readline():
        sink.write(line)
        await sink.drain()
    sink.close()


async def own_streams() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Standard input and standard output as asyncio streams."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=LIMIT)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    # A StreamWriter needs a protocol with flow control; its own reader is never used.
    ended = asyncio.StreamReader()
    transport, protocol = await loop.connect_write_pipe(lambda: asyncio.StreamReaderProtocol(ended), sys.stdout)
    return reader, asyncio.StreamWriter(transport, protocol, None, loop)


async def relay(command: list[str]) -> int:
    pipe = asyncio.subprocess.PIPE
    child = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, limit=LIMIT)
    assert child.stdin is not None
    assert child.stdout is not None
    reader, writer = await own_streams()
    requests = asyncio.create_task(copy_lines(reader, child.stdin))
    await copy_lines(child.stdout, writer)
    requests.cancel()
    return await child.wait()


def main() -> int:
    command = sys.argv[2:] if sys.argv[1:2] == ["--"] else sys.argv[1:]
    return asyncio.run(relay(command))


if __name__ == "__main__":
    sys.exit(main())
