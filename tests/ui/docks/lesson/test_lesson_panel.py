"""The lesson of an example, by mouse and keys."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from gradstudio import paths
from gradstudio.advice.lesson import Step
from gradstudio.graph import recipes
from gradstudio.program.forms.form_table import FORMS
from gradstudio.ui.app.window.main_window import MainWindow
from gradstudio.ui.app.window.window_frame import Frame
from gradstudio.ui.docks.lesson.panel import NOTHING, LessonPanel, StepRow
from gradstudio.ui.state.session import Session
from gradstudio.ui.state.settings import Settings
from gradstudio.ui.theme import Theme
from gradstudio.ui.widgets.form_layout import BREAK

FIRST = paths.examples() / "01_square_polynomial.gsg"


def lesson(window: MainWindow) -> LessonPanel:
    return window.room.lesson


def is_offered(window: MainWindow) -> bool:
    return not window.frame.docks["lesson"].isHidden()


def node(window: MainWindow, name: str) -> str:
    nodes = window.session.graph_store.graph.nodes.values()
    return next(node.id for node in nodes if name in node.names)


def test_the_words_of_a_lesson_are_markdown_as_its_steps_are(window: MainWindow) -> None:
    window.file.open_example(paths.examples() / "10_in_place_after_exp.gsg")
    words = lesson(window).words
    assert "`y += 1`" in words.text()
    assert words.textFormat() == Qt.TextFormat.MarkdownText


def test_a_long_call_in_a_lesson_pushes_nothing_under_the_edge(window: MainWindow) -> None:
    window.file.open_example(paths.examples() / "11_nan_from_sqrt.gsg")
    assert lesson(window).steps[-1].minimumSizeHint().width() <= 220


@pytest.mark.feature(83)
def test_code_goes_on_in_the_next_line_where_it_must_and_words_stay_whole() -> None:
    row = StepRow(
        0, Step("Press **Step** (Shift+F10): `lost.abs().max()` and `W1.grad[0].abs().max()` and `torch.sum(dim=1111)`")
    )
    text = row.words.text()
    assert "(Shift" in text and "lost.abs().max()" in text
    assert f"[0]{BREAK}.abs(){BREAK}.max()" in text and f"torch.sum({BREAK}dim" in text


def test_an_example_shows_its_lesson_and_another_document_none(window: MainWindow, tmp_path: Path) -> None:
    assert not is_offered(window) and not window.actions["help.lesson"].isEnabled()
    window.file.open_example(FIRST)
    assert is_offered(window) and lesson(window).title.text() == "A derivative, by hand and by torch"
    assert window.actions["help.lesson"].isEnabled()
    window.actions["file.new"].trigger()
    assert not is_offered(window) and lesson(window).words.text() == NOTHING
    window.documents.step(-1)
    assert is_offered(window)


def test_its_dock_stays_closed_until_it_is_asked_for(qtbot: QtBot, window: MainWindow) -> None:
    window.file.open_example(FIRST)
    dock = window.frame.docks["lesson"]
    dock.close()
    qtbot.waitUntil(lambda: lesson(window).dismissed)
    window.actions["file.new"].trigger()
    window.documents.step(-1)
    assert not is_offered(window)
    window.actions["help.lesson"].trigger()
    assert is_offered(window)


def test_a_step_is_ticked_by_what_is_done_in_the_order_of_the_steps(window: MainWindow) -> None:
    window.file.open_example(FIRST)
    watch, steps = lesson(window).watch, lesson(window).steps
    window.session.attention.select((node(window, "x"),))  # step 2: too early
    assert watch.current == 0 and not steps[1].box.isChecked()
    QTest.mouseClick(steps[0].box, Qt.MouseButton.LeftButton)
    assert watch.current == 1 and steps[0].box.isChecked()
    window.session.attention.select(())
    window.session.attention.select((node(window, "x"),))
    assert watch.current == 2 and steps[1].box.isChecked()
    values = window.inspector.details.values
    assert values.tabs.currentWidget() is values.gradient, "its words say to read the gradient"


def test_a_person_may_take_a_tick_back_and_all_ticks_lead_on(window: MainWindow) -> None:
    window.file.open_example(FIRST)
    panel = lesson(window)
    for step in panel.steps:
        step.box.setFocus()
        QTest.keyClick(step.box, Qt.Key.Key_Space)
    assert panel.watch.current is None and not panel.end.isHidden()
    QTest.mouseClick(panel.end, Qt.MouseButton.LeftButton)
    assert window.learning.greeting.is_shown
    QTest.mouseClick(panel.steps[2].box, Qt.MouseButton.LeftButton)
    assert panel.watch.current == 2 and panel.end.isHidden()


def test_every_step_is_said_in_plain_words_to_those_who_hear_it(window: MainWindow) -> None:
    window.file.open_example(FIRST)
    assert lesson(window).steps[0].box.accessibleName().startswith("Step 1: Press Run (F5).")


def menu_paths(actions: Sequence[QAction]) -> Iterator[str]:
    """Every way through the menus, as lessons write it."""
    for action in actions:
        text = action.text().replace("&", "").rstrip("…")
        yield text
        menu = action.menu()
        if isinstance(menu, QMenu):
            menu.aboutToShow.emit()
        yield from (f"{text} ▸ {inner}" for inner in menu_paths(menu.actions())) if isinstance(menu, QMenu) else ()


def test_what_a_lesson_asks_to_choose_is_there(window: MainWindow) -> None:
    known = set(menu_paths(window.frame.menuBar().actions()))
    asked = set()
    for lesson in sorted((paths.examples() / "lessons").glob("*.md")):
        text = " ".join(lesson.read_text(encoding="utf-8").split())
        asked |= {path.strip() for path in re.findall(r"\b[A-Z]\w+(?: ▸ \w[\w ]*\w)+", text)}
        for title in re.findall(r"Export Python, and choose ([^.]*)\.", text):
            assert title in {form.title for form in FORMS}, lesson.name
    missing = {
        path
        for path in asked
        if not any(f"{path} ".startswith(f"{one} ") and one.count("▸") == path.count("▸") for one in known)
    }
    assert asked and not missing


def test_the_lesson_of_the_first_picture_stays_until_its_document_is_open(
    frame: Frame, session: Session, settings: Settings, dark: Theme
) -> None:
    frame.docks.offer_lesson(True)
    told = list[bool]()
    frame.docks["lesson"].visibilityChanged.connect(told.append)
    window = MainWindow(frame, session, settings, dark)
    window.file.open_path(FIRST)
    window.learning.follow_opened()
    assert is_offered(window) and False not in told


def test_a_first_document_that_cannot_be_opened_leaves_no_lesson(
    frame: Frame, session: Session, settings: Settings, dark: Theme
) -> None:
    frame.docks.offer_lesson(True)
    window = MainWindow(frame, session, settings, dark)
    assert is_offered(window)
    window.learning.follow_opened()
    assert not is_offered(window)


def test_a_guess_is_taken_by_a_click_and_judged_when_the_next_step_has_shown_it(
    qtbot: QtBot, window: MainWindow
) -> None:
    window.file.open_example(paths.examples() / "16_learning_rate.gsg")
    panel = lesson(window)
    asking, showing = panel.steps[1], panel.steps[2]
    panel.watch.tick(0, True)
    assert [button.text() for button in asking.choices] == ["half the way", "there at once", "it jumps over"]
    assert not asking.choices[0].isHidden() and asking.verdict.isHidden()
    assert showing.isHidden(), "what shows the answer is not read beside the question"
    asking.choices[0].click()
    assert panel.watch.current == 2
    assert asking.verdict.text() == "You said: half the way." and asking.choices[0].isHidden()
    assert not showing.isHidden() and panel.steps[4].isHidden()
    showing.box.click()
    assert asking.verdict.text() == "You said: half the way. It is: there at once."
    window.file.open_example(FIRST)
    assert not lesson(window).watch.guesses


def test_a_lesson_that_was_sent_with_a_document_is_shown_beside_it(window: MainWindow, tmp_path: Path) -> None:
    document = tmp_path / "mine.gsg"
    document.write_bytes(FIRST.read_bytes())
    (tmp_path / "mine.lesson.md").write_text("# Mine\n\nWords.\n\n1. Press **Run**. <!-- ran -->\n", encoding="utf-8")
    window.file.open_path(document)
    assert is_offered(window)
    assert (lesson(window).title.text(), len(lesson(window).steps)) == ("Mine", 1)


def test_a_lesson_that_was_sent_with_a_script_is_shown_beside_it(window: MainWindow, tmp_path: Path) -> None:
    script = tmp_path / "mine.py"
    script.write_text("import torch\n\nx = torch.ones(2)\n", encoding="utf-8")
    (tmp_path / "mine.lesson.md").write_text("# Mine\n\nWords.\n\n1. Press **Run**. <!-- ran -->\n", encoding="utf-8")
    window.file.open_path(script)
    assert is_offered(window)
    assert (lesson(window).title.text(), len(lesson(window).steps)) == ("Mine", 1)


def test_what_was_done_before_the_guess_is_ticked_with_it_and_nothing_is_judged_without_an_answer(
    window: MainWindow, tmp_path: Path
) -> None:
    script = tmp_path / "mine.py"
    script.write_text("import torch\n\nx = torch.ones(2)\n", encoding="utf-8")
    steps = "1. Which? <!-- predict one | other -->\n2. So it is. <!-- code x = torch.ones(2) -->\n"
    (tmp_path / "mine.lesson.md").write_text(f"# Mine\n\nWords.\n\n{steps}", encoding="utf-8")
    window.file.open_path(script)
    panel = lesson(window)
    assert panel.watch.current == 0
    panel.steps[0].choices[1].click()
    assert panel.watch.current is None and not panel.end.isHidden()
    assert panel.steps[0].verdict.text() == "You said: other."


def test_a_document_without_a_lesson_is_not_written_at_the_end_of_its_runs(window: MainWindow) -> None:
    store = window.session.graph_store
    edits, _ = recipes.add_operator(store.graph, "torch.randn", 0, 0)
    store.submit(edits, "Add")
    watch, status = lesson(window).watch, window.session.run.status
    assert watch.lesson is None
    status.set(busy=True)
    status.set(busy=False, outcome="done", at_end=True)
    assert not watch.ran(), "to compare programs, each run would have to be written as Python"
