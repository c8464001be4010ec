"""``hurried.py NAME=VALUE … -- ARGUMENTS``: dragoman with limits shortened, so that a test need not wait for the real ones."""

from __future__ import annotations

import sys

from dragoman.serve import protocol
from dragoman.serve.house import House
from dragoman.wrap.cli import main

at = sys.argv.index("--")
for word in sys.argv[1:at]:
    name, _, value = word.partition("=")
    if name == "no_uvloop":  # as on a machine that has none
        sys.modules["uvloop"] = None
        continue
    place = House if name == "client_stall" else protocol
    assert hasattr(place, name), name
    setattr(place, name, float(value))
sys.exit(main(sys.argv[at + 1 :]))
