"""sep2322_mrtr: a legacy server's requests as entries of ``inputRequests``, and answers to them (2026-07-28, basic/patterns/mrtr).

Up to 2025-11-25 a server sends ``elicitation/create``, ``sampling/createMessage`` and ``roots/list`` as requests of its
own. In 2026-07-28 the same objects are values of a map in a result, and bare result objects come back in
``inputResponses``. A question that a 2026-07-28 client could not read is answered to the server as that client would
have answered it (-32602); an answer that the server could not read is asked for again.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

from dragoman import errors, frame
from dragoman.bridging import asked
from dragoman.bridging.capabilities import covers, merge_capabilities
from dragoman.bridging.replies import answer_fault, plain_answer
from dragoman.bridging.sealing import canonical_json, digest
from dragoman.change import Loss
from dragoman.errors import Refusal
from dragoman_specs.methods import INPUT_REQUESTS
from dragoman_specs.names import INTERNAL_ERROR, META_RELATED_TASK, PROGRESS_TOKEN
from dragoman_specs.version import Version

__all__ = [
    "Question",
    "Refusal",
    "answer_result",
    "expired_answer",
    "invalid_answer",
    "merge_capabilities",
    "missing_capability",
    "missing_url_elicitation",
    "read_question",
    "unique_key",
    "url_elicitations",
]

ELICIT: Final = "elicitation/create"
SAMPLE: Final = "sampling/createMessage"
ROOTS: Final = "roots/list"
_NUMBERED = {ELICIT: "elicitation", SAMPLE: "sampling", ROOTS: "roots"}
_URL_ELICITATION: dict[str, Any] = {"elicitation": {"url": {}}}
_USER_REJECTED = -1
Members = dict[str, Raw]


class Question(Struct):
    """One request of a server, ready to be an entry of ``inputRequests``.

    ``wire_id`` is the server's own id (JSON text), ``request`` the entry, ``requires`` the client capabilities without
    which it must not go out. ``elicitation_id``, ``progress_token`` and ``task_id`` were taken off the request and may say
    whose it is; ``losses`` is what else was taken off. ``digest`` names what was asked, whatever its spelling.
    ``session`` and ``params`` (as they came) are for whoever keeps questions.
    """

    wire_id: bytes
    method: str
    request: bytes
    key_hint: str
    mode: str
    requires: dict[str, Any]
    digest: str
    elicitation_id: str | None = None
    progress_token: bytes | None = None
    task_id: str | None = None
    losses: tuple[Loss, ...] = ()
    session: int = 0
    params: Raw | None = None


class _Read(Struct):
    """What one method's reader made of the params."""

    members: Members
    key_hint: str
    requires: dict[str, Any]
    mode: str = ""
    losses: tuple[Loss, ...] = ()


def read_question(wire_id: bytes, method: str, params: Raw | None, client_capabilities: dict[str, Any]) -> Question | Refusal:
    """The question, valid under 2026-07-28's ``InputRequest``, or the error that its server gets.

    The capabilities decide about ``includeContext`` alone, which is left out unless ``sampling.context`` is declared
    (client/sampling#capabilities); whether the question may go out at all is ``missing_capability``.
    """
    if method not in INPUT_REQUESTS:
        return errors.unknown_method(method)
    try:
        return _question(wire_id, method, params, client_capabilities)
    except RecursionError:
        return _invalid("nested too deeply")


