"""Conditions in a search, and what usually follows an operator."""

import pytest

from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.search.filters import Filter, completions, read
from gradstudio.operators.search.next_operators import usually_after, usually_before

CATALOGUE = load()
CATEGORIES = ("Linear algebra", "Layers", "Losses", "Linear maps")


def keeps(typed: str, key: str) -> bool:
    found = read(typed)
    assert found.filters, found.wrong
    return found.keeps(CATALOGUE[key])


def test_words_and_conditions_are_parted():
    found = read("  cross in:tensor  entropy -OUT:Bool cat:loss")
    assert found.text == "cross entropy"
    assert found.filters == (Filter("in", "tensor"), Filter("out", "Bool", negated=True), Filter("cat", "loss"))
    assert found.wrong == ""


@pytest.mark.parametrize("typed", ["in:", "cat:", "-out:", "", "matmul in:"])
def test_a_condition_without_a_word_is_none_and_keeps_everything(typed: str):
    found = read(typed)
    assert found.filters == ()
    assert found.wrong == ""
    assert found.keeps(CATALOGUE["torch.matmul"])


@pytest.mark.parametrize("typed", ["a:=b", "1:2", ":", "in", "-", "x[in:out]"])
def test_what_only_looks_like_a_condition_is_a_word(typed: str):
    assert read(typed).text == typed
    assert read(typed).filters == ()


def test_an_unknown_condition_is_named_with_those_that_there_are():
    found = read("takes:tensor relu")
    assert "“takes:”" in found.wrong
    assert all(f"{name}:" in found.wrong for name in ("in", "out", "cat"))
    assert found.text == "relu"
    assert found.filters == ()


def test_an_unknown_word_is_named_with_those_that_it_can_be():
    assert "“in:banana”" in read("in:banana").wrong
    assert "tensor, number" in read("in:banana").wrong
    assert "nothing" in read("out:banana").wrong
    assert "complex" in read("out:banana").wrong


def test_the_first_mistake_is_told_and_nothing_after_it_counts():
    found = read("in:tensor nope:x out:banana out:bool")
    assert "“nope:”" in found.wrong
    assert found.filters == (Filter("in", "tensor"),)


def test_a_category_is_never_wrong():
    assert read("cat:banana").wrong == ""
    assert not keeps("cat:banana", "torch.matmul")


@pytest.mark.parametrize(
    ("typed", "key", "kept"),
    [
        ("in:tensor", "torch.matmul", True),
        ("in:tensor", "torch.randn", False),
        ("in:shape", "torch.randn", True),
        ("in:gen", "torch.randn", True),
        ("in:d", "torch.randn", True),
        ("in:d", "torch.matmul", False),
        ("in:INT", "torch.argmax", True),
        ("in:bool", "torch.argmax", True),
        ("in:float", "torch.argmax", False),
        ("in:int", "torch.split", True),
        ("in:list", "torch.cat", True),
        ("in:list", "torch.matmul", False),
        ("in:text", "torch.fft.fft", True),
        ("in:module", "torch.nn.Sequential", True),
        ("in:anything", "torch.is_tensor", True),
        ("in:number", "torch.eq", True),
        ("in:number", "torch.matmul", False),
    ],
)
def test_in_asks_what_an_operator_takes(typed: str, key: str, kept: bool):
    assert keeps(typed, key) is kept
    assert keeps(f"-{typed}", key) is not kept


def test_a_layer_takes_and_gives_what_its_call_does():
    assert keeps("in:tensor", "torch.nn.Linear")
    assert keeps("in:int out:tensor", "torch.nn.Linear")
    assert keeps("out:module", "torch.nn.Linear")
    assert not keeps("in:optimizer", "torch.nn.Linear")
    assert keeps("in:tensor", "torch.nn.ModuleList"), "what may be given anything may be given a tensor"
    assert not keeps("in:text", "torch.nn.ModuleList")
    assert not keeps("out:tensor", "torch.optim.SGD"), "an optimizer is no layer"


@pytest.mark.parametrize(
    ("typed", "key", "kept"),
    [
        ("out:tensor", "torch.matmul", True),
        ("out:number", "torch.matmul", False),
        ("out:bool", "torch.eq", True),
        ("out:bool", "torch.matmul", False),
        ("out:bool", "torch.is_tensor", True),
        ("out:bool", "torch.Tensor.is_contiguous", True),
        ("out:number", "torch.Tensor.item", True),
        ("out:int", "torch.argmax", True),
        ("out:int", "torch.Tensor.item", False),
        ("out:optim", "torch.optim.SGD", True),
        ("out:complex", "torch.fft.fft", True),
        ("out:complex", "torch.matmul", False),
        ("out:nothing", "torch.Tensor.backward", True),
        ("out:noth", "builtins.print", True),
        ("out:nothing", "torch.matmul", False),
        ("out:t", "torch.matmul", True),
        ("out:t", "torch.Tensor.item", False),
        ("out:n", "torch.Tensor.item", True),
    ],
)
def test_out_asks_what_an_operator_gives(typed: str, key: str, kept: bool):
    assert keeps(typed, key) is kept
    assert keeps(f"-{typed}", key) is not kept


