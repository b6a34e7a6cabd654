"""A seeded piece of the campaign, and every input that it ever found to be answered wrongly."""

import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from gradstudio.errors import GradStudioError
from gradstudio.graph.errors import EditError
from tools.campaign import mutations
from tools.campaign.fuzz import fuzz, read, warm_up
from tools.campaign.fuzzers import FUZZERS, Fuzzer
from tools.campaign.tally import Tally, generator_of
from tools.campaign.watch import Watch

CORPUS = sorted(
    path
    for path in (Path(__file__).parents[1] / "corpus" / "campaign").glob("*/*")
    if path.is_file() and path.parent.name in FUZZERS
)
CASES, FORKED_CASES = 120, 40


@pytest.fixture(scope="module")
def watch() -> Watch:
    return Watch(patience_s=None)


@pytest.mark.parametrize("name", FUZZERS)
def test_hostile_inputs_are_answered_in_words_or_read(watch: Watch, name: str) -> None:
    warm_up(name, watch)
    cases = range(FORKED_CASES if FUZZERS[name].is_forked else CASES)
    tally = fuzz(name, watch, seed=2026, cases=cases)
    assert tally.cases == len(cases)
    assert [f"{one.case}: {one.reason}" for one in tally.failures] == []


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_what_was_once_answered_wrongly_is_answered(watch: Watch, tmp_path: Path, path: Path) -> None:
    assert read(FUZZERS[path.parent.name], path.read_bytes(), tmp_path, watch)[0] == ""


@pytest.mark.parametrize("name", FUZZERS)
def test_a_case_is_the_same_whenever_it_is_made(name: str) -> None:
    made = [FUZZERS[name].make(generator_of(name, 5, 7)) for _ in range(2)]
    assert made[0] == made[1]


def answer(watch: Watch, folder: Path, look: Callable[[], object]) -> str:
    def make(generator: Random) -> bytes:
        return b""

    return read(Fuzzer(make, lambda data, place: look), b"", folder, watch)[0]


def raising(error: BaseException) -> Callable[[], object]:
    def look() -> None:
        raise error

    return look


def test_only_errors_of_ours_with_words_are_answers(watch: Watch, tmp_path: Path) -> None:
    assert answer(watch, tmp_path, raising(GradStudioError("why"))) == ""
    assert "without a word" in answer(watch, tmp_path, raising(GradStudioError(" ")))
    assert "EditError" in answer(watch, tmp_path, raising(EditError("bug")))
    assert answer(watch, tmp_path, raising(RecursionError("deep"))) == "RecursionError: deep"


def test_what_reads_may_not_write_run_or_connect(watch: Watch, tmp_path: Path) -> None:
    assert "open" in answer(watch, tmp_path, lambda: (tmp_path / "made").write_text("x"))
    assert "exec" in answer(watch, tmp_path, lambda: exec("1"))
    assert "socket" in answer(watch, tmp_path, lambda: sys.audit("socket.connect", None, None))
    assert answer(watch, tmp_path, lambda: Path(__file__).read_text(encoding="utf-8")) == ""


def test_the_slowest_case_and_the_failures_are_in_the_line() -> None:
    tally = Tally("files")
    tally.count(3, 0.25)
    tally.count(4, 0.125)
    assert "2 cases" in tally.line()
    assert "0.25 s (case 3)" in tally.line()


def test_a_word_that_was_repeated_before_stays_of_a_size_that_can_be_read() -> None:
    text = "x" * (mutations.LARGEST // 100)
    for seed in range(40):
        assert len(mutations.of_text(Random(seed), text, [text])) < 8 * mutations.LARGEST
