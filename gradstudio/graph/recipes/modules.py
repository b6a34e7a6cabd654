"""Recipes for modules: calls that share weights, modes, leaves that are read, children of containers."""

from collections.abc import Iterable

import msgspec

from gradstudio.graph.analysis import module_modes
from gradstudio.graph.card_grouping import CALLED, EVAL, FREEZE, SELF, TRAIN, calls_of, makes_module
from gradstudio.graph.edits import AddNode, AddWire, Edits, MoveItem, RemoveNode, SetPlaces
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import Graph, ItemId, Place, Wire
from gradstudio.graph.ports.item_ports import input_ports
from gradstudio.graph.recipes.draft import Draft
from gradstudio.graph.recipes.nodes import fresh_call, fresh_node
from gradstudio.graph.recipes.wiring.connection import connect
from gradstudio.graph.text.item_titles import title
from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.model import Kind

CALL_GAP_PX = 260.0
BELOW_PX = 280.0
"""How far below the last call of its module another one stands."""
BESIDE_PX = 190.0
"""How far above or below its module's card stand what switches and reads it, and its children."""
ATTRIBUTE, ITEM = "python.attribute", "operator.getitem"


def call_again(graph: Graph, module: ItemId) -> tuple[Edits, ItemId]:
    """One more call of a module: it shares the weights.

    Returns:
        The edits, and the id of the call.
    """
    draft = Draft(graph)
    calls = calls_of(graph, module)
    beside = calls[-1] if calls else module
    place = graph.places.get(beside, Place(0.0, 0.0))
    body = graph.parents[beside]
    call = fresh_call(draft, module)
    below = BELOW_PX if calls else 0.0
    draft.do(
        AddNode(call, body, graph.bodies[body].index(beside) + 1),
        SetPlaces({call.id: Place(place.x + (0.0 if calls else CALL_GAP_PX), place.y + below)}),
        AddWire(Wire(module, 0, call.id, CALLED)),
    )
    return draft.finish(), call.id


def set_training(graph: Graph, modules: Iterable[ItemId], training: bool) -> Edits:
    """Write ``fc.eval()`` behind each module, or take it away.

    Raises:
        Refused: what holds a module is in another mode, or a result of the switch is used.
    """
    draft = Draft(graph)
    for module in modules:
        _take_away(draft, module_modes.mode_statements(draft.graph, module), module)
        if module_modes.is_training(draft.graph, module) != training:
            others = module_modes.mode_statements(draft.graph, module)
            _write_behind(draft, others[-1] if others else module, module, TRAIN if training else EVAL, {})
    return draft.finish()


def set_frozen(graph: Graph, modules: Iterable[ItemId], frozen: bool) -> Edits:
    """Write ``fc.requires_grad_(False)`` behind each module, so that nothing of it learns, or take it away.

    Raises:
        Refused: a result of the switch is used.
    """
    draft = Draft(graph)
    for module in modules:
        _take_away(draft, module_modes.freeze_statements(draft.graph, module), module)
        if module_modes.is_frozen(draft.graph, module) != frozen:
            others = module_modes.freeze_statements(draft.graph, module)
            behind = others[-1] if others else module
            _write_behind(draft, behind, module, FREEZE, {"requires_grad": str(not frozen)})
    return draft.finish()


def read_leaf(graph: Graph, module: ItemId, path: str) -> tuple[Edits, ItemId]:
    """A part that reads a parameter or a buffer: ``fc.weight``, ``model[0].weight``.

    Returns:
        The edits, and the id of the part that gives it.
    """
    draft = Draft(graph)
    leaf = _reading(draft, module, path)
    return draft.finish(), leaf


def connect_leaf(graph: Graph, module: ItemId, path: str, target: ItemId, port: str) -> Edits:
    """Wire a parameter or a buffer into an input.

    Raises:
        Refused: it may not be wired there.
    """
    draft = Draft(graph)
    leaf = _reading(draft, module, path)
    before = draft.finish()
    return (*before, *connect(draft.graph, leaf, 0, target, port))


def initialise(graph: Graph, module: ItemId, path: str, key: str) -> Edits:
    """Fill a parameter by an initialiser, directly behind the module: ``nn.init.xavier_uniform_(fc.weight)``."""
    draft = Draft(graph)
    body = graph.parents[module]
    leaf = _reading(draft, module, path)
    node = fresh_node(draft, load()[key])
    place = graph.places.get(module, Place(0.0, 0.0))
    index = draft.graph.bodies[body].index(leaf) + 1
    draft.do(
        AddNode(node, body, index),
        SetPlaces({node.id: Place(place.x + CALL_GAP_PX, place.y - BESIDE_PX)}),
        AddWire(Wire(leaf, 0, node.id, load()[key].parameters[0].name)),
    )
    return draft.finish()


