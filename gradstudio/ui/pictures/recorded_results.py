"""What an engine said of a run, as the results that cards and figures read; for pictures without a window."""

from collections.abc import Iterable

from gradstudio.advice.explanation import explain
from gradstudio.graph.model import Graph
from gradstudio.program.compile import compile_graph
from gradstudio.protocol.messages.events import Event, Failed
from gradstudio.ui.state.document.graph_store import GraphStore
from gradstudio.ui.state.results.failure import Failure
from gradstudio.ui.state.results.memory_store import MemoryStore
from gradstudio.ui.state.results.result_store import ResultStore
from gradstudio.ui.state.results.run_names import RunNames
from gradstudio.ui.state.run.run_events import keep


def recorded_results(graph: Graph, events: Iterable[Event]) -> ResultStore:
    """Results that stand at the end of the run; without events, those of nothing."""
    results = ResultStore(store=GraphStore(graph))
    tables, memory, told = results.tables, MemoryStore(), list(events)
    if told:
        tables.begin(True, names=RunNames(graph, compile_graph(graph)))
    for event in told:
        if isinstance(event, Failed):
            advice = explain(event, graph)
            tables.add_failure(Failure(event, advice.explanation, advice.fixes))
        else:
            keep(event, tables, memory, texts={})
    tables.set_counter(results.next_node)
    return results
