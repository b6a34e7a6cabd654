"""The program's graph in the formats of other tools: DOT for Graphviz, GraphML for Gephi, yEd and networkx."""

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from gradstudio.graph.model import ROOT, BodyId, Graph, ItemId
from gradstudio.graph.operator_rows import row_of
from gradstudio.graph.structure.dependencies import Dependency, dependencies
from gradstudio.graph.text.item_titles import title

INDENT = "  "
_OUTSIDE_XML = {code: "\N{REPLACEMENT CHARACTER}" for code in (*range(32), 0xFFFE, 0xFFFF) if chr(code) not in "\t\n\r"}
"""Characters that XML 1.0 has no form for (section 2.2)."""


class Format(msgspec.Struct, frozen=True):
    """One kind of file.

    Attributes:
        name: how the command line calls it.
        title: how the window calls it.
        suffix: of the file, with its dot.
        summary: what a person gets.
        write: the text of a graph, under a title.
    """

    name: str
    title: str
    suffix: str
    summary: str
    write: Callable[[Graph, str], str]

    @property
    def kinds(self) -> str:
        """How a file dialog names such files: ``DOT (*.dot)``."""
        return f"{self.title} (*{self.suffix})"


def write_dot(graph: Graph, name: str) -> str:
    """The graph in the DOT language: a box a node, a cluster a block, an edge a dependency.

    Each node is called ``n`` and its number in the order of the program; texts are labels. Only wires and what loops
    carry are drawn: blocks are clusters around their statements, and order by memory is no edge.
    """
    numbers = {item: f"n{number}" for number, item in enumerate(graph.order())}
    lines = [f"digraph {quoted(name)} {{", f"{INDENT}rankdir=LR;", f'{INDENT}node [shape=box, fontname="sans-serif"];']
    lines += _dot_body(graph, ROOT, numbers, INDENT)
    lines += [
        f"{INDENT}{_dot_edge(graph, edge, numbers)}" for edge in dependencies(graph) if edge.by in ("wire", "turn")
    ]
    return "\n".join([*lines, "}", ""])


def quoted(text: str) -> str:
    r"""A quoted string of DOT that is shown as the text stands: quotes, backslashes and line ends are escaped.

    https://graphviz.org/doc/info/lang.html and, of labels, https://graphviz.org/docs/attr-types/escString/
    """
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\r\n", "\n").replace("\r", "\n")
    return '"' + escaped.replace("\n", "\\n").replace("\0", "\N{REPLACEMENT CHARACTER}") + '"'


def write_graphml(graph: Graph, name: str) -> str:
    """The graph in GraphML (`networkx.generate_graphml`), with what each node and edge is as its attributes.

    Nodes: ``label``, ``kind`` (node or block), ``operator``, ``line`` (its place in the program, from 0), ``parent``
    (the block around it). Edges: ``output``, ``port``, ``by`` (wire, turn, write, block).
    """
    import networkx as nx

    return "\n".join([*nx.generate_graphml(_multigraph(graph, name)), ""])


def _multigraph(graph: Graph, name: str) -> Any:
    import networkx as nx

    network = nx.MultiDiGraph(name=_in_xml(name))
    for number, item in enumerate(graph.order()):
        network.add_node(_in_xml(item), **_attributes(graph, item, number))
    for edge in dependencies(graph):
        ends = _in_xml(edge.source), _in_xml(edge.target)
        network.add_edge(*ends, output=edge.output, port=_in_xml(edge.port), by=edge.by)
    return network


def _attributes(graph: Graph, item: ItemId, number: int) -> dict[str, str | int]:
    kind = "node" if item in graph.nodes else "block"
    label, what = _in_xml(title(graph, item)), _in_xml(_operator(graph, item))
    return {"label": label, "kind": kind, "operator": what, "line": number, "parent": _in_xml(graph.parents[item])}


def _in_xml(text: str) -> str:
    """The text with what XML has no character for replaced."""
    return text.translate(_OUTSIDE_XML).encode("utf-8", "replace").decode()


def _operator(graph: Graph, item: ItemId) -> str:
    return graph.nodes[item].operator if item in graph.nodes else graph.blocks[item].kind


def _dot_body(graph: Graph, body: BodyId, numbers: dict[ItemId, str], indent: str) -> Iterator[str]:
    for item in graph.bodies[body]:
        if item in graph.nodes:
            yield f"{indent}{numbers[item]} [label={quoted(_label(graph, item))}];"
            continue
        yield f"{indent}subgraph cluster_{numbers[item]} {{"
        inner = indent + INDENT
        yield f"{inner}label={quoted(title(graph, item))};"
        if graph.wires_from(item) or graph.wires_to(item):
            yield f"{inner}{numbers[item]} [label={quoted(title(graph, item))}, shape=plaintext];"
        yield from _dot_body(graph, BodyId(item), numbers, inner)
        yield f"{indent}}}"


def _label(graph: Graph, item: ItemId) -> str:
    """What the head of its card shows, and below it the operator where that is another word."""
    node, name = graph.nodes[item], title(graph, item)
    row = row_of(graph, node)
    operator = row.title if row is not None else node.operator
    return name if operator == name else f"{name}\n{operator}"


def _dot_edge(graph: Graph, edge: Dependency, numbers: dict[ItemId, str]) -> str:
    dashed = ", style=dashed, constraint=false" if edge.by == "turn" else ""
    return f"{numbers[edge.source]} -> {numbers[edge.target]} [headlabel={quoted(edge.port)}{dashed}];"


FORMATS = (
    Format(
        "dot",
        "DOT",
        ".dot",
        "The graph of the program as a text that Graphviz draws: nodes, wires, blocks as clusters",
        write_dot,
    ),
    Format(
        "graphml",
        "GraphML",
        ".graphml",
        "The graph of the program as XML, for Gephi, yEd and networkx: nodes, wires, what each is",
        write_graphml,
    ),
)


def format_named(name: str) -> Format:
    """The format of that name.

    Raises:
        KeyError: there is none.
    """
    return {one.name: one for one in FORMATS}[name]
