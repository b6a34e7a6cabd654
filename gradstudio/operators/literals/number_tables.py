"""Tables of numbers as other programs write them: spreadsheets, CSV, what numpy and torch print."""

import re

from gradstudio.late_pattern import late
from gradstudio.operators.errors import LiteralError

_WRAPPED = late(
    r"(?:torch\.|np\.|numpy\.)?(?:tensor|array|Tensor|as_tensor|asarray|Parameter containing:\s*tensor)\((.*)\)",
    re.DOTALL,
)
_KEYWORDS = late(
    r",\s*(?:dtype|device|grad_fn|requires_grad|shape|size)\s*=\s*(?:<[^<>]*>|[\w.]+(?:\([^()]*\))?|'[^']*'|\"[^\"]*\")\s*$"
)
MOST_KEYWORDS = 6
"""So many of them a call can have."""
_NUMBER = r"(?:\d[\d_]*(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?j?|inf|nan|True|False"
_GAP = late(rf"((?:^|(?<=[\s\[(,]))[-+]?(?:{_NUMBER}))\s+(?=[-+]?(?:{_NUMBER})(?:[\s\]),]|$))")
_ROWS = late(r"([\])])\s*(?=[\[(])")
_TERM = late(rf"[-+]?(?:{_NUMBER})")


def as_lists(text: str) -> str:
    """Nested lists, as Python writes them, for a table as other programs do; other texts come back as they are.

    Raises:
        LiteralError: numbers are missing in it.
    """
    text = _unwrapped(text.strip())
    if text[:1] in "[(":
        return _with_commas(text)
    if "\n" in text or "\t" in text or ";" in text:
        return _table(text)
    return _gaps(text)


def _unwrapped(text: str) -> str:
    match = _WRAPPED.fullmatch(text)
    if match is None:
        return text
    inner = match[1].strip()
    for _ in range(MOST_KEYWORDS):
        cut = _KEYWORDS.search(inner)
        if cut is None:
            break
        inner = inner[: cut.start()]
    return inner.rstrip(", \n")


def _with_commas(text: str) -> str:
    """`[[1. 2.] [3. 4.]]`, as numpy prints it, with commas."""
    if "..." in text:
        raise LiteralError("'...' stands where numbers were left out when this was printed; all are needed.")
    return _gaps(_ROWS.sub(r"\1, ", text))


def _gaps(text: str) -> str:
    """A comma in each gap between two numbers; `1 - 2` is arithmetic, `1 -2` are two numbers."""
    return _GAP.sub(r"\1, ", text)


def _table(text: str) -> str:
    lines = [line.strip(" \r") for line in re.split(r"\n" if "\n" in text else r"[\n;]", text)]
    rows = [_cells(line, number) for number, line in enumerate(lines, 1) if line.strip(" ,;\t")]
    if all(len(row) == 1 for row in rows):
        return f"[{', '.join(row[0] for row in rows)}]"
    if len(rows) == 1:
        return f"[{', '.join(rows[0])}]"
    joined = (f"[{', '.join(row)}]" for row in rows)
    return f"[{', '.join(joined)}]"


def _cells(line: str, number: int) -> list[str]:
    """The cells of a row: between tabs, semicolons or commas, else between spaces."""
    sign = next((sign for sign in "\t;," if sign in line), None)
    cells = [cell.strip() for cell in (line.rstrip(", ") if sign == "," else line).split(sign)]
    if sign in ("\t", ";"):
        cells = [_decimal_comma(cell) for cell in cells]
    for column, cell in enumerate(cells, 1):
        if not cell:
            raise LiteralError(f"Row {number}, column {column} is empty; every cell needs a number.")
        if cell[0].isalpha() and _TERM.fullmatch(cell) is None and "." not in cell:
            raise LiteralError(f"Row {number}, column {column} holds '{cell[:20]}', which is not a number.")
    return cells


def _decimal_comma(cell: str) -> str:
    """`0,5`, as a spreadsheet may have it between tabs, with a point."""
    return cell.replace(",", ".") if re.fullmatch(r"[-+]?\d+,\d+", cell) else cell


def rows_of(literal: str) -> tuple[tuple[str, ...], ...] | None:
    """The cells of a literal that is a list of equally long rows, or one row; None when it is anything else."""
    inner = literal.strip()
    if re.fullmatch(r"\[[^\[\]()]*\]", inner):
        return (_row(inner),)
    if not re.fullmatch(r"\[\s*\[[^\[\]()]*\](?:\s*,\s*\[[^\[\]()]*\])*\s*\]", inner):
        return None
    rows = tuple(_row(row) for row in re.findall(r"\[[^\[\]]*\]", inner[1:-1]))
    return rows if len({len(row) for row in rows}) == 1 else None


def _row(text: str) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in text[1:-1].split(",") if cell.strip())
