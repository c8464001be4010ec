"""The oracle: is this frame valid for the peer that receives it?

Theory of operation: the official JSON Schema of each revision decides, one definition per method (``tools/list`` is checked as
``ListToolsRequest`` and its result as ``ListToolsResult``, never as the permissive ``Result``). Rules that the schemas cannot state are
written below, each with its page. The schemas are no part of this repository: they are looked for in ``$DRAGOMAN_SPEC``, else in
``../shared/spec`` beside the repository; without them the written rules still run, and the test run's summary says so once.
Where a generated schema contradicts the text of its own specification, ``KNOWN_FAULTS`` patches it and says why.

This module shares no code with the bridge. ``faces.py`` adds what needs memory: ids, tokens, streams.
"""

from __future__ import annotations

import functools
import json
import os
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

JsonObject = dict[str, Any]

LEGACY = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN = "2026-07-28"
RESERVED = "io.modelcontextprotocol/"
RELATED_TASK = RESERVED + "related-task"
ASKING = frozenset({"tools/call", "prompts/get", "resources/read"})
RETIRED_CODES = {-32002: "resource not found is -32602", -32042: "URL elicitation is input_required"}
MODERN_CODES = {-32020, -32021, -32022}
MODERN_ONLY_METHODS = frozenset({"server/discover", "subscriptions/listen", "notifications/subscriptions/acknowledged"})


class SchemaFault(NamedTuple):
    """A place where a generated schema is wrong, what stands there instead, and why."""

    revisions: tuple[str, ...]
    path: str
    instead: Any
    reason: str


KNOWN_FAULTS = (
    SchemaFault(
        ("2025-06-18",),
        "ElicitResult/properties/content/additionalProperties/type",
        ["string", "number", "boolean"],
        "the generator turned TypeScript's number into integer; a NumberSchema of type number takes 1.5",
    ),
    SchemaFault(
        ("2025-11-25", MODERN),
        "ElicitResult/properties/content/additionalProperties/anyOf/1/type",
        ["string", "number", "boolean"],
        "the generator turned TypeScript's number into integer; a NumberSchema of type number takes 1.5",
    ),
    SchemaFault(
        (MODERN,),
        "JSONValue/anyOf/2/type",
        ["string", "number", "boolean", "null"],
        "JSON values are also fractions and null; the TypeScript type says number and null",
    ),
    SchemaFault(
        ("2024-11-05", "2025-03-26", "2025-06-18"),
        "JSONRPCError/properties/id",
        {"type": ["string", "integer", "null"]},
        "JSON-RPC 2.0 (section 5) demands null where the id could not be read, and these schemas have no form for it",
    ),
)


class Invalid(AssertionError):
    """A frame that its receiver may reject: which rule, and the frame."""


def spec_folder() -> Path | None:
    """The folder with ``<revision>/schema.json``, or None where it is not on this machine."""
    named = os.environ.get("DRAGOMAN_SPEC")
    folder = Path(named) if named else Path(__file__).resolve().parents[2] / "shared" / "spec"
    return folder if (folder / MODERN / "schema.json").is_file() else None


def no_retrieval(uri: str) -> NoReturn:
    raise LookupError(f"the oracle never fetches anything, and {uri} was asked for")


class Revision:
    """One revision's schema: definitions by name, and the definition of each method."""

    def __init__(self, folder: Path, revision: str) -> None:
        schema = json.loads((folder / revision / "schema.json").read_text(encoding="utf-8"))
        self.keyword = "$defs" if "$defs" in schema else "definitions"
        self.dialect = schema["$schema"]
        self.definitions: JsonObject = schema[self.keyword]
        for fault in KNOWN_FAULTS:
            if revision in fault.revisions:
                self._patch(fault)
        self._validators: dict[str, Any] = {}

    def _patch(self, fault: SchemaFault) -> None:
        """Replace what is at the path; a path that is no longer there is an error, so that no fault outlives its reason."""
        *way, last = fault.path.split("/")
        node: Any = self.definitions
        for step in way:
            node = node[int(step)] if isinstance(node, list) else node[step]
        assert node[last] != fault.instead, f"{fault.path} is right by now: drop it from KNOWN_FAULTS"
        node[last] = fault.instead

    def methods(self, union: str) -> dict[str, str]:
        """Method name to definition name, for a union such as ``ClientRequest`` or for one definition."""
        holder = self.definitions.get(union, {})
        names = [option["$ref"].rsplit("/", 1)[1] for option in holder.get("anyOf", [])] or [union]
        found = {name: self.definitions.get(name, {}).get("properties", {}).get("method", {}) for name in names}
        return {method["const"]: name for name, method in found.items() if "const" in method}

    def check(self, name: str, instance: Any, what: str) -> None:
        """Raise ``Invalid`` unless ``instance`` is a valid ``name``."""
        import jsonschema_rs

        if name not in self._validators:
            schema = {"$schema": self.dialect, "$ref": f"#/{self.keyword}/{name}", self.keyword: self.definitions}
            self._validators[name] = jsonschema_rs.validator_for(schema, validate_formats=False, retriever=no_retrieval)
        for error in self._validators[name].iter_errors(instance):
            where = "/".join(str(step) for step in error.instance_path)
            raise Invalid(f"{what} is no {name} at /{where}: {error.message[:400]}")


