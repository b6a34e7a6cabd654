"""A Jupyter notebook as one Python text: a frame a cell, its Markdown as the frame's note. Nothing is executed."""

import ast
import re
from itertools import pairwise
from pathlib import Path

import msgspec

from gradstudio.document.errors import UnreadableFile
from gradstudio.document.file import bytes_of_document
from gradstudio.graph.text.code_text import Part, with_parts
from gradstudio.program.errors import NotReadable
from gradstudio.program.reading.parser import parse

SUFFIX = ".ipynb"
LEFT_OUT = "not Python, left out:"
OUT_OF_ORDER = "When this notebook was saved its cells had run in another order:"
"""The first words of a text whose notebook was run otherwise than from top to bottom."""
MAX_COUNTS = 20
"""So many numbers of cells are named."""
MAX_TITLE = 60
MAX_TRIALS = 50
"""So many lines that are no Python are looked for one by one; a cell with more is kept as a comment."""
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+(.*?)\s*#*\s*$")
_BINDS_DISPLAY = re.compile(
    r"\bdisplay\s*=[^=]|\bdef\s+display\b|\bimport\b[^.\n]*\bdisplay\b|\bfrom\s+IPython.*\bimport\s*\*"
)
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
    execution_count: object = None
    prompt_number: object = None  # what nbformat 3 calls the count

    @property
    def count(self) -> int:
        """As how manyeth it ran; 0 where it did not, or is no code."""
        count = self.execution_count or self.prompt_number
        return count if isinstance(count, int) and self.cell_type == "code" and self.text.strip() else 0

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


def ran_in_another_order(text: str) -> bool:
    """Whether a text is that of a notebook whose cells had run in another order than they stand in."""
    return text.startswith(f"# {OUT_OF_ORDER}")


def _as_text(cells: list[_Cell]) -> str:
    parts = _order_words([cell.count for cell in cells if cell.count])
    notes: list[str] = []
    number = 0
    shows = not any(_BINDS_DISPLAY.search(cell.text) for cell in cells)
    for cell in cells:
        if cell.cell_type != "code":
            notes += cell.text.split("\n") if cell.text.strip() else []
            continue
        number += 1
        if not cell.text.strip():
            continue
        code = _python(cell.text)
        if shows and "display(" in code:
            code = _printed(code)
        if not _REGION.search(code) and not _has_statements(code):
            parts.append(code)  # without a frame: what is written above it belongs to the next that has one
            continue
        parts.append(_framed(code, notes, f"Cell {number}"))
        notes = []
    if notes:
        parts.append("\n".join(_comments(notes)))
    return "\n\n".join(parts) + "\n"


def _order_words(counts: list[int]) -> list[str]:
    """A comment that tells of cells that ran in another order than they stand in; none where they did not."""
    if all(before < after for before, after in pairwise(counts)):
        return []
    more = " …" if len(counts) > MAX_COUNTS else ""
    numbers = " ".join(f"[{count}]" for count in counts[:MAX_COUNTS])
    return [f"# {OUT_OF_ORDER}\n# {numbers}{more}\n# Here they run from top to bottom, as Restart and run all does."]


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


def _printed(code: str) -> str:
    """A cell whose `display(…)`, which only notebooks have, is `print(…)`; what it is given stays as it was typed."""
    places: dict[Part, str] = {}
    for call in filter(None, map(_displayed, ast.walk(parse(code)))):
        places[call.lineno, call.col_offset, call.col_offset + len("display")] = "print"
        last = call.args[-1]
        if len(call.args) > 1 and last.end_lineno and last.end_col_offset:  # each on a line of its own
            places[last.end_lineno, last.end_col_offset, last.end_col_offset] = ', sep="\\n"'
    return with_parts(code, places)


def _displayed(node: ast.AST) -> ast.Call | None:
    """The call of a statement that shows values."""
    if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and node.value.args):
        return None
    call = node.value
    has_stars = any(isinstance(value, ast.Starred) for value in call.args)
    is_display = isinstance(call.func, ast.Name) and call.func.id == "display"
    return call if is_display and not (call.keywords or has_stars) else None


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
