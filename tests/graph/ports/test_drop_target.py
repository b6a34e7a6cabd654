"""Wires that are dropped on a list: the whole of it, one element, or what comes between."""

import pytest

from gradstudio.graph import recipes, rules
from gradstudio.graph.card_grouping import card_groups
from gradstudio.graph.edits import Edits, apply_all
from gradstudio.graph.errors import WireRefused
from gradstudio.graph.model import Graph, ItemId
from gradstudio.program.write import write_script


class Drawing:
    """A graph and the gestures on it."""

    def __init__(self) -> None:
        self.graph = Graph()

    def do(self, edits: Edits) -> None:
        apply_all(self.graph, edits)

    def add(self, key: str) -> ItemId:
        edits, item = recipes.add_operator(self.graph, key, 0, 0)
        self.do(edits)
        return item

    def wire(self, source: ItemId, target: ItemId, port: str) -> None:
        self.do(recipes.connect(self.graph, source, 0, target, port))


@pytest.fixture
def drawing() -> Drawing:
    return Drawing()


def text(drawing: Drawing) -> str:
    return write_script(drawing.graph)


def test_an_optimizer_begins_with_one_port_for_all_parameters(drawing: Drawing) -> None:
    sgd = drawing.add("torch.optim.SGD")
    assert not drawing.graph.nodes[sgd].lengths
    assert drawing.graph.nodes[drawing.add("torch.cat")].lengths == {"tensors": 2}


@pytest.mark.parametrize("port", ["params.0", "params.1", "params.2"])
def test_a_whole_list_dropped_on_an_element_of_an_empty_one_is_the_list(drawing: Drawing, port: str) -> None:
    call = drawing.add("torch.nn.Linear")
    module = card_groups(drawing.graph).modules[call]
    parameters, sgd = drawing.add("torch.nn.Module.parameters"), drawing.add("torch.optim.SGD")
    drawing.wire(module, parameters, "self")
    drawing.do(recipes.split_list(drawing.graph, sgd, "params", 2))
    assert (sgd, port) in rules.legal_targets(drawing.graph, parameters, 0)
    drawing.wire(parameters, sgd, port)
    assert drawing.graph.wires[sgd, "params"].source == parameters
    assert not drawing.graph.nodes[sgd].lengths


def test_an_element_beside_others_takes_no_whole_list(drawing: Drawing) -> None:
    weight, pair, cat = drawing.add("torch.ones"), drawing.add("torch.unbind"), drawing.add("torch.cat")
    drawing.do(recipes.rename(drawing.graph, pair, ("parts",)))
    drawing.wire(weight, cat, "tensors.0")
    with pytest.raises(WireRefused, match="takes a tensor; this is a tuple"):
        drawing.wire(pair, cat, "tensors.1")


def test_a_module_dropped_on_params_gives_its_parameters_in_one_step(drawing: Drawing) -> None:
    call = drawing.add("torch.nn.Linear")
    module = card_groups(drawing.graph).modules[call]
    sgd = drawing.add("torch.optim.SGD")
    assert (sgd, "params") in rules.legal_targets(drawing.graph, module, 0)
    drawing.wire(module, sgd, "params")
    assert "optimizer = optim.SGD(fc.parameters())" in text(drawing)


def test_one_tensor_dropped_on_params_is_a_list_of_one(drawing: Drawing) -> None:
    weight, sgd = drawing.add("torch.ones"), drawing.add("torch.optim.SGD")
    drawing.wire(weight, sgd, "params")
    assert "optim.SGD([x])" in text(drawing)
    other = drawing.add("torch.ones")
    drawing.wire(other, sgd, "params.1")
    assert "optim.SGD([x, x2])" in text(drawing)


def test_a_module_beside_a_weight_is_refused_with_advice_that_helps(drawing: Drawing) -> None:
    call = drawing.add("torch.nn.Linear")
    module = card_groups(drawing.graph).modules[call]
    weight, sgd = drawing.add("torch.ones"), drawing.add("torch.optim.SGD")
    drawing.wire(weight, sgd, "params")
    with pytest.raises(WireRefused, match=r"parameters\(\)"):
        drawing.wire(module, sgd, "params.1")
