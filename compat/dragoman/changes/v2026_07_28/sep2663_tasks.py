"""SEP-2663: tasks left the core for an extension of another shape (2026-07-28, changelog; 2025-11-25, basic/utilities/tasks).

The words of the core tasks of 2025-11-25 mean nothing to a modern client: the server's capability, how a tool wants to be
executed and which task a message belongs to are not shown. Nothing is lost by it: a task-only tool is called as a task by
the bridge. A handle in place of a result can't be told, because the client has no method to redeem it.

The other way the words are no less foreign: a legacy client that read them in a modern server's frames would take them for
the core tasks of 2025-11-25, which that server does not have.
"""

from __future__ import annotations

from msgspec import Raw

from dragoman import frame, shape
from dragoman.change import ABSENT, EVERY, Change, Crossing, Fault, Members, Notes, Part
from dragoman_specs.names import EXTENSION_TASKS, META_RELATED_TASK
from dragoman_specs.version import Version

CHANGE = Change("sep2663_tasks", since=Version.V2026_07_28)


@CHANGE.upgrade("tools/call", Part.RESULT)
def no_handle(result: Members, _crossing: Crossing, _notes: Notes) -> Members | Fault:
    """Refuse a task in place of a result."""
    if "content" not in result and frame.members(result.get("task", ABSENT)) is not None:
        return Fault(CHANGE.id, "tools/call: the server answered with a task, though none was asked for")
    return result


@CHANGE.upgrade(EVERY, Part.RESULT)
def no_task_of_result(result: Members, _crossing: Crossing, _notes: Notes) -> Members:
    """Take the task's name out of a result's ``_meta``."""
    return _without_related_task(result)


@CHANGE.upgrade(EVERY, Part.NOTIFICATION)
def no_task_of_notification(params: Members, _crossing: Crossing, _notes: Notes) -> Members:
    """Take the task's name out of a notification's ``_meta``."""
    return _without_related_task(params)


@CHANGE.upgrade(EVERY, Part.PARAMS)
def no_task_of_request(params: Members, _crossing: Crossing, _notes: Notes) -> Members:
    """A modern client can know no task of this server: what it writes under the name would mislead."""
    return _without_related_task(params)


@CHANGE.upgrade("tools/call", Part.PARAMS)
def no_task_asked_for(params: Members, _crossing: Crossing, _notes: Notes) -> Members:
    """Ignore ``task`` of a modern call, as SEP-2663 demands: a legacy server would answer with a handle."""
    return _without(params, "task") if "task" in params else params


@CHANGE.upgrade("tools/list", Part.TOOL)
def no_execution(tool: Members, _crossing: Crossing, _notes: Notes) -> Members:
    """Leave out how a tool wants to be executed."""
    return _without(tool, "execution") if "execution" in tool else tool


@CHANGE.upgrade(EVERY, Part.CAPABILITIES)
def no_capability(capabilities: Members, _crossing: Crossing, _notes: Notes) -> Members:
    """Leave out the capability, and the extension of 2026-07-28, whose methods the bridge does not carry either."""
    for map_name in ("extensions", "experimental"):
        entries = frame.members(capabilities.get(map_name, ABSENT)) or {}
        if EXTENSION_TASKS in entries:
            capabilities = {**capabilities, map_name: shape.raw(_without(entries, EXTENSION_TASKS))}
    return _without(capabilities, "tasks") if "tasks" in capabilities else capabilities


def _without_related_task(members: Members) -> Members:
    present: Raw | None = members.get("_meta")
    meta = (frame.members(present) if present is not None else None) or {}
    if META_RELATED_TASK not in meta:
        return members
    kept = _without(meta, META_RELATED_TASK)
    return {**members, "_meta": shape.raw(kept)} if kept else _without(members, "_meta")


def _without(members: Members, left_out: str) -> Members:
    return {name: value for name, value in members.items() if name != left_out}


CHANGE.downgrade("tools/list", Part.TOOL)(no_execution)
CHANGE.downgrade(EVERY, Part.CAPABILITIES)(no_capability)


@CHANGE.downgrade(EVERY, Part.QUESTION)
def no_task_for_client(question: Members, _crossing: Crossing, _notes: Notes) -> Members:
    """A question is never a task."""
    return _without(question, "task") if "task" in question else question


@CHANGE.downgrade("sampling/createMessage", Part.QUESTION)
def no_execution_asked(question: Members, crossing: Crossing, notes: Notes) -> Members:
    """Tools that a model may use are not executed as tasks either."""
    listed = [frame.members(tool) or {} for tool in shape.items(question.get("tools", ABSENT)) or ()]
    told = [no_execution(tool, crossing, notes) for tool in listed]
    return {**question, "tools": shape.raw(told)} if any("execution" in tool for tool in listed) else question
