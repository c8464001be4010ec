"""Field cases that carry a tag of what is there by now, and yet have nothing to test in it, each with the reason."""

from __future__ import annotations

_URL = "later, servers behind a URL:"
_LIBRARY = "later, the library:"

NOT_HERE: dict[str, str] = {
    "B028": f"{_URL} a remote that answers discovery and hangs afterwards has to be tried as legacy once, and its verdict forgotten",
    "B035": f"{_URL} a legacy client in front of a modern one needs initialize and ping answered here, and headers on all else",
    "B038": f"{_URL} a legacy client in front of a modern one; input_required has to become questions",
    "B048": "a modern server in front of a legacy client: what becomes of structured content that is no object there",
    "B070": f"{_LIBRARY} one handler for both eras, with a bound on the rounds",
    "B072": f"{_LIBRARY} handlers have to be able to read the answers to what they asked, and rounds need a bound",
    "B097": f"{_URL} a server without the optional GET stream answers it with any status, and is no worse for it",
    "B104": "the upgrade of schema dialects is a part of its own; until it is there a declared older dialect is relayed as declared, "
    "which 2026-07-28, basic/index#schema-dialect allows",
    "B107": "a modern server in front of a legacy client: schemas have to be told in a dialect that its validator understands",
    "B142": "a modern server in front of a legacy client: a task that it was not asked for has to be awaited",
}
