"""What is offered to an argument that is no tensor."""

from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.model import Kind, Parameter
from gradstudio.operators.search.value_sources import can_give, usual_givers


def test_what_usually_gives_a_value_is_there_and_can_give_it():
    for kind in Kind:
        parameter = Parameter("size", kind)
        assert [key for key in usual_givers(parameter) if not can_give(load()[key], parameter)] == [], kind


def test_a_tensor_is_for_tensors_and_numbers_are_for_sizes():
    sigmoid, size = load()["torch.sigmoid"], load()["torch.Tensor.size"]
    shape, tensor = Parameter("size", Kind.SHAPE), Parameter("input", Kind.TENSOR)
    assert can_give(sigmoid, tensor) and not can_give(sigmoid, shape)
    assert can_give(size, shape) and not can_give(size, tensor)
    assert usual_givers(tensor) == ()
