"""Random and hand-made programs for the tests of documents."""

from hypothesis import strategies as st

from gradstudio.document.stored_tensors import stored_tensor
from gradstudio.graph.model import (
    DEFINITION_INPUTS,
    DEFINITION_OUTPUTS,
    ROOT,
    Block,
    BodyId,
    Definition,
    Graph,
    Header,
    ItemId,
    Node,
    Place,
    Wire,
)

KNOWN = "operator.add"
UNKNOWN = "torch.of_the_future"
KINDS = ("no_grad", "enable_grad", "inference_mode", "for", "if", "group")
NOTES = st.text(st.characters(exclude_categories=["Cs", "Cc"], include_characters="\n\t"), max_size=20)
BESIDES = st.text(st.characters(exclude_categories=["Cs", "Cc"], include_characters="\t"), max_size=20)
NAMES = st.sampled_from(["x", "y", "w1", "größe", "_", "loss"])
LITERALS = st.sampled_from(["1", "-2.5", "True", "None", "[[1.0, 2.0], [3.0, 4.0]]", '"mean"', "torch.float32"])


def put(graph: Graph, item: Node | Block, body: BodyId = ROOT) -> ItemId:
    """Append an item to a body, straight into the tables."""
    if isinstance(item, Node):
        graph.nodes[item.id] = item
    else:
        graph.blocks[item.id] = item
        graph.bodies[BodyId(item.id)] = ()
    graph.parents[item.id] = body
    graph.bodies[body] = (*graph.bodies[body], item.id)
    return item.id


def wire(graph: Graph, source: str, output: int, target: str, port: str) -> None:
    """Draw a wire, straight into the tables; the one that was there goes."""
    one = Wire(ItemId(source), output, ItemId(target), port)
    old = graph.wires.get((one.target, port))
    if old is not None:
        del graph.outgoing[old.source][old], graph.incoming[old.target][old]
        if not graph.outgoing[old.source]:
            del graph.outgoing[old.source]
    graph.wires[one.target, port] = one
    graph.outgoing.setdefault(one.source, {})[one] = None
    graph.incoming.setdefault(one.target, {})[one] = None


def tables(graph: Graph) -> dict[str, object]:
    """All that a graph holds, to compare two of them."""
    plain = {name: getattr(graph, name) for name in ("header", "nodes", "blocks", "bodies", "parents", "wires")}
    more = {name: getattr(graph, name) for name in ("outgoing", "incoming", "places", "tails", "tensors")}
    inner = {name: (_said(one), tables(one.graph)) for name, one in graph.definitions.items()}
    return {**plain, **more, "definitions": inner}


def _said(one: Definition) -> tuple[object, ...]:
    """What a definition says beside its inside."""
    more = (one.is_module, one.settings, one.setup, one.kept, one.note)
    return (one.inputs, one.outputs, dict(one.defaults), *more)


@st.composite
def nodes(draw: st.DrawFn, item: ItemId) -> Node:
    operator = draw(st.sampled_from([KNOWN, UNKNOWN]))
    odd = st.dictionaries(st.sampled_from(["a", "size.10", "size.9", "ü"]), st.text(max_size=9), max_size=3)
    return Node(
        id=item,
        operator=operator,
        names=tuple(draw(st.lists(NAMES, max_size=2 if operator == UNKNOWN else 1))),
        literals=draw(st.dictionaries(st.sampled_from(["a", "b"]), LITERALS) if operator == KNOWN else odd),
        lengths=draw(st.dictionaries(st.sampled_from(["size", "tensors"]), st.integers(0, 12), max_size=2)),
        positional=draw(st.none() | st.just(()) | st.just(("a", "b"))),
        nested=draw(st.booleans()),
        note=draw(NOTES),
        beside=draw(BESIDES),
        blank_before=draw(st.booleans()),
        muted=draw(st.booleans()),
        bypassed=draw(st.booleans()),
        marks=tuple(draw(st.lists(st.sampled_from(["root", "input"]), unique=True))),
    )


@st.composite
def graphs(draw: st.DrawFn, *, definitions: bool = True) -> Graph:
    """A program with blocks in blocks, wires that go forward, places, notes, definitions, stored tensors."""
    graph = Graph()
    bodies = [ROOT]
    for number in range(draw(st.integers(0, 8))):
        item, body = ItemId(f"i{number}"), bodies[draw(st.integers(0, len(bodies) - 1))]
        del bodies[bodies.index(body) + 1 :]
        if draw(st.booleans()):
            put(graph, draw(nodes(item)), body)
            continue
        kind = draw(st.sampled_from(KINDS))
        loop = {"variable": "t", "carried": ("h",)} if kind == "for" else {}
        said = {"title": draw(st.sampled_from(["", "Ä b"])), "note": draw(NOTES), "beside": draw(BESIDES)}
        put(graph, Block(id=item, kind=kind, **said, **loop), body)
        bodies.append(BodyId(item))
    _draw_wires(draw, graph)
    graph.header = draw(
        st.builds(Header, st.none() | st.integers(-(2**63), 2**64 - 1), st.sampled_from(["cpu", "auto", "cuda:1"]))
    )
    pixels = st.floats(-1e7, 1e7)
    for item in graph.order():
        if draw(st.booleans()):
            width = draw(st.none() | st.floats(0.5, 1e4))
            graph.places[item] = Place(draw(pixels), draw(pixels), width, draw(st.booleans()))
            graph.places[f"note:{item}"] = Place(draw(pixels), 0.0)
            graph.places["note:"] = Place(0.0, draw(pixels))
    graph.tails = {body: text for body in graph.bodies if (text := draw(NOTES))}
    if definitions and draw(st.booleans()):
        inner = _inner(draw(graphs(definitions=False)))
        is_module, items = draw(st.booleans()), tuple(inner.order())
        graph.definitions["head"] = Definition(
            "head",
            ("q", "k"),
            ("out",),
            inner,
            defaults={"k": "1.5"} if draw(st.booleans()) else {},
            is_module=is_module,
            settings=("q",) if is_module else (),
            setup=items[:1] if is_module else (),
            kept=items[:1] if is_module else (),
            note=draw(NOTES),
        )
    if definitions and draw(st.booleans()):
        tensor = stored_tensor(bytes(range(6)), "uint8", (2, 3), "made up")
        graph.tensors[tensor.digest] = tensor
    return graph


def _draw_wires(draw: st.DrawFn, graph: Graph) -> None:
    order = [item for item in graph.order() if item in graph.nodes]
    for number, target in enumerate(order):
        for port in ("a", "b"):
            if number and draw(st.booleans()):
                wire(graph, order[draw(st.integers(0, number - 1))], 0, target, port)
        around = [ItemId(body) for body in graph.ancestors(target) if body != ROOT]
        for block in around:
            if graph.blocks[block].kind == "for" and draw(st.booleans()):
                wire(graph, target, 0, block, "next.h")


def _inner(graph: Graph) -> Graph:
    """A graph as the inside of a definition: no header of its own, and its edges wired."""
    graph.header = Header()
    first = next((item for item in graph.order() if item in graph.nodes and (item, "a") not in graph.wires), None)
    if first is not None:
        wire(graph, DEFINITION_INPUTS, 1, first, "a")
        wire(graph, first, 0, DEFINITION_OUTPUTS, "0")
    return graph
