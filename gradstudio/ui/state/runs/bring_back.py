"""The program of a run as the document's, in one step to undo."""

from typing import Final

from gradstudio.document.python.merge_edits import merge
from gradstudio.document.runs.kept_run import KeptRun
from gradstudio.graph.edits import Edits
from gradstudio.graph.errors import Refused
from gradstudio.program.errors import NotReadable
from gradstudio.ui.state.document.graph_store import GraphStore
from gradstudio.ui.state.run.run_controller import RunController

GONE: Final = "The program of this run cannot be read any more: {reason}"


def bring_back_program(store: GraphStore, controller: RunController, run: KeptRun, title: str) -> Edits | None:
    """Make the document what it was, as one step; why it cannot be is said.

    Returns:
        What was changed for it; None: it cannot be.
    """
    status = controller.status
    if controller.state.busy:
        status.refused.emit("A run is under way. Stop it first (Shift+F5).")
        return None
    store.settle()
    try:
        edits = merge(store.graph, run.program())
    except (NotReadable, Refused) as error:
        status.refused.emit(GONE.format(reason=error))
        return None
    if edits:
        store.submit(edits, title)
    return edits
