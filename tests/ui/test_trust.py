"""Code of a document runs after a yes to its lines, in an engine of its own, and never before."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from gradstudio.document.clipboard import to_text
from gradstudio.graph import recipes
from gradstudio.graph.recipes import fragments
from gradstudio.graph.text.code_records import is_code
from gradstudio.program.reading.reader import read_script
from gradstudio.ui.dialogs.trust_dialog import TrustDialog
from gradstudio.ui.state.trust.trusted_code import TrustedCode
from tests.ui.desk import Desk, Key, Keys

CODE = """import torch
import os, sys

x = torch.ones(2) * 3.0
with open("ran.txt", "a") as file:
    file.write(f"{sys.argv[0]} {__name__}\\n")
total = x.sum()
"""
DRAWN = "import torch\n\na = torch.ones(3)\n"


class Answers:
    """Answers each dialog of trust with what is scripted, as it comes up."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.answer: Callable[[TrustDialog], object] = lambda dialog: QTest.keyClick(dialog, Key.Key_Escape)
        self._timer = QTimer(interval=20)
        self._timer.timeout.connect(self._look)
        self._timer.start()

    def stop(self) -> None:
        self._timer.stop()

    def _look(self) -> None:
        dialog = QApplication.activeModalWidget()
        if isinstance(dialog, TrustDialog) and dialog.isVisible():
            labels = [label.text() for label in dialog.findChildren(QLabel)]
            self.texts.append("\n".join([*labels, dialog.lines.toPlainText()]))
            self.answer(dialog)


def yes(dialog: TrustDialog) -> None:
    QTest.mouseClick(dialog.trust, Qt.MouseButton.LeftButton)


@pytest.fixture
def answers() -> Iterator[Answers]:
    made = Answers()
    yield made
    made.stop()


@pytest.fixture
def path(desk: Desk, qtbot: QtBot, tmp_path: Path) -> Path:
    """A file with code, opened."""
    desk.sit_down(qtbot)
    path = tmp_path / "with_code.py"
    path.write_text(CODE)
    desk.session.open(path)
    return path


def ran(path: Path) -> list[str]:
    record = path.parent / "ran.txt"
    return record.read_text().splitlines() if record.exists() else []


def come_back(desk: Desk) -> None:
    """The window is in front, as a system has it when a dialog was closed."""
    desk.window.frame.activateWindow()
    desk.until(desk.window.frame.isActiveWindow)


def run(desk: Desk, key: Key = Key.Key_F5, keys: Keys = Keys.NoModifier) -> None:
    desk.until(lambda: desk.window.actions["run.run"].isEnabled())
    come_back(desk)
    desk.key(key, keys)
    desk.until(lambda: not desk.session.run.state.busy)


@pytest.mark.parametrize("key", [Key.Key_Escape, Key.Key_Return, Key.Key_Enter, Key.Key_Space])
def test_a_key_pressed_without_reading_does_not_run_it(desk: Desk, path: Path, answers: Answers, key: Key) -> None:
    answers.answer = lambda dialog: QTest.keyClick(dialog.focusWidget() or dialog, key)
    run(desk)
    assert len(answers.texts) == 1
    assert str(path) in answers.texts[0]
    assert "whatever you can" in answers.texts[0]
    assert '    file.write(f"{sys.argv[0]} {__name__}\\n")' in answers.texts[0]
    assert "5  with open" in answers.texts[0], "the numbers are those of the file"
    assert "did not trust" in desk.said
    assert desk.session.engine.has_walls
    assert not ran(path)


@pytest.mark.parametrize(
    ("key", "keys"),
    [
        (Key.Key_F7, Keys.NoModifier),
        (Key.Key_F6, Keys.NoModifier),
        (Key.Key_F10, Keys.NoModifier),
        (Key.Key_F11, Keys.NoModifier),
        (Key.Key_F10, Keys.ControlModifier),
        (Key.Key_F5, Keys.ControlModifier | Keys.ShiftModifier),
    ],
    ids=["forward", "backward", "step", "step into", "run to here", "from nothing"],
)
def test_each_verb_asks_and_a_no_changes_nothing(
    desk: Desk, path: Path, answers: Answers, key: Key, keys: Keys
) -> None:
    desk.session.attention.select((desk.node("total"),))
    before = set(desk.graph.nodes)
    run(desk, key, keys)
    assert len(answers.texts) == 1
    assert set(desk.graph.nodes) == before
    assert not ran(path)


def test_a_yes_runs_it_in_its_folder_is_remembered_and_asked_anew_for_another_text(
    desk: Desk, path: Path, answers: Answers
) -> None:
    answers.answer = yes
    run(desk)
    assert ran(path) == [f"{path} __main__"]
    assert desk.value("total") == 6.0
    assert desk.session.engine.runs_code
    assert desk.window.status.light.words.text().startswith("trusted code · ")
    run(desk)
    assert len(ran(path)) == 2
    assert len(answers.texts) == 1
    desk.session.open(path)  # another document, though of the same text
    assert desk.session.engine.has_walls
    run(desk)
    assert len(answers.texts) == 1
    assert len(ran(path)) == 3
    assert len(TrustedCode(desk.window.settings.folder)._known()) == 1
    answers.answer = lambda dialog: QTest.keyClick(dialog, Key.Key_Escape)
    code = next(item for item, node in desk.graph.nodes.items() if "ran.txt" in node.literals.get("code", ""))
    text = desk.graph.nodes[code].literals["code"].replace("ran.txt", "ran_.txt")
    desk.session.graph_store.submit(recipes.set_literal(desk.graph, code, "code", text), "Edit")
    run(desk)
    assert len(answers.texts) == 2
    assert "ran_.txt" in answers.texts[1]
    assert not (path.parent / "ran_.txt").exists()


