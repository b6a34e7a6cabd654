"""Inference inside calls of groups against the run: what is stated is true, and equal calls cost little."""

import pytest

from gradstudio.engine.infer.shape_inference import Inference
from gradstudio.engine.infer.statement_inference import StatementInference
from gradstudio.engine.meta.inference_results import Results
from gradstudio.graph.groups.call_ids import is_call_item, path_of
from gradstudio.program.model import Program
from gradstudio.protocol.messages.records import TensorRecord
from gradstudio.protocol.messages.requests import Do
from tests.engine.conftest import Bench
from tests.engine.infer.test_shape_inference import Ports, infer, stated
from tests.engine.run.test_call_tracing import CLASSES, FUNCTIONS, _flat, compiled

pytestmark = [pytest.mark.feature(40)]
HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n\n\n"
SOME = {
    "functions": FUNCTIONS,
    "classes": CLASSES,
    "numbers that decide": HEAD + "def f(a, n):\n    m = a > 0\n    b = a[m]\n    c = torch.zeros(n, 2)\n    return b, c\n\n\nx = torch.randn(6)\ny, z = f(x, 3)\nt = torch.tensor([1.0, -1.0])\ny2, z2 = f(t, n=4)\n",  # noqa: E501
    "in place": HEAD + "def f(a):\n    b = a * 1\n    b.unsqueeze_(0)\n    c = b + 1\n    a += 1\n    return c\n\n\nx = torch.ones(3)\ny = f(x)\nz = f(x)\n",  # noqa: E501
    "a growing value": HEAD + "def f(a):\n    for t in range(3):\n        b = a * 2\n        a = torch.cat([a, a])\n    return a\n\n\nx = torch.ones(2)\ny = f(x)\nz = f(y)\n",  # noqa: E501
    "in a loop": HEAD + "def f(a):\n    b = torch.cat([a, a])\n    return b\n\n\nx = torch.ones(2)\nfor t in range(3):\n    x = f(x)\ny = f(x)\n",  # noqa: E501
    "modes": HEAD + "def f(a):\n    b = a * 2\n    with torch.no_grad():\n        c = b @ b\n    return c\n\n\nx = torch.ones(2, 2, requires_grad=True)\ny = f(x)\nwith torch.no_grad():\n    z = f(x)\nwith torch.autocast('cpu', dtype=torch.bfloat16):\n    w = f(x)\n",  # noqa: E501
    "a layer that is replaced": HEAD + "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(3, 2)\n\n    def forward(self, x):\n        h = self.fc(x)\n        return h * 2\n\n\nnet = Net()\nx = torch.ones(4, 3)\ny = net(x)\nnet.fc = nn.Linear(3, 5)\nz = net(x)\n",  # noqa: E501
    "frozen, then not": HEAD + "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(3, 2)\n\n    def forward(self, x):\n        h = self.fc(x)\n        return h * 2\n\n\nnet = Net()\nx = torch.ones(4, 3)\ny = net(x)\nnet.requires_grad_(False)\nz = net(x)\n",  # noqa: E501
    "lazy": HEAD + "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.fc = nn.LazyLinear(4)\n\n    def forward(self, x):\n        h = self.fc(x)\n        return h * 2\n\n\nnet = Net()\nx = torch.ones(4, 3)\ny = net(x)\nz = net(x)\n",  # noqa: E501
    "parameters and buffers": HEAD + "class Net(nn.Module):\n    def __init__(self, n=3):\n        super().__init__()\n        w = torch.zeros(n, 2)\n        self.w = nn.Parameter(w)\n        self.register_buffer('mean', torch.ones(n))\n\n    def forward(self, x):\n        c = x - self.mean\n        h = c @ self.w\n        return F.layer_norm(h, (2,))\n\n\nnet = Net()\nx = torch.ones(4, 3)\ny = net(x)\nz = net(x=x[:1])\n",  # noqa: E501
    "moved": HEAD + "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(3, 2)\n\n    def forward(self, x):\n        return self.fc(x)\n\n\nnet = Net()\nnet.double()\nx = torch.ones(4, 3, dtype=torch.float64)\ny = net(x)\n",  # noqa: E501
    "the same twice": HEAD + "def f(a, b):\n    a.unsqueeze_(0)\n    c = b * 2\n    return c\n\n\nx = torch.ones(3)\nv = torch.ones(3)\ny = f(x, v)\nw = torch.ones(3)\nz = f(w, w)\n",  # noqa: E501
}  # fmt: skip
REFUSED = (
    HEAD
    + "def g(a):\n    h = a @ a\n    return h\n\n\n"
    + "def f(a):\n    b = a * 2\n    c = g(b)\n    d = c + 1\n    return d\n\n\n"
    + "x = torch.ones(2, 3)\ny = f(x)\nq = torch.ones(3, 3)\nz = f(q)\n"
)


