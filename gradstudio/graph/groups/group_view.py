"""The inside of a group as a graph that can be shown and edited like a program, and the way back.

The shown graph holds the definition's items and two cards more, `INPUTS_CARD` as the first and `OUTPUTS_CARD`
as the last statement, so that inputs and outputs are wired, named and laid out as everything else.
"""

import msgspec

from gradstudio.graph import names as naming
from gradstudio.graph.boundary_cards import (
    CARDS,
    INPUTS_CARD,
    MORE,
    OUTPUTS_CARD,
    inputs_node,
    output_names,
    outputs_node,
)
from gradstudio.graph.edits import (
    AddNode,
    AddWire,
    Edit,
    Edits,
    MoveItem,
    RemoveNode,
    RemoveWire,
    ReplaceNode,
    SetDefinition,
    SetHeader,
    SetPlaces,
    SetTensor,
    apply,
    apply_all,
)
from gradstudio.graph.groups.call_updates import Kept, callers_follow, calls_split
from gradstudio.graph.groups.definitions import definition_with_body, inputs_in_order
from gradstudio.graph.model import (
    DEFINITION_INPUTS,
    DEFINITION_OUTPUTS,
    ROOT,
    Definition,
    Graph,
    ItemId,
    Node,
    Place,
    Wire,
)
from gradstudio.graph.ports.item_ports import find_port

BESIDE_PX = 300.0
"""How far beside the statements the two cards stand at first."""
_KEYS = ((INPUTS_CARD, DEFINITION_INPUTS), (OUTPUTS_CARD, DEFINITION_OUTPUTS))


def open_group(root: Graph, name: str) -> Graph:
    """The inside of a definition, with its two cards; everything it calls can be looked up in it."""
    definition = root.definitions[name]
    shown = definition.graph.copy()
    shown.header, shown.definitions = root.header, dict(root.definitions)
    shown.tensors = {**root.tensors, **shown.tensors}
    outer = [wire for wire in shown.wires.values() if _is_outer(wire)]
    _do(shown, *(RemoveWire(wire) for wire in outer))
    _do(shown, AddNode(inputs_node(definition.inputs), ROOT, 0))
    _do(shown, AddNode(outputs_node(definition.outputs), ROOT, len(shown.bodies[ROOT])))
    _do(shown, *(AddWire(inner) for wire in outer if (inner := _inwards(wire, definition)) is not None))
    _place_cards(shown)
    shown.revision = definition.graph.revision
    return shown


def close_group(root: Graph, name: str, shown: Graph) -> Edits:
    """The edits of the program that make a definition what is shown; its calls follow its inputs and outputs."""
    before = root.definitions[name]
    after = definition_of(shown, before)
    edits: list[Edit] = [SetTensor(d, tensor) for d, tensor in shown.tensors.items() if d not in root.tensors]
    if shown.header != root.header:
        edits.append(SetHeader(shown.header))
    known = root.definitions
    brought = (SetDefinition(key, one) for key, one in shown.definitions.items() if known.get(key) is not one)
    edits += [edit for edit in brought if edit.name != name]
    edits.append(SetDefinition(name, after))
    if (before.inputs, before.outputs) != (after.inputs, after.outputs):
        draft = root.copy()
        apply_all(draft, tuple(edits))
        origins = dict(_by_place(before.inputs, shown.nodes[INPUTS_CARD].names))
        inputs = tuple((name, origins[name]) for name in after.inputs)
        edits += callers_follow(draft, before, inputs, _by_place(before.outputs, after.outputs))
    if after.is_module and not before.is_module:
        draft = root.copy()
        apply_all(draft, tuple(edits))
        edits += calls_split(draft, after)
    return tuple(edits)


