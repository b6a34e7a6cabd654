"""Records of a file → graph, in bulk, with one linear check instead of an edit per item."""

from typing import cast, get_args

import msgspec

from gradstudio.document.errors import BadWire
from gradstudio.document.gsg.field_checks import (
    Fault,
    Where,
    check_definition_names,
    check_header,
    check_item,
    input_problem,
    safe_literals,
)
from gradstudio.document.gsg.file_records import (
    BodyRecord,
    ContentRecord,
    DefinitionRecord,
    ForRecord,
    Item,
    NodeRecord,
    PlaceRecord,
)
from gradstudio.document.gsg.order_check import check_forward
from gradstudio.graph.model import (
    DEFINITION_INPUTS,
    DEFINITION_OUTPUTS,
    ROOT,
    Block,
    BlockKind,
    BodyId,
    ChartKind,
    Definition,
    Graph,
    Header,
    ItemId,
    Node,
    Place,
    Wire,
)
from gradstudio.graph.ports.item_ports import find_port, has_no_variable, output_ports
from gradstudio.graph.ports.wire_dots import end_of, renumber_dots, wire_of
from gradstudio.graph.text.record_checks import literal_reason
from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.model import Kind

DEEPEST_NESTING = 100


def build(content: ContentRecord) -> Graph:
    """The graph of a file or fragment, without its stored tensors.

    Raises:
        Fault: something in it does not fit; with its path.
    """
    check_header(content.header)
    graph = _body(content, (), None)
    header = content.header
    graph.header = Header(header.seed, header.device, header.default_dtype, header.deferred_annotations)
    graph.places = _places(graph, content.view.places)
    for number, record in enumerate(content.definitions):
        where: Where = ("definitions", number)
        check_definition_names(record, where)
        if record.name in graph.definitions:
            raise Fault(f"there are two definitions '{record.name}'", (*where, "name"))
        graph.definitions[record.name] = _definition(content, record, where)
    _check_recursion(graph)
    return graph


def _definition(content: ContentRecord, record: DefinitionRecord, where: Where) -> Definition:
    inner = _body(record, where, record)
    inner.places = _places(inner, content.view.definitions.get(record.name, {}))
    _check_signature(inner, record, where)
    return Definition(
        record.name,
        tuple(record.inputs),
        tuple(record.outputs),
        inner,
        defaults=record.defaults,
        is_module=record.module,
        settings=tuple(record.settings),
        setup=tuple(ItemId(item) for item in record.setup),
        kept=tuple(ItemId(item) for item in record.kept),
        note=record.note,
    )


def _check_signature(inner: Graph, record: DefinitionRecord, where: Where) -> None:
    """What says more of inputs and of statements names those that are there."""
    for field, names in (("settings", record.settings), ("defaults", list(record.defaults))):
        if unknown := next((name for name in names if name not in record.inputs), ""):
            raise Fault(f"the definition has no input '{unknown}'", (*where, field))
    for field, items in (("setup", record.setup), ("kept", record.kept)):
        if unknown := next((item for item in items if ItemId(item) not in inner), ""):
            raise Fault(f"there is no item '{unknown}'", (*where, field))
    for name, text in record.defaults.items():
        if reason := literal_reason(text, Kind.ANY):
            raise Fault(f"the default of '{name}' is no literal: {reason}", (*where, "defaults"))


def _body(record: BodyRecord, where: Where, definition: DefinitionRecord | None) -> Graph:
    graph = Graph()
    _add_items(graph, record.items, (*where, "items"))
    _add_wires(graph, record, where, definition)
    check_forward(graph, (*where, "wires"), record.wires)
    for number, tail in enumerate(record.tails):
        body = BodyId(tail.inside)
        if body not in graph.bodies:
            raise Fault(f"there is no block '{body}'", (*where, "tails", number, "in"))
        if tail.text:
            graph.tails[body] = tail.text
    return graph


def _add_items(graph: Graph, items: list[Item], where: Where) -> None:
    statements: dict[BodyId, list[ItemId]] = {ROOT: []}
    around: list[BodyId] = [ROOT]
    for number, item in enumerate(items):
        here = (*where, number)
        check_item(item, here)
        literals = safe_literals(item, here)
        item_id, body = ItemId(item.id), BodyId(item.inside)
        if item_id in graph:
            raise Fault(f"the id '{item_id}' is taken by an item above", (*here, "id"))
        _close_blocks(around, body, here)
        statements[body].append(item_id)
        graph.parents[item_id] = body
        if isinstance(item, NodeRecord):
            graph.nodes[item_id] = _node(item, item_id, literals)
            continue
        graph.blocks[item_id] = _block(item, item_id, literals)
        statements[BodyId(item_id)] = []
        around.append(BodyId(item_id))
        if len(around) > DEEPEST_NESTING:
            raise Fault(f"blocks are nested more than {DEEPEST_NESTING} deep", here)
    graph.bodies = {body: tuple(order) for body, order in statements.items()}


def _close_blocks(around: list[BodyId], body: BodyId, where: Where) -> None:
    if body not in around:
        raise Fault(f"'{body}' is not a block that is open here; a block's statements follow it", (*where, "in"))
    while around[-1] != body:
        around.pop()


def _node(item: NodeRecord, item_id: ItemId, literals: dict[str, str]) -> Node:
    return Node(
        id=item_id,
        operator=item.operator,
        names=tuple(item.names),
        literals=literals,
        lengths=item.lengths,
        positional=None if item.positional is None else tuple(item.positional),
        nested=item.nested,
        note=item.note,
        beside=item.beside,
        blank_before=item.blank_before,
        muted=item.muted,
        bypassed=item.bypassed,
        marks=tuple(item.marks),
    )


