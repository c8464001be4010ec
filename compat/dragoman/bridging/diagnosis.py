"""What ``dragoman probe`` finds out about a server, and how its answers read in words (2026-07-28, basic/versioning).

A diagnosis is evidence first: what was asked, what was answered, what follows from it. Two questions decide, ``initialize`` and
``server/discover``; ``accepts_handshake`` and ``accepts_modern`` are their verdicts, None while a question was not asked or its
answer said nothing. Text of a peer's is shown in one line, without anything that a terminal would act upon.
"""

from __future__ import annotations

import re
from typing import Any

from msgspec import Raw, Struct

from dragoman import frame
from dragoman.bridging.era import LEGACY, MODERN, OWN_INFO
from dragoman_specs.names import META_SERVER_INFO
from dragoman_specs.version import Era, Version, nearest_legacy, parse

DUAL, UNKNOWN = "dual", "unknown"
STDIO, STREAMABLE_HTTP, HTTP_SSE = "stdio", "Streamable HTTP", "HTTP+SSE"

Answer = frame.Result | frame.Failure
_DATE = re.compile(r"\b20\d\d-\d\d-\d\d\b")
_LONGEST = 160
_MOST_NAMES = 8


class Step(Struct):
    """One piece of evidence: the question, the answer, and what it means (empty: nothing by itself)."""

    asked: str
    answered: str
    means: str = ""


class Diagnosis(Struct):
    """All that was found out about one server."""

    transport: str | None = None
    accepts_handshake: bool | None = None
    accepts_modern: bool | None = None
    why: str = ""
    """What the era follows from, in a few words."""
    negotiated: str | None = None
    """What the server answered ``initialize`` with, as it wrote it."""
    legacy_revision: Version | None = None
    """The revision that its legacy side is spoken to in; None: it has none, or none was found."""
    supported: list[str] = []
    """The revisions that its modern side names."""
    offers: dict[str, str] = {}
    """With ``--all``: what each legacy revision was answered with."""
    server_info: dict[str, Any] = {}
    capabilities: dict[str, Any] | None = None
    steps: list[Step] = []
    challenge: str | None = None
    stderr: list[str] = []
    notes: list[str] = []
    advice: list[str] = []

    @property
    def era(self) -> str:
        """``LEGACY``, ``MODERN``, ``DUAL`` or ``UNKNOWN``."""
        if self.accepts_modern:
            return DUAL if self.accepts_handshake else MODERN
        return LEGACY if self.accepts_handshake else UNKNOWN

    @property
    def usable(self) -> bool:
        """Whether the bridge can serve clients from this server."""
        return self.era != UNKNOWN

    def step(self, asked: str, answered: str, means: str = "") -> None:
        """Write down one piece of evidence."""
        self.steps.append(Step(asked, answered, means))

    def note(self, text: str) -> None:
        """Something to know, said once."""
        if text not in self.notes:
            self.notes.append(text)

    def advise(self, text: str) -> None:
        """Something to do, said once."""
        if text not in self.advice:
            self.advice.append(text)


def initialize_params(version: Version) -> bytes:
    """Params of an ``initialize`` that offers ``version`` and declares nothing."""
    return b'{"protocolVersion":"%b","capabilities":{},"clientInfo":%b}' % (version.encode(), OWN_INFO)


def one_line(text: str, most: int = _LONGEST) -> str:
    """Somebody's text as it can be shown: no control sequences, no line breaks, not endless."""
    head = " ".join(text[: 4 * most].split())
    seen = "".join(character if character.isprintable() else f"\\u{ord(character):04x}" for character in head)
    return seen if len(seen) <= most and len(text) <= 4 * most else seen[: most - 1] + "…"


def message_of(body: bytes) -> Answer | None:
    """The response that ``body`` is, or the first one of a batch."""
    message = frame.parse(body, lenient=True)
    items = message if isinstance(message, list) else [message]
    return next((item for item in items if isinstance(item, frame.Result | frame.Failure)), None)