class Oracle:
    """Checks single frames. All methods raise ``Invalid`` and return the decoded frame."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder

    @property
    def present(self) -> bool:
        """False when the schemas are not on this machine and only the written rules run."""
        return self.folder is not None

    @functools.cache  # noqa: B019 - one oracle lives as long as the test run
    def revision(self, revision: str) -> Revision | None:
        return Revision(self.folder, revision) if self.folder is not None else None

    def schema_check(self, revision: str, name: str, instance: Any, what: str) -> None:
        schema = self.revision(revision)
        if schema is not None and name in schema.definitions:
            schema.check(name, instance, what)

    def definition(self, revision: str, union: str, method: str) -> str | None:
        schema = self.revision(revision)
        return schema.methods(union).get(method) if schema is not None else None

    def check_to_client(self, frame: bytes | str | JsonObject, method: str | None = None, revision: str = MODERN) -> JsonObject:
        """Check a frame that a client of ``revision`` receives; ``method`` is that of the request a response answers."""
        return self._check(decoded(frame), revision, "Server", "Client", method)

    def check_to_server(self, frame: bytes | str | JsonObject, revision: str, method: str | None = None) -> JsonObject:
        """Check a frame that a server of ``revision`` receives; ``method`` is that of the server's question a response answers."""
        return self._check(decoded(frame), revision, "Client", "Server", method)

    def _check(self, frame: JsonObject, revision: str, sender: str, receiver: str, method: str | None) -> JsonObject:
        what = f"frame to a {receiver.lower()} of {revision} {shown(frame)}"
        if frame.get("jsonrpc") != "2.0":
            raise Invalid(f"{what} is no JSON-RPC 2.0 message")
        if "method" in frame and "id" in frame:
            self._check_request(frame, revision, sender, what)
        elif "method" in frame:
            self.schema_check(revision, "JSONRPCNotification", frame, what)
            name = self.definition(revision, f"{sender}Notification", frame["method"])
            if name is not None:
                self.schema_check(revision, name, frame, what)
        elif revision == MODERN and sender == "Client":
            raise Invalid(f"{what}: clients write no responses (basic/transports/stdio#sending-messages)")
        elif "error" in frame:
            self._check_error(frame, revision, what)
        else:
            self._check_result(frame, revision, sender, method, what)
        check_words(frame, revision, sender, what)
        return frame

    def _check_request(self, frame: JsonObject, revision: str, sender: str, what: str) -> None:
        if revision == MODERN and sender == "Server":
            raise Invalid(f"{what}: servers write no requests (basic/transports/stdio#receiving-messages)")
        if isinstance(frame["id"], bool) or not isinstance(frame["id"], str | int):
            raise Invalid(f"{what}: an id is a string or an integer (basic/index#requests)")
        self.schema_check(revision, "JSONRPCRequest", frame, what)
        name = self.definition(revision, f"{sender}Request", frame["method"])
        if name is not None:
            self.schema_check(revision, name, frame, what)

    def _check_error(self, frame: JsonObject, revision: str, what: str) -> None:
        if "result" in frame:
            raise Invalid(f"{what} holds a result and an error")
        modern_form = revision in ("2025-11-25", MODERN)
        if modern_form and frame.get("id", "") is None:
            raise Invalid(f"{what}: the id of an unreadable request is left out, never null")
        self.schema_check(revision, "JSONRPCErrorResponse" if modern_form else "JSONRPCError", frame, what)
        code, data = frame["error"]["code"], frame["error"].get("data")
        if revision != MODERN:
            if code in MODERN_CODES:
                raise Invalid(f"{what}: code {code} is a word of {MODERN}")
            return
        if code in RETIRED_CODES:
            raise Invalid(f"{what}: code {code} is retired, {RETIRED_CODES[code]} (basic/index#error-codes)")
        if -32099 <= code <= -32020 and code not in MODERN_CODES:
            raise Invalid(f"{what}: code {code} is in the reserved range (basic/index#error-codes)")
        if code == -32021 and not isinstance((data or {}).get("requiredCapabilities"), dict):
            raise Invalid(f"{what}: -32021 names requiredCapabilities as an object")
        if code == -32022 and not {"supported", "requested"} <= set(data or {}):
            raise Invalid(f"{what}: -32022 names the versions supported and requested")

    def _check_result(self, frame: JsonObject, revision: str, sender: str, method: str | None, what: str) -> None:
        result = frame.get("result")
        if not isinstance(result, dict) or "id" not in frame:
            raise Invalid(f"{what}: a result is an object and answers an id")
        self.schema_check(revision, "JSONRPCResultResponse" if revision in ("2025-11-25", MODERN) else "JSONRPCResponse", frame, what)
        if revision == MODERN and sender == "Server":
            check_result_type(result, method, what)
            if result["resultType"] == "input_required":
                self.schema_check(revision, "InputRequiredResult", result, what)
                return
        asker = "Client" if sender == "Server" else "Server"
        request = self.definition(revision, f"{asker}Request", method) if method is not None else None
        schema = self.revision(revision)
        if request is not None and schema is not None:
            name = request.removesuffix("Request") + "Result"
            self.schema_check(revision, name if name in schema.definitions else "EmptyResult", result, what)


