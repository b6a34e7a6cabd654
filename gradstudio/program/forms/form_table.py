"""Table: the forms a program can be written in; the window's dialog, the command line and the export read them here.

A writer is imported when it is asked to write: the command line knows all forms before it has read a document.
"""

from typing import TYPE_CHECKING, Protocol

import msgspec

if TYPE_CHECKING:
    from gradstudio.graph.model import Graph


class Writer(Protocol):
    """Writes a program in one form."""

    def __call__(self, graph: "Graph", stem: str, report: bool | None = None) -> str:
        """The text of a graph for a file with this stem; `report` as for `Form`.

        Raises:
            NoForm: the form cannot express it.
        """


class Form(msgspec.Struct, frozen=True):
    """One kind of file.

    Attributes:
        name: how the command line calls it.
        title: how the window calls it, with `summary` in a line below.
        kind: what such files are called where one is asked for.
        suffix: of the file, with its dot.
        write: the text of a graph for a file with this stem, all values printed at its end if `report` says so, or
            None and `reports_by_itself`.
        shown: that text for a person to read and copy, where it is another.
        reports: it can print all values at its end.
    """

    name: str
    title: str
    summary: str
    kind: str
    suffix: str
    write: Writer
    shown: Writer | None = None
    reports: bool = True

    def preview(self, graph: "Graph", stem: str, report: bool | None = None) -> str:
        """The text as a person reads it; raises `NoForm`."""
        return (self.shown or self.write)(graph, stem, report)


def reports_by_itself(graph: "Graph") -> bool:
    """Whether the end of a file prints all values where nobody says; a program read from a file has its own prints."""
    if not graph.original:
        return True
    from gradstudio.program.original.original_script import ends_with_report

    return ends_with_report(graph)


def form_named(name: str) -> Form:
    """The form of that name.

    Raises:
        KeyError: there is none.
    """
    return next((form for form in FORMS if form.name == name), None) or _missing(name)


def _missing(name: str) -> Form:
    raise KeyError(name)


def _script(graph: "Graph", stem: str, report: bool | None = None) -> str:
    from gradstudio.program.write import write

    ends = _ends(graph, report)
    if graph.original:
        from gradstudio.program.original.original_script import original_script

        return original_script(graph, stem, report=ends).text
    script = write(graph, stem=stem)
    return script.text if ends else script.code


def _module(graph: "Graph", stem: str, report: bool | None = None) -> str:
    from gradstudio.program.forms.module_class import write_module

    return write_module(graph, stem=stem, report=_ends(graph, report))


def _training(graph: "Graph", stem: str, report: bool | None = None) -> str:
    from gradstudio.program.forms.training.training_forms import write_training

    return write_training(graph, stem=stem)


def _notebook(graph: "Graph", stem: str, report: bool | None = None) -> str:
    from gradstudio.program.forms.notebook import write_notebook

    return write_notebook(graph, stem=stem, report=_ends(graph, report))


def _cells(graph: "Graph", stem: str, report: bool | None = None) -> str:
    from gradstudio.program.forms.notebook import write_cells

    return write_cells(graph, stem=stem, report=_ends(graph, report))


def _ends(graph: "Graph", report: bool | None) -> bool:
    return reports_by_itself(graph) if report is None else report


FORMS: tuple[Form, ...] = (
    Form(
        "script",
        "Script",
        "The statements as they stand; of an opened file, as they were typed.",
        "Python",
        ".py",
        _script,
    ),
    Form(
        "module",
        "Module",
        "An nn.Module with its parameters, and a main part that gives the values of the canvas.",
        "Python",
        ".py",
        _module,
    ),
    Form(
        "train",
        "Training script",
        "Trains the program's parameters, with checkpoints; in several processes under torchrun.",
        "Python",
        ".py",
        _training,
        reports=False,
    ),
    Form(
        "notebook",
        "Notebook",
        "A Jupyter notebook: notes as text, paragraphs as cells.",
        "Jupyter notebooks",
        ".ipynb",
        _notebook,
        _cells,
    ),
)
"""In the order shown; the first is written where none is named."""
