"""One entry for every change that a revision of the specification made: what it is, and where it lives in this project.

The same id names the entry, the module in ``changes``, the folder of the linter's rule and the tests. Fields of an entry:

``id``       ``sepNNNN_…`` or ``prNNNN_…`` after the number that the page of changes gives, else a plain name
``since``    the revision that made the change
``title``    a few words
``sep`` and ``pr``  the numbers, where there are any
``page``     page and section below ``docs/specification/<since>/``
``level``    ``removed``, ``changed``, ``added``, ``deprecated``; ``none`` if no message and no duty differs
``summary``  what changed on the wire
``home``     ``changes``, ``rules`` and ``tests``: a path from the repository's root or an array of them, or
             ``"none: why"``, or ``"later: with what"``

Nothing of this is on the way to a first answer: ``tomllib`` is imported when the catalog is asked for.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, cast, get_args

from dragoman_specs.version import Version, parse

Level = Literal["removed", "changed", "added", "deprecated", "none"]
Absent = Literal["none", "later"]

LEVELS: Final[tuple[str, ...]] = get_args(Level)

# One file a revision, oldest first; the order of the entries is that of the files.
FILES: Final[tuple[tuple[Version, str], ...]] = (
    (Version.V2025_03_26, "v2025_03_26.toml"),
    (Version.V2025_06_18, "v2025_06_18.toml"),
    (Version.V2025_11_25, "v2025_11_25.toml"),
    (Version.V2026_07_28, "v2026_07_28.toml"),
)

_TEXTS: Final = ("id", "since", "title", "page", "level", "summary")
_NUMBERS: Final = ("sep", "pr")
_HOMES: Final = ("changes", "rules", "tests")


class CatalogError(ValueError):
    """The catalog itself is wrong: ours to mend. The message names the file, the entry and the fault."""


class Home(NamedTuple):
    """Where one aspect of a change lives: in ``paths``, or nowhere (``absent`` says whether for good) for a ``reason``."""

    paths: tuple[str, ...] = ()
    absent: Absent | None = None
    reason: str = ""


class Homes(NamedTuple):
    """The homes of one change."""

    changes: Home
    rules: Home
    tests: Home


class Entry(NamedTuple):
    """One change of the specification."""

    id: str
    since: Version
    title: str
    page: str
    level: Level
    summary: str
    homes: Homes
    sep: int | None = None
    pr: int | None = None


@cache
def load() -> tuple[Entry, ...]:
    """Every entry, oldest revision first. Raises ``CatalogError`` if a file is wrong, and ``OSError`` if it is missing."""
    entries: dict[str, Entry] = {}
    for since, name in FILES:
        for entry in read(Path(__file__).with_name(name).read_text(encoding="utf-8"), since, name):
            if entry.id in entries:
                raise CatalogError(f"{name}: {entry.id}: the id is taken by a change of {entries[entry.id].since}")
            entries[entry.id] = entry
    return tuple(entries.values())


def find(change_id: str) -> Entry | None:
    """The entry with this id."""
    return next((entry for entry in load() if entry.id == change_id), None)


def read(text: str, since: Version, source: str) -> list[Entry]:
    """The entries of one file; ``source`` is its name in errors. Every entry must be ``since`` the file's revision."""
    import tomllib

    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise CatalogError(f"{source}: not TOML: {error}") from error
    tables = document.get("change")
    if set(document) != {"change"} or not isinstance(tables, list):
        raise CatalogError(f"{source}: expected [[change]] tables and nothing else, found {', '.join(document) or 'nothing'}")
    entries: dict[str, Entry] = {}
    for number, table in enumerate(tables, start=1):
        where = f"{source}: {table.get('id', f'entry {number}')}"
        entry = _entry(table, since, where)
        if entry.id in entries:
            raise CatalogError(f"{where}: the id is there twice")
        entries[entry.id] = entry
    return list(entries.values())


def _entry(table: dict[str, Any], since: Version, where: str) -> Entry:
    _check_fields(table, where)
    if parse(table["since"]) is not since:
        raise CatalogError(f"{where}: since is {table['since']}, but the file is that of {since}")
    if table["level"] not in LEVELS:
        raise CatalogError(f"{where}: level is {table['level']!r}, expected one of {', '.join(LEVELS)}")
    homes = [_home(table["home"][aspect], f"{where}: home.{aspect}") for aspect in _HOMES]
    return Entry(
        id=table["id"],
        since=since,
        title=table["title"],
        page=table["page"],
        level=cast("Level", table["level"]),
        summary=table["summary"],
        homes=Homes(*homes),
        sep=table.get("sep"),
        pr=table.get("pr"),
    )


def _check_fields(table: dict[str, Any], where: str) -> None:
    for field in (*_TEXTS, "home"):
        if field not in table:
            raise CatalogError(f"{where}: {field} is missing")
    for field, value in table.items():
        if field in _TEXTS:
            fits, expected = isinstance(value, str) and bool(value.strip()), "text"
        elif field in _NUMBERS:
            fits, expected = type(value) is int and value > 0, "a number"
        elif field == "home":
            fits, expected = isinstance(value, dict) and set(value) == set(_HOMES), f"exactly {', '.join(_HOMES)}"
        else:
            raise CatalogError(f"{where}: {field} is no field of an entry")
        if not fits:
            raise CatalogError(f"{where}: {field} must be {expected}, found {value!r}")


def _home(value: object, where: str) -> Home:
    """Read ``"path"``, ``["path", …]``, ``"none: why"`` or ``"later: with what"``."""
    if isinstance(value, str):
        for absent in get_args(Absent):
            word, _, reason = value.partition(":")
            if word.strip() == absent:
                if not reason.strip():
                    raise CatalogError(f"{where}: {absent} needs a reason: '{absent}: why'")
                return Home(absent=absent, reason=reason.strip())
        value = [value]
    if not isinstance(value, list) or not value or not all(isinstance(path, str) and path.strip() for path in value):
        raise CatalogError(f"{where}: expected a path, an array of paths, 'none: why' or 'later: with what', found {value!r}")
    for path in value:
        if ":" in path or " " in path or path.startswith(("/", ".")):
            raise CatalogError(f"{where}: {path!r} is no path from the repository's root")
    return Home(paths=tuple(value))
