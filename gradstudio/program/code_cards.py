"""Cards of code, split into one for each statement and merged with the next: the lines stay as they were typed."""

import ast
from collections.abc import Iterable
from itertools import pairwise

import msgspec

from gradstudio.graph.edits import AddNode, AddWire, Edits, RemoveNode, SetPlaces
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import Graph, ItemId, Node, Wire
from gradstudio.graph.recipes.draft import Draft
from gradstudio.graph.text.code_names import CodeNames
from gradstudio.graph.text.code_records import PLACE, READ, code_names, code_of, is_code_at, new_names, with_code
from gradstudio.graph.text.code_text import renamed_code
from gradstudio.graph.text.name_bindings import binding_of, name_of
from gradstudio.program.errors import NotReadable
from gradstudio.program.printing.comment_lines import comment_lines, paragraphs
from gradstudio.program.reading.code.code_statement import first_line, last_line
from gradstudio.program.reading.reader import read_script

_HOLDERS = (ast.For, ast.While, ast.If, ast.With, ast.FunctionDef, ast.ClassDef)
Result = tuple[ItemId, int]
"""An item, and which of its results."""


def statement_texts(code: str) -> list[str]:
    """The statements of a code, each with the comments above it; those that share a line are one.

    The empty line that parts two cards is in none. Where there is one, what stands above it is of the statement before.
    """
    return [text for text, _ in _pieces(code)]


def _pieces(code: str) -> list[tuple[str, bool]]:
    """The statements of a code, and whether an empty line stands above each that is not the first."""
    try:
        body = ast.parse(code).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return [(code, False)]
    lines = code.split("\n")
    pieces: list[tuple[str, bool]] = []
    begin, is_apart = 0, False
    for one, following in pairwise(body):
        end, stop = last_line(one), first_line(following) - 1
        if end > stop:
            continue
        while end < stop and lines[end][:1] in (" ", "\t") and lines[end].strip():
            end += 1  # a comment that stands as deep as the block above it
        gap = next((k for k in range(end, stop) if not lines[k].strip()), None)
        pieces.append(("\n".join(lines[begin : end if gap is None else gap]), is_apart))
        begin, is_apart = (end, False) if gap is None else (gap + (not lines[gap]), True)
    return [*pieces, ("\n".join(lines[begin:]), is_apart)]


def can_split(graph: Graph, item: ItemId) -> bool:
    """Whether an item is a card of code with more than one statement."""
    return is_code_at(graph, item) and len(statement_texts(code_of(graph.nodes[item]))) > 1


def next_card(graph: Graph, item: ItemId) -> ItemId | None:
    """The card of code that follows on a card of code in its body; None when something else does."""
    if not is_code_at(graph, item):
        return None
    body = graph.bodies[graph.parents[item]]
    k = body.index(item) + 1
    if k == len(body) or not is_code_at(graph, body[k]):
        return None
    one, other = graph.nodes[item], graph.nodes[body[k]]
    is_alike = one.literals.get(PLACE) == other.literals.get(PLACE) and one.muted == other.muted
    return body[k] if is_alike and not (one.bypassed or other.bypassed) else None


def may_be_drawn(graph: Graph, item: ItemId) -> bool:
    """Whether something of a card of code may be drawn, if nothing that stands around it forbids it."""
    if not is_code_at(graph, item):
        return False
    return any(_is_drawn_alone(graph, text) for text in statement_texts(code_of(graph.nodes[item])))


def _is_drawn_alone(graph: Graph, text: str) -> bool:
    try:
        if any(isinstance(one, _HOLDERS) for one in ast.parse(text).body):
            return True  # drawn around what is not
        read_script(text, pasted=True, canvas=graph)
    except (SyntaxError, ValueError, RecursionError, MemoryError, NotReadable):
        return False
    return True


