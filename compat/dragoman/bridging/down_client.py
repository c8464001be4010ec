"""What a legacy client is told: answers, by themselves or with those of their batch, questions and notifications.

(2025-03-26, basic/index#batching.) The answer to a request of a batch waits for those of the others, and they go out as one array.
"""

from __future__ import annotations

from msgspec import Raw, Struct

from dragoman import errors, frame
from dragoman.bridging.relay import Told
from dragoman.errors import Refusal
from dragoman_specs.version import Version

_OMITS_ID = Version.V2025_11_25
"""From here on an error that belongs to no request has no id; before it has JSON-RPC's null (basic/index#error-responses)."""


class Batch(Struct, eq=False):
    """The answers so far, how many are still to come, and whether every entry has been taken."""

    answers: list[bytes] = []
    waiting: int = 0
    taken: bool = False


class DownClient:
    """One client. ``told`` is handed each frame for it, with the id of the request that it answers, and that of the call it belongs to."""

    def __init__(self, told: Told) -> None:
        self._told = told
        self._batches: dict[bytes, Batch] = {}

    def answer(self, client_id: bytes, member: str, *value: bytes | memoryview) -> None:
        """Answer a request of the client's; whoever carries it may look into an answer of one part."""
        whole = Raw(value[0]) if len(value) == 1 and isinstance(value[0], bytes) else Raw(b"{}")
        message: frame.Frame
        if member == "result":
            message, line = frame.Result(client_id, whole), frame.result(client_id, *value)
        else:
            message, line = frame.Failure(client_id, whole), frame.failure(client_id, b"".join(value))
        batch = self._batches.pop(frame.id_key(client_id), None)
        if batch is None:
            self._told(message, line, client_id, None)
            return
        batch.answers.append(line[:-1])
        batch.waiting -= 1
        self._finish(batch)

    def refuse(self, client_id: bytes, refusal: Refusal) -> None:
        """Answer a request with an error."""
        self.answer(client_id, "error", refusal.encode())

    def refuse_second(self, client_id: bytes) -> None:
        """A request under an id that is in use; a batch that waits for the answer to the first one waits on."""
        error = errors.id_in_use().encode()
        self._told(frame.Failure(client_id, Raw(error)), frame.failure(client_id, error), client_id, None)

    def refuse_unread(self, refusal: Refusal, revision: Version | None) -> None:
        """Answer what has no id, or many."""
        error = refusal.encode()
        self._told(frame.Failure(None, Raw(error)), frame.failure(None if revision in (None, _OMITS_ID) else b"null", error), None, None)

    def question(self, line: bytes, about: bytes) -> None:
        """A request for the client, which belongs to one of its own."""
        message = frame.parse(line)
        assert isinstance(message, frame.Request)
        self._told(message, line, None, about)

    def tell(self, method: str, params: bytes | None, about: bytes | None = None) -> None:
        """A notification for the client."""
        note = frame.Notification(method, None if params is None else Raw(params))
        self._told(note, frame.notification(method, params), None, about)

    # -- batches -------------------------------------------------------------------------------------------------------

    def join(self, batch: Batch, client_id: bytes) -> None:
        """The answer to a request will be part of a batch."""
        self._batches[frame.id_key(client_id)] = batch
        batch.waiting += 1

    def leave(self, client_id: bytes) -> None:
        """A request will have no answer, also not in its batch."""
        batch = self._batches.pop(frame.id_key(client_id), None)
        if batch is not None:
            batch.waiting -= 1
            self._finish(batch)

    def close(self, batch: Batch) -> None:
        """Every entry has been taken."""
        batch.taken = True
        self._finish(batch)

    def _finish(self, batch: Batch) -> None:
        if batch.taken and not batch.waiting and batch.answers:
            self._told([], b"[%b]\n" % b",".join(batch.answers), None, None)
