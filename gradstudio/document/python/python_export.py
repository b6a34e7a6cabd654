"""A document as a Python file on disk, with the data that it loads beside it, or its graph for other tools. No Qt."""

from pathlib import Path

from gradstudio.document.atomic_write import write_file
from gradstudio.document.file import tensor_folder, write_tensors
from gradstudio.document.python.python_document import encode_python
from gradstudio.graph.model import Graph
from gradstudio.graph.structure.graph_export import FORMATS, format_named
from gradstudio.graph.text.code_names import names_of_code
from gradstudio.graph.text.code_records import unbound_names
from gradstudio.program.compile import compile_graph
from gradstudio.program.errors import NoForm
from gradstudio.program.forms.form_table import FORMS, form_named
from gradstudio.program.forms.training.distributed_training import joins_processes

GRAPHS = frozenset(one.name for one in FORMATS)
"""Names of the formats that hold the graph alone, and load nothing."""
MOST_NAMES = 5
"""So many names are listed."""


def write_export(graph: Graph, path: Path, form: str = "script", report: bool | None = None) -> None:
    """Write a form of the program to `path` and its stored tensors to `<stem>.tensors` beside it.

    A format of its graph is written alone: it loads nothing. `report`: print all values at the end; None: where the
    program was not read from a file with prints of its own.

    Raises:
        NoForm: the form cannot express the program; nothing was written.
        CannotSave: the system refused; an older file is whole.
    """
    data = export_bytes(graph, form, path.stem, report)
    if form not in GRAPHS:
        write_tensors(graph.tensors.values(), tensor_folder(path))
    write_file(path, data)


def write_training(graph: Graph, path: Path) -> bool:
    """Write what torchrun runs of a program: its training script, or the program itself where it joins its processes.

    Returns whether it is the program itself, which has no checkpoint to go on from.

    Raises:
        NoForm, CannotSave: as `write_export`.
    """
    is_itself = joins_processes(graph, stem=path.stem)
    if is_itself:
        write_export(graph, path, "script", report=False)
    else:
        write_export(graph, path, "train")
    return is_itself


def export_bytes(graph: Graph, form: str, stem: str, report: bool | None = None) -> bytes:
    """What a file with this stem holds of a form of the program, or of a format of its graph; `report` as above.

    Raises:
        NoForm: the form cannot express the program.
        KeyError: there is neither a form nor a format of that name.
    """
    if form in GRAPHS:
        return format_named(form).write(graph, stem).encode()
    text = form_named(form).write(graph, stem, report)
    return encode_python(text) if graph.original and form == FORMS[0].name else text.encode()


def words_beside(graph: Graph, form: str, stem: str) -> str:
    """What to tell of a script: that more is printed anew than was edited, what it lacks to run; "" for nothing."""
    if form in GRAPHS:
        return ""
    if not graph.original:
        return _lacking(graph)
    if form != FORMS[0].name:
        return ""
    from gradstudio.program.original.original_script import original_script

    return original_script(graph, stem, report=False).anew


def _lacking(graph: Graph) -> str:
    """The names that code on cards reads and no statement binds."""
    program = compile_graph(graph)
    names = unbound_names(names_of_code(program.code)) if program.codes else ()
    if not names:
        return ""
    listed = ", ".join(f"'{name}'" for name in names[:MOST_NAMES]) + (", …" if len(names) > MOST_NAMES else "")
    are = "is bound" if len(names) == 1 else "are bound"
    return (
        f"It does not run as it is: {listed} {are} nowhere in it. Import or define what is meant, above its first use."
    )


def export_failure(error: Exception, target: object, missing: str) -> str:
    """Why a program was not written to its target; `missing` says that it has no such form, without the reason."""
    if isinstance(error, NoForm):
        return f"{missing}: {error}"
    return f"{'standard output' if target in (None, '-') else target}: could not be written: {error}"
