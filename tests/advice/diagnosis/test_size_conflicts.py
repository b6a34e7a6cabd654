"""Which sizes clash: those that a person would point at."""

import pytest

from gradstudio.advice.diagnosis.size_conflicts import conflicting_operands
from gradstudio.protocol.messages.records import Summary, TensorRecord
from tests.graph.builder import Drawing

SINGLE = "The size of tensor a (3) must match the size of tensor b (2) at non-singleton dimension 1"
JOIN = "Sizes of tensors must match except in dimension 0. Expected size 3 but got size 4 for tensor number 1"


@pytest.mark.parametrize(
    ("key", "words", "shapes", "dims"),
    [
        ("operator.matmul", "", ((5, 4), (5, 3)), ({1}, {0})),
        ("operator.matmul", "", ((2, 5, 4), (3, 4, 1)), ({0}, {0})),
        ("operator.matmul", "", ((5, 4), (3,)), ({1}, {0})),
        ("torch.nn.functional.linear", "", ((2, 3), (3, 4)), ({1}, {1})),
        ("operator.add", SINGLE, ((2, 3), (2,)), ({1}, {0})),
        ("operator.add", SINGLE, ((2, 3), (4, 1, 2)), ({1}, {2})),
        ("torch.cat", JOIN, ((2, 3), (2, 4)), ({1}, {1})),
        ("torch.nn.functional.conv2d", "Given groups=1", ((1, 3, 8, 8), (4, 2, 3, 3)), ((), ())),
    ],
)
def test_the_sizes_that_cannot_go_together(key: str, words: str, shapes: object, dims: object) -> None:
    drawing = Drawing()
    item = drawing.add(key)
    records = [TensorRecord(device="cpu", summary=Summary(dtype="float32", shape=shape)) for shape in shapes]  # type: ignore[attr-defined]  # a tuple
    told = conflicting_operands(drawing.graph, item, words, tuple(zip(("a", "b"), records, strict=True)))
    assert [set(each.clashing) for each in told] == [set(each) for each in dims]  # type: ignore[attr-defined]  # a tuple
