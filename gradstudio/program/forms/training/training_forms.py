"""The training script of a program, in the first of three shapes that can say what it does.

Epochs over a loader with their model, loss and measures apart; steps with the data that the canvas has; or the
canvas's own loop as it stands.
"""

from gradstudio.graph.model import Graph
from gradstudio.program.errors import NoForm
from gradstudio.program.forms.training.epochs.epoch_script import write_epochs
from gradstudio.program.forms.training.switches.code_switches import without_code_switches
from gradstudio.program.forms.training.training_script import write_steps
from gradstudio.program.forms.training.turn_script import NoLoop, write_turns


def write_training(graph: Graph, *, stem: str) -> str:
    """A script that trains what the program trains, on the data that it has.

    Raises:
        NoForm: it has no loss, nothing to train, or steps that no checkpoint could go on from; says what to do.
    """
    graph, switches = without_code_switches(graph)
    try:
        return write_epochs(graph, switches, stem=stem)
    except NoForm as error:
        refusal = error
    if not switches.features:
        try:
            return write_steps(graph, stem=stem)
        except NoForm as error:
            refusal = error
    try:
        return write_turns(graph, switches, stem=stem)
    except NoLoop:
        raise refusal from None
