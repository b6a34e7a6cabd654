"""Import data: a file is read, a person chooses, X and y come onto the canvas."""

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QDialog, QMessageBox, QWidget

from gradstudio.document.errors import BadData

if TYPE_CHECKING:
    from gradstudio.ui.canvas.view import CanvasView

KINDS = "Data (*.csv *.csv.gz *.tsv *.tsv.gz *.npy *.npz *.txt *.parquet);;All files (*)"


def import_files(
    canvas: "CanvasView", parent: QWidget, paths: tuple[Path, ...], at: tuple[float, float] | None = None
) -> None:
    """Ask for each file or folder of pictures how it becomes X and y, and add them at a scene point, or in view."""
    from gradstudio.document.data.sources import data_reading
    from gradstudio.document.data.work import until_first
    from gradstudio.ui.dialogs.data.import_data_dialog import ImportDataDialog
    from gradstudio.ui.dialogs.data.picture_folder import pictures_reading

    for path in paths:
        try:
            source, rest = until_first(pictures_reading(path) if path.is_dir() else data_reading(path))
        except BadData as error:
            box = QMessageBox(QMessageBox.Icon.Warning, "Import data", f"“{path.name}” was not imported", parent=parent)
            box.setInformativeText(str(error))
            box.exec()
            box.deleteLater()
            continue
        dialog = ImportDataDialog(path, source, canvas.canvas_style.theme, parent, rest)
        accepted = dialog.exec() == QDialog.DialogCode.Accepted
        prepared = dialog.prepared
        dialog.deleteLater()
        if accepted and prepared is not None:
            canvas.clipboard_commands.add_data_set(prepared, at)


def import_pictures(canvas: "CanvasView", parent: QWidget, folder: Path) -> None:
    """Ask for a folder of pictures, beginning in another, and how it becomes X and y."""
    from gradstudio.ui.dialogs.file_dialog import ask_folder

    chosen = ask_folder(parent, canvas.canvas_style.theme, "Import a folder of pictures", folder)
    if chosen is not None:
        import_files(canvas, parent, (chosen,))
