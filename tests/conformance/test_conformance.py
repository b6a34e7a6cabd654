"""A fixed part of PyTorch's own samples, drawn, run by an engine process and exported: bit for bit what torch gives.

The whole is ``python3 dev.py conformance``; every exception is listed with its reason in its `exceptions.txt`.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tools.conformance.exceptions import read
from tools.conformance.tally import Tally, exceptions

if TYPE_CHECKING:
    from tools.conformance.measure import Measure

PARTS = 24
pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def measure() -> "Iterator[Measure]":
    """The first part, with one engine and one process for the scripts."""
    from tools.conformance.measure import Measure  # with all samples: each process that collects would load them

    with Measure(0, PARTS, "", 0, say=lambda text: None) as measure:
        yield measure


def agree(tallies: list[Tally], share: float) -> None:
    """Every exception is explained, and few there are."""
    _, wrong = exceptions(tallies, read(), complete=False)
    assert not wrong
    for tally in tallies:
        assert tally.drawn
        assert tally.share_of_drawn >= share


# Slow: hundreds of PyTorch's own samples, each run by torch, by the engine and as a script.
@pytest.mark.parametrize(
    ("dtype", "variant"),
    [
        ("float32", "function"),
        ("float32", "method"),
        ("float32", "inplace"),
        ("int64", "function"),
        ("int64", "method"),
        ("bool", "function"),
    ],
)
def test_operators_give_outputs_and_gradients_as_torch_does(measure: "Measure", dtype: str, variant: str) -> None:
    tally = measure.operators(dtype, variant)
    agree([tally], 99.0)
    assert tally.gradients or dtype != "float32"


@pytest.mark.parametrize("mode", ["train", "eval"])
def test_modules_give_outputs_and_gradients_as_torch_does(measure: "Measure", mode: str) -> None:
    agree([measure.modules("float32", mode)], 99.0)


def test_wrong_calls_fail_at_the_node_with_torchs_words(measure: "Measure") -> None:
    agree([measure.errors()], 98.0)


# Slow: hundreds of PyTorch's own samples, each inferred, and compared with what torch gives.
def test_nothing_wrong_is_stated_before_a_run(measure: "Measure") -> None:
    """Shapes and dtypes: what is stated holds; the shares are those that were asked for."""
    first, second = measure.inference("float32")
    assert first.states["differs"] == second.states["differs"] == 0
    assert first.share >= 97.0
    assert second.share >= 80.0  # this eighth holds unique and unique_consecutive; the whole has 92 %
