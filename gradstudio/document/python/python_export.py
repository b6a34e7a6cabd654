"""A document as a Python file on disk, with the data that it loads beside it. No Qt here."""

from pathlib import Path

from gradstudio.document.atomic_write import write_file
from gradstudio.document.file import tensor_folder, write_tensors
from gradstudio.graph.model import Graph
from gradstudio.program.forms.form_table import form_named


def write_export(graph: Graph, path: Path, form: str = "script") -> None:
    """Write a form of the program to `path` and its stored tensors to `<stem>.tensors` beside it.

    Raises:
        NoForm: the form cannot express the program; nothing was written.
        CannotSave: the system refused; an older file is whole.
    """
    text = form_named(form).write(graph, path.stem)
    write_tensors(graph.tensors.values(), tensor_folder(path))
    write_file(path, text.encode())
