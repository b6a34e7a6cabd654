"""Text → records: decoding, versions, and what is wrong in words with line and column. Nothing is executed."""

import gc
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn, TypeVar

import msgspec

from gradstudio.document.errors import BadField, NewerVersion, NotAGraph, UnreadableFile
from gradstudio.document.gsg.field_checks import Fault
from gradstudio.document.gsg.file_records import VERSION, ContentRecord
from gradstudio.document.gsg.json_position import line_column, locate, parse_path
from gradstudio.late_pattern import late

LARGEST_TEXT = 64 * 2**20
"""Bytes of a file; data beside it does not count."""

Content = TypeVar("Content", bound=ContentRecord)
Built = TypeVar("Built")
_PLACE = late(r" - at (?:key in )?`(\$[^`]*)`$")
_UNKNOWN = late(r"Object contains unknown field `(.*)`$", re.DOTALL)
_MISSING = late(r"Object missing required field `(.*)`$", re.DOTALL)
_TYPE = late(r"`([a-z0-9 |]+)`")
_TYPES = {
    "object": "an object {…}",
    "array": "a list […]",
    "str": "a text",
    "int": "a whole number",
    "int | null": "a whole number or null",
    "float": "a number",
    "bool": "true or false",
    "null": "null",
    "array | null": "a list […] or null",
    "float | null": "a number or null",
}
_BYTE = late(r"\(byte (\d+)\)")


class _Head(msgspec.Struct):
    format: object = None
    version: object = None


def read(text: str | bytes, kind: type[Content], name: str, make: Callable[[Content], Built]) -> Built:
    """What `make` builds from the records of a text whose `format` is `name`.

    Raises:
        UnreadableFile: one of its kinds, with line and column.
    """
    data, words = _both_forms(text)
    try:
        with _growing():
            return make(_decode(data, words, kind, name))
    except Fault as fault:
        raise fault.kind(fault.words, *locate(words, fault.where)) from fault
    except RecursionError as error:
        raise NotAGraph("the JSON is nested too deeply to be a graph") from error


@contextmanager
def _growing() -> Iterator[None]:
    """Everything that is made in here is kept: looking through the whole memory for garbage would find none."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _both_forms(text: str | bytes) -> tuple[bytes, str]:
    if len(text) > LARGEST_TEXT:
        raise NotAGraph(f"the file has more than {LARGEST_TEXT // 2**20} MiB of text")
    try:
        data = text.encode() if isinstance(text, str) else text
        data = data.removeprefix(b"\xef\xbb\xbf")
        return data, data.decode()
    except (UnicodeDecodeError, UnicodeEncodeError) as error:
        before = error.object[: error.start]
        readable = before if isinstance(before, str) else bytes(before).decode(errors="replace")
        raise NotAGraph("the text is not UTF-8", *line_column(readable, len(readable))) from error


def _decode(data: bytes, words: str, kind: type[Content], name: str) -> Content:
    from gradstudio.document.gsg.migrations import migrate

    try:
        head = msgspec.json.decode(data, type=_Head)
        version = _check_head(head, words, name)
        if version == VERSION:
            return msgspec.json.decode(data, type=kind)
        return msgspec.convert(migrate(msgspec.json.decode(data, type=dict)), kind)
    except msgspec.ValidationError as error:
        _refuse_field(str(error), words)
    except (msgspec.DecodeError, UnicodeError) as error:
        raise NotAGraph(f"this is not JSON ({_reason(error)})", *_place_of(error, data, words)) from error


def _check_head(head: _Head, words: str, name: str) -> int:
    """The version of the text, if it is one that can be read."""
    from gradstudio.document.gsg.migrations import MIGRATIONS

    if head.format != name:
        what = "a GradStudio graph" if name == "gradstudio-graph" else "a copied part of a GradStudio graph"
        said = f'its "format" is {head.format!r:.80}' if head.format is not None else 'it has no "format"'
        raise NotAGraph(f"this is JSON, but not {what}: {said}", *locate(words, ("format",)))
    version, place = head.version, locate(words, ("version",))
    if not isinstance(version, int) or isinstance(version, bool):
        raise BadField('"version" must be a whole number', *place)
    if version > VERSION:
        raise NewerVersion(
            f"this file has version {_short(version)} of the format, and this GradStudio reads up to version "
            f"{VERSION}: update GradStudio",
            *place,
        )
    if version < VERSION and version not in MIGRATIONS:
        raise BadField(f"there never was a version {version} of the format", *place)
    return version


def _refuse_field(message: str, words: str) -> NoReturn:
    """Raise msgspec's refusal in words, at its place."""
    match = _PLACE.search(message)
    path = match.group(1) if match else "$"
    reason = message[: match.start()] if match else message
    steps = parse_path(path)
    unknown, missing = _UNKNOWN.match(reason), _MISSING.match(reason)
    if missing:
        reason = f"the field '{missing.group(1)}' is missing"
    elif unknown:
        reason = f"there is no field '{unknown.group(1):.80}'{_near_miss(unknown.group(1))}"
        steps = (*steps, unknown.group(1))
    else:
        reason = _TYPE.sub(lambda found: _TYPES.get(found.group(1), found.group(1)), reason)
    where = path.removeprefix("$").removeprefix(".") or "the document"
    if path == "$" and not unknown:
        raise NotAGraph(f"this is JSON, but not a GradStudio graph ({reason})", *locate(words, steps))
    raise BadField(f"in {where}: {reason[:1].lower()}{reason[1:]}", *locate(words, steps))


def _near_miss(field: str) -> str:
    known = _field_names(ContentRecord)
    import difflib

    near = difflib.get_close_matches(field[:100], sorted(known), n=1)
    return f" (did you mean '{near[0]}'?)" if near else ""


def _field_names(kind: type[ContentRecord]) -> set[str]:
    _, definitions = msgspec.json.schema_components([kind])
    return {field for schema in definitions.values() for field in schema.get("properties", ())}


def _reason(error: Exception) -> str:
    text = str(error).removeprefix("JSON is malformed: ")
    return _BYTE.sub("", text).strip()[:200] or "nothing there"


def _place_of(error: Exception, data: bytes, words: str) -> tuple[int, int]:
    match = _BYTE.search(str(error))
    if match is None:
        return line_column(words, len(words.rstrip()))
    before = data[: int(match.group(1))].decode(errors="replace")
    return line_column(before + words[len(before) :], len(before))


__all__ = ["LARGEST_TEXT", "UnreadableFile", "read"]


def _short(version: float) -> str:
    """The number of a version for a sentence, whatever a file has in its place."""
    try:
        return f"{version:.6g}"
    except OverflowError:
        return "of hundreds of digits"
