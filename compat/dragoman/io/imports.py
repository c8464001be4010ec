"""Importing the core quickly: it is most of the way from the start to the first answer."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quick_imports() -> Iterator[None]:
    """What is imported inside comes without what costs time and serves nobody."""
    with _without_garbage_collection(), _without_typing_extensions():
        yield


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Imports make tens of thousands of objects that all stay, so the collections that they set off find nothing.

    ``freeze`` sets them apart for good: the first collections while serving would go through all of them once more.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


@contextmanager
def _without_typing_extensions() -> Iterator[None]:
    """Have the first import of msgspec do with ``typing``.

    msgspec takes ``get_type_hints``, ``Required`` and ``NotRequired`` from typing_extensions if it is installed, as it is
    wherever pydantic is: some 10 ms for what ``typing`` has too since Python 3.11. ``None`` in ``sys.modules`` makes an import
    fail (Python's reference, "The module cache"); it is removed again, so that whoever needs the module later gets it.
    """
    if "msgspec" in sys.modules or "typing_extensions" in sys.modules:
        yield
        return
    sys.modules["typing_extensions"] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules["typing_extensions"]
