"""A text that was typed beside the program as it is printed: which line is which, and what an edit changes in it."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from gradstudio.ui.docks.code.line_diff import Hunk, LineMap, apply_hunks, hunks

if TYPE_CHECKING:
    from gradstudio.program.original.line_pairs import LinePair  # the first picture reads no text

DEFINING = ("def ", "class ", "async def ", "@")
"""How lines begin that stand elsewhere in a text than they are printed."""


class TypedText:
    """Lines as a person typed them, beside those that the program is printed as.

    Attributes:
        lines: as typed.
        program: as printed.
        typed: by printed line, the typed one; from 1, as all below.
        printed: by typed line, the printed one.
        ends: by the last typed line of a statement, its last printed one.
        long: first and last printed line of each statement that is longer than a line.
    """

    def __init__(
        self,
        lines: Sequence[str],
        program: Sequence[str],
        typed: Mapping[int, int],
        printed: Mapping[int, int],
        ends: Mapping[int, int],
        long: Iterable[tuple[int, int]] = (),
    ) -> None:
        """Hold them."""
        self.lines, self.program = list(lines), list(program)
        self.typed, self.printed, self.ends = dict(typed), dict(printed), dict(ends)
        self.long = set(long)

    @classmethod
    def of_pairs(cls, lines: Sequence[str], program: Sequence[str], pairs: "Iterable[LinePair]") -> "TypedText":
        """Of the statements that are in both."""
        made = cls(lines, program, {}, {}, {})
        for one in pairs:
            count = one.printed_last - one.printed
            if count or one.typed_last > one.typed:
                made.long.add((one.printed, one.printed_last))
            for below in range(count + 1):
                made.typed[one.printed + below] = min(one.typed + below, one.typed_last)
            made.typed[one.printed_last] = one.typed_last if count else one.typed
            for below in range(one.typed_last - one.typed + 1):
                made.printed.setdefault(one.typed + below, min(one.printed + below, one.printed_last))
            made.ends[one.typed_last] = max(one.printed_last, made.ends.get(one.typed_last, 0))
        return made

    def carried(self, lines: Sequence[str], program: Sequence[str]) -> "TypedText":
        """The same statements in a text and a program that were changed; what is new in both at one place is one."""
        here, there = LineMap(self.lines, lines), LineMap(self.program, program)
        typed = _moved(self.typed, there, here)
        printed = _moved(self.printed, here, there)
        ends = _moved(self.ends, here, there)
        new = [k for k, line in enumerate(program, 1) if line.strip() and k not in typed and there.is_touched(k)]
        own = [k for k, line in enumerate(lines, 1) if line.strip() and k not in printed and here.is_touched(k)]
        if len(new) == len(own):
            typed |= zip(new, own, strict=True)
            printed |= zip(own, new, strict=True)
            ends |= zip(own, new, strict=True)
        long = ((there.shown(first), there.shown(last)) for first, last in self.long)
        return TypedText(lines, program, typed, printed, ends, (pair for pair in long if all(pair)))

    def edited(self, program: Sequence[str]) -> "TypedText | None":
        """The text with what the canvas changed of the program; None where it has no lines of its own for that."""
        changes = list[Hunk]()
        for hunk in hunks(self.program, program):
            if hunk.start == hunk.end and not any(map(str.strip, hunk.lines)):
                continue
            change = self._change(hunk)
            if change is None:
                return None
            changes.append(change)
        changes.sort()
        if any(one.end > other.start for one, other in pairwise(changes)):
            return None
        return self.carried(apply_hunks(self.lines, changes), program)

    def _change(self, hunk: Hunk) -> Hunk | None:
        """What changes in the text with some lines of the program; None where that is not sure."""
        if any(line.lstrip().startswith(DEFINING) for line in hunk.lines):
            return None
        gone = [line for line in range(hunk.start + 1, hunk.end + 1) if self.program[line - 1].strip()]
        if not gone:
            return self._put_in(hunk)
        own = sorted(line for line, one in self.printed.items() if one in gone)
        if not self._are_alone(gone, own) or any(_cuts(hunk, first, last) for first, last in self.long):
            return None
        new = self._as_typed([line for line in hunk.lines if line.strip()], gone[0])
        if new is not None and len(new) == len(gone) == len(own):
            new = [
                _margin(after) + changed_alike(*(each.lstrip() for each in (typed, before, after)))
                for typed, before, after in zip(
                    (self.lines[line - 1] for line in own), (self.program[line - 1] for line in gone), new, strict=True
                )
            ]
        return Hunk(own[0] - 1, own[-1], tuple(new)) if new is not None else None

    def _are_alone(self, gone: Sequence[int], own: Sequence[int]) -> bool:
        """Whether printed lines are these typed ones, which stand together, and hold nothing else."""
        if any(self.typed.get(line) not in own for line in gone):
            return False
        span = range(own[0], own[-1] + 1)
        if any(line not in gone and at in span for line, at in self.typed.items()):
            return False
        if any(self.lines[line - 1].strip() and line not in own for line in span):
            return False
        return all(_opens(self.lines[line - 1]) == _opens(self.program[self.printed[line] - 1]) for line in own)

    def _put_in(self, hunk: Hunk) -> Hunk | None:
        """New lines behind the statement that stands above them in the program."""
        above = hunk.start
        while above and not self.program[above - 1].strip():
            above -= 1
        at = max((line for line, one in self.printed.items() if one == above), default=0)
        if not at or _opens(self.lines[at - 1]) != _opens(self.program[above - 1]):
            return None
        new = self._as_typed(hunk.lines, above)
        while new and hunk.start > above and not new[-1].strip():
            new.pop()  # the blank lines above it stay
        return Hunk(at, at, tuple(new)) if new else None

    def _as_typed(self, lines: Sequence[str], beside: int) -> list[str] | None:
        """Printed lines with the indentation of the text beside a printed one; None where it has none so deep."""
        margins: dict[str, set[str]] = {}
        for line, own in self.typed.items():
            margins.setdefault(_margin(self.program[line - 1]), set()).add(_margin(self.lines[own - 1]))
        margins[_margin(self.program[beside - 1])] = {_margin(self.lines[self.typed[beside] - 1])}
        found = [margins.get(_margin(line), set()) if line.strip() else {""} for line in lines]
        if any(len(one) != 1 for one in found):
            return None
        return [min(one) + line.lstrip() for one, line in zip(found, lines, strict=True)]


def changed_alike(typed: str, before: str, after: str) -> str:
    """A typed line in which changes what changed in the printed one; the new one where it has no such words."""
    start = 0
    while start < min(len(before), len(after)) and before[start] == after[start]:
        start += 1
    end = 0
    while end < min(len(before), len(after)) - start and before[-1 - end] == after[-1 - end]:
        end += 1
    while start and (before[start - 1].isalnum() or before[start - 1] in "_."):
        start -= 1
    while end and (before[len(before) - end].isalnum() or before[len(before) - end] in "_."):
        end -= 1
    old = before[start : len(before) - end]
    if old.strip() and typed.count(old) == before.count(old) == 1:
        return typed.replace(old, after[start : len(after) - end])
    return after


def _cuts(hunk: Hunk, first: int, last: int) -> bool:
    """Whether a change takes a part of a statement that stands on these lines, and not all of it."""
    return first <= hunk.end and last > hunk.start and not hunk.start < first <= last <= hunk.end


def _opens(line: str) -> bool:
    """Whether a block stands below a line."""
    return line.partition("#")[0].rstrip().endswith(":")


def _margin(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _moved(pairs: Mapping[int, int], here: LineMap, there: LineMap) -> dict[int, int]:
    moved = ((here.shown(line), there.shown(other)) for line, other in pairs.items())
    return {line: other for line, other in moved if line and other}


class TypedMap:
    """As `LineMap`, where the dock shows what was typed: which line of the program each of its lines shows.

    Lines of another spelling stand for their statement as a whole: columns are those of the program.
    """

    def __init__(self, typed: TypedText, shown: Sequence[str]) -> None:
        """Beside what stands in the dock."""
        self._typed, self._shown = typed, list(shown)
        self._lines = LineMap(typed.lines, shown)
        self.count = len(shown)

    def shown(self, line: int) -> int:
        """The line of the dock where a line of the program stands; 0: nowhere."""
        own = self._typed.typed.get(line, 0)
        return self._lines.shown(own) if own else 0

    def program(self, line: int) -> int:
        """The line of the program that a line of the dock stands for; 0: none."""
        own = self._lines.program(line)
        return self._typed.printed.get(own, 0) if own else 0

    def program_end(self, line: int) -> int:
        """The line of the program that ends where a line of the dock does; 0: none."""
        own = self._lines.program(line)
        return self._typed.ends.get(own, 0) if own else 0

    def is_touched(self, line: int) -> bool:
        """Whether a line of the dock is being changed."""
        return self._lines.is_touched(line)

    def is_spelled_otherwise(self, line: int) -> bool:
        """Whether a line of the dock says something else than the program does there."""
        at = self.program(line)
        return not at or self._shown[line - 1] != self._typed.program[at - 1]
