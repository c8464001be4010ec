"""Walks a malformed value along the shape it should have, and brings it into the nearest one that is valid.

Theory of operation: at every level what fits stays the text that the sender wrote. What does not is given to the fix that
knows the member, else walked; what remains malformed is left out where it is optional or an item of a list, and is a fault
where it is required. One bad tool of ten does not lose the other nine. Every repair is noted by its place and kind, never
by its value, which may be private.
"""

from __future__ import annotations

from functools import cache
from types import UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

import msgspec
from msgspec import Raw, Struct, UnsetType

from dragoman import frame
from dragoman.change import ABSENT, Crossing, Members, Notes
from dragoman.shape import fixes, parts, wholes

AREA: Final = "shape"
"""What a repair is noted under: no revision made it, the sender just broke its own rules."""


class Unmendable(Exception):
    """No valid shape is near. The text says which member, and what it is."""


@cache
def _decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)


def fits(value: Raw, kind: Any) -> bool:
    """Whether ``value`` has the shape ``kind``."""
    try:
        _decoder(kind).decode(value)
    except msgspec.MsgspecError:
        return _is_number(value, kind)
    return True


def _is_number(value: Raw, kind: Any) -> bool:
    """What msgspec refuses though JSON Schema has it: ``1.0`` is an integer, ``1e400`` and 400 digits are numbers."""
    arms = get_args(kind) if get_origin(kind) in {Union, UnionType} else (kind,)
    if fixes.first(value) not in "-0123456789":
        return False
    return float in arms or (int in arms and float(bytes(value)).is_integer())


def show(value: Raw) -> str:
    """What a value is, in words."""
    words = {"": "missing", "n": "null", "t": "true", "f": "false", '"': "a string", "[": "an array", "{": "an object"}
    return words.get(fixes.first(value), "a number")


def mend_members(members: Members, kind: type[Struct], crossing: Crossing, notes: Notes, *, nulls_only: bool = False) -> Members:
    """An object in the shape ``kind``; the same object if it fits. Raises ``Unmendable``.

    ``nulls_only`` is for whoever can be asked again: optional nulls are left out, anything else is refused.
    """
    return _Mender(crossing, notes, nulls_only).members(members, kind, "")


@cache
def _fields(kind: type[Struct]) -> tuple[tuple[str, Any, bool], ...]:
    """(name on the wire, type, whether it is required) of each member."""
    return tuple((field.encode_name, _type_of(field.type), field.required) for field in msgspec.structs.fields(kind))


def _type_of(kind: Any) -> Any:
    """The type without its "or absent"."""
    if get_origin(kind) not in {Union, UnionType} or UnsetType not in get_args(kind):
        return kind
    return Union[tuple(arm for arm in get_args(kind) if arm is not UnsetType)]  # noqa: UP007 - made at run time


def _bare(kind: Any) -> Any:
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind


