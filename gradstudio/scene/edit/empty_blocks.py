"""Blocks that lose their last statement keep their place."""

from collections.abc import Callable, Mapping
from typing import Concatenate, ParamSpec

from gradstudio.graph.edits import Edits, SetPlaces, apply_all
from gradstudio.graph.model import BodyId, Graph, ItemId, Place
from gradstudio.scene.items import Frame

P = ParamSpec("P")


def keep_frames(
    recipe: Callable[Concatenate[Graph, P], Edits], frames: Mapping[ItemId, Frame]
) -> Callable[Concatenate[Graph, P], Edits]:
    """The recipe, with every block that it empties staying where its frame is."""

    def kept(graph: Graph, /, *arguments: P.args, **named: P.kwargs) -> Edits:
        edits = recipe(graph, *arguments, **named)
        full = [item for item in graph.blocks if graph.bodies[BodyId(item)] and item in frames]
        if not full:
            return edits
        after = graph.copy()
        apply_all(after, edits)
        places: dict[str, Place | None] = {
            item: Place(round(frames[item].box.x), round(frames[item].box.y))
            for item in full
            if item in after.blocks and not after.bodies[BodyId(item)]
        }
        return (*edits, SetPlaces(places)) if places else edits

    return kept
