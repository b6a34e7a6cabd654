"""Each lesson in learning, from its first step to its last, as a person does it: guess, type, run, click, look back."""

from functools import partial

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gradstudio import paths
from gradstudio.advice.lesson import Sign
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.charts import DescentDrawn
from gradstudio.ui.docks.code.panel import CodePanel
from gradstudio.ui.docks.lesson.panel import StepRow
from tests.ui.desk import Desk, Key
from tests.ui.gestures import come_to_rest

LESSONS = (
    "12_vanishing_sigmoids",
    "16_learning_rate",
    "17_momentum_and_adam",
    "18_why_normalise",
    "19_dead_unit",
    "20_residual",
    "21_batch_and_noise",
    "22_overfitting",
    "23_descent_in_a_bowl",
    "24_writing_letters",
)
WITH_A_PATH = ("17_momentum_and_adam", "18_why_normalise", "23_descent_in_a_bowl")


def begin(desk: Desk, qtbot: QtBot, stem: str) -> list[StepRow]:
    """Open a lesson as the welcome page does; its steps."""
    desk.sit_down(qtbot)
    assert desk.window.file.open_example(paths.examples() / f"{stem}.gsg")
    desk.rest()
    return desk.window.room.lesson.steps


def type_instead(desk: Desk, sign: Sign) -> None:
    """Replace code in the Code dock, as it is typed over a selection."""
    code: CodePanel = desk.window.room.code
    old, new = (text.replace("\\n", "\n") for text in (sign.value, sign.about))
    found = code.editor.document().find(old)
    assert not found.isNull(), (old, code.editor.text)
    code.editor.setTextCursor(found)
    code.editor.insertPlainText(new)
    code.live.apply()
    desk.until(lambda: new.split("\n")[0] in desk.session.run.program.code)


def do(desk: Desk, row: StepRow, number: int) -> None:
    """What one step asks, sign by sign; one without signs is ticked."""
    lesson = desk.window.room.lesson.watch.lesson
    assert lesson is not None
    step = lesson.steps[number]
    if step.choices:
        QTest.mouseClick(row.choices[0], Qt.MouseButton.LeftButton)
        return
    if not step.signs:
        QTest.mouseClick(row.box, Qt.MouseButton.LeftButton)
        return
    for sign in step.signs:
        if sign.verb == "code":
            type_instead(desk, sign)
    verbs = {sign.verb for sign in step.signs}
    if verbs & {"ran", "code", "value"}:
        desk.rest()
        desk.until(lambda: desk.session.run.can("run"))
        desk.key(Key.Key_F5)
        desk.until(lambda: desk.session.run.state.at_end)
        desk.rest()
    for sign in step.signs:
        if sign.verb == "selected":
            desk.window.canvas.navigation.show_items([desk.node(sign.about)])
            come_to_rest(desk)
            desk.click(sign.about)
    if "back" in verbs:
        desk.window.actions["run.step_back"].trigger()
        desk.rest()


@pytest.mark.parametrize("stem", LESSONS)
def test_a_lesson_works_to_its_end(desk: Desk, qtbot: QtBot, stem: str) -> None:
    steps = begin(desk, qtbot, stem)
    watch = desk.window.room.lesson.watch
    for number, row in enumerate(steps):
        assert watch.current == number
        assert not row.isHidden(), "what is to be done next can be read"
        do(desk, row, number)
        desk.until(partial(watch.done.__contains__, number))
    assert watch.current is None
    if stem in WITH_A_PATH:
        path = desk.session.results.chart(desk.node("w"))
        assert isinstance(path, DescentDrawn) and len(path.steps) > 10
    if stem == "24_writing_letters":
        printer = next(ItemId(item) for item, node in desk.graph.nodes.items() if node.operator == "builtins.print")
        assert "the sea is" in " ".join(desk.session.results.printout(printer).shown())
