"""Which statements of a printed program somebody has edited: the shortest run of neighbours that the edit touches."""

from collections.abc import Sequence

import msgspec

from gradstudio.graph.model import BodyId, Graph, ItemId
from gradstudio.program.merging.printed_statements import Entry, entries_among
from gradstudio.program.model import Span
from gradstudio.program.write import Script

_IMPORTS = ("import ", "from ")


class EditedStatements(msgspec.Struct, frozen=True):
    """Neighbours of one body, none of them a block, as they were printed and as they stand now.

    Attributes:
        body: where they stand; `indent` how deep, in characters.
        is_first: nothing stands above them in their body.
        before: what was printed; `above` and `below` are the entries beside them, which nobody has edited.
        old: their lines as they were printed, with the comments and blank lines above each; `new` as they are now.
        imports: the lines above all, in which the text imports; `printed_imports` as they were printed.
    """

    body: BodyId
    indent: int
    is_first: bool
    before: list[Entry]
    above: Entry | None
    below: Entry | None
    old: list[str]
    new: list[str]
    imports: list[str]
    printed_imports: list[str]


class _Unit(msgspec.Struct, frozen=True):
    """A statement: its spans from `first` to before `end`, its lines (from 0) from `line` to before `end_line`."""

    item: ItemId
    first: int
    end: int
    line: int
    end_line: int
    indent: int


def edited_statements(graph: Graph, script: Script, text: str) -> EditedStatements | None:
    """What was edited of a text that was printed as the script; None when that is nothing, or no such run."""
    printed = script.code.rstrip("\n").split("\n")
    written = text.rstrip("\n").split("\n")
    skipped = _import_end(printed)
    imported = _import_end(written)
    found = _Edit(graph, script, printed[skipped:], written[imported:], skipped)
    return found.statements(written[:imported], printed[:skipped]) if found.is_one else None


class _Edit:
    """The one stretch of lines in which two texts differ, imports aside; lines count from 0 behind these."""

    def __init__(self, graph: Graph, script: Script, old: list[str], new: list[str], skipped: int) -> None:
        self.graph = graph
        self.script = script
        self.skipped = skipped
        self.code = script.code.split("\n")
        self.old = old
        self.new = new
        shorter = min(len(old), len(new))
        self.start = next((k for k in range(shorter) if old[k] != new[k]), shorter)
        rest = shorter - self.start
        same = next((k for k in range(rest) if old[-1 - k] != new[-1 - k]), rest)
        self.end = len(old) - same
        self.new_end = len(new) - same
        self.top = max(0, script.prelude.count("\n") - skipped)
        self.units = _units(script.spans, skipped)

    @property
    def is_one(self) -> bool:
        """Whether something differs, below the definitions and the header."""
        return self.start >= self.top and (self.start < self.end or self.start < self.new_end)

    def statements(self, imports: list[str], printed: list[str]) -> EditedStatements | None:
        """The run of statements around the stretch."""
        run = self._run()
        run = self._longer(*run) if run is not None and not self._holds_more(*run) else run
        if run is None or not self._are_neighbours(*run) or not self._is_whole(run[1]):
            return None
        first, last = run
        old, new = self._lines(*run)
        head = self.units[first]
        body = self.graph.parents[head.item]
        is_first = first == 0 or BodyId(self.units[first - 1].item) == body
        before = self._entries(first, last + 1)
        above = self._entries(first - 1, first)[0] if first else None
        below = self._entries(last + 1, last + 2)[0] if last + 1 < len(self.units) else None
        return EditedStatements(body, head.indent, is_first, before, above, below, old, new, imports, printed)

    def _run(self) -> tuple[int, int] | None:
        """The first and the last statement that the stretch touches, or above or behind which it lies."""
        units = self.units
        count = len(self.units)
        first = next((k for k in range(count) if units[k].end_line > self.start), count)
        until = max(self.start, self.end - 1)
        last = next((k for k in range(first, count) if units[k].end_line > until), count)
        if last == count or (self.end <= units[last].line and not self._leads_to(units[last], first, last)):
            last -= 1
            first = min(first, last)
        return (first, last) if first >= 0 else None

    def _leads_to(self, unit: _Unit, first: int, last: int) -> bool:
        """Whether what stands above a statement is as deep as it and in its body."""
        words = next((line for line in self.new[self.start : self.new_end] if line.strip()), None)
        depth = unit.indent if words is None else len(words) - len(words.lstrip())
        return depth == unit.indent and self._are_neighbours(first, last)

    def _longer(self, first: int, last: int) -> tuple[int, int] | None:
        """Where all was taken out: with a statement beside it."""
        if last + 1 < len(self.units) and self._are_neighbours(first, last + 1):
            return first, last + 1
        return (first - 1, last) if first and self._are_neighbours(first - 1, last) else None

    def _are_neighbours(self, first: int, last: int) -> bool:
        items = [unit.item for unit in self.units[first : last + 1]]
        bodies = {self.graph.parents[item] for item in items}
        return len(bodies) == 1 and not any(item in self.graph.blocks for item in items)

    def _is_whole(self, last: int) -> bool:
        """Whether the lines below the run are as they were down to the next statement."""
        below = self.units[last + 1].line if last + 1 < len(self.units) else len(self.old)
        return max(self.units[last].end_line, self.end) == self.units[last].end_line <= below

    def _lines(self, first: int, last: int) -> tuple[list[str], list[str]]:
        start = self.units[first - 1].end_line if first else self.top
        end = max(self.units[last].end_line, self.end)
        return self.old[start:end], self.new[start : end + len(self.new) - len(self.old)]

    def _holds_more(self, first: int, last: int) -> bool:
        """Whether something but comments is left of the lines."""
        return any(line.strip() and not line.lstrip().startswith("#") for line in self._lines(first, last)[1])

    def _entries(self, first: int, end: int) -> list[Entry]:
        spans = self.script.spans[self.units[first].first : self.units[end - 1].end]
        return entries_among(self.code, spans)


def _import_end(lines: Sequence[str]) -> int:
    """How many lines at the beginning import, with the blank ones between and behind them."""
    depth = end = 0
    for k, line in enumerate(lines):
        if line.strip() and not depth and not line.startswith(_IMPORTS):
            break
        depth += line.count("(") - line.count(")")
        end = k + 1 if not depth else end
    return end


def _units(spans: Sequence[Span], skipped: int) -> list[_Unit]:
    """The statements among the spans, from top to bottom."""
    found = []
    k = 0
    while k < len(spans):
        outer = spans[k]
        first = k
        k += 1
        while k < len(spans) and (spans[k].end_line, spans[k].end_column) <= (outer.end_line, outer.end_column):
            k += 1
        line = outer.line - 1 - skipped
        end_line = outer.end_line - skipped
        found.append(_Unit(outer.node, first, k, line, end_line, outer.column))
    return found
