"""What is inside calls of groups: every value and gradient as plain torch has it, under ``call/inner``."""

import dataclasses

import msgspec
import pytest
import torch
from torch import Tensor, nn

from gradstudio.engine.errors import AccessRefused
from gradstudio.engine.run.call_tracing import CallTracer, Names
from gradstudio.graph.model import ItemId
from gradstudio.program.compile import compile_graph
from gradstudio.program.model import BlockStatement, Program, Statement
from gradstudio.program.reading.reader import read_script
from gradstudio.protocol.messages.events import GradRow, Row
from gradstudio.protocol.messages.records import Record, TensorRecord
from gradstudio.protocol.messages.requests import Do
from tests.engine.conftest import Bench

pytestmark = pytest.mark.feature(40)

FUNCTIONS = """import torch
import torch.nn.functional as F

torch.manual_seed(0)


def scale(a, k=2.0):
    b = a * k
    return b, b + 1


def twice(a):
    b, c = scale(a)
    d = torch.tanh(b * c)
    for t in range(3):
        d = d * a
    with torch.no_grad():
        e = d.sum()
    return d, e


w = torch.randn(3, requires_grad=True)
y, n = twice(w)
z, m = twice(y)
loss = z.sum()
loss.backward()
"""

CLASSES = """import torch
from torch import nn

torch.manual_seed(0)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self.fc = nn.Linear(width, width)

    def forward(self, x):
        h = self.fc(x)
        return torch.relu(h) / self.width


class Net(nn.Module):
    def __init__(self, hidden=4):
        super().__init__()
        self.first = nn.Linear(2, hidden)
        self.block = Block(hidden)

    def forward(self, x):
        a = self.first(x)
        b = self.block(a)
        return b


net = Net()
x = torch.randn(5, 2)
y = net(x)
z = net(x * 2)
loss = (y * z).sum()
loss.backward()
"""


def compiled(text: str) -> Program:
    return compile_graph(read_script(text).graph)


class Told:
    """The rows and gradients of a run, by address."""

    def __init__(self, bench: Bench, program: Program) -> None:
        self.rows, self.order = dict[str, list[Row]](), list[str]()
        self.ids = {one.node: one.address for one in _flat(program.statements)}
        inner = {inside.name: inside for inside in program.insides}
        self._names = {inside.name: [*_flat(inside.setup), *_flat(inside.body)] for inside in inner.values()}
        for row in bench.rows():
            self.rows.setdefault(row.node, []).append(row)
            self.order.append(row.node)
        self.grads = bench.grads()

    def id(self, address: str) -> ItemId:
        """The id behind an address, with ``@inputs`` as it is."""
        first, *path = address.split("/")
        found = next(item for item, name in self.ids.items() if name == first)
        for word in path:
            found = ItemId(f"{found}/{self._inner(word)}")
        return found

    def _inner(self, word: str) -> str:
        if word.startswith("@"):
            return word
        group, _, name = word.rpartition(".")
        return next(one.node for one in self._names[group] if name in (one.address, *one.names))

    def record(self, address: str, turn: int = -1, output: int = 0) -> Record:
        return self.rows[self.id(address)][turn].outputs[output]

    def grad(self, address: str, output: int = 0, path: str = "") -> GradRow:
        return self.grads[self.id(address), output, path]


def _flat(statements: tuple[Statement | BlockStatement, ...]) -> list[Statement]:
    found: list[Statement] = []
    for one in statements:
        found += [one] if isinstance(one, Statement) else _flat(one.body)
    return found


def told(bench: Bench, text: str, **options: object) -> Told:
    program = compiled(text)
    bench.load(program)
    paused = bench.engine.do(Do(verb="run"))
    assert paused.outcome == "done", [event for event in bench.events if type(event).__name__ == "Failed"]
    return Told(bench, program)


def same(record: Record, value: Tensor) -> None:
    assert isinstance(record, TensorRecord)
    assert record.summary.value == value.tolist()
    assert record.grad_fn == (None if value.grad_fn is None else type(value.grad_fn).__name__)


