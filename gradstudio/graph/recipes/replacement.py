"""Another operator in a node's place: what can stay of wires and literals stays, the rest is told in words."""

from typing import NamedTuple

import msgspec

from gradstudio.graph import names as naming
from gradstudio.graph.card_grouping import CALL, card_groups, makes_module
from gradstudio.graph.edits import AddWire, Edits
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import DOCUMENT_DEVICE, Graph, ItemId, Node, Wire
from gradstudio.graph.ports.item_ports import find_port, output_ports
from gradstudio.graph.recipes.draft import Draft
from gradstudio.graph.recipes.nodes import fresh_node
from gradstudio.graph.recipes.wiring.connection import first_fitting_port
from gradstudio.graph.rules import why_not
from gradstudio.graph.text.item_titles import title
from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.errors import LiteralError
from gradstudio.operators.families import is_list_like
from gradstudio.operators.literals.parser import parse
from gradstudio.operators.model import Operator, Parameter


class Replacement(NamedTuple):
    """Edits, and what the new operator has no place for, each in words."""

    edits: Edits
    lost: tuple[str, ...]


def replaceable_node(graph: Graph, item: ItemId) -> ItemId | None:
    """The node whose operator a person means at an item: of a call the module on its card; None: there is none."""
    target = card_groups(graph).modules.get(item, item)
    node = graph.nodes.get(target)
    return target if node is not None and node.operator in load() and node.operator != CALL else None


def replace(graph: Graph, item: ItemId, key: str) -> Replacement:
    """Put another operator in a node's place: its name stays; wires and literals by name, then by kind and order.

    Raises:
        Refused: there is nothing to replace, or a module would stand where none can; or the order forbids it.
    """
    target = replaceable_node(graph, item)
    new = load().get(key)
    if target is None or new is None:
        raise Refused(f"'{key}' cannot stand in the place of '{title(graph, item)}'.")
    node = graph.nodes[target]
    if makes_module(load().get(node.operator)) != makes_module(new):
        raise Refused(f"A module stands in the place of a module only; '{new.title}' and this are not alike.")
    draft, lost = Draft(graph), list[str]()
    inner = draft.graph.wires_to(target)
    outer = draft.graph.wires_from(target)
    draft.cut((*inner, *outer))
    draft.put(_bare(draft, node, new))
    late = [wire for wire in inner if not _wired(draft, wire)]
    _keep_literals(draft, node, new, lost)
    for wire in late:
        path = first_fitting_port(draft.graph, wire.source, wire.output, target)
        if path is None or not _wired(draft, msgspec.structs.replace(wire, port=path)):
            lost.append(f"the wire into '{wire.port}'")
    _suggest(draft, target, new)
    for wire in outer:
        if wire.output >= len(output_ports(draft.graph, target)) or not _wired(draft, wire):
            lost.append(f"the wire to '{title(graph, wire.target)}'")
    return Replacement(draft.finish(keep=frozenset({target})), tuple(lost))


def _bare(draft: Draft, node: Node, new: Operator) -> Node:
    """The node with the new operator, without literals; with as many names as that gives results."""
    fresh = fresh_node(draft, new)
    names = node.names[: len(fresh.names)]
    taken = draft.taken_names()
    rest = tuple(naming.fresh_name(taken, name) for name in fresh.names[len(names) :])
    nested = node.nested and len(fresh.names) == 1
    return msgspec.structs.replace(
        node,
        operator=new.key,
        names=() if nested and not node.names else (*names, *rest),
        nested=nested,
        literals={},
        lengths=fresh.lengths,
        positional=None,
        covered={},
    )


def _wired(draft: Draft, wire: Wire) -> bool:
    """Draw a wire again, if its port is there and takes it; whether it is."""
    port = find_port(draft.graph, wire.target, wire.port)
    if port is None or port.state == "wired":
        return False
    if why_not(draft.graph, wire.source, wire.output, wire.target, wire.port, exact=True):
        return False
    if port.grows and port.element is not None:
        owner = draft.owner(wire.target)
        name = wire.port.rsplit(".", 1)[0]
        draft.put(msgspec.structs.replace(owner, lengths={**owner.lengths, name: port.element + 1}))
    owner = draft.owner(wire.target)
    if wire.port in owner.literals:
        rest = {path: text for path, text in owner.literals.items() if path != wire.port}
        draft.put(msgspec.structs.replace(owner, literals=rest))
    draft.do(AddWire(wire))
    return True


def _keep_literals(draft: Draft, old: Node, new: Operator, lost: list[str]) -> None:
    """Literals go to the parameter of their name, else to the next free one of their kind."""
    before = load().get(old.operator)
    for path, text in old.literals.items():
        name = path.partition(".")[0]
        was = before.parameter(name) if before is not None else None
        found = _place_of(draft, old.id, new, was, name, text)
        if found is not None:
            owner = draft.owner(old.id)
            draft.put(msgspec.structs.replace(owner, literals={**owner.literals, found: text}))
        elif was is None or text not in (was.default, DOCUMENT_DEVICE):
            lost.append(f"{path} = {text if len(text) <= 24 else f'{text[:23]}…'}")


def _place_of(draft: Draft, item: ItemId, new: Operator, was: Parameter | None, name: str, text: str) -> str | None:
    """The path of the argument that takes what was written in another one."""
    same = new.parameter(name)
    wanted: list[Parameter] = [] if same is None else [same]
    wanted += [p for p in new.parameters if p is not same and was is not None and p.kind is was.kind]
    for parameter in wanted:
        port = find_port(draft.graph, item, parameter.name)
        if port is None or port.state != "empty" or not _takes(parameter, text):
            continue
        if parameter is same or new.parameter(name) is None:
            return parameter.name
    return None


def _takes(parameter: Parameter, text: str) -> bool:
    if text == DOCUMENT_DEVICE:
        return parameter.name == "device"
    try:
        parse(text, parameter)
    except LiteralError:
        return False
    return True


def _suggest(draft: Draft, item: ItemId, new: Operator) -> None:
    """What a fresh node of the operator would have in arguments that are needed and still empty."""
    suggested = dict(new.suggested)
    if new.creates and new.parameter("device") is not None:
        suggested["device"] = DOCUMENT_DEVICE
    for path, text in suggested.items():
        port = find_port(draft.graph, item, path)
        if port is not None and port.state == "empty":
            owner = draft.owner(item)
            draft.put(msgspec.structs.replace(owner, literals={**owner.literals, path: text}))
    if any(is_list_like(parameter) for parameter in new.parameters):
        _drop_idle_elements(draft, item, new)


def _drop_idle_elements(draft: Draft, item: ItemId, new: Operator) -> None:
    """A list that is written as a whole has no ports of its own."""
    owner = draft.owner(item)
    whole = {p.name for p in new.parameters if p.name in owner.literals}
    if whole & owner.lengths.keys():
        draft.put(
            msgspec.structs.replace(owner, lengths={k: count for k, count in owner.lengths.items() if k not in whole})
        )
