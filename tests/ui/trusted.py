"""A file with code in the window, that its person has said yes to."""

from pathlib import Path

from pytestqt.qtbot import QtBot

from tests.ui.desk import Desk, Key


def open_trusted(desk: Desk, qtbot: QtBot, folder: Path, text: str) -> None:
    """Open it in the window."""
    desk.sit_down(qtbot)
    path = folder / "program.py"
    path.write_text(text)
    desk.session.open(path)
    desk.session.run.code_question.ask = lambda _parts: True


def run_to_the_end(desk: Desk) -> None:
    """Run it as a person does, until it has ended."""
    desk.until(lambda: desk.window.actions["run.run"].isEnabled())
    desk.key(Key.Key_F5)
    desk.until(lambda: not desk.session.run.state.busy and bool(desk.session.run.state.outcome))
