"""The File menu: open, save, export; and the question before changes are lost."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication, QKeySequence
from PySide6.QtWidgets import QMenu, QMessageBox

from gradstudio import paths
from gradstudio.document.errors import DocumentError, NewerVersion, UnreadableFile
from gradstudio.graph.model import Graph
from gradstudio.graph.structure.graph_export import format_named
from gradstudio.program.errors import NoForm
from gradstudio.protocol.messages.events import Log
from gradstudio.protocol.messages.module_import import Brought
from gradstudio.ui.actions.action_set import ActionRow, MenuRow, Row, say_empty
from gradstudio.ui.actions.command_context import Context
from gradstudio.ui.app.window.window_frame import SUFFIX
from gradstudio.ui.state.session import PYTHON_SUFFIXES, Session

if TYPE_CHECKING:
    from gradstudio.program.forms.form_table import Form
    from gradstudio.ui.dialogs.export_dialog import ExportDialog
    from gradstudio.ui.dialogs.picture_dialog import PictureChoice, PictureDialog

FILTER = f"GradStudio documents (*{SUFFIX})"
PYTHON = " ".join(f"*{suffix}" for suffix in PYTHON_SUFFIXES)
MODULE_TIP = "A torch.nn.Module of your own as a canvas: runs the code of its file"
DATA_TIP = "A table (CSV, TSV), arrays (NPY, NPZ) or a text as X and y, with a part to validate"
PICTURES, PICTURES_TIP = "Import folder of pictures…", "Each folder in it is a class: X and y, with a part to validate"
Button = QMessageBox.StandardButton
MOST_TOLD = 6
"""Places in a text that cannot be read and are said in one message."""
Key = QKeySequence.StandardKey


class Opener(Protocol):
    """Where documents are opened: the row of tabs."""

    def new(self) -> None:
        """Open an empty document."""

    def open(self, path: Path) -> DocumentError | None:
        """Show a file; the reason when it cannot be read."""

    def take(self, fill: Callable[[Session], None]) -> DocumentError | None:
        """Fill a document that is nobody's work yet; the reason when it cannot be filled."""