def _question(wire_id: bytes, method: str, params: Raw | None, client: dict[str, Any]) -> Question | Refusal:
    members = frame.members(params)
    if members is None:
        return _invalid("params: must be an object")
    meta = frame.members(members["_meta"]) if "_meta" in members else {}
    if meta is None:
        return _invalid("params._meta: must be an object")
    elicitation_id = frame.text(members.pop("elicitationId", None))
    # A receiver without the tasks capability runs the request as if it were no task (2025-11-25, basic/utilities/tasks).
    members.pop("task", None)
    token, task = meta.pop(PROGRESS_TOKEN, None), meta.pop(META_RELATED_TASK, None)
    if token is not None or task is not None:
        del members["_meta"]
        if meta:
            members["_meta"] = Raw(frame.encode(meta))
    found = _read(method, members, client)
    if isinstance(found, str):
        return _invalid(found)
    body = {"method": method} if params is None else {"method": method, "params": found.members}
    request = frame.encode(body)
    return Question(
        wire_id,
        method,
        request,
        found.key_hint,
        found.mode,
        found.requires,
        digest(method, canonical_json(request)),
        elicitation_id,
        None if token is None else bytes(token),
        frame.text((frame.members(task) or {}).get("taskId")),
        found.losses,
    )


def _invalid(fault: str) -> Refusal:
    return errors.invalid_params(fault)


def _read(method: str, members: Members, client: dict[str, Any]) -> _Read | str:
    if method == SAMPLE:
        return _read_sampling(members, client)
    if method == ROOTS:
        return _Read(members, "roots", {"roots": {}})
    mode = frame.text(members["mode"]) if "mode" in members else "form"
    if mode == "url":
        return _read_url(members)
    # No mode means form mode (client/elicitation#elicitation-requests).
    return _read_form(members) if mode == "form" else "params.mode: must be form or url"


def _read_url(members: Members) -> _Read | str:
    params = asked.read(frame.encode(members), asked.UrlParams, "params")
    return params if isinstance(params, str) else _Read(members, "elicitation", _URL_ELICITATION, "url")


def _read_form(members: Members) -> _Read | str:
    params = asked.read(frame.encode(members), asked.FormParams, "params")
    if isinstance(params, str):
        return params
    properties = params.requested_schema.properties
    mended: Members = {}
    for name, raw in properties.items():
        fault = asked.read_property(raw, f"params.requestedSchema.properties.{name}")
        if isinstance(fault, str):
            mended_raw = _without_null(raw)
            if mended_raw is None or isinstance(asked.read_property(mended_raw, ""), str):
                return fault
            mended[name] = mended_raw
    losses: tuple[Loss, ...] = ()
    if mended:
        schema = frame.members(members["requestedSchema"]) or {}
        schema["properties"] = Raw(frame.encode({**properties, **mended}))
        members = {**members, "requestedSchema": Raw(frame.encode(schema))}
        losses = (
            Loss("pr0382_elicitation", f"null as a value of a form ({', '.join(mended)}): a form has no null, the field is optional"),
        )
    hint = next(iter(properties)) if len(properties) == 1 else ""
    return _Read(members, hint or "elicitation", {"elicitation": {"form": {}}}, "form", losses)


def _without_null(raw: Raw) -> Raw | None:
    """The property without the null that it allows; None if null is not what is wrong with it.

    Servers that render a model into the form write an optional field as ``anyOf`` of its type and null, or with a null
    default. The form has no null: an optional field is one that ``required`` does not name.
    """
    value = frame.tree(raw)
    if not isinstance(value, dict):
        return None
    out = {name: part for name, part in value.items() if name != "default" or part is not None}
    options = out.get("anyOf")
    if isinstance(options, list):
        others = [option for option in options if option != {"type": "null"}]
        if len(others) != 1 or not isinstance(others[0], dict):
            return None
        del out["anyOf"]
        out = {**others[0], **out}
    kinds = out.get("type")
    if isinstance(kinds, list) and len(kinds) == 2 and "null" in kinds:
        out["type"] = next(kind for kind in kinds if kind != "null")
    return Raw(frame.encode(out)) if out != value else None


def _read_sampling(members: Members, client: dict[str, Any]) -> _Read | str:
    params = asked.read(frame.encode(members), asked.SamplingParams, "params")
    if isinstance(params, str):
        return params
    requires: dict[str, Any] = {"tools": {}} if "tools" in members or "toolChoice" in members else {}
    losses: tuple[Loss, ...] = ()
    if params.include_context in {"thisServer", "allServers"} and not covers(client, {"sampling": {"context": {}}}):
        members = {name: value for name, value in members.items() if name != "includeContext"}
        losses = (Loss("sep1577_sampling_tools", f"includeContext {params.include_context}: the client has no sampling.context"),)
    return _Read(members, "sampling", {"sampling": requires}, losses=losses)


