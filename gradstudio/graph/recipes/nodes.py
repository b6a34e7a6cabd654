"""Recipes for single nodes: adding, naming, literals, notes, places."""

from collections.abc import Iterable, Mapping
from typing import cast

import msgspec

from gradstudio.graph import names as naming
from gradstudio.graph.card_grouping import CALL, CALLED, is_callable
from gradstudio.graph.edits import AddNode, AddWire, Edits, SetHeader, SetPlaces
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import (
    DOCUMENT_DEVICE,
    ROOT,
    BlockKind,
    BodyId,
    Graph,
    Header,
    ItemId,
    Mark,
    Node,
    Place,
    Wire,
)
from gradstudio.graph.operator_rows import GROUP, row_of, row_of_key
from gradstudio.graph.ports.item_ports import find_port
from gradstudio.graph.ports.module_calls import origin
from gradstudio.graph.recipes.draft import Draft
from gradstudio.graph.recipes.grouping.block_wrapping import add_block
from gradstudio.graph.rules import check_bodies
from gradstudio.graph.text.notes import with_note
from gradstudio.operators.calls.call_signature import INPUTS, required_inputs
from gradstudio.operators.catalogue.block_rows import KINDS
from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.errors import LiteralError
from gradstudio.operators.families import call_results, default_names, is_list_like, takes_parameters
from gradstudio.operators.literals.parser import parse
from gradstudio.operators.model import Kind, Operator

MOST_OF_NOTE = 200_000
"""Characters: the script, and every editor that shows it, hold the note as well."""
MIN_ELEMENTS = {Kind.TENSORS: 2, Kind.VALUES: 1, Kind.MODULES: 2}


def add_operator(graph: Graph, key: str, x: float, y: float, *, body: BodyId = ROOT) -> tuple[Edits, ItemId]:
    """A fresh node of the operator, or an empty block, at the end of a body; a module comes with its call.

    Returns:
        The edits, and the id of the node (of the call, for a module).

    Raises:
        Refused: it may not stand in that body.
    """
    if key in KINDS:
        return add_block(graph, cast(BlockKind, KINDS[key]), x, y, body=body)
    draft = Draft(graph)
    operator = row_of_key(graph, key)
    if operator is None:
        raise Refused(f"There is no '{key.removeprefix(GROUP)[:60]}' any more.")
    node = fresh_node(draft, operator)
    draft.do(AddNode(node, body, draft.end_of(body)), SetPlaces({node.id: Place(x, y)}))
    check_bodies(draft.graph, (node.id,))
    if is_callable(operator):
        call = add_call(draft, node, body, x, y)
        return draft.finish(), call.id
    return draft.finish(), node.id


def fresh_node(draft: Draft, operator: Operator) -> Node:
    """A node as the library drops it: unique names, suggested literals, the document's device."""
    taken = draft.taken_names()
    literals = dict(operator.suggested)
    if operator.creates and operator.parameter("device") is not None:
        literals["device"] = DOCUMENT_DEVICE
    lengths = {
        p.name: MIN_ELEMENTS[p.kind]
        for p in operator.parameters
        if is_list_like(p)
        and p.kind in MIN_ELEMENTS
        and p.default is None
        and p.name not in literals
        and not takes_parameters(operator, p)  # an iterator, mostly
    }
    names = tuple(naming.fresh_name(taken, base) for base in default_names(operator))
    return Node(id=draft.new_id(), operator=operator.key, names=names, literals=literals, lengths=lengths)


def fresh_call(draft: Draft, module: ItemId) -> Node:
    """A call of a module, not wired yet: a name for each of its results."""
    call = fresh_node(draft, load()[CALL])
    node = origin(draft.graph, draft.graph.nodes[module])
    maker = row_of(draft.graph, node) if node is not None else None
    call = msgspec.structs.replace(call, lengths={**call.lengths, INPUTS: required_inputs(maker)})
    results = call_results(maker)
    if len(results) < 2:
        return call
    taken = draft.taken_names()
    return msgspec.structs.replace(call, names=tuple(naming.fresh_name(taken, result.name) for result in results))


def add_call(draft: Draft, module: Node, body: BodyId, x: float, y: float) -> Node:
    """A call of a module directly behind it; the two share a card."""
    call = fresh_call(draft, module.id)
    draft.do(
        AddNode(call, body, draft.graph.bodies[body].index(module.id) + 1),
        SetPlaces({call.id: Place(x, y)}),
        AddWire(Wire(module.id, 0, call.id, CALLED)),
    )
    return call


def move(graph: Graph, positions: Mapping[str, tuple[float, float]]) -> Edits:
    """Put items (or notes, "note:<item>") at scene positions, keeping their width."""
    return (SetPlaces({key: _moved(graph.places.get(key), x, y) for key, (x, y) in positions.items()}),)


def has_names(graph: Graph, item: ItemId) -> bool:
    """Whether something is a statement that may bind names, which can be changed without its text."""
    node = graph.nodes.get(item)
    operator = row_of(graph, node) if node is not None else None
    return node is not None and (operator is None or bool(operator.results))


