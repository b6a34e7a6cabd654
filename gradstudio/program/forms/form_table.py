"""Table: the forms a program can be written in; menus, the command line and the export read them here."""

from collections.abc import Callable

import msgspec

from gradstudio.graph.model import Graph
from gradstudio.program.forms.module_class import write_module
from gradstudio.program.forms.notebook import write_cells, write_notebook
from gradstudio.program.forms.training.training_script import write_training
from gradstudio.program.write import write_script


class Form(msgspec.Struct, frozen=True):
    """One kind of file.

    Attributes:
        name: how the command line calls it.
        title: how the window calls it, with `summary` in a line below.
        suffix: of the file, with its dot.
        write: the text of a graph for a file with this stem; raises `NoForm` where the form cannot express it.
        shown: that text for a person to read and copy, where it is another.
    """

    name: str
    title: str
    summary: str
    suffix: str
    write: Callable[[Graph, str], str]
    shown: Callable[[Graph, str], str] | None = None

    def preview(self, graph: Graph, stem: str) -> str:
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


FORMS: tuple[Form, ...] = (
    Form(
        "script",
        "Script",
        "The statements as they stand, and a report of all values.",
        ".py",
        lambda graph, stem: write_script(graph, stem=stem),
    ),
    Form(
        "module",
        "Module",
        "An nn.Module with its parameters, and a main part that gives the values of the canvas.",
        ".py",
        lambda graph, stem: write_module(graph, stem=stem),
    ),
    Form(
        "train",
        "Training Script",
        "Trains the program's parameters, with checkpoints; in several processes under torchrun.",
        ".py",
        lambda graph, stem: write_training(graph, stem=stem),
    ),
    Form(
        "notebook",
        "Notebook",
        "A Jupyter notebook: notes as text, paragraphs as cells.",
        ".ipynb",
        lambda graph, stem: write_notebook(graph, stem=stem),
        lambda graph, stem: write_cells(graph, stem=stem),
    ),
)
