"""Records of values: what an engine may not tell is no message."""

import pytest

from gradstudio.protocol.messages.records import Summary


@pytest.mark.parametrize(
    ("shape", "value"), [((2,), [1.0]), ((2,), 5), ((2, 2), [[1.0], 2.0]), ((2, 2, 2), [[[1.0]]]), ((-3,), [1.0])]
)
def test_values_of_another_shape_than_is_told_are_refused(shape: tuple[int, ...], value: object) -> None:
    with pytest.raises(ValueError, match="shape"):
        Summary(dtype="float32", shape=shape, value=value)
