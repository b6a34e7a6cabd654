"""What is asked of a person who runs elsewhere; loaded when it is asked."""

from pathlib import Path
from typing import TYPE_CHECKING
from typing import Literal as OneOf

from PySide6.QtWidgets import QMessageBox, QWidget

from gradstudio.protocol.hosts.host_book import Host, HostBook
from gradstudio.ui.state.run.engine_exchange import EngineLeft

if TYPE_CHECKING:
    from PySide6.QtWidgets import QDialog


def chosen_host(book: HostBook, known: Host | None, window: QWidget) -> str | None:
    """The host that was added or looked at, to run there; None: nothing changes."""
    from gradstudio.ui.dialogs.host_dialog import HostDialog

    dialog = HostDialog(book, known, window)
    _ask(dialog)
    return dialog.chosen.name if dialog.chosen is not None else None


def chosen_running(hosts: tuple[Host, ...], folder: Path, window: QWidget) -> tuple[str, EngineLeft] | None:
    """A host, and an engine that goes on there and is to be taken up; None: none."""
    from gradstudio.ui.dialogs.running_dialog import RunningDialog

    dialog = RunningDialog(hosts, folder, window)
    _ask(dialog)
    if dialog.chosen is None:
        return None
    host, engine = dialog.chosen
    return host.name, EngineLeft(engine.name, title=engine.title)


Leaving = OneOf["keep", "stop", "cancel"]


def how_to_leave(place: str, window: QWidget) -> Leaving:
    """What becomes of what runs where engines are now; on a host (`place`) it can go on. Enter and Escape: cancel."""
    where = f"on “{place}”" if place else "here"
    words = f"Something runs {where}, and ends when programs run elsewhere."
    box = QMessageBox(QMessageBox.Icon.Question, "Run elsewhere", words, parent=window)
    keep = box.addButton("Keep running there", QMessageBox.ButtonRole.AcceptRole) if place else None
    stop = box.addButton("Stop it and switch", QMessageBox.ButtonRole.DestructiveRole)
    cancel = box.addButton(QMessageBox.StandardButton.Cancel)
    box.setDefaultButton(cancel)
    box.setEscapeButton(cancel)
    _ask(box)
    clicked = box.clickedButton()
    if clicked is stop:
        return "stop"
    return "keep" if keep is not None and clicked is keep else "cancel"


def _ask(dialog: "QDialog") -> None:
    dialog.exec()
    dialog.deleteLater()