def _block(item: Item, item_id: ItemId, literals: dict[str, str]) -> Block:
    assert not isinstance(item, NodeRecord)
    return Block(
        id=item_id,
        kind=cast(BlockKind, item.__struct_config__.tag),
        title=item.title,
        literals=literals,
        lengths=item.lengths,
        variable=item.variable,
        carried=tuple(item.carried),
        endless=isinstance(item, ForRecord) and item.endless,
        note=item.note,
        beside=item.beside,
        blank_before=item.blank_before,
        muted=item.muted,
    )


def _add_wires(graph: Graph, record: BodyRecord, where: Where, definition: DefinitionRecord | None) -> None:
    for number, line in enumerate(record.wires):
        wire = Wire(ItemId(line.source), line.output, ItemId(line.target), line.port)
        problem, field = _wire_problem(graph, wire, definition)
        if problem:
            raise Fault(problem, (*where, "wires", number, field), BadWire)
        graph.draw(wire)
    _check_outputs(graph, (*where, "wires"))
    _add_muted(graph, record, (*where, "muted_wires"), definition)


def _add_muted(graph: Graph, record: BodyRecord, where: Where, definition: DefinitionRecord | None) -> None:
    """Wires that count as absent; the nodes in which they end know of them."""
    for number, line in enumerate(record.muted_wires):
        wire = Wire(ItemId(line.source), line.output, ItemId(line.target), line.port)
        problem, field = _wire_problem(graph, wire, definition)
        node = graph.nodes.get(wire.target)
        if not problem and node is None:
            problem, field = f"the block '{wire.target}' takes no muted wire", "to"
        if problem or node is None:
            raise Fault(problem, (*where, number, field), BadWire)
        muted = {**node.muted_wires, wire.port: (wire.source, wire.output)}
        graph.nodes[wire.target] = msgspec.structs.replace(node, muted_wires=muted)


def _wire_problem(graph: Graph, wire: Wire, definition: DefinitionRecord | None) -> tuple[str, str]:
    """What is wrong with a wire and in which field; two empty texts when nothing is."""
    if wire.source == DEFINITION_INPUTS and definition is not None:
        if wire.output >= len(definition.inputs):
            return f"the definition has no input {wire.output}", "output"
    elif wire.source not in graph:
        return f"a wire begins at '{wire.source}', which is not there", "from"
    if wire.target == DEFINITION_OUTPUTS and definition is not None:
        if not (wire.port.isdecimal() and int(wire.port) < len(definition.outputs)):
            return f"the definition has no output '{wire.port}'", "port"
    elif wire.target not in graph:
        return f"a wire ends at '{wire.target}', which is not there", "to"
    elif (node := graph.nodes.get(wire.target)) is not None:
        problem = input_problem(load().get(node.operator), node.lengths, wire.port)
        if problem:
            return problem, "port"
    elif find_port(graph, wire.target, wire.port) is None:
        return f"the block '{wire.target}' has no input '{wire.port}'", "port"
    if (wire.target, wire.port) in graph.wires:
        return f"the input '{wire.port}' of '{wire.target}' has a wire already", "port"
    return "", ""


def _check_outputs(graph: Graph, where: Where) -> None:
    counts = {item: len(output_ports(graph, item)) for item in graph.outgoing if item in graph}
    for number, wire in enumerate(graph.wires.values()):
        is_nothing = wire.output == 0 and has_no_variable(graph, wire.source)
        if is_nothing or wire.output >= counts.get(wire.source, wire.output + 1):
            raise Fault(f"'{wire.source}' has no result {wire.output}", (*where, number, "output"), BadWire)


def _check_recursion(graph: Graph) -> None:
    """Refuse definitions that call themselves, straight or by way of others."""
    calls = {name: _called(definition) & graph.definitions.keys() for name, definition in graph.definitions.items()}
    while finished := [name for name, inner in calls.items() if not inner & calls.keys()]:
        for name in finished:
            del calls[name]
    if calls:
        raise Fault(f"the definition '{min(calls)}' calls itself", ("definitions",))


def _called(definition: Definition) -> set[str]:
    operators = (node.operator for node in definition.graph.nodes.values())
    return {key.removeprefix("group:") for key in operators if key.startswith("group:")}


def _chart(place: PlaceRecord) -> ChartKind:
    """The chart that a card shows; none where that of a later version is not known. `boundary` is an older spelling."""
    known: tuple[ChartKind, ...] = get_args(ChartKind)
    return next((kind for kind in known if kind == place.chart), "") or ("boundary" if place.boundary else "")


def _places(graph: Graph, records: dict[str, PlaceRecord]) -> dict[str, Place]:
    """Places of what is there; a place of something that was merged away is dropped."""
    places = {
        key: Place(
            place.x, place.y, place.width, place.collapsed, place.tucked, place.pinned, place.color, _chart(place)
        )
        for key, place in records.items()
    }
    ends = ("note:", DEFINITION_INPUTS, DEFINITION_OUTPUTS)
    kept = {key: place for key, place in places.items() if key.removeprefix("note:") in graph or key in ends}
    dots = [key for key in places if (named := end_of(key)) is not None and wire_of(graph, named[0]) is not None]
    return kept | renumber_dots(places, dots)
