"""A Python call finds its row of the catalogue, and each argument its port."""

import pytest

from gradstudio.operators.calls.argument_binding import Binding, Given, Several, Slice, Wired, Written, bind, signature
from gradstudio.operators.catalogue.loader import Catalogue, load
from gradstudio.operators.errors import BindingError, UnknownOperator
from gradstudio.operators.model import Face, Family, Kind, Operator, Parameter, Result

X = Wired(Family.TENSOR)
N = Wired(Family.NUMBER)


def ports(binding: Binding) -> dict[str, object]:
    """Literals as their text, wires as the family's word."""
    return {path: _plain(given) for path, given in binding.ports.items()}


def _plain(given: Given) -> object:
    match given:
        case Written(text):
            return text
        case Wired(family):
            return family.value
        case _:
            return given


def row(key: str, *parameters: Parameter, face: Face = Face.FUNCTION, target: str = "") -> Operator:
    return Operator(key, key, face, "", "", parameters, (Result(),), target=target)


T = Parameter("input", Kind.TENSOR)
DIM = Parameter("dim", Kind.INT)
KEEP = Parameter("keepdim", Kind.BOOL, default="False")
MAX = Catalogue(
    [
        row("torch.max", T),
        row("torch.max:dim", T, DIM, KEEP, target="torch.max"),
        row("torch.max:other", T, Parameter("other", Kind.TENSOR), target="torch.max"),
    ]
)
ARANGE = Catalogue(
    [
        row(
            "torch.arange",
            Parameter("start", Kind.NUMBER, default="0"),
            Parameter("end", Kind.NUMBER),
            Parameter("step", Kind.NUMBER, default="1"),
            Parameter("dtype", Kind.DTYPE, default="None", keyword_only=True, nullable=True),
        )
    ]
)
ZEROS = Catalogue(
    [
        row(
            "torch.zeros",
            Parameter("size", Kind.SHAPE, variadic=True),
            Parameter("dtype", Kind.DTYPE, default="None", keyword_only=True, nullable=True),
        )
    ]
)


@pytest.mark.parametrize(
    ("positional", "keywords", "key"),
    [
        ((X,), {}, "torch.max"),
        ((X, Written("1")), {}, "torch.max:dim"),
        ((X, Written("1"), Written("True")), {}, "torch.max:dim"),
        ((X,), {"dim": Written("0"), "keepdim": Written("True")}, "torch.max:dim"),
        ((X,), {"axis": Written("0"), "keepdims": Written("True")}, "torch.max:dim"),
        ((X, X), {}, "torch.max:other"),
        ((X,), {"other": X}, "torch.max:other"),
        ((), {"input": X, "dim": Written("0")}, "torch.max:dim"),
        ((X, N), {}, "torch.max:dim"),
        ((Wired(Family.UNKNOWN), Wired(Family.UNKNOWN)), {}, "torch.max:dim"),
    ],
)
def test_the_arguments_choose_among_the_rows_of_a_path(
    positional: tuple[Given, ...], keywords: dict[str, Given], key: str
) -> None:
    assert bind(MAX, "torch.max", positional, keywords).operator.key == key


def test_each_argument_has_a_port_and_it_is_known_which_stood_by_position() -> None:
    binding = bind(MAX, "torch.max", (X, Written("-1")), {"keepdim": Written("True")})
    assert ports(binding) == {"input": "tensor", "dim": "-1", "keepdim": "True"}
    assert binding.positional == ("input", "dim")
    assert binding.spread == ()


def test_numpys_name_of_an_argument_ends_in_the_port_of_torchs() -> None:
    assert ports(bind(MAX, "torch.max", (X,), {"axis": Written("0")})) == {"input": "tensor", "dim": "0"}


def test_one_argument_of_arange_is_its_end() -> None:
    assert ports(bind(ARANGE, "torch.arange", (Written("5"),))) == {"end": "5"}
    assert ports(bind(ARANGE, "torch.arange", (Written("1"), Written("5")))) == {"start": "1", "end": "5"}
    assert ports(bind(ARANGE, "torch.arange", (Written("1"),), {"end": N})) == {"start": "1", "end": "number"}


