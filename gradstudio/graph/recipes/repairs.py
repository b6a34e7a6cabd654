"""Recipes that repair: an operator put between two others, replaced by its like, or taken out of a write's way."""

from collections.abc import Callable, Iterable, Mapping

import msgspec

from gradstudio.graph import names as naming
from gradstudio.graph.edits import AddNode, AddWire, Edit, Edits, MoveItem, SetPlaces, apply_all
from gradstudio.graph.errors import Refused, WireRefused
from gradstudio.graph.model import ROOT, BodyId, Graph, ItemId, Node, Place, Wire
from gradstudio.graph.recipes.draft import Draft
from gradstudio.graph.recipes.nodes import fresh_node
from gradstudio.graph.rules import why_not
from gradstudio.graph.shared_storage import receiver_wire
from gradstudio.graph.text.item_titles import title
from gradstudio.graph.text.name_bindings import binding_of, name_of
from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.catalogue.out_variants import plain_key
from gradstudio.operators.model import Operator

INSERTED_PX = 150.0
"""How far before its user an inserted card stands when the canvas does not say where the source is."""
AUGMENTED_PREFIX = "operator.i"
Step = Callable[[Graph], Edits]


def combine_steps(graph: Graph, *steps: Step) -> Edits:
    """Several recipes as one gesture: each sees the graph as the one before left it.

    Raises:
        Refused: one of them refuses.
    """
    draft = graph.copy()
    done: list[Edit] = []
    for step in steps:
        edits = step(draft)
        apply_all(draft, edits)
        done += edits
    return tuple(done)


def insert(
    graph: Graph, wire: Wire, key: str, literals: Mapping[str, str] | None = None, *, inline: bool = True
) -> Edits:
    """An operator with these literals on a wire; `inline` writes it inside its user (``b.T``), else it is named.

    Raises:
        Refused: the operator does not fit there.
    """
    draft = Draft(graph)
    operator = load()[key]
    node = msgspec.structs.replace(fresh_node(draft, operator), literals=dict(literals or {}), lengths={})
    names = () if inline else (naming.fresh_name(draft.taken_names(), _base(graph, wire, node)),)
    node = msgspec.structs.replace(node, names=names, nested=inline)
    body = BodyId(wire.target) if wire.port.startswith("next.") else graph.parents[wire.target]
    index = graph.bodies[body].index(wire.target) if wire.target in graph.bodies[body] else draft.end_of(body)
    draft.do(AddNode(node, body, index), SetPlaces({node.id: Place(*_between(graph, wire))}))
    draft.cut((wire,))
    port = operator.parameters[0].name
    reason = why_not(draft.graph, wire.source, wire.output, node.id, port, exact=True)
    if reason:
        raise WireRefused(reason)
    draft.do(AddWire(Wire(wire.source, wire.output, node.id, port)))
    reason = why_not(draft.graph, node.id, 0, wire.target, wire.port, exact=True)
    if reason:
        raise WireRefused(reason)
    draft.do(AddWire(Wire(node.id, 0, wire.target, wire.port)))
    return draft.finish()


def replace_operator(graph: Graph, item: ItemId, key: str) -> Edits:
    """Another operator in a node's place: names, literals and wires stay, where it has arguments for them.

    Raises:
        Refused: an argument that is given has no counterpart.
    """
    draft = Draft(graph)
    _exchange(draft, item, key)
    return draft.finish()


def out_of_place(graph: Graph, item: ItemId) -> Edits:
    """Let an in-place node return a new tensor instead; what read the changed one behind it reads the new one.

    Raises:
        Refused: there is no such operator, or a loop around would have to carry the new tensor.
    """
    operator = load().get(graph.nodes[item].operator) if item in graph.nodes else None
    key = functional_key(operator) if operator is not None else ""
    if not key:
        raise Refused("There is no operator that does the same and returns a new tensor.")
    readers = _later_readers(graph, item)
    draft = Draft(graph)
    _exchange(draft, item, key)
    _read_instead(draft, readers, item)
    return draft.finish(keep=frozenset({item}))


def clone_before_write(graph: Graph, item: ItemId) -> Edits:
    """Let an in-place node write into a copy; what read the changed tensor behind it reads the copy.

    Raises:
        Refused: it writes into nothing that is wired, or a loop around would have to carry the copy.
    """
    wire = receiver_wire(graph, item)
    if wire is None:
        raise Refused("Nothing is wired into what this statement writes.")
    readers = _later_readers(graph, item)
    edits = insert(graph, wire, "torch.Tensor.clone", inline=False)

    def moved(after: Graph) -> Edits:
        draft = Draft(after)
        _read_instead(draft, readers, item)
        return draft.finish()

    return combine_steps(graph, lambda _graph: edits, moved)


