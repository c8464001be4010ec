"""Shapes: is this result, notification or answer what its reader may rely on, and if not, what is the nearest that is?

``parts`` and ``wholes`` state the shapes of 2026-07-28, ``mend`` walks a malformed value along them, ``fixes`` holds the repairs that
know what a member means; ``errors`` and ``capabilities`` are repaired by rules of their own. A value that fits is never
walked, and never rewritten.
"""

from dragoman.shape.capabilities import mend_capabilities
from dragoman.shape.errors import internal_error, mend_error
from dragoman.shape.fixes import items_or_none as items
from dragoman.shape.fixes import raw
from dragoman.shape.mend import AREA, Unmendable, fits, mend_members, show
from dragoman.shape.parts import Implementation
from dragoman.shape.wholes import ANSWERS, ITEMS, NOTIFICATIONS, RESULTS, STAMPED, Bare, Result

__all__ = [
    "ANSWERS",
    "AREA",
    "ITEMS",
    "NOTIFICATIONS",
    "RESULTS",
    "STAMPED",
    "Bare",
    "Implementation",
    "Result",
    "Unmendable",
    "fits",
    "internal_error",
    "items",
    "mend_capabilities",
    "mend_error",
    "mend_members",
    "raw",
    "show",
]
