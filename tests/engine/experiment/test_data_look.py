"""Data that a program makes are told before a run as plain torch makes them, and only where that is little."""

from typing import Any

import pytest
import torch
from safetensors.torch import load

from gradstudio.engine.experiment.data_look import DataLook
from gradstudio.engine.experiment.rerun import World
from gradstudio.engine.infer.shape_inference import Inference
from gradstudio.engine.live.live_state import Loaded
from gradstudio.engine.pipe import Inbox
from gradstudio.engine.service import Service
from gradstudio.engine.torch_settings import settings
from gradstudio.paths import resources
from gradstudio.program.compile import compile_graph
from gradstudio.program.reading.reader import read_script
from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.messages.inference import DataLooked, Infer, LookAtData
from gradstudio.protocol.messages.requests import Load

SETS = (resources() / "groups" / "data_sets.py").read_text("utf-8")


def look(text: str, names: str, gives_way: bool = False) -> DataLooked | None:
    graph = read_script(text).graph
    nodes = [next(item for item, node in graph.nodes.items() if name in node.names) for name in names.split()]
    program = compile_graph(graph)
    loaded = Loaded("document", 1, program)

    def load_file(*_: object) -> object:
        raise AssertionError("nothing is stored")

    ports = Inference().infer(Infer(revision=1, program=program), load_file).ports
    world = World(loaded, program.seed or 0, settings(), load_file, lambda: gives_way)
    return DataLook(LookAtData(request=7, nodes=tuple(nodes)), world, ports).answer()


def told(text: str, name: str) -> list[torch.Tensor]:
    answered = look(text, name)
    assert answered is not None and answered.request == 7 and answered.error == ""
    return [load(data)["data"] for data in answered.tensors]


def refusal(text: str, name: str) -> str:
    answered = look(text, name)
    assert answered is not None and not answered.tensors
    return answered.error


def in_python(text: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(text, names)
    return names


ABOVE = SETS + (
    "torch.manual_seed(3)\nnet = torch.nn.Sequential(torch.nn.Linear(2, 64), torch.nn.ReLU())\n"
    "noise = torch.rand(10)\nfor k in range(3):\n    noise = noise + torch.randn(10)\n"
)


@pytest.mark.parametrize("name", ["two_moons", "circles", "spirals", "blobs", "xor", "sine"])
def test_they_are_those_of_the_run_bit_for_bit(name: str) -> None:
    text = ABOVE + f"points, labels = {name}(count=50)\n"
    kept = torch.get_rng_state()
    found = told(text, "points")
    assert torch.equal(torch.get_rng_state(), kept), "the generators are as they were"
    expected = in_python(text)
    for one, other in zip(found, (expected["points"], expected["labels"]), strict=True):
        assert one.dtype == other.dtype and torch.equal(one, other)


def test_several_are_told_as_they_are_when_each_is_made() -> None:
    text = (
        "import torch\ntorch.manual_seed(1)\ny = torch.randint(0, 3, (20,))\nX = torch.randn(20, 4)\n"
        "X.mul_(2)\nX_test = X[15:]\ny_test = y[15:]\n"
    )
    found = told(text, "X y X_test y_test")
    expected = in_python(text)
    halves = {"X": expected["X"] / 2, **{name: expected[name] for name in ("y", "X_test", "y_test")}}
    for one, other in zip(found, halves.values(), strict=True):
        assert torch.equal(one, other)


def test_what_would_take_long_is_left_to_a_run() -> None:
    data = "points, labels = two_moons()\n"
    assert refusal(SETS + "large = torch.zeros(3000, 3000)\n" + data, "points") == (
        "`large` has 9,000,000 numbers: a run makes them."
    )
    assert "numbers" in refusal(SETS + "net = torch.nn.Linear(3000, 3000)\n" + data, "points")
    assert refusal(SETS + "points, labels = two_moons(count=600_000)\n", "points") == (
        "It gives more than 1,000,000 numbers."
    )
    endless = "x = torch.zeros(2)\nfor k in range(100_000_000):\n    x = x + 1\n"
    assert refusal(SETS + endless + data, "points") == "Stopped."


def test_what_is_in_a_loop_or_fails_is_not_told() -> None:
    assert "loop" in refusal(SETS + "for k in range(3):\n    points, labels = two_moons()\n", "points")
    failing = "x = torch.zeros(2) @ torch.zeros(3)\npoints, labels = two_moons()\n"
    assert refusal(SETS + failing, "points").startswith("RuntimeError: inconsistent tensor size")


def test_it_gives_way_to_what_else_is_asked() -> None:
    assert look(SETS + "points, labels = two_moons()\n", "points", gives_way=True) is None


class Line(Inbox):
    """An inbox to which nothing comes; `busy`: something waits there."""

    def __init__(self) -> None:
        self.busy = False

    def waiting(self) -> bool:
        return self.busy

    def load(self) -> None:
        return None

    watch = load


def test_the_engine_looks_when_nothing_else_is_asked_and_never_at_another_program() -> None:
    sent: list[Message] = []

    class Out:
        send = staticmethod(sent.append)

    line = Line()
    service = Service(line, Out())  # type: ignore[arg-type]
    graph = read_script(SETS + "points, labels = two_moons()\n").graph
    node = next(item for item, node in graph.nodes.items() if "points" in node.names)
    program = compile_graph(graph)

    def answers() -> list[DataLooked]:
        while service._idle():
            pass
        return [event for event in sent if isinstance(event, DataLooked)]

    service.handle(Load(document="d", revision=1, program=program))
    service.handle(Infer(revision=1))
    service.handle(LookAtData(request=1, nodes=(node,)))
    line.busy = True
    assert answers() == []
    line.busy = False
    (told,) = answers()
    assert len(told.tensors) == 2 and told.error == ""
    service.handle(LookAtData(request=2, nodes=(node,)))
    service.handle(Load(document="d", revision=2, program=compile_graph(graph)))
    assert answers()[1:] == [DataLooked(request=2)]


def test_the_moons_reach_into_each_other_and_do_not_touch() -> None:
    made = in_python(SETS + "points, labels = two_moons(count=400, noise=0.0)\n")
    upper, lower = (made["points"][made["labels"] == label] for label in (0, 1))
    assert upper[:, 1].min() < -0.2 and lower[:, 1].max() > 0.2, "a line would part them"
    assert upper[:, 0].max() > lower[:, 0].min() + 0.8
    assert torch.cdist(upper, lower).min() > 0.25