def functional_key(operator: Operator) -> str:
    """Key of the operator that does the same and returns a new tensor; "" when there is none."""
    if not operator.writes:
        return ""
    if (plain := plain_key(operator.key)) != operator.key and plain in load():
        return plain
    key, colon, row = operator.key.partition(":")
    if key.startswith(AUGMENTED_PREFIX):
        key = f"operator.{key.removeprefix(AUGMENTED_PREFIX)}"
    elif key.endswith("_") and not key.endswith("__"):
        key = key[:-1]
    else:
        return ""
    return next((known for known in (key + colon + row, key) if known in load()), "")


def feed(graph: Graph, source: ItemId, output: int, key: str, target: ItemId, port: str) -> Edits:
    """A second operator on a value, whose result goes into another input: ``y.backward(torch.ones_like(y))``.

    Raises:
        Refused: the operator takes nothing of what flows.
    """
    draft = Draft(graph)
    node = _bare(draft, key)
    body = graph.parents[target]
    first = load()[key].parameters[0].name
    draft.do(
        AddNode(node, body, graph.bodies[body].index(target)),
        SetPlaces({node.id: _beside(graph, target)}),
        AddWire(Wire(source, output, node.id, first)),
        AddWire(Wire(node.id, 0, target, port)),
    )
    return draft.finish()


def add_identity(graph: Graph, wire: Wire, size: int, literals: Mapping[str, str]) -> Edits:
    """``A + torch.eye(n)`` where only A went; `literals` are the identity's (dtype, device)."""
    draft = Draft(graph)
    eye = _bare(draft, "torch.eye", {"n": str(size), **literals})
    total = _bare(draft, "operator.add")
    body = graph.parents[wire.target]
    at = graph.bodies[body].index(wire.target)
    place = _beside(graph, wire.target)
    draft.cut((wire,))
    draft.do(
        AddNode(eye, body, at),
        AddNode(total, body, at + 1),
        SetPlaces({eye.id: Place(place.x - INSERTED_PX, place.y + INSERTED_PX), total.id: place}),
        AddWire(Wire(wire.source, wire.output, total.id, "a")),
        AddWire(Wire(eye.id, 0, total.id, "b")),
        AddWire(Wire(total.id, 0, wire.target, wire.port)),
    )
    return draft.finish()


def statement_before(
    graph: Graph, source: ItemId, output: int, key: str, before: ItemId, literals: Mapping[str, str] | None = None
) -> Edits:
    """A statement on a value, that binds nothing, directly before another: ``y.retain_grad()``, ``x.grad = None``."""
    draft = Draft(graph)
    node = msgspec.structs.replace(_bare(draft, key, literals), nested=False)
    body = graph.parents[before]
    draft.do(
        AddNode(node, body, graph.bodies[body].index(before)),
        SetPlaces({node.id: _beside(graph, before)}),
        AddWire(Wire(source, output, node.id, load()[key].parameters[0].name)),
    )
    return draft.finish()


def move_behind(graph: Graph, items: Iterable[ItemId], other: ItemId) -> Edits:
    """Let statements run directly behind another one of the same body.

    Raises:
        Refused: they stand elsewhere, or something between needs them.
    """
    body = graph.parents[other]
    wanted = set(items) - {other}
    chosen = [item for item in graph.bodies[body] if item in wanted]
    if not chosen:
        raise Refused(f"'{title(graph, other)}' stands in another block.")
    draft = graph.copy()
    done: list[Edit] = []
    for item in reversed(chosen):
        without = [member for member in draft.bodies[body] if member != item]
        edit = MoveItem(item, body, without.index(other) + 1)
        apply_all(draft, (edit,))
        done.append(edit)
    place = {item: k for k, item in enumerate(draft.order())}
    for wire in draft.wires.values():
        if wire.target in place and place.get(wire.source, -1) > place[wire.target] and wire.source in chosen:
            raise Refused(f"'{title(graph, wire.target)}' needs the value of '{title(graph, wire.source)}' before.")
    return tuple(done)


# ------------------------------------------------------------------ helpers


