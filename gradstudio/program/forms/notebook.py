"""Notebook: a program as a Jupyter notebook (nbformat 4.5), a cell for each of its paragraphs."""

import hashlib
import json
import re
import textwrap
from collections.abc import Iterator

from gradstudio.graph.analysis.program_analysis import analyse
from gradstudio.graph.model import ROOT, BodyId, Graph, ItemId
from gradstudio.program.printing.body_printer import Body
from gradstudio.program.printing.comment_lines import comment_lines
from gradstudio.program.printing.definition_printer import definition_lines, printed_bodies
from gradstudio.program.printing.name_references import References
from gradstudio.program.printing.script_report import report_calls
from gradstudio.program.printing.statement_printer import StatementPrinter
from gradstudio.program.write import header_lines, import_lines, needs_device

_FILE_FOLDER = "Path(__file__).parent"
_HERE = "Path.cwd()"
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~$&])")
_LIST = re.compile(r"^(\s*)([-+=]|\d+[.)])(?=\s|$)", re.MULTILINE)


def write_notebook(graph: Graph, *, stem: str = "program", report: bool = True) -> str:
    """The text of a ``.ipynb``; its stored tensors lie in ``<stem>.tensors`` beside it.

    With `report` its last cell prints all values.
    """
    cells = [cell for cell in _cells(graph, stem, report) if cell[1].strip()]
    ids: set[str] = set()
    content = {
        "cells": [_cell(kind, text, ids) for kind, text in cells],
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(content, indent=1, ensure_ascii=False).encode("utf-8", "replace").decode() + "\n"


def write_cells(graph: Graph, *, stem: str = "program", report: bool = True) -> str:
    """The notebook as one text with a ``# %%`` line above each cell, which editors read as cells too."""
    lines: list[str] = []
    for kind, text in _cells(graph, stem, report):
        if text.strip():
            shown = [f"# {line}".rstrip() for line in text.split("\n")] if kind == "markdown" else [text]
            lines += ["# %% [markdown]" if kind == "markdown" else "# %%", *shown, ""]
    return "\n".join(lines)


def _cells(graph: Graph, stem: str, report: bool) -> Iterator[tuple[str, str]]:
    """The kind and the text of each cell."""
    analysis = analyse(graph)
    references = References(analysis)
    device = needs_device(analysis)
    bodies = printed_bodies(graph, stem)
    body = _Paragraphs(StatementPrinter(references, device=device, stem=stem, bodies=bodies))
    body.write(ROOT, 0)
    body.end()
    definitions = definition_lines(graph, device, stem, body.imports).lines
    header = [line.replace(_FILE_FOLDER, _HERE) for line in header_lines(graph, device, body.imports)]
    imports = import_lines(body.imports)
    opening = body.cells.pop(0) if body.cells and body.cells[0][0] == "markdown" else ("markdown", "")
    yield opening
    yield "code", "\n".join([*imports, *([""] if imports and header else []), *header])
    yield "code", "\n".join(definitions)
    yield from body.cells
    if report:
        yield "code", "\n".join(report_calls(analysis, references, depth=0))


class _Paragraphs(Body):
    """Collects the statements as cells: a note or a blank line at the outermost level begins one, a region is its own.

    Attributes:
        cells: kind and text of each.
    """

    def __init__(self, printer: StatementPrinter) -> None:
        super().__init__(printer)
        self.cells: list[tuple[str, str]] = []
        self._waiting: list[str] = []

    def note(self, item: ItemId) -> str:
        """A note of the outermost level becomes text between the cells; inside a block it stays a comment."""
        note = super().note(item)
        if not self._is_outermost(item):
            return note
        owner = self.graph.nodes.get(item) or self.graph.blocks[item]
        self._waiting += [note] if note else []
        if item not in self.references.nested:
            if self._waiting or owner.blank_before:
                self.end()
            self._text("\n".join(self._waiting))
            self._waiting = []
        return ""

    def item(self, item: ItemId, depth: int) -> bool:
        """Write one item; the title of an outermost region is a heading."""
        block = self.graph.blocks.get(item)
        is_region = block is not None and block.kind == "group" and item not in self.validity.incomplete
        if block is None or not is_region or not self._is_outermost(item):
            return super().item(item, depth)
        self.end()
        level = 2 + len([body for body in self.graph.ancestors(item) if body != ROOT])
        self.cells.append(("markdown", f"{'#' * min(level, 6)} {_escaped(' '.join(block.title.split()))}".rstrip()))
        holds = self.write(BodyId(item), depth)
        self.end()
        return holds

    def tail(self, body: BodyId) -> str:
        """The comment at the end of the program or of an outermost region is text below its last cell."""
        tail = super().tail(body)
        if body != ROOT and not (self.graph.blocks[ItemId(body)].kind == "group" and self._is_outermost(ItemId(body))):
            return tail
        if tail:
            self.end()
            self._text(tail)
        return ""

    def end(self) -> None:
        """What was written since the last cell is one."""
        while self.lines and not self.lines[-1]:
            self.lines.pop()
        start = next((k for k, line in enumerate(self.lines) if line), len(self.lines))
        if self.lines[start:]:
            self.cells.append(("code", "\n".join(self.lines[start:])))
        self.lines.clear()

    def _text(self, note: str) -> None:
        if note.strip():
            self.cells.append(("markdown", _paragraph(note)))

    def _is_outermost(self, item: ItemId) -> bool:
        around = (self.graph.blocks[ItemId(body)].kind for body in self.graph.ancestors(item) if body != ROOT)
        return all(kind == "group" for kind in around)


def _paragraph(note: str) -> str:
    """A note as Markdown that shows exactly its words, a line break at every line."""
    lines = [line[2:] for line in comment_lines(note.strip("\n"))]
    return "  \n".join(_escaped(line) for line in lines)


def _escaped(text: str) -> str:
    shown = _MARKDOWN.sub(r"\\\1", textwrap.dedent(text).strip())
    return _LIST.sub(r"\1\\\2", shown)


def _cell(kind: str, text: str, ids: set[str]) -> dict[str, object]:
    """A cell as nbformat has it; its id comes from its text, so that the same program gives the same file."""
    digest = hashlib.sha256(f"{kind}\n{text}".encode("utf-8", "replace")).hexdigest()
    number = 0
    identity = digest[:8]
    while identity in ids:
        number += 1
        identity = f"{digest[:8]}-{number}"
    ids.add(identity)
    source = text.splitlines(keepends=True) if kind == "markdown" else _code_lines(text)
    if kind == "markdown":
        return {"cell_type": "markdown", "id": identity, "metadata": {}, "source": source}
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": identity,
        "metadata": {},
        "outputs": [],
        "source": source,
    }


def _code_lines(text: str) -> list[str]:
    lines = text.split("\n")
    return [f"{line}\n" for line in lines[:-1]] + lines[-1:]
