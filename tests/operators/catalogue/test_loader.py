"""The catalogue as data: complete, consistent, quick to read."""

import keyword
from pathlib import Path

import pytest

from gradstudio.operators.catalogue.loader import Catalogue, load, read
from gradstudio.operators.errors import BrokenCatalogue, LiteralError, UnknownOperator
from gradstudio.operators.families import default_names, element_parameter, is_list_like
from gradstudio.operators.literals.parser import parse, parse_any
from gradstudio.operators.model import LIST_LIKE, Effect, Face, Family, Kind, Operator
from tests.helpers.laws import check_each

CATALOGUE = load()


def test_it_holds_what_people_use_most() -> None:
    assert len(CATALOGUE) >= 1700
    assert sum(not row.rare for row in CATALOGUE) >= 690
    for key in ("torch.tensor", "torch.randn", "operator.add", "torch.matmul", "torch.nn.functional.mse_loss"):
        assert key in CATALOGUE


@pytest.mark.parametrize(
    ("key", "face"),
    [
        ("python.literal", Face.LITERAL),
        ("python.alias", Face.ALIAS),
        ("python.tuple", Face.TUPLE),
        ("python.list", Face.LIST),
        ("python.attribute", Face.ATTRIBUTE),
        ("python.set_attribute", Face.SET_ATTRIBUTE),
        ("python.call", Face.CALL),
        ("python.append", Face.METHOD),
        ("python.stored", Face.STORED),
        ("builtins.print", Face.FUNCTION),
        ("operator.getitem", Face.ITEM),
        ("operator.setitem", Face.SET_ITEM),
        ("operator.isub", Face.AUGMENTED),
        ("operator.neg", Face.PREFIX),
        ("operator.pow", Face.INFIX),
        ("torch.Tensor.T", Face.ATTRIBUTE),
        ("torch.Tensor.grad=", Face.SET_ATTRIBUTE),
        ("torch.Tensor.sum", Face.METHOD),
        ("torch.nn.Linear", Face.CONSTRUCTOR),
        ("torch.sum", Face.FUNCTION),
    ],
)
def test_the_keys_that_other_rooms_rely_on_are_there(key: str, face: Face) -> None:
    assert CATALOGUE[key].face is face


def test_every_infix_operator_of_python_is_there() -> None:
    symbols = {row.symbol for row in CATALOGUE if row.face is Face.INFIX}
    assert symbols == {
        "+",
        "-",
        "*",
        "/",
        "//",
        "%",
        "**",
        "@",
        "==",
        "!=",
        "<",
        "<=",
        ">",
        ">=",
        "&",
        "|",
        "^",
        "<<",
        ">>",
        "is",
        "is not",
        "in",
        "not in",
    }


def test_an_unknown_key_is_refused_with_the_nearest() -> None:
    with pytest.raises(UnknownOperator, match=r"Did you mean 'torch\.matmul'"):
        CATALOGUE["torch.matmull"]


def test_a_key_like_nothing_else_is_refused_with_a_way_on() -> None:
    with pytest.raises(UnknownOperator, match="Search the library"):
        CATALOGUE["§§§"]


def test_get_answers_none_for_what_is_not_there() -> None:
    assert CATALOGUE.get("torch.nothing") is None


def test_categories_are_those_of_the_rows() -> None:
    assert set(CATALOGUE.categories) == {row.category for row in CATALOGUE}
    assert CATALOGUE.categories[0] == "Creation"


def test_rows_of_one_path_are_found_together() -> None:
    keys = {row.key for row in CATALOGUE.overloads("torch.max")}
    assert keys == {"torch.max", "torch.max:dim", "torch.max:other"}
    assert {row.path for row in CATALOGUE.overloads("torch.max")} == {"torch.max"}


def test_no_catalogue_is_said_in_words(tmp_path: Path) -> None:
    with pytest.raises(BrokenCatalogue, match="incomplete"):
        read(tmp_path)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 1}', '{"format": 1, "operators": 3}'])
def test_a_damaged_catalogue_is_said_in_words(tmp_path: Path, text: str) -> None:
    (tmp_path / "operators.json").write_text(text, encoding="utf-8")
    with pytest.raises(BrokenCatalogue, match=r"operators\.json cannot be read"):
        read(tmp_path)


def test_a_catalogue_can_be_made_of_rows() -> None:
    row = Operator("a.b", "b", Face.FUNCTION, "Mine", "Does it")
    assert tuple(Catalogue([row])) == (row,)
    assert Catalogue([row]).categories == ("Mine",)


