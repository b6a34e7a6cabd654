"""A recorded run looks inside code: rows by source line, with the values and gradients that torch has there."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from gradstudio.graph.groups.code_ids import CodeCall, code_call, code_call_id
from gradstudio.graph.model import ItemId
from gradstudio.program.compile import compile_graph
from gradstudio.program.reading.reader import read_script
from gradstudio.program.trust import code_digest
from gradstudio.protocol.client import COMMAND, RUNS_CODE, EngineProcess
from gradstudio.protocol.messages.backward_trace import BackwardTraced
from gradstudio.protocol.messages.events import Event, Gradients, GradRow, Paused, Row, Traced
from gradstudio.protocol.messages.records import TensorRecord
from gradstudio.protocol.messages.requests import Do, Load, Trust
from gradstudio.protocol.timeline.run_timeline import Timeline
from tests.protocol.timelines import feed

TEXT = """import torch

x = torch.tensor([0.5, -2.0, 3.0], requires_grad=True)


class Grow:
    def __call__(self, v):
        turns = 0
        while v.norm() < 20:
            v = torch.relu(v * 2) + 1
            turns += 1
        return v, turns


grow = Grow()
y, turns = grow(x)
loss = y.sum()
loss.backward()
"""
TRAINING = """import torch
from torch import nn


class Trainer:
    def fit(self):
        torch.manual_seed(0)
        net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
        net[1].register_forward_hook(lambda module, inputs, result: result.exp())
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for step in range(2):
            loss = net(torch.ones(2, 3)).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


trainer = Trainer()
trainer.fit()
"""
COMPILED = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))

    def forward(self, x):
        return self.layers(x).sin()


graphs = []


def counting(graph, inputs):
    graphs.append(graph)
    return graph.forward


torch.manual_seed(0)
net = Net()
net.compile(backend=counting)
whole = torch.compile(Net(), backend=counting)
for step in range(3):
    y = net(torch.ones(2, 3))
    y.sum().backward()
    z = whole(torch.ones(2, 3))
count = torch.tensor(len(graphs))
"""
PLAIN = ("y", "z", "count")
IN_PLACE = """import torch


class Write:
    def __call__(self, v):
        total = v * 2
        total += 10
        total.mul_(3)
        return total


write = Write()
y = write(torch.ones(2))
"""


@pytest.fixture(scope="module")
def engine() -> Iterator[EngineProcess]:
    with EngineProcess((*COMMAND, RUNS_CODE)) as process:
        process.wait_until_ready()
        yield process


def events_of(engine: EngineProcess, text: str, folder: Path, *, trace: bool = True) -> list[Event]:
    graph = read_script(text, keeps_code=True).graph
    program = compile_graph(graph)
    trust = Trust(code_digest(program), str(folder / "program.py"), str(folder))
    heard: list[Event] = []
    engine.send(Load(document=text, revision=1, program=program, tensors={}))
    engine.send(Do(verb="run", trace=trace, trust=trust, restart=True))
    paused = engine.wait_for(Paused, on_event=heard.append)
    assert isinstance(paused, Paused)
    assert paused.outcome == "done"
    return heard


def rows_of(heard: list[Event]) -> list[tuple[CodeCall, Row]]:
    rows = [row for event in heard if isinstance(event, Traced) for row in event.rows]
    return [(call, row) for row in rows if (call := code_call(row.node)) is not None]


def values(row: Row) -> object:
    (record,) = row.outputs
    assert isinstance(record, TensorRecord)
    return record.summary.value


def test_each_call_is_a_row_under_its_line_with_what_torch_gives(engine: EngineProcess, tmp_path: Path) -> None:
    found = rows_of(events_of(engine, TEXT, tmp_path))
    lines = compile_graph(read_script(TEXT, keeps_code=True).graph).script.splitlines()
    head, body = (next(k for k, line in enumerate(lines, 1) if word in line) for word in ("while", "relu"))
    v = torch.tensor([0.5, -2.0, 3.0])
    expected: list[tuple[int, str, torch.Tensor]] = []
    while True:
        expected.append((head, "norm", v.norm()))
        expected.append((head, "lt", v.norm() < 20))
        if not v.norm() < 20:
            break
        expected += [(body, "mul", v * 2), (body, "relu", torch.relu(v * 2)), (body, "add", torch.relu(v * 2) + 1)]
        v = torch.relu(v * 2) + 1
    assert [(call.line, call.word) for call, _ in found] == [(line, word) for line, word, _ in expected]
    for (_, row), (_, _, tensor) in zip(found, expected, strict=True):
        assert torch.equal(torch.tensor(values(row), dtype=tensor.dtype), tensor)


