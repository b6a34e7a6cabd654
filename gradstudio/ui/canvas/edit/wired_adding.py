"""Fresh nodes with a wire to or from a port, and the literals that fit what flows there. No widgets here."""

from collections.abc import Mapping

from gradstudio.graph import recipes, rules
from gradstudio.graph.card_grouping import card_groups
from gradstudio.graph.edits import Edits, apply_all
from gradstudio.graph.errors import Refused
from gradstudio.graph.graph_index import copy_with_index
from gradstudio.graph.model import BodyId, Graph, ItemId
from gradstudio.graph.names import bound_names, fresh_name
from gradstudio.graph.ports.item_ports import output_family, output_ports
from gradstudio.operators.model import Family
from gradstudio.operators.search.fitting_literals import TARGET, Giver, Shape, creation_shape, target_givers
from gradstudio.protocol.messages.records import TensorRecord
from gradstudio.scene.items import PortRef
from gradstudio.scene.results import Results
from gradstudio.ui.state.library.connection_statistics import visible_operator

LITERAL = "python.literal"
NO_LITERALS: Mapping[str, str] = {}


def known_shape(graph: Graph, results: Results, item: ItemId, output: int) -> Shape | None:
    """The shape of a result, as its literals say, inference has it, or the last run gave it; None: nobody knows."""
    written = written_shape(graph, item)
    if written is not None:
        return written
    port = results.inference(item, output)
    if port is not None and port.shape is not None:
        return port.shape
    records = results.outputs(item) or ()
    record = records[output] if output < len(records) else None
    return record.summary.whole_shape if isinstance(record, TensorRecord) else None


def written_shape(graph: Graph, item: ItemId) -> Shape | None:
    """The shape that is written in what makes a tensor; None: it is not."""
    node = graph.nodes.get(item)
    if node is None or graph.wires_to(item):
        return None
    return creation_shape(node.operator, node.literals)


def givers_of(graph: Graph, results: Results, item: ItemId, path: str) -> tuple[Giver, ...]:
    """What usually gives an input its value, with literals that fit what is wired beside it."""
    node = graph.nodes.get(item)
    if node is None:
        return ()
    first = graph.wire_into(item, "input")
    shape = known_shape(graph, results, first.source, first.output) if first is not None else None
    return target_givers(visible_operator(graph, item), path, shape)


def add_wired(
    graph: Graph,
    key: str,
    port: PortRef,
    at: tuple[float, float],
    body: BodyId,
    shape: Shape | None = None,
    literals: Mapping[str, str] = NO_LITERALS,
) -> tuple[Edits, ItemId]:
    """A fresh node with a wire to or from a port; a layer takes its size from the `shape` that flows into it.

    `literals` are those of a node that gives something.

    Raises:
        Refused: no port of the operator fits, or the order forbids the wire.
    """
    edits, item = recipes.add_operator(graph, key, *at, body=body)
    trial = copy_with_index(graph)
    if port.side == "input" and key == LITERAL:
        edits = (*edits, *_saying_the_same(graph, edits, item, port))
    apply_all(trial, edits)
    for path, text in literals.items():
        chosen = recipes.set_literal(trial, item, path, text)
        apply_all(trial, chosen)
        edits = (*edits, *chosen)
    if port.side == "input" and port.path == TARGET:
        named = _called_target(trial, item)
        apply_all(trial, named)
        edits = (*edits, *named)
    module = card_groups(trial).modules.get(item)
    if port.side == "output":
        return _wired_behind(trial, edits, port, (item, module), shape)
    for source in (item, module) if module is not None else (item,):
        for output in output_ports(trial, source):
            if not rules.why_not(trial, source, output.index, port.item, port.path):
                return (*edits, *recipes.connect(trial, source, output.index, port.item, port.path)), source
    raise Refused(f"'{key}' gives nothing that fits here.")


def _wired_behind(
    trial: Graph, edits: Edits, port: PortRef, made: tuple[ItemId, ItemId | None], shape: Shape | None
) -> tuple[Edits, ItemId]:
    """The edits with a wire from an output into what was made, a node or a module's call and the module."""
    from gradstudio.graph.recipes.fitting_sizes import connect_fitting
    from gradstudio.graph.recipes.wiring.connection import first_fitting_port

    item, module = made
    takes = output_family(trial, port.item, port.output) is Family.MODULE and module is not None
    for target in (module, item) if takes else (item, module):
        path = first_fitting_port(trial, port.item, port.output, target) if target is not None else None
        if target is not None and path is not None:
            return (*edits, *connect_fitting(trial, port.item, port.output, target, path, shape)), item
    raise Refused(f"'{trial.nodes[item].operator}' has no argument that takes this.")


def _called_target(graph: Graph, item: ItemId) -> Edits:
    """What a loss is compared with says so by its name."""
    if len(graph.nodes[item].names) != 1:
        return ()
    return recipes.rename(graph, item, (fresh_name(set(bound_names(graph)), TARGET),))


def _saying_the_same(graph: Graph, edits: Edits, item: ItemId, port: PortRef) -> Edits:
    """A value that begins with what is written in the input it is for."""
    holder = graph.nodes.get(port.item)
    written = holder.literals.get(port.path, "") if holder is not None else ""
    trial = copy_with_index(graph)
    apply_all(trial, edits)
    return recipes.set_literal(trial, item, "value", written) if written else ()