class FileCommands(QObject):
    """Saves the session's document, and has others opened.

    Signals:
        said(object): something to say in the status bar: "Saved to …".
        warned(object): what went otherwise than a person may think.

    Attributes:
        left_out: what to say of text that is not in the document that is saved; "" for nothing.
    """

    said = Signal(object)
    warned = Signal(object)

    def __init__(self, context: Context, opener: Opener, parent: QObject | None = None) -> None:
        """Work on the context's session."""
        super().__init__(parent)
        self._context, self._opener = context, opener
        self.left_out: Callable[[], str] = lambda: ""
        self._picture: PictureChoice | None = None
        self._session, self._settings, self._window = context.session, context.settings, context.window

    # ------------------------------------------------------------------ new and open

    def new(self) -> None:
        """An empty document in a tab of its own."""
        self._opener.new()

    def open(self) -> None:
        """Ask for a file and open it."""
        kinds = f"Documents, Python, pictures (*{SUFFIX} {PYTHON} *.png);;{FILTER};;Python ({PYTHON});;All files (*)"
        path = self._ask("Open", self._folder(), kinds)
        if path is not None:
            self.open_path(path)

    def open_path(self, path: Path) -> bool:
        """Open a file in a tab of its own; says so when it cannot be read."""
        error = self.try_open(path)
        if error is not None:
            self.say_unreadable(path, error)
        return error is None

    def try_open(self, path: Path) -> DocumentError | None:
        """Open a file without a question; the reason when it cannot be read."""
        error = self._opener.open(path)
        if error is not None:
            return error
        self._settings.add_recent(path)
        return None

    def import_module(self) -> None:
        """Ask for a Python file and which module of it, run its code, and show what it computes as a new document."""
        from gradstudio.document.python.module_import import import_options
        from gradstudio.ui.dialogs.import_module_dialog import ImportModuleDialog
        from gradstudio.ui.state.run.module_importer import ModuleImporter

        theme, last = self._context.canvas.canvas_style.theme, Path(self._settings.preferences.folder or self._folder())
        folder = last if last.is_dir() else self._folder()
        path = self._ask("Import module", folder, "Python (*.py)")
        if path is None:
            return
        try:
            found = import_options(path)
        except DocumentError as error:
            self.say_unreadable(path, error)
            return
        if not found:
            self._warn(f"“{path.name}” has no module", "There is no class in it with a forward. Nothing was executed.")
            return
        bringing = ModuleImporter(self._session.engine.command, self)
        bringing.printed.connect(self._session.engine.tell)
        dialog = ImportModuleDialog(path, found, bringing, theme, self._window)
        dialog.exec()
        bringing.close()
        if dialog.brought is not None:
            self._take_brought(path, dialog.brought)
        dialog.deleteLater()
        bringing.deleteLater()

    def import_data(self) -> None:
        """Ask for a table, arrays or a text, and how they become X and y on the canvas."""
        from gradstudio.ui.dialogs.data.import_files import KINDS, import_files

        path = self._ask("Import data", self._folder(), KINDS)
        if path is not None:
            import_files(self._context.canvas, self._window, (path,))

    def import_pictures(self) -> None:
        """Ask for a folder of pictures by class, and how they become X and y on the canvas."""
        from gradstudio.ui.dialogs.data.import_files import import_pictures

        import_pictures(self._context.canvas, self._window, self._folder())

    def _take_brought(self, path: Path, brought: Brought) -> None:
        from gradstudio.document.python.module_import import graph_of

        try:
            graph = graph_of(brought.text, brought.tensors)
        except DocumentError as error:
            self.say_unreadable(path, error)
            return
        self._opener.take(lambda session: self._put_brought(session, graph, brought))
        self.said.emit(brought.outcome)

    def _put_brought(self, session: Session, graph: Graph, brought: Brought) -> None:
        session.restore(graph, None, brought.outcome.split(" ")[0])
        for line in (brought.outcome, *brought.notes):
            session.engine.tell(Log(level="info", text=line))

    def open_example(self, path: Path) -> bool:
        """Open an example as a new, unsaved document."""
        error = self._opener.take(lambda session: session.open_example(path))
        if error is not None:
            self.say_unreadable(path, error)
        return error is None

    def fill_recent(self, menu: QMenu) -> None:
        """Recently used files, newest first."""
        recent = self._settings.recent
        for number, path in enumerate(recent, start=1):
            action = menu.addAction(f"&{number}  {path.name}" if number < 10 else path.name)
            action.setToolTip(str(path))
            action.triggered.connect(lambda _checked=False, path=path: self.open_path(path))
        if not recent:
            say_empty(menu, "No files yet")
            return
        menu.addSeparator()
        menu.addAction("Clear").triggered.connect(lambda: self._settings.change(recent=()))

    def fill_examples(self, menu: QMenu) -> None:
        """The examples that travel with the program."""
        for path in example_files():
            action = menu.addAction(title_of_example(path))
            action.triggered.connect(lambda _checked=False, path=path: self.open_example(path))
        if menu.isEmpty():
            say_empty(menu, "No examples are installed")

    # ------------------------------------------------------------------ save and export

    def save(self) -> bool:
        """Save under the name it has, else ask for one; False when it was not saved."""
        return self.save_to(self._session.path) if self._session.path is not None else self.save_as()

    def save_as(self) -> bool:
        """Ask for a name and save; False when it was not saved."""
        chosen = self._ask("Save as", self._proposed(SUFFIX), FILTER, is_new=True)
        return chosen is not None and self.save_to(chosen)

    def save_to(self, path: Path) -> bool:
        """Save under a name; says so when it cannot be written, or when it lacks what was typed."""
        from gradstudio.ui.dialogs.file_dialog import may_overwrite

        if path == self._session.path and self._session.changed_on_disk and not may_overwrite(self._window, path):
            return False
        left_out = self.left_out()
        try:
            self._session.save(path, self._context.canvas.bookmark_commands.kept_view())
        except DocumentError as error:
            self._warn("The document was not saved", str(error))
            return False
        self._settings.add_recent(path)
        if left_out:
            self.warned.emit(f"Saved to {path}. {left_out}")
        else:
            self.said.emit(f"Saved to {path}")
        return True

    def export_python(self) -> None:
        """Show the program in each of its forms, to copy or to write."""
        from gradstudio.ui.dialogs.export_dialog import ExportDialog

        style, stem = self._context.canvas.canvas_style, self._proposed(".py").stem
        dialog = ExportDialog(self._session.graph_store.graph, stem, style.theme, self._window)
        dialog.choose(self._settings.preferences.export_form)
        dialog.save_asked.connect(lambda form: self._write_form(dialog, form))
        dialog.exec()
        self._settings.change(export_form=dialog.form.name)
        dialog.deleteLater()

    def _write_form(self, dialog: "ExportDialog", form: "Form") -> None:
        kinds = f"{form.kind} (*{form.suffix})"
        chosen = self._ask(f"Export as {form.title}", self._proposed(form.suffix), kinds, is_new=True)
        if chosen is not None and self._write_as(chosen, form.name, form.title.lower(), dialog.report):
            dialog.accept()

    def export_graph(self, name: str) -> None:
        """Ask where to, and write the whole program's graph in the format of that name."""
        form = format_named(name)
        chosen = self._ask(f"Export as {form.title}", self._proposed(form.suffix), form.kinds, is_new=True)
        if chosen is not None:
            self._write_as(chosen, name, f"{form.title} file")

    def _write_as(self, path: Path, name: str, title: str, report: bool | None = None) -> bool:
        """Write the program in the form or format of that name, and say so; False, and said why, when it cannot be."""
        from gradstudio.document.python.python_export import write_export

        try:
            write_export(self._session.graph_store.graph, path, name, report)
        except (DocumentError, NoForm) as error:
            self._warn(f"The {title} was not written", str(error))
            return False
        self.said.emit(f"Wrote {path}")
        return True

    def export_picture(self) -> None:
        """Ask how a picture of the canvas shall look, and write it; a PNG holds the document, too."""
        from gradstudio.ui.actions.canvas_pictures import USUAL, preview, selected_items
        from gradstudio.ui.dialogs.picture_dialog import PictureDialog

        context = self._context
        theme, selected = context.canvas.canvas_style.theme, len(selected_items(context))
        dialog = PictureDialog(
            self._picture or USUAL, partial(preview, context), theme, self._window, selected=selected
        )
        dialog.save_asked.connect(lambda: self._write_picture(dialog))
        dialog.exec()
        self._picture = dialog.choice
        dialog.deleteLater()

    def _write_picture(self, dialog: "PictureDialog") -> None:
        from gradstudio.ui.actions.canvas_pictures import save_canvas_picture
        from gradstudio.ui.pictures.errors import PictureRefused
        from gradstudio.ui.pictures.picture_formats import file_filter

        chosen = self._ask("Export picture", self._proposed(".png"), file_filter(), is_new=True)
        if chosen is None:
            return
        try:
            note = save_canvas_picture(self._context, chosen, dialog.choice)
        except (PictureRefused, OSError) as error:
            self._warn("The picture was not written", f"{chosen}: {getattr(error, 'strerror', None) or error}.")
            return
        self.said.emit(f"Wrote {chosen}. {note}" if note else f"Wrote {chosen}")
        dialog.accept()

    def copy_picture(self) -> None:
        """Put a picture of the canvas on the clipboard, in the style in which one was last exported."""
        from gradstudio.ui.actions.canvas_pictures import USUAL, canvas_picture

        QGuiApplication.clipboard().setImage(canvas_picture(self._context, self._picture or USUAL))
        self.said.emit("Copied the canvas as a picture")

    def quit(self) -> None:
        """Close the window, which asks about unsaved changes."""
        self._window.close()

    def may_leave(self) -> bool:
        """Ask Save, Discard or Cancel when there are unsaved changes; False keeps the document."""
        if self._session.graph_store.is_clean:
            return True
        box = QMessageBox(self._window)
        box.setIcon(QMessageBox.Icon.Question)
        box.setWindowTitle("Unsaved changes")
        box.setText(f"Save the changes to “{self._session.title}”?")
        box.setInformativeText("Without saving they are lost.")
        box.setStandardButtons(Button.Save | Button.Discard | Button.Cancel)
        box.setDefaultButton(Button.Save)
        answer = box.exec()
        return self.save() if answer == Button.Save else answer == Button.Discard

    # ------------------------------------------------------------------ inner workings

    def _folder(self) -> Path:
        """Where a dialog begins: beside the document, where the last one ended, beside the newest file, at home."""
        from gradstudio.ui.dialogs.file_dialog import first_folder

        last = self._settings.preferences.folder
        beside = self._session.path or self._session.read_from
        own = [beside.parent] if beside is not None else []
        used = [*own, *([Path(last)] if last else []), *(path.parent for path in self._settings.recent)]
        examples = example_files()[:1]
        return first_folder(used, examples[0].parent.resolve() if examples else None)

    def _proposed(self, suffix: str) -> Path:
        path = self._session.path or (self._session.read_from if suffix == SUFFIX else None)
        if path is not None:
            return self._folder() / path.with_suffix(suffix).name
        began = self._session.read_from
        name = "" if began is not None and began.suffix == suffix == ".py" else self._session.subject
        return self._folder() / f"{name.replace('/', ' ') or 'untitled'}{suffix}"

    def _ask(self, title: str, start: Path, kinds: str, *, is_new: bool = False) -> Path | None:
        from gradstudio.ui.dialogs.file_dialog import ask_what, ask_where

        ask = ask_where if is_new else ask_what
        chosen = ask(self._window, self._context.canvas.canvas_style.theme, title, start, kinds)
        if chosen is not None:
            self._settings.change(folder=str(chosen.parent))
        return chosen

    def say_unreadable(self, path: Path, error: DocumentError) -> None:
        """Say why a file cannot be opened, and that nothing is lost."""
        if isinstance(error, NewerVersion):
            title = f"“{path.name}” was written by a newer GradStudio"
        else:
            title = f"“{path.name}” cannot be opened"
        words = str(error)
        if isinstance(error, UnreadableFile) and error.line is not None:
            parts = [f"Line {one.line}, column {one.column}: {one.message}" for one in (error, *error.others)]
            rest = [f"… and {len(parts) - MOST_TOLD} more places."] if len(parts) > MOST_TOLD else []
            words = "\n\n".join([*parts[:MOST_TOLD], *rest])
        self._warn(title, f"{words}\n\nThe file was not changed, and what is open is as it was.")

    def _warn(self, text: str, details: str) -> None:
        box = QMessageBox(QMessageBox.Icon.Warning, "GradStudio", text, Button.Ok, self._window)
        box.setInformativeText(details)
        box.exec()