@pytest.mark.parametrize(
    ("hook", "change"),
    [
        ("register_hook", "lambda g: g * 10"),
        ("register_hook", "ten"),
        ("register_post_accumulate_grad_hook", "lambda leaf: [leaf.grad.mul_(10)].clear()"),
    ],
)
def test_beside_a_hook_of_a_leaf_a_step_of_the_backward_tells_what_its_rule_gave(
    engine: EngineProcess, tmp_path: Path, hook: str, change: str
) -> None:
    """Torch's own numbers: what leaves PowBackward0 is 3 a²; the hook makes ten times as much of it behind that."""
    text = (
        "import torch\ndef ten(g):\n    return g * 10\na = torch.tensor([1.0, 2.0], requires_grad=True)\n"
        f"a.{hook}({change})\nb = a ** 3\nc = b.sum()\nc.backward()\n"
    )
    heard = events_of(engine, text, tmp_path)
    (traced,) = [event for event in heard if isinstance(event, BackwardTraced)]
    left = {row.autograd: [one.value for one in row.outgoing if one is not None] for row in traced.rows}
    assert left["PowBackward0"] == [[3.0, 12.0]]
    (leaf,) = [row for row in traced.rows if row.autograd == "AccumulateGrad"]
    assert leaf.after is not None and leaf.after.value == [30.0, 120.0]
    (told,) = leaf.hooks
    assert told.before is not None and told.after is not None
    assert (told.before.value, told.after.value, told.changed) == ([3.0, 12.0], [30.0, 120.0], True)
    lines = compile_graph(read_script(text, keeps_code=True).graph).script.splitlines()
    begin = "def ten" if change == "ten" else f"a.{hook}"
    (line,) = (number for number, text in enumerate(lines, 1) if text.startswith(begin))
    assert (told.name, told.file, told.line) == (change.partition(" ")[0], "", line)


def test_what_is_compiled_is_compiled_in_a_recorded_run_too_and_is_one_call(
    engine: EngineProcess, tmp_path: Path
) -> None:
    heard = events_of(engine, COMPILED, tmp_path)
    graph = read_script(COMPILED, keeps_code=True).graph
    rows = {row.node: row for event in heard if isinstance(event, Traced) for row in event.rows}
    found = {name: values(rows[item]) for item, node in graph.nodes.items() for name in node.names if name in PLAIN}
    plain: dict[str, Any] = {}
    exec(COMPILED, plain)
    assert found == {name: plain[name].tolist() for name in PLAIN} and found["count"] == 1
    assert not rows_of(heard)


def test_the_backward_goes_through_it_and_each_value_has_its_gradient(engine: EngineProcess, tmp_path: Path) -> None:
    heard = events_of(engine, TEXT, tmp_path)
    (backward,) = [event for event in heard if isinstance(event, BackwardTraced)]
    kept: list[torch.Tensor] = []
    x = torch.tensor([0.5, -2.0, 3.0], requires_grad=True)
    v = x
    while v.norm() < 20:
        for make in (lambda t: t * 2, torch.relu, lambda t: t + 1):
            v = make(v)
            v.retain_grad()
            kept.append(v)
    v.sum().backward()
    inside = [call for row in backward.rows if (call := code_call(row.node)) is not None]
    assert [call.word for call in inside] == ["add", "relu", "mul"] * (len(kept) // 3)
    assert [event.whole for event in heard if isinstance(event, Gradients)][-1]
    told = list(feed(Timeline(), heard).gradients())
    by_number: dict[int, GradRow] = {
        call.number: row for row in told if (call := code_call(row.node)) is not None and row.grad is not None
    }
    grads = [by_number[number].grad for number in sorted(by_number)]
    assert len(grads) == len(kept)
    for summary, tensor in zip(grads, kept, strict=True):
        assert summary is not None
        assert torch.equal(torch.tensor(summary.value), tensor.grad)
    leaf = next(row for row in told if row.state == "value" and code_call(row.node) is None)
    assert leaf.grad is not None
    assert torch.equal(torch.tensor(leaf.grad.value), x.grad)


def test_a_training_loop_within_a_function_has_its_layers_backwards_and_steps(
    engine: EngineProcess, tmp_path: Path
) -> None:
    heard = events_of(engine, TRAINING, tmp_path)
    turn = ["ones", "Linear", "ReLU", "exp", "Linear", "pow", "mean", "step"]
    assert [call.word for call, _ in rows_of(heard)] == [*turn, *turn], "what makes layers and batches is not in it"
    backwards = [event for event in heard if isinstance(event, BackwardTraced)]
    assert [event.backward for event in backwards] == [1, 2]
    assert all(event.rows and event.turns == () for event in backwards)


def test_a_value_is_told_as_it_was_before_the_code_wrote_into_it(engine: EngineProcess, tmp_path: Path) -> None:
    found = {call.word: values(row) for call, row in rows_of(events_of(engine, IN_PLACE, tmp_path))}
    assert found == {"mul": [2.0, 2.0], "add_": [12.0, 12.0], "mul_": [36.0, 36.0]}


def test_a_statement_that_makes_one_call_is_that_call(engine: EngineProcess, tmp_path: Path) -> None:
    maker = "class One:\n    def __call__(self, v):\n        return v.exp()\n"
    text = f"import torch\n\n\n{maker}\n\none = One()\ny = one(torch.ones(2))\n"
    assert rows_of(events_of(engine, text, tmp_path)) == []


def test_a_plain_run_looks_nowhere(engine: EngineProcess, tmp_path: Path) -> None:
    assert not [event for event in events_of(engine, TEXT, tmp_path, trace=False) if isinstance(event, Traced)]


def test_so_many_calls_are_noted_and_all_run(engine: EngineProcess, tmp_path: Path) -> None:
    text = TEXT.replace("< 20", "< 20 or turns < 3000")
    heard = events_of(engine, text.replace("v * 2", "v * 1.0001"), tmp_path)
    assert len(rows_of(heard)) == 400


def test_an_id_says_where_and_what() -> None:
    call = CodeCall(ItemId("n1/n2"), "a_b.py", 12, 3, "torch.Tensor.T.__get__")
    assert code_call(code_call_id(call)) == call
    assert call.word == "T"
    assert code_call(code_call_id(call._replace(file="a/b:c"))) == call._replace(file="a_b_c")
    assert code_call(ItemId("n1/n2")) is None