def by_name(program: Program, ports: Ports) -> dict[str, object]:
    """What is told, by addresses: ``y/b`` is what the group binds as b in the call y."""
    parts = [one for inside in program.insides for one in (*inside.setup, *inside.body)]
    names = {one.node: one.address for one in _flat((*program.statements, *parts))}
    return {"/".join(names.get(part, part) for part in path_of(node)): p for (node, out), p in ports.items() if not out}


@pytest.mark.parametrize("name", SOME)
def test_what_is_stated_inside_is_what_the_run_gives(bench: Bench, name: str) -> None:
    program, inference = compiled(SOME[name]), Inference()
    told = infer(program, inference)
    bench.load(program)
    bench.engine.do(Do(verb="run"))
    for row in bench.rows():
        for place, record in enumerate(row.outputs):
            port = told.get((row.node, place))
            if port is None or not isinstance(record, TensorRecord) or any(row.turns):
                continue
            assert not port.refusal, (row.node, port.refusal)
            if port.shape is not None:
                assert port.shape == record.summary.shape, row.node
                assert port.dtype in ("", record.summary.dtype), row.node
                assert port.requires_grad == record.requires_grad, row.node
    assert infer(program, inference) == told
    assert infer(program, inference) == told


@pytest.mark.parametrize("name", ["functions", "classes", "parameters and buffers", "moved"])
def test_straight_groups_are_known_whole(bench: Bench, name: str) -> None:
    program = compiled(SOME[name])
    bench.load(program)
    bench.engine.do(Do(verb="run"))
    told = stated(infer(program))
    rows = [row for row in bench.rows() if is_call_item(row.node)]
    found = {(row.node, k) for row in rows for k, one in enumerate(row.outputs) if isinstance(one, TensorRecord)}
    assert found
    assert found - set(told) == set()


def test_a_refusal_inside_is_told_there_and_at_the_calls_around() -> None:
    program = compiled(REFUSED)
    told = by_name(program, infer(program))
    words = {name: port.refusal for name, port in told.items() if port.refusal}  # type: ignore[attr-defined]
    assert set(words) == {"y", "y/c", "y/c/h"}
    assert all("cannot be multiplied" in one for one in words.values())
    assert told["y/b"].shape == (2, 3)  # type: ignore[attr-defined]
    assert told["y/d"].known_after_run  # type: ignore[attr-defined]
    assert told["z/c/h"].shape == (3, 3)  # type: ignore[attr-defined]


def test_an_edit_inside_a_group_is_seen_in_every_call() -> None:
    inference = Inference()
    for text in (
        CLASSES,
        CLASSES.replace("hidden=4", "hidden=7"),
        CLASSES.replace("Linear(width, width)", "Linear(width, 9)"),
    ):
        assert infer(compiled(text), inference) == infer(compiled(text))


def test_many_calls_cost_little(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = list[str]()

    class Counted(StatementInference):
        def results(self) -> Results:
            tried.append(self._step.id)
            return super().results()

    monkeypatch.setattr("gradstudio.engine.infer.inference_pass.StatementInference", Counted)
    lines = "".join(f"    a{i + 1} = torch.tanh(a{i} * 2)\n" for i in range(10))
    calls = "".join(f"x{i + 1} = f(x{i})\ny{i} = f(torch.full((3,), {i}.0))\n" for i in range(150))
    program = compiled(HEAD + f"def f(a0):\n{lines}    return a10\n\n\nx0 = torch.ones(3)\n{calls}")
    inference = Inference()
    told = by_name(program, infer(program, inference))
    assert told["x1/a5"].shape == told["x150/a5"].shape == told["y149/a5"].shape == (3,)  # type: ignore[attr-defined]
    assert len(tried) < 451 + 600  # the program's own, and those inside the first calls
    tried.clear()
    infer(program, inference)
    assert len(tried) < 10
