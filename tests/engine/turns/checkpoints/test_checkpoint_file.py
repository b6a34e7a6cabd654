"""Checkpoints as files: a training that goes on from one ends as one that was never stopped, here and in a script."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load as load_bytes
from safetensors.torch import load_file, save

from gradstudio.engine.code.freedom import freedom
from gradstudio.engine.code.program_input import Person
from gradstudio.engine.code.trusted_verbs import TrustedVerbs
from gradstudio.engine.errors import VerbRefused
from gradstudio.engine.turns.checkpoints.checkpoint_file import checkpoint_bytes
from gradstudio.program.compile import compile_graph
from gradstudio.program.reading.reader import read_script
from gradstudio.program.trust import code_digest
from gradstudio.protocol.messages.base import Verb
from gradstudio.protocol.messages.charts import HistogramDrawn, WantedChart
from gradstudio.protocol.messages.events import Paused
from gradstudio.protocol.messages.progress import Turned
from gradstudio.protocol.messages.requests import Do, Trust
from tests.engine.conftest import Bench
from tests.engine.test_epoch_scripts import ALL, device, run, text_of, turns_word
from tests.engine.turns.checkpoints.test_going_back import values

pytestmark = pytest.mark.usefixtures("signals_and_numbers")
PLACES = [name for name in ALL if name != "in_a_function"]


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Others would wait for each other where the machine is busy."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def load(bench: Bench, text: str) -> None:
    bench.load(compile_graph(read_script(text, keeps_code=True).graph))


def asked(bench: Bench, verb: Verb, samples_turns: bool = True, checkpoint: bytes = b"") -> Paused:
    """What came of a verb; Python that is not drawn (`break`, `torch.compile`) is trusted."""
    assert bench.engine.loaded is not None
    program = bench.engine.loaded.program
    asking = Do(verb=verb, checkpoint=checkpoint, samples_turns=samples_turns, trust=Trust(code_digest(program)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(freedom, "is_for_code", bool(program.codes))
        return TrustedVerbs(bench.engine, bench.hear, Person(lambda _: None, lambda: False)).do(asking)


def train(bench: Bench, text: str, sampled: bool = True) -> dict[str, Any]:
    """What a program leaves that is run to its end."""
    load(bench, text)
    assert asked(bench, "run", sampled).outcome == "done"
    return values(bench)


def go_on(bench: Bench, text: str, data: bytes, sampled: bool = True) -> Paused:
    """A program that goes on from a file."""
    load(bench, text)
    return asked(bench, "continue", sampled, data)


def same(one: Any, other: Any) -> bool:
    if isinstance(one, torch.Tensor):
        return torch.equal(one, other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


@pytest.mark.parametrize(("name", "sampled"), [*((name, True) for name in PLACES), ("added", False)])
def test_two_turns_and_four_more_are_six(name: str, sampled: bool, bench: Bench) -> None:
    whole = train(bench, text_of(name), sampled)
    assert bench.engine.live is not None
    backwards = bench.engine.live.gradients.backwards
    train(bench, text_of(name).replace("range(6)", "range(2)"), sampled)
    data, turns = checkpoint_bytes(bench.engine.live)
    assert turns == 2
    torch.manual_seed(99)
    assert go_on(bench, text_of(name), data, sampled).outcome == "done"
    parts = values(bench)
    assert bench.engine.live.gradients.backwards == backwards
    assert whole.keys() == parts.keys()
    for key, value in whole.items():
        assert same(value, parts[key]), key


@pytest.mark.parametrize("name", PLACES)
def test_the_window_goes_on_from_a_scripts_file(
    name: str, bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = train(bench, text_of(name))
    run(tmp_path, name, monkeypatch, turns_word(name), "2", *device(name))
    data = (tmp_path / f"{name}.safetensors").read_bytes()
    assert go_on(bench, text_of(name), data).outcome == "done"
    for key, value in values(bench).items():
        assert same(value, whole[key]), key


@pytest.mark.parametrize("name", PLACES)
def test_a_script_goes_on_from_the_windows_file(
    name: str, bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(tmp_path, name, monkeypatch, *device(name))
    whole = load_file(tmp_path / f"{name}.safetensors")
    train(bench, text_of(name).replace("range(6)", "range(2)"))
    path = tmp_path / "window.st"
    path.write_bytes(checkpoint_bytes(bench.engine.live)[0])
    options = ("--resume", str(path), "--checkpoint", str(tmp_path / "on.st"), *device(name))
    assert run(tmp_path, name, monkeypatch, *options) == 0
    on = load_file(tmp_path / "on.st")
    assert on.keys() == whole.keys() and all(torch.equal(value, on[key]) for key, value in whole.items())


def test_a_checkpoint_is_kept_at_the_end_of_a_turn_and_nowhere_inside(bench: Bench) -> None:
    load(bench, text_of("added"))
    with pytest.raises(VerbRefused, match="Nothing has been trained"):
        checkpoint_bytes(bench.engine.live)
    bench.engine.do(Do(verb="step"))
    with pytest.raises(VerbRefused, match="has not begun"):
        checkpoint_bytes(bench.engine.live)
    bench.engine.do(Do(verb="backward"))
    with pytest.raises(VerbRefused, match="inside a turn"):
        checkpoint_bytes(bench.engine.live)


def test_curves_go_on_where_the_checkpoint_was(bench: Bench) -> None:
    train(bench, text_of("added").replace("range(6)", "range(2)"))
    data, _ = checkpoint_bytes(bench.engine.live)
    bench.events.clear()
    go_on(bench, text_of("added"), data)
    numbers: dict[str, int] = {}
    for event in bench.events:
        if isinstance(event, Turned):
            numbers[event.loop] = event.number
    assert bench.engine.loaded is not None
    assert numbers[bench.engine.loaded.items[-1].id] == 6


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (text_of("added").replace("manual_seed(3)", "manual_seed(4)"), "began with seed 3, and the program has seed 4"),
        (text_of("added").replace("range(6)", "range(2)"), "behind turn 2, and the loop has 2"),
        (text_of("added").replace("Linear(3, 8)", "Linear(3, 9)").replace("Norm1d(8)", "Norm1d(9)"), "another program"),
        (text_of("added").replace("net", "model"), "it has no 'model'"),
        ("import torch\nx = torch.ones(3)\n", "no loop that trains"),
    ],
)
def test_what_does_not_fit_is_refused_in_words(text: str, words: str, bench: Bench) -> None:
    train(bench, text_of("added").replace("range(6)", "range(2)"))
    data, _ = checkpoint_bytes(bench.engine.live)
    paused = go_on(bench, text, data)
    assert paused.outcome == "refused" and words in paused.reason


@pytest.mark.parametrize("data", [b"", b"\x05\0\0\0\0\0\0\0hello", b"\0" * 64])
def test_what_is_no_checkpoint_is_refused(data: bytes, bench: Bench) -> None:
    paused = go_on(bench, text_of("added"), data)
    assert paused.outcome == "refused" and "no checkpoint" in paused.reason


def test_a_finished_training_is_put_back_and_pauses_at_its_end(bench: Bench) -> None:
    text = text_of("added") + "print(6)\n"
    whole = train(bench, text)
    data, turns = checkpoint_bytes(bench.engine.live)
    load(bench, text + "\n")
    torch.manual_seed(99)
    paused = bench.engine.do(Do(verb="continue", checkpoint=data, stays=True, samples_turns=True))
    assert (paused.outcome, paused.at_end, turns) == ("done", False, 6)
    assert checkpoint_bytes(bench.engine.live)[1] == 6
    after = values(bench)
    assert all(same(after[key], whole[key]) for key in after if key.startswith(("model", "net", "w", "opt")))


def test_charts_of_a_training_that_is_put_back_show_what_it_had_learnt(bench: Bench) -> None:
    text = text_of("added")
    load(bench, text)
    graph = read_script(text).graph
    net = next(item for item, made in graph.nodes.items() if made.names == ("net",))
    charts: tuple[WantedChart, ...] = ((net, "histogram"),)
    assert bench.engine.do(Do(verb="run", samples_turns=True, charts=charts)).outcome == "done"
    learnt = [event for event in bench.events if isinstance(event, HistogramDrawn)][-1]
    data, _ = checkpoint_bytes(bench.engine.live)
    load(bench, text)
    bench.events.clear()
    bench.engine.do(Do(verb="continue", checkpoint=data, stays=True, samples_turns=True, charts=charts))
    restored = [event for event in bench.events if isinstance(event, HistogramDrawn)][-1]
    assert restored.edges[-1] == learnt.edges[-1] != learnt.edges[0]


def test_a_checkpoint_that_is_too_large_is_refused(bench: Bench) -> None:
    train(bench, text_of("added"))
    with pytest.raises(VerbRefused, match="more than 0 MB"):
        checkpoint_bytes(bench.engine.live, 100)


def changed(data: bytes, about: dict[str, object], tensors: dict[str, torch.Tensor]) -> bytes:
    """A checkpoint that says something else."""
    size = int.from_bytes(data[:8], "little")
    kept = json.loads(json.loads(data[8 : 8 + size])["__metadata__"]["training"])
    result: bytes = save({**load_bytes(data), **tensors}, {"training": json.dumps(kept | about)})
    return result


DEEP: list[object] = ["plain", 1]
for _ in range(400):
    DEEP = ["list", [DEEP]]
MALFORMED: dict[str, tuple[dict[str, object], dict[str, torch.Tensor]]] = {
    "numbers of another kind": ({}, {"random": torch.zeros(3)}),
    "a generator of another size": ({}, {"generators.torch": torch.zeros(3, dtype=torch.uint8)}),
    "objects that are none": ({"objects": {"opt": 3, "plan": 3}}, {}),
    "objects of another kind": ({"objects": {"opt": [3], "plan": [3]}}, {}),
    "groups without their words": ({"objects": {"opt": [{"params": "ab"}], "plan": {"optimizer": 3}}}, {}),
    "modes that are none": ({"modes": {"net": 3, "model": 3}}, {}),
    "places that are none": ({"places": [[]]}, {}),
    "a place before all": ({"places": [[0, 1, 0], [-99, 0, 0]]}, {}),
    "a value of no kind": ({"values": {"loss": 3, "step": 3, "k": 3}}, {}),
    "a key that is a list": ({"values": {"loss": ["dict", [[["list", []], ["plain", 1]]]]}}, {}),
    "a value that goes down": ({"values": {"loss": DEEP}}, {}),
    "a gradient of another shape": ({}, {"gradient.w": torch.zeros(77), "gradient.net.0.weight": torch.zeros(77)}),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_what_says_something_else_is_refused_or_passed_over_and_the_engine_lives(case: str, bench: Bench) -> None:
    text = text_of("added")
    train(bench, text.replace("range(6)", "range(2)"))
    data, _ = checkpoint_bytes(bench.engine.live)
    paused = go_on(bench, text, changed(data, *MALFORMED[case]))
    assert paused.outcome in ("done", "refused")
    assert paused.outcome == "done" or "checkpoint" in paused.reason
    assert train(bench, text)
