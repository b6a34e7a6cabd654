r"""LaTeX to text a person reads: ``\frac{1}{N} \sum_{i=1}^N x_i`` becomes "1/N ∑ᵢ₌₁ᴺ xᵢ", raised and lowered.

It knows what docstrings use. What it does not know stands there by its name, never as an error.
"""

import re
from collections.abc import Iterator
from itertools import groupby

from gradstudio.operators.docstrings.latex_layout import Line, join_lines, lay_out_formula, tidy_spaces
from gradstudio.operators.docstrings.latex_symbols import (
    ACCENTS,
    DOUBLE_STRUCK,
    FUNCTIONS,
    LETTERS,
    LOWERED,
    RAISED,
    RELATIONS,
    SILENT,
    SPACES,
    WORDS,
    WRAPPERS,
)
from gradstudio.operators.docstrings.latex_tree import Piece, Rows, Tree
from gradstudio.operators.docstrings.model import Span, Spans

_REMARK = re.compile(r"(?<!\\)%[^\n]*")
_TOKEN = re.compile(r"\\[a-zA-Z]+\*?|\\.|\s+|\d+(?:\.\d+)?|.", re.DOTALL)
_SIZED = frozenset({"hspace", "vspace", "hskip", "kern", "mspace", "rule", "color", "tag", "label", "phantom"})
_PLAIN_RELATIONS = {"=": "=", "+": "+", "-": "−", "<": "<", ">": ">", "*": "∗"}
_MILLIMETRES_AN_INDENT = 5
_EM = "\u2003"


def inline(text: str) -> Spans:
    """A formula within a line."""
    return join_lines(display(text))


def display(text: str) -> tuple[Spans, ...]:
    """A formula that stands by itself: its lines."""
    lines = lay_out_formula(_Reader(text).read())
    return tuple(_spans(line) for line in lines)


def _spans(line: Line) -> Spans:
    return tuple(Span(piece.text, ("math", *piece.marks)) for piece in tidy_spaces(line))


