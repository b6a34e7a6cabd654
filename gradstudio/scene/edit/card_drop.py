"""What something falls into that is dropped at a scene point, and the edits of a drop. No Qt here."""

from gradstudio.graph import recipes
from gradstudio.graph.edits import Edits, apply_all
from gradstudio.graph.model import ROOT, BodyId, Graph, ItemId
from gradstudio.scene import hit_test
from gradstudio.scene.scene import Scene


def body_at(scene: Scene, x: float, y: float, without: frozenset[ItemId] = frozenset()) -> BodyId:
    """The body that a node dropped at a scene point falls into."""
    frame = hit_test.frame_at(scene, x, y, without)
    return BodyId(frame) if frame is not None else ROOT


def drop_edits(graph: Graph, places: dict[str, tuple[float, float]], bodies: dict[ItemId, BodyId]) -> Edits:
    """Edits of a drag: new places, and other bodies where they changed.

    Raises:
        Refused: the order of the statements forbids the block.
    """
    edits = recipes.move(graph, places)
    strangers: dict[BodyId, list[ItemId]] = {}
    for item, body in bodies.items():
        if graph.parents[item] != body:
            strangers.setdefault(body, []).append(item)
    trial = graph.copy() if len(strangers) > 1 else graph
    for body, items in strangers.items():
        moved = recipes.move_into(trial, items, body)
        if trial is not graph:
            apply_all(trial, moved)
        edits = (*edits, *moved)
    return edits