def definition_of(shown: Graph, before: Definition) -> Definition:
    """The definition that is shown, without the cards; inputs that have a default stand where Python takes them."""
    inner = shown.copy()
    inputs = inner.nodes[INPUTS_CARD].names
    outputs = output_names(inner.nodes[OUTPUTS_CARD])
    kept = _by_place(before.inputs, inputs)
    names = {before.inputs[k]: name for name, k in kept if k >= 0}
    defaults = [names[name] for name in before.defaults if name in names]
    ordered = inputs_in_order(inputs, defaults, tuple(names[name] for name in before.settings if name in names))
    outer = [wire for wire in inner.wires.values() if wire.source == INPUTS_CARD or wire.target == OUTPUTS_CARD]
    _do(inner, *(RemoveWire(wire) for wire in outer))
    _do(inner, RemoveNode(INPUTS_CARD), RemoveNode(OUTPUTS_CARD))
    _do(inner, *(AddWire(_outwards(wire, inputs, ordered, outputs)) for wire in outer))
    for card, key in _KEYS:
        if (place := inner.places.pop(card, None)) is not None:
            inner.places[key] = place
    inner.definitions, inner.tensors = {}, {}
    return definition_with_body(before, ordered, outputs, inner, names)


def boundary_edits(shown: Graph) -> Edits:
    """What has to be done so that the cards stand where they must, and every wire to a "+" has a port of its own."""
    draft = shown.copy()
    done = list[Edit]()

    def do(*edits: Edit) -> None:
        _do(draft, *edits)
        done.extend(edits)

    for card, fresh in ((INPUTS_CARD, inputs_node(())), (OUTPUTS_CARD, outputs_node(()))):
        if card not in draft.nodes:
            do(AddNode(fresh, ROOT, 0))
    do(*_in_their_places(draft))
    do(*_named_inputs(draft))
    do(*_named_outputs(draft))
    for card, plain in _plain(draft):
        if draft.nodes[card] != plain:
            do(ReplaceNode(plain))
    return tuple(done)


def rearrange_outputs(shown: Graph, kept: Kept) -> Edits:
    """Outputs of these names in this order, each with the number of the old one it goes on; -1: a new one."""
    node = shown.nodes[OUTPUTS_CARD]
    old = output_names(node)
    wires = {wire.port: wire for wire in shown.wires_to(OUTPUTS_CARD)}
    goes_on = {old[k]: name for name, k in kept if 0 <= k < len(old)}
    removals = [RemoveWire(wire) for wire in wires.values()]
    again = list[AddWire]()
    for port, wire in wires.items():
        if port in goes_on:
            again.append(AddWire(Wire(wire.source, wire.output, OUTPUTS_CARD, goes_on[port])))
    return (*removals, ReplaceNode(outputs_node(tuple(name for name, _ in kept))), *again)


def rearrange_inputs(shown: Graph, kept: Kept) -> Edits:
    """Inputs of these names in this order, each with the number of the old one it goes on; -1: a new one."""
    wires = shown.wires_from(INPUTS_CARD)
    now = {k: place for place, (_, k) in enumerate(kept) if k >= 0}
    removals = [RemoveWire(wire) for wire in wires]
    again = list[AddWire]()
    for wire in wires:
        if wire.output in now:
            again.append(AddWire(Wire(INPUTS_CARD, now[wire.output], wire.target, wire.port)))
    return (*removals, ReplaceNode(inputs_node(tuple(name for name, _ in kept))), *again)


def _do(graph: Graph, *edits: Edit) -> None:
    for edit in edits:
        apply(graph, edit)


def _is_outer(wire: Wire) -> bool:
    return wire.source == DEFINITION_INPUTS or wire.target == DEFINITION_OUTPUTS


def _inwards(wire: Wire, definition: Definition) -> Wire | None:
    """A wire of a definition as it is shown; None when its input or output is not there."""
    source = INPUTS_CARD if wire.source == DEFINITION_INPUTS else wire.source
    if wire.target != DEFINITION_OUTPUTS:
        return Wire(source, wire.output, wire.target, wire.port)
    if not wire.port.isdigit() or int(wire.port) >= len(definition.outputs):
        return None
    return Wire(source, wire.output, OUTPUTS_CARD, definition.outputs[int(wire.port)])


def _outwards(wire: Wire, inputs: tuple[str, ...], ordered: tuple[str, ...], outputs: tuple[str, ...]) -> Wire:
    """A shown wire as the definition holds it; `inputs` are those of the card, `ordered` those of the definition."""
    source = wire.source
    output = wire.output
    if source == INPUTS_CARD:
        source = DEFINITION_INPUTS
        output = ordered.index(inputs[output])
    if wire.target != OUTPUTS_CARD:
        return Wire(source, output, wire.target, wire.port)
    return Wire(source, output, DEFINITION_OUTPUTS, str(outputs.index(wire.port)))


