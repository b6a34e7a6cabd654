"""Turns of loops in the Run menu: where there is none to go to, it is said why."""

import struct
from functools import partial

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QDialogButtonBox, QInputDialog

from gradstudio.graph.model import ItemId
from gradstudio.layout.tidy import layout_missing
from gradstudio.program.reading.reader import read_script
from gradstudio.protocol.messages.progress import Begin, Curve, CurveKey, Turned
from gradstudio.protocol.timeline.model import Turns
from gradstudio.ui.app.window.main_window import MainWindow
from gradstudio.ui.state.results.run_names import RunNames
from gradstudio.ui.state.results.timeline_cursor import loops_around
from gradstudio.ui.timeline.turn_commands import NO_LOOP, NO_STEP, NO_TURN
from tests.ui.timeline.runs import row

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


NESTED = "import torch\nx = torch.ones(2)\nfor epoch in range(20):\n    for batch in range(45):\n        x = x * 2\n"


def test_a_step_is_counted_through_all_turns_and_one_out_of_range_is_refused(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, went, said, labels = window.session, list[Turns](), list[str](), list[str]()
    session.restore(read_script(NESTED).graph, None)
    graph = session.graph_store.graph
    node = next(one for one in graph.nodes if len(loops_around(graph, one)) == 2)
    loop = ItemId(graph.parents[node])
    tables = session.results.tables
    tables.begin(True, names=RunNames(graph))
    tables.add_rows((row(1, node, turns=(19, 44)),))
    tables.buffer.take_up()
    begins = tuple(Begin(number=45 * epoch, around=(epoch,)) for epoch in range(20))
    curve = Curve(key=CurveKey(node=node), data=struct.pack("<900d", *range(900)))
    tables.curves.add(Turned(loop=loop, number=900, begins=begins, curves=(curve,)))
    session.attention.select([node])
    monkeypatch.setattr(session.turns, "go_to", lambda _loop, _node, turns: went.append(turns))
    session.run.status.refused.connect(said.append)

    def type_number(text: str) -> None:
        dialog = QApplication.activeModalWidget()
        assert isinstance(dialog, QInputDialog) and dialog.textValue() == "900"
        dialog.setTextValue(text)
        labels.append(dialog.labelText())
        ok = dialog.findChildren(QDialogButtonBox)[0].button(QDialogButtonBox.StandardButton.Ok)
        assert ok.isEnabled() == (text == "120")
        dialog.accept()

    for text in ("120", "1200", "x"):
        QTimer.singleShot(0, partial(type_number, text))
        window.actions.row("run.go_to_turn").handler()
    assert went == [(2, 29)]
    assert "1 to 900" in labels[0] and "Step 120 of 900: turn 3 of “for epoch”, turn 30 of “for batch”" in labels[0]
    assert said == [NO_STEP.format(text=text, count=900) for text in ("1200", "x")]