def test_every_value_and_gradient_inside_two_calls_is_that_of_plain_torch(bench: Bench) -> None:
    run = told(bench, FUNCTIONS)
    torch.manual_seed(0)
    w = torch.randn(3, requires_grad=True)
    a, kept = w, list[Tensor]()
    for call in ("y", "z"):
        b = a * 2.0
        c = b + 1
        p = b * c
        d = torch.tanh(p)
        turns = [d]
        for _ in range(3):
            turns.append(turns[-1] * a)
        for value in (b, c, p, *turns):
            value.retain_grad()
        same(run.record(f"{call}/@inputs"), a)
        same(run.record(f"{call}/twice.b/scale.b"), b)
        same(run.record(f"{call}/twice.b/scale.add_1"), c)
        same(run.record(f"{call}/twice.mul_1"), p)
        same(run.record(f"{call}/twice.d"), d)
        loop = next(item for item in run.rows if len(run.rows[item]) == 3 and item.startswith(run.id(call)))
        for turn, value in enumerate(turns[1:]):
            assert run.rows[loop][turn].turns == (turn,)
            same(run.rows[loop][turn].outputs[0], value)
        kept += [b, c, p, d]
        a = turns[-1]
    a.sum().backward()
    names = ("twice.b/scale.b", "twice.b/scale.add_1", "twice.mul_1", "twice.d")
    for address, value in zip([f"{call}/{name}" for call in "yz" for name in names], kept, strict=True):
        row = run.grad(address)
        assert row.state == "value" and row.grad is not None and value.grad is not None
        assert row.grad.value == value.grad.tolist(), address
    assert run.grad("y/twice.e").state == "cut"
    leaf = run.grad("y/@inputs")
    assert leaf.grad is not None and w.grad is not None and leaf.grad.value == w.grad.tolist()


def test_inner_rows_come_before_the_row_of_their_call(bench: Bench) -> None:
    run = told(bench, FUNCTIONS)
    call = run.id("y")
    inner = [place for place, item in enumerate(run.order) if item.startswith(f"{call}/")]
    assert inner and max(inner) < run.order.index(call)


def test_a_class_shows_its_layers_its_values_and_its_leaves_in_every_call(bench: Bench) -> None:
    run = told(bench, CLASSES)
    torch.manual_seed(0)
    first, fc = nn.Linear(2, 4), nn.Linear(4, 4)
    x = torch.randn(5, 2)
    values: dict[str, Tensor] = {}
    for call, given in (("y", x), ("z", x * 2)):
        a = values[f"{call}/Net.a"] = first(given)
        h = values[f"{call}/Net.b/Block.h"] = fc(a)
        r = values[f"{call}/Net.b/Block.relu_1"] = torch.relu(h)
        values[call] = values[f"{call}/Net.b"] = r / 4
    for address, value in values.items():
        value.retain_grad()
        same(run.record(address), value)
    (values["y"] * values["z"]).sum().backward()
    for address, value in values.items():
        row = run.grad(address)
        assert row.grad is not None and value.grad is not None
        assert row.grad.value == value.grad.tolist(), address
    for address in ("net/Net.first", "y/Net.first", "z/Net.first"):
        row = run.grad(address, path="weight")
        assert row.state == "value" and row.grad is not None and first.weight.grad is not None
        assert row.grad.value == first.weight.grad.tolist()
    assert run.grad("z/Net.b/Block.fc", path="bias").grad is not None


def test_what_the_call_sent_back_along_its_wires_is_there(bench: Bench) -> None:
    run = told(bench, FUNCTIONS)
    torch.manual_seed(0)
    w = torch.randn(3, requires_grad=True)
    wires = {(wire.target, wire.port): wire for traced in bench.traced() for wire in traced.wires}
    wire = wires[run.id("y"), "a"]
    y = _twice(w)
    _twice(y).sum().backward()
    assert wire.grad is not None and w.grad is not None and wire.grad.value == pytest.approx(w.grad.tolist())
    inner = wires[run.id("y/twice.b"), "a"]
    assert inner.source == run.id("y/@inputs") and inner.grad is not None


def _twice(a: Tensor) -> Tensor:
    b = a * 2.0
    d = torch.tanh(b * (b + 1))
    for _ in range(3):
        d = d * a
    return d


FAILS = """import torch


def inner(a, b):
    c = a @ b
    return c


def outer(a, b):
    for t in range(2):
        d = inner(a, b[t:])
    return d


a = torch.ones(2, 3)
b = torch.ones(3, 4)
y = outer(a, b)
"""


@pytest.mark.parametrize("trace", [True, False])
def test_a_failure_inside_names_the_statement_inside(bench: Bench, trace: bool) -> None:
    program = compiled(FAILS)
    bench.load(program)
    assert bench.engine.do(Do(verb="run", trace=trace)).outcome == "failed"
    failed = bench.failed()
    assert [failed.address, failed.line, failed.type_name] == ["y/d/c", 5, "RuntimeError"]
    assert sum(type(event).__name__ == "Failed" for event in bench.events) == 1
    assert failed.node.count("/") == 2
    if trace:
        assert failed.turns == (1,) and [port for port, _ in failed.operands] == ["a", "b"]


