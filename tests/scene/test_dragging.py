"""A drag shows things elsewhere and leaves the graph alone; wires follow, frames stay until they are let go."""

import numpy as np

from gradstudio.graph import recipes
from tests.helpers.drawing import Drawing


def test_dragged_cards_are_elsewhere_until_they_are_let_go(drawing: Drawing) -> None:
    x, y, z = drawing.chain("torch.randn", "torch.relu", "torch.exp")
    scene, places = drawing.scene, dict(drawing.graph.places)
    before, paths = scene.placement.bounds.copy(), scene.routes.paths.copy()
    revision = scene.state.geometry_revision
    scene.drag.show({z: (600.0, 400.0)})
    assert (drawing.box(z).x, drawing.box(z).y) == (600, 400)
    assert scene.state.geometry_revision > revision
    assert drawing.graph.places == places
    first, second = (scene.wiring.index[wire] for wire in scene.wiring.wires)
    assert (scene.routes.paths[first] == paths[first]).all(), "it touches nothing that moved"
    assert scene.routes.paths[second, -1].tolist() == list(drawing.input(z))
    assert (drawing.box(x).x, drawing.box(y).x) == (0, 300)
    scene.drag.let_go()
    assert (scene.placement.bounds == before).all()
    assert np.allclose(scene.routes.paths, paths)


def test_a_frame_stays_while_its_members_are_dragged_and_moves_when_it_is_dragged_whole(drawing: Drawing) -> None:
    inside, beside, other = (drawing.add("torch.randn", x, 200) for x in (0, 300, 1200))
    drawing.do(recipes.wrap(drawing.graph, (inside, beside), "no_grad"))
    (block,) = drawing.graph.blocks
    drawing.do(recipes.wrap(drawing.graph, (other,), "no_grad"))
    (elsewhere,) = set(drawing.graph.blocks) - {block}
    scene = drawing.scene
    before = scene.placement.frames[block].box
    scene.drag.hold((elsewhere,))
    scene.drag.show({beside: (350.0, 260.0), other: (1250.0, 200.0)})
    assert scene.placement.frames[block].box == before, "it is held"
    scene.drag.let_go()
    scene.drag.hold((block,))
    scene.drag.show({inside: (50.0, 250.0), beside: (350.0, 250.0)})
    moved = scene.placement.frames[block].box
    assert (moved.x - before.x, moved.y - before.y) == (50, 50)
    scene.drag.let_go()
    assert scene.placement.frames[block].box == before


def test_another_graph_is_not_dragged(drawing: Drawing) -> None:
    item = drawing.add("torch.randn", 0, 200)
    drawing.scene.drag.show({item: (500.0, 500.0)})
    drawing.scene.rebuild()
    assert (drawing.box(item).x, drawing.box(item).y) == (0, 200)


def test_notes_are_dragged_by_their_keys(drawing: Drawing) -> None:
    item = drawing.add("torch.randn", 0, 200)
    drawing.do(recipes.set_note(drawing.graph, item, "words"))
    note = drawing.scene.placement.notes[item]
    drawing.scene.drag.show({note.key: (500.0, 20.0)})
    box = drawing.scene.placement.notes[item].box
    assert (box.x, box.y) == (500, 20)
    drawing.scene.drag.let_go()
    assert drawing.scene.placement.notes[item] == note
