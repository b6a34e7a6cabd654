"""DOT and GraphML: each is read again, and says the same graph."""

import re

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstudio.document.file import load
from gradstudio.graph import recipes
from gradstudio.graph.edits import apply_all
from gradstudio.graph.model import Graph
from gradstudio.graph.structure.dependencies import dependencies
from gradstudio.graph.structure.graph_export import FORMATS, format_named, quoted, write_dot, write_graphml
from gradstudio.paths import examples
from tests.graph.structure.programs import Line, lines, node, program, written

TOKEN = re.compile(r'\s*(->|[{}\[\]=,;]|"(?:[^"\\\n]|\\.)*"|[A-Za-z_][A-Za-z_0-9]*)')
LOOP = "h = torch.ones(2)\nfor i in range(3):\n    h = h * 2\nwith torch.no_grad():\n    y = h + 1\n"


class DotReader:
    """The grammar of https://graphviz.org/doc/info/lang.html, as far as a graph of ours needs it; else it fails."""

    def __init__(self, text: str) -> None:
        self.tokens = self._split(text)
        self.labels: dict[str, str] = {}
        self.edges: list[tuple[str, str]] = []
        self.clusters = 0
        self._take("digraph")
        self._id()
        self._body()
        assert not self.tokens

    def _split(self, text: str) -> list[str]:
        found, place = [], 0
        while text[place:].strip():
            match = TOKEN.match(text, place)
            assert match is not None, text[place : place + 40]
            found.append(match[1])
            place = match.end()
        return found

    def _take(self, *expected: str) -> str:
        token = self.tokens.pop(0)
        assert not expected or token in expected, (token, expected)
        return token

    def _id(self) -> str:
        token = self._take()
        assert re.fullmatch(r'"(?:[^"\\\n]|\\.)*"|[A-Za-z_]\w*', token, re.ASCII), token
        return re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], token[1:-1]) if token[0] == '"' else token

    def _body(self) -> None:
        self._take("{")
        while self.tokens[0] != "}":
            self._statement()
        self._take("}")

    def _statement(self) -> None:
        if self.tokens[0] == "subgraph":
            self._take("subgraph")
            assert self._id().startswith("cluster_")
            self.clusters += 1
            self._body()
            return
        name = self._id()
        if self.tokens[0] == "=":
            self._take("=")
            self._id()
        elif self.tokens[0] == "->":
            self._take("->")
            self.edges.append((name, self._id()))
            self._attributes()
        else:
            attributes = self._attributes()
            if name != "node":
                assert name not in self.labels
                self.labels[name] = attributes["label"]
        self._take(";")

    def _attributes(self) -> dict[str, str]:
        found = {}
        self._take("[")
        while True:
            key = self._id()
            self._take("=")
            found[key] = self._id()
            if self._take(",", "]") == "]":
                return found


@pytest.mark.parametrize("name", sorted(path.stem for path in examples().glob("*.gsg")))
def test_every_example_is_read_again(name: str) -> None:
    graph = load(examples() / f"{name}.gsg")
    dot = DotReader(write_dot(graph, name))
    drawn = [edge for edge in dependencies(graph) if edge.by in ("wire", "turn")]
    assert len(dot.edges) == len(drawn) and dot.clusters == len(graph.blocks)
    assert all(end in dot.labels for edge in dot.edges for end in edge)
    again = nx.parse_graphml(write_graphml(graph, name), force_multigraph=True)
    assert set(again) == {*graph.nodes, *graph.blocks}
    assert again.number_of_edges() == len(dependencies(graph))


@given(lines())
def test_wires_come_back_from_both(drawn: list[Line]) -> None:
    graph = written(drawn)
    place = {item: f"n{number}" for number, item in enumerate(graph.order())}
    expected = sorted((wire.source, wire.target) for wire in graph.wires.values())
    dot = DotReader(write_dot(graph, "p"))
    assert sorted(dot.edges) == sorted((place[source], place[target]) for source, target in expected)
    again = nx.parse_graphml(write_graphml(graph, "p"), force_multigraph=True)
    by_wire = [(a, b) for a, b, by in again.edges(data="by") if by == "wire"]
    assert sorted(by_wire) == expected


def test_blocks_are_clusters_and_what_a_loop_carries_is_dashed() -> None:
    text = write_dot(program(LOOP), "loop")
    dot = DotReader(text)
    assert dot.clusters == 2 and "for i" in dot.labels.values()
    assert len([line for line in text.splitlines() if "style=dashed" in line]) == 1


def test_graphml_says_what_each_node_is_and_where_it_stands() -> None:
    graph = program(LOOP)
    again = nx.parse_graphml(write_graphml(graph, "loop"), force_multigraph=True)
    attributes = again.nodes[node(graph, "y")]
    assert attributes["label"] == "y" and attributes["operator"] == "operator.add" and attributes["kind"] == "node"
    assert again.nodes[attributes["parent"]]["operator"] == "no_grad"


@given(st.text())
def test_any_text_is_one_quoted_string(text: str) -> None:
    token = quoted(text)
    assert re.fullmatch(r'"(?:[^"\\\n]|\\.)*"', token)
    shown = re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], token[1:-1], flags=re.DOTALL)
    assert shown == text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\N{REPLACEMENT CHARACTER}")


@given(st.text(st.characters(exclude_categories=("Cs",))))
def test_any_title_of_a_group_is_written_and_read(title: str) -> None:
    graph = program("x = torch.ones(2)\n")
    apply_all(graph, recipes.wrap(graph, list(graph.nodes), "group", title))
    assert DotReader(write_dot(graph, title)).clusters == 1
    assert len(nx.parse_graphml(write_graphml(graph, title))) == 2


def test_an_empty_program_is_an_empty_graph() -> None:
    dot = DotReader(write_dot(Graph(), "nothing"))
    assert dot.labels == {} and dot.edges == []
    assert len(nx.parse_graphml(write_graphml(Graph(), "nothing"))) == 0


def test_formats_are_found_by_name() -> None:
    assert [format_named(one.name) for one in FORMATS] == list(FORMATS)
    with pytest.raises(KeyError):
        format_named("png")
