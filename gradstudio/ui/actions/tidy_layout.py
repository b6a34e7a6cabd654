"""Tidy: the selection where it stands, or the whole program; the cards glide to their places."""

from gradstudio.graph import recipes
from gradstudio.graph.edits import Edits, SetPlaces
from gradstudio.graph.model import Graph, ItemId
from gradstudio.ui.canvas.view import CanvasView

Sizes = dict[ItemId, tuple[float, float]]


def tidy(canvas: CanvasView) -> None:
    """Lay out what is selected, if that is more than one card, else everything; one undo entry."""
    canvas.gliding.finish()
    scene, items = canvas.scene, canvas.selection.chosen()
    sizes = {
        item: (box.width, box.height) for item in scene.stack.cards if (box := scene.placement.room(item)) is not None
    }
    before = {key: (place.x, place.y) for key, place in scene.graph.places.items()}
    seen = canvas.camera
    if len(scene.state.card_groups.cards(items)) > 1 or items & scene.graph.blocks.keys():
        canvas.store.attempt(_tidy_part, "Tidy selection", items, sizes)
    else:
        canvas.store.attempt(_tidy_all, "Tidy", sizes)
        canvas.navigation.land()
    now = canvas.camera
    canvas.gliding.start({key: now.to_scene(*seen.to_view(*at)) for key, at in before.items()})


def _tidy_all(graph: Graph, sizes: Sizes) -> Edits:
    from gradstudio.layout.tidy import is_laid_out, layout

    return () if is_laid_out(graph, sizes) else _moves(graph, layout(graph, sizes))


def _tidy_part(graph: Graph, items: frozenset[ItemId], sizes: Sizes) -> Edits:
    from gradstudio.layout.tidy import layout_part

    return _moves(graph, layout_part(graph, items, sizes))


def _moves(graph: Graph, corners: dict[str, tuple[float, float]]) -> Edits:
    """No edits when everything stands there already; wires of what moves are led anew."""
    moved = {}
    for key, at in corners.items():
        place = graph.places.get(key)
        if place is None or ((place.x, place.y) != at and not place.pinned):
            moved[key] = at
    if not moved:
        return ()
    dots = recipes.without_dots(graph, moved)
    return (*recipes.move(graph, moved), *((SetPlaces(dots),) if dots else ()))
