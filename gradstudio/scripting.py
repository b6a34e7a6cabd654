"""What a person's own script asks of GradStudio: `draw`, `record`, `show`. Nothing heavy is loaded before that."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor, nn

    from gradstudio.protocol.sketch import Sketch
    from gradstudio.scene.sketch.sketch_picture import Theme

_LAUNCH = """
import subprocess, sys
subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, start_new_session=True)
"""
"""Starts a program and ends, so that the program is nobody's child."""
THEMES: "tuple[Theme, ...]" = ("auto", "light", "dark")


class SketchPicture:
    """A picture that a notebook shows by itself and that `save` writes."""

    def __init__(self, sketch: "Sketch", theme: "Theme") -> None:
        """Of a sketch; "auto" is light or dark as the reader's system is."""
        self.sketch = sketch
        self.theme = theme

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it as an SVG file.

        Raises:
            ValueError: the name does not end in .svg.
            CannotSave: it cannot be written.
        """
        from gradstudio.document.atomic_write import write_file

        if Path(path).suffix.lower() != ".svg":
            raise ValueError(f"{os.fspath(path)}: the picture is an SVG, so the name must end in .svg.")
        write_file(Path(path), f'<?xml version="1.0" encoding="UTF-8"?>\n{self._repr_svg_()}\n'.encode())

    def _repr_svg_(self) -> str:
        from gradstudio.scene.sketch.sketch_picture import sketch_svg

        return sketch_svg(self.sketch, self.theme)

    def _repr_html_(self) -> str:
        return f'<div style="overflow:auto">{self._repr_svg_()}</div>'

    def __repr__(self) -> str:
        count = len(self.sketch.nodes)
        notes = "".join(f" {escape(note, quote=False)}" for note in self.sketch.notes)
        return f"<autograd's graph: {count} nodes.{notes}>"


def record(path: str | os.PathLike[str], *, level: int | None = None) -> AbstractContextManager[None]:
    """Record what runs inside: ``with gradstudio.record("step.gsg"):`` around a step of a training.

    Behind it the file holds the drawing of the step, and `step.record` beside it its values and gradients;
    ``gradstudio step.gsg`` opens both, and runs nothing.

    Args:
        path: of the document.
        level: calls of modules deeper than this are drawn as one card each (1: the model is a frame, what it calls are
            cards in it). None: four or more alike modules of a model are a card each, and where the step has
            more than 120 calls, others are as deep as there is room.

    Raises:
        ValueError: `level` is none, or the name does not end in .gsg.
        CannotSave: it cannot be written.
    """
    from gradstudio.engine.record.step_record import record_step

    if Path(path).suffix != ".gsg":
        raise ValueError(f"{os.fspath(path)}: a record is a document, so the name must end in .gsg.")
    if level is not None and level < 1:
        raise ValueError(f"level={level}: at least the first level is drawn.")
    return record_step(Path(path), level)


def show(
    what: object,
    *inputs: Any,
    params: "Mapping[str, Tensor] | Iterable[tuple[str, Tensor]] | nn.Module | None" = None,
    limit: int = 200,
    **keywords: Any,
) -> Path:
    """Open the window, in a process of its own, on a forward of a module or on what autograd holds behind a tensor.

    It returns at once. As `draw` it changes nothing of yours.

    Args:
        what: a module or function, which is called once with `inputs`; a tensor, or tensors in a list or dict.
        params: names for leaves of tensors: a module, a dict, or `named_parameters()`; None: the variables around.
        limit: of what autograd holds at most so many nodes are shown, those nearest to the result.

    Returns:
        The document that is shown, in a temporary folder.

    Raises:
        ValueError: inputs for something that takes none, or `limit` is none.
        CannotTry: there is no tensor to show.
    """
    from gradstudio.engine.record.graph_document import write_graph_document
    from gradstudio.engine.record.step_record import record_forward
    from gradstudio.engine.sketch.caller_names import names_around
    from gradstudio.engine.sketch.sketching import sketch_tensors

    _refuse(what, inputs or keywords, limit)
    path = Path(tempfile.mkdtemp(prefix="gradstudio-")) / "shown.gsg"
    if callable(what):
        record_forward(path, what, inputs, keywords)
    else:
        named = names_around(sys._getframe(1)) if params is None else params
        write_graph_document(sketch_tensors(what, named, limit=limit), path, "what autograd holds")
    command = [sys.executable, "-m", "gradstudio", str(path)]
    subprocess.run([sys.executable, "-c", _LAUNCH, *command], check=True)
    return path


def _refuse(what: object, inputs: object, limit: int) -> None:
    if limit < 1:
        raise ValueError(f"limit={limit}: at least one node is drawn.")
    if inputs and not callable(what):
        raise ValueError("Only a module or a function takes inputs: draw(loss), or draw(model, x).")


def draw(
    what: object,
    *inputs: Any,
    params: "Mapping[str, Tensor] | Iterable[tuple[str, Tensor]] | nn.Module | None" = None,
    saved: bool = False,
    fold: bool = True,
    limit: int = 200,
    theme: "Theme" = "auto",
    **keywords: Any,
) -> SketchPicture:
    """A picture of what autograd holds behind a tensor, or behind what a module makes of its inputs.

    It changes nothing: no gradient, no random number, no buffer, no hook, and no graph is freed.

    Args:
        what: a tensor, tensors in a list or dict, or a module or function that is called once with `inputs`.
        params: names for leaves: a module, a dict, or `named_parameters()`. Of a module that is drawn its own; of
            tensors, where none are given, those of the variables around the call.
        saved: show what each function keeps for its backward.
        fold: draw layers in a row that are alike once, with their number.
        limit: at most so many nodes are drawn, those nearest to the result.
        theme: "light", "dark", or "auto": as the reader's system is.

    Raises:
        ValueError: `theme` or `limit` is none.
        CannotTry: there is no tensor to draw, or the module has lazy layers that no call has made yet.
    """
    from gradstudio.engine.sketch.caller_names import names_around
    from gradstudio.engine.sketch.sketching import sketch_forward, sketch_tensors

    if theme not in THEMES:
        raise ValueError(f"theme={theme!r}: it is one of {', '.join(map(repr, THEMES))}.")
    _refuse(what, inputs or keywords, limit)
    if callable(what):
        sketch = sketch_forward(what, inputs, keywords, names=params, saved=saved, limit=limit, fold=fold)
    else:
        named = names_around(sys._getframe(1)) if params is None else params
        sketch = sketch_tensors(what, named, saved=saved, limit=limit)
    return SketchPicture(sketch, theme)
