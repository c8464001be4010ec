"""A legacy client's batch in front of a server that has none (2025-03-26, basic/index#batching; basic/lifecycle#initialization).

Only 2025-03-26 has batches. The entries are taken one by one, and what answers them goes back as one array when the last answer is
there: nothing if there were only notifications and responses. An entry that is no message gets its error in that array.
``initialize`` must come alone, so an entry of that name is refused, and the others are not. A batch that is empty, or comes from a
client of another revision, is one invalid request, whose id nobody can tell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dragoman import errors, frame
from dragoman.bridging.down_client import Batch
from dragoman.errors import Refusal
from dragoman_specs.version import Version

if TYPE_CHECKING:
    from dragoman.bridging.downgrade_server import DowngradeServer

BATCHING = Version.V2025_03_26


def take_batch(bridge: DowngradeServer, items: list[frame.Frame], revision: Version | None) -> None:
    """Every entry of a batch; ``revision`` is what the client has agreed on, None before that."""
    if revision is not BATCHING:
        bridge.client.refuse_unread(errors.no_batches(), revision)
        return
    if not items:
        bridge.client.refuse_unread(errors.empty_batch(), revision)
        return
    batch = Batch()
    for item in items:
        if isinstance(item, frame.Malformed):
            batch.answers.append(_refused(item.id, Refusal(item.code, item.message)))
        elif not isinstance(item, frame.Request):
            bridge.from_client(item, b"")
        elif item.method == "initialize":
            batch.answers.append(_refused(item.id, errors.initialize_in_batch()))
        elif bridge.in_use(item.id):
            batch.answers.append(_refused(item.id, errors.id_in_use()))
        else:
            bridge.client.join(batch, item.id)
            bridge.from_client(item, b"")
    bridge.client.close(batch)


def _refused(client_id: bytes | None, refusal: Refusal) -> bytes:
    """The answer to an entry that goes no further; one whose id cannot be told has JSON-RPC's null."""
    return frame.failure(client_id or b"null", refusal.encode())[:-1]