def test_a_row_can_be_shown() -> None:
    for row in CATALOGUE:
        assert row.title, row.key
        assert row.category, row.key
        assert 0 < len(row.summary) <= 80, row.key
        assert not row.summary.endswith("."), row.key
        assert all(word == word.strip() for word in row.words), row.key


def test_parameters_can_be_written_in_python() -> None:
    for row in CATALOGUE:
        names = [parameter.name for parameter in row.parameters]
        assert len(set(names)) == len(names), row.key
        assert all(name.isidentifier() and not keyword.iskeyword(name) for name in names), row.key
        by_keyword = [parameter.keyword_only for parameter in row.parameters]
        assert by_keyword == sorted(by_keyword), row.key
        assert sum(parameter.variadic for parameter in row.parameters) <= 1, row.key


def test_what_a_row_names_is_among_its_parameters() -> None:
    for row in CATALOGUE:
        names = {parameter.name for parameter in row.parameters}
        assert set(row.writes) <= names, row.key
        assert {path.partition(".")[0] for path in row.suggested} <= names, row.key


def test_what_writes_is_in_place() -> None:
    assert [row.key for row in CATALOGUE if row.writes and Effect.IN_PLACE not in row.effects] == []


def test_suggestions_are_what_the_editors_would_write() -> None:
    for row in CATALOGUE:
        for path, text in row.suggested.items():
            parameter = row.parameter(path)
            assert parameter is not None, row.key
            assert parse(text, parameter) == text, row.key


def test_a_fresh_node_needs_only_what_flows() -> None:
    flows = {Kind.TENSOR, Kind.TENSOR_OR_NUMBER, Kind.MODULE, Kind.OPTIMIZER, Kind.ARRAY, Kind.ANY}
    flows |= {Kind.GENERATOR, Kind.OBJECT, *LIST_LIKE}
    for row in CATALOGUE:
        missing = [p for p in row.parameters if p.default is None and p.name not in row.suggested]
        if row.face is not Face.STORED:
            assert [p.name for p in missing if p.kind not in flows] == [], row.key


def test_defaults_and_choices_are_literals_in_their_normal_form() -> None:
    check_each(((row.key, row) for row in CATALOGUE), has_literals_in_their_normal_form)


def has_literals_in_their_normal_form(row: Operator) -> None:
    for parameter in row.parameters:
        if parameter.default is not None:
            assert parse_any(parameter.default) == parameter.default
            assert parameter.default != "None" or parameter.nullable
        for choice in parameter.choices:
            assert parse(choice, parameter) == choice
        if parameter.choices and parameter.default not in (None, "None") and parameter.kind is Kind.TEXT:
            assert parameter.default in parameter.choices


def test_a_receiver_comes_first_and_is_called_self() -> None:
    methods = [row for row in CATALOGUE if row.face is Face.METHOD]
    assert [row.key for row in methods if row.parameters[0].name != "self"] == []


def test_creation_has_a_device_that_can_follow_the_documents() -> None:
    for row in CATALOGUE:
        parameter = row.parameter("device")
        assert not row.creates or (parameter is not None and parameter.kind is Kind.DEVICE), row.key


def test_default_names_are_names() -> None:
    for row in CATALOGUE:
        names = default_names(row)
        assert all(name.isidentifier() and not keyword.iskeyword(name) for name in names), row.key
        assert len(names) in (0, 1, len(row.results)), row.key
        assert names == () or row.results, row.key


def test_random_creation_says_so() -> None:
    assert Effect.RANDOM in CATALOGUE["torch.randn"].effects
    assert Effect.RANDOM not in CATALOGUE["torch.zeros"].effects


def test_reduction_is_a_choice() -> None:
    parameter = CATALOGUE["torch.nn.functional.mse_loss"].parameter("reduction")
    assert parameter is not None
    assert parameter.choices == ('"mean"', '"sum"', '"none"')
    with pytest.raises(LiteralError, match='Did you mean "mean"'):
        parse("meen", parameter)


def test_results_have_the_names_torch_gives_them() -> None:
    assert [result.name for result in CATALOGUE["torch.topk"].results] == ["values", "indices"]
    assert default_names(CATALOGUE["torch.topk"]) == ("values", "indices")


def test_list_like_parameters_have_elements() -> None:
    tensors = CATALOGUE["torch.cat"].parameters[0]
    assert is_list_like(tensors)
    element = element_parameter(tensors)
    assert element.kind is Kind.TENSOR
    assert element.element
    assert element.default is None


def test_a_module_that_gives_two_values_says_so() -> None:
    assert len(CATALOGUE["torch.nn.MultiheadAttention"].calls) == 2
    assert CATALOGUE["torch.nn.Linear"].results[0].family is Family.MODULE
