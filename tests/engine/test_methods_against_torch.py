"""What a document may read from a value never gives it something to call."""

import pytest

from gradstudio.graph.analysis.program_analysis import incomplete
from gradstudio.operators.catalogue.method_names import methods
from tests.program.sketch import Sketch
from tools.generate_methods import text


def test_every_method_that_the_installed_torch_has_is_known() -> None:
    assert set(text().split()) <= methods()


@pytest.mark.parametrize("name", ["tofile", "dump", "data.numpy.tofile", "ｔofile", "forward", "ctypes.data", "None"])
def test_an_element_of_a_list_gives_a_file_no_method_to_call(name: str) -> None:
    sketch = Sketch()
    x = sketch.tensor("x")
    array = sketch.node("torch.Tensor.numpy", "a", {"self": x})
    values = sketch.node("python.list", "values", {"items.0": array}, lengths={"items": 1})
    loop = sketch.block("for", {"over": values}, variable="o")
    read = sketch.node("python.attribute", "m", {"object": (loop, 0)}, literals={"name": name}, body=loop)
    call = sketch.node(
        "python.call", "r", {"module": read}, literals={"inputs.0": "'p'"}, lengths={"inputs": 1}, body=loop
    )
    assert {read, call} <= incomplete(sketch.graph).keys()
    assert f"m = o.{name}" not in [line.strip() for line in sketch.lines]
