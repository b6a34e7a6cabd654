"""What an engine said of a run, as the results that cards and figures read; for pictures without a window."""

from collections.abc import Iterable

from gradstudio.advice.explanation import explain
from gradstudio.graph.model import Graph
from gradstudio.program.compile import compile_graph
from gradstudio.protocol.messages.backward_trace import BackwardTraced
from gradstudio.protocol.messages.events import Event, Failed, Gradients, Traced, Warned
from gradstudio.ui.state.document.graph_store import GraphStore
from gradstudio.ui.state.results.failure import Failure
from gradstudio.ui.state.results.result_store import ResultStore
from gradstudio.ui.state.results.run_names import RunNames


def recorded_results(graph: Graph, events: Iterable[Event]) -> ResultStore:
    """Results that stand at the end of the run; without events, those of nothing."""
    results = ResultStore(store=GraphStore(graph))
    tables, told = results.tables, list(events)
    if told:
        tables.begin(True, names=RunNames(graph, compile_graph(graph)))
    for event in told:
        match event:
            case Traced(rows=rows):
                tables.add_rows(rows)
            case BackwardTraced():
                tables.add_backward(event)
            case Gradients(rows=gradients, whole=whole):
                tables.set_gradients(gradients, whole)
            case Warned():
                tables.add_warning(event)
            case Failed():
                advice = explain(event, graph)
                tables.add_failure(Failure(event, advice.explanation, advice.fixes))
            case _:
                pass
    tables.set_counter(results.next_node)
    return results