def _exchange(draft: Draft, item: ItemId, key: str) -> None:
    graph = draft.graph
    node = graph.nodes[item]
    new = load()[key]
    old = load().get(node.operator)
    paths = {name: _counterpart(old, new, name) for name in _given(graph, node)}
    wires = graph.wires_to(item)
    names = node.names
    if new.results and not names and not node.nested:
        names = (naming.fresh_name(draft.taken_names(), _receiver_name(graph, item)),)
    draft.cut(wires)
    draft.put(
        msgspec.structs.replace(
            node,
            operator=key,
            names=names if new.results else (),
            literals={_renamed(path, paths): text for path, text in node.literals.items()},
            lengths={paths[name]: count for name, count in node.lengths.items()},
            positional=None,
        )
    )
    draft.do(*(AddWire(Wire(w.source, w.output, item, _renamed(w.port, paths))) for w in wires))


def _given(graph: Graph, node: Node) -> list[str]:
    ports = (*node.literals, *node.lengths, *(wire.port for wire in graph.wires_to(node.id)))
    return list(dict.fromkeys(port.partition(".")[0] for port in ports))


def _counterpart(old: Operator | None, new: Operator, name: str) -> str:
    """The parameter of the new operator that takes what `name` took: the one called so, else the one in its place."""
    if new.parameter(name) is not None:
        return name
    index = next((k for k, p in enumerate(old.parameters if old is not None else ()) if p.name == name), -1)
    if not 0 <= index < len(new.parameters):
        raise Refused(f"{new.title} has no argument '{name}'.")
    return new.parameters[index].name


def _renamed(path: str, names: Mapping[str, str]) -> str:
    head, dot, rest = path.partition(".")
    return names[head] + dot + rest


def _later_readers(graph: Graph, item: ItemId) -> tuple[Wire, ...]:
    """Wires that bring the object an in-place node writes into to statements behind it."""
    wire = receiver_wire(graph, item)
    if wire is None:
        return ()
    written = binding_of(graph, wire.source, wire.output)
    around = graph.ancestors(item)
    for body in around:
        if body != ROOT and graph.blocks[ItemId(body)].kind == "for" and not _is_within(graph, written[0], body):
            raise Refused("The loop around it would have to carry the new tensor from turn to turn.")
    place = {other: k for k, other in enumerate(graph.order())}
    found = list[Wire]()
    for other in graph.wires.values():
        is_behind = place.get(other.target, -1) > place[item]
        ends_turn = other.port.startswith("next.") and BodyId(other.target) in around
        touches = item in (other.source, other.target)
        if (is_behind or ends_turn) and not touches and binding_of(graph, other.source, other.output) == written:
            found.append(other)
    return tuple(found)


def _is_within(graph: Graph, item: ItemId, body: BodyId) -> bool:
    return item == ItemId(body) or (item in graph and body in graph.ancestors(item))


def _read_instead(draft: Draft, readers: tuple[Wire, ...], item: ItemId) -> None:
    draft.cut(readers)
    draft.do(*(AddWire(Wire(item, 0, wire.target, wire.port)) for wire in readers))


def _receiver_name(graph: Graph, item: ItemId) -> str:
    wire = receiver_wire(graph, item)
    return _base(graph, wire, graph.nodes[item]) if wire is not None else naming.suggest(title(graph, item))


def _base(graph: Graph, wire: Wire, node: Node) -> str:
    """The name of what flows, as far as it has one."""
    name = name_of(graph, binding_of(graph, wire.source, wire.output)).rstrip("0123456789")
    return name or (node.names[0] if node.names else "x")


def _bare(draft: Draft, key: str, literals: Mapping[str, str] | None = None) -> Node:
    """A nameless part with exactly these literals."""
    node = fresh_node(draft, load()[key])
    return msgspec.structs.replace(node, literals=dict(literals or {}), names=(), lengths={}, nested=True)


def _beside(graph: Graph, item: ItemId) -> Place:
    place = graph.places.get(item, Place(0.0, 0.0))
    return Place(place.x - INSERTED_PX, place.y + INSERTED_PX / 2)


def _between(graph: Graph, wire: Wire) -> tuple[float, float]:
    source = graph.places.get(wire.source)
    target = graph.places.get(wire.target, Place(0.0, 0.0))
    if source is None:
        return target.x - INSERTED_PX, target.y
    return (source.x + target.x) / 2, (source.y + target.y) / 2
