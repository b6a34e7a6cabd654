"""The text that a document was read from, with what was edited since: all other lines are as they were typed.

Nothing is taken on trust: a text is a program's only where it is read, once more, as what is printed as the program is.
"""

import re
from functools import cached_property, partial
from pathlib import PurePosixPath

import msgspec

from gradstudio.graph.memo_table import MemoTable
from gradstudio.graph.model import Graph, ItemId, StoredTensor
from gradstudio.graph.text.literal_text import quote
from gradstudio.program.errors import NotReadable
from gradstudio.program.original.alike import opcodes_of
from gradstudio.program.original.definition_order import ordered_like
from gradstudio.program.original.header_edits import with_header
from gradstudio.program.original.line_edits import DEFINITIONS, FINE, LineEdits
from gradstudio.program.original.new_imports import with_imports
from gradstudio.program.original.other_names import is_same_but_for, names_from_elsewhere
from gradstudio.program.original.statement_lines import StatementLines, lines_within_texts
from gradstudio.program.original.text_places import places_in
from gradstudio.program.reading.docstring_name import with_docstring_bound
from gradstudio.program.reading.main_part import is_report
from gradstudio.program.reading.parser import MARK, parse, plain_text
from gradstudio.program.reading.read_text import Read
from gradstudio.program.reading.reader import read_script
from gradstudio.program.write import IMPORT_LINES, Script, write

ROUNDS = 10
"""How often a text is read until it means the program."""
PRINTED_ANEW = "The text that this program was read from cannot hold what was edited, and is printed anew."


class OriginalScript(msgspec.Struct, frozen=True):
    """A program in the words of the text that it was read from.

    Attributes:
        text: of the file.
        lines: of every item of the program, from 1, those inside definitions among them.
        anew: what to tell of lines that are printed anew although only a part of them was edited; "" for nothing.
        device: where the text binds `device`, and what class Python gives it; (0, "") when it does not.
    """

    text: str
    lines: dict[ItemId, int]
    anew: str = ""
    device: tuple[int, str] = (0, "")


_memos: MemoTable[tuple[tuple[Script, str], OriginalScript | None]] = MemoTable()


class _Round:
    """A text, what was read of it, as what that is printed, and what is wanted beside it.

    Attributes:
        said: the statements that it is printed as.
        wanted: the program, as it is printed where `device` is bound, if it is bound in the text.
        meant: the statements of that, its definitions in the order of those here.
        misses: how many statements are not yet what they shall be.
    """

    def __init__(self, text: str, read: Read, script: Script, wanted: Script) -> None:
        """Compare what a text is printed as with what is wanted."""
        self.text, self.read, self.script, self.wanted = text, read, script, wanted
        self._wanted_code = ordered_like(wanted.code, script.code)
        self.said, self.meant = _statements(script.code), _statements(self._wanted_code)
        differing = len(set(self.said) ^ set(self.meant)) + abs(len(self.said) - len(self.meant))
        self.misses = differing + (self.said != self.meant)

    @cached_property
    def typed(self) -> StatementLines:
        """The statements of the text; raises `SyntaxError` where it cannot be told where its words stand."""
        return StatementLines(self.text, into_all=True)

    @cached_property
    def printed(self) -> StatementLines:
        """The statements that it is printed as; raises `SyntaxError` as well."""
        return StatementLines(self.script.code)

    @cached_property
    def to_print(self) -> StatementLines:
        """The statements of what is wanted, its definitions in the order of those here; raises as well."""
        return StatementLines(self._wanted_code)

    @cached_property
    def places(self) -> dict[int, int]:
        """By the number of a printed statement, that of the typed one."""
        return places_in(self.typed, self.read.graph, self.read.lines, self.script, self.printed)


def ends_with_report(graph: Graph) -> bool:
    """Whether the text that a program was read from ends with a report of all values."""
    return bool(_report_of(plain_text(graph.original)))


