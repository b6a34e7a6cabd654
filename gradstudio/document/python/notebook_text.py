"""A Jupyter notebook as one Python text: a frame a cell, its Markdown as the frame's note. Nothing is executed."""

import ast
import re
from pathlib import Path

import msgspec

from gradstudio.document.errors import UnreadableFile
from gradstudio.document.file import bytes_of_document
from gradstudio.program.errors import NotReadable
from gradstudio.program.reading.parser import parse

SUFFIX = ".ipynb"
LEFT_OUT = "not Python, left out:"
MAX_TITLE = 60
MAX_TRIALS = 50
"""So many lines that are no Python are looked for one by one; a cell with more is kept as a comment."""
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+(.*?)\s*#*\s*$")
_REGION = re.compile(r"^\s*#\s*(end)?region\b", re.MULTILINE)
_JUPYTERS = re.compile(r"^\s*(?:[%!?]|[\w., *()\[\]]+=\s*[%!])|\?\s*$")
_PYTHON_MAGICS = frozenset({"time", "timeit", "capture", "prun", "python", "python3"})
"""Magics of a whole cell below which Python stands."""
_TIMED = re.compile(r"^\s*(%time)\s+(.*[^\\])$")
"""A statement that runs and binds its names as any other; Jupyter tells how long it took."""


class _Cell(msgspec.Struct, frozen=True):
    cell_type: str = ""
    source: str | list[str] = ""
    input: str | list[str] = ""  # what nbformat 3 calls the source

    @property
    def text(self) -> str:
        """Its lines, without blank ones around them."""
        source = self.source or self.input
        whole = source if isinstance(source, str) else "".join(source)
        return whole.replace("\r\n", "\n").replace("\r", "\n").replace("\0", " ").strip("\n")


class _Worksheet(msgspec.Struct, frozen=True):
    cells: list[_Cell] = []


class _Notebook(msgspec.Struct, frozen=True):
    cells: list[_Cell] | None = None
    worksheets: list[_Worksheet] = []


def load_notebook(path: Path) -> str:
    """The Python text of a notebook's file; what its cells have put out is not looked at.

    Raises:
        UnreadableFile: it is no notebook.
    """
    return notebook_text(bytes_of_document(path))


def notebook_text(data: bytes) -> str:
    """The Python text of a notebook.

    Raises:
        UnreadableFile: it is no notebook.
    """
    try:
        content = msgspec.json.decode(data.removeprefix(b"\xef\xbb\xbf"), type=_Notebook)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UnreadableFile(f"this is no notebook: {error}") from error
    cells = content.cells
    if cells is None and content.worksheets:
        cells = [cell for sheet in content.worksheets for cell in sheet.cells]
    if cells is None:
        raise UnreadableFile("this is no notebook: it has no cells")
    return _as_text(cells)


def _as_text(cells: list[_Cell]) -> str:
    parts: list[str] = []
    notes: list[str] = []
    number = 0
    for cell in cells:
        if cell.cell_type != "code":
            notes += cell.text.split("\n") if cell.text.strip() else []
            continue
        number += 1
        if not cell.text.strip():
            continue
        code = _python(cell.text)
        if not _REGION.search(code) and not _has_statements(code):
            parts.append(code)  # without a frame: what is written above it belongs to the next that has one
            continue
        parts.append(_framed(code, notes, f"Cell {number}"))
        notes = []
    if notes:
        parts.append("\n".join(_comments(notes)))
    return "\n\n".join(parts) + "\n"


def _framed(code: str, notes: list[str], title: str) -> str:
    """A cell in its frame; one that has frames of its own gets none."""
    heading = next((found[1] for line in notes if (found := _HEADING.match(line)) and found[1]), "")
    title = "".join(c if c.isprintable() else " " for c in heading)[:MAX_TITLE].strip() or title
    lines = [] if heading == title and len(notes) == 1 else _comments(notes)
    if _REGION.search(code):
        return "\n".join([*lines, code])
    return "\n".join([*lines, f"# region: {title}", code, "# endregion"])


def _comments(lines: list[str]) -> list[str]:
    """Markdown as comments, none of which opens or closes a frame."""
    texts = map(_as_comment, lines)
    return [
        text.replace("region", "region\N{ZERO WIDTH NON-JOINER}", 1) if _REGION.match(text) else text for text in texts
    ]


def _has_statements(code: str) -> bool:
    """Whether there is anything that runs where it stands."""
    kinds = ast.Import | ast.ImportFrom | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    return any(not isinstance(statement, kinds) for statement in parse(code).body)


# ------------------------------------------------------------------ what is Jupyter's own


def _python(code: str) -> str:
    """A cell's text as Python: lines that only Jupyter knows become comments, and say so."""
    lines = code.split("\n")
    first = next((number for number, line in enumerate(lines) if line.strip()), 0)
    if lines[first].startswith("%%"):
        lines[first] = _left_out(lines[first])
        if lines[first].partition("%%")[2].partition(" ")[0] not in _PYTHON_MAGICS:
            return "\n".join([*lines[: first + 1], *map(_as_comment, lines[first + 1 :])])
    for _ in range(MAX_TRIALS):
        fault = _fault("\n".join(lines))
        if fault is None:
            return "\n".join(lines)
        number = _begin(lines, fault - 1)
        if not (0 <= number < len(lines) and _JUPYTERS.search(lines[number])):
            break
        _leave_out(lines, number)
    return "\n".join([f"# {LEFT_OUT} this cell", *map(_as_comment, code.split("\n"))])


def _begin(lines: list[str], number: int) -> int:
    """Where the line begins that goes on here."""
    while 0 < number <= len(lines) and lines[number - 1].endswith("\\") and "#" not in lines[number - 1]:
        number -= 1
    return number


def _leave_out(lines: list[str], number: int) -> None:
    """Make a comment of a line and of those that it goes on in."""
    goes_on = lines[number].endswith("\\")
    lines[number] = _left_out(lines[number])
    while goes_on and number + 1 < len(lines):
        number += 1
        goes_on = lines[number].endswith("\\")
        lines[number] = _as_comment(lines[number])


def _left_out(line: str) -> str:
    """In a block something has to stand where the line stood."""
    indent = line[: len(line) - len(line.lstrip())]
    timed = _TIMED.match(line)
    if timed is not None and _fault(timed[2]) is None:
        return f"{indent}{timed[2]}  # {LEFT_OUT} {timed[1]}"
    return f"{indent}{'pass  ' if indent else ''}# {LEFT_OUT} {line.strip()}"


def _as_comment(line: str) -> str:
    return f"# {line}".rstrip()


def _fault(code: str) -> int | None:
    """The line at which a text is no Python; None when it is."""
    try:
        parse(code)
    except NotReadable as error:
        return error.line
    return None
