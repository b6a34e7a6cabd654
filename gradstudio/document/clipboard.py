"""Copied parts of a program as text, complete with their stored tensors; Python text too; anything else is refused."""

import ast
from collections.abc import Iterable, Iterator

import msgspec

from gradstudio.document.errors import NotAFragment, UnreadableFile
from gradstudio.document.file import stored_tensors
from gradstudio.document.gsg.file_records import FRAGMENT_FORMAT, FragmentText
from gradstudio.document.gsg.graph_loading import build
from gradstudio.document.gsg.gsg_reader import read
from gradstudio.document.gsg.gsg_writer import write
from gradstudio.document.python.console_prompts import has_prompts, strip_prompts
from gradstudio.document.python.python_document import read_python
from gradstudio.graph.external_inputs import ExternalInput
from gradstudio.graph.model import ROOT, Graph, Header, ItemId, Wire
from gradstudio.graph.names import bound_names
from gradstudio.graph.text.code_records import READ, is_code, names_wanted


class Fragment(msgspec.Struct, frozen=True):
    """What a text from the clipboard holds.

    Attributes:
        graph: the part.
        outer: wires into it from items of the canvas that it is for.
        outside: what flowed into it where it was copied.
        is_text: it was Python text, whose names are to stay as they were typed.
        header: seed, default dtype and device of a text that an empty canvas takes as a whole; None: they stay.
    """

    graph: Graph
    outer: tuple[Wire, ...] = ()
    outside: tuple[ExternalInput, ...] = ()
    is_text: bool = False
    header: Header | None = None


def to_text(fragment: Graph, outside: Iterable[ExternalInput] = ()) -> str:
    """The text of a fragment, to put on the clipboard, with what flowed into it."""
    return write(fragment, FRAGMENT_FORMAT, with_data=True, outside=outside)


def from_text(text: str, canvas: Graph | None = None) -> Fragment:
    """The fragment that a text from the clipboard holds: a copied part, or lines of Python.

    Args:
        text: what was copied; prompts and fences of Python are taken off.
        canvas: where it is to be pasted: Python may read the names that are bound there.

    Raises:
        NotAFragment: it holds something else; the message says what.
    """
    if not text.strip():
        raise NotAFragment("The clipboard is empty.")
    code = strip_prompts(text)
    if has_prompts(text) or _is_python(code, canvas):
        return _from_python(code, canvas)

    def make(content: FragmentText) -> Fragment:
        graph = build(content)
        graph.tensors = stored_tensors(content, None)
        return Fragment(graph, outside=tuple(_outside(content, graph)))

    try:
        return read(text, FragmentText, FRAGMENT_FORMAT, make)
    except UnreadableFile as error:
        raise NotAFragment(f"The clipboard holds no part of a program ({error}).") from error


def _outside(content: FragmentText, part: Graph) -> Iterator[ExternalInput]:
    for one in content.outside:
        target = ItemId(one.target)
        if target in part and part.wire_into(target, one.port) is None:
            yield ExternalInput(ItemId(one.source), one.output, one.name, one.operator, target, one.port)


def _is_python(text: str, canvas: Graph | None) -> bool:
    """Whether the text is Python with a statement that does something: prose and single words are not."""
    if text.lstrip().startswith("{"):
        return False
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    if any(not isinstance(s, ast.Expr) or isinstance(s.value, ast.Call) for s in body):
        return True
    read = {part.id for s in body for part in ast.walk(s) if isinstance(part, ast.Name)}
    return canvas is not None and bool(read) and read <= set(bound_names(canvas))


def _from_python(text: str, canvas: Graph | None) -> Fragment:
    try:
        read = read_python(text, pasted=True, canvas=canvas)
    except UnreadableFile as error:
        kept = _kept_as_code(text, canvas)
        if kept is not None:
            return kept
        place = f"line {error.line}: " if error.line is not None else ""
        raise NotAFragment(f"The copied Python cannot be drawn: {place}{error.message}") from error
    if not read.graph.parents and read.graph.header == Header(seed=None):
        raise NotAFragment("The copied Python has nothing but imports: copy the statements too.")
    header = _set_up(read.graph.header, canvas) if canvas is not None and not canvas.parents else None
    return Fragment(read.graph, read.outer, is_text=True, header=header)


def _kept_as_code(text: str, canvas: Graph | None) -> Fragment | None:
    """Python that is not drawn, on cards of code that read the names of the canvas; None: not even that."""
    try:
        read = read_python(text, pasted=True, keeps_code=True)
    except UnreadableFile:
        return None
    outer = _wires_of_code(read.graph, canvas if canvas is not None else Graph())
    return Fragment(read.graph, outer, is_text=True) if outer is not None else None


def _wires_of_code(part: Graph, canvas: Graph) -> tuple[Wire, ...] | None:
    """What the code of a part reads from what the canvas binds last; None: it reads what nothing binds above it."""
    bound = {name: (item, k) for item in canvas.order(ROOT) for k, name in enumerate(_names(canvas, item))}
    wires: list[Wire] = []
    own: set[str] = set()
    for item in part.order():
        node = part.nodes.get(item)
        for name in names_wanted(node) if node is not None and is_code(node) else ():
            if name in own or part.wire_into(item, READ + name) is not None:
                continue
            if name not in bound:
                return None
            wires.append(Wire(*bound[name], item, READ + name))
        own.update(_names(part, item))
    return tuple(wires)


def _names(graph: Graph, item: ItemId) -> tuple[str, ...]:
    return graph.nodes[item].names if item in graph.nodes else ()


def _set_up(read: Header, canvas: Graph) -> Header:
    """The header of a canvas, with what a text sets in place of it."""
    bare = Header(seed=None)
    said = {name: value for name in bare.__struct_fields__ if (value := getattr(read, name)) != getattr(bare, name)}
    return msgspec.structs.replace(canvas.header, **said)
