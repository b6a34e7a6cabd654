"""The cause of a failure as its first sentence, where sizes and the graph tell more than torch's words."""

import math
import re
from collections.abc import Iterator

from gradstudio.advice.diagnosis.program_view import ProgramView
from gradstudio.advice.quotations import source_name
from gradstudio.graph.analysis.program_analysis import analyse, may_require_grad
from gradstudio.graph.model import Graph, ItemId, Wire
from gradstudio.graph.ports.item_ports import operator_of
from gradstudio.graph.text.item_titles import title
from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.model import Effect
from gradstudio.protocol.messages.events import Failed
from gradstudio.protocol.messages.records import TensorRecord

FLAT = re.compile(r"mat1 and mat2 shapes cannot be multiplied \(\d+x\d+ and (?P<features>\d+)x\d+\)")
ROWS = re.compile(r"Expected input batch_size \((?P<rows>\d+)\) to match target batch_size \((?P<batch>\d+)\)")
CHANNELS = re.compile(r"expected input\[[\d, ]*?(?P<last>\d+)\] to have (?P<channels>\d+) channels")
LAYER = re.compile(r"must be Tensor, not (?P<word>[A-Z]\w*)")
SECOND = "Trying to backward through the graph a second time"
INPUTS = ("inputs.0", "input", "self", "a")
VIEWS = frozenset({"torch.Tensor.view", "torch.Tensor.reshape", "torch.reshape"})
FARTHEST = 200
ROOT_PORTS = ("self", "tensors", "tensors.0")
CLASS_LOSSES = frozenset({"cross_entropy", "CrossEntropyLoss", "nll_loss", "NLLLoss"})
LOSS_PORTS = (("inputs.0", "input"), ("inputs.1", "target"))
WHOLE = ("int", "uint")


def cause_sentence(failed: Failed, graph: Graph) -> str:
    """One sentence with the cause; "" where torch's words say as much."""
    if name := made_before_loop(failed, graph):
        return f"{name} is computed once, before the loop, and the first turn's backward has freed what it was made by."
    if failed.message.startswith(SECOND):
        return _shared_by_both(failed.node, graph)
    if found := FLAT.search(failed.message):
        return _not_flat(failed, graph, int(found["features"]))
    if found := ROWS.search(failed.message):
        return _mixed_rows(failed, graph, int(found["rows"]), int(found["batch"]))
    if (found := CHANNELS.search(failed.message)) and found["last"] == found["channels"]:
        name = _input_name(failed, graph)
        return f"The channels stand last in {name}, and a convolution takes them in the dimension behind the batch."
    if swapped := swapped_words(failed, graph):
        return f"The target stands first ({swapped[0]}) and the predictions second ({swapped[1]}): they are swapped."
    if word := uncalled_layer(failed.message):
        return f"{word} is a layer that was made and not called: write nn.{word}()(x) for nn.{word}(x)."
    return ""


def _not_flat(failed: Failed, graph: Graph, features: int) -> str:
    shape = next(_shapes(failed), ())
    if len(shape) < 3 or math.prod(shape[1:]) != features:
        return ""
    product = "·".join(map(str, shape[1:]))
    name = _input_name(failed, graph)
    return f"{name} is not flattened: the layer takes {features} numbers a row ({product}), and gets {list(shape)}."


def _mixed_rows(failed: Failed, graph: Graph, rows: int, batch: int) -> str:
    """A view that leaves the number of rows open, and makes more of them."""
    if not batch or rows % batch or rows == batch:
        return ""
    for item in _above(graph, failed.node):
        node = graph.nodes.get(item)
        if node is None or node.operator not in VIEWS:
            continue
        sizes = node.literals.get("shape.0") or node.literals.get("size.0") or node.literals.get("shape", "")
        if sizes.lstrip("([").startswith("-1"):
            word = node.operator.rpartition(".")[2]
            return f"{word}(-1, …) made {rows} rows of a batch of {batch}: it takes other dimensions for the batch."
    return ""


def _shared_by_both(second: ItemId, graph: Graph) -> str:
    """What the backward before this one went through, and this one goes through again."""
    carried = carried_graph(graph, second)
    if carried is not None:
        name = carried.port.partition(".")[2]
        return (
            f"{name} brings its graph along from turn to turn, and the backward of the turn before has freed it: "
            f"carry {name}.detach() (of a tuple each part), or begin it anew in each turn."
        )
    first = backward_before(graph, second)
    if first is None:
        return ""
    shared = shared_result(graph, first, second)
    if shared is None:
        return ""
    name = title(graph, shared)
    return (
        f"Both backwards go through {name}, and the first one freed what was saved on the way to it: "
        f"detach {name} for the one that is not to train what made it."
    )


