"""The text that a document was read from, with what was edited since: all other lines are as they were typed.

Nothing is taken on trust: a text is a program's only where it is read, once more, as what is printed as the program is.
"""

import re
from pathlib import PurePosixPath

import msgspec

from gradstudio.graph.model import Graph, ItemId, StoredTensor
from gradstudio.program.errors import NotReadable
from gradstudio.program.original.header_edits import with_header
from gradstudio.program.original.line_edits import DEFINITIONS, FINE, LineEdits
from gradstudio.program.original.new_imports import behind_imports, imports_for
from gradstudio.program.original.statement_lines import StatementLines
from gradstudio.program.original.text_places import places_in
from gradstudio.program.reading.docstring_name import with_docstring_bound
from gradstudio.program.reading.main_part import is_report
from gradstudio.program.reading.parser import parse
from gradstudio.program.reading.read_text import Read
from gradstudio.program.reading.reader import read_script
from gradstudio.program.write import IMPORTED, Script, write

ROUNDS = 10
"""How often a text is read until it means the program."""
_MARK = "\ufeff"
_WORD = re.compile(r"[^\W\d]\w*")
PRINTED_ANEW = "The text that this program was read from cannot hold what was edited, and is printed anew."


class OriginalScript(msgspec.Struct, frozen=True):
    """A program in the words of the text that it was read from.

    Attributes:
        text: of the file.
        lines: of every item of the program, from 1, those inside definitions among them.
        anew: what to tell of lines that are printed anew although only a part of them was edited; "" for nothing.
    """

    text: str
    lines: dict[ItemId, int]
    anew: str = ""


class _Round(msgspec.Struct, frozen=True):
    """A text, what was read of it, and as what that is printed."""

    text: str
    read: Read
    script: Script


def ends_with_report(graph: Graph) -> bool:
    """Whether the text that a program was read from ends with a report of all values."""
    return bool(_report_of(_plain(graph.original)))


def original_script(graph: Graph, stem: str, *, report: bool) -> OriginalScript:
    """A program as the text that it was read from, in a file with this stem; `report` prints all values at its end."""
    text = _plain(graph.original)
    own = _report_of(text)
    wanted = write(graph, stem=stem)
    found = _Search(graph, stem, wanted, _with_folder(graph, text.removesuffix(own), stem)).found()
    if found is None:
        return OriginalScript(wanted.text if report else wanted.code, dict(wanted.lines), PRINTED_ANEW)
    made, lines, anew = found
    is_same = made == text.removesuffix(own)
    end = ""
    if report:
        end = own if own and is_same else wanted.text.removeprefix(wanted.code)
    if end and made and not made.endswith("\n"):
        made += "\n"
    return OriginalScript(_as_in(graph.original, made + end), lines, anew)