def add_child(graph: Graph, container: ItemId, key: str) -> tuple[Edits, ItemId]:
    """A fresh layer as the last child of a container, written inside it: ``nn.Sequential(nn.Linear(4, 8))``.

    Raises:
        Refused: the container takes no more modules, or the operator makes none.
    """
    if not makes_module(load().get(key)):
        raise Refused(f"A container holds modules; {load()[key].title} makes none.")
    draft = Draft(graph)
    layer = msgspec.structs.replace(fresh_node(draft, load()[key]), names=(), nested=True)
    path = free_child_port(graph, container)
    if path is None:
        raise Refused(f"{title(graph, container)} takes no more modules here.")
    body = graph.parents[container]
    draft.do(
        AddNode(layer, body, graph.bodies[body].index(container)),
        SetPlaces({layer.id: _place_of_child(graph, container)}),
    )
    return (*draft.finish(), *connect(draft.graph, layer.id, 0, container, path)), layer.id


def free_child_port(graph: Graph, container: ItemId) -> str | None:
    """The port of a container that its next child goes to; None when it is no container."""
    ports = [port for port in input_ports(graph, container) if port.parameter.kind in (Kind.MODULE, Kind.MODULES)]
    return next(
        (port.path for port in ports if port.state == "empty" and (port.element is not None or port.grows)), None
    )


def move_child(graph: Graph, container: ItemId, path: str, by: int) -> Edits:
    """Let a child of a container change places with the one before (by = -1) or behind (1) it.

    Raises:
        Refused: there is none.
    """
    name, _, number = path.rpartition(".")
    other = f"{name}.{int(number) + by}" if number.isdigit() else path
    here = graph.wire_into(container, path)
    there = graph.wire_into(container, other)
    if here is None or there is None or here == there:
        raise Refused(f"'{path}' is the {'first' if by < 0 else 'last'} of its list.")
    draft = Draft(graph)
    draft.cut((here, there))
    draft.do(
        AddWire(Wire(here.source, here.output, container, other)),
        AddWire(Wire(there.source, there.output, container, path)),
    )
    _in_order(draft, container)
    places = {source: graph.places.get(source) for source in (here.source, there.source)}
    if None not in places.values():
        draft.do(SetPlaces({here.source: places[there.source], there.source: places[here.source]}))
    return draft.finish()


def _in_order(draft: Draft, container: ItemId) -> None:
    """Children that are written inside their container stand before it in the order they are given."""
    graph = draft.graph
    body = graph.parents[container]
    nested = [child for child in module_modes.children(graph, container) if graph.nodes[child].nested]
    nested = [child for child in nested if graph.parents[child] == body]
    for child in nested:
        items = [item for item in graph.bodies[body] if item != child]
        draft.do(MoveItem(child, body, items.index(container)))


def _take_away(draft: Draft, statements: Iterable[ItemId], module: ItemId) -> None:
    """Remove switches of this module that nothing reads."""
    for item in statements:
        wire = draft.graph.wire_into(item, SELF)
        if wire is not None and wire.source == module and not draft.graph.wires_from(item):
            draft.cut(draft.graph.wires_to(item))
            draft.do(RemoveNode(item))
            draft.do(SetPlaces({key: None for key in (item, f"note:{item}") if key in draft.graph.places}))


def _write_behind(draft: Draft, behind: ItemId, module: ItemId, key: str, literals: dict[str, str]) -> None:
    """A switch of a module as a statement directly behind another statement."""
    graph = draft.graph
    body = graph.parents[behind]
    switch = msgspec.structs.replace(fresh_node(draft, load()[key]), literals=literals)
    place = graph.places.get(module, Place(0.0, 0.0))
    draft.do(
        AddNode(switch, body, graph.bodies[body].index(behind) + 1),
        SetPlaces({switch.id: place}),
        AddWire(Wire(module, 0, switch.id, SELF)),
    )


def _reading(draft: Draft, module: ItemId, path: str) -> ItemId:
    """Parts that read a leaf, directly behind the module: numbers are items (``model[0]``), words attributes."""
    source = module
    words: list[str] = []
    for word in path.split("."):
        if word.isdigit():
            source = _attribute(draft, module, source, words)
            source = _part(draft, module, source, ITEM, {"index": word}, "a")
            words = []
        else:
            words.append(word)
    return _attribute(draft, module, source, words)


def _attribute(draft: Draft, module: ItemId, source: ItemId, words: list[str]) -> ItemId:
    return _part(draft, module, source, ATTRIBUTE, {"name": ".".join(words)}, "object") if words else source


def _part(draft: Draft, module: ItemId, source: ItemId, key: str, literals: dict[str, str], port: str) -> ItemId:
    graph = draft.graph
    made = fresh_node(draft, load()[key])
    lengths = {"index": 1} if key == ITEM else {}
    if key == ITEM:
        literals = {"index.0": literals["index"]}
    made = msgspec.structs.replace(made, names=(), nested=True, literals=literals, lengths=lengths)
    body = graph.parents[module]
    place = graph.places.get(module, Place(0.0, 0.0))
    draft.do(
        AddNode(made, body, graph.bodies[body].index(source) + 1),
        SetPlaces({made.id: Place(place.x, place.y - BESIDE_PX)}),
        AddWire(Wire(source, 0, made.id, port)),
    )
    return made.id


def _place_of_child(graph: Graph, container: ItemId) -> Place:
    """Left of the container, below its other children."""
    place = graph.places.get(container, Place(0.0, 0.0))
    count = len(module_modes.children(graph, container))
    return Place(place.x - CALL_GAP_PX, place.y + BESIDE_PX * count)
