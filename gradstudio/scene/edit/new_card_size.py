"""How large an operator will be on the canvas, before it is there. No Qt."""

from typing import Final

from gradstudio.graph import recipes
from gradstudio.graph.edits import apply_all
from gradstudio.graph.model import Graph
from gradstudio.scene.results import NoResults
from gradstudio.scene.scene import Scene

FRESH_SIZE: Final = (200.0, 240.0)


def new_card_size(scene: Scene, key: str) -> tuple[float, float]:
    """Width and height that an operator fresh from the library takes, a module with its call."""
    if not key:
        return FRESH_SIZE
    graph = Graph()
    edits, _ = recipes.add_operator(graph, key, 0, 0)
    apply_all(graph, edits)
    alone = Scene(graph, NoResults(), scene.state.shown, scene.state.meter).placement.extent()
    return (alone.width, alone.height) if alone is not None else FRESH_SIZE