def test_sizes_given_one_by_one_are_one_literal_and_remembered_as_spread() -> None:
    binding = bind(ZEROS, "torch.zeros", (Written("2"), Written("3")), {"dtype": Written("torch.int64")})
    assert ports(binding) == {"size": "(2, 3)", "dtype": "torch.int64"}
    assert binding.spread == ("size",)
    whole = bind(ZEROS, "torch.zeros", (Written("(2, 3)"),))
    assert ports(whole) == {"size": "(2, 3)"}
    assert whole.spread == ()
    assert ports(bind(ZEROS, "torch.zeros", (Written("4"),))) == {"size": "(4,)"}


def test_sizes_of_which_one_is_wired_have_a_port_each() -> None:
    for positional in ((Written("2"), N), (Several((Written("2"), N), is_list=False),)):
        binding = bind(ZEROS, "torch.zeros", positional)
        assert ports(binding) == {"size.0": "2", "size.1": "number"}
        assert binding.lengths == {"size": 2}


def test_a_wired_size_brings_the_whole_shape() -> None:
    assert ports(bind(ZEROS, "torch.zeros", (Wired(Family.TUPLE),))) == {"size": "tuple"}


def test_a_list_of_tensors_has_a_port_for_each() -> None:
    binding = bind(load(), "torch.cat", (Several((X, X, X)),), {"dim": Written("-1")})
    assert ports(binding) == {"tensors.0": "tensor", "tensors.1": "tensor", "tensors.2": "tensor", "dim": "-1"}
    assert binding.lengths == {"tensors": 3}
    assert ports(bind(load(), "torch.cat", (Wired(Family.TUPLE),))) == {"tensors": "tuple"}
    assert bind(load(), "torch.cat", (Several(()),)).lengths == {"tensors": 0}


def test_an_index_has_a_port_for_each_part_that_is_wired_and_is_one_text_otherwise() -> None:
    whole = bind(load(), "operator.getitem", (X, Several((Slice(), Slice(start=Written("1"))), is_list=False)))
    assert ports(whole) == {"a": "tensor", "index": ":, 1:"}
    mixed = Several((Slice(start=N, step=Written("2")), Written("None"), X), is_list=False)
    binding = bind(load(), "operator.getitem", (X, mixed))
    assert ports(binding) == {
        "a": "tensor",
        "index.0.start": "number",
        "index.0.step": "2",
        "index.1": "None",
        "index.2": "tensor",
    }
    assert binding.lengths == {"index": 3}
    alone = bind(load(), "operator.getitem", (X, Slice(stop=N)))
    assert ports(alone) == {"a": "tensor", "index.0.stop": "number"}
    assert ports(bind(load(), "operator.getitem", (X, Written("0")))) == {"a": "tensor", "index": "0"}
    assert ports(bind(load(), "operator.getitem", (X, X))) == {"a": "tensor", "index": "tensor"}


def test_a_list_as_an_index_is_one_index() -> None:
    assert ports(bind(load(), "operator.getitem", (X, Several((Written("0"), Written("2")))))) == {
        "a": "tensor",
        "index": "[0, 2]",
    }


def test_a_list_with_a_wire_where_no_port_per_element_exists_needs_a_list_of_its_own() -> None:
    data = Several((N, Written("1.0")))
    catalogue = Catalogue([row("torch.tensor", Parameter("data", Kind.DATA))])
    assert bind(catalogue, "torch.tensor", (data,)).ports == {"data": data}


def test_the_receiver_of_a_method_is_its_first_argument() -> None:
    binding = bind(load(), "torch.Tensor.view", (X, Written("2"), Written("-1")))
    assert binding.operator.face is Face.METHOD
    assert ports(binding) == {"self": "tensor", "shape": "(2, -1)"}


