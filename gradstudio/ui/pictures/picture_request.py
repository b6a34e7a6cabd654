"""What a picture shall show, and how: what the command line and the dialog ask for alike."""

import msgspec

from gradstudio.document.file import View
from gradstudio.graph.model import Graph, ItemId
from gradstudio.scene.figure.figure_layout import PAGE
from gradstudio.scene.overlay_registry import Shown
from gradstudio.ui.pictures.picture_formats import Style
from gradstudio.ui.state.results.result_store import ResultStore
from gradstudio.ui.theme import Theme


class Subject(msgspec.Struct, frozen=True):
    """What is shown.

    Attributes:
        graph: the whole document.
        results: of a run; they stand at the moment that is shown.
        only: the items that are seen; None: all.
        view: of the window, kept in a PNG beside the document.
        title: of the document.
    """

    graph: Graph
    results: ResultStore
    only: frozenset[ItemId] | None = None
    view: View | None = None
    title: str = ""


class PictureRequest(msgspec.Struct, frozen=True):
    """How it is shown.

    Attributes:
        theme: colours of the canvas; of a paper only whether it is dark counts.
        scale: picture pixels a scene pixel, or a point.
        shown: the overlays; those that a figure knows are its values, shapes and gradients.
        is_filled: on a ground, or on none.
        widest: of a paper: so many points; what would be wider goes from above downwards.
    """

    style: Style
    theme: Theme
    scale: float = 2.0
    shown: Shown = Shown()
    is_filled: bool = True
    widest: float = PAGE
