"""Recipes for wires: connecting, taking away, inserting."""

import msgspec

from gradstudio.graph.card_grouping import CALL, CALLED, card_groups, is_callable, makes_module
from gradstudio.graph.edits import AddNode, AddWire, Edits, RemoveNode, SetPlaces
from gradstudio.graph.errors import Refused, WireRefused
from gradstudio.graph.model import DEFINITION_OUTPUTS, BodyId, Graph, ItemId, Node, Place, Wire
from gradstudio.graph.operator_rows import GROUP, row_of, row_of_key
from gradstudio.graph.ports.drop_target import DropTarget, drop_target
from gradstudio.graph.ports.item_ports import find_port, input_ports, output_family, output_ports
from gradstudio.graph.ports.muted_wires import is_muted, without_muted
from gradstudio.graph.ports.wire_dots import points_of
from gradstudio.graph.recipes.draft import Draft
from gradstudio.graph.recipes.nodes import add_call, fresh_node
from gradstudio.graph.recipes.wiring.list_ports import close_gaps, fit_call, index_in, uncover
from gradstudio.graph.rules import why_not
from gradstudio.graph.text.item_titles import title
from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.model import Family, Kind

BESIDE_PX = 260.0
"""How far left of its reader stands what comes between."""


def connect(graph: Graph, source: ItemId, output: int, target: ItemId, port: str) -> Edits:
    """Draw a wire; what stood in the port makes way, and the order follows. Nothing where it is drawn already.

    Raises:
        WireRefused: the rule-book forbids it; the message says why.
        Refused: no order of the statements allows it.
    """
    if is_wired(graph, source, output, target, port):
        return ()
    draft = Draft(graph)
    attach(draft, source, output, target, port)
    _drop_idle_call(draft, source, target, port)
    return draft.finish()


def is_wired(graph: Graph, source: ItemId, output: int, target: ItemId, port: str) -> bool:
    """Whether this very wire is there, and not muted."""
    wire = graph.wire_into(target, port)
    return wire is not None and (wire.source, wire.output) == (source, output) and not is_muted(graph, wire)


def disconnect(graph: Graph, wire: Wire) -> Edits:
    """Take a wire away: a list closes the gap, elsewhere what was written there before stands there again."""
    return disconnect_all(graph, (wire,))


def disconnect_all(graph: Graph, wires: tuple[Wire, ...]) -> Edits:
    """Take several wires away at once."""
    draft = Draft(graph)
    for wire in wires:
        if is_muted(graph, wire):
            draft.put(without_muted(draft.graph.nodes[wire.target], (wire.port,)))
    draft.cut(wires)
    uncover(draft, wires)
    close_gaps(draft, ((wire.target, wire.port) for wire in wires))
    return draft.finish()


def replace_target(graph: Graph, wire: Wire, target: ItemId, port: str) -> Edits:
    """Move the end of a wire to another input; within one list the two change places.

    Raises:
        WireRefused: it may not end there; the message says why.
    """
    draft = Draft(graph)
    draft.cut((wire,))
    moves = (wire.target, wire.port) != (target, port)
    other = graph.wire_into(target, port) if _in_one_list(wire, target, port) else None
    if moves:
        uncover(draft, (wire,))
    attach(draft, wire.source, wire.output, target, port)
    if other is not None and moves:
        attach(draft, other.source, other.output, target, wire.port)
    elif moves:
        close_gaps(draft, ((wire.target, wire.port),))
    return draft.finish()


def insert_on_wire(graph: Graph, wire: Wire, key: str, x: float, y: float) -> tuple[Edits, ItemId]:
    """A fresh node in the middle of a wire, directly before the wire's user.

    Raises:
        Refused: the operator has no input that takes what flows, or no output.
    """
    draft = Draft(graph)
    operator = row_of_key(graph, key)
    if operator is None:
        raise Refused(f"There is no '{key.removeprefix(GROUP)[:60]}' any more.")
    node = fresh_node(draft, operator)
    body = graph.parents[wire.target]
    if wire.port.startswith("next."):
        body = BodyId(wire.target)
    index = graph.bodies[body].index(wire.target) if wire.target in graph.bodies[body] else draft.end_of(body)
    draft.do(AddNode(node, body, index), SetPlaces({node.id: Place(x, y)}))
    draft.cut((wire,))
    if is_callable(operator) and output_family(graph, wire.source, wire.output) is not Family.MODULE:
        node = add_call(draft, node, body, x, y)
    path = first_fitting_port(draft.graph, wire.source, wire.output, node.id)
    if path is None or not output_ports(draft.graph, node.id):
        raise Refused(f"{title(draft.graph, node.id)} cannot stand on this wire: nothing of it fits what flows here.")
    attach(draft, wire.source, wire.output, node.id, path)
    attach(draft, node.id, 0, wire.target, wire.port)
    points = points_of(graph, (wire.target, wire.port))
    draft.lead((node.id, path), [point for point in points if point[0] < x])
    draft.lead((wire.target, wire.port), [point for point in points if point[0] >= x])
    return draft.finish(), node.id


