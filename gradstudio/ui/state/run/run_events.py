"""Events of the engine that only have to be kept: values, gradients, memory, words. It decides nothing."""

from collections.abc import Mapping

from gradstudio.graph.groups.call_ids import is_call_item, outermost
from gradstudio.graph.model import Graph, ItemId
from gradstudio.protocol.messages import events
from gradstudio.protocol.messages.backward_trace import BackwardTraced
from gradstudio.protocol.messages.charts import DrawnChart
from gradstudio.protocol.messages.drawn_figures import Figured
from gradstudio.protocol.messages.progress import Asked, Turned
from gradstudio.ui.state.results.failure import Failure
from gradstudio.ui.state.results.memory_store import MemoryStore
from gradstudio.ui.state.results.result_tables import ResultTables

HELD = ("repeat", "go_to_turn")
"""Verbs in which what is shown stays until they are over."""
PROGRESS = (events.Traced, events.Gradients, BackwardTraced, Turned)
"""What an engine says only when it goes from one statement to the next."""


def keep(event: events.Event, tables: ResultTables, memory: MemoryStore | None, texts: dict[ItemId, str]) -> None:
    """Put an event where it belongs; `texts` are the statements in program order."""
    match event:
        case events.Traced(rows=rows):
            tables.add_rows(rows)
            tables.set_running(_after(rows[-1].node, texts) if rows else ItemId(""))
        case BackwardTraced():
            tables.add_backward(event)
        case Turned():
            tables.add_turns(event)
        case Asked():
            tables.ask(event)
        case events.Gradients(rows=grad_rows, whole=whole, written=written, in_record=in_record):
            tables.set_gradients(grad_rows, whole, in_record)
            if whole or written:
                tables.set_written(written)
        case events.Warned():
            tables.add_warning(event)
        case events.Printed():
            tables.add_print(event)
        case _ if isinstance(event, DrawnChart):
            tables.add_chart(event)
        case Figured():
            tables.add_figure(event)
        case events.Memory() if memory is not None:
            memory.add(event)
        case _:
            pass


def _after(node: ItemId, texts: dict[ItemId, str]) -> ItemId:
    """The node whose statement follows in the text: as far as can be told, the one at work now."""
    if is_call_item(node):
        return outermost(node)
    nodes = list(texts)
    index = nodes.index(node) + 1 if node in texts else len(nodes)
    return nodes[index] if index < len(nodes) else ItemId("")


def failure_of(event: events.Failed, graph: Graph, texts: Mapping[ItemId, str], place: str) -> Failure:
    """How a node failed, explained; `place` is where in undrawn Python that was."""
    from gradstudio.advice.explanation import explain

    advice = explain(event, graph)
    return Failure(event, advice.explanation, advice.fixes, texts.get(event.node, ""), place)
