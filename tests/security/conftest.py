"""The endpoints of the field cases serve here too, each in front of a server that writes down what it is shown."""

from __future__ import annotations

from tests.cases.conftest import _houses, serve, served, share

__all__ = ["_houses", "serve", "served", "share"]
