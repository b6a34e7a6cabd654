"""A file that reads its own docstring (``description=__doc__``): there the docstring is bound, and not only a note."""

import ast
from typing import Final

from gradstudio.program.errors import NotReadable
from gradstudio.program.reading.imports import is_future
from gradstudio.program.reading.parser import parse, plain_text

DOC: Final = "__doc__"


def with_docstring_bound(text: str) -> str:
    """The text with ``__doc__ = `` ahead of its docstring, on lines of the same numbers, where it reads that name.

    Its lines end with line feeds then. Behind imports from `__future__`, ahead of which nothing may be bound.
    """
    if DOC not in text:
        return text
    text = plain_text(text)
    try:
        tree = parse(text)
    except NotReadable:
        return text  # which is told by whoever reads it
    docstring = ast.get_docstring(tree, clean=False)
    reads = any(isinstance(part, ast.Name) and part.id == DOC for part in ast.walk(tree))
    if docstring is None or not reads:
        return text
    lines = text.split("\n")
    later = [one for one in tree.body if is_future(one)]
    if later:
        last, column = (later[-1].end_lineno or 1) - 1, later[-1].end_col_offset or 0
        line = lines[last].encode()
        lines[last] = f"{line[:column].decode()}; {DOC} = {docstring!r}{line[column:].decode()}"
    else:
        first = tree.body[0].lineno - 1
        lines[first] = f"{DOC} = {lines[first]}"
    return "\n".join(lines)
