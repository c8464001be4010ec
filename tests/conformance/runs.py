"""What is measured under which requirements, and which required scenarios fail rightly.

A run of the server leg is a server of ``tests`` with its arguments, behind ``dragoman serve``: the push server where nothing is said, and
reached by its URL where ``by_url`` is set; or a server on the library that is called itself, where ``direct`` is set. A run of the client
leg is a plain host of the legacy era, whose server is ``dragoman wrap`` with the URL of the suite's own server; its arguments are options
of ``dragoman wrap``.

``fails`` names the required scenarios that cannot be passed, with the reason; everything else must pass, and where ``fails`` is empty
without a warning and with nothing skipped, but for the scenarios of ``skips``. What each check says is in ``expected/<name>.json``.
"""

from __future__ import annotations

from typing import NamedTuple


class Run(NamedTuple):
    """One run of the suite."""

    name: str
    requirements: str
    arguments: tuple[str, ...] = ()
    fails: frozenset[str] = frozenset()
    server: str = "fixtures/push_server.py"
    """Below ``tests``; not in the client leg."""
    by_url: bool = False
    leg: str = "server"
    skips: frozenset[str] = frozenset()
    direct: bool = False

    def subject(self) -> str:
        """What is measured, in words."""
        what = ("client_stdio.py", "dragoman wrap") if self.leg == "client" else (self.server,)
        how = " by its URL" if self.by_url else " with nothing before it" if self.direct else ""
        return " ".join((*what, *self.arguments)) + how


MODERN, LEGACY = "2026-07-28", "2025-11-25"
NEEDS_ELICITATION = frozenset(
    {
        "input-required-result-basic-elicitation",
        "input-required-result-request-state",
        "input-required-result-multiple-input-requests",
        "input-required-result-multi-round",
        "input-required-result-non-tool-request",
        "input-required-result-result-type",
        "input-required-result-tampered-state",
    }
)

RUNS = (
    Run("modern", MODERN),
    Run("legacy", LEGACY),
    # A server that negotiates 2024-11-05, and still asks its user and answers with audio: nothing may depend on the negotiated revision.
    Run("negotiates-2024-11-05", MODERN, ("--negotiate", "2024-11-05")),
    # A server with the words of 2024-11-05 only: there is no elicitation and no audio in that revision, and a bridge invents none.
    Run("only-2024-11-05", MODERN, ("--revision", "2024-11-05"), NEEDS_ELICITATION | {"tools-call-audio"}),
    # The suite calls a tool without declaring what it needs and demands -32021. A server that therefore never asks answers with a
    # plain isError, and there is nothing in that to make a -32021 of.
    Run("never-asks-undeclared", MODERN, ("--honest", "never-asks-undeclared"), frozenset({"server-stateless"})),
    # Three questions are demanded in one result; this server asks the second when the first is answered.
    Run("one-by-one", MODERN, ("--honest", "one-by-one"), frozenset({"input-required-result-multiple-input-requests"})),
    # The question is demanded under a key of the suite's choice, and nothing in this server's form names it.
    Run("no-key-hint", MODERN, ("--honest", "no-key-hint"), frozenset({"input-required-result-basic-elicitation"})),
    # A server that has no handshake: nothing may be lost by passing through.
    Run("modern-only-modern", MODERN, server="fixtures/modern_only_server.py"),
    Run("modern-only-legacy", LEGACY, server="fixtures/modern_only_server.py"),
    # The same where the server is reached by its URL: ours, which ends on a legacy word, and one on the official SDK.
    Run("http-modern-only-modern", MODERN, ("--strict",), server="fixtures/modern_only_http.py", by_url=True),
    Run("http-modern-only-legacy", LEGACY, ("--strict",), server="fixtures/modern_only_http.py", by_url=True),
    Run("ts-modern-only-modern", MODERN, server="ts_server/server.mjs", by_url=True),
    Run("ts-modern-only-legacy", LEGACY, server="ts_server/server.mjs", by_url=True),
    # A server on the library, which is a server of all revisions by itself.
    Run("library-modern", MODERN, server="fixtures/library_server.py", direct=True),
    Run("library-legacy", LEGACY, server="fixtures/library_server.py", direct=True),
    # The fields of initialize are among those looked at, and a server of 2026-07-28 is never sent one.
    Run("client-modern", MODERN, leg="client", skips=frozenset({"http-standard-headers"})),
    Run("client-legacy", LEGACY, leg="client"),
)
