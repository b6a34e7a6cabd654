"""Add training: the loss of the program in a loop that learns, as nodes and blocks like any others."""

from gradstudio.graph.model import BodyId, Graph, ItemId
from gradstudio.graph.names import title
from gradstudio.graph.recipes.effect_statements import BACKWARD
from gradstudio.program.errors import NoForm, NotReadable
from gradstudio.protocol.messages.records import TensorRecord
from gradstudio.ui.canvas.view import CanvasView
from gradstudio.ui.state.session import Session

DONE = "A loop learns the loss now: Run (F5)."


def add_training(canvas: CanvasView, session: Session) -> None:
    """Change the program by its text; what cannot be trained is refused in words."""
    from gradstudio.document.python.merge_edits import merge
    from gradstudio.program.forms.training.added_training import with_training

    store = session.graph_store
    store.settle()
    graph: Graph = store.graph
    for missing in session.run.program.incomplete:
        words = f"'{title(graph, missing.node)}' cannot run yet: {missing.reason}"
        session.run.status.refused.emit(words)
        return
    try:
        text = with_training(graph, lambda value: shape_of(session, *value))
        edits = merge(graph, text, anew=True)
    except (NoForm, NotReadable) as error:
        session.run.status.refused.emit(str(error))
        return
    before = frozenset(store.graph.blocks)
    store.submit(edits, "Add training")
    canvas.navigation.land(_learning_loop(store.graph, before))
    session.run.status.noted.emit(DONE)


def _learning_loop(graph: Graph, before: frozenset[ItemId]) -> list[ItemId]:
    """The new block in which the backward stands."""
    calls = {item for item, node in graph.nodes.items() if node.operator == BACKWARD}
    new = (block for block in graph.blocks if block not in before)
    return [block for block in new if not calls.isdisjoint(graph.bodies[BodyId(block)])]


def shape_of(session: Session, node: ItemId, output: int) -> tuple[int, ...] | None:
    """What is known of the shape of a value: from a run, else as it is expected."""
    results = session.results
    records = results.outputs(node) or ()
    record = records[output] if output < len(records) else None
    if isinstance(record, TensorRecord):
        return record.summary.shape
    expected = results.inference(node, output)
    shape = expected.shape if expected is not None else None
    return tuple(shape) if shape is not None and all(isinstance(size, int) for size in shape) else None
