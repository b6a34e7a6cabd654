"""The training script of a program, in the first of three shapes that can say what it does.

Epochs over a loader with their model, loss and measures apart; steps with the data that the canvas has; or the
canvas's own loop as it stands.
"""

from collections.abc import Callable

from gradstudio.graph.model import Graph
from gradstudio.program.errors import NoForm
from gradstudio.program.forms.training.epochs.epoch_script import write_epochs
from gradstudio.program.forms.training.training_script import write_steps
from gradstudio.program.forms.training.turn_script import NoLoop, write_turns


def write_training(graph: Graph, *, stem: str) -> str:
    """A script that trains what the program trains, on the data that it has.

    Raises:
        NoForm: it has no loss, nothing to train, or steps that no checkpoint could go on from; says what to do.
    """
    writers: tuple[Callable[..., str], ...] = (write_epochs, write_steps)
    refusal: NoForm | None = None
    for write in writers:
        try:
            return write(graph, stem=stem)
        except NoForm as error:
            refusal = error
    try:
        return write_turns(graph, stem=stem)
    except NoLoop as error:
        raise refusal or error from None
