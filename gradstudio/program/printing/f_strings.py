"""Texts with values in them, as Python writes them: ``f"loss {loss:.4f}"``."""

from collections.abc import Callable, Sequence

from gradstudio.graph.text.format_templates import Piece, template_of
from gradstudio.graph.text.literal_text import quote
from gradstudio.program.printing.logical_line import Line

Write = Callable[[Line, str], None]
"""Prints the value of one port."""


def write_formatted(line: Line, parts: Sequence[Piece], paths: Sequence[str], write: Write) -> None:
    """An f-string; where quotes within a hole forbid one before Python 3.12, a call of `format`."""
    scratch = Line()
    for path in paths:
        write(scratch, path)
    values = scratch.text
    if "\\" in values or ("'" in values and '"' in values):
        _write_call(line, parts, paths, write)
        return
    fixed = "".join(piece.text for piece in parts)
    mark = "'" if not _has_quotes(values) and fixed.count('"') > fixed.count("'") else '"'
    left = iter(paths)
    line.write(f"f{mark}")
    for piece in parts:
        line.write(_fixed(piece.text, mark))
        if piece.hole is not None:
            line.write("{")
            start = len(line.pieces)
            write(line, next(left, ""))  # a hole without a value is printed as one that is missing
            line.pieces[start:] = [text.replace('"', "'") for text in line.pieces[start:]]
            line.write(f"{piece.hole}}}")
    line.write(mark)


def _has_quotes(text: str) -> bool:
    return '"' in text or "'" in text


def _fixed(text: str, mark: str) -> str:
    quoted = quote(text)
    inner = quoted[1:-1]
    if quoted[0] != mark:  # `quote` chose the other quotes
        inner = inner.replace(mark, f"\\{mark}").replace(f"\\{quoted[0]}", quoted[0])
    return inner.replace("{", "{{").replace("}", "}}")


def _write_call(line: Line, parts: Sequence[Piece], paths: Sequence[str], write: Write) -> None:
    line.write(f"{quote(template_of(tuple(parts)))}.format(")
    for k, path in enumerate(paths):
        line.write(", " if k else "")
        write(line, path)
    line.write(")")
