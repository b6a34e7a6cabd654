"""What is offered to an argument that is no tensor."""

from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.model import Kind, Parameter
from gradstudio.operators.search.value_sources import gives, usual_givers


def test_what_usually_gives_a_value_is_there_and_can_give_it():
    for kind in Kind:
        parameter = Parameter("size", kind)
        assert [key for key in usual_givers(parameter) if not gives(load()[key], parameter)] == [], kind


def test_a_tensor_is_for_tensors_and_numbers_are_for_sizes():
    sigmoid, size = load()["torch.sigmoid"], load()["torch.Tensor.size"]
    shape, tensor = Parameter("size", Kind.SHAPE), Parameter("input", Kind.TENSOR)
    assert gives(sigmoid, tensor) and not gives(sigmoid, shape)
    assert gives(size, shape) and not gives(size, tensor)
    assert usual_givers(tensor) == ()
