"""Field cases that carry a tag of what is there by now, and yet have nothing to test in it, each with the reason."""

from __future__ import annotations

_LIBRARY = "later, the library:"

NOT_HERE: dict[str, str] = {
    "B104": "the upgrade of schema dialects is a part of its own; until it is there a declared older dialect is relayed as declared, "
    "which 2026-07-28, basic/index#schema-dialect allows",
    "B107": "a modern server in front of a legacy client: schemas have to be told in a dialect that its validator understands",
}