def split(graph: Graph, item: ItemId) -> Edits:
    """One card for each statement of a card of code; the first keeps its id.

    An empty line parts them in the text, as it parts all cards of code; where there was none, *Merge with next* takes
    it away again.

    Raises:
        Refused: there is nothing to split, or a name of it cannot be what it is now.
    """
    if not can_split(graph, item):
        raise Refused("Split takes a card of code with more than one statement.")
    draft, node = Draft(graph), graph.nodes[item]
    arriving, leaving = graph.wires_to(item), graph.wires_from(item)
    draft.cut((*arriving, *leaving))
    outer = dict(zip(code_names(node).binds, node.names, strict=False))
    body = graph.parents[item]
    index = graph.bodies[body].index(item)
    made: dict[str, Result] = {wire.port.removeprefix(READ): (wire.source, wire.output) for wire in arriving}
    for k, (text, is_apart) in enumerate(_pieces(code_of(node))):
        part = with_code(node, text)
        names = code_names(part)
        part = msgspec.structs.replace(
            part,
            names=tuple(outer.get(name, name) for name in names.binds),
            muted_wires={p: one for p, one in node.muted_wires.items() if p.removeprefix(READ) in names.reads},
        )
        if k:
            part = msgspec.structs.replace(part, id=draft.new_id(), note="", beside="", blank_before=is_apart, marks=())
            draft.do(AddNode(part, body, index + k))
        else:
            draft.put(part)
        _bring(draft, part.id, names, made)
        _pass_on(made, names, part.id)
    _hand_on(draft, leaving, [made.get(name) for name in code_names(node).binds])
    return draft.finish()


def merge_with_next(graph: Graph, item: ItemId) -> Edits:
    """A card of code and the one behind it as one card, with the lines that both have in the text and those between.

    An empty line of their own stays; one that is there only because they are two cards goes.

    Raises:
        Refused: no card of code follows, or Python would take the lines of both for something else.
    """
    other = next_card(graph, item)
    if other is None:
        raise Refused("Merge with next takes a card of code with another one right behind it.")
    draft, first, second = Draft(graph), graph.nodes[item], graph.nodes[other]
    above = [*paragraphs(second.note), *(comment_lines(second.beside) if second.beside.strip() else ())]
    gap = [""] if second.blank_before else []
    code = "\n".join([_printed(graph, first), *gap, *above, _printed(graph, second)])
    merged = with_code(first, code)
    names = code_names(merged)
    if not names.taken and (first.names or second.names):
        raise Refused("The lines of both cards are no Python together.")
    arriving = (*graph.wires_to(other), *graph.wires_to(item))
    made = {_name_at(graph, wire): (wire.source, wire.output) for wire in arriving if wire.source != item}
    leaving = [wire for wire in graph.wires_from(item) if wire.target != other]
    onward = graph.wires_from(other)
    draft.cut(tuple(dict.fromkeys((*arriving, *graph.wires_from(item), *onward))))
    _forget(draft, other)
    draft.put(msgspec.structs.replace(merged, names=names.binds, marks=first.marks or second.marks, muted_wires={}))
    _bring(draft, item, names, made)
    bound: dict[str, Result] = {name: (item, k) for k, name in enumerate(names.binds)}
    _hand_on(draft, leaving, [bound.get(name) for name in first.names])
    _hand_on(draft, onward, [bound.get(name) for name in second.names])
    return draft.finish()


def _printed(graph: Graph, node: Node) -> str:
    """The code of a card with the names that it has in the text."""
    brought = {wire.port.removeprefix(READ): _name_at(graph, wire) for wire in graph.wires_to(node.id)}
    return renamed_code(code_of(node), new_names(node, brought, node.names))


def _name_at(graph: Graph, wire: Wire) -> str:
    """The name that what a wire brings has in the text."""
    return name_of(graph, binding_of(graph, wire.source, wire.output))


def _bring(draft: Draft, item: ItemId, names: CodeNames, made: dict[str, Result]) -> None:
    """Wire what a card reads, or may leave as it was, to what made it."""
    found = ((name, made[name]) for name in (*names.reads, *names.keeps) if name in made)
    draft.do(*(AddWire(Wire(*source, item, READ + name)) for name, source in found))


def _pass_on(made: dict[str, Result], names: CodeNames, item: ItemId) -> None:
    """What names mean behind a card."""
    for name in names.removes:
        made.pop(name, None)
    made.update({name: (item, k) for k, name in enumerate(names.binds)})


def _hand_on(draft: Draft, wires: Iterable[Wire], sources: list[Result | None]) -> None:
    """Let wires begin at what makes now what their outputs made."""
    for wire in wires:
        source = sources[wire.output]
        if source is None:
            raise Refused("What a wire brings from the card is not there any more behind it.")
        draft.do(AddWire(Wire(*source, wire.target, wire.port)))


def _forget(draft: Draft, item: ItemId) -> None:
    draft.do(RemoveNode(item))
    keys = [key for key in (item, f"note:{item}") if key in draft.graph.places]
    if keys:
        draft.do(SetPlaces(dict.fromkeys(keys)))