@pytest.mark.parametrize(
    ("typed", "key", "kept"),
    [
        ("cat:lin", "torch.matmul", True),
        ("cat:ALG", "torch.matmul", True),
        ("cat:loss", "torch.nn.functional.mse_loss", True),
        ("cat:functional", "torch.nn.functional.mse_loss", True),
        ("cat:mse", "torch.nn.functional.mse_loss", False),
        ("cat:layers", "torch.matmul", False),
    ],
)
def test_cat_asks_for_a_word_of_the_category_or_of_the_home(typed: str, key: str, kept: bool):
    assert keeps(typed, key) is kept


def test_every_condition_has_to_hold():
    assert keeps("in:tensor out:tensor -out:bool", "torch.matmul")
    assert not keeps("in:tensor out:tensor -out:bool", "torch.eq")


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("ou", ("out:",)),
        ("relu -CA", ("relu -cat:",)),
        ("i", ()),
        ("relu", ()),
        ("", ()),
        ("nope:x", ()),
        ("in:banana", ()),
        ("in:op", ("in:optimizer ",)),
        ("soft -OUT:Noth", ("soft -out:nothing ",)),
        ("in:d", ("in:dtype ", "in:device ", "in:data ")),
    ],
)
def test_what_is_begun_can_be_completed(typed: str, expected: tuple[str, ...]):
    assert completions(typed, CATEGORIES) == expected


def test_categories_complete_to_their_first_words_once_each():
    assert completions("cat:", CATEGORIES) == ("cat:linear ", "cat:layers ", "cat:losses ")
    assert completions("x cat:L", CATEGORIES)[0] == "x cat:linear "
    assert completions("cat:") == ()


@pytest.mark.parametrize("begun", ["in:", "out:", "-in:", "-out:"])
def test_every_completion_is_a_condition_that_some_but_not_all_operators_fulfil(begun: str):
    operators = list(CATALOGUE)
    offered = completions(begun)
    assert len(offered) > 10
    for typed in offered:
        if typed.endswith("in:complex "):
            continue  # no row of the catalogue takes a complex number alone
        found = read(typed)
        assert found.wrong == ""
        assert len(found.filters) == 1
        assert 0 < sum(found.keeps(one) for one in operators) < len(operators), typed


def test_what_usually_follows_is_in_the_catalogue_and_never_twice():
    for operator in CATALOGUE:
        after = usually_after(operator)
        assert len(set(after)) == len(after), operator.key
        assert all(key in CATALOGUE for key in after), operator.key


def test_what_usually_follows_an_operator_or_its_kind():
    assert usually_after(None) == ()
    assert usually_after(CATALOGUE["torch.nn.Flatten"]) == ("torch.nn.Linear",)
    assert usually_after(CATALOGUE["torch.nn.functional.mse_loss"])[0] == "torch.Tensor.backward"
    gelu = CATALOGUE["torch.nn.functional.gelu"]
    assert usually_after(gelu) == usually_after(CATALOGUE["torch.relu"])
    assert "torch.optim.Optimizer.step" in usually_after(CATALOGUE["torch.optim.Adam"])
    assert usually_after(CATALOGUE["builtins.print"]) == ()


def test_what_comes_before_is_what_it_follows():
    assert usually_before("torch.nn.BatchNorm2d") == ("torch.nn.Conv2d",)
    assert usually_before("torch.nowhere") == ()
    for key in usually_before("torch.nn.Linear"):
        assert "torch.nn.Linear" in usually_after(CATALOGUE[key])


@pytest.mark.parametrize("name", ["in", "out"])
def test_every_word_that_is_offered_finds_something(name: str):
    offered = completions(f"{name}:")
    assert len(offered) > 8
    rows = [CATALOGUE[key] for key in ("torch.add", "torch.full", "torch.tensor", "torch.mul")]
    assert all(read("in:complex").keeps(row) for row in rows)
    kinds = list(CATALOGUE)
    for typed in offered:
        assert any(read(typed).keeps(row) for row in kinds), typed
