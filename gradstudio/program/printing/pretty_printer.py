"""Documents: text with places where it may break, and the printer that decides which do.

The algorithm is that of Wadler ("A prettier printer", 2003) with the conditions that
`ruff format` 0.17 adds to it: groups that ask whether another group broke, and contents that
are measured as if they were broken already.
"""

import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

STEP = 4


class Text(NamedTuple):
    """A text; `offset` is where it stands in the logical line, -1 when it was added."""

    text: str
    offset: int = -1


class Break(NamedTuple):
    """A new line when its group is broken, else `flat`."""

    flat: str = ""


class Group(NamedTuple):
    """Stays on one line if it fits.

    `key` lets others ask, `when` makes it a group only if that one broke, `expand` breaks it anyway.
    """

    content: "Sequence[Document]"
    key: int = -1
    when: int = -1
    expand: bool = False


class Indent(NamedTuple):
    """One step deeper; if `when` is given only when that group broke."""

    content: "Sequence[Document]"
    when: int = -1


class Choice(NamedTuple):
    """One of two contents, by whether a group broke (`key` -1: the one around it)."""

    broken: "Sequence[Document]" = ()
    flat: "Sequence[Document]" = ()
    key: int = -1


class FitsBroken(NamedTuple):
    """Measured as if it were broken, while the group `key` is flat."""

    content: "Sequence[Document]"
    key: int


class BestFit(NamedTuple):
    """Put in parentheses on a line of its own, but only when it fits there."""

    content: "Sequence[Document]"
    key: int


class FirstThatFits(NamedTuple):
    """The first of several contents that fits as it is, else the last, broken where it must be."""

    variants: "Sequence[Sequence[Document]]"


Document = Text | Break | Group | Indent | Choice | FitsBroken | BestFit | FirstThatFits
FIRST_LINE, ALL_LINES = range(2)


class _Command(NamedTuple):
    indent: int
    is_broken: bool
    measure: int
    document: Document


class Layout(msgspec.Struct):
    """The printed lines, and where each text of the logical line went: (offset, length, line, column)."""

    lines: list[str]
    pieces: list[tuple[int, int, int, int]]


def columns(text: str) -> int:
    """How many columns a text takes: a wide character two, a combining one none."""
    if text.isascii():
        return len(text)
    return sum(map(_width, text))


def _width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def lay_out(content: Sequence[Document], indent: int, width: int) -> Layout:
    """Print a document whose first line stands `indent` characters deep."""
    return _Printer(indent, width).run(content)


