"""Rate: the number that a program learns by, so that a training script can take it from the command line."""

import msgspec

from gradstudio.graph.edits import AddNode, AddWire, ReplaceNode, apply
from gradstudio.graph.model import ROOT, Graph, ItemId, Node, Wire
from gradstudio.graph.names import bound_names, fresh_name
from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.model import Face
from gradstudio.program.forms.statement_units import Value
from gradstudio.program.forms.training.static_shapes import literal
from gradstudio.program.forms.training.training_step import Step

_RATE = ItemId("@rate")


class Rate(msgspec.Struct, frozen=True):
    """The learning rate: the literal statement that says it, and its Python text."""

    value: Value
    text: str


def with_rate(graph: Graph, step: Step) -> tuple[Graph, Rate | None]:
    """The graph, in which one literal statement says the learning rate; None where no single number does."""
    return with_rate_of(graph, _ports(graph, step))


def with_rate_of(graph: Graph, ports: list[tuple[ItemId, str]]) -> tuple[Graph, Rate | None]:
    """The graph, in which one literal statement says all these arguments; None where no single number does."""
    found = {_said(graph, item, port) for item, port in ports}
    if len(found) != 1:
        return graph, None
    source, text = next(iter(found))
    number = literal(text)
    if not isinstance(number, int | float) or number < 0:  # ``w += -0.1 * w.grad`` stays as it is
        return graph, None
    if source is not None:
        return graph, Rate((source, 0), text)
    twin = graph.copy()
    name = fresh_name(set(bound_names(graph)), "rate")
    apply(twin, AddNode(Node(id=_RATE, operator="python.literal", names=(name,), literals={"value": text}), ROOT, 0))
    for item, port in ports:
        node = twin.nodes[item]
        rest = {path: one for path, one in node.literals.items() if path != port}
        apply(twin, ReplaceNode(msgspec.structs.replace(node, literals=rest)))
        apply(twin, AddWire(Wire(_RATE, 0, item, port)))
    return twin, Rate((_RATE, 0), text)


def _ports(graph: Graph, step: Step) -> list[tuple[ItemId, str]]:
    """Where the rate is given: to the optimizer, or as the factor of a gradient in updates by hand."""
    if step.optimizer is not None:
        return [(step.optimizer, "lr")]
    found = []
    for unit in step.updates:
        for item in step.units.members(unit):
            operator = step.units.operator(item)
            if operator is not None and operator.face is Face.INFIX and operator.symbol == "*":
                found += [(item, port) for port, other in (("a", "b"), ("b", "a")) if _is_gradient(step, item, other)]
    return found


def _is_gradient(step: Step, item: ItemId, port: str) -> bool:
    wire = step.graph.wires.get((item, port))
    return wire is not None and step.objects.reads_gradient(wire.source)


def _said(graph: Graph, item: ItemId, port: str) -> tuple[ItemId | None, str]:
    """The literal statement wired to a port, or the port's literal; "" for anything computed."""
    wire = graph.wires.get((item, port))
    if wire is None:
        parameter = load()[graph.nodes[item].operator].parameter(port)
        return None, graph.nodes[item].literals.get(port) or (parameter.default if parameter else "") or ""
    source = graph.nodes.get(wire.source)
    is_literal = source is not None and source.operator == "python.literal"
    return wire.source, source.literals.get("value", "") if is_literal and source is not None else ""
