"""Another torch than the catalogue's is noticed, and a node of what it lacks says so."""

import pytest
import torch

from gradstudio.engine import missing_operators
from gradstudio.operators.catalogue.loader import load
from gradstudio.program.compile import compile_graph
from gradstudio.program.model import Program
from tests.engine.conftest import Bench
from tests.program.sketch import Sketch


@pytest.fixture
def older(monkeypatch: pytest.MonkeyPatch) -> None:
    """A torch from before `torch.acosh`."""
    monkeypatch.delattr(torch, "acosh")
    monkeypatch.setattr(torch, "__version__", "2.9.0+cpu")


def cosine() -> Program:
    sketch = Sketch()
    x = sketch.tensor("x")
    sketch.node("torch.acosh", "y", {"input": x})
    return compile_graph(sketch.graph)


def test_the_installed_torch_has_all_that_the_catalogue_was_made_from() -> None:
    assert not missing_operators.is_other_version()
    assert missing_operators.missing_rows() == ()
    assert missing_operators.notice() == ""


def test_what_an_older_torch_lacks_is_listed(older: None) -> None:
    assert missing_operators.is_other_version()
    assert missing_operators.missing_rows() == ("torch.acosh",)
    assert missing_operators.notice() == (
        f"torch 2.9.0 lacks 1 operator of the catalogue, which was made from torch {load().torch_version}: torch.acosh"
    )


@pytest.mark.parametrize("trace", [True, False])
def test_a_node_of_it_says_which_torch_is_wanted(bench: Bench, older: None, trace: bool) -> None:
    bench.run(cosine(), trace=trace)
    first, second = bench.failed().message.splitlines()
    assert first == f"torch 2.9.0 has no torch.acosh: this node is of the catalogue of torch {load().torch_version}."
    assert "has no attribute 'acosh'" in second


def test_other_failures_keep_torchs_words_alone(bench: Bench) -> None:
    assert missing_operators.explain_error("torch.acos", AttributeError("of something else")) == "of something else"


@pytest.mark.parametrize(
    ("path", "there"),
    [
        ("torch.matmul", True),
        ("torch.Tensor.grad=", True),
        ("torch.signal.windows.hann", True),
        ("operator.add", True),
        ("torch.nothing", False),
        ("torch.nn.nothing.at_all", False),
    ],
)
def test_a_path_is_there_or_not(path: str, there: bool) -> None:
    assert missing_operators.is_installed(path) is there
