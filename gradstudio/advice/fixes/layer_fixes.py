"""Ways out of errors that the sizes of a layer, of a loss's classes, or of parts decide."""

from collections.abc import Callable, Iterator

from gradstudio.advice.diagnosis.mistakes.loss_mistakes import CROSS, NLL
from gradstudio.advice.diagnosis.program_view import ProgramView
from gradstudio.advice.diagnosis.slips.class_counts import MissingOutputs, last_layer, missing_outputs
from gradstudio.advice.failure_case import Case, Offer, Operand
from gradstudio.advice.model import FixKind
from gradstudio.graph import recipes
from gradstudio.graph.edits import Edits
from gradstudio.graph.model import ROOT, Graph, ItemId, Node
from gradstudio.graph.text.item_titles import title
from gradstudio.protocol.messages.records import TensorRecord

WIDTHS = ("embed_dim", "d_model")
HEADS = ("num_heads", "nhead")


def outputs_for_classes(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """As many outputs of the last layer as the target has classes."""
    target = case.operand("target") or case.operand("inputs.1")
    wire = case.graph.wire_into(case.item, "input") or case.graph.wire_into(case.item, "inputs.0")
    wanted = int(case.groups.get("t", "-1"))
    if wire is None or wanted < 0:
        return
    largest = target.maximum if target is not None and target.maximum is not None else wanted
    wanted = max(int(largest), wanted) + 1
    yield from more_outputs(case.graph, wire.source, wire.output, wanted)


def classes_second(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """Bring the classes from the end to the second dimension, where the target has the rest of the shape."""
    given = _first_operand(case, _INPUT)
    target = _first_operand(case, _TARGET)
    if given is None or target is None or len(given.shape) < 3 or given.shape[:-1] != target.shape:
        return
    name = case.source_name(given.wire)
    literals = {"source": "-1", "destination": "1"}
    yield (
        f"Bring the classes to dimension 1 ({name}.movedim(-1, 1))",
        lambda graph: recipes.insert(graph, given.wire, "torch.Tensor.movedim", literals),
    )


def heads(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """A number of heads that divides the width; a width that the heads divide, where nothing else goes in."""
    literals = case.literals()
    width, count = (next((path for path in paths if path in literals), "") for paths in (WIDTHS, HEADS))
    if not width or not count or not literals[width].isdigit() or not literals[count].isdigit():
        return
    wide = int(literals[width])
    many = int(literals[count])
    if not wide or not many:
        return
    fewer = next(number for number in range(min(many, wide), 0, -1) if wide % number == 0)
    yield f"Set {count} to {fewer}", _set(case.item, count, str(fewer))
    given = set(_widths_given(case))
    wider = -(-wide // many) * many if not given else next(iter(given))
    if len(given) < 2 and wider and wider % many == 0:
        yield f"Set {width} to {wider}", _set(case.item, width, str(wider))


def even_parts(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """Parts of a size that gives as many as there are names, which a node of its own may bind."""
    wanted = int(case.groups.get("n", "0"))
    sources = [wire.source for wire in case.graph.wires_to(case.item)]
    owners = [case.graph.nodes[item] for item in (case.item, *sources) if item in case.graph.nodes]
    split = next((node for node in owners if "split_size" in node.literals), None)
    wire = next((w for w in case.graph.wires_to(split.id) if w.port in ("self", "tensor")), None) if split else None
    record = case.lookup(wire.source, wire.output) if wire is not None else None
    if split is None or not wanted or not isinstance(record, TensorRecord):
        return
    shape = record.summary.shape
    dim = split.literals.get("dim", "0")
    if not dim.lstrip("-").isdigit() or not -len(shape) <= int(dim) < len(shape):
        return
    whole = shape[int(dim)]
    size = -(-whole // wanted)
    if size and -(-whole // size) == wanted:
        yield f"Make {wanted} parts (split_size={size})", _set(split.id, "split_size", str(size))


_INPUT = ("input", "inputs.0")
_TARGET = ("target", "inputs.1")


def layer_before(graph: Graph, item: ItemId, output: int = 0) -> Node | None:
    """The Linear layer of this graph whose outputs a value is; None when something else comes first."""
    layer = last_layer(ProgramView(graph), item, output)
    node = graph.nodes.get(layer.node.id) if layer is not None else None
    is_its = node is not None and layer is not None and node is layer.node  # a class has layers of its own
    return node if node is not None and is_its and "out_features" in node.literals else None


def layer_of_classes(graph: Graph) -> tuple[Node | None, MissingOutputs | None]:
    """The layer of this graph that gives a loss fewer outputs than its stored target has classes; None: none does."""
    view = ProgramView(graph)
    losses = [item for item in graph.bodies[ROOT] if item in graph.nodes and view.word(item) in CROSS | NLL]
    for missing in filter(None, (missing_outputs(view, loss) for loss in losses)):
        layer = layer_before(graph, *missing.scores)
        if layer is not None:
            return layer, missing
    return None, None


def more_outputs(graph: Graph, item: ItemId, output: int, wanted: int) -> Iterator[Offer]:
    """So many outputs of the last layer before a value."""
    layer = layer_before(graph, item, output)
    if layer is not None:
        words = f"Give {title(graph, layer.id)} {wanted} outputs (out_features={wanted})"
        yield words, _set(layer.id, "out_features", str(wanted))


def _widths_given(case: Case) -> Iterator[int]:
    """The last sizes of what the layer is called with; 0 for one that nobody knows."""
    for call in (wire.target for wire in case.graph.wires_from(case.item) if wire.port == "module"):
        wire = case.graph.wire_into(call, "inputs.0")
        if wire is not None:
            record = case.lookup(wire.source, wire.output)
            shape = record.summary.shape if isinstance(record, TensorRecord) else ()
            yield shape[-1] if shape else 0


def _set(item: ItemId, path: str, text: str) -> Callable[[Graph], Edits]:
    return lambda graph: recipes.set_literal(graph, item, path, text)


def _first_operand(case: Case, ports: tuple[str, ...]) -> Operand | None:
    """What went into the first of these ports that was wired."""
    for port in ports:
        operand = case.operand(port)
        if operand is not None:
            return operand
    return None
