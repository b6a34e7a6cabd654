"""What a sweep trains with next: a grid in turn, or proposals of optuna, which hears what came of them."""

from __future__ import annotations

import random
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from gradstudio.document.errors import BadSweep
from gradstudio.document.runs.sweep_grid import Space, Span, search_space, span_of
from gradstudio.document.runs.sweep_search import OptunaSearch, Search, begin_search
from gradstudio.graph.errors import Refused
from gradstudio.program.reading.reader import read_script

PROGRAM = """import torch

w = torch.zeros(2, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1, momentum=0.9)
for step in range(12):
    loss = w.sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


class FakeTrial:
    """What `study.ask` gives, as far as it is used."""

    def __init__(self, chance: random.Random, known: dict[str, Any]) -> None:
        self._chance, self._known = chance, known
        self.asked: dict[str, Any] = {}
        self.reported: list[tuple[float, int]] = []

    def suggest_categorical(self, name: str, choices: list[str]) -> str:
        return str(self._put(name, self._chance.choice(choices)))

    def suggest_int(self, name: str, low: int, high: int, *, log: bool) -> int:
        return int(self._put(name, low if log else self._chance.randint(low, high)))

    def suggest_float(self, name: str, low: float, high: float, *, log: bool) -> float:
        return float(self._put(name, self._chance.uniform(low, high)))

    def report(self, loss: float, turn: int) -> None:
        self.reported.append((loss, turn))

    def _put(self, name: str, value: object) -> Any:
        self.asked[name] = self._known.get(name, value)
        return self.asked[name]


class FakeStudy:
    """What `create_study` gives: proposals at random, and what it was told."""

    def __init__(self) -> None:
        self._chance = random.Random(0)
        self._queue: list[dict[str, Any]] = []
        self.told: list[tuple[FakeTrial, object]] = []

    def ask(self) -> FakeTrial:
        return FakeTrial(self._chance, self._queue.pop(0) if self._queue else {})

    def enqueue_trial(self, known: dict[str, Any]) -> None:
        self._queue.append(known)

    def tell(self, trial: FakeTrial, loss: float | None = None, *, state: str | None = None) -> None:
        self.told.append((trial, state or loss))


@pytest.fixture
def study(monkeypatch: pytest.MonkeyPatch) -> FakeStudy:
    """The edge to a package that need not be installed."""
    study, optuna = FakeStudy(), ModuleType("optuna")
    optuna.__dict__.update(
        samplers=SimpleNamespace(TPESampler=lambda **_words: None),
        trial=SimpleNamespace(TrialState=SimpleNamespace(PRUNED="pruned", FAIL="failed")),
        logging=SimpleNamespace(set_verbosity=lambda _level: None, WARNING=30),
        create_study=lambda **_words: study,
    )
    monkeypatch.setitem(sys.modules, "optuna", optuna)
    return study


def all_of(search: Search) -> list[dict[str, str]]:
    found = []
    while (chosen := search.propose()) is not None:
        found.append(chosen)
        search.end(chosen, 1.0)
    return found


def test_a_span_is_from_to() -> None:
    assert span_of("0.1:1") == Span(0.1, 1, False, False)
    assert span_of("0.001:0.1:log") == Span(0.001, 0.1, True, False)
    assert span_of("16:64") == Span(16, 64, False, True)
    assert [span_of(text) for text in ("0.1,1", "1:2:3", "1:2:3:log", "cuda:0", "5")] == [None] * 5
    for text in ("1:1", "2:1", "0:1:log", "1:inf", "nan:1"):
        with pytest.raises(BadSweep, match="range"):
            span_of(text)


def test_every_value_and_both_ends_must_fit_their_argument() -> None:
    graph = read_script(PROGRAM).graph
    assert search_space(["lr=0.1:1", "step=3,4"], graph) == {"opt.lr": Span(0.1, 1, False, False), "step": ["3", "4"]}
    for text in ("step=1.5:3", "lr=0.1,red", "seed=-3:3"):
        with pytest.raises((BadSweep, Refused)):
            search_space([text], graph)


def test_a_grid_goes_through_all_and_refuses_what_has_no_number() -> None:
    space: Space = {"lr": ["1", "2"], "step": ["3", "4"]}
    search = begin_search("grid", space, None, 0)
    assert search.count == 4
    assert [tuple(one.values()) for one in all_of(search)] == [("1", "3"), ("1", "4"), ("2", "3"), ("2", "4")]
    with pytest.raises(BadSweep, match=r"0\.1:1:5"):
        begin_search("grid", {"lr": Span(0.1, 1, False, False)}, None, 0)
    with pytest.raises(BadSweep, match="optuna"):
        begin_search("grid", space, 3, 0)


def test_no_combination_is_proposed_twice_and_all_that_can_be_counted_come(study: FakeStudy) -> None:
    space: Space = {"lr": ["1", "2", "3"], "step": Span(2, 5, False, True)}
    search = begin_search("optuna", space, 1000, 0)
    found = [tuple(one.values()) for one in all_of(search)]
    assert search.count == 12 == len(set(found)) == len(found)
    assert {step for _, step in found} == {"2", "3", "4", "5"}
    log: Space = {"step": Span(2, 5, True, True)}  # whose fake proposals are all alike
    assert sorted(one["step"] for one in all_of(begin_search("optuna", log, 9, 0))) == ["2", "3", "4", "5"]


def test_the_study_hears_of_losses_of_what_was_stopped_and_of_what_failed(study: FakeStudy) -> None:
    search = OptunaSearch({"lr": Span(0.1, 1, False, False)}, 4, 0)
    ends: list[dict[str, Any]] = [
        {"loss": 0.5}, {"loss": 9.0, "stopped_at": 12}, {"loss": None}, {"loss": float("nan")}
    ]  # fmt: skip
    for words in ends:
        chosen = search.propose()
        assert chosen is not None
        search.end(chosen, **words)
    assert search.propose() is None
    assert [told for _, told in study.told] == [0.5, "pruned", "failed", "failed"]
    assert study.told[1][0].reported == [(9.0, 12)]


def test_how_many_are_tried_has_bounds(study: FakeStudy) -> None:
    for trials in (0, 1001):
        with pytest.raises(BadSweep, match="1,000"):
            begin_search("optuna", {"lr": ["1"]}, trials, 0)
    assert begin_search("optuna", {"lr": Span(0.1, 1, False, False)}, None, 0).count == 20


def test_optuna_itself_finds_the_valley_and_begins_the_same_with_the_same_seed() -> None:
    pytest.importorskip("optuna", reason="an optional extra: sweep")
    space: Space = {"lr": Span(0.001, 10, True, False), "width": Span(1, 64, False, True), "kind": ["a", "b"]}

    def run(count: int) -> tuple[list[dict[str, str]], list[float]]:
        search = OptunaSearch(space, count, 7)
        chosen: list[dict[str, str]] = []
        losses: list[float] = []
        while (one := search.propose()) is not None:
            loss = abs(float(one["lr"]) - 0.3) + abs(int(one["width"]) - 20) / 64 + (one["kind"] == "b")
            is_stopped = loss > 1.2 and len(losses) > 3
            search.end(one, loss, stopped_at=5 if is_stopped else None)
            chosen.append(one)
            losses.append(loss)
        return chosen, losses

    first, losses = run(40)
    assert first[:6] == run(6)[0]
    assert all(0.001 <= float(one["lr"]) <= 10 and 1 <= int(one["width"]) <= 64 for one in first)
    assert sum(losses[20:]) < 0.6 * sum(losses[:20]), "it learns what is worth trying"
