"""A document as a Python script on disk, with the data that it loads beside it. No Qt here."""

from pathlib import Path

from gradstudio.document.atomic import write_file
from gradstudio.document.file import tensor_folder, write_tensors
from gradstudio.graph.model import Graph
from gradstudio.program.write import write_script


def write_export(graph: Graph, path: Path) -> None:
    """Write the script to `path` and its stored tensors to `<stem>.tensors` beside it.

    Raises:
        CannotSave: the system refused; an older script is whole.
    """
    write_tensors(graph.tensors.values(), tensor_folder(path))
    write_file(path, write_script(graph, stem=path.stem).encode())