class _Search:
    """Looks for the text that means a program and differs least from the one that it was read from."""

    def __init__(self, graph: Graph, stem: str, wanted: Script, text: str) -> None:
        self._graph, self._stem, self._wanted, self._text = graph, stem, wanted, text
        self._statements = _statements(wanted.code)
        self._anew: list[tuple[int, int]] = []

    def found(self) -> tuple[str, dict[ItemId, int], str] | None:
        """The text, where the items stand in it, and what to tell; None where there is none."""
        now = self._round(self._text)
        level, spoken = FINE, False
        for _ in range(ROUNDS):
            if now is None or level > DEFINITIONS:
                return None
            is_same = _statements(now.script.code) == self._statements
            if is_same and (spoken or now.script.code == self._wanted.code):
                return now.text, self._lines(now), self._told()
            spoken = is_same
            after = self._round(self._edited(now, level))
            if after is None or self._misses(after) >= self._misses(now) > 0:
                level += 1
            if after is not None and (is_same or self._misses(after) <= self._misses(now)):
                now = after
        return None

    def _round(self, text: str | None) -> _Round | None:
        """What is read of a text; None where it cannot be."""
        if text is None:
            return None
        try:
            read = read_script(with_docstring_bound(text), self._stored, keeps_code=True)
        except NotReadable:
            return None
        return _Round(text, read, write(read.graph, stem=self._stem))

    def _misses(self, one: _Round) -> int:
        """How many statements are not yet what they shall be."""
        now, wanted = _statements(one.script.code), self._statements
        return len(set(now) ^ set(wanted)) + abs(len(now) - len(wanted)) + (now != wanted)

    def _edited(self, now: _Round, level: int) -> str | None:
        """The text of the next round; None where it cannot be said."""
        try:
            typed = StatementLines(now.text, into_all=True)
            header = with_header(typed, now.read, self._graph, self._wanted)
            if header is not None:
                return header
            printed, wanted = StatementLines(now.script.code), StatementLines(self._wanted.code)
        except SyntaxError:
            return None
        edits = LineEdits(typed, places_in(typed, now.read, now.script, printed), printed, wanted, level)
        text = edits.text()
        if text is None:
            return None
        self._anew += edits.anew
        words = {word for line in edits.lines_put_in for word in _WORD.findall(line)}
        missing = imports_for(typed, words.intersection(IMPORTED))
        if not missing:
            return text
        lines, at = text.split("\n"), behind_imports(typed)
        return "\n".join([*lines[: at - 1], *missing, *lines[at - 1 :]])

    def _lines(self, now: _Round) -> dict[ItemId, int]:
        """Where the items of the program stand in a text that is printed as it is."""
        own, other = _spans(self._wanted), _spans(now.script)
        return {mine: now.read.lines[one] for mine, one in zip(own, other, strict=False) if one in now.read.lines}

    def _told(self) -> str:
        if not self._anew:
            return ""
        count = sum(last - first + 1 for first, last in self._anew)
        return (
            f"{count} lines of the text are printed anew: what was edited in them is drawn otherwise than it was typed."
        )

    def _stored(self, file: str) -> StoredTensor:
        tensor = self._graph.tensors.get(PurePosixPath(file).stem)
        if tensor is None:
            raise NotReadable("The program holds no such data.", 1)
        return tensor


def _spans(script: Script) -> list[ItemId]:
    inner = (span for name in sorted(script.insides) for span in script.insides[name])
    drawn = (span for name in sorted(script.bodies) for span in script.bodies[name].spans)
    return [span.node for span in (*script.spans, *inner, *drawn)]


def _statements(code: str) -> list[str]:
    return [line for line in code.split("\n") if line.strip() and not line.lstrip().startswith("#")]


def _plain(text: str) -> str:
    """A text as its reader takes it: without a mark, with one kind of line end."""
    return text.removeprefix(_MARK).replace("\r\n", "\n").replace("\r", "\n")


def _as_in(original: str, text: str) -> str:
    """A text with the line ends of the original: each line that is in both has its own, others have the first one's."""
    mark = _MARK if original.startswith(_MARK) else ""
    if "\r" not in original:
        return mark + text
    ends = re.findall(r"\r\n|\r|\n", original)
    if _plain(original) == text:
        return original
    return mark + text.replace("\n", ends[0])


def _report_of(text: str) -> str:
    """The report that a text ends with, and what is above it that is empty; "" where it has none."""
    try:
        body = parse(text).body
    except NotReadable:
        return ""
    if not body or not is_report(body[-1]):
        return ""
    lines = text.split("\n")
    first = body[-1].lineno - 1
    while first and not lines[first - 1].strip():
        first -= 1
    return "\n".join(lines[first:]) if first else text


def _with_folder(graph: Graph, text: str, stem: str) -> str:
    """A text that loads what is stored beside it under this stem."""
    for digest in graph.tensors:
        text = re.sub(rf"[^\"'/\\]+\.tensors/{digest}\.safetensors", f"{stem}.tensors/{digest}.safetensors", text)
    return text
