"""How layers are written that were there before: what looks alike is tried once, what differs is told apart."""

from collections.abc import Callable

import pytest
import torch
from torch import nn

from gradstudio.engine.bring.layer_constructors import constructor_as_noted


def _text(layer: nn.Module) -> str | None:
    made = constructor_as_noted(layer)
    return made.text if made is not None else None


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: nn.Linear(3, 4), "nn.Linear(3, 4)"),
        (lambda: nn.Linear(3, 4, bias=False), "nn.Linear(3, 4, bias=False)"),
        (lambda: nn.Linear(3, 4, dtype=torch.float64), "nn.Linear(in_features=3, out_features=4, dtype=torch.float64)"),
        (lambda: nn.Conv2d(3, 4, 3), "nn.Conv2d(3, 4, 3)"),
        (lambda: nn.Conv2d(3, 4, 3, stride=2), "nn.Conv2d(3, 4, 3, stride=2)"),
        (lambda: nn.GRU(3, 4, num_layers=2), "nn.GRU(3, 4, num_layers=2)"),
        (lambda: nn.BatchNorm1d(4, momentum=None), "nn.BatchNorm1d(4, momentum=None)"),
        (lambda: nn.BatchNorm1d(4), "nn.BatchNorm1d(4)"),
    ],
)
def test_each_layer_is_told_from_those_before_it_that_differ_in_one_thing(
    make: Callable[[], nn.Module], text: str
) -> None:
    for _ in range(2):
        assert _text(make()) == text


def test_a_layer_whose_size_was_changed_by_hand_is_not_taken_for_what_it_was() -> None:
    layer = nn.Linear(3, 4)
    assert _text(layer) == "nn.Linear(3, 4)"
    layer.weight = nn.Parameter(torch.zeros(5, 3))
    assert _text(layer) is None
    layer.bias, layer.out_features = nn.Parameter(torch.zeros(5)), 5
    assert _text(layer) == "nn.Linear(3, 5)"


def test_the_dtype_of_new_layers_decides_whether_one_is_named() -> None:
    layer = nn.Linear(3, 4)
    assert _text(layer) == "nn.Linear(3, 4)"
    torch.set_default_dtype(torch.float64)
    try:
        assert _text(layer) == "nn.Linear(in_features=3, out_features=4, dtype=torch.float32)"
        assert _text(nn.Linear(3, 4)) == "nn.Linear(3, 4)"
    finally:
        torch.set_default_dtype(torch.float32)
