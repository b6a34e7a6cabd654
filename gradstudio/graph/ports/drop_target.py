"""Where a wire ends that people drop on a port of a list: on the whole list, on its first element, or in between.

``optim.SGD(model.parameters())`` is drawn by one wire from the module: people need not know what comes between.
"""

import msgspec

from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.ports.item_ports import find_port, operator_of, output_family
from gradstudio.operators.families import accepts, takes_parameters
from gradstudio.operators.model import Family, Kind, Operator, Parameter

PARAMETERS = "torch.nn.Module.parameters"
"""Between a module and what takes all its parameters."""
WHOLE = frozenset({Family.OBJECT, Family.TUPLE, Family.MODULE})
"""What may bring a whole list."""


class DropTarget(msgspec.Struct, frozen=True):
    """Another end than the port the wire was dropped on.

    Attributes:
        port: where it ends.
        length: of the list then; 0: it is one port.
        between: key of an operator that comes between, "" for none.
    """

    port: str
    length: int = 0
    between: str = ""


def drop_target(graph: Graph, source: ItemId, output: int, target: ItemId, path: str) -> DropTarget | None:
    """Where a wire that is dropped on a port ends instead; None: there, or nowhere."""
    port = find_port(graph, target, path)
    operator = operator_of(graph, target)
    name = path.split(".")[0]
    parameter = operator.parameter(name) if operator is not None else None
    if port is None or operator is None or parameter is None:
        return None
    family = output_family(graph, source, output)
    if port.element is None and path == name:
        return _on_whole(operator, parameter, family)
    if family not in WHOLE or port.element is None or not accepts(port.parameter, family):
        return None
    if not _is_empty(graph, target, name, but=(source, output)):
        return None
    whole = _on_whole(operator, parameter, family) or DropTarget(name)
    return whole if whole.between or not accepts(parameter, family) else None


def _on_whole(operator: Operator, parameter: Parameter, family: Family) -> DropTarget | None:
    """A module gives its parameters to what takes parameters; one tensor becomes a list of one there."""
    if parameter.kind is not Kind.TENSORS or not takes_parameters(operator, parameter):
        return None
    if family is Family.MODULE:
        return DropTarget(parameter.name, between=PARAMETERS)
    return DropTarget(f"{parameter.name}.0", length=1) if family is Family.TENSOR else None


def _is_empty(graph: Graph, item: ItemId, name: str, but: tuple[ItemId, int]) -> bool:
    """Whether nothing stands in a list, but for a wire from the same output."""
    owner = graph.nodes.get(item)
    literals = owner.literals if owner is not None else {}
    wires = (wire for wire in graph.wires_to(item) if (wire.source, wire.output) != but)
    return not any(path.startswith(f"{name}.") for path in (*literals, *(wire.port for wire in wires)))
