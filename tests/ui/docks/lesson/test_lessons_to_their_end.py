"""Each lesson in learning, from its first step to its last, as a person does it: guess, type, run, click, look back."""

from functools import partial
from itertools import combinations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
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


def is_next_in_view(desk: Desk) -> bool:
    """Whether all of what is to be done next can be read without scrolling."""
    panel = desk.window.room.lesson
    current = panel.watch.current
    widget = panel.steps[current] if current is not None else panel.end
    return widget.visibleRegion().boundingRect() == widget.rect()


def covered(desk: Desk) -> list[tuple[ItemId, ItemId]]:
    """Cards that lie over one another, and cards in the frame of a loop that they are no part of."""
    placement, graph = desk.window.canvas.scene.placement, desk.graph
    boxes = {item: box for item in desk.window.canvas.scene.stack.ids if (box := placement.box(item)) is not None}
    found = [(one, other) for one, other in combinations(boxes, 2) if boxes[one].meets(boxes[other])]
    for frame in placement.frames.values():
        outside = [item for item in boxes if item != frame.item and frame.item not in graph.ancestors(item)]
        found += [(frame.item, item) for item in outside if frame.box.meets(boxes[item])]
    return found


@pytest.mark.parametrize("stem", LESSONS)
def test_a_lesson_works_to_its_end(desk: Desk, qtbot: QtBot, stem: str) -> None:
    steps = begin(desk, qtbot, stem)
    watch = desk.window.room.lesson.watch
    for number, row in enumerate(steps):
        assert watch.current == number
        assert not row.isHidden(), "what is to be done next can be read"
        do(desk, row, number)
        desk.until(partial(watch.done.__contains__, number))
        desk.until(partial(is_next_in_view, desk))
        assert not covered(desk)
    assert watch.current is None
    if stem in WITH_A_PATH:
        path = desk.session.results.chart(desk.node("w"))
        assert isinstance(path, DescentDrawn) and len(path.steps) > 10
    if stem == "24_writing_letters":
        printer = next(ItemId(item) for item, node in desk.graph.nodes.items() if node.operator == "builtins.print")
        assert "the sea is" in " ".join(desk.session.results.printout(printer).shown())


def test_a_run_of_the_program_before_the_change_does_not_count(desk: Desk, qtbot: QtBot) -> None:
    steps = begin(desk, qtbot, "17_momentum_and_adam")
    panel = desk.window.room.lesson
    for number, row in enumerate(steps[:2]):
        do(desk, row, number)
        desk.until(partial(panel.watch.done.__contains__, number))
    focused = QApplication.focusWidget()
    assert focused is not None and panel.isAncestorOf(focused), "a guess leaves the keys where they were"
    desk.until(lambda: desk.session.run.can("run"))
    desk.key(Key.Key_F5)
    desk.until(lambda: desk.session.run.state.busy)
    desk.until(lambda: desk.session.run.state.at_end and not desk.session.run.state.busy)
    assert panel.watch.lesson is not None
    type_instead(desk, next(sign for sign in panel.watch.lesson.steps[2].signs if sign.verb == "code"))
    desk.rest()
    assert panel.watch.current == 2, "what was typed has not run"
    desk.until(lambda: desk.session.run.can("run"))
    desk.key(Key.Key_F5)
    desk.until(lambda: panel.watch.current == 3)


def test_what_is_next_is_in_view_also_where_the_lesson_was_behind_another_dock(desk: Desk, qtbot: QtBot) -> None:
    begin(desk, qtbot, "16_learning_rate")
    panel = desk.window.room.lesson
    panel.hide()
    for number in range(len(panel.steps) - 1):
        panel.watch.tick(number, True)
    come_to_rest(desk)
    panel.show()
    desk.until(partial(is_next_in_view, desk))
