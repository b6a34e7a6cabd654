"""A target of more classes than there are scores: told of the very programs that torch refuses for it."""

import warnings

import pytest
import torch

from tests.advice.counted_classes import HEAD, LABELS, NOT_OF_TORCH, SILENT, TOLD

TARGET = f"torch.tensor({LABELS})"


def run(body: str) -> None:
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # shapes that broadcast
        exec(HEAD.format(target=TARGET) + body, {"__file__": __file__})


@pytest.mark.parametrize("body", TOLD.values(), ids=TOLD)
def test_torch_refuses_what_is_told(body: str) -> None:
    with pytest.raises(IndexError, match="Target 9 is out of bounds"):
        run(body)


@pytest.mark.parametrize("name", sorted(SILENT.keys() - NOT_OF_TORCH))
def test_torch_takes_what_is_not_told(name: str) -> None:
    run(SILENT[name])
