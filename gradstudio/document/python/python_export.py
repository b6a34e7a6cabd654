"""A document as a Python file on disk, with the data that it loads beside it, or its graph for other tools. No Qt."""

from pathlib import Path

from gradstudio.document.atomic_write import write_file
from gradstudio.document.file import tensor_folder, write_tensors
from gradstudio.graph.model import Graph
from gradstudio.graph.structure.graph_export import FORMATS, format_named
from gradstudio.program.forms.form_table import form_named

GRAPHS = frozenset(one.name for one in FORMATS)
"""Names of the formats that hold the graph alone, and load nothing."""


def write_export(graph: Graph, path: Path, form: str = "script") -> None:
    """Write a form of the program to `path` and its stored tensors to `<stem>.tensors` beside it.

    A format of its graph is written alone: it loads nothing.

    Raises:
        NoForm: the form cannot express the program; nothing was written.
        CannotSave: the system refused; an older file is whole.
    """
    text = export_text(graph, form, path.stem)
    if form not in GRAPHS:
        write_tensors(graph.tensors.values(), tensor_folder(path))
    write_file(path, text.encode())


def export_text(graph: Graph, form: str, stem: str) -> str:
    """The text of a form of the program, or of a format of its graph, for a file with this stem.

    Raises:
        NoForm: the form cannot express the program.
        KeyError: there is neither a form nor a format of that name.
    """
    return format_named(form).write(graph, stem) if form in GRAPHS else form_named(form).write(graph, stem)
