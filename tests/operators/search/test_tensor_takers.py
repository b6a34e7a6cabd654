"""Which shapes an operator refuses, and whether a tensor is for it: torch is asked."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.search import tensor_takers
from gradstudio.operators.search.tensor_takers import refuses, takes_tensor

SHAPES = [(), (3,), (8,), (2, 8), (3, 3), (2, 3), (3, 2), (2, 3, 3), (2, 3, 8), (2, 3, 8, 8), (2, 3, 8, 8, 8)]
FITTING: dict[str, Callable[[Tensor], object]] = {
    "mm": lambda x: torch.mm(x, x.transpose(-2, -1)),
    "mv": lambda x: torch.mv(x, torch.ones(x.shape[-1])),
    "bmm": lambda x: torch.bmm(x, x.transpose(-2, -1)),
    "matrix_power": lambda x: torch.linalg.matrix_power(x, 2),
    **{name: lambda x, name=name: getattr(torch, name)(x, x) for name in ("dot", "vdot", "outer", "ger")},
}
"""How what takes more than the tensor is called with what fits beside it."""


def call(word: str, x: Tensor) -> object:
    if word in FITTING:
        return FITTING[word](x)
    if word.startswith("conv"):  # the weight that its layer makes for the input
        return call(word.title().replace("_T", "T").replace("_t", "T").replace("D", "d"), x)
    if word.startswith(("Conv", "BatchNorm")):
        return getattr(nn, f"Lazy{word}")(*(1, 1) * word.startswith("Conv"))(x)
    if word[0].isupper():
        return getattr(nn, word)(1)(x)
    if word.startswith("max_pool"):
        return getattr(F, word)(x, 1)
    return getattr(torch.linalg, word, getattr(torch, word, None))(x)


def is_refused_by_torch(word: str, shape: tuple[int, ...]) -> bool:
    eye = torch.eye(*shape[-2:]) if len(shape) > 1 else torch.ones(())
    try:
        call(word, torch.ones(shape) * eye)
    except (RuntimeError, ValueError, IndexError, AssertionError):
        return True
    return False


@pytest.mark.parametrize("word", sorted({*tensor_takers._DIMENSIONS, *tensor_takers._SQUARE}))
def test_a_shape_is_refused_where_torch_refuses_it(word: str) -> None:
    rows = [row for row in load() if row.word == word and row.key.startswith("torch.")]
    assert rows
    for shape in SHAPES:
        assert {refuses(row, shape) for row in rows} == {is_refused_by_torch(word, shape)}, shape


@pytest.mark.parametrize(("key", "cross"), [("torch.cross", torch.cross), ("torch.linalg.cross", torch.linalg.cross)])
@pytest.mark.filterwarnings("ignore:Using torch.cross without")
def test_a_cross_product_wants_a_dimension_of_three(key: str, cross: Callable[[Tensor, Tensor], Tensor]) -> None:
    for shape in SHAPES[1:]:
        try:
            cross(torch.ones(shape), torch.ones(shape))
        except RuntimeError:
            assert refuses(load()[key], shape), shape
        else:
            assert not refuses(load()[key], shape), shape


def test_numbers_of_what_makes_a_tensor_are_not_what_a_tensor_is_for() -> None:
    catalogue = load()
    assert not any(takes_tensor(catalogue[key]) for key in ("torch.linspace", "torch.zeros", "torch.arange"))
    assert all(
        takes_tensor(catalogue[key]) for key in ("torch.zeros_like", "torch.add", "torch.nn.Linear", "torch.stack")
    )
