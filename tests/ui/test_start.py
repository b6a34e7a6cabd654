"""Starting: arguments, the display, the crash guard, settings, recovery."""

import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gradstudio.ui import theme as themes
from gradstudio.ui.app import application, display_check
from gradstudio.ui.app.crash_dialog import CrashDialog
from gradstudio.ui.app.crash_guard import CrashGuard
from gradstudio.ui.app.files.recovery_journal import Recovery
from gradstudio.ui.dialogs.seed_dialog import SeedDialog
from gradstudio.ui.state.session import Session
from gradstudio.ui.state.settings import Settings
from gradstudio.ui.theme import Theme
from tests.ui.conftest import Add


def test_the_arguments_are_a_file_and_options() -> None:
    assert application.parse(["a.gsg", "b.gsg"]) == ((Path("a.gsg"), Path("b.gsg")), None, False)
    assert application.parse(["--reset", "--config-dir", "c"]) == ((), Path("c"), True)


@pytest.mark.parametrize("argv", [["--nonsense"], ["--config-dir"]])
def test_wrong_usage_ends_with_2(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert application.main(argv) == 2
    assert "usage" in capsys.readouterr().err


def test_without_a_display_there_is_one_sentence_and_code_3(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    assert application.main([]) == 3
    words = capsys.readouterr().err
    assert "no display" in words and words.count("\n") == 1


def test_a_display_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("QT_QPA_PLATFORM")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setenv("DISPLAY", ":4711")
    assert ":4711" in display_check.why_no_window()


def test_the_frame_loads_neither_numpy_nor_the_canvas() -> None:
    heavy = "[m for m in sys.modules if m == 'numpy' or '.canvas' in m]"
    words = f"import sys, gradstudio.ui.app.window.window_frame; print({heavy})"
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_preferences_and_recent_files_are_kept(tmp_path: Path) -> None:
    settings = Settings(tmp_path / "s")
    files = [tmp_path / f"{k}.gsg" for k in range(15)]
    for file in files:
        file.write_text("{}")
        settings.add_recent(file)
    settings.add_recent(files[3])
    settings.change(theme="light")
    again = Settings(tmp_path / "s")
    assert again.preferences.theme == "light"
    assert len(again.recent) == 12 and again.recent[0] == files[3]
    files[14].unlink()
    assert files[14] not in again.recent


def test_broken_settings_count_as_none(tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text('{"theme": 7}')
    assert Settings(tmp_path).preferences.theme == "system"
    (tmp_path / "settings.json").write_text('{"theme": "purple"}')
    asked_for = Settings(tmp_path).preferences.theme
    assert themes.find(asked_for, tmp_path).theme in (themes.theme("light"), themes.theme("dark"))


def test_after_saving_there_is_nothing_to_recover(qtbot: QtBot, session: Session, add: Add, tmp_path: Path) -> None:
    recovery = Recovery(session, tmp_path / "r")
    add("torch.randn")
    qtbot.waitUntil(lambda: any((tmp_path / "r").glob("*.recovery")))
    session.save(tmp_path / "mine.gsg")
    assert not any((tmp_path / "r").glob("*.recovery"))
    recovery.close()


@pytest.mark.logs("the crash is logged with its traceback")
def test_an_unexpected_error_opens_a_report_to_copy_and_the_window_lives_on(
    qtbot: QtBot, tmp_path: Path, dark: Theme
) -> None:
    guard = CrashGuard(tmp_path)
    seen: list[str] = []

    def close() -> None:
        dialog = QApplication.activeModalWidget()
        if not isinstance(dialog, CrashDialog):
            QTimer.singleShot(10, close)
            return
        seen.append(dialog._report)
        dialog.reject()

    QTimer.singleShot(10, close)
    try:
        raise ZeroDivisionError("of our own")
    except ZeroDivisionError as error:
        guard._on_exception(type(error), error, error.__traceback__)
    assert "ZeroDivisionError: of our own" in seen[0] and "Python" in seen[0]


@pytest.mark.parametrize(
    ("typed", "good"), [("42", True), ("-1", False), ("", False), ("1.5", False), ("9" * 30, False)]
)
def test_the_seed_is_a_whole_number(qtbot: QtBot, dark: Theme, typed: str, good: bool) -> None:
    dialog = SeedDialog(0)
    qtbot.addWidget(dialog)
    dialog.field.setText(typed)
    assert dialog._buttons.button(dialog._buttons.StandardButton.Ok).isEnabled() == good
    dialog.fixed.setChecked(False)
    assert dialog.seed is None