LONG = f"os.environ.get('{'a' * 300}'), os.environ.get('hidden far')"


def test_long_lines_go_on_below_and_no_sign_hides(desk: Desk, qtbot: QtBot, tmp_path: Path, answers: Answers) -> None:
    path = tmp_path / "loads.py"
    path.write_text(
        "import torch\nfrom torch.utils.data import DataLoader, TensorDataset\n\n"
        "data = TensorDataset(torch.ones(4, 2))\n"
        "loader = DataLoader(\n    data,\n    batch_size=2,\n    num_workers=2,\n)\n"
        f"import os\n{LONG}\n# \u202e turned\nos.getcwd()\n"
    )
    seen = []

    def look(dialog: TrustDialog) -> None:
        QTest.keyClick(dialog, Key.Key_Escape)
        document = dialog.lines.document()
        block = document.find("hidden far").block()
        layout = block.layout()
        starts = [layout.lineAt(k).x() for k in range(layout.lineCount())]
        seen.append((dialog.lines.horizontalScrollBar().maximum(), starts))

    answers.answer = look
    desk.sit_down(qtbot)
    desk.session.open(path)
    run(desk)
    ((right, starts),) = seen
    assert right == 0, "nothing stands to the right of what is seen"
    assert len(starts) > 3
    assert min(starts[1:]) > starts[0], "what goes on begins behind the numbers"
    (asked,) = answers.texts
    assert "5  loader = " in asked, "also a drawn line has the number of the file"
    assert "10  import os\n" in asked
    assert "9  )\n   10  import os" in asked, "nothing is left out between them, and no empty line says that it is"
    assert "lines, numbered as in the file" in asked
    assert "numbered as in the file" in asked
    assert "\\u202e turned" in asked
    assert "\u202e" not in asked


def test_a_line_that_holds_several_calls_is_one_line(
    desk: Desk, qtbot: QtBot, tmp_path: Path, answers: Answers
) -> None:
    path = tmp_path / "loads.py"
    path.write_text("import torch\n\nx = torch.load('a.pt', map_location=torch.load('b.pt'))\n")
    desk.sit_down(qtbot)
    desk.session.open(path)
    run(desk)
    (asked,) = answers.texts
    assert "1 line, numbered as in the file:" in asked
    assert asked.count("3  x = torch.load(") == 1


def test_a_document_without_code_has_the_walls_again(desk: Desk, path: Path, answers: Answers) -> None:
    answers.answer = yes
    run(desk)
    code_engine = desk.session.engine.pid
    desk.open(DRAWN)
    assert desk.session.engine.has_walls
    run(desk)
    assert desk.session.engine.pid != code_engine
    assert desk.value("a") is not None or desk.session.results.outputs(desk.node("a"))
    assert "trusted" not in desk.window.status.light.words.text()


def test_what_nobody_asked_for_runs_no_code_even_with_a_yes(desk: Desk, path: Path, answers: Answers) -> None:
    answers.answer = yes
    run(desk)
    times = len(ran(path))
    ones = next(item for item, node in desk.graph.nodes.items() if "3.0" in node.literals.values())
    port = next(port for port, text in desk.graph.nodes[ones].literals.items() if text == "3.0")
    desk.session.run.follow(recipes.set_literal(desk.graph, ones, port, "4.0"), "Slide", "slide")
    desk.session.run.repeat()
    assert "never by itself" in desk.said
    desk.until(lambda: not desk.session.run.shapes.pending)
    desk.until(lambda: not desk.session.run.status.slide.moves)
    desk.rest()
    assert len(ran(path)) == times
    assert len(answers.texts) <= 1


def test_stop_ends_code_that_does_not_end_and_the_walls_are_there_again(
    desk: Desk, path: Path, answers: Answers
) -> None:
    answers.answer = yes
    path.write_text(CODE.replace("total = x.sum()", "exec('while True: pass')\ntotal = x.sum()"))
    desk.session.open(path)
    desk.key(Key.Key_F5)
    desk.until(lambda: ran(path))
    desk.until(lambda: desk.window.actions["run.stop"].isEnabled())
    come_back(desk)
    desk.key(Key.Key_F5, Keys.ShiftModifier)
    desk.until(lambda: not desk.session.run.state.busy)
    assert desk.session.engine.has_walls


def test_code_that_is_pasted_is_asked_for_and_runs_by_no_gesture_before(
    desk: Desk, qtbot: QtBot, answers: Answers, tmp_path: Path
) -> None:
    mark = tmp_path / "CANARY"
    line = f"open({str(mark)!r}, 'w').write('!')"
    graph = read_script(f"import torch\nx = torch.ones(3, 4)\n{line}\nlast = x * 2\n", keeps_code=True).graph
    desk.sit_down(qtbot)
    desk.open("import torch\nhere = torch.ones(2)\n")
    QGuiApplication.clipboard().setText(to_text(fragments.copy_items(graph, [*graph.nodes]), ()))
    desk.window.canvas.clipboard_commands.paste(400.0, 400.0)
    desk.until(lambda: desk.session.results.inference(desk.node("last")))
    assert answers.texts == []
    run(desk)
    desk.rest()
    (asked,) = answers.texts
    assert line in asked
    assert not mark.exists()
    assert any(is_code(node) for node in desk.graph.nodes.values())
