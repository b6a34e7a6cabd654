"""Recipes for wires that are there already: all of an output to another one, two inputs in each other's place."""

from collections.abc import Iterable
from typing import Final

import msgspec

from gradstudio.graph.edits import AddWire, Edits
from gradstudio.graph.errors import Refused, WireRefused
from gradstudio.graph.model import Graph, ItemId, Node, Wire
from gradstudio.graph.ports.item_ports import Port, find_port, input_ports
from gradstudio.graph.ports.wire_dots import points_of
from gradstudio.graph.recipes.draft import Draft
from gradstudio.graph.recipes.wiring.connection import attach
from gradstudio.graph.recipes.wiring.list_ports import close_gaps, uncover
from gradstudio.graph.rules import why_not
from gradstudio.graph.text.item_titles import title
from gradstudio.operators.errors import LiteralError
from gradstudio.operators.literals.parser import parse
from gradstudio.operators.model import Kind

OPERANDS: Final = frozenset({Kind.TENSOR, Kind.TENSOR_OR_NUMBER, Kind.TENSORS, Kind.VALUES, Kind.ANY, Kind.NUMBER})
"""Kinds of arguments that a person would call the operands of a node."""


def move_wires(
    graph: Graph, source: ItemId, output: int, new: ItemId, new_output: int
) -> tuple[Edits, tuple[tuple[Wire, str], ...]]:
    """Let every wire of an output begin at another one.

    Returns:
        The edits, and the wires that may not begin there and stay, each with the reason.

    Raises:
        WireRefused: none of them may; with the reason of the first.
        Refused: no order of the statements allows it.
    """
    draft = Draft(graph)
    stay = list[tuple[Wire, str]]()
    wires = tuple(wire for wire in graph.wires_from(source) if wire.output == output)
    for wire in wires:
        draft.cut((wire,))
        reason = why_not(draft.graph, new, new_output, wire.target, wire.port, exact=True)
        if reason:
            stay.append((wire, reason))
        moved = wire if reason else Wire(new, new_output, wire.target, wire.port)
        draft.do(AddWire(moved))
        draft.lead((wire.target, wire.port), points_of(graph, (wire.target, wire.port)))
    if stay and len(stay) == len(wires):
        raise WireRefused(stay[0][1])
    return draft.finish(), tuple(stay)


def set_links(graph: Graph, gone: Iterable[Wire], new: Iterable[Wire]) -> Edits:
    """Take wires away and draw others, at once.

    Raises:
        WireRefused: one of them may not be drawn; the message says why.
        Refused: no order of the statements allows it.
    """
    draft, old = Draft(graph), tuple(gone)
    draft.cut(old)
    uncover(draft, old)
    for wire in new:
        attach(draft, wire.source, wire.output, wire.target, wire.port)
    close_gaps(draft, ((wire.target, wire.port) for wire in old))
    return draft.finish()


def swappable_operands(graph: Graph, item: ItemId) -> tuple[Port, Port] | None:
    """The first two operands of a node, which `swap_inputs` exchanges; None where there are no two."""
    if item not in graph.nodes:
        return None
    found = [port for port in input_ports(graph, item) if port.parameter.kind in OPERANDS and not port.grows]
    return (found[0], found[1]) if len(found) > 1 else None


def swap_inputs(graph: Graph, item: ItemId) -> Edits:
    """Exchange what stands in the first two operands of a node, wires and literals alike.

    Raises:
        Refused: it has no two; or one of them does not take what the other has.
    """
    pair = swappable_operands(graph, item)
    if pair is None:
        raise Refused(f"{title(graph, item)} has no two inputs that could change places.")
    one, other = pair[0].path, pair[1].path
    draft = Draft(graph)
    wires = tuple(wire for path in (one, other) if (wire := graph.wire_into(item, path)) is not None)
    draft.cut(wires)
    there = {one: other, other: one}
    draft.put(_exchanged(draft.graph.nodes[item], there))
    _check_literals(draft, item, (one, other))
    for wire in wires:
        reason = why_not(draft.graph, wire.source, wire.output, item, there[wire.port], exact=True)
        if reason:
            raise WireRefused(reason)
        draft.do(AddWire(msgspec.structs.replace(wire, port=there[wire.port])))
    return draft.finish()


def _exchanged(node: Node, there: dict[str, str]) -> Node:
    literals = {there.get(path, path): text for path, text in node.literals.items()}
    covered = {there.get(path, path): text for path, text in node.covered.items()}
    muted = {there.get(path, path): end for path, end in node.muted_wires.items()}
    return msgspec.structs.replace(node, literals=literals, covered=covered, muted_wires=muted)


def _check_literals(draft: Draft, item: ItemId, paths: tuple[str, ...]) -> None:
    literals = draft.owner(item).literals
    for path in paths:
        port = find_port(draft.graph, item, path)
        if port is not None and path in literals:
            try:
                parse(literals[path], port.parameter)
            except LiteralError as error:
                raise Refused(str(error)) from None