@pytest.mark.parametrize(
    ("path", "positional", "keywords", "said"),
    [
        ("torch.max", (X,), {"dims": Written("1")}, "no argument 'dims'. Did you mean 'dim'?"),
        ("torch.max", (), {}, "'input' must be given."),
        ("torch.max", (X, Written("1.5")), {}, "'dim' takes a whole number"),
        ("torch.max", (X,), {"input": X, "dim": Written("1")}, "'input' is given twice."),
        ("torch.max", (X, Written("1"), Written("True"), Written("3")), {}, "by position, not 4"),
        ("torch.max", (Wired(Family.MODULE),), {}, "Call the module first"),
        ("torch.max", (X, Slice()), {}, "'dim' takes no slice."),
    ],
)
def test_what_does_not_fit_is_said_with_how_the_nearest_row_is_called(
    path: str, positional: tuple[Given, ...], keywords: dict[str, Given], said: str
) -> None:
    with pytest.raises(BindingError) as caught:
        bind(MAX, path, positional, keywords)
    assert said in str(caught.value)
    assert "It is called torch.max(input" in str(caught.value)
    assert caught.value.nearest.path == "torch.max"


def test_a_written_flag_that_decides_on_the_results_chooses_the_row() -> None:
    for flag, key in (("True", "torch.unique:inverse"), ("False", "torch.unique")):
        assert bind(load(), "torch.unique", (X,), {"return_inverse": Written(flag)}).operator.key == key
    assert bind(load(), "torch.lu", (X, Written("True"), Written("True"))).operator.key == "torch.lu:infos"


def test_arguments_of_any_kind_given_one_by_one_are_printed_one_by_one() -> None:
    binding = bind(load(), "torch.broadcast_shapes", (Written("(2, 1)"), Written("(3,)")))
    assert ports(binding) == {"shapes": "((2, 1), (3,))"}
    assert binding.spread == ("shapes",)


def test_an_unknown_path_offers_the_nearest() -> None:
    with pytest.raises(UnknownOperator, match=r"torch\.max"):
        bind(MAX, "torch.mx", (X,))


def test_what_only_torch_can_refuse_is_bound_when_asked_and_said() -> None:
    binding = bind(MAX, "torch.max", (X, Written('"a"')), strict=False)
    assert binding.operator.key == "torch.max:dim"
    assert ports(binding)["dim"] == '"a"'
    assert len(binding.misfits) == 1
    with pytest.raises(BindingError, match="no argument 'foo'"):
        bind(MAX, "torch.max", (X,), {"foo": Written("1")}, strict=False)


def test_a_signature_reads_as_torch_is_called() -> None:
    assert signature(ARANGE["torch.arange"]) == "torch.arange(start=0, end, step=1, *, dtype=None)"
    assert signature(ZEROS["torch.zeros"]) == "torch.zeros(*size, dtype=None)"
    assert signature(load()["torch.Tensor.view"]) == "self.view(*shape)"


def test_every_row_binds_to_itself_or_to_one_before_it_with_what_its_parameters_take() -> None:
    """Given exactly its required arguments, no row of a path can be reached only by chance."""
    catalogue = load()
    families = {
        Kind.TENSOR: X,
        Kind.TENSOR_OR_NUMBER: X,
        Kind.MODULE: Wired(Family.MODULE),
        Kind.OPTIMIZER: Wired(Family.OPTIMIZER),
        Kind.ARRAY: Wired(Family.ARRAY),
        Kind.GENERATOR: Wired(Family.OBJECT),
        Kind.OBJECT: Wired(Family.OBJECT),
    }
    for operator in catalogue:
        required = [p for p in operator.parameters if p.default is None and not p.keyword_only and not p.variadic]
        given = [families.get(p.kind, Wired(Family.UNKNOWN)) for p in required if p.kind is not Kind.NAME]
        if len(given) < len(required):
            continue  # the name of an attribute is always written
        rest = (p for p in operator.parameters if p.default is None and (p.keyword_only or p.variadic))
        names = {p.name: families.get(p.kind, Wired()) for p in rest}
        binding = bind(catalogue, operator.path, given, names)
        assert binding.operator.path == operator.path