def decoded(frame: bytes | str | JsonObject) -> JsonObject:
    """Decode strictly: UTF-8 without lone surrogates, no NaN, one object."""
    if isinstance(frame, dict):
        return frame
    try:
        text = frame.decode("utf-8") if isinstance(frame, bytes) else frame
        found = json.loads(text, parse_constant=_no_constant)
        json.dumps(found, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError) as fault:
        raise Invalid(f"not a JSON text in UTF-8: {fault}: {frame[:300]!r}") from fault
    if not isinstance(found, dict):
        raise Invalid(f"not one JSON object: {frame[:300]!r}")
    return found


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON")


def shown(frame: JsonObject) -> str:
    text = json.dumps(frame, ensure_ascii=False)
    return text if len(text) <= 600 else text[:600] + "…"


def check_result_type(result: JsonObject, method: str | None, what: str) -> None:
    """``resultType`` and what goes with it (basic/patterns/mrtr, server/utilities/caching)."""
    kind = result.get("resultType")
    if kind not in ("complete", "input_required"):
        raise Invalid(f"{what}: resultType {kind!r} is neither complete nor input_required")
    if kind == "complete":
        return
    if method is not None and method not in ASKING:
        raise Invalid(f"{what}: {method} may not answer input_required (basic/patterns/mrtr)")
    if "inputRequests" not in result and "requestState" not in result:
        raise Invalid(f"{what}: input_required brings inputRequests or requestState (basic/patterns/mrtr)")
    if "ttlMs" in result or "cacheScope" in result:
        raise Invalid(f"{what}: input_required is never cached")
    for key, request in result.get("inputRequests", {}).items():
        alien = {"jsonrpc", "id"} & set(request) | {"elicitationId", "task"} & set(request.get("params", {}))
        if alien:
            raise Invalid(f"{what}: {key} holds {sorted(alien)}, which {MODERN} does not have there")


def check_words(frame: JsonObject, revision: str, sender: str, what: str) -> None:
    """No word of another era: reserved ``_meta`` keys, members and methods."""
    holder = frame.get("params") if "method" in frame else frame.get("result")
    holder = holder if isinstance(holder, dict) else {}
    meta = holder.get("_meta")
    reserved = [key for key in meta if key.startswith(RESERVED)] if isinstance(meta, dict) else []
    if revision == MODERN:
        if sender == "Client" and "method" in frame and "id" in frame:
            missing = {RESERVED + "protocolVersion", RESERVED + "clientCapabilities"} - set(reserved)
            if missing:
                raise Invalid(f"{what}: _meta lacks {sorted(missing)} (basic/index#meta)")
        if any("execution" in tool for tool in holder.get("tools") or [] if isinstance(tool, dict)):
            raise Invalid(f"{what}: tools have no execution in {MODERN}")
        return
    alien = [key for key in reserved if key != RELATED_TASK or revision != "2025-11-25"]
    alien += [f"method {frame['method']}"] if frame.get("method") in MODERN_ONLY_METHODS else []
    members = (
        ("inputResponses", "requestState") if "method" in frame else ("resultType", "inputRequests", "requestState", "ttlMs", "cacheScope")
    )
    alien += [member for member in members if member in holder]
    if alien:
        raise Invalid(f"{what} holds words of {MODERN}: {alien}")
