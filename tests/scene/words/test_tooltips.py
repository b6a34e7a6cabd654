"""The numbers of a tooltip: elements when few, figures of the finite when many, a scalar once."""

import pytest

from gradstudio.operators.model import Kind, Parameter
from gradstudio.protocol.messages.records import Summary
from gradstudio.scene.words.tooltips import parameter_text, statistics_text


def summary(shape: tuple[int, ...], value: object = None, **figures: float) -> Summary:
    known = {"minimum": -1.5, "maximum": 3.0, "mean": 0.5, "rms": 2.0} | figures
    return Summary(dtype="float32", shape=shape, value=value, **known)  # type: ignore[arg-type]  # figures by name


@pytest.mark.parametrize(
    ("shape", "value", "told"),
    [
        ((3,), [1.0, -1.5, 3.0], "<code>[1.0, -1.5, 3.0]</code>"),
        ((2, 2), [[1.0, 2.0], [3.0, "nan"]], "<code>[1, 2]</code><br><code>[3, NaN]</code>"),
        ((), 3.0, "<b>3</b>"),
    ],
)
def test_few_elements_are_written_out(shape: tuple[int, ...], value: object, told: str) -> None:
    assert statistics_text(summary(shape, value)) == told


def test_a_scalar_that_stands_there_already_is_not_repeated() -> None:
    assert statistics_text(summary((), 3.0), told=True) == ""


def test_figures_are_said_to_be_of_the_finite_where_not_all_is() -> None:
    assert statistics_text(summary((300,))) == "min -1.5  max 3  mean 0.5  RMS 2"
    assert statistics_text(summary((300,), nan=3)) == "of the finite: min -1.5  max 3  mean 0.5  RMS 2  1 % NaN"


class Pages:
    """Knows one argument."""

    def first_sentence(self, _key: str) -> str:
        return ""

    def argument_words(self, key: str, name: str) -> str:
        return "the dimension to reduce" if (key, name) == ("torch.sum", "dim") else ""


def test_an_argument_says_what_it_takes_and_torchs_words_else_ours() -> None:
    dim = Parameter("dim", Kind.INTS, default="None", nullable=True, hint="which <dimension>")
    told = "<b>dim</b>: a whole number, or several; default None<br>"
    assert parameter_text(dim, Pages(), "torch.sum") == told + "the dimension to reduce"
    assert parameter_text(dim, Pages(), "torch.mean") == told + "which &lt;dimension&gt;"
    assert parameter_text(Parameter("x", Kind.TENSOR)) == "<b>x</b>: a tensor; needed"
