"""Table: the forms a program can be written in; the window's dialog, the command line and the export read them here.

A writer is imported when it is asked to write: the command line knows all forms before it has read a document.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from gradstudio.graph.model import Graph


class Form(msgspec.Struct, frozen=True):
    """One kind of file.

    Attributes:
        name: how the command line calls it.
        title: how the window calls it, with `summary` in a line below.
        kind: what such files are called where one is asked for.
        suffix: of the file, with its dot.
        write: the text of a graph for a file with this stem; raises `NoForm` where the form cannot express it.
        shown: that text for a person to read and copy, where it is another.
    """

    name: str
    title: str
    summary: str
    kind: str
    suffix: str
    write: "Callable[[Graph, str], str]"
    shown: "Callable[[Graph, str], str] | None" = None

    def preview(self, graph: "Graph", stem: str) -> str:
        """The text as a person reads it; raises `NoForm`."""
        return (self.shown or self.write)(graph, stem)


def form_named(name: str) -> Form:
    """The form of that name.

    Raises:
        KeyError: there is none.
    """
    return next((form for form in FORMS if form.name == name), None) or _missing(name)


def _missing(name: str) -> Form:
    raise KeyError(name)


def _script(graph: "Graph", stem: str) -> str:
    from gradstudio.program.write import write_script

    return write_script(graph, stem=stem)


def _module(graph: "Graph", stem: str) -> str:
    from gradstudio.program.forms.module_class import write_module

    return write_module(graph, stem=stem)


def _training(graph: "Graph", stem: str) -> str:
    from gradstudio.program.forms.training.training_forms import write_training

    return write_training(graph, stem=stem)


def _notebook(graph: "Graph", stem: str) -> str:
    from gradstudio.program.forms.notebook import write_notebook

    return write_notebook(graph, stem=stem)


def _cells(graph: "Graph", stem: str) -> str:
    from gradstudio.program.forms.notebook import write_cells

    return write_cells(graph, stem=stem)


FORMS: tuple[Form, ...] = (
    Form("script", "Script", "The statements as they stand, and a report of all values.", "Python", ".py", _script),
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
