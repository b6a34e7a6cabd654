"""Tables of reStructuredText: with a rule of "=" above each column, or lists of lists."""

import re

from gradstudio.operators.docstrings.indentation import Lines, dedent, is_blank
from gradstudio.operators.docstrings.inline_markup import Targets, spans
from gradstudio.operators.docstrings.model import Spans, Table

RULE = re.compile(r"^\s*={3,}(?:\s+={3,})+\s*$")


def simple_end(lines: Lines, start: int) -> int:
    """Where the table that begins with a rule ends; `start` when there is no rule that ends it."""
    last = start
    for at in range(start + 1, len(lines)):
        if RULE.match(lines[at]):
            last = at
            if at + 1 >= len(lines) or is_blank(lines[at + 1]):
                break
    return last + 1 if last > start else start


def read_simple_table(lines: Lines, targets: Targets) -> Table:
    """A table whose columns begin where its rule does."""
    edges = [found.start() for found in re.finditer(r"=+", lines[0])]
    rows: list[list[str]] = []
    heads = 0
    for line in lines[1:]:
        if RULE.match(line):
            heads = heads or len(rows)
            continue
        if is_blank(line):
            continue
        cells = _cells(line, edges)
        if rows and not cells[0] and len(rows) > heads:
            rows[-1] = [f"{above} {cell}".strip() for above, cell in zip(rows[-1], cells, strict=True)]
        else:
            rows.append(cells)
    heads = heads if heads < len(rows) else 0
    return Table(tuple(_row(row, targets) for row in rows), heads)


def _cells(line: str, edges: list[int]) -> list[str]:
    """The cells of a line; a word that runs over an edge stays whole."""
    cuts = [0]
    for edge in edges[1:]:
        cut = min(edge, len(line))
        while 0 < cut < len(line) and not line[cut - 1].isspace() and not line[cut].isspace():
            cut += 1
        cuts.append(max(cut, cuts[-1]))
    return [line[start:end].strip() for start, end in zip(cuts, [*cuts[1:], len(line)], strict=True)]


def read_list_table(lines: Lines, targets: Targets) -> Table | None:
    """The body of ``list-table``: ``* - cell`` begins a row, ``- cell`` goes on with it."""
    rows: list[list[str]] = []
    heads = 0
    for line in dedent(lines):
        if option := re.match(r":header-rows:\s*(\d+)", line):
            heads = int(option[1])
        elif found := re.match(r"^\*\s+-\s*(.*)$", line):
            rows.append([found[1]])
        elif rows and (found := re.match(r"^\s+-\s*(.*)$", line)):
            rows[-1].append(found[1])
        elif rows and line.strip():
            rows[-1][-1] += " " + line.strip()
    return Table(tuple(_row(row, targets) for row in rows), heads) if rows else None


def _row(cells: list[str], targets: Targets) -> tuple[Spans, ...]:
    return tuple(spans(cell, targets) for cell in cells)
