"""What is asked of a person who runs elsewhere, or in several processes; loaded when it is asked."""

from pathlib import Path
from typing import TYPE_CHECKING
from typing import Literal as OneOf

from PySide6.QtWidgets import QInputDialog, QMessageBox, QWidget

from gradstudio.protocol.hosts.host_book import Host, HostBook
from gradstudio.protocol.ranks.rank_command import MOST_RANKS
from gradstudio.ui.state.engines.rank_child import RankGroup
from gradstudio.ui.state.run.engine_exchange import EngineLeft

if TYPE_CHECKING:
    from PySide6.QtWidgets import QDialog

TITLE = "On several processes"
WORDS = (
    "The program runs in so many processes of this machine at once, as torchrun starts them: each is a rank, with\n"
    'RANK and WORLD_SIZE in its environment, and torch.distributed joins them (init_process_group("gloo")).\n'
    "Cards then say whether all ranks hold the same; which rank is shown is chosen beside the device.\n\n"
    "Processes:"
)


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


def asked_ranks(known: RankGroup | None, window: QWidget) -> RankGroup | None:
    """So many processes as a person wants; None: nothing changes."""
    count, is_accepted = QInputDialog.getInt(
        window, TITLE, WORDS, known.count if known is not None else 2, 1, MOST_RANKS
    )
    is_other = count != (known.count if known is not None else 1)
    return RankGroup(count) if is_accepted and is_other else None


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