class _Printer:
    def __init__(self, indent: int, width: int) -> None:
        self.width = width
        self.lines: list[list[str]] = [[]]
        self.column = 0
        self.pending = indent
        self.base = indent
        self.broken: dict[int, bool] = {}
        self.pieces: list[tuple[int, int, int, int]] = []
        self.is_measured = False

    def run(self, content: Sequence[Document]) -> Layout:
        commands = [_Command(self.base, True, FIRST_LINE, document) for document in reversed(content)]
        while commands:
            self._print(commands.pop(), commands)
        return Layout(["".join(line) for line in self.lines], self.pieces)

    def _print(self, command: _Command, rest: list[_Command]) -> None:
        match command.document:
            case Text(text, offset):
                self._write(text, offset)
            case Break(flat):
                if command.is_broken:
                    self._new_line(command.indent)
                else:
                    self._write(flat, -1)
            case Group() as group:
                self._group(command, group, rest)
            case Indent(content, when):
                deeper = STEP if when < 0 or self.broken[when] else 0
                _push(rest, command._replace(indent=command.indent + deeper), content)
            case Choice(broken, flat, key):
                is_broken = self.broken[key] if key >= 0 else command.is_broken
                _push(rest, command, broken if is_broken else flat)
            case FitsBroken(content, key):
                if not self.broken.get(key, command.is_broken):
                    self.is_measured = False
                _push(rest, command, content)
            case BestFit(content, key):
                self._best_fit(command, content, key, rest)
            case FirstThatFits(variants):
                self._first_that_fits(command, variants, rest)

    def _group(self, command: _Command, group: Group, rest: list[_Command]) -> None:
        is_broken = command.is_broken
        if group.when < 0 or self.broken[group.when]:
            if group.key >= 0:
                self.broken[group.key] = False  # what the contents ask while they are measured
            is_broken = group.expand or self._group_breaks(command, group.content, rest)
            if group.key >= 0:
                self.broken[group.key] = is_broken
        _push(rest, command._replace(is_broken=is_broken), group.content)

    def _group_breaks(self, command: _Command, content: Sequence[Document], rest: list[_Command]) -> bool:
        if not command.is_broken and self.is_measured:
            return False
        self.is_measured = True
        return not self._fits([command._replace(is_broken=False, document=d) for d in reversed(content)], rest)

    def _best_fit(self, command: _Command, content: Sequence[Document], key: int, rest: list[_Command]) -> None:
        self.broken[key] = False
        breaks = self.broken[key] = self._group_breaks(command, content, rest)
        if breaks:
            inner = command._replace(indent=command.indent + STEP, measure=ALL_LINES, is_broken=True)
            opened = [inner._replace(document=d) for d in reversed((Text("("), Break(), *content, Break(), Text(")")))]
            if not self._fits(opened, rest):
                breaks = self.broken[key] = False
        if breaks:
            inner = command._replace(indent=command.indent + STEP, is_broken=True)
            _push(rest, command._replace(is_broken=True), (Break(), Text(")")))
            _push(rest, inner, (Text("("), Break(), *content))
        else:
            _push(rest, command._replace(is_broken=False), content)

    def _first_that_fits(self, command: _Command, variants: Sequence[Sequence[Document]], rest: list[_Command]) -> None:
        self.is_measured = True
        flat = command._replace(is_broken=False)
        for variant in variants[:-1]:
            if self._fits([flat._replace(document=d) for d in reversed(variant)], rest):
                _push(rest, flat, variant)
                return
        _push(rest, command._replace(is_broken=True), variants[-1])

    def _write(self, text: str, offset: int) -> None:
        if not text:
            return
        if self.pending:
            self.lines[-1].append(" " * self.pending)
            self.column, self.pending = self.pending, 0
        if offset >= 0:
            self.pieces.append((offset, len(text), len(self.lines) - 1, sum(map(len, self.lines[-1]))))
        self.lines[-1].append(text)
        self.column += columns(text)

    def _new_line(self, indent: int) -> None:
        self.is_measured = False
        if self.column or self.pending:
            self.lines.append([])
        self.column, self.pending = 0, indent

    def _fits(self, commands: list[_Command], rest: list[_Command]) -> bool:
        """Whether what follows fits up to the first break of the lines after it."""
        column = self.column + self.pending
        place = len(rest)
        while True:
            if not commands:
                if place == 0:
                    return True
                place -= 1
                commands.append(rest[place])
                continue
            command = commands.pop()
            match command.document:
                case Text(text):
                    column += columns(text)
                    if column > self.width:
                        return False
                case Break(flat):
                    if not command.is_broken:
                        column += len(flat)
                        if column > self.width:
                            return False
                    elif command.measure == FIRST_LINE:
                        return True
                    else:
                        column = command.indent
                case other:
                    self._measure(command, other, commands)

    def _measure(self, command: _Command, document: Document, commands: list[_Command]) -> None:
        match document:
            case Group(content, key, _, expand):
                command = command._replace(is_broken=command.is_broken or expand)
                if key >= 0:
                    self.broken[key] = command.is_broken
                _push(commands, command, content)
            case Indent(content, when):
                deeper = STEP if when < 0 or self.broken.get(when, command.is_broken) else 0
                _push(commands, command._replace(indent=command.indent + deeper), content)
            case Choice(broken, flat, key):
                is_broken = self.broken.get(key, command.is_broken) if key >= 0 else command.is_broken
                _push(commands, command, broken if is_broken else flat)
            case FitsBroken(content, key):
                if not self.broken.get(key, command.is_broken):
                    command = command._replace(is_broken=True, measure=ALL_LINES)
                _push(commands, command, content)
            case BestFit(content, _):
                _push(commands, command, content)
            case FirstThatFits(variants):
                _push(commands, command, variants[-1 if command.is_broken else 0])


def _push(commands: list[_Command], like: _Command, content: Sequence[Document]) -> None:
    commands.extend(like._replace(document=document) for document in reversed(content))
