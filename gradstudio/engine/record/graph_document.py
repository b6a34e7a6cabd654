"""What autograd holds behind tensors as a document: a card for each of its nodes, with what is known of its values."""

from pathlib import Path

import torch

from gradstudio.document.atomic_write import write_file
from gradstudio.document.file import dumps
from gradstudio.engine.bring.variable_names import Names
from gradstudio.graph.model import ROOT, Graph, Header, ItemId, Node, Wire
from gradstudio.program.compile import compile_graph
from gradstudio.protocol import gradient_sentences as words
from gradstudio.protocol.messages.events import Gradients, GradRow, Row, Traced
from gradstudio.protocol.messages.records import Summary, TensorRecord
from gradstudio.protocol.record_file import RecordHead, program_digest, record_beside, write_record
from gradstudio.protocol.sketch import Sketch, SketchNode

KINDS = {"leaf": "autograd.AccumulateGrad", "constant": "autograd.constant"}


def write_graph_document(sketch: Sketch, path: Path, title: str) -> None:
    """Write the document, and the record of its values beside it.

    Raises:
        CannotSave: the system refused.
    """
    graph = _graph(sketch)
    items = list(graph.nodes)
    rows = tuple(_row(number, items[number], node) for number, node in enumerate(sketch.nodes))
    gradients = tuple(_gradient(items[number], node) for number, node in enumerate(sketch.nodes) if node.grad)
    head = RecordHead(
        program=program_digest(compile_graph(graph)), title=title, torch=str(torch.__version__), notes=sketch.notes
    )
    write_file(path, dumps(graph).encode(), durable=False)
    write_record(record_beside(path), head, [Traced(revision=0, rows=rows), Gradients(revision=0, rows=gradients)])


def _graph(sketch: Sketch) -> Graph:
    graph, names = Graph(), Names()
    graph.header = Header(seed=None)
    ids = [ItemId(f"n{number}") for number in range(1, len(sketch.nodes) + 1)]
    for item, node in zip(ids, sketch.nodes, strict=True):
        function = node.title.partition("Backward")[0].lower() if node.kind == "function" else node.title
        name = names.fresh(node.result or function)
        graph.nodes[item] = Node(id=item, operator=KINDS.get(node.kind, f"autograd.{node.title}"), names=(name,))
        graph.parents[item] = ROOT
    graph.bodies[ROOT] = tuple(ids)
    counts: dict[int, int] = {}
    for edge in sketch.edges:
        place = counts[edge.target] = counts.get(edge.target, -1) + 1
        graph.draw(Wire(ids[edge.source], 0, ids[edge.target], f"next_{place}"))
    return graph


def _row(number: int, item: ItemId, node: SketchNode) -> Row:
    outputs = tuple(_record(node, summary) for summary in node.outputs[:1])
    return Row(step=number + 1, node=item, outputs=outputs)


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
    reason = words.LEAF_VALUE if node.kind == "leaf" else words.VALUE
    return GradRow(node=item, state="value", reason=reason, grad=node.grad)
