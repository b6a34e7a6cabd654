"""``gradstudio render``: a document as a picture file, with what a run of it said; no window is opened."""

import os
import sys
from collections.abc import Iterable
from pathlib import Path

from gradstudio.advice.explanation import explain
from gradstudio.graph.model import Graph
from gradstudio.protocol.messages.events import Event, Failed, Gradients, Traced, Warned

FINE, FAILED = 0, 1
SCALE = 2.0
"""Picture pixels a scene pixel: sharp on any screen."""


def write_picture(graph: Graph, events: Iterable[Event], path: Path, theme_name: str) -> int:
    """Draw the whole canvas into a PNG, SVG or PDF file.

    Args:
        graph: what is drawn.
        events: what the engine said while it ran the graph; none for a canvas without results.
        path: ends in .png, .svg or .pdf.
        theme_name: "light" or "dark".
    """
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    from PySide6.QtWidgets import QApplication

    from gradstudio.ui import theme as themes
    from gradstudio.ui.canvas.paint.picture_export import save_picture
    from gradstudio.ui.state.results.failure import Failure
    from gradstudio.ui.state.results.result_store import ResultStore

    application = QApplication.instance() or QApplication(sys.argv[:1])
    theme = themes.theme("light" if theme_name == "light" else "dark")
    themes.apply(application, theme)  # type: ignore[arg-type]  # a QApplication, which `instance` does not say
    results = ResultStore()
    for event in events:
        match event:
            case Traced(rows=rows):
                results.tables.add_rows(rows)
            case Gradients(rows=gradients, whole=whole):
                results.tables.set_gradients(gradients, whole)
            case Warned():
                results.tables.add_warning(event)
            case Failed():
                advice = explain(event, graph)
                results.tables.add_failure(Failure(event, advice.explanation, advice.fixes))
            case _:
                pass
    results.tables.set_counter(results.next_node)
    try:
        save_picture(graph, results, theme, path, SCALE)
    except OSError as error:
        print(f"{path}: could not be written: {error.strerror or error}", file=sys.stderr)  # noqa: T201
        return FAILED
    return FINE
