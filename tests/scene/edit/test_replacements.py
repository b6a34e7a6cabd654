"""What can stand where a node stands, and what would be lost by it."""

from gradstudio.operators.catalogue.loader import load
from gradstudio.scene.edit.replacements import Costs, can_replace, similar_operators
from tests.graph.builder import Drawing


def drawn() -> tuple[Drawing, str]:
    drawing = Drawing()
    x = drawing.add("torch.ones", name="x", size="(2, 3)")
    y = drawing.add("torch.sum", x, name="y", dim="0")
    drawing.add("torch.exp", y, name="z")
    return drawing, y


def test_what_takes_and_gives_a_tensor_can_stand_there_and_a_layer_cannot() -> None:
    drawing, y = drawn()
    fits = can_replace(drawing.graph, y)
    assert fits(load()["torch.mean"])
    assert not fits(load()["torch.sum"])
    assert not fits(load()["torch.nn.Linear"])


def test_what_has_no_place_is_named_and_counted() -> None:
    drawing, y = drawn()
    costs = Costs(drawing.graph, y)
    assert costs.count("torch.mean") == 0 and costs.words("torch.mean") == ""
    assert costs.count("torch.relu") >= 1 and costs.words("torch.relu").startswith("loses ")


def test_similar_operators_are_of_the_catalogue() -> None:
    assert all(load().get(key) is not None for key in similar_operators(load()["torch.sum"]))
