"""``gradstudio render``: a document as a picture file, with what a run of it said; no window is opened."""

import argparse
import os
import sys
from collections.abc import Iterable
from pathlib import Path

from gradstudio.graph.model import Graph
from gradstudio.protocol.messages.events import Event
from gradstudio.scene.overlay_registry import Shown
from gradstudio.ui.pictures.errors import PictureRefused

FINE, FAILED = 0, 1
SCALE = 2.0
"""Picture pixels a scene pixel: sharp on any screen."""


def write_picture(graph: Graph, events: Iterable[Event], options: argparse.Namespace) -> int:
    """Draw the canvas, or what is asked of it, into a file.

    Args:
        graph: what is drawn.
        events: what the engine said while it ran the graph; none for a canvas without results.
        options: of the command line; `style` and `theme` are decided.
    """
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    from PySide6.QtWidgets import QApplication

    from gradstudio.ui import theme as themes
    from gradstudio.ui.pictures import picture_files
    from gradstudio.ui.pictures.moments import items_called, tick_of_moment, tick_of_step
    from gradstudio.ui.pictures.picture_request import PictureRequest, Subject
    from gradstudio.ui.pictures.recorded_results import recorded_results

    application = QApplication.instance() or QApplication(sys.argv[:1])
    theme = themes.theme("light" if options.theme == "light" else "dark")
    themes.apply(application, theme)  # type: ignore[arg-type]  # a QApplication, which `instance` does not say
    results, path = recorded_results(graph, events), Path(options.output)
    try:
        only = frozenset(items_called(graph, options.only.split(","))) if options.only else None
        if options.step is not None:
            results.attention.look_at(tick_of_step(results.timeline, options.step))
        elif options.moment:
            results.attention.look_at(tick_of_moment(results.timeline, graph, options.moment))
        subject = Subject(graph, results, only, None, Path(options.file).stem)
        request = PictureRequest(options.style, theme, SCALE, _shown(options), not options.transparent, options.width)
        note = picture_files.write_picture(subject, request, path)
    except PictureRefused as refusal:
        print(f"{options.file}: {refusal}.", file=sys.stderr)  # noqa: T201
        return FAILED
    except OSError as error:
        print(f"{path}: could not be written: {error.strerror or error}", file=sys.stderr)  # noqa: T201
        return FAILED
    if note:
        print(f"{path}: {note}", file=sys.stderr)  # noqa: T201
    return FINE


def _shown(options: argparse.Namespace) -> Shown:
    """The overlays: of a run its values and gradients, and what is asked for beside them."""
    at_moment = options.step is not None or bool(options.moment)
    if options.style == "window":
        return Shown(wire_gradients=options.gradients or at_moment)
    told = options.run or at_moment
    return Shown(
        values=options.values or told,
        shapes=options.shapes,
        gradients=options.gradients or told,
        wire_gradients=options.gradients,
    )
