"""The Python that a program keeps as code, with what is drawn of its functions: read by rules that go by text."""

from collections.abc import Mapping

from gradstudio.graph.memo_table import MemoTable
from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.text.code_records import code_of, is_code
from gradstudio.graph.text.drawn_bodies import bodies_in
from gradstudio.program.compile import compile_graph

_known: MemoTable[tuple[int, Mapping[ItemId, str]]] = MemoTable()


def code_texts(graph: Graph) -> Mapping[ItemId, str]:
    """By node of the program, the statements that it holds, but for what is muted; the same until an edit."""
    revision, texts = _known.get(graph) or (-1, {})
    if revision != graph.revision:
        texts = _texts(graph)
        _known[graph] = graph.revision, texts
    return texts


def _texts(graph: Graph) -> dict[ItemId, str]:
    nodes = [node for node in graph.nodes.values() if is_code(node) and not node.muted]
    if not any(map(bodies_in, nodes)):
        return {node.id: code_of(node) for node in nodes}
    whole = {code.node: code.text for code in compile_graph(graph).codes}
    return {node.id: whole.get(node.id, code_of(node)) for node in nodes}
