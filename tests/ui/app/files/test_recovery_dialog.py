"""What is kept of unsaved documents: recovery after a kill, autosave, what was open, files that others write."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMessageBox, QWidget
from pytestqt.qtbot import QtBot

from gradstudio.document.file import load, save
from gradstudio.document.journal import Journal, Recovered, recoverable
from gradstudio.document.runs.kept_run import RunRecord, kept_runs
from gradstudio.document.runs.run_writer import RunWriter
from gradstudio.graph import recipes
from gradstudio.graph.edits import apply_all
from gradstudio.graph.model import Graph
from gradstudio.program.write import write_script
from gradstudio.ui.app import application
from gradstudio.ui.app.files.recovery_dialog import RecoveryDialog
from gradstudio.ui.app.window.main_window import MainWindow
from gradstudio.ui.app.window.window_frame import Frame
from gradstudio.ui.state.run.engine_client import EngineClient
from gradstudio.ui.state.run.run_status import Offer
from gradstudio.ui.state.runs.restore_run import go_on_from
from gradstudio.ui.state.session import Session
from gradstudio.ui.state.settings import Settings
from gradstudio.ui.theme import Theme
from tests.ui.app.window.test_main_window import press, when_asked

Start = Callable[[], MainWindow]
Button = QMessageBox.StandardButton


def add_node(window: MainWindow, operator: str = "torch.randn") -> None:
    store = window.session.graph_store
    edits, _ = recipes.add_operator(store.graph, operator, 0, 0)
    store.submit(edits, f"Add {operator}")


def operators(window: MainWindow) -> list[str]:
    return operators_of(window.session)


def operators_of(session: Session) -> list[str]:
    return [str(node.operator) for node in session.graph_store.graph.nodes.values()]


def write(path: Path, *operators: str) -> Path:
    graph = Graph()
    for operator in operators:
        edits, _ = recipes.add_operator(graph, operator, 0, 0)
        apply_all(graph, edits)
    save(graph, path)
    return path


def kill(qtbot: QtBot, window: MainWindow, count: int) -> None:
    """As kill -9 leaves it: journals on the disk, their locks free, nothing tidied up."""
    folder = window.settings.state_folder / "recovery"
    qtbot.waitUntil(lambda: len(list(folder.glob("*.recovery"))) == count)
    for tab in window.documents.tabs:
        tab.recovery._throttle.cancel()
        tab.recovery._journal.close()


def when_offered(*answers: Callable[[RecoveryDialog], None]) -> list[list[str]]:
    """Answer the dialogs to come; the lines they list come back."""
    seen: list[list[str]] = []

    def look() -> None:
        dialog = QApplication.activeModalWidget()
        if isinstance(dialog, RecoveryDialog):
            seen.append([dialog.list.item(k).text() for k in range(dialog.list.count())])
            answers[len(seen) - 1](dialog)
        if len(seen) < len(answers):
            QTimer.singleShot(10, look)

    QTimer.singleShot(10, look)
    return seen


def click(name: str) -> Callable[[RecoveryDialog], None]:
    return lambda dialog: QTest.mouseClick(getattr(dialog, name), Qt.MouseButton.LeftButton)


@pytest.fixture
def start(qtbot: QtBot, settings: Settings, dark: Theme) -> Start:
    """Starts the window once more, with the settings and journals there are."""

    def make() -> MainWindow:
        frame = Frame(Settings(settings.folder), dark)
        frame.setWindowState(Qt.WindowState.WindowNoState)
        qtbot.addWidget(frame, before_close_func=lambda frame: setattr(frame, "may_close", lambda: True))
        frame.show()
        return MainWindow(frame, Session(EngineClient(spare=False)), frame._settings, dark)

    return make


@pytest.mark.feature(73)
def test_several_documents_are_recovered_at_once_after_a_kill(
    qtbot: QtBot, window: MainWindow, start: Start, tmp_path: Path
) -> None:
    path = write(tmp_path / "mine.gsg", "torch.ones")
    window.file.open_path(path)
    add_node(window, "torch.zeros")
    window.actions["file.new"].trigger()
    add_node(window, "torch.eye")
    called = window.session.title
    assert window.recovering.left_behind() == []  # its program lives
    kill(qtbot, window, 2)
    again = start()
    seen = when_offered(click("recover"))
    assert again.recovering.offer_all() == 2
    assert len(seen[0]) == 2 and any(line.startswith("mine.gsg – kept on") for line in seen[0])
    assert any(line.startswith(f"{called} – kept on") for line in seen[0]), "as its tab was called"
    found = {tab.session.path: [str(n.operator) for n in tab.session.graph_store.graph.nodes.values()]
             for tab in again.documents.tabs}  # fmt: skip
    assert found == {path: ["torch.ones", "torch.zeros"], None: ["torch.eye"]}
    assert all(tab.is_changed for tab in again.documents.tabs)
    assert [str(node.operator) for node in load(path).nodes.values()] == ["torch.ones"]
    assert recoverable(again.settings.state_folder / "recovery") == []  # they are this program's now


def keep_run(session: Session) -> str:
    """A run of the document, as it is kept; its id."""
    assert session.runs_folder is not None
    record = RunRecord(document=session.identity, state="stopped", learnt={"loss": 3})
    return RunWriter(session.runs_folder, record, write_script(session.graph_store.graph)).folder.name


def runs_of(session: Session) -> dict[str, Path]:
    """What the Runs dock shows of a document, and where it lies."""
    session.runs.list.refresh()
    return {run.program().split("torch.")[-1].partition("(")[0]: run.folder for run in session.runs.list.runs}


@pytest.mark.feature(73)
def test_documents_that_were_never_saved_have_their_own_runs_when_they_are_recovered(
    qtbot: QtBot, window: MainWindow, start: Start, tmp_path: Path
) -> None:
    words = ("zeros", "eye", "ones")
    for word in words:
        if word != words[0]:
            window.actions["file.new"].trigger()
        add_node(window, f"torch.{word}")
        keep_run(window.session)
    assert all(tab.recovery.write() for tab in reversed(window.documents.tabs))  # the first was worked on last
    kill(qtbot, window, len(words))
    again = start()
    when_offered(click("recover"))
    assert again.recovering.offer_all() == len(words)
    sessions = {operators_of(tab.session)[0].removeprefix("torch."): tab.session for tab in again.documents.tabs}
    assert {word: list(runs_of(session)) for word, session in sessions.items()} == {word: [word] for word in words}
    again.documents.may_close = lambda _tab: True
    (tab,) = [tab for tab in again.documents.tabs if tab.session is sessions["eye"]]
    again.documents.close(tab)
    again.documents.reopen()
    assert list(runs_of(again.session)) == ["eye"], "what is closed and opened again is the same document"


@pytest.mark.feature(73)
@pytest.mark.parametrize("subject", ["", "Digits"])
def test_the_runs_of_a_document_that_was_recovered_go_with_it_where_it_is_saved(
    subject: str, qtbot: QtBot, window: MainWindow, start: Start, tmp_path: Path
) -> None:
    window.session.subject = subject
    add_node(window, "torch.zeros")
    keep_run(window.session)
    kill(qtbot, window, 1)
    again = start()
    when_offered(click("recover"))
    assert again.recovering.offer_all() == 1
    again.session.save(tmp_path / "named.gsg")
    (kept,) = kept_runs(tmp_path / "named.runs")
    assert runs_of(again.session) == {"zeros": kept.folder}


def test_a_run_of_another_program_is_not_gone_on_with_without_a_question(window: MainWindow) -> None:
    add_node(window, "torch.zeros")
    keep_run(window.session)
    window.session.runs.list.refresh()
    (run,) = window.session.runs.list.runs
    add_node(window, "torch.eye")
    offers: list[Offer] = []
    window.session.run.status.offered.connect(offers.append)
    go_on_from(window.session, run, "mine")
    (offer,) = offers
    assert operators(window) == ["torch.zeros", "torch.eye"] and not window.session.run.state.busy
    assert offer.words == "Run “mine” is of another program than the one on the canvas."
    offer.accept()
    assert operators(window) == ["torch.zeros"]
    window.session.graph_store.undo_stack.undo()
    assert sorted(operators(window)) == ["torch.eye", "torch.zeros"]


@pytest.mark.feature(73)
def test_what_is_recovered_into_a_tab_of_its_own_stands_in_its_code_dock(
    qtbot: QtBot, window: MainWindow, start: Start, tmp_path: Path
) -> None:
    path = write(tmp_path / "mine.gsg", "torch.ones")
    add_node(window, "torch.eye")
    kill(qtbot, window, 1)
    again = start()
    again.file.open_path(path)
    when_offered(click("recover"))
    assert again.recovering.offer_all() == 1
    assert "torch.eye" in again.code.editor.text


@pytest.mark.feature(73)
def test_what_is_recovered_takes_the_welcome_page_away(qtbot: QtBot, window: MainWindow, start: Start) -> None:
    add_node(window, "torch.eye")
    kill(qtbot, window, 1)
    again = start()
    again.learning.greeting.show()
    when_offered(click("recover"))
    assert again.recovering.offer_all() == 1
    assert not again.learning.greeting.is_shown


@pytest.mark.feature(73)
def test_the_question_comes_with_the_first_picture(qtbot: QtBot, window: MainWindow, start: Start) -> None:
    """So no key that was meant for the canvas answers it."""
    add_node(window, "torch.eye")
    kill(qtbot, window, 1)
    again = start()
    begin = application._Start(QApplication.instance(), again.frame, again.settings, again.theme, ())
    again.frame.setUpdatesEnabled(False)
    seen: list[str] = []

    def look() -> None:
        dialog = QApplication.activeModalWidget()
        if again.frame.updatesEnabled():
            seen.append(type(dialog).__name__)
        if isinstance(dialog, RecoveryDialog):
            dialog.reject()
        else:
            QTimer.singleShot(0, look)

    begin._show_soon(again, {}, "")
    look()
    qtbot.waitUntil(lambda: "RecoveryDialog" in seen)
    assert len(seen) <= 2, "a turn of the loop at most in which the canvas would have had the keys"


@pytest.mark.feature(73)
def test_text_of_the_code_dock_that_was_not_applied_comes_back(qtbot: QtBot, window: MainWindow, start: Start) -> None:
    add_node(window, "torch.ones")
    window.actions["view.code"].trigger()
    window.frame.activateWindow()
    editor = window.code.editor
    qtbot.waitUntil(lambda: "torch.ones" in editor.text)
    editor.moveCursor(editor.textCursor().MoveOperation.End)
    QTest.keyClick(editor, Qt.Key.Key_Return)
    QTest.keyClicks(editor, "half = ones(")
    qtbot.waitUntil(lambda: window.code.live.state == "refused")
    folder = window.settings.state_folder / "recovery"
    qtbot.waitUntil(lambda: any("half = ones(" in path.read_text() for path in folder.glob("*.recovery")))
    kill(qtbot, window, 1)
    again = start()
    when_offered(click("recover"))
    assert again.recovering.offer_all() == 1
    assert "half = ones(" in again.code.editor.text
    assert operators(again) == ["torch.ones"]
    qtbot.waitUntil(lambda: again.code.live.state == "refused")


@pytest.mark.feature(73)
def test_what_is_put_off_is_offered_when_its_file_is_opened_at_a_later_start(
    qtbot: QtBot, window: MainWindow, start: Start, tmp_path: Path
) -> None:
    path = write(tmp_path / "mine.gsg", "torch.ones")
    window.file.open_path(path)
    add_node(window, "torch.zeros")
    kill(qtbot, window, 1)
    again = start()
    when_offered(click("later"))
    assert again.recovering.offer_all() == 0 and len(recoverable(again.settings.state_folder / "recovery")) == 1
    third = start()
    third.recovering._has_begun = True
    seen = when_offered(click("recover"))
    assert third.file.open_path(path)
    qtbot.waitUntil(lambda: operators(third) == ["torch.ones", "torch.zeros"])
    assert len(seen) == 1 and third.session.path == path and len(third.documents.tabs) == 1


@pytest.mark.feature(73)
def test_discard_throws_away_what_is_ticked_and_nothing_else(qtbot: QtBot, window: MainWindow, start: Start) -> None:
    add_node(window)
    window.actions["file.new"].trigger()
    add_node(window)
    kill(qtbot, window, 2)
    again = start()

    def untick_and_discard(dialog: RecoveryDialog) -> None:
        dialog.list.item(1).setCheckState(Qt.CheckState.Unchecked)
        QTest.mouseClick(dialog.discard, Qt.MouseButton.LeftButton)

    when_offered(untick_and_discard)
    assert again.recovering.offer_all() == 0
    assert len(recoverable(again.settings.state_folder / "recovery")) == 1


def test_documents_without_a_name_are_told_apart_by_what_is_in_them(qtbot: QtBot, tmp_path: Path) -> None:
    found = []
    for name, operators_in in (("one", ["torch.ones"]), ("two", ["torch.zeros", "torch.randn"])):
        path = tmp_path / f"{name}.recovery"
        path.write_bytes(b"{}\n" + write(tmp_path / f"{name}.gsg", *operators_in).read_bytes())
        found.append(Recovered(path, None, 0.0))
    found.append(Recovered(tmp_path / "gone.recovery", None, 0.0))
    parent = QWidget()
    qtbot.addWidget(parent)
    dialog = RecoveryDialog(found, parent)
    first, second, unread = (dialog.list.item(k).text() for k in range(3))
    assert " – 1 node" in first
    assert " – 2 nodes" in second and first != second
    assert "node" not in unread


def test_a_long_entry_is_seen_whole(qtbot: QtBot, tmp_path: Path) -> None:
    name = " ".join(["a model with a long name"] * 4)
    found = [Recovered(tmp_path / "a.recovery", tmp_path / f"{name}.gsg", 0.0, unapplied="x = 1")]
    found.append(Recovered(tmp_path / "b.recovery", tmp_path / "b.gsg", 0.0))
    parent = QWidget()
    qtbot.addWidget(parent)
    dialog = RecoveryDialog(found, parent)
    dialog.show()
    long, short = (dialog.list.visualItemRect(dialog.list.item(k)) for k in range(2))
    assert long.height() >= 2 * short.height() - 4
    assert long.right() <= dialog.list.viewport().width()
    assert dialog.list.horizontalScrollBar().maximum() == 0


def test_two_of_one_file_are_told_apart_in_the_question_and_by_their_tabs(
    qtbot: QtBot, window: MainWindow, start: Start, tmp_path: Path
) -> None:
    path = write(tmp_path / "mine.gsg", "torch.ones")
    folder = window.settings.state_folder / "recovery"
    folder.mkdir(parents=True, exist_ok=True)
    for count in (1, 2):
        journal = Journal(folder)
        graph = load(path)
        for _ in range(count):
            apply_all(graph, recipes.add_operator(graph, "torch.zeros", 0, 0)[0])
        journal.write(graph, path)
        journal.close()
    again = start()
    seen = when_offered(click("recover"))
    assert again.recovering.offer_all() == 2
    said = re.findall(r"kept on .*:\d\d:\d\d – (\d) nodes", "\n".join(seen[0]))
    assert said == ["3", "2"], seen
    titles = [again.strip.bar.tabText(number).split()[:2] for number in range(again.strip.bar.count())]
    assert sorted(titles) == [["mine.gsg", "(2)"], ["mine.gsg", "●"]], titles
    assert "mine.gsg (2)[*]" in again.frame.windowTitle()
    first = next(tab for tab in again.documents.tabs if tab.session.copy == 1)
    again.documents.may_close = lambda _tab: True
    assert again.documents.close(first)
    assert [tab.session.title for tab in again.documents.tabs] == ["mine.gsg"], "it is alone now"


@pytest.mark.feature(72)
def test_autosave_keeps_a_copy_beside_the_file_and_says_so(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    path = write(tmp_path / "mine.gsg", "torch.ones")
    window.file.open_path(path)
    window.settings.change(autosave_s=0)
    with qtbot.waitSignal(window.autosave.said):
        add_node(window, "torch.zeros")
    assert "Autosaved a copy beside “mine.gsg”" in window.status.message.full
    assert [str(node.operator) for node in load(path).nodes.values()] == ["torch.ones"]
    assert len(list((window.settings.state_folder / "recovery").glob("*.recovery"))) == 1
    window.actions["file.save"].trigger()
    assert not list((window.settings.state_folder / "recovery").glob("*.recovery"))


@pytest.mark.feature(72)
def test_autosave_that_is_switched_off_says_nothing(window: MainWindow) -> None:
    window.settings.change(autosave=False, autosave_s=0)
    add_node(window)
    assert not window.autosave._timer.isActive()
    window.autosave.keep_all()
    assert "Autosaved" not in window.status.message.full


@pytest.mark.feature(72)
def test_a_file_that_another_program_wrote_is_asked_about_and_read_again(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    path = write(tmp_path / "mine.gsg", "torch.ones")
    window.file.open_path(path)
    add_node(window, "torch.eye")
    assert window.band.isHidden()
    write(path, "torch.zeros", "torch.arange")
    qtbot.waitUntil(lambda: not window.band.isHidden())
    assert "unsaved changes, too" in window.band.words.text()
    QTest.mouseClick(window.band.reload, Qt.MouseButton.LeftButton)
    assert operators(window) == ["torch.zeros", "torch.arange"] and window.band.isHidden()
    window.actions["file.reopen"].trigger()
    assert operators(window) == ["torch.ones", "torch.eye"]  # nothing is lost


@pytest.mark.feature(72)
def test_mine_is_kept_and_saving_asks_before_it_writes_over(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    path = write(tmp_path / "mine.gsg", "torch.ones")
    window.file.open_path(path)
    write(path, "torch.zeros")
    qtbot.waitUntil(lambda: not window.band.isHidden())
    words = when_asked(qtbot, press(Button.Cancel))
    window.actions["file.save"].trigger()
    assert "another program" in words[0]
    assert [str(node.operator) for node in load(path).nodes.values()] == ["torch.zeros"]
    QTest.mouseClick(window.band.keep, Qt.MouseButton.LeftButton)
    assert window.band.isHidden() and window.documents.current.is_changed
    window.actions["file.save"].trigger()
    assert [str(node.operator) for node in load(path).nodes.values()] == ["torch.ones"]
    assert window.band.isHidden() and not window.documents.current.is_changed


@pytest.mark.feature(72)
def test_a_file_that_is_taken_away_stays_on_the_canvas(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    path = write(tmp_path / "mine.gsg", "torch.ones")
    window.file.open_path(path)
    path.unlink()
    qtbot.waitUntil(lambda: not window.band.isHidden())
    assert "removed or renamed" in window.band.words.text() and window.band.reload.isHidden()
    window.actions["file.save"].trigger()
    assert path.exists()


@pytest.mark.feature(56)
def test_what_was_open_is_open_again_at_the_next_start(
    qtbot: QtBot, window: MainWindow, start: Start, tmp_path: Path
) -> None:
    files = [write(tmp_path / f"{name}.gsg", "torch.ones") for name in ("one", "two", "three")]
    for path in files:
        window.file.open_path(path)
    window.actions["view.previous_tab"].trigger()
    again = start()
    begin = application._Start(QApplication.instance(), again.frame, again.settings, again.theme, ())
    assert begin._open_first(again) == {}
    assert again.session.path == files[1]
    qtbot.waitUntil(lambda: [tab.session.path for tab in again.documents.tabs] == files)
    assert len(again.rooms) == 1 and again.session.path == files[1]
    again.settings.change(reopen=False)
    third = start()
    begin = application._Start(QApplication.instance(), third.frame, third.settings, third.theme, ())
    begin._open_first(third)
    assert third.session.path is None


@pytest.mark.feature(56)
def test_files_of_the_command_line_are_tabs_in_their_order(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    files = tuple(write(tmp_path / f"{name}.gsg", "torch.ones") for name in ("one", "two", "three"))
    begin = application._Start(QApplication.instance(), window.frame, window.settings, window.theme, files)
    begin._open_first(window)
    qtbot.waitUntil(lambda: [tab.session.path for tab in window.documents.tabs] == list(files))
    assert window.session.path == files[0]


@pytest.mark.parametrize(("key", "count"), [(Qt.Key.Key_Return, 2), (Qt.Key.Key_Escape, 0)])
def test_the_one_question_lists_all_and_is_answered_by_keys(
    qtbot: QtBot, window: MainWindow, start: Start, tmp_path: Path, key: Qt.Key, count: int
) -> None:
    """Also where a file with changes of its own is opened behind the question."""
    path = write(tmp_path / "mine.gsg", "torch.ones")
    window.file.open_path(path)
    add_node(window, "torch.zeros")
    window.actions["file.new"].trigger()
    add_node(window, "torch.eye")
    kill(qtbot, window, 2)
    again = start()

    def answer(dialog: RecoveryDialog) -> None:
        assert again.recovering.offer_for(path) == 0
        assert QApplication.activeModalWidget() is dialog
        QTest.keyClick(dialog.focusWidget() or dialog, key)

    seen = when_offered(answer)
    assert again.recovering.offer_all() == count
    assert len(seen) == 1 and len(seen[0]) == 2
    assert len(recoverable(again.settings.state_folder / "recovery")) == 2 - count


@pytest.mark.feature(72)
def test_autosave_of_several_says_of_files_only_where_there_are_any(window: MainWindow, tmp_path: Path) -> None:
    window.settings.change(autosave_s=10_000)
    add_node(window)
    window.file.new()
    add_node(window)
    window.autosave.keep_all()
    assert "of 2 documents, which have no files yet" in window.status.message.full
