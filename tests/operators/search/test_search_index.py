"""Search: a name, a part of it, a slip of the keyboard, or a newcomer's word finds the operator."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gradstudio import paths
from gradstudio.operators.catalogue import block_rows
from gradstudio.operators.catalogue.loader import load, read
from gradstudio.operators.model import Face, Operator
from gradstudio.operators.search.query import squash
from gradstudio.operators.search.search_index import SearchIndex

CATALOGUE = load()


def found(query: str, limit: int = 5) -> list[str]:
    return [row.key for row in CATALOGUE.search(query, limit=limit)]


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("matmul", "torch.matmul"),
        ("+", "operator.add"),
        ("-", "operator.sub"),
        ("@", "operator.matmul"),
        ("**", "operator.pow"),
        ("-=", "operator.isub"),
        ("==", "operator.eq"),
        ("sum", "torch.sum"),
        ("average", "torch.mean"),
        ("random", "torch.randn"),
        ("tensor", "torch.tensor"),
        ("loss", "torch.nn.functional.mse_loss"),
        ("cross entropy", "torch.nn.functional.cross_entropy"),
        ("backward", "torch.Tensor.backward"),
        ("zero grad", "torch.optim.Optimizer.zero_grad"),
        ("one hot", "torch.nn.functional.one_hot"),
        ("join", "torch.cat"),
        ("limit", "torch.clamp"),
        ("nn.Linear", "torch.nn.Linear"),
        ("F.relu", "torch.nn.functional.relu"),
        ("torch.matmul", "torch.matmul"),
        ("x.sum()", "torch.Tensor.sum"),
        ("mean squared error", "torch.nn.functional.mse_loss"),
        ("eigenvalues", "torch.linalg.eig"),
        ("optimizer", "torch.optim.SGD"),
        ("sgd", "torch.optim.SGD"),
        ("to", "torch.Tensor.to"),
        ("print", "builtins.print"),
        ("detach", "torch.Tensor.detach"),
    ],
)
def test_the_first_answer_is_the_expected_one(query: str, key: str) -> None:
    assert found(query)[0] == key


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("add", "operator.add"),
        ("plus", "operator.add"),
        ("matrix multiply", "torch.matmul"),
        ("dot product", "torch.matmul"),
        ("gradient", "torch.Tensor.backward"),
        ("transpose", "torch.Tensor.T"),
        ("concatenate", "torch.cat"),
        ("clip", "torch.clamp"),
        ("attention", "torch.nn.functional.scaled_dot_product_attention"),
        ("square", "operator.pow"),
        ("gpu", "torch.Tensor.cuda"),
        ("random integers", "torch.randint"),
        ("shuffle", "torch.randperm"),
        ("learning rate", "python.literal"),
        ("stop gradient", "torch.Tensor.detach"),
        ("batchnorm", "torch.nn.BatchNorm1d"),
        ("linear", "torch.nn.Linear"),
    ],
)
def test_everyday_words_find_it_among_the_first(query: str, key: str) -> None:
    assert key in found(query, 6)


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("matmull", "torch.matmul"),
        ("mutmul", "torch.matmul"),
        ("sotfmax", "torch.softmax"),
        ("embeding", "torch.nn.functional.embedding"),
        ("dropuot", "torch.nn.functional.dropout"),
        ("trnaspose", "torch.transpose"),
        ("cross entorpy", "torch.nn.functional.cross_entropy"),
        ("optimzer", "torch.optim.SGD"),
        ("mutliply", "operator.mul"),
    ],
)
def test_a_slip_of_the_keyboard_is_forgiven(query: str, key: str) -> None:
    assert key in found(query, 6)


def test_an_exact_title_comes_first_or_behind_what_everybody_means_by_it() -> None:
    for title in {row.title for row in CATALOGUE if row.title.isidentifier()}:
        first, *later = CATALOGUE.search(title, limit=2)
        behind = not first.rare and any(row.title == title and row.rare for row in later)
        assert first.title.strip(". =") == title or behind, title


def test_an_exact_title_is_found_without_its_capitals_and_joints() -> None:
    for title in {row.title for row in CATALOGUE if row.title.isidentifier() and not row.title.endswith("_")}:
        found = [squash(row.title) for row in CATALOGUE.search(title.lower().replace("_", " "), limit=3)]
        assert squash(title) in found


def test_the_beginning_of_a_title_comes_before_its_middle() -> None:
    keys = found("conv", 50)
    assert keys.index("torch.nn.functional.conv2d") < keys.index("torch.nn.functional.conv_transpose2d")


def test_every_word_of_a_query_counts() -> None:
    assert all(
        "normal" in f"{row.title} {row.summary} {row.words}".lower() for row in CATALOGUE.search("normal random")[:3]
    )


def test_nothing_typed_shows_everything_in_the_librarys_order() -> None:
    assert CATALOGUE.search("", limit=10_000) == (*CATALOGUE, *block_rows.ROWS)
    assert CATALOGUE.search("  ", limit=3) == tuple(CATALOGUE)[:3]


def test_what_nothing_fits_finds_nothing() -> None:
    assert CATALOGUE.search("qzxqzx") == ()


def test_the_limit_holds() -> None:
    assert len(CATALOGUE.search("a", limit=7)) == 7


@given(st.text(max_size=300))
@example("0rad")
def test_any_text_may_be_typed(query: str) -> None:
    rows = CATALOGUE.search(query)
    assert len({(row.key, row.face) for row in rows}) == len(rows) <= 50  # a block may be called as a function is


def test_it_searches_rows_that_are_not_ours_too() -> None:
    row = Operator("my.gizmo", "Gizmo", Face.FUNCTION, "Mine", "Whirls about", words=("spinner",))
    index = SearchIndex([row])
    assert index.search("spinner") == index.search("giz") == index.search("whirls") == (row,)


def test_a_name_that_is_typed_right_brings_no_far_off_rows() -> None:
    found = [operator.path for operator in load().search("zeros")]
    assert found[0] == "torch.zeros"
    assert "torch.zeros_like" in found and "torch.Tensor.zero_" in found
    assert not {"torch.trunc", "torch.tril", "torch.optim.AdamW", "torch.heaviside"} & set(found)


def test_the_index_can_be_built_in_slices() -> None:
    catalogue = read(paths.resources() / "catalogue")
    count = sum(not catalogue.has_index for _ in catalogue.index_slices())
    assert catalogue.has_index and count >= 6
    for typed in ("softmax", "dot product", "drouput"):
        assert catalogue.search(typed) == CATALOGUE.search(typed)


def test_an_underscore_at_the_end_goes_on_to_the_rest_of_a_name() -> None:
    assert found("cross_", 1) == ["torch.nn.functional.cross_entropy"]
    assert found("relu_", 1) == ["torch.Tensor.relu_"]