class _Mender:
    __slots__ = ("_crossing", "_notes", "_nulls_only")

    def __init__(self, crossing: Crossing, notes: Notes, nulls_only: bool) -> None:
        self._crossing = crossing
        self._notes = notes
        self._nulls_only = nulls_only

    def _note(self, text: str) -> None:
        self._notes.add(AREA, f"{self._crossing.method}: {text}")

    def mend(self, value: Raw, kind: Any, where: str) -> Raw:
        """``value`` in the shape ``kind``; the same object if it fits."""
        if fits(value, kind):
            return value
        kind = _bare(kind)
        origin = get_origin(kind)
        if origin is list:
            return self._list(value, get_args(kind)[0], where)
        if origin is dict:
            return self._dict(value, get_args(kind)[1], where)
        if origin in {Union, UnionType}:
            return self._union(value, get_args(kind), where)
        if isinstance(kind, type) and issubclass(kind, Struct):
            return self._object(value, kind, where)
        raise Unmendable(f"{where} is {_describe(value, kind)}")

    def _object(self, value: Raw, kind: type[Struct], where: str) -> Raw:
        if kind is parts.Contents:
            fixed = fixes.contents(value, self._crossing)
            if fixed is not value:
                self._note(f"{where} was not what a resource holds, repaired")
            value = fixed
        members = frame.members(value)
        if members is None:
            raise Unmendable(f"{where or 'it'} is {show(value)}, not an object")
        mended = self.members(members, kind, where)
        return value if mended is members else fixes.raw(mended)

    def members(self, members: Members, kind: type[Struct], where: str) -> Members:
        """The members of an object of the shape ``kind``; the same object if they fit."""
        out = members
        for name, member_kind, required in _fields(kind):
            value = members.get(name, ABSENT)
            if value is ABSENT and not required:
                continue
            if value is not ABSENT and fits(value, member_kind) and not _refused(value, name, kind):
                continue
            path = f"{where}.{name}" if where else name
            fixed = self._member(value, (kind, name), members, member_kind, path, required)
            if fixed is ABSENT:
                out = {member: held for member, held in out.items() if member != name}
            elif fixed is not value:
                out = {**out, name: fixed}
        return out

    def _member(self, value: Raw, key: tuple[type, str], beside: Members, kind: Any, path: str, required: bool) -> Raw:
        fix = fixes.MEMBERS.get(key)
        fixed = value if fix is None else fix(value, beside, self._crossing)
        if fixed is ABSENT:
            raise Unmendable(f"{path} is missing")
        if fixed is not value:
            self._note(f"{path} was {show(value)}, repaired")
        try:
            return self._checked(fixed, key, kind, path)
        except Unmendable as fault:
            if required or (self._nulls_only and show(value) != "null"):
                raise
            self._note(f"{path} was {show(value)}, left out" if str(fault).startswith(f"{path} is") else f"{path} left out: {fault}")
            return ABSENT

    def _checked(self, value: Raw, key: tuple[type, str], kind: Any, path: str) -> Raw:
        if _refused(value, key[1], key[0]):
            raise Unmendable(f"{path} is {show(value)}")
        return self.mend(value, kind, path)

    def _list(self, value: Raw, kind: Any, where: str) -> Raw:
        if fixes.first(value) != "[":
            raise Unmendable(f"{where} is {show(value)}, not an array")
        items = fixes.items(value)
        out: list[Raw] = []
        for index, item in enumerate(items):
            try:
                out.append(self.mend(item, kind, f"{where}[]"))
            except Unmendable as fault:
                if self._nulls_only:
                    raise
                self._note(f"{where}[{index}]{_name(item)} left out: {fault}")
        same = len(out) == len(items) and all(mended is item for mended, item in zip(out, items, strict=True))
        return value if same else fixes.raw(out)

    def _dict(self, value: Raw, kind: Any, where: str) -> Raw:
        members = frame.members(value)
        if members is None:
            raise Unmendable(f"{where} is {show(value)}, not an object")
        kept = {name: held for name, held in members.items() if fixes.first(held) != "n"}
        for name, held in kept.items():
            if not fits(held, kind):
                raise Unmendable(f"{where}.{name} is {show(held)}")
        if len(kept) == len(members):
            return value
        self._note(f"{where} held null, left out")
        return fixes.raw(kept)

    def _union(self, value: Raw, arms: tuple[Any, ...], where: str) -> Raw:
        """A content block; or one or a list of them."""
        if fixes.first(value) == "[":
            several = next((arm for arm in arms if get_origin(arm) is list), None)
            if several is not None:
                return self.mend(value, several, where)
        by_tag = {str(arm.__struct_config__.tag): arm for arm in arms if isinstance(arm, type) and issubclass(arm, Struct)}
        if self._nulls_only:
            arm = by_tag.get(_tag(frame.members(value) or {}))
            if arm is None:
                raise Unmendable(f"{where} is no content block of a known type")
            return self._object(value, arm, where)
        typed = fixes.block(value, frozenset(by_tag))
        if typed is not value:
            self._note(f"{where} was no block of a known type, repaired")
        try:
            return self._object(typed, by_tag[_tag(frame.members(typed) or {})], where)
        except Unmendable as fault:
            self._note(f"{where} is told as text: {fault}")
            return fixes.block_as_text(value)


_MUST_BE_TEXT: Final = frozenset(((parts.TextBlock, "text"), (parts.ImageBlock, "data"), (parts.AudioBlock, "data")))


def _refused(value: Raw, name: str, kind: type[Struct]) -> bool:
    """What a class checks by itself, because its fields stay raw."""
    if (kind, name) in _MUST_BE_TEXT:
        return not parts.is_text(value)
    return issubclass(kind, wholes.ToolResult) and name == "structuredContent" and fixes.first(value) == "n"


def _tag(block: Members) -> str:
    return frame.text(block.get("type")) or ""


def _describe(value: Raw, kind: Any) -> str:
    return "no known value" if get_origin(kind) is Literal and fixes.first(value) == '"' else show(value)


def _name(item: Raw) -> str:
    """The name of an item, for the note that it was left out."""
    members = frame.members(item) or {}
    name = frame.text(members.get("name")) or frame.text(members.get("uri"))
    return f" ({name})" if name else ""
