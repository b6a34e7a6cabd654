"""Inputs with a default stand where Python takes them, however the inputs of a group are changed; calls follow."""

import ast

import pytest

from gradstudio.graph.boundary_cards import INPUTS_CARD
from gradstudio.graph.edits import SetDefinition, apply, apply_all
from gradstudio.graph.groups.definitions import definition_reason
from gradstudio.graph.groups.group_view import boundary_edits, close_group, open_group, rearrange_inputs
from gradstudio.graph.model import Graph
from gradstudio.program.reading.reader import read_script
from gradstudio.program.write import write_script

FUNCTION = """import torch


def scale(a, b=2.0):
    return a * b


x = torch.ones(2)
y = scale(x)
z = scale(x, 3.0)
"""
MODULE = """import torch
from torch import nn


class Scale(nn.Module):
    def __init__(self, n, k=3):
        super().__init__()
        self.layer = nn.Linear(n, k)

    def forward(self, a, b=2.0):
        return self.layer(a) * b


x = torch.ones(2)
scale = Scale(2)
y = scale(x, 3.0)
z = scale(x, b=4.0)
"""


def rearranged(text: str, name: str, kept: tuple[tuple[str, int], ...]) -> Graph:
    """The program after its group has inputs of these names, each with the number of the one it goes on."""
    root = read_script(text).graph
    shown = open_group(root, name)
    apply_all(shown, rearrange_inputs(shown, kept))
    apply_all(shown, boundary_edits(shown))
    apply_all(root, close_group(root, name, shown))
    ast.parse(write_script(root))
    return root


@pytest.mark.parametrize(
    ("kept", "head"),
    [
        ((("a", 0), ("b", 1), ("c", -1)), "def scale(a, c, b=2.0):\n    return a * b"),
        ((("b", 1), ("a", 0)), "def scale(a, b=2.0):\n    return a * b"),
        ((("a", 0), ("q", 1), ("c", -1)), "def scale(a, c, q=2.0):\n    return a * q"),
        ((("c", -1), ("a", 0), ("b", 1)), "def scale(c, a, b=2.0):\n    return a * b"),
    ],
)
def test_an_input_without_a_default_stands_before_those_with_one(kept: tuple[tuple[str, int], ...], head: str) -> None:
    assert head in write_script(rearranged(FUNCTION, "scale", kept))


def test_calls_of_a_function_give_their_inputs_what_they_gave() -> None:
    script = write_script(rearranged(FUNCTION, "scale", (("a", 0), ("q", 1), ("c", -1))))
    assert "# z = scale(x, ..., q=3.0)  # 'c' is empty" in script


def test_calls_of_a_module_give_their_inputs_what_they_gave() -> None:
    root = rearranged(MODULE, "Scale", (("n", 0), ("k", 1), ("a", 2), ("b", 3), ("c", -1)))
    script = write_script(root)
    assert "def __init__(self, n, k=3):" in script
    assert "def forward(self, a, c, b=2.0):" in script
    assert "# y = scale(x, c=..., b=3.0)  # 'c' is empty" in script
    assert "# z = scale(x, c=..., b=4.0)  # 'c' is empty" in script


def test_an_input_of_a_module_that_is_renamed_or_taken_away_goes_on_at_its_calls() -> None:
    renamed = rearranged(MODULE, "Scale", (("n", 0), ("k", 1), ("a", 2), ("factor", 3)))
    assert "y = scale(x, 3.0)\nz = scale(x, factor=4.0)" in write_script(renamed)
    without = rearranged(MODULE, "Scale", (("n", 0), ("k", 1), ("b", 3)))
    assert "# y = scale(3.0)" in write_script(without)
    assert "# z = scale(b=4.0)" in write_script(without)


def test_a_file_in_another_order_is_refused_at_the_call_in_words() -> None:
    root = read_script(FUNCTION).graph
    apply(root, SetDefinition("scale", root.definitions["scale"].but(inputs=("b", "a"))))
    assert definition_reason(root, "scale") == "its input 'a' has no default and stands behind one that has"
    ast.parse(write_script(root))


def test_a_setting_of_a_module_may_have_a_default_before_an_input_that_has_none() -> None:
    root = rearranged(MODULE, "Scale", (("n", 0), ("k", 1), ("a", 2), ("b", 3)))
    assert root.definitions["Scale"].inputs == ("n", "k", "a", "b")
    assert open_group(root, "Scale").nodes[INPUTS_CARD].names == ("n", "k", "a", "b")
