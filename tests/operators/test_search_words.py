"""Search, asked as people ask in a hurry: what they mean stands first, or nearly so."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gradstudio.operators.catalogue import block_rows
from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.errors import BrokenCatalogue
from gradstudio.operators.search import synonyms

CATALOGUE = load()
FILE = Path(__file__).with_name("search_queries.txt")
MISSED = 99


def queries() -> Iterator[tuple[str, frozenset[str]]]:
    for line in FILE.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("# "):
            typed, _, paths = line.rpartition(" = ")
            yield typed, frozenset(paths.split())


def place(typed: str, meant: frozenset[str]) -> int:
    """Where the first operator that is meant stands among the finds, from 0."""
    found = CATALOGUE.search(typed, limit=8)
    return next((k for k, row in enumerate(found) if meant & {row.path, row.key}), MISSED)


def test_what_is_meant_is_found_first_or_nearly_so() -> None:
    places = {typed: place(typed, meant) for typed, meant in queries()}
    count = len(places)
    assert count >= 150
    assert {typed for typed, at in places.items() if at == MISSED} == set()
    later = {typed: at for typed, at in places.items() if at > 0}
    assert count - len(later) >= 0.8 * count, later
    assert sum(at < 3 for at in places.values()) >= 0.95 * count, later


def test_the_queries_mean_operators_that_are_there() -> None:
    paths = {path for row in (*CATALOGUE, *block_rows.ROWS) for path in (row.path, row.key)}
    assert [typed for typed, meant in queries() if not meant & paths] == []


def test_every_everyday_word_leads_somewhere() -> None:
    paths = {path for row in (*CATALOGUE, *block_rows.ROWS) for path in (row.path, row.key)}
    assert [phrase for phrase, targets in synonyms.load().phrases.items() if not paths & set(targets)] == []


def test_an_everyday_word_finds_its_operator_whatever_else_there_is() -> None:
    paths = {path for row in (*CATALOGUE, *block_rows.ROWS) for path in (row.path, row.key)}
    for phrase, targets in synonyms.load().phrases.items():
        likeliest = next(path for path in targets if path in paths)
        found = CATALOGUE.search(phrase, limit=8)
        assert any(likeliest in (row.path, row.key) for row in found), phrase


@pytest.mark.parametrize(
    ("typed", "earlier", "later"),
    [
        ("relu", "torch.relu", "torch.Tensor.relu_"),
        ("dropout", "torch.nn.functional.dropout", "torch.nn.Dropout"),
        ("nn.dropout", "torch.nn.Dropout", "torch.nn.functional.dropout"),
        ("Dropout", "torch.nn.Dropout", "torch.nn.functional.dropout"),
        ("sum", "torch.sum", "torch.Tensor.sum"),
        (".sum", "torch.Tensor.sum", "torch.sum"),
        ("x.sum", "torch.Tensor.sum", "torch.sum"),
        ("add", "torch.add", "torch.Tensor.add_"),
        ("add_", "torch.Tensor.add_", "torch.add"),
        ("tanh", "torch.tanh", "torch.nn.Tanh"),
        ("Tanh", "torch.nn.Tanh", "torch.tanh"),
        ("softmax", "torch.softmax", "torch.special.softmax"),
    ],
)
def test_the_way_of_typing_chooses_among_forms_of_one_operator(typed: str, earlier: str, later: str) -> None:
    paths = [row.path for row in CATALOGUE.search(typed, limit=50)]
    assert paths.index(earlier) < (paths.index(later) if later in paths else MISSED)


@pytest.mark.parametrize(("typed", "home"), [("nn.", "torch.nn."), ("F.", "torch.nn.functional."), ("x.", "")])
def test_a_name_and_a_dot_show_what_follows(typed: str, home: str) -> None:
    rows = CATALOGUE.search(typed, limit=20)
    assert len(rows) == 20
    assert all(row.path.startswith(home or ("torch.Tensor.", "torch.nn.", "torch.optim.", "python.")) for row in rows)


@pytest.mark.parametrize("typed", ["layernorm", "layer norm", "layer_norm", "LayerNorm", "Layer-Norm", "layernrom"])
def test_joints_do_not_matter(typed: str) -> None:
    first = {row.key for row in CATALOGUE.search(typed, limit=2)}
    assert first == {"torch.nn.functional.layer_norm", "torch.nn.LayerNorm"}


def test_of_rows_alike_the_preferred_one_comes_first() -> None:
    plain = CATALOGUE.index.find("relu")
    other = CATALOGUE.index.find("relu", preferred=("torch.nn.functional.relu",))
    assert plain[0].operator.key == "torch.relu" and other[0].operator.key == "torch.nn.functional.relu"


def test_a_find_tells_by_which_word_it_was_found() -> None:
    assert CATALOGUE.index.find("repmat")[0].phrase == "repmat"
    assert CATALOGUE.index.find("tile")[0].phrase == ""


def test_what_is_nearest_is_offered_when_nothing_fits() -> None:
    assert CATALOGUE.search("zoftmqxx") == ()
    assert "softmax" in [row.word for row in CATALOGUE.index.nearest("zoftmqxx")]
    assert CATALOGUE.index.nearest("qzxqzx") == () == CATALOGUE.index.nearest("")


def test_words_that_name_no_operator_are_refused(tmp_path: Path) -> None:
    (tmp_path / "synonyms.txt").write_text("dot product torch.dot\n")
    (tmp_path / "everyday.txt").write_text("torch.dot\n")
    with pytest.raises(BrokenCatalogue, match=r"dot product torch\.dot"):
        synonyms.read(tmp_path)
    with pytest.raises(BrokenCatalogue):
        synonyms.read(tmp_path / "none")


def test_what_was_asked_for_in_a_hurry_stands_first() -> None:
    """The last part of the queries: each was found wrong once."""
    asked = list(queries())
    since = next(k for k, (typed, _meant) in enumerate(asked) if typed == "enable grad")
    assert {typed for typed, meant in asked[since:] if place(typed, meant) > 0} == set()
