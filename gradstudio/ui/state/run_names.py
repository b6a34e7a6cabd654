"""How the program that ran called its nodes: what the past is named with, whatever was edited since. No Qt here."""

from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.names import title
from gradstudio.program.model import Program, flat


class RunNames:
    """Nodes as they were in the program of a run.

    Attributes:
        graph: a copy of the graph that was run; empty before anything ran.
        texts: the statement of each node.
    """

    def __init__(self, graph: Graph | None = None, program: Program | None = None) -> None:
        """Keep a graph and the program compiled from it; nothing for no run."""
        self.graph = graph.copy() if graph is not None else Graph()
        statements = flat(program.statements) if program is not None else ()
        self.texts: dict[ItemId, str] = {statement.node: statement.text for statement in statements}

    def title(self, node: ItemId) -> str:
        """The names the node bound when it ran, or its operator; "" when it was not in the program."""
        return title(self.graph, node) if node in self.graph else ""

    def text(self, node: ItemId) -> str:
        """The node's statement when it ran; "" when it had none."""
        return self.texts.get(node, "")

    def graph_or(self, now: Graph) -> Graph:
        """The graph that was run, or the one that stands now when nothing ran."""
        return self.graph if self.graph.nodes else now


NOTHING_RAN = RunNames()