def example_files() -> tuple[Path, ...]:
    """The examples in the order of their names; inside an installed package, else beside it."""
    package = Path(paths.__file__).resolve().parent
    for folder in (package / "examples", package.parent / "examples", paths.resources() / "examples"):
        if files := tuple(sorted(folder.glob(f"*{SUFFIX}"))):
            return files
    return ()


def title_of_example(path: Path) -> str:
    """``3 linear regression`` for ``03_linear_regression.gsg``."""
    number, _, rest = path.stem.partition("_")
    words = rest.replace("_", " ")
    return f"{int(number)}  {words}" if number.isdigit() and words else path.stem.replace("_", " ")


def file_rows(c: FileCommands) -> tuple[Row, ...]:
    """Opening, saving, exporting."""
    return (
        ActionRow(
            "file.new", "New", "File", 1, c.new, (Key.New,), "new", tooltip="An empty document in a tab of its own"
        ),
        ActionRow("file.open", "Open…", "File", 1, c.open, (Key.Open,), "open", tooltip="Open a document"),
        ActionRow("file.import_module", "Import module…", "File", 1, c.import_module, tooltip=MODULE_TIP),
        ActionRow("file.import_data", "Import data…", "File", 1, c.import_data, tooltip=DATA_TIP),
        ActionRow("file.import_pictures", PICTURES, "File", 1, c.import_pictures, tooltip=PICTURES_TIP),
        MenuRow("Open recent", "File", 1, c.fill_recent),
        MenuRow("Examples", "File", 1, c.fill_examples),
        ActionRow("file.save", "Save", "File", 2, c.save, (Key.Save,), "save"),
        ActionRow("file.save_as", "Save as…", "File", 2, c.save_as, ("Ctrl+Shift+S",)),
        ActionRow("file.export_python", "Export Python…", "File", 3, c.export_python, ("Ctrl+E",), "export_python"),
        ActionRow("file.export_picture", "Export picture…", "File", 3, c.export_picture, (), "export_picture"),
    )


def quit_row(c: FileCommands) -> ActionRow:
    """The end."""
    return ActionRow("file.quit", "Quit", "File", 5, c.quit, ("Ctrl+Q",), "quit")
