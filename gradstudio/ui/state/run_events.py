"""Events of the engine that only have to be kept: values, gradients, memory, words. It decides nothing."""

from gradstudio.graph.inner import is_inner, outermost
from gradstudio.graph.model import ItemId
from gradstudio.protocol import messages
from gradstudio.protocol.autograd import BackwardTraced
from gradstudio.ui.state.memory_store import MemoryStore
from gradstudio.ui.state.result_store import ResultStore

PROGRESS = (messages.Traced, messages.Gradients, BackwardTraced)
"""What an engine says only when it goes from one statement to the next."""


def keep(event: messages.Event, results: ResultStore, memory: MemoryStore, texts: dict[ItemId, str]) -> None:
    """Put an event where it belongs; `texts` are the statements in program order."""
    match event:
        case messages.Traced(rows=rows):
            results.add_rows(rows)
            results.set_running(_after(rows[-1].node, texts) if rows else ItemId(""))
        case BackwardTraced():
            results.add_backward(event)
        case messages.Gradients(rows=grad_rows, whole=whole, modules=modules):
            results.set_gradients(grad_rows, whole)
            if whole:
                results.set_modules(modules)
        case messages.Warned():
            results.add_warning(event)
        case messages.Printed():
            results.add_print(event)
        case messages.Memory():
            memory.add(event)
        case _:
            pass


def _after(node: ItemId, texts: dict[ItemId, str]) -> ItemId:
    """The node whose statement follows in the text: as far as can be told, the one at work now."""
    if is_inner(node):
        return outermost(node)
    nodes = list(texts)
    index = nodes.index(node) + 1 if node in texts else len(nodes)
    return nodes[index] if index < len(nodes) else ItemId("")