def in_words(answer: Answer) -> str:
    """What an answer to ``initialize`` or ``server/discover`` says, as far as the era depends on it."""
    if isinstance(answer, frame.Failure):
        return _failure_in_words(answer.error)
    members = frame.members(answer.result)
    if members is None:
        return "a result that is no object"
    if (version := frame.text(members.get("protocolVersion"))) is not None:
        return f"a result with protocolVersion {one_line(version, 40)}"
    if "supportedVersions" in members:
        return f"a result with supportedVersions {_names(_tree(members['supportedVersions']))}"
    return "a result that names no revision" if members else "an empty result"


def _failure_in_words(error: Raw) -> str:
    value = _tree(error)
    if not isinstance(value, dict):
        return "an error that is no object"
    code, message, data = value.get("code"), value.get("message"), value.get("data")
    text = f"error {one_line(str(code), 20)}" + (f" {one_line(message)}" if isinstance(message, str) and message.strip() else "")
    if isinstance(data, dict) and "supported" in data:
        text += f" (supported: {_names(data['supported'])})"
    return text


def _names(value: Any) -> str:
    if not isinstance(value, list) or not value:
        return "that name nothing"
    shown = [one_line(item, 40) for item in value if isinstance(item, str)]
    return ", ".join(shown[:_MOST_NAMES]) + (" …" if len(shown) > _MOST_NAMES else "") if shown else "that name nothing"


def named_in(failure: frame.Failure, tried: list[Version]) -> Version | None:
    """The newest legacy revision that a refusal of ``initialize`` names and that was not tried yet."""
    value = _tree(failure.error)
    text = str(value) if isinstance(value, dict) else ""
    known = [parse(date) for date in _DATE.findall(text)]
    return max((version for version in known if version and version.era is Era.LEGACY and version not in tried), default=None, key=str)


def read_handshake(found: Diagnosis, result: Raw) -> bool:
    """Take down an ``InitializeResult``; False: it names no revision, and so is none."""
    members = frame.members(result) or {}
    version = frame.text(members.get("protocolVersion"))
    if version is None:
        return False
    found.accepts_handshake = True
    found.negotiated = version
    known = parse(version)
    found.legacy_revision = known if known is not None and known.era is Era.LEGACY else nearest_legacy(version)
    if known is not found.legacy_revision:
        found.note(
            f"the revision {one_line(version, 40)} of its handshake is none that has one: it is spoken to as {found.legacy_revision}"
        )
    _read_identity(found, members.get("serverInfo"), members.get("capabilities"))
    return True


def read_discovery(found: Diagnosis, answer: Answer) -> None:
    """Take down an answer to ``server/discover`` that was judged modern."""
    found.accepts_modern = True
    if isinstance(answer, frame.Failure):
        value = _tree(answer.error)
        data = value.get("data") if isinstance(value, dict) else None
        found.supported = _texts(data.get("supported") if isinstance(data, dict) else None)
        return
    members = frame.members(answer.result) or {}
    found.supported = _texts(_tree(members.get("supportedVersions", Raw(b"null"))))
    meta = frame.members(members.get("_meta")) or {}
    _read_identity(found, meta.get(META_SERVER_INFO), members.get("capabilities"))
    if META_SERVER_INFO not in meta:
        found.note("its server/discover does not say who it is (_meta io.modelcontextprotocol/serverInfo)")


def _read_identity(found: Diagnosis, info: Raw | None, capabilities: Raw | None) -> None:
    """Who it is and what it can; the first answer counts, and where both eras answer the modern one is asked first."""
    told = _tree(info) if info is not None else None
    if isinstance(told, dict) and not found.server_info:
        found.server_info = {name: told[name] for name in ("name", "title", "version") if isinstance(told.get(name), str)}
    declared = _tree(capabilities) if capabilities is not None else None
    if isinstance(declared, dict) and found.capabilities is None:
        found.capabilities = declared


def _texts(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _tree(raw: Raw) -> Any:
    try:
        return frame.tree(raw)
    except RecursionError:
        return None
