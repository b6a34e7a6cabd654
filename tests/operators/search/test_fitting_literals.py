"""Sizes of layers and targets of losses: torch itself takes what is proposed."""

import pytest

from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.search import fitting_literals
from gradstudio.operators.search.fitting_literals import creation_shape, layer_literals, layer_size, target_givers


def test_every_layer_of_the_table_has_the_argument_it_names() -> None:
    for key, (argument, _) in fitting_literals._LAYERS.items():
        assert load()[key].parameter(argument) is not None, key


@pytest.mark.parametrize(
    ("key", "shape", "size"),
    [
        ("torch.nn.Linear", (16, 20), ("in_features", "20")),
        ("torch.nn.Linear", (20,), ("in_features", "20")),
        ("torch.nn.Conv2d", (8, 3, 32, 32), ("in_channels", "3")),
        ("torch.nn.Conv2d", (3, 32, 32), ("in_channels", "3")),
        ("torch.nn.BatchNorm1d", (6, 8), ("num_features", "8")),
        ("torch.nn.LSTM", (5, 2, 7), ("input_size", "7")),
        ("torch.nn.Linear", (), None),
        ("torch.nn.Conv2d", (3, 32), None),
        ("torch.nn.ReLU", (3, 32), None),
    ],
)
def test_a_layer_takes_the_dimension_that_torch_calls_its_size(
    key: str, shape: tuple[int, ...], size: tuple[str, str] | None
) -> None:
    assert layer_size(key, shape) == size


def test_of_many_features_a_linear_layer_makes_more_than_eight() -> None:
    assert layer_literals("torch.nn.Linear", (1438, 64)) == {"in_features": "64", "out_features": "32"}
    assert layer_literals("torch.nn.Linear", (1438, 32)) == {"in_features": "32"}
    assert layer_literals("torch.nn.RNN", (5, 2, 64)) == {"input_size": "64"}
    assert layer_literals("torch.nn.Linear", ()) == {} == layer_literals("torch.nn.ReLU", (3, 64))


def test_a_loss_is_compared_with_what_it_takes() -> None:
    (classes,) = target_givers("torch.nn.functional.cross_entropy", "target", (16, 3))
    assert (classes.key, classes.literals) == ("torch.randint", {"high": "3", "size": "(16,)"})
    (pixels,) = target_givers("torch.nn.functional.cross_entropy", "target", (4, 3, 8, 8))
    assert pixels.literals == {"high": "3", "size": "(4, 8, 8)"}
    (numbers,) = target_givers("torch.nn.functional.mse_loss", "target", (16, 3))
    assert (numbers.key, numbers.literals) == ("torch.randn", {"size": "(16, 3)"})
    shares = target_givers("torch.nn.functional.binary_cross_entropy", "target", (16, 1))
    assert [giver.key for giver in shares] == ["torch.rand", "torch.randint"]
    assert target_givers("torch.nn.functional.cross_entropy", "input", (16, 3)) == ()
    assert target_givers("torch.relu", "target", (16, 3)) == ()
    assert target_givers("torch.nn.functional.cross_entropy", "target", None)[0].literals == {}


@pytest.mark.parametrize(
    ("key", "literals", "shape"),
    [
        ("torch.randn", {"size": "(2, 3)"}, (2, 3)),
        ("torch.zeros", {"size": "5"}, (5,)),
        ("torch.randint", {"high": "10", "size": "(16,)"}, (16,)),
        ("torch.full", {"size": "()", "fill_value": "1.0"}, ()),
        ("torch.tensor", {"data": "[1.0, 2.0, 3.0]"}, (3,)),
        ("torch.tensor", {"data": "[[1, 2], [3, 4], [5, 6]]"}, (3, 2)),
        ("torch.tensor", {"data": "1.5"}, ()),
        ("torch.tensor", {"data": "[]"}, (0,)),
        ("torch.tensor", {"data": "[[], []]"}, (2, 0)),
        ("torch.tensor", {"data": "[[1], 2]"}, None),
        ("torch.tensor", {"data": "[[1], [2, 3]]"}, None),
        ("torch.randn", {"size": "(-1, 3)"}, None),
        ("torch.randn", {"size": "(True, 3)"}, None),
        ("torch.randn", {}, None),
        ("torch.eye", {"n": "3"}, None),
    ],
)
def test_the_shape_that_is_written_in_what_makes_a_tensor(
    key: str, literals: dict[str, str], shape: tuple[int, ...] | None
) -> None:
    assert creation_shape(key, literals) == shape
