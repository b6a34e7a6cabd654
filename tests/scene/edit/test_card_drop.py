"""What is dropped falls into the frame below it, and the edits take it there."""

from gradstudio.graph import recipes
from gradstudio.graph.edits import apply_all
from gradstudio.graph.model import ROOT, BodyId
from gradstudio.scene.edit.card_drop import body_at, drop_edits
from tests.helpers.drawing import Drawing


def test_a_card_is_dropped_into_a_frame_and_moved(drawing: Drawing) -> None:
    x, y = drawing.chain("torch.randn", "torch.relu")
    edits = recipes.wrap(drawing.graph, [y], "no_grad")
    apply_all(drawing.graph, edits)
    drawing.scene.rebuild()
    (block,) = drawing.graph.blocks
    box = drawing.scene.placement.frames[block].box
    assert body_at(drawing.scene, box.x + 2, box.bottom - 2) == BodyId(block)
    assert body_at(drawing.scene, box.x - 500, box.y - 500) == ROOT
    apply_all(drawing.graph, drop_edits(drawing.graph, {x: (5.0, 6.0)}, {x: BodyId(block)}))
    assert drawing.graph.parents[x] == BodyId(block)
    assert (drawing.graph.places[x].x, drawing.graph.places[x].y) == (5.0, 6.0)
