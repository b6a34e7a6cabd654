"""Edits that move nothing leave the arrays of the scene alone."""

from gradstudio.graph import recipes
from tests.ui.canvas.conftest import Hand


def test_another_literal_leaves_everything_in_its_place_and_a_longer_name_does_not(hand: Hand) -> None:
    canvas, store = hand.canvas, hand.canvas.store
    edits, item = recipes.add_operator(store.graph, "torch.full", 0, 0)
    store.submit(edits, "Add")
    revision, bounds = canvas.scene.state.geometry_revision, canvas.scene.placement.bounds.copy()
    assert store.attempt(recipes.set_literal, "Set", item, "fill_value", "2.5")
    assert canvas.scene.state.geometry_revision == revision
    assert (canvas.scene.placement.bounds == bounds).all()
    layout = canvas.scene.placement.layout(item)
    row = layout.input("fill_value") if layout is not None else None
    assert row is not None and row.text == "2.5"
    assert store.attempt(recipes.set_note, "Note", item, "a note")
    assert item in canvas.scene.placement.notes
    assert canvas.scene.state.geometry_revision > revision
