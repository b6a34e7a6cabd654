"""Lines of a formula from its tree: rows of cells under one another, room where a sign wants it."""

from itertools import pairwise

from gradstudio.operators.docstrings.latex_tree import Piece, Rows, Tree
from gradstudio.operators.docstrings.model import Span, Spans

Line = list[Piece]
_OPENING, _CLOSING = "([{⌊⌈⟨", ")]}⌋⌉⟩,;"
_INDENT = "\u2003\u2003"
_BRACES = {1: ("{",), 2: ("⎧", "⎩"), 3: ("⎧", "⎨", "⎩")}
_MATRICES = {"matrix": ("", ""), "pmatrix": ("(", ")"), "bmatrix": ("[", "]"), "vmatrix": ("|", "|")}


def lay_out_formula(tree: Tree) -> list[Line]:
    """The lines of a formula, from the top; none is empty."""
    lines: list[Line] = [[]]
    for piece in tree:
        if isinstance(piece, Rows):
            _lay_rows(lines, piece)
        elif piece.role == "row":
            lines.append([])
        elif piece.role != "cell":
            lines[-1].append(piece)
    return [line for line in lines if any(piece.text.strip() for piece in line)]


def join_lines(lines: tuple[Spans, ...]) -> Spans:
    """Lines in one."""
    told: list[Span] = []
    for k, line in enumerate(lines):
        told += ([Span("; ", ("math",))] if k else []) + list(line)
    return tuple(told)


def tidy_spaces(line: Line) -> Line:
    """One space where there is room, none within what is raised or lowered, neighbours of one look in one."""
    told: Line = []
    for piece in _with_room(line):
        if not piece.text or (piece.text == " " and (not told or told[-1].text.endswith((" ", *_OPENING)))):
            continue
        if piece.text[0] in _CLOSING and told and told[-1].text.endswith(" ") and len(told[-1].text.strip()):
            told[-1] = told[-1]._replace(text=told[-1].text.rstrip(" "))
        elif piece.text[0] in _CLOSING and told and told[-1].text == " ":
            told.pop()
        if told and told[-1].marks == piece.marks:
            told[-1] = told[-1]._replace(text=told[-1].text + piece.text, role=piece.role)
        else:
            told.append(piece)
    while told and not told[-1].text.strip():
        told.pop()
    return [*told[:-1], told[-1]._replace(text=told[-1].text.rstrip(" "))] if told else told


def _with_room(line: Line) -> Line:
    told: Line = []
    pieces = [piece for piece in line if piece.text]
    for k, piece in enumerate(pieces):
        former = next((other for other in reversed(pieces[:k]) if other.role != "space"), None)
        within = piece.marks[:1] in (("sub",), ("sup",))
        if within:
            told.append(piece._replace(text=piece.text if piece.role in ("words", "room") else piece.text.strip()))
        elif piece.role == "relation" and not _is_sign(piece, former):
            told += [Piece(" "), piece._replace(role=""), Piece(" ")]
        elif piece.role == "slash" and _is_long(pieces, k):
            told += [Piece(" "), piece, Piece(" ")]
        elif piece.role == "function":
            told += [Piece(" "), piece] if former is not None and former.text[-1].isalnum() else [piece]
            following = pieces[k + 1] if k + 1 < len(pieces) else None
            told += (
                [Piece(" ")] if following is not None and following.text[0].isalnum() and not following.marks else []
            )
        elif piece.text == "," and not piece.marks:
            told += [piece, Piece(" ")]
        else:
            told.append(piece)
    return _single_spaces(told)


def _single_spaces(line: Line) -> Line:
    told = line[:1]
    for former, piece in pairwise(line):
        if not (piece.text == " " and former.text in (" ",) and piece.role != "room"):
            told.append(piece)
    return told


def _is_sign(piece: Piece, former: Piece | None) -> bool:
    """Whether a minus or plus says which sign a number has, not what is done with two."""
    return piece.text in "−+±" and (former is None or former.role == "relation" or former.text in ("(", "[", ",", "{"))


def _is_long(pieces: Line, at: int) -> bool:
    return pieces[at - 1].text == ")" or (at + 1 < len(pieces) and pieces[at + 1].text == "(")


def _lay_rows(lines: list[Line], rows: Rows) -> None:
    told = [_cells(rows, row) for row in rows.rows]
    told = [line for line in told if any(piece.text.strip() for piece in line)]
    if rows.name in _MATRICES or rows.name.endswith("matrix"):
        left, right = _MATRICES.get(rows.name, ("[", "]"))
        lines[-1].append(Piece(left))
        for k, line in enumerate(told):
            lines[-1] += ([Piece("; ")] if k else []) + line
        lines[-1].append(Piece(right))
    elif rows.name in ("cases", "dcases", "rcases"):
        braces = _BRACES.get(len(told)) or ("⎧", *["⎪"] * (len(told) - 2), "⎩")
        indent = _INDENT if any(piece.text.strip() for piece in lines[-1]) else ""
        lines += [[Piece(f"{indent}{brace} ", role="room"), *line] for brace, line in zip(braces, told, strict=True)]
    else:
        lines[-1] += told[0] if told else []
        lines += told[1:]


def _cells(rows: Rows, row: list[Tree]) -> Line:
    """A row in one line; within a cell rows stand one after the other."""
    between = "" if rows.name.startswith(("align", "split", "gather", "eqn")) else "\u2002"
    line: Line = []
    for cell in row:
        pieces = [piece for inner in lay_out_formula(cell) for piece in inner]
        if pieces and line and between:
            line.append(Piece(between, role="room"))
        line += pieces
    return line
