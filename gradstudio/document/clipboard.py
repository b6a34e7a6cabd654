"""Copied parts of a program as text, complete with their stored tensors; Python text too; anything else is refused."""

import ast
import textwrap

from gradstudio.document.build import build
from gradstudio.document.errors import NotAFragment, UnreadableFile
from gradstudio.document.file import stored_tensors
from gradstudio.document.format import FRAGMENT_FORMAT, FragmentText
from gradstudio.document.python import read_python
from gradstudio.document.read import read
from gradstudio.document.write import write
from gradstudio.graph.model import Graph


def to_text(fragment: Graph) -> str:
    """The text of a fragment, to put on the clipboard."""
    return write(fragment, FRAGMENT_FORMAT, with_data=True)


def from_text(text: str) -> Graph:
    """The fragment that a text from the clipboard holds: a copied part, or lines of Python.

    Raises:
        NotAFragment: it holds something else; the message says what.
    """
    if _is_python(text):
        return _from_python(text)

    def make(content: FragmentText) -> Graph:
        graph = build(content)
        graph.tensors = stored_tensors(content, None)
        return graph

    try:
        return read(text, FragmentText, FRAGMENT_FORMAT, make)
    except UnreadableFile as error:
        raise NotAFragment(f"The clipboard holds no part of a program ({error}).") from error


def _is_python(text: str) -> bool:
    """Whether the text is Python with a statement that does something: prose and single words are not."""
    if text.lstrip().startswith("{"):
        return False
    try:
        body = ast.parse(textwrap.dedent(text)).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return any(not isinstance(s, ast.Expr) or isinstance(s.value, ast.Call) for s in body)


def _from_python(text: str) -> Graph:
    try:
        return read_python(textwrap.dedent(text), pasted=True).graph
    except UnreadableFile as error:
        raise NotAFragment(f"The copied Python cannot be drawn: line {error.line}: {error.message}") from error
