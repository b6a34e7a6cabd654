"""The groups a person published: a folder of documents that hold a definition each, and what it calls."""

from pathlib import Path

from PySide6.QtCore import QObject, Signal

from gradstudio.document import file
from gradstudio.document.errors import DocumentError
from gradstudio.graph.edits import apply_all
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import Graph
from gradstudio.graph.names import check

SUFFIX = ".gsg"


class PublishedGroups(QObject):
    """Reads and writes the folder; files that cannot be read are left alone.

    Signals:
        changed(): there are others now.
    """

    changed = Signal()

    def __init__(self, folder: Path, parent: QObject | None = None) -> None:
        """Keep groups in a folder, which is made when something is published."""
        super().__init__(parent)
        self._folder = folder
        self._read: dict[Path, tuple[float, Graph]] = {}

    def names(self) -> tuple[str, ...]:
        """What the published groups are called."""
        return tuple(sorted(name for name in self._names() if self.document(name) is not None))

    def document(self, name: str) -> Graph | None:
        """The document that holds a group; None when it is gone or cannot be read."""
        path = self._path(name)
        try:
            stamp = path.stat().st_mtime
            if path not in self._read or self._read[path][0] != stamp:
                self._read[path] = stamp, file.load(path)
        except (OSError, DocumentError):
            return None
        graph = self._read[path][1]
        return graph if name in graph.definitions else None

    def publish(self, graph: Graph, name: str) -> None:
        """Write a group of a document, with all that it calls; one of the same name is written anew.

        Raises:
            Refused: the folder cannot be written.
        """
        from gradstudio.graph.recipes.grouping.definition_copies import bring

        alone = Graph()
        edits, _ = bring(alone, graph, name)
        apply_all(alone, edits)
        self._write(alone, name)

    def rename(self, old: str, name: str) -> None:
        """Call a published group otherwise.

        Raises:
            Refused: the name is none, or is taken; the folder cannot be written.
        """
        from gradstudio.graph.recipes.grouping.definition_copies import renamed_group

        graph, checked = self.document(old), check(name)
        if graph is None or checked == old:
            return
        if checked in self._names():
            raise Refused(f"There is a published group '{checked}' already. Choose another name.")
        made = graph.copy()
        apply_all(made, renamed_group(made, old, checked))
        self._write(made, checked)
        self.delete(old)

    def delete(self, name: str) -> None:
        """Take a group out of the folder.

        Raises:
            Refused: it cannot be deleted.
        """
        try:
            self._path(name).unlink(missing_ok=True)
        except OSError as error:
            raise Refused(f"'{name}' cannot be deleted: {error.strerror}.") from None
        self.changed.emit()

    def _names(self) -> tuple[str, ...]:
        return tuple(path.stem for path in self._folder.glob(f"*{SUFFIX}")) if self._folder.is_dir() else ()

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}{SUFFIX}"

    def _write(self, graph: Graph, name: str) -> None:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            file.save(graph, self._path(name))
        except (OSError, DocumentError) as error:
            raise Refused(f"'{name}' cannot be published: {error}") from None
        self.changed.emit()