def _by_place(before: tuple[str, ...], now: tuple[str, ...]) -> Kept:
    """Which old one each new one is: of the same name, else of the same place where neither name is left."""
    return tuple((name, _origin(name, k, before, now)) for k, name in enumerate(now))


def _origin(name: str, place: int, before: tuple[str, ...], now: tuple[str, ...]) -> int:
    if name in before:
        return before.index(name)
    is_renamed = place < len(before) and before[place] not in now
    return place if is_renamed else -1


def _place_cards(shown: Graph) -> None:
    places = [place for key, place in shown.places.items() if not key.startswith(("note:", "@"))]
    left = min((p.x for p in places), default=0.0)
    right = max((p.x for p in places), default=0.0)
    top = min((p.y for p in places), default=0.0)
    for card, key in _KEYS:
        beside = Place(left - BESIDE_PX if card == INPUTS_CARD else right + BESIDE_PX, top)
        shown.places[card] = shown.places.pop(key, beside)


def _in_their_places(shown: Graph) -> Edits:
    order = shown.bodies[ROOT]
    last = len(shown.bodies[ROOT]) - 1
    moved: list[Edit] = []
    if not order or order[0] != INPUTS_CARD:
        moved.append(MoveItem(INPUTS_CARD, ROOT, 0))
    if order[last] != OUTPUTS_CARD:
        outside = shown.parents[OUTPUTS_CARD] != ROOT or (moved and shown.parents[INPUTS_CARD] != ROOT)
        moved.append(MoveItem(OUTPUTS_CARD, ROOT, last + 1 if outside else last))
    missing = {card: None for card in CARDS if card not in shown.places}
    return tuple(moved) if not missing else (*moved, SetPlaces({card: Place(0.0, 0.0) for card in missing}))


def _named_inputs(shown: Graph) -> Edits:
    """Names for all inputs that are wired: a wire from the "+" names its own after where it ends."""
    node = shown.nodes[INPUTS_CARD]
    taken = set(naming.bound_names(shown)) - {"_"}
    names = [name if name != "_" else naming.fresh_name(taken, "x") for name in node.names]
    dropped = [wire for wire in shown.wires_from(INPUTS_CARD) if wire.output > len(names)]
    wire = next((wire for wire in shown.wires_from(INPUTS_CARD) if wire.output == len(names)), None)
    if wire is not None:
        port = find_port(shown, wire.target, wire.port)
        names.append(naming.fresh_name(taken, _word(port.parameter.name if port is not None else "")))
    if tuple(names) == node.names:
        return tuple(RemoveWire(one) for one in dropped)
    return (*(RemoveWire(one) for one in dropped), ReplaceNode(msgspec.structs.replace(node, names=tuple(names))))


def _named_outputs(shown: Graph) -> Edits:
    """A wire to the "+" makes an output of the name of what it brings."""
    names = output_names(shown.nodes[OUTPUTS_CARD])
    dropped = tuple(RemoveWire(w) for w in shown.wires_to(OUTPUTS_CARD) if w.port not in (*names, MORE))
    wire = shown.wire_into(OUTPUTS_CARD, MORE)
    if wire is None:
        return dropped
    bound = shown.nodes[wire.source].names if wire.source in shown.nodes else ()
    base = bound[wire.output] if wire.output < len(bound) and bound[wire.output] != "_" else "out"
    name = naming.fresh_name(set(names), base)
    made = outputs_node((*names, name))
    return (*dropped, RemoveWire(wire), ReplaceNode(made), AddWire(Wire(wire.source, wire.output, wire.target, name)))


def _word(name: str) -> str:
    """What an input is called after the argument it fills."""
    return name if name.isidentifier() and name not in ("a", "b", "self", "other", "tensors", "values") else "x"


def _plain(shown: Graph) -> tuple[tuple[ItemId, Node], ...]:
    """The cards carry names and nothing else."""
    inputs = shown.nodes[INPUTS_CARD]
    outputs = shown.nodes[OUTPUTS_CARD]
    return (INPUTS_CARD, inputs_node(inputs.names)), (OUTPUTS_CARD, outputs_node(output_names(outputs)))
