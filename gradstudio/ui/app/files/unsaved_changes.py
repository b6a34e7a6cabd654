"""The one question before the window closes: what is to become of all unsaved documents."""

from collections.abc import Callable, Sequence

from PySide6.QtWidgets import QMessageBox, QWidget

from gradstudio.ui.app.files.documents import Documents, Tab

Button = QMessageBox.StandardButton
MAX_NAMED = 8


def may_close_all(
    documents: Documents, may_close: Callable[[Tab], bool], save: Callable[[Tab], bool], window: QWidget
) -> bool:
    """Ask about one unsaved document as always, about several at once; False keeps the window open."""
    changed = [tab for tab in documents.tabs if tab.is_changed]
    rest = [tab for tab in documents.tabs if tab not in changed]
    if not all(may_close(tab) for tab in rest):
        return False
    if len(changed) < 2:
        return all(may_close(tab) for tab in changed)
    answer = _ask(changed, window)
    return all(save(tab) for tab in changed) if answer == Button.SaveAll else answer == Button.Discard


def _ask(changed: Sequence[Tab], window: QWidget) -> int:
    box = QMessageBox(window)
    box.setIcon(QMessageBox.Icon.Question)
    box.setWindowTitle("Unsaved changes")
    box.setText(f"Save the changes to {len(changed)} documents?")
    names = [f"•  {tab.session.title}" for tab in changed[:MAX_NAMED]]
    more = [f"and {len(changed) - MAX_NAMED} more"] if len(changed) > MAX_NAMED else []
    box.setInformativeText("\n".join([*names, *more, "", "Without saving they are lost."]))
    box.setStandardButtons(Button.SaveAll | Button.Discard | Button.Cancel)
    box.button(Button.Discard).setText("Discard all")
    box.setDefaultButton(Button.SaveAll)
    return box.exec()
