"""What flows where, and what a fresh node binds."""

import pytest

from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.families import (
    accepts,
    binds_nothing,
    call_results,
    default_names,
    element_parameter,
    family_words,
    is_list_like,
    kind_words,
    result_families,
)
from gradstudio.operators.model import LIST_LIKE, Family, Kind, Parameter

CATALOGUE = load()


def port(kind: Kind, **changes: bool) -> Parameter:
    return Parameter("p", kind, **changes)


@pytest.mark.parametrize(
    ("kind", "family"),
    [
        (Kind.TENSOR, Family.TENSOR),
        (Kind.TENSOR_OR_NUMBER, Family.TENSOR),
        (Kind.TENSOR_OR_NUMBER, Family.NUMBER),
        (Kind.FLOAT, Family.NUMBER),
        (Kind.FLOAT, Family.TENSOR),
        (Kind.SHAPE, Family.TUPLE),
        (Kind.INDEX, Family.TENSOR),
        (Kind.TENSORS, Family.OBJECT),
        (Kind.MODULE, Family.MODULE),
        (Kind.DTYPE, Family.TEXT),
        (Kind.ANY, Family.MODULE),
        (Kind.VALUES, Family.NONE),
        (Kind.ARRAY, Family.ARRAY),
    ],
)
def test_a_wire_that_can_work_is_allowed(kind: Kind, family: Family) -> None:
    assert accepts(port(kind), family) == ""


@pytest.mark.parametrize(
    ("kind", "family", "words"),
    [
        (Kind.TENSOR, Family.MODULE, "Call the module first"),
        (Kind.TENSOR, Family.OPTIMIZER, "An optimizer computes no tensor"),
        (Kind.TENSOR, Family.ARRAY, "torch.from_numpy"),
        (Kind.TENSOR, Family.NUMBER, "torch.tensor"),
        (Kind.TENSOR, Family.TUPLE, "stack or cat"),
        (Kind.TENSOR, Family.NONE, "takes a tensor; this is None"),
        (Kind.ARRAY, Family.TENSOR, ".numpy()"),
        (Kind.DTYPE, Family.TENSOR, "Read .dtype"),
        (Kind.MODULE, Family.TENSOR, "takes a module; this is a tensor"),
        (Kind.OPTIMIZER, Family.MODULE, "takes an optimizer"),
        (Kind.FLOAT, Family.TEXT, "takes a number; this is a text"),
        (Kind.NAME, Family.UNKNOWN, "written down"),
    ],
)
def test_a_wire_that_can_never_work_is_refused_in_words(kind: Kind, family: Family, words: str) -> None:
    assert words in accepts(port(kind), family)


def test_what_is_not_known_yet_may_go_anywhere() -> None:
    refused = {kind: words for kind in Kind if (words := accepts(port(kind), Family.UNKNOWN))}
    assert refused.keys() == {Kind.NAME}


def test_none_goes_where_it_is_accepted() -> None:
    assert accepts(port(Kind.TENSOR, nullable=True), Family.NONE) == ""
    assert "or None" in kind_words(port(Kind.TENSOR, nullable=True))


def test_every_family_has_words() -> None:
    for family in Family:
        assert family_words(family), family
        assert all(isinstance(accepts(port(kind), family), str) for kind in Kind), family


def test_only_list_like_parameters_have_elements() -> None:
    assert {kind for kind in Kind if is_list_like(port(kind))} == set(LIST_LIKE)
    assert {kind for kind in Kind if element_parameter(port(kind)).element} == set(LIST_LIKE)


@pytest.mark.parametrize(
    ("key", "names"),
    [
        ("torch.randn", ("x",)),
        ("torch.nn.functional.mse_loss", ("loss",)),
        ("torch.nn.MSELoss", ("loss_function",)),
        ("torch.matmul", ("y",)),
        ("torch.topk", ("values", "indices")),
        ("torch.split", ("splits",)),
        ("torch.nn.Linear", ("fc",)),
        ("torch.optim.SGD", ("optimizer",)),
        ("torch.Tensor.backward", ()),
        ("torch.Tensor.add_", ()),
        ("operator.isub", ()),
        ("operator.setitem", ()),
        ("torch.Tensor.grad=", ()),
        ("torch.Tensor.requires_grad_", ()),
        ("torch.nn.Module.eval", ()),
        ("operator.gt", ("mask",)),
        ("torch.nn.Conv2d", ("conv",)),
        ("torch.nn.LayerNorm", ("layer_norm",)),
        ("torch.linalg.svd", ("U", "S", "Vh")),
    ],
)
def test_a_fresh_node_has_sensible_names(key: str, names: tuple[str, ...]) -> None:
    assert default_names(CATALOGUE[key]) == names
    assert binds_nothing(CATALOGUE[key]) == (names == ())


def test_calling_a_module_gives_what_its_constructor_says() -> None:
    assert len(call_results(CATALOGUE["torch.nn.LSTM"])) == 2
    assert call_results(CATALOGUE["torch.nn.Linear"])[0].family is Family.TENSOR
    assert call_results(None)[0].family is Family.TENSOR


@pytest.mark.parametrize(
    ("key", "names", "literals", "families"),
    [
        ("python.literal", ("lr",), {"value": "0.1"}, (Family.NUMBER,)),
        ("python.literal", ("mode",), {"value": '"mean"'}, (Family.TEXT,)),
        ("python.literal", ("kind",), {}, (Family.UNKNOWN,)),
        ("python.tuple", ("B", "T"), {"items.0": "2", "items.1": '"a"'}, (Family.NUMBER, Family.TEXT)),
        ("python.tuple", ("pair",), {"items.0": "2"}, (Family.TUPLE,)),
        ("torch.topk", ("values", "indices"), {}, (Family.TENSOR, Family.TENSOR)),
        ("torch.topk", ("both",), {}, (Family.TUPLE,)),
        ("torch.split", ("parts",), {}, (Family.TUPLE,)),
        ("torch.Tensor.backward", (), {}, ()),
    ],
)
def test_what_flows_from_a_node_is_told_by_its_text(
    key: str, names: tuple[str, ...], literals: dict[str, str], families: tuple[Family, ...]
) -> None:
    assert result_families(CATALOGUE[key], names, literals) == families
