"""Turns of loops in the Run menu: where there is none to go to, it is said why."""

from gradstudio.layout.tidy import layout_missing
from gradstudio.program.reading.reader import read_script
from gradstudio.ui.app.window.main_window import MainWindow
from gradstudio.ui.timeline.turn_commands import NO_LOOP, NO_TURN

LOOP = "import torch\nx = torch.ones(2)\nfor k in range(3):\n    x = x * 2\n"
COMMANDS = ("run.repeat_turn", "run.go_to_turn")


def test_without_a_loop_and_before_a_run_it_is_said_why_no_turn_is_gone_to(window: MainWindow) -> None:
    reasons = []
    for text in (LOOP.partition("for")[0], LOOP):
        graph = read_script(text).graph
        graph.places = layout_missing(graph)
        window.session.restore(graph, None)
        reasons.append({window.actions.row(command).why() for command in COMMANDS})
        assert not any(window.actions[command].isEnabled() for command in COMMANDS)
    assert reasons == [{NO_LOOP}, {NO_TURN}]
