"""``dragoman serve``: the HTTP face as an ASGI 3 application, with asyncio around the core that does no I/O."""

from dragoman.serve.app import Bridge

__all__ = ["Bridge"]