def first_fitting_port(graph: Graph, source: ItemId, output: int, target: ItemId) -> str | None:
    """The input of target that a wire from this output would naturally take: the first free one that fits."""
    called = card_groups(graph).modules.get(target)
    ports = [port for port in input_ports(graph, target) if called is None or port.path != CALLED]
    fitting = [port for port in ports if not why_not(graph, source, output, target, port.path)]
    free = [port for port in fitting if port.state == "empty"]
    preferred = [port for port in free if port.required] or free or fitting
    return preferred[0].path if preferred else None


def attach(draft: Draft, source: ItemId, output: int, target: ItemId, path: str) -> None:
    """Draw a wire in a draft; what stood in the port makes way.

    Raises:
        WireRefused: the rule-book forbids it; the message says why.
    """
    reason = why_not(draft.graph, source, output, target, path)
    if reason:
        raise WireRefused(reason)
    land = drop_target(draft.graph, source, output, target, path)
    if land is not None:
        path = _land(draft, target, land)
        source = _between(draft, source, output, target, land)
        output = 0 if land.between else output
    old = draft.graph.wire_into(target, path)
    if old is not None:
        draft.cut((old,))
    if target == DEFINITION_OUTPUTS:
        draft.do(AddWire(Wire(source, output, target, path)))
        return
    owner = draft.owner(target)
    port = find_port(draft.graph, target, path)
    lengths = owner.lengths
    if port is not None and port.grows and port.element is not None:
        lengths = {**lengths, port.path.rsplit(".", 1)[0]: port.element + 1}
    literals = {key: text for key, text in owner.literals.items() if key != path}
    if isinstance(owner, Node) and path in owner.literals:
        owner = msgspec.structs.replace(owner, covered={**owner.covered, path: owner.literals[path]})
    if isinstance(owner, Node):
        owner = without_muted(owner, (path,))
    draft.put(msgspec.structs.replace(owner, literals=literals, lengths=lengths))
    draft.do(AddWire(Wire(source, output, target, path)))
    if path == CALLED and isinstance(owner, Node) and owner.operator == CALL:
        fit_call(draft, target)


def _land(draft: Draft, target: ItemId, land: DropTarget) -> str:
    """Give the list the shape in which the wire ends; the port."""
    owner = draft.owner(target)
    name = land.port.split(".")[0]
    lengths = {key: length for key, length in owner.lengths.items() if key != name}
    if land.length:
        lengths[name] = land.length
    draft.cut(tuple(wire for wire in draft.graph.wires_to(target) if wire.port.split(".")[0] == name))
    draft.put(msgspec.structs.replace(owner, lengths=lengths))
    return land.port


def _between(draft: Draft, source: ItemId, output: int, target: ItemId, land: DropTarget) -> ItemId:
    """The source of the wire: what comes between, written inside the target, where there is such a thing."""
    if not land.between:
        return source
    operator = load()[land.between]
    node = msgspec.structs.replace(fresh_node(draft, operator), names=(), nested=True)
    place = draft.graph.places.get(target, Place(0.0, 0.0))
    body = draft.graph.parents[target]
    draft.do(
        AddNode(node, body, draft.graph.bodies[body].index(target)),
        SetPlaces({node.id: Place(place.x - BESIDE_PX, place.y)}),
        AddWire(Wire(source, output, node.id, operator.parameters[0].name)),
    )
    return node.id


def _drop_idle_call(draft: Draft, source: ItemId, target: ItemId, path: str) -> None:
    """A layer that is given to a container is called by it: the call it came with goes, if nothing was wired to it."""
    call = card_groups(draft.graph).calls.get(source)
    port = find_port(draft.graph, target, path)
    takes = port is not None and port.parameter.kind in (Kind.MODULE, Kind.MODULES)
    if (
        call is None
        or call == target
        or not takes
        or target not in draft.graph.nodes
        or not makes_module(row_of(draft.graph, draft.graph.nodes[target]))
    ):
        return
    if draft.graph.wires_from(call) or len(draft.graph.wires_to(call)) > 1 or draft.graph.nodes[call].literals:
        return
    draft.cut(draft.graph.wires_to(call))
    draft.do(RemoveNode(call), SetPlaces({key: None for key in (call, f"note:{call}") if key in draft.graph.places}))


def _in_one_list(wire: Wire, target: ItemId, port: str) -> bool:
    parameter, _, number = port.rpartition(".")
    return bool(number.isdigit()) and wire.target == target and index_in(wire.port, parameter) >= 0
