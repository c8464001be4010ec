"""dragoman lets MCP peers of different protocol revisions work together.

This module is on the way to the first answer of every wrapped server, so it imports nothing: the library's names are loaded when
they are first used.
"""

__version__ = "0.1.0"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dragoman.library import content
    from dragoman.library.app import asgi
    from dragoman.library.bridged import bridge
    from dragoman.library.client import Client
    from dragoman.library.context import Context
    from dragoman.library.errors import ProtocolError, ResourceNotFound, ToolError
    from dragoman.library.handles import Handles
    from dragoman.library.questions import Elicit, ElicitURL, Roots, Sample
    from dragoman.library.server import Server
    from dragoman.library.stdio import serve_stdio

__all__ = [
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

_PLACES = {
    "Client": "client",
    "Context": "context",
    "Elicit": "questions",
    "ElicitURL": "questions",
    "Handles": "handles",
    "ProtocolError": "errors",
    "ResourceNotFound": "errors",
    "Roots": "questions",
    "Sample": "questions",
    "Server": "server",
    "ToolError": "errors",
    "asgi": "app",
    "bridge": "bridged",
    "content": "",
    "serve_stdio": "stdio",
}


if not TYPE_CHECKING:  # so that type checkers know the names that are none

    def __getattr__(name: str) -> object:
        place = _PLACES.get(name)
        if place is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        found: object = getattr(import_module(f"dragoman.library.{place}"), name) if place else import_module(f"dragoman.library.{name}")
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