def carried_graph(graph: Graph, backward: ItemId) -> Wire | None:
    """The wire by which a loop carries a computed value into a backward of its own; None where there is none."""
    above, may, live = set(_above(graph, backward)), may_require_grad(graph), analyse(graph).validity.is_live
    for body in graph.ancestors(backward) if backward in graph else ():
        block = graph.blocks.get(ItemId(body))
        for k, name in enumerate(block.carried if block is not None else (), 1):
            back = graph.wire_into(ItemId(body), f"next.{name}")
            is_read = any(wire.output == k and wire.target in above for wire in graph.wires_from(ItemId(body)))
            if back is None or not is_read or not _is_computed(graph, back.source):
                continue
            if (back.source, back.output) in may or not live(back.source):  # of what cannot run nothing is known
                return back
    return None


def _is_computed(graph: Graph, item: ItemId) -> bool:
    """Whether it is a new value, and no leaf that is written into."""
    operator = operator_of(graph, item) if item in graph.nodes else None
    return operator is not None and not operator.writes and bool(graph.wires_to(item))


def shared_result(graph: Graph, first: ItemId, second: ItemId) -> ItemId | None:
    """The computed value nearest to the second backward that the first one went through, too; None: the root itself."""
    seen, may = list(_above(graph, first)), may_require_grad(graph)
    for item in _above(graph, second):
        is_result = item in graph.nodes and any(wire.source in graph.nodes for wire in graph.wires_to(item))
        if item in seen and is_result and (item, 0) in may:
            return item if item != seen[0] else None
    return None


def backward_before(graph: Graph, item: ItemId) -> ItemId | None:
    """The last backward in front of an item."""
    items = list(graph.order())
    before = items[: items.index(item)] if item in items else []
    return next((one for one in reversed(before) if is_backward(graph, one)), None)


def uncalled_layer(message: str) -> str:
    """The class of a layer that stands where a tensor should, as torch's words call it; "" where none does."""
    found = LAYER.search(message)
    return found["word"] if found and load().get(f"torch.nn.{found['word']}") is not None else ""


def made_before_loop(failed: Failed, graph: Graph) -> str:
    """What a second backward in a loop begins from, where it is computed before that loop; "" else."""
    if not failed.message.startswith(SECOND) or failed.node not in graph:
        return ""
    around = [body for body in graph.ancestors(failed.node) if ItemId(body) in graph.blocks]
    wire = next((one for port in ROOT_PORTS if (one := graph.wire_into(failed.node, port)) is not None), None)
    loops = [body for body in around if graph.blocks[ItemId(body)].kind == "for"]
    is_made = wire is not None and wire.source in graph.nodes
    if wire is None or not is_made or not loops or loops[0] in graph.ancestors(wire.source):
        return ""
    return source_name(graph, wire)


def swapped_words(failed: Failed, graph: Graph) -> tuple[str, str] | None:
    """How target and predictions of a loss over classes are called, where whole numbers stand first; else None."""
    node = graph.nodes.get(failed.node)
    view = ProgramView(graph)
    if node is None or view.word(failed.node) not in CLASS_LOSSES:
        return None
    found = [graph.wire_into(node.id, port) for ports in LOSS_PORTS for port in ports]
    wires, told = [wire for wire in found if wire is not None], dict(failed.operands)
    if len(wires) != len(LOSS_PORTS):
        return None
    records = [told.get(wire.port) for wire in wires]
    first, second = [one.summary.dtype if isinstance(one, TensorRecord) else "" for one in records]
    if not first.startswith(WHOLE) or not second.startswith("float"):
        return None
    first_name, second_name = (source_name(graph, wire) for wire in wires)
    return first_name, second_name


# ------------------------------------------------------------------ helpers


def _shapes(failed: Failed) -> Iterator[tuple[int, ...]]:
    told = dict(failed.operands)
    for port in INPUTS:
        record = told.get(port)
        if isinstance(record, TensorRecord):
            yield record.summary.shape


def _input_name(failed: Failed, graph: Graph) -> str:
    wires = (graph.wire_into(failed.node, port) for port in INPUTS)
    wire = next((one for one in wires if one is not None), None)
    return source_name(graph, wire) if wire is not None and wire.source in graph else "The input"


def _above(graph: Graph, item: ItemId) -> Iterator[ItemId]:
    """What an item was made from, the nearest first."""
    seen, todo = {item}, [item]
    while todo and len(seen) < FARTHEST:
        for wire in graph.wires_to(todo.pop(0)):
            if wire.source not in seen and wire.source in graph:
                seen.add(wire.source)
                todo.append(wire.source)
                yield wire.source


def is_backward(graph: Graph, item: ItemId) -> bool:
    """Whether an item is a statement that goes backward."""
    operator = operator_of(graph, item) if item in graph.nodes else None
    return operator is not None and Effect.BACKWARD in operator.effects
