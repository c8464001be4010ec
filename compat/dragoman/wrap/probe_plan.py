"""What the bridge will do with a server for clients of each revision (basic/versioning#compatibility-matrix).

The changes are those of the catalog that one side has and the other has not, and that have a home in the bridge: an optional
member that older readers ignore needs none. A change whose only home is a step on frames counts in the directions that it has steps for.
"""

from __future__ import annotations

from msgspec import Struct

from dragoman import chain
from dragoman.bridging.diagnosis import STDIO, Diagnosis
from dragoman.changes.down import DOWN
from dragoman.route import Shape, plan
from dragoman_specs import catalog, version
from dragoman_specs.version import LATEST_MODERN, Era, Version

_STEPS = "compat/dragoman/changes/"
_AUTH = "compat/dragoman/auth/"
_HTTP = ("compat/dragoman/http/", "compat/dragoman/remote/", _AUTH)


class Applied(Struct, frozen=True):
    """One change between a client and the server. ``over_http``: it is one of the transport, and none where both sides are stdio."""

    id: str
    since: Version
    title: str
    over_http: bool


class Row(Struct, frozen=True):
    """How clients of ``client`` are served. ``spoken``: the revision in which the bridge speaks to the server for them; None: it relays."""

    client: Version
    shape: Shape
    spoken: Version | None
    changes: tuple[Applied, ...]


def rows(found: Diagnosis) -> list[Row]:
    """One row a revision, newest first; none for a server that cannot be used."""
    return [_row(client, found) for client in reversed(version.ALL)] if found.usable else []


def _row(client: Version, found: Diagnosis) -> Row:
    spoken = _spoken(client, found)
    if client.era is spoken.era:
        # Whatever the two settle on within an era: what they say is relayed, and a handshake is the client's own.
        return Row(client, Shape.PASSTHROUGH, None, ())
    return Row(
        client,
        plan(client, spoken),
        spoken,
        _between(min(client, spoken), downgrade=spoken.era is Era.MODERN, by_url=found.transport != STDIO),
    )


def _spoken(client: Version, found: Diagnosis) -> Version:
    """The revision in which the server is spoken to for a client.

    A command is met with ``initialize`` first, and so is spoken to as legacy if it accepts that. A URL is asked ``server/discover``; one of
    both eras is spoken to in the client's.
    """
    legacy = found.legacy_revision
    if legacy is None or (found.accepts_modern and found.transport != STDIO and client.era is Era.MODERN):
        return LATEST_MODERN
    return legacy


def _between(older: Version, *, downgrade: bool, by_url: bool) -> tuple[Applied, ...]:
    """The changes after ``older``, newest first: in the other direction they are undone in that order."""
    newer = version.ALL[version.ALL.index(older) + 1 :]
    return tuple(
        Applied(entry.id, entry.since, entry.title, all(path.startswith(_HTTP) for path in entry.homes.changes.paths))
        for entry in reversed(catalog.load())
        if entry.since in newer and entry.homes.changes.paths and _has_work(entry, downgrade=downgrade) and (by_url or not _of_auth(entry))
    )


def _has_work(entry: catalog.Entry, *, downgrade: bool) -> bool:
    if not all(path.startswith(_STEPS) for path in entry.homes.changes.paths):
        return True
    if downgrade:
        return any(change.id == entry.id and change.down_steps for change in DOWN)
    change = chain.find(entry.id)
    return change is not None and bool(change.steps)


def _of_auth(entry: catalog.Entry) -> bool:
    """Whether it is about credentials for the server, which a command needs none of."""
    return all(path.startswith(_AUTH) for path in entry.homes.changes.paths)