def test_after_a_failure_inside_the_counter_stands_before_the_call_and_a_new_try_says_the_same(bench: Bench) -> None:
    program = compiled(FAILS)
    bench.load(program)
    first = bench.engine.do(Do(verb="run"))
    bench.events.clear()
    again = bench.engine.do(Do(verb="step"))
    assert first.next_node == again.next_node and again.outcome == "failed"
    assert bench.failed().address == "y/d/c"


def test_a_step_goes_over_a_call_at_once(bench: Bench) -> None:
    program = compiled(FUNCTIONS)
    bench.load(program)
    bench.do("step")
    paused = bench.do("step")
    calls = [one for one in _flat(program.statements) if one.operator == "group:twice"]
    assert paused.next_node == calls[1].node
    assert bench.rows()[-1].node == calls[0].node


def test_what_is_inside_changed_so_the_state_is_stale_what_is_renamed_not(bench: Bench) -> None:
    graph = read_script(FUNCTIONS).graph
    bench.load(compile_graph(graph))
    bench.do("run")
    other = read_script(FUNCTIONS.replace("torch.tanh", "torch.sin")).graph
    renamed = read_script(
        FUNCTIONS.replace("d = ", "q = ")
        .replace("= d *", "= q *")
        .replace("d.sum", "q.sum")
        .replace("return d", "return q")
    ).graph
    assert bench.load(compile_graph(renamed)) == (False, True)
    assert bench.load(compile_graph(other)) == (True, True)


def test_passes_after_a_plain_run_are_traced_inside_too_and_set_up_modules_keep_their_leaves(bench: Bench) -> None:
    program = compiled(CLASSES)
    bench.load(program)
    bench.engine.do(Do(verb="run", trace=False))
    assert not bench.rows()
    bench.do("forward")
    bench.do("backward")
    run = Told(bench, program)
    assert run.grad("y/Net.first", path="weight").state == "accumulated"
    assert run.grad("y/Net.b/Block.h").state == "value"


BACKWARD = """import torch

torch.manual_seed(0)


def learn(w, x):
    loss = (w * x).sum()
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
    return loss


w = torch.randn(3, requires_grad=True)
x = torch.ones(3)
y = learn(w, x)
g = w.grad
"""


def test_a_backward_inside_is_recorded_and_writes_are_seen(bench: Bench) -> None:
    run = told(bench, BACKWARD)
    (traced,) = bench.traced()
    assert traced.statement.startswith(f"{run.id('y')}/") and traced.backward == 1
    torch.manual_seed(0)
    w = torch.randn(3, requires_grad=True)
    record = run.record("w")
    assert isinstance(record, TensorRecord) and record.summary.value == w.tolist()
    assert bench["w"].tolist() == (w - 0.1).tolist()  # type: ignore[attr-defined]


def test_where_a_module_is_called_by_another_it_runs_as_it_is_written(bench: Bench) -> None:
    text = CLASSES.replace("net = Net()", "net = nn.Sequential(Net(), nn.ReLU())")
    run = told(bench, text)
    assert not [item for item in run.rows if item.startswith(f"{run.id('y')}/")]


def test_after_a_run_nothing_of_a_call_is_left_in_the_names(bench: Bench) -> None:
    told(bench, FUNCTIONS)
    assert "b" not in bench and "d" not in bench
    assert set(bench.report()) == {"w", "y", "n", "z", "m", "loss", "backward_1"}


@pytest.mark.parametrize("path", ["forward.__globals__", "__dict__", "_modules", "register_forward_hook"])
def test_what_stands_under_no_listed_name_is_not_looked_up_where_a_call_is_entered(path: str) -> None:
    names = Names({"self": nn.Linear(2, 2)})
    with pytest.raises(AccessRefused, match="is not among what a drawing may use"):
        names[f"self.{path}"]
    assert names["self.weight"] is names["self"].weight


@pytest.mark.parametrize("path", ["__init__.__globals__", "_parameters", "forward.__func__"])
def test_a_call_of_what_is_not_listed_is_refused_by_the_statement_and_nowhere_looked_up(
    bench: Bench, path: str
) -> None:
    program = compile_graph(read_script(CLASSES).graph)
    bench.run(program)
    found = [statement for statement in program.statements if isinstance(statement, Statement)]
    hostile = msgspec.structs.replace(
        next(one for one in found if one.operator == "python.call"), inputs=(("module", f"net.{path}"),)
    )
    step = next(step for step in bench.engine.live.loaded.steps if step.id == hostile.node)
    tracer = CallTracer(bench.engine.live, lambda entry: None)
    assert tracer._callee(dataclasses.replace(step, statement=hostile)) is None
