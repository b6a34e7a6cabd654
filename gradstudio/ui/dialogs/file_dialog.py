"""Asks for files: where to begin, what to propose, and Qt's own dialog in our icons where the system has none."""

from collections.abc import Iterable
from pathlib import Path

from PySide6.QtCore import QStandardPaths, Qt
from PySide6.QtWidgets import QFileDialog, QMessageBox, QToolButton, QWidget

from gradstudio.ui.theme import Theme, icon

OWN_SUFFIXES = (".gsg", ".png", ".svg", ".pdf")
BUTTON_ICONS = {
    "backButton": "backward",
    "forwardButton": "forward",
    "toParentButton": "up",
    "newFolderButton": "new_folder",
    "listModeButton": "list",
    "detailModeButton": "details",
}
"""Buttons of Qt's own dialog by the names Qt gives them; the style's pictures are dark on dark."""


def ask_what(parent: QWidget, theme: Theme, title: str, folder: Path, kinds: str) -> Path | None:
    """The file a person chooses to open; None when they leave."""
    dialog = QFileDialog(parent, title, str(folder), kinds)
    dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
    return _ask(dialog, theme)


def ask_folder(parent: QWidget, theme: Theme, title: str, folder: Path) -> Path | None:
    """The folder a person chooses; None when they leave."""
    dialog = QFileDialog(parent, title, str(folder))
    dialog.setFileMode(QFileDialog.FileMode.Directory)
    dialog.setOption(QFileDialog.Option.ShowDirsOnly)
    return _ask(dialog, theme)


def ask_where(parent: QWidget, theme: Theme, title: str, proposed: Path, kinds: str) -> Path | None:
    """Where a person chooses to write, with the suffix of a kind that is offered; None when they leave."""
    dialog = QFileDialog(parent, title, str(proposed.parent), kinds)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setDefaultSuffix(proposed.suffix[1:])
    dialog.selectFile(proposed.name)
    dialog.filterSelected.connect(lambda kind: dialog.setDefaultSuffix(kind.rpartition("*.")[2].rstrip(")")))
    chosen = _ask(dialog, theme)
    if chosen is None:
        return None
    path = with_suffix_of(chosen, kinds, f".{dialog.defaultSuffix()}")
    return path if path == chosen or not path.exists() or _may_replace(parent, path) else None


def with_suffix_of(path: Path, kinds: str, suffix: str) -> Path:
    """A path that ends as one of the kinds does: else the suffix of another kind of ours is replaced, others kept.

    ``mine.png`` becomes ``mine.py`` where a script is written, ``mine.v2`` becomes ``mine.v2.py``.
    """
    if f"*{path.suffix.lower()})" in kinds:
        return path
    return path.with_suffix(suffix) if _is_of_ours(path) else path.with_name(path.name + suffix)


def _is_of_ours(path: Path) -> bool:
    """Whether a path ends as something that is written here."""
    from gradstudio.graph.structure.graph_export import FORMATS
    from gradstudio.program.forms.form_table import FORMS

    others = (*(form.suffix for form in FORMS), *(one.suffix for one in FORMATS))
    return path.suffix.lower() in (*OWN_SUFFIXES, *others)


def first_folder(used: Iterable[Path], examples: Path | None) -> Path:
    """The first of the folders that still is there and does not hold the examples, else the documents', else home."""
    for folder in used:
        if folder.is_dir() and folder.resolve() != examples:
            return folder
    documents = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
    return Path(documents) if documents and Path(documents).is_dir() else Path.home()


def may_overwrite(parent: QWidget, path: Path) -> bool:
    """Ask before what another program has written is written over."""
    if not path.exists():
        return True
    box = QMessageBox(parent)
    box.setIcon(QMessageBox.Icon.Warning)
    box.setWindowTitle("Changed on disk")
    box.setText(f"“{path.name}” was changed by another program since you opened it.")
    box.setInformativeText("Saving writes over those changes.")
    box.setStandardButtons(QMessageBox.StandardButton.Save | QMessageBox.StandardButton.Cancel)
    box.button(QMessageBox.StandardButton.Save).setText("Overwrite")
    box.setDefaultButton(QMessageBox.StandardButton.Cancel)
    return box.exec() == QMessageBox.StandardButton.Save


def _may_replace(parent: QWidget, path: Path) -> bool:
    """Ask before a file is replaced whose name the dialog did not see."""
    buttons = QMessageBox.StandardButton.Yes | QMessageBox.StandardButton.No
    box = QMessageBox(QMessageBox.Icon.Warning, "GradStudio", f"“{path.name}” exists. Replace it?", buttons, parent)
    return box.exec() == QMessageBox.StandardButton.Yes


def _ask(dialog: QFileDialog, theme: Theme) -> Path | None:
    for name, picture in BUTTON_ICONS.items():
        button = dialog.findChild(QToolButton, name)
        if isinstance(button, QToolButton):
            button.setIcon(icon(picture, theme))
    parent = dialog.parentWidget()
    before = parent.window().focusWidget() if parent is not None else None
    accepted = dialog.exec() == QFileDialog.DialogCode.Accepted
    files = dialog.selectedFiles()
    dialog.deleteLater()
    if parent is not None:
        parent.window().activateWindow()
    if before is not None:
        before.setFocus(Qt.FocusReason.ActiveWindowFocusReason)
    return Path(files[0]) if accepted and files else None
