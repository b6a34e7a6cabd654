"""What items are called in messages, on the timeline and in every panel."""

import msgspec
import pytest

from gradstudio.graph.model import Node
from gradstudio.graph.names import node_title
from gradstudio.graph.ports.item_ports import operator_of
from gradstudio.graph.text.item_titles import title, title_with_target
from tests.graph.builder import Drawing


@pytest.mark.parametrize(
    ("key", "shown"),
    [("operator.iadd", "x +="), ("operator.pow", "**"), ("operator.matmul", "@"), ("torch.Tensor.mul_", "mul_")],
)
def test_a_node_without_a_name_is_called_what_its_card_shows(key: str, shown: str):
    d = Drawing()
    item = d.add(key, d.add("torch.ones", name="x"), name="_")
    operator = operator_of(d.graph, item)
    assert operator is not None
    assert title(d.graph, item) == shown == title_with_target(d.graph, item, operator)


def test_a_node_that_sets_an_attribute_is_called_by_that():
    d = Drawing()
    item = d.add("python.set_attribute", d.add("torch.nn.Linear", name="net"))
    d.graph.nodes[item] = msgspec.structs.replace(d.graph.nodes[item], literals={"name": "fc"})
    operator = operator_of(d.graph, item)
    assert operator is not None
    assert title_with_target(d.graph, item, operator) == "net.fc ="
    assert title(d.graph, item) == "net.fc ="


def test_a_name_goes_before_the_operator_and_an_unknown_operator_by_its_last_word():
    assert node_title(Node(id="n1", operator="operator.iadd", names=("y", "_"))) == "y"
    assert node_title(Node(id="n1", operator="operator.iadd", names=("_",))) == "+="
    assert node_title(Node(id="n1", operator="torch.not_there.thing")) == "thing"