def rename(graph: Graph, item: ItemId, names: tuple[str, ...]) -> Edits:
    """Give a statement other names; where another statement's name would be misread, that one changes.

    Raises:
        Refused: a name is no legal name, or occurs twice; the number of names does not fit.
    """
    node = graph.nodes.get(item)
    if node is None:
        raise Refused("A block has no name; only statements that bind a value have one.")
    checked = tuple(name if name == "_" else naming.check(name) for name in names)
    real = [name for name in checked if name != "_"]
    if len(set(real)) != len(real):
        raise Refused("The names of one statement must differ from one another.")
    operator = row_of(graph, node)
    if operator is not None and not operator.results and checked:
        raise Refused(f"{operator.title} gives no value, so there is nothing to name.")
    draft = Draft(graph)
    draft.put(msgspec.structs.replace(node, names=checked, nested=node.nested and not checked))
    return draft.finish(keep=frozenset({item}))


def set_literal(graph: Graph, item: ItemId, path: str, text: str) -> Edits:
    """Write a literal into a port; "" empties it, so that torch's default holds.

    Raises:
        Refused: the text is not what the argument takes; the old value stands.
    """
    port = find_port(graph, item, path)
    if port is None:
        raise Refused(f"There is no argument '{path}' here.")
    if port.state == "wired":
        raise Refused(f"'{port.label}' gets its value from a wire. Remove the wire to type a value.")
    try:
        value = parse(text, port.parameter) if text.strip() else ""
    except LiteralError as error:
        raise Refused(str(error)) from None
    draft = Draft(graph)
    if port.grows and port.element is not None and value:
        owner = draft.owner(item)
        draft.put(msgspec.structs.replace(owner, lengths={**owner.lengths, path.split(".")[0]: port.element + 1}))
    _put_literal(draft, item, path, value)
    return draft.finish()


def set_document_device_port(graph: Graph, item: ItemId, path: str) -> Edits:
    """Let a device port follow the document's device."""
    draft = Draft(graph)
    _put_literal(draft, item, path, DOCUMENT_DEVICE)
    return draft.finish()


def set_header(graph: Graph, header: Header) -> Edits:
    """Change seed, device or default dtype of the document."""
    return (SetHeader(header),) if header != graph.header else ()


def note_refusal(text: str) -> str:
    """Why a text is no note; "" when it may be one."""
    if len(text) <= MOST_OF_NOTE:
        return ""
    return f"A note has at most {MOST_OF_NOTE:,} characters, this one {len(text):,}: keep longer texts in a file."


def set_note(graph: Graph, item: ItemId, text: str) -> Edits:
    """Write the note of an item, its comment beside included (`graph.text.notes`); "" removes it.

    Raises:
        Refused: it is longer than a note may be.
    """
    if words := note_refusal(text):
        raise Refused(words)
    draft = Draft(graph)
    draft.put(with_note(draft.owner(item), text))
    key = f"note:{item}"
    if not text.strip() and key in graph.places:
        draft.do(SetPlaces({key: None}))
    return draft.finish()


def set_muted(graph: Graph, items: Iterable[ItemId], muted: bool) -> Edits:
    """Take items, and so what reads them, out of the program, or back in."""
    draft = Draft(graph)
    for item in items:
        draft.put(msgspec.structs.replace(draft.owner(item), muted=muted))
    return draft.finish()


def set_bypassed(graph: Graph, items: Iterable[ItemId], bypassed: bool) -> Edits:
    """Let nodes pass their first input on unchanged, or compute again."""
    draft = Draft(graph)
    for item in items:
        if item in graph.nodes:
            draft.put(msgspec.structs.replace(graph.nodes[item], bypassed=bypassed))
    return draft.finish()


def set_mark(graph: Graph, item: ItemId, mark: Mark, on: bool) -> Edits:
    """Mark a node as root or input; only one node is the root."""
    draft = Draft(graph)
    for node in graph.nodes.values():
        others = tuple(m for m in node.marks if m != mark)
        if node.id == item:
            draft.put(msgspec.structs.replace(node, marks=(*others, mark) if on else others))
        elif mark == "root" and on and mark in node.marks:
            draft.put(msgspec.structs.replace(node, marks=others))
    return draft.finish()


def _put_literal(draft: Draft, item: ItemId, path: str, value: str) -> None:
    owner = draft.owner(item)
    literals = {key: text for key, text in owner.literals.items() if key != path}
    if value:
        literals[path] = value
    if isinstance(owner, Node) and path in owner.covered:
        owner = msgspec.structs.replace(owner, covered={k: text for k, text in owner.covered.items() if k != path})
    draft.put(msgspec.structs.replace(owner, literals=literals))


def _moved(place: Place | None, x: float, y: float) -> Place:
    return Place(x, y) if place is None else msgspec.structs.replace(place, x=x, y=y)