def missing_capability(question: Question, client_capabilities: dict[str, Any]) -> dict[str, Any] | None:
    """What the client would have to declare for this question (``requiredCapabilities`` of -32021); None if it did."""
    return None if covers(client_capabilities, question.requires) else question.requires


def missing_url_elicitation(client_capabilities: dict[str, Any]) -> dict[str, Any] | None:
    """The same for the URL elicitations of a -32042."""
    return None if covers(client_capabilities, _URL_ELICITATION) else _URL_ELICITATION


def unique_key(question: Question, taken: Container[str]) -> str:
    """A key that is not taken; the same question among the same others always gets the same one.

    The only property of a one-field form names it (``env``, then ``env-2``), all else is counted (``elicitation-1``).
    """
    hint = question.key_hint
    if hint != _NUMBERED[question.method] and hint not in taken:
        return hint
    count = 1 if hint == _NUMBERED[question.method] else 2
    while f"{hint}-{count}" in taken:
        count += 1
    return f"{hint}-{count}"


def invalid_answer(question: Question, answer: Raw) -> str | None:
    """What keeps a bare result object from answering the question; None if nothing does.

    Of a form's own rules, only required members and types are looked at: lengths, ranges and choices are its server's to check.
    """
    try:
        return answer_fault(question.method, _form(question), answer)
    except RecursionError:
        return "it is nested too deeply"


def answer_result(question: Question, answer: Raw, revision: Version) -> bytes | Refusal:
    """A valid answer as the result that a server of ``revision`` gets, or the error if it has no words for it.

    ``decline`` and ``cancel`` stay what they are. A URL elicitation is answered by the action alone.
    """
    from dragoman import chain

    plain = plain_answer(question.method, question.mode, answer)
    shaped = chain.answer_to_server(question.method, plain, revision)
    if isinstance(shaped, chain.Fault):
        return errors.server_fault(shaped.message)
    return shaped.raw


def _form(question: Question) -> asked.Form | None:
    if question.mode != "form":
        return None
    return msgspec.json.decode(question.request, type=_Entry).params.requested_schema


class _Entry(Struct):
    params: asked.FormParams


def expired_answer(question: Question) -> tuple[str, bytes]:
    """What the server gets when no answer comes: the name of the response's member, and its value.

    A form that nobody filled in was cancelled; sampling and roots have no such answer, only errors (2025-11-25,
    client/sampling#error-handling and client/roots#error-handling).
    """
    if question.method == ELICIT:
        return "result", b'{"action":"cancel"}'
    if question.method == SAMPLE:
        return "error", frame.error(_USER_REJECTED, "The client did not answer the sampling request")
    return "error", frame.error(INTERNAL_ERROR, "The client did not answer the request for its roots")


def url_elicitations(data: Any) -> dict[str, bytes] | None:
    """``error.data`` of a -32042 (a decoded tree) as ``inputRequests``; None if it does not say what to open.

    2025-11-25, client/elicitation#url-elicitation-required-error. The server's elicitation ids have no member in
    2026-07-28 and are left out; an entry that does not say ``mode`` can only mean ``url``.
    """
    entries = data.get("elicitations") if isinstance(data, dict) else None
    if not isinstance(entries, list) or not entries:
        return None
    out: dict[str, bytes] = {}
    for entry in entries:
        params = Raw(frame.encode({"mode": "url", **entry} if isinstance(entry, dict) else entry))
        question = read_question(b"", ELICIT, params, {})
        if isinstance(question, Refusal) or question.mode != "url":
            return None
        out[unique_key(question, out)] = question.request
    return out
