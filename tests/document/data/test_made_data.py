"""Which statements make data together, by their names and sizes."""

import pytest

from gradstudio.document.data.made_data import are_data, makers_of
from gradstudio.program.reading.reader import read_script

TEXT = """
import torch


def make(count=5):
    a = torch.rand(count, 2)
    b = torch.rand(count)
    return a, b


def one(count=5):
    a = torch.rand(count, 2)
    return a


k = 7
a, b = make()
c, d = make(count=k)
e = one()
X = torch.rand(20, 2)
y = torch.rand(20)
X_train = X[:15]
y_train = y[:15]
X_test = X[15:]
y_test = y[15:]
X_2 = torch.rand(20, 2)
X_2_val = torch.rand(20, 2)
y_2_val = torch.rand(20)
"""


@pytest.mark.parametrize(
    ("name", "makers"),
    [
        ("a", "a"),
        ("c", ""),
        ("e", ""),
        ("k", ""),
        ("X", "X y"),
        ("y", "X y"),
        ("X_train", "X_train y_train X_test y_test"),
        ("y_test", "X_train y_train X_test y_test"),
        ("X_2", ""),
        ("y_2_val", "X_2_val y_2_val"),
    ],
)
def test_they_are_found_by_their_names(name: str, makers: str) -> None:
    graph = read_script(TEXT).graph
    nodes = {node.names[0]: node.id for node in graph.nodes.values() if node.names}
    assert makers_of(graph, nodes[name]) == tuple(nodes[one] for one in makers.split())


def test_a_target_has_one_value_for_each_row() -> None:
    assert are_data(((5, 2), (5,))) and are_data(((5, 1, 8, 8), (5, 1))) and are_data(((5, 2), (5,), (3, 2), (3,)))
    assert not are_data(((5,), (5,))) and not are_data(((5, 2), (5, 2))) and not are_data(((5, 2), (4,)))
    assert not are_data(((5, 2),)) and not are_data(((5, 2), (5,), (3, 2), (4,)))
