"""A table of a person's (CSV, TSV): its columns are chosen as inputs and target, its rows become numbers."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gradstudio.document.data.columns import MISSING_CODE, MOST_CLASSES, Column, column_of
from gradstudio.document.data.model import Choice, Field, Numbers, Progress, Rows, Samples, Work
from gradstudio.document.data.table_text import (
    MOST_CELLS,
    SEPARATORS,
    Cells,
    TextLayout,
    cut,
    guess_layout,
    read_text,
)
from gradstudio.document.data.work import part_of
from gradstudio.document.errors import BadData
from gradstudio.graph.slices import work_through

TARGET_WORDS = ("target", "label", "labels", "class", "y", "species", "output", "outcome")
FIRST_ROWS = 60
"""So many are shown before the rest is read."""
MOST_PLACES = 4
"""Places of missing values that are said one by one."""


class Table:
    """The cells of a text under a layout, as columns.

    Attributes:
        layout: how the text was read: guessed, unless a person chose; None: it was no text.
        columns: of all rows.
    """

    def __init__(
        self, name: str, cells: Cells, columns: Sequence[Column], layout: TextLayout | None, about: str
    ) -> None:
        """What was read (`table_reading`)."""
        self.name, self.layout = name, layout
        self._cells, self.columns = cells, tuple(columns)
        self.fields = tuple(_field(column) for column in self.columns)
        self.description = about

    def proposal(self) -> Choice:
        """A column that is called like a target, else the last one; all others that vary and are no text."""
        useful = [column for column in self.columns if column.kind not in ("text", "empty")]
        by_name = [one for word in TARGET_WORDS for one in useful if one.name.lower() == word]
        last = useful[-1] if len(useful) > 1 else None
        target = by_name[0] if by_name else last
        others = [one for one in useful if one is not target]
        telling = [one for one in others if not (one.is_constant or one.is_key or _is_name(one))]
        inputs = tuple(one.name for one in telling or others)
        return Choice(inputs, target.name if target else "", target.is_class if target else True)

    def samples(self, choice: Choice) -> Work[Samples]:
        """The rows that are whole, or can be filled.

        Raises:
            BadData: no column is chosen, one cannot be what it is chosen for, or no row is left.
        """
        yield Progress("rows", 0, len(self._cells.rows))
        inputs = [self._column(name) for name in choice.inputs]
        target = self._column(choice.target) if choice.target else None
        if not inputs:
            raise BadData("No column is an input. Choose at least one.")
        for column in inputs:
            if column.kind in ("text", "empty"):
                raise BadData(f"'{column.name}' is {_a(column.kind)} and cannot be an input. Leave it out.")
        if target is not None:
            _check_target(target, choice.is_class)
        keeps = np.ones(len(self._cells.rows), dtype=bool)
        needs = [*([] if choice.fills_missing else inputs), *([target] if target else [])]
        for column in needs:
            keeps &= ~column.missing
        if not keeps.any():
            raise BadData("Every row misses a value. Leave out the columns with most of them, or fill them.")
        rows = np.flatnonzero(keeps)
        matrix = np.stack([_as_floats(column)[rows] for column in inputs], axis=1).astype(np.float32)
        goal, classes = _target(target, rows, choice.is_class)
        words = tuple((one.name, one.classes) for one in inputs if one.numbers is None)
        notes = self._missing_notes([*inputs, *([target] if target else [])], len(rows), choice.fills_missing)
        return Samples(Rows(matrix, goal), choice.inputs, classes, words, tuple(notes))

    def preview(self, count: int) -> tuple[tuple[str, ...], ...]:
        """The first rows as they stand in the file."""
        return tuple(tuple(cell.strip()[:200] for cell in row) for row in self._cells.rows[:count])

    def line_of(self, row: int) -> int:
        """The line of the file in which a row begins."""
        return self._cells.lines[row]

    def _column(self, name: str) -> Column:
        found = next((column for column in self.columns if column.name == name), None)
        if found is None:
            raise BadData(
                f"'{self.name}' has no column '{name}'; it has {', '.join(c.name for c in self.columns[:20])}."
            )
        return found

    def _missing_notes(self, columns: Sequence[Column], left: int, fills: bool) -> list[str]:
        """What is missing where, and what became of it."""
        gone = [(int(row), column) for column in columns for row in np.flatnonzero(column.missing)[: MOST_PLACES + 1]]
        count = sum(int(column.missing.sum()) for column in columns)
        notes = []
        if count:
            gone.sort(key=lambda one: one[0])
            places = [self._place(row, column) for row, column in gone[:MOST_PLACES]]
            rest = f" and {count - len(places):,} more" if count > len(places) else ""
            are = "1 value is" if count == 1 else f"{count:,} values are"
            notes.append(f"{are} missing: {', '.join(places)}{rest}")
        out = len(self._cells.rows) - left
        if out:
            notes.append(f"{out:,} row{' is' if out == 1 else 's are'} left out for it")
        if fills and any(column.missing.any() for column in columns):
            notes.append(
                "missing inputs are filled with what is usual in the rows to learn from: mean, commonest class"
            )
        return notes

    def _place(self, row: int, column: Column) -> str:
        where = f"line {self.line_of(row)} '{column.name}'"
        if row in column.odd:
            at = self.columns.index(column)
            where += f" (“{self._cells.rows[row][at].strip()[:30]}” is no number)"
        return where


def table_reading(path: Path, layout: TextLayout | None = None) -> Work[Table]:
    """Read a file; its first rows can be shown before the rest is read.

    Raises:
        BadData: says what, in which line, and what to do.
    """
    text, encoding = read_text(path)
    layout = layout or guess_layout(text)

    def table(most: int) -> Work[Table]:
        cells = yield from cut(text, layout, path.name, most)
        if not cells.rows:
            raise BadData(f"'{path.name}' has a header and no rows. Choose a file with rows below it.")
        return (yield from table_of(path.name, cells, layout, _description(cells, layout, encoding)))

    yield Progress("lines", first=work_through(table(FIRST_ROWS)))
    return (yield from table(MOST_CELLS))


def table_of(name: str, cells: Cells, layout: TextLayout | None, about: str) -> Work[Table]:
    """The table of cells, which are read under a layout, else as Python writes values; `about` describes it."""
    columns: list[Column] = []
    rows, total = len(cells.rows), len(cells.rows) * len(cells.header)
    for title, column in zip(cells.header, zip(*cells.rows, strict=True), strict=True):
        work = column_of(title, column, layout.decimal if layout is not None else ".")
        columns.append((yield from part_of(work, rows * len(columns), total)))
    return Table(name, cells, columns, layout, about)


def _description(cells: Cells, layout: TextLayout, encoding: str) -> str:
    rows, width = len(cells.rows), len(cells.header)
    words = [f"{rows:,} row{'' if rows == 1 else 's'}", f"{width} column{'' if width == 1 else 's'}"]
    words.append(f"separated by {SEPARATORS.get(layout.separator, layout.separator)}")
    if layout.decimal == ",":
        words.append("decimal comma")
    words.append("with a header" if layout.has_header else "without a header")
    if encoding == "cp1252":
        words.append("read as Windows-1252, for it is not UTF-8")
    return ", ".join(words)


def _field(column: Column) -> Field:
    is_useful = column.kind not in ("text", "empty")
    return Field(column.name, column.kind, is_useful, is_useful, column.is_class, column.numbers is not None)


def _is_name(column: Column) -> bool:
    """Whether a text names rows rather than sorts them into classes: most words stand once."""
    if column.numbers is not None or column.codes is None:
        return False
    return len(column.classes) > max(2, len(column.codes) // 2)


def _a(kind: str) -> str:
    return "text that differs in every row" if kind == "text" else kind


def _as_floats(column: Column) -> NDArray[np.float64]:
    if column.numbers is not None:
        return column.numbers
    assert column.codes is not None
    return np.where(column.codes == MISSING_CODE, np.nan, column.codes)


def _check_target(column: Column, is_class: bool) -> None:
    """Refuse a target that can be neither, in words."""
    if column.numbers is not None and not is_class:
        return
    if column.codes is None:
        advice = "Choose another column." if column.numbers is None else "Take it as a number, or choose another."
        raise BadData(
            f"'{column.name}' has more than {MOST_CLASSES:,} different values, too many for classes. {advice}"
        )
    if not column.classes:
        raise BadData(f"'{column.name}' has no values. Choose another column as the target.")


def _target(column: Column | None, rows: NDArray[np.int64], is_class: bool) -> tuple[Numbers | None, tuple[str, ...]]:
    if column is None:
        return None, ()
    if not is_class and column.numbers is not None:
        return column.numbers[rows].astype(np.float32).reshape(-1, 1), ()
    assert column.codes is not None
    codes = column.codes[rows]
    present = np.unique(codes)  # a class may have lost all of its rows
    return np.searchsorted(present, codes).astype(np.int64), tuple(column.classes[k] for k in present.tolist())