class _Reader:
    """Reads tokens from the left, a group at a time."""

    def __init__(self, text: str) -> None:
        self._tokens = _TOKEN.findall(_REMARK.sub("", text).strip())
        self._at = 0

    def read(self, until: str = "") -> Tree:
        """Everything up to that token, which is taken too; up to the end when there is none."""
        tree: Tree = []
        while (token := self._take()) and token != until:
            tree.extend(self._one(token))
        return tree

    def _take(self) -> str:
        self._at += 1
        return self._tokens[self._at - 1] if self._at <= len(self._tokens) else ""

    def _next(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _group(self) -> Tree:
        """What the next braces hold, or the next sign alone."""
        while self._next().isspace():
            self._take()
        token = self._take()
        if token == "{":
            return self.read("}")
        if token[:1].isdigit() and len(token) > 1:  # x^10 raises the 1 alone
            self._tokens.insert(self._at, token[1:])
            token = token[0]
        return list(self._one(token)) if token else []

    def _raw(self) -> str:
        """The text of the next braces, as it stands."""
        while self._next().isspace():
            self._take()
        if self._next() != "{":
            return self._take()
        depth, parts = 0, []
        while token := self._take():
            depth += (token == "{") - (token == "}")
            if depth == 0:
                break
            parts.append(token)
        return "".join(parts[1:])

    def _one(self, token: str) -> Iterator[Piece | Rows]:
        """What a token stands for, with what belongs to it."""
        if token in ("^", "_"):
            yield from _marked(self._group(), "sup" if token == "^" else "sub")
        elif token == "{":
            yield from self.read("}")
        elif token == "}":
            return
        elif token in ("&", "\\\\"):
            if token != "&" and self._next() == "[":  # \\[-1.ex]: room between rows
                while (skipped := self._take()) and skipped != "]":
                    pass
            yield Piece("", role="cell" if token == "&" else "row")
        elif token.isspace():
            yield Piece(" ", role="space")
        elif token in _PLAIN_RELATIONS:
            yield Piece(_PLAIN_RELATIONS[token], role="relation")
        elif token == "'":
            yield Piece("′")
        elif token == "~":
            yield Piece(" ", role="room")
        elif token.startswith("\\"):
            yield from self._command(token[1:].rstrip("*") or token[1:])
        else:
            yield Piece(token)

    def _command(self, name: str) -> Iterator[Piece | Rows]:
        if name in SPACES:
            yield Piece(SPACES[name], role="room")
        elif name in SILENT:
            if name in ("left", "right") and self._next() == ".":
                self._take()
        elif name in LETTERS:
            yield Piece(LETTERS[name])
        elif name in RELATIONS:
            yield Piece(RELATIONS[name], role="relation")
        elif name in FUNCTIONS:
            yield Piece(name, role="function")
        elif name in WRAPPERS:
            yield from self._wrapped(name)
        elif name in ACCENTS:
            yield from _accented(self._group(), ACCENTS[name])
        else:
            yield from self._built(name)

    def _built(self, name: str) -> Iterator[Piece | Rows]:
        """Commands with a shape of their own."""
        if name in ("frac", "dfrac", "tfrac", "cfrac"):
            over, under = self._group(), self._group()
            yield from (*_bracketed(over), Piece("/", role="slash"), *_bracketed(under))
        elif name in ("binom", "dbinom"):
            over, under = self._group(), self._group()
            yield from (Piece("C("), *over, Piece(", "), *under, Piece(")"))
        elif name == "sqrt":
            yield from (Piece("√"), *_bracketed(self._group()))
        elif name in ("overset", "stackrel", "underset"):
            mark = "sub" if name == "underset" else "sup"
            beside, base = self._group(), self._group()
            yield from (*base, *_marked(beside, mark))
        elif name == "not":
            yield from self._negated()
        elif name == "begin":
            yield self._environment(self._raw().rstrip("*"))
        elif name == "end":
            self._raw()
        elif name in _SIZED:
            yield from self._sized(name)
        else:
            yield Piece(name, role="function" if len(name) > 1 else "")

    def _sized(self, name: str) -> Iterator[Piece]:
        """Room of so many millimetres indents a line of an algorithm; lines and colours are not shown."""
        size = self._raw()
        if name == "rule":
            self._raw()
        if name == "hspace" and (found := re.match(r"(\d+)mm", size)):
            yield Piece(_EM * max(1, int(found[1]) // _MILLIMETRES_AN_INDENT), role="room")

    def _negated(self) -> Iterator[Piece | Rows]:
        known = {"=": "≠", "∈": "∉", "≡": "≢", "<": "≮", ">": "≯"}
        for piece in self._group():
            if isinstance(piece, Piece) and piece.text in known:
                piece = Piece(known[piece.text], piece.marks, piece.role)
            yield piece

    def _wrapped(self, name: str) -> Iterator[Piece | Rows]:
        marks = WRAPPERS[name]
        if name == "mathbb":
            yield Piece("".join(DOUBLE_STRUCK.get(letter, letter) for letter in self._raw().strip()))
        elif name in WORDS:
            yield from self._words(marks)
        else:
            for piece in self._group():
                yield piece.marked(marks) if isinstance(piece, Piece) else piece

    def _words(self, marks: tuple[str, ...]) -> Iterator[Piece]:
        r"""Words within a formula; ``$…$`` and ``\(…\)`` in them are formulas again."""
        for k, part in enumerate(re.split(r"\$|\\\(|\\\)", self._raw())):
            if k % 2:
                yield from (piece.marked(marks) for piece in _Reader(part).read() if isinstance(piece, Piece))
            elif part:
                words = (
                    re.sub(r"\\([_{}&%#$ ])", r"\1", re.sub(r"(?<!\\)[{}]", "", part))
                    .replace("``", "“")
                    .replace("`", "‘")
                    .replace("~", " ")
                )
                words = re.sub(r"\\([a-zA-Z]+)\s?", lambda m: LETTERS.get(m[1], RELATIONS.get(m[1], m[1])), words)
                yield Piece(re.sub(r"[\s]+", " ", words), marks, "words")

    def _environment(self, name: str) -> Rows:
        if name in ("array", "tabular", "alignedat", "alignat"):
            self._raw()  # how its columns are aligned
        rows: list[list[Tree]] = [[[]]]
        while token := self._take():
            if token == "\\end":
                self._raw()
                break
            for piece in self._one(token):
                if isinstance(piece, Piece) and piece.role == "row":
                    rows.append([[]])
                elif isinstance(piece, Piece) and piece.role == "cell":
                    rows[-1].append([])
                else:
                    rows[-1][-1].append(piece)
        return Rows(name, rows)


def _marked(tree: Tree, mark: str) -> Iterator[Piece | Rows]:
    for inner, run in groupby(tree, _step):
        if inner:
            pieces = [piece for piece in run if isinstance(piece, Piece)]
            text = "".join(piece.text.strip() for piece in pieces)
            yield Piece(_within(text, inner), (mark, *pieces[0].marks[1:]), pieces[0].role)
            continue
        for piece in run:
            if isinstance(piece, Rows):
                yield piece
            elif piece.role != "space":
                yield piece.marked((mark,), outside=True)


def _step(piece: Piece | Rows) -> str:
    """Whether a piece is lowered or raised already."""
    return piece.marks[0] if isinstance(piece, Piece) and piece.marks[:1] in (("sub",), ("sup",)) else ""


def _within(text: str, inner: str) -> str:
    """What is lowered or raised within such a thing, in signs of its own; else behind a comma or a caret."""
    signs = LOWERED if inner == "sub" else RAISED
    if all(letter in signs for letter in text):
        return "".join(signs[letter] for letter in text)
    return f",{text}" if inner == "sub" else f"^{text}"


def _accented(tree: Tree, sign: str) -> Iterator[Piece | Rows]:
    first = True
    for piece in tree:
        if first and isinstance(piece, Piece) and piece.text.strip():
            yield Piece(piece.text[0] + sign + piece.text[1:], piece.marks, piece.role)
            first = False
        else:
            yield piece


def _bracketed(tree: Tree) -> Tree:
    """In brackets, unless it is one thing."""
    told = [piece for piece in tree if isinstance(piece, Rows) or piece.role not in ("space", "room")]
    depth, several = 0, False
    for k, piece in enumerate(told):
        text = piece.text if isinstance(piece, Piece) else "rows"
        depth += (text in "([{⌊⌈" and bool(text)) - (text in ")]}⌋⌉" and bool(text))
        raised = isinstance(piece, Piece) and piece.marks[:1] in (("sub",), ("sup",))
        if depth == 0 and not raised and isinstance(piece, Piece):
            several |= (piece.role in ("relation", "slash") and k > 0) or text in ("∑", "∏", "∫")
            several |= piece.role == "words" and " " in text.strip()
    spaces = sum(isinstance(piece, Piece) and piece.role == "space" for piece in tree[1:-1])
    return (
        [Piece("("), *tree, Piece(")")]
        if several or (spaces and len(told) > 2 and depth == 0 and _loose(told))
        else tree
    )


def _loose(told: Tree) -> bool:
    """Whether things stand beside one another without brackets around all of them."""
    depth, apart = 0, 0
    for piece in told:
        text = piece.text if isinstance(piece, Piece) else ""
        opens, closes = text in ("(", "[", "{"), text in (")", "]", "}")
        raised = isinstance(piece, Piece) and piece.marks[:1] in (("sub",), ("sup",))
        if depth == 0 and not opens and not raised and not (isinstance(piece, Piece) and piece.role == "function"):
            apart += not closes
        depth += opens - closes
    return apart > 1
