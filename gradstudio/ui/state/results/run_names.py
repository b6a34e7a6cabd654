"""How the program that ran called its nodes: what the past is named with, whatever was edited since. No Qt here."""

from gradstudio.graph.groups.call_ids import calls_around, is_call_item, path_of
from gradstudio.graph.groups.code_ids import CodeCall, code_call
from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.text.item_titles import title
from gradstudio.program.model import Program, flatten_statements
from gradstudio.protocol.messages.progress import CurveKey


class RunNames:
    """Nodes as they were in the program of a run.

    Attributes:
        graph: a copy of the graph that was run; empty before anything ran.
        texts: the statement of each node.
        has_code: whether a statement of it was Python that is not drawn.
    """

    def __init__(self, graph: Graph | None = None, program: Program | None = None) -> None:
        """Keep a graph and the program compiled from it; nothing for no run."""
        self.graph = graph.copy() if graph is not None else Graph()
        insides = program.insides if program is not None else ()
        inner = (one for inside in insides for one in flatten_statements((*inside.setup, *inside.body)))
        self._inner: dict[ItemId, str] = {one.node: one.text for one in inner}
        self.has_code = program is not None and bool(program.codes)
        self._lines = program.script.splitlines() if program is not None and program.codes else []
        self.texts: dict[ItemId, str] = program.texts if program is not None else {}

    def title(self, node: ItemId) -> str:
        """The names the node bound when it ran, or its operator; "" when it was not in the program."""
        if not is_call_item(node):
            return title(self.graph, node) if node in self.graph else ""
        from gradstudio.graph.analysis.call_addresses import group_at  # nothing has run at a start

        words = list[str]()
        graph = self.graph
        call = code_call(node)
        *_, last = path_of(node)
        for at in (*calls_around(node), node):
            part = path_of(at)[-1]
            known = title(graph, part) if part in graph else "inputs"
            words.append(known if call is None or part != last else call.word)
            definition = self.graph.definitions.get(group_at(self.graph, at))
            graph = definition.graph if definition is not None else graph
        return " ▸ ".join(words)

    def curve_title(self, key: CurveKey) -> str:
        """How a curve of the run is called: ``loss``, ``norm of fc1.weight.grad``."""
        from gradstudio.protocol.curve_titles import curve_title, name_of_several  # nothing has run at a start

        return curve_title(name_of_several(self.graph, key) or self.title(key.node) or str(key.node), key)

    def text(self, node: ItemId) -> str:
        """The node's statement when it ran, of a call inside of code what was called and its line; "" for none."""
        if (call := code_call(node)) is not None:
            return f"{call.word} in {self.line(call)}".strip()
        return self._inner.get(path_of(node)[-1], "") if is_call_item(node) else self.texts.get(node, "")

    def line(self, call: CodeCall) -> str:
        """The line of the person's own that made a call: its text, or where it stands in another file."""
        if call.file:
            return f"{call.file}, line {call.line}"
        return self._lines[call.line - 1].strip() if 0 < call.line <= len(self._lines) else ""

    def graph_or(self, now: Graph) -> Graph:
        """The graph that was run, or the one that stands now when nothing ran."""
        return self.graph if self.graph.nodes else now


NOTHING_RAN = RunNames()
