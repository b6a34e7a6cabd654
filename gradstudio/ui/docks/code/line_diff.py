"""Lines of two texts side by side: what differs, which line became which, and what two hands changed."""

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from gradstudio.graph.edits import Edits, ReplaceNode
from gradstudio.graph.model import Graph
from gradstudio.program.errors import NotReadable
from gradstudio.ui.widgets.python_highlighter import changed_lines

MOST_COMPARED = 400
"""Lines of a stretch that are matched one by one; a longer one that differs is one hunk, as is one beside nothing."""


class Hunk(NamedTuple):
    """Lines `start` to before `end` (from 0) become `lines`; either may be none."""

    start: int
    end: int
    lines: tuple[str, ...]


def hunks(old: Sequence[str], new: Sequence[str]) -> list[Hunk]:
    """What has to be replaced to make one text of the other, top to bottom."""
    start, old_end, new_end = changed_lines(old, new)
    before, after = old[start:old_end], new[start:new_end]
    if before == after:
        return []
    if max(len(before), len(after)) > MOST_COMPARED or not (any(before) and any(after)):
        return [Hunk(start, old_end, tuple(after))]
    return list(_matched(start, before, after))


def _matched(start: int, before: Sequence[str], after: Sequence[str]) -> Iterator[Hunk]:
    """Lines that differ in blanks and quotes only are the same line, printed otherwise: a hunk each."""
    from difflib import SequenceMatcher

    matcher = SequenceMatcher(None, [_bare(line) for line in before], [_bare(line) for line in after], autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if b - a != d - c:
            yield Hunk(start + a, start + b, tuple(after[c:d]))
            continue
        for k in range(b - a):
            if tag == "replace" or before[a + k] != after[c + k]:
                yield Hunk(start + a + k, start + a + k + 1, (after[c + k],))


def _bare(line: str) -> str:
    return "".join(line.replace("'", '"').split())


def apply_hunks(lines: Sequence[str], found: Iterable[Hunk]) -> list[str]:
    """The text with its hunks replaced."""
    made = list(lines)
    for hunk in reversed(list(found)):
        made[hunk.start : hunk.end] = hunk.lines
    return made


def combine_changes(base: Sequence[str], typed: Sequence[str], theirs: Sequence[str]) -> list[Hunk] | None:
    """What to replace in `typed` so that it also has what `theirs` changed of `base`; None: both changed a line.

    Where both put in lines at one place, theirs come first.
    """
    mine = hunks(base, typed)
    found = []
    offset = 0
    k = 0
    for hunk in hunks(base, theirs):
        if hunk in mine:
            continue
        if any(_touch(hunk, other) for other in mine):
            return None
        while k < len(mine) and mine[k].end <= hunk.start and mine[k].start < max(hunk.start, mine[k].end):
            offset += len(mine[k].lines) - (mine[k].end - mine[k].start)
            k += 1
        found.append(Hunk(hunk.start + offset, hunk.end + offset, hunk.lines))
    return found


def merge_theirs(base: Sequence[str], typed: Sequence[str], theirs: Sequence[str]) -> list[str]:
    """What was typed with all that `theirs` changed of `base`; a line that both have otherwise is theirs."""
    changed = hunks(base, theirs)
    mine = [hunk for hunk in hunks(base, typed) if hunk not in changed]
    left = [hunk for hunk in mine if not any(_touch(hunk, other) for other in changed)]
    return apply_hunks(
        base, sorted([*changed, *left], key=lambda hunk: hunk[:2])
    )  # theirs first where both put lines in


def typed_alone(base: Sequence[str], typed: Sequence[str], program: Sequence[str]) -> list[str]:
    """The program's lines with what was typed since `base`, which means the program.

    All that was typed where both have another line than `base`, or other imports.
    """
    found = combine_changes(base, typed, program)
    is_sure = found is not None and _import_lines(base) == _import_lines(program)
    return apply_hunks(typed, found) if found and is_sure else list(typed)


def _import_lines(lines: Iterable[str]) -> list[str]:
    return [line for line in lines if line.lstrip().startswith(("import ", "from "))]


def own_imports(written: Sequence[str], program: Sequence[str]) -> list[str]:
    """The imports a text begins with; [] where they are those that the program prints itself."""
    mine, theirs = written[: _imports(written)[1]], program[: _imports(program)[1]]
    return list(mine) if [*filter(None, mine)] != [*filter(None, theirs)] else []


def with_imports(own: Sequence[str], program: Sequence[str]) -> list[str]:
    """The program's lines with the imports a person wrote, where these bind all that its own do."""
    (mine, _), (theirs, start) = _imports(own), _imports(program)
    return [*own, *program[start:]] if theirs and theirs.items() <= mine.items() else list(program)


def _imports(lines: Sequence[str]) -> tuple[dict[str, str], int]:
    """What the imports at the beginning bind, by name, and behind which line they end."""
    end = depth = 0
    for k, line in enumerate(lines):
        if line.strip() and not depth and not line.startswith(("import ", "from ")):
            break
        depth += line.count("(") - line.count(")")
        end = k + 1 if line.strip() and not depth else end
    try:
        body = ast.parse("\n".join(lines[:end])).body
    except (SyntaxError, ValueError):
        return {}, 0
    bound: dict[str, str] = {}
    for statement in body:
        if isinstance(statement, ast.Import):
            bound |= {one.asname or one.name: one.name for one in statement.names}
        elif isinstance(statement, ast.ImportFrom):
            bound |= {one.asname or one.name: f"{statement.module}.{one.name}" for one in statement.names}
    return bound, end


def is_spacing(graph: Graph, edits: Edits) -> bool:
    """Whether nothing is changed but blank lines between statements."""
    return all(
        isinstance(edit, ReplaceNode)
        and edit.node.id in graph.nodes
        and msgspec.structs.replace(edit.node, blank_before=False)
        == msgspec.structs.replace(graph.nodes[edit.node.id], blank_before=False)
        for edit in edits
    )


def _touch(one: Hunk, other: Hunk) -> bool:
    """Whether both replace a line, or one puts lines into the midst of what the other replaces."""
    if one.start == one.end or other.start == other.end:
        return other.start < one.start < other.end or one.start < other.start < one.end
    return max(one.start, other.start) < min(one.end, other.end)


class LineMap:
    """Which line of the program each line of the dock shows, while a person types; lines count from 1.

    A line that is being changed still stands for its statement where as many lines were changed as there were.
    """

    def __init__(self, program: Sequence[str], shown: Sequence[str]) -> None:
        """Compare two texts."""
        self._hunks = hunks(program, shown)
        self.count = len(shown)

    def shown(self, line: int) -> int:
        """The line of the dock where a line of the program stands; 0: nowhere."""
        offset = 0
        for start, end, lines in self._hunks:
            if line - 1 < start:
                break
            if line - 1 < end:
                return line + offset if end - start == len(lines) else 0
            offset += len(lines) - (end - start)
        return line + offset

    def program(self, line: int) -> int:
        """The line of the program that a line of the dock stands for; 0: none."""
        offset = 0
        for start, end, lines in self._hunks:
            first = start + offset
            if line - 1 < first:
                break
            if line - 1 < first + len(lines):
                return line - offset if end - start == len(lines) else 0
            offset += len(lines) - (end - start)
        return line - offset

    def program_end(self, line: int) -> int:
        """The line of the program that ends where a line of the dock does; 0: none."""
        return self.program(line)

    def is_spelled_otherwise(self, line: int) -> bool:
        """Whether a line of the dock says something else than the program."""
        return self.is_touched(line)

    def is_touched(self, line: int) -> bool:
        """Whether a line of the dock is being changed: it says something else than the program."""
        offset = 0
        for start, end, lines in self._hunks:
            if start + offset <= line - 1 < start + offset + len(lines):
                return True
            offset += len(lines) - (end - start)
        return False


def error_in(error: NotReadable, read: Sequence[str], shown: Sequence[str]) -> NotReadable | None:
    """What is wrong in a text that was read, at the lines of the one that is shown; None where one says otherwise."""
    lines = LineMap(read, shown)
    placed = []
    for one in error.all:
        line = lines.shown(one.line)
        if not 0 < line <= len(shown) or one.line > len(read) or shown[line - 1] != read[one.line - 1]:
            return None
        placed.append(NotReadable(one.reason, line, one.column))
    first, *others = placed
    return NotReadable(first.reason, first.line, first.column, tuple(others))