def original_script(graph: Graph, stem: str, *, report: bool) -> OriginalScript:
    """A program as the text that it was read from, in a file with this stem; `report` prints all values at its end."""
    text = plain_text(graph.original)
    own = _report_of(text)
    above = _with_folder(graph, text.removesuffix(own), stem)
    wanted = write(graph, stem=stem)
    found = _looked_for(graph, stem, wanted, above)
    if found is None:
        return OriginalScript(wanted.text if report else wanted.code, dict(wanted.lines), PRINTED_ANEW)
    made = found.text
    is_same = made == above
    end = ""
    if report:
        end = own if own and is_same else wanted.text.removeprefix(wanted.code)
    if end and made and not made.endswith("\n"):
        made += "\n"
    return msgspec.structs.replace(found, text=_as_in(graph.original, made + end))


def original_places(graph: Graph, stem: str) -> OriginalScript | None:
    """The text that a program is exported as, where it is not its own script: with the lines of its items in it."""
    found = original_script(graph, stem, report=False) if graph.original else None
    return found if found is not None and found.anew != PRINTED_ANEW else None


def _looked_for(graph: Graph, stem: str, wanted: Script, text: str) -> OriginalScript | None:
    """The text, which is looked for once for each edit."""
    key = (wanted, text)
    known = _memos.get(graph)
    if known is None or known[0][0] is not wanted or known[0][1] != text:
        known = _memos[graph] = key, _Search(graph, stem, wanted, text).found()
    return known[1]


class _Search:
    """Looks for the text that means a program and differs least from the one that it was read from."""

    def __init__(self, graph: Graph, stem: str, wanted: Script, text: str) -> None:
        self._graph, self._stem, self._wanted, self._text = graph, stem, wanted, text
        self._anew: list[tuple[int, int]] = []
        self._again: _Round | None = None

    def found(self) -> OriginalScript | None:
        """The text, where the items stand in it, and what to tell; None where there is none."""
        now = self._round(self._text)
        level, has_comments = FINE, False
        for _ in range(ROUNDS):
            if now is None or level > DEFINITIONS:
                return None
            is_exact = self._is_exact(now)
            if is_exact and (has_comments or now.script.code == now.wanted.code):
                return self._result(now)
            if not is_exact and self._is_nearly(now):
                return self._result(now)
            has_comments = is_exact
            after = self._round(self._edited(now, level))
            if after is None or after.misses >= now.misses > 0:
                level += 1
            has_settings = self._has_settings(now)
            if after is not None and (is_exact or not has_settings or self._is_nearer(after, now.misses)):
                now = after
        return None

    def _result(self, now: _Round) -> OriginalScript:
        return OriginalScript(now.text, self._lines(now), self._told(), now.read.device)

    def _is_nearer(self, after: _Round, misses: int) -> bool:
        """Whether a text is nearer to the program than so many statements, or is it."""
        return after.misses < misses or self._is_nearly(after)

    def _round(self, text: str | None) -> _Round | None:
        """What is read of a text; None where it cannot be."""
        if text is None:
            return None
        try:
            read = read_script(with_docstring_bound(text), self._stored, keeps_code=True)
        except NotReadable:
            return None
        has_device = bool(read.device[0])
        graph = _with_device(read.graph) if has_device else read.graph
        return _Round(text, read, write(graph, stem=self._stem), self._script(has_device))

    def _script(self, has_device: bool) -> Script:
        """The program as it is printed where `device` is bound, if it is."""
        return self._script_with_device if has_device else self._wanted

    @cached_property
    def _script_with_device(self) -> Script:
        return write(_with_device(self._graph), stem=self._stem)

    def _has_settings(self, now: _Round) -> bool:
        return now.read.graph.header == self._graph.header

    def _is_exact(self, now: _Round) -> bool:
        """Whether a text is read as the program."""
        return self._has_settings(now) and now.said == now.meant

    def _is_nearly(self, now: _Round) -> bool:
        """Whether an edited text is read as what is read of the program's own script, or is but for what it inlines."""
        if now.text == self._text or not self._has_settings(now):
            return False
        if now.said == self._read_again(now):
            return True
        try:
            names = names_from_elsewhere(now.typed, now.printed, now.places)
        except SyntaxError:
            return False
        return is_same_but_for(names, now.said, now.meant)

    def _read_again(self, now: _Round) -> list[str]:
        """The statements of what is read of the program's own script, its definitions in the order of those here."""
        if self._again is None:
            self._again = self._round(now.wanted.code)
        return _statements(ordered_like(self._again.script.code, now.script.code)) if self._again is not None else []

    def _edited(self, now: _Round, level: int) -> str | None:
        """The text of the next round; None where it cannot be said."""
        try:
            header = with_header(now.typed, now.read, self._graph, self._wanted)
            if header is not None:
                return header
            edits = LineEdits(now.typed, now.places, now.printed, now.to_print, level)
            text = edits.text()
            if text is None:
                return None
            self._anew += [(first, last) for first, last in edits.anew if last > first]
            return with_imports(now.typed, text)
        except SyntaxError:
            return None

    def _lines(self, now: _Round) -> dict[ItemId, int]:
        """Where the items of the program stand in a text that is printed as it is."""
        own, other = _spans(now.wanted), _spans(now.script)
        if len(own) != len(other):
            return {}
        return {mine: now.read.lines[one] for mine, one in zip(own, other, strict=True) if one in now.read.lines}

    def _told(self) -> str:
        if not self._anew:
            return ""
        count = sum(last - first + 1 for first, last in self._anew)
        return f"{count} lines of the text are printed anew: what was edited in them is drawn otherwise than typed."

    def _stored(self, file: str) -> StoredTensor:
        tensor = self._graph.tensors.get(PurePosixPath(file).stem)
        if tensor is None:
            raise NotReadable("The program holds no such data.", 1)
        return tensor


