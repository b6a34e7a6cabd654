"""What autograd holds behind tensors as a document: a card for each of its nodes, with what is known of its values."""

import re
from collections import Counter
from pathlib import Path

import torch

from gradstudio.document.atomic_write import write_file
from gradstudio.document.file import dumps
from gradstudio.engine.bring.variable_names import Names
from gradstudio.graph.model import ROOT, Graph, Header, ItemId, Node, Wire
from gradstudio.graph.operator_rows import AUTOGRAD, CONSTANT, LEAF, NEXT, instance_name
from gradstudio.program.compile import compile_graph
from gradstudio.protocol import gradient_sentences as words
from gradstudio.protocol.messages.events import Gradients, GradRow, Row, Traced
from gradstudio.protocol.messages.records import Summary, TensorRecord
from gradstudio.protocol.record_file import RecordHead, program_digest, record_beside, write_record
from gradstudio.protocol.sketch import Sketch, SketchNode

_DIMENSIONS = re.compile(r"(\d)D")
KINDS = {"leaf": LEAF, "constant": CONSTANT}


def write_graph_document(sketch: Sketch, path: Path, title: str) -> None:
    """Write the document, and the record of its values beside it.

    Raises:
        CannotSave: the system refused.
    """
    graph = _graph(sketch)
    items = list(graph.nodes)
    rows = tuple(_row(place, graph.nodes[items[place]], node) for place, node in enumerate(sketch.nodes))
    gradients = tuple(_gradient(items[place], node) for place, node in enumerate(sketch.nodes))
    head = RecordHead(
        program=program_digest(compile_graph(graph)), title=title, torch=str(torch.__version__), notes=sketch.notes
    )
    write_file(path, dumps(graph).encode(), durable=False)
    write_record(record_beside(path), head, [Traced(revision=0, rows=rows), Gradients(revision=0, rows=gradients)])


def _graph(sketch: Sketch) -> Graph:
    graph, names = Graph(), Names()
    graph.header = Header(seed=None)
    ids = [ItemId(f"n{number}") for number in range(1, len(sketch.nodes) + 1)]
    given = Counter(edge.target for edge in sketch.edges)
    results: dict[int, int] = {}
    for edge in sketch.edges:  # what nothing here uses, is not shown
        results[edge.source] = max(results.get(edge.source, 1), edge.output + 1)
    for number, (item, node) in enumerate(zip(ids, sketch.nodes, strict=True)):
        name = node.name or node.result or (_function(node.title) if node.kind == "function" else node.title)
        graph.nodes[item] = Node(
            id=item,
            operator=KINDS.get(node.kind, f"{AUTOGRAD}{node.title}"),
            names=tuple(names.fresh(name) for _ in range(results.get(number, 1))),
            lengths={NEXT: given[number]} if given[number] else {},
        )
        graph.parents[item] = ROOT
    graph.bodies[ROOT] = tuple(ids)
    counts: dict[int, int] = {}
    for edge in sketch.edges:
        place = counts[edge.target] = counts.get(edge.target, -1) + 1
        graph.draw(Wire(ids[edge.source], edge.output, ids[edge.target], f"{NEXT}_{place}"))
    return graph


def _function(title: str) -> str:
    """As its forward is called: ``max_pool2d`` of ``MaxPool2DBackward0``."""
    return instance_name(_DIMENSIONS.sub(r"\1d", title.partition("Backward")[0]))


def _row(place: int, card: Node, node: SketchNode) -> Row:
    outputs = tuple(_record(node, summary) for summary in node.outputs[: len(card.names)])
    return Row(step=place + 1, node=card.id, outputs=outputs)


def _record(node: SketchNode, summary: Summary) -> TensorRecord:
    is_function = node.kind == "function"
    return TensorRecord(
        device="",
        summary=summary,
        requires_grad=node.kind != "constant",
        is_leaf=not is_function,
        grad_fn=node.title if is_function else None,
    )


def _gradient(item: ItemId, node: SketchNode) -> GradRow:
    if node.grad is not None:
        reason = words.LEAF_VALUE if node.kind == "leaf" else words.VALUE
        return GradRow(node=item, state="value", reason=reason, grad=node.grad)
    if node.kind == "constant":
        return GradRow(node=item, state="not_required", reason=words.NOT_REQUIRED)
    if node.kind == "leaf":
        return GradRow(node=item, reason=words.NOTHING_IN_GRAD)
    return GradRow(node=item, state="not_retained", reason=words.NOT_RETAINED)