def _with_device(graph: Graph) -> Graph:
    """The program on a device that every statement names which is on the document's."""
    made = graph.copy()
    made.header = msgspec.structs.replace(graph.header, device="cuda")
    return made


def _spans(script: Script) -> list[ItemId]:
    inner = (span for name in sorted(script.insides) for span in script.insides[name])
    drawn = (span for name in sorted(script.bodies) for span in script.bodies[name].spans)
    return [span.node for span in (*script.spans, *inner, *drawn)]


def _statements(code: str) -> list[str]:
    """The lines of a program without comments, blank lines and imports; of a text in it every line counts.

    What is imported follows from what is read, and from comments that stand for what is not wired yet.
    """
    kept = lines_within_texts(code)
    lines = enumerate(code.split("\n"), start=1)
    said = (line for number, line in lines if number in kept or line.split("#", 1)[0].strip())
    return [line for line in said if line not in IMPORT_LINES]


def _as_in(original: str, text: str) -> str:
    """A text with the line ends of the original, line by line; lines that are new have that of the first."""
    mark = MARK if original.startswith(MARK) else ""
    if "\r" not in original:
        return mark + text
    ends = re.findall(r"\r\n|\r|\n", original)
    before, after = plain_text(original).split("\n"), text.split("\n")
    made = [ends[0]] * len(after)
    for _, a, b, c, d in opcodes_of(before, after):
        if b - a == d - c:
            made[c : c + len(ends[a:b])] = ends[a:b]
    made[-1] = ""
    return mark + "".join(line + end for line, end in zip(after, made, strict=True))


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
        file = f"/{digest}.safetensors"
        if file in text:
            named = re.compile(rf"""(["'])(?:[^"'/\\]|\\.)+\.tensors{file}\1""")
            text = named.sub(partial(_quoted, f"{stem}.tensors{file}"), text)
    return text


def _quoted(path: str, typed: re.Match[str]) -> str:
    """A path as a text in the quotation marks of another one, where they can hold it."""
    printed, mark = quote(path), typed[1]
    return f"{mark}{path}{mark}" if printed[1:-1] == path and mark not in path else printed
