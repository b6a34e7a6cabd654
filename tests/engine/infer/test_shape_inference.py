"""Inference against the run: what is stated is true, and it touches nothing."""

from typing import Any

import pytest
import torch

from gradstudio.engine.infer.shape_inference import Inference
from gradstudio.engine.tensor_files import StoredTensors
from gradstudio.graph.model import ItemId
from gradstudio.program.compile import compile_graph
from gradstudio.program.model import Program
from gradstudio.program.reading.reader import read_script
from gradstudio.protocol.messages.inference import Infer, PortInference
from gradstudio.protocol.messages.records import TensorRecord
from tests.engine.build import node, program
from tests.engine.conftest import Bench
from tests.engine.gradient.test_gradient_registry import SCENARIOS
from tests.engine.test_statements import PROGRAMS

Ports = dict[tuple[ItemId, int], PortInference]
MORE = {
    "data-dependent": "x = torch.randn(6)\nm = x > 0\ny = x[m]\nn = m.nonzero()\nk = n + 1\nw = x * 2",
    "decided data": "x = torch.tensor([1, 0, 2])\nn = x.nonzero()\nu, c = torch.unique(x, return_counts=True)\nz = torch.zeros(x.sum().item())",  # noqa: E501
    "drawn numbers as sizes": "d = torch.randint(1, 5, ())\nk = d.item()\nx = torch.zeros(k)\ny = x + 1",
    "sizes as numbers": "x = torch.randn(3, 5)\nn = x.shape[1]\ny = torch.zeros(n, 2)\nz = x @ y",
    "in place": "x = torch.ones(3)\ny = x\nx.unsqueeze_(0)\nz = y + 1\nx += 1",
    "convolutions": "x = torch.randn(2, 3, 16, 16)\nconv = nn.Conv2d(3, 8, 3, stride=2)\ny = conv(x)\nz = F.max_pool2d(y, 2).flatten(1)\nfc = nn.Linear(z.shape[1], 10)\no = fc(z)",  # noqa: E501
    "a growing value": "x = torch.ones(2)\nfor t in range(3):\n    y = x * 2\n    x = torch.cat([x, x])\nz = x + 1",
    "the last turn differs": "x = torch.randn(5, 4)\nfor t in range(1, 4):\n    y = x[:t]\nz = y * 2",
    "equal statements": "x = torch.ones(3)\nv = torch.ones(3)\nx.unsqueeze_(0)\ny = v * 2",
    "counting": "n = 0\nfor t in range(4):\n    n += 1\nx = torch.zeros(n)",
    "collected": "xs = []\nfor t in range(4):\n    xs.append(torch.ones(2))\nx = torch.stack(xs)",
    "after a step": "w = torch.zeros(3, requires_grad=True)\nloss = (w - 1).sum()\nloss.backward()\ng = w.grad\nn = (w > 0).nonzero()\nz = g * 2",  # noqa: E501
    "a gradient": "w = torch.ones(3, 2, requires_grad=True)\nloss = (w - 1).sum()\nloss.backward()\ng = w.grad\nz = g * 2",  # noqa: E501
    "no backward yet": "w = torch.ones(3, requires_grad=True)\ny = w * 2\ng = w.grad",
    "a gradient taken away": "w = torch.ones(3, requires_grad=True)\nloss = w.sum()\nloss.backward()\nw.grad = None\nz = w * 2\ng = w.grad",  # noqa: E501
    "a gradient of a gradient": "w = torch.ones(3, requires_grad=True)\nloss = (w ** 3).sum()\nloss.backward(create_graph=True)\ng = w.grad",  # noqa: E501
    "steps by hand": "x = torch.randn(4, 2)\nw = torch.zeros(2, 1, requires_grad=True)\nfor t in range(3):\n    y = x @ w\n    loss = (y - 1).pow(2).sum()\n    loss.backward()\n    with torch.no_grad():\n        w -= 0.1 * w.grad\n    w.grad = None\nz = x @ w",  # noqa: E501
    "large": "x = torch.zeros(4000, 3000)\ny = x.T @ x\nz = y.mean(0)",
    "too large": "x = torch.zeros(10**9)\ny = x + 1",
    "attributes": "x = torch.randn(3, 4)\na = x.T\nb = x.dtype\nc = x.reshape(-1).shape[0]\nd = torch.ones(c)",
    "einsum and friends": "a = torch.randn(2, 3, 4)\nb = torch.randn(2, 4, 5)\nc = torch.einsum('bij,bjk->bik', a, b)\nd = torch.stack([c, c]).permute(1, 0, 2, 3)\ne = F.pad(d, (1, 1))\nf = F.interpolate(e, scale_factor=2)",  # noqa: E501
    "recurrent modules": "x = torch.randn(5, 2, 3)\nrnn = nn.LSTM(3, 4)\nout, state = rnn(x)\nemb = nn.Embedding(10, 6)\ni = torch.randint(0, 10, (2, 3))\ne = emb(i)",  # noqa: E501
    "a kernel that misjudges": "x = torch.randn(4)\nt = torch.tensor([1, 0, -1, 2])\ny = F.multilabel_margin_loss(x, t)\nm = nn.MultiLabelMarginLoss()\nz = m(x, t)",  # noqa: E501
    "lazy": "x = torch.randn(2, 3)\nfc = nn.LazyLinear(4)\ny = fc(x)\nw = fc.weight\nz = w.sum()",
    "a value that a view writes into": "x = torch.tensor([1, 0, 2])\ny = x[:2]\ny.zero_()\nn = x.nonzero()",
    "frozen": "fc = nn.Linear(3, 2)\nx = torch.ones(4, 3)\na = fc(x)\nfc.requires_grad_(False)\nb = fc(x)",
    "a condition": "x = torch.ones(2)\nif x.sum() > 1:\n    x = torch.cat([x, x])\ny = x + 1",
    "casts": "x = torch.randn(3, 4)\nw = torch.ones(4, 4)\nwith torch.autocast('cpu', dtype=torch.bfloat16):\n    y = x @ w\n    z = w @ w\nq = y + 1",  # noqa: E501
    "a part of a memory": "b = torch.ones(20)\nx = b[5:15]\nx += 1\ny = x.as_strided((2, 2), (1, 2), 12)\nz = y * 2",
    "sparse and complex": "x = torch.randn(4, 4)\nz = torch.fft.fft(x)\na = z.abs()\nf = torch.fft.rfft(x)",
}  # fmt: skip


def infer(text: str | Program, inference: Inference | None = None, **options: object) -> Ports:
    built = text if isinstance(text, Program) else program(text, **options)  # type: ignore[arg-type]
    answer = (inference or Inference()).infer(Infer(revision=1, program=built), StoredTensors().load_file)
    return {(port.node, port.output): port for port in answer.ports}


def stated(ports: Ports) -> dict[tuple[ItemId, int], tuple[tuple[int, ...], str, str]]:
    return {key: (p.shape, p.dtype, p.device) for key, p in ports.items() if p.shape is not None}


@pytest.mark.parametrize("name", [*PROGRAMS, *SCENARIOS, *MORE])
@pytest.mark.filterwarnings("ignore:Using backward.. with create_graph:UserWarning")
def test_what_is_stated_is_what_the_run_gives(bench: Bench, name: str) -> None:
    text = {**PROGRAMS, **SCENARIOS, **MORE}[name]
    told = infer(text)
    if name != "too large":
        bench.run(text)
    torch.set_default_dtype(torch.float32)
    for row in bench.rows():
        for place, record in enumerate(row.outputs):
            port = told.get((row.node, place))
            if port is None or not isinstance(record, TensorRecord) or any(row.turns):
                continue
            assert not port.refusal, port.refusal
            if port.shape is not None:
                assert port.shape == record.summary.shape, row.node
                assert port.dtype in ("", record.summary.dtype), row.node
                assert port.device in ("", record.device)
                assert port.requires_grad == record.requires_grad, row.node


@pytest.mark.parametrize("name", SCENARIOS)
@pytest.mark.filterwarnings("ignore:Using backward.. with create_graph:UserWarning")
def test_straight_programs_are_known_whole(bench: Bench, name: str) -> None:
    told = infer(SCENARIOS[name])
    bench.run(SCENARIOS[name])
    tensors = {(r.node, i) for r in bench.rows() for i, o in enumerate(r.outputs) if isinstance(o, TensorRecord)}
    assert tensors <= set(stated(told))


@pytest.mark.parametrize(
    ("name", "line"),
    [("data-dependent", 3), ("drawn numbers as sizes", 3), ("a growing value", 3), ("the last turn differs", 4),
     ("counting", 4), ("collected", 4), ("no backward yet", 3), ("a gradient taken away", 6),
     ("a gradient of a gradient", 4)],
)  # fmt: skip
def test_what_depends_on_numbers_is_known_after_a_run(name: str, line: int) -> None:
    port = infer(MORE[name])[node(line), 0]
    assert (port.shape, port.known_after_run) == (None, True)


def test_shapes_behind_steps_by_hand_are_known_before_a_run() -> None:
    told = infer(compile_graph(read_script(f"import torch\n{MORE['steps by hand']}\n").graph))
    assert [port.node for port in told.values() if port.shape is None] == []
    written = [told[ItemId(item), 0].shape for item in ("n12", "n13")]
    assert written == [(2, 1), (2, 1)], "what is written into is told, too"


def test_large_shapes_are_told_without_allocating() -> None:
    assert infer("x = torch.zeros(10**12)\ny = x + 1")[node(2), 0].shape == (10**12,)
    assert infer("fc = nn.Linear(10**6, 10**6)\nx = torch.ones(1, 10**6)\ny = fc(x)")[node(3), 0].shape == (1, 10**6)


def test_what_python_could_compute_for_ever_is_refused_with_its_size() -> None:
    assert "10,000,000,000 digits" in infer("n = 10 ** 10 ** 10\nm = 7")[node(1), 0].refusal


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a = torch.randn(2, 3)\nb = torch.randn(4, 5)\nc = a @ b", "mat1 and mat2 shapes cannot be multiplied"),
        ("a = torch.ones(2, 3)\nb = torch.ones(4)\nc = a + b", "must match the size of tensor b"),
        ("a = torch.randn(2, 3)\nb = torch.ones(4)\nc = a.view(4)", "is invalid for input of size 6"),
        ("a = torch.randn(3, 4)\nb = 1\nc = a.T.view(12)", "view size is not compatible"),
        ("fc = nn.Linear(3, 2)\nb = torch.randn(5)\nc = fc(b)", "mat1 and mat2 shapes cannot be multiplied"),
        ("a = torch.randn(4, 3)\nt = torch.zeros(5, dtype=torch.int64)\nc = F.cross_entropy(a, t)", "batch_size"),
        ("a = torch.randn(4, requires_grad=True)\nb = 1\na += 1", "leaf Variable"),
    ],
)
def test_a_refusal_comes_in_torchs_words_and_what_reads_it_is_open(text: str, words: str) -> None:
    told = infer(text + "\nd = c * 2" if "c =" in text else text)
    assert words in told[node(3), 0].refusal
    if "c =" in text:
        assert told[node(4), 0].known_after_run


@pytest.mark.parametrize("product", ["a @ b", "F.linear(a, b)", "torch.addmm(a, b, b)", "F.binary_cross_entropy(a, b)"])
@pytest.mark.parametrize("other", ["torch.int64", "torch.float64"])
@pytest.mark.parametrize("size", [2, 500])
def test_mixed_dtypes_are_refused_as_the_run_refuses_them(bench: Bench, product: str, other: str, size: int) -> None:
    made = f"a = torch.ones({size}, {size}, requires_grad=True)\nb = torch.ones({size}, {size}, dtype={other})"
    text = f"{made}\ny = {product}"
    bench.run(text)
    assert infer(text)[node(3), 0].refusal == bench.failed().message
    assert infer(text.replace("y = " + product, "y = a * b"))[node(3), 0].refusal == ""


def test_nothing_is_touched(bench: Bench) -> None:
    bench.run("x = torch.randn(3)\nbn = nn.BatchNorm1d(3)")
    state, names = torch.get_rng_state(), dict(bench.engine.live.namespace)  # type: ignore[union-attr]
    for text in (*PROGRAMS.values(), *MORE.values()):
        infer(text)
    assert torch.equal(state, torch.get_rng_state())
    assert torch.get_default_dtype() == torch.float32
    assert torch.is_grad_enabled()
    assert bench.engine.live.namespace == names  # type: ignore[union-attr]


@pytest.mark.parametrize("name", [*PROGRAMS, *MORE])
def test_asked_again_the_answer_is_the_same(name: str) -> None:
    text, inference = {**PROGRAMS, **MORE}[name], Inference()
    first = infer(text, inference)
    assert infer(text, inference) == first
    assert infer(text, inference) == first


def test_after_an_edit_the_answer_is_that_of_a_fresh_inference() -> None:
    inference = Inference()
    texts = [
        "x = torch.ones(2, 3)\ny = x.T\nfor t in [1, 2]:\n    z = y.repeat(t, 1)\nw = y @ x",
        "x = torch.ones(2, 4)\ny = x.T\nfor t in [1, 2]:\n    z = y.repeat(t, 1)\nw = y @ x",
        "x = torch.ones(2, 4)\ny = x.T\nfor t in [3, 3]:\n    z = y.repeat(t, 1)\nw = z @ x",
        "x = torch.ones(2, 4, requires_grad=True)\ny = x.T\nfor t in [3, 3]:\n    z = y.repeat(t, 1)\nw = z @ x",
    ]
    for text in texts:
        assert infer(text, inference) == infer(text)


@pytest.mark.parametrize("move", ["x.to('cuda')", "x.cuda()", "x.to(device='cuda:0')", "torch.ones(2, device='cuda')"])
def test_another_device_is_told_without_one(move: str) -> None:
    text = f"x = torch.ones(2)\nx = {move}\ny = x * 2\nz = y.double()\nw = z.cpu()\nv = torch.softmax(w, 0)"
    devices = [port.device for port in infer(text).values()]
    assert devices == ["cpu", "cuda:0", "cuda:0", "cuda:0", "cpu", "cpu"]


def test_what_lies_on_two_devices_has_none_that_is_told() -> None:
    assert infer("x = torch.ones(2)\ny = x.cuda()\nz = x + y")[node(3), 0].device == ""


LEARNS = """X = torch.randn({rows}, 64)
y = torch.randint(0, 10, ({rows},))
fc = nn.Linear(64, 32)
fc2 = nn.Linear({inner}, 10)
data = torch.utils.data.TensorDataset(X, y)
train, test = torch.utils.data.random_split(data, [0.8, 0.2])
loader = torch.utils.data.DataLoader(train, batch_size=32, shuffle=True)
for epoch in range(2):
    for xb, yb in loader:
        h = torch.relu(fc(xb))
        out = fc2(h)
        loss = F.cross_entropy(out, yb)
"""


@pytest.mark.parametrize("rows", [200, 210, 20])
def test_what_a_loader_gives_of_known_tensors_is_known_before_a_run(rows: int) -> None:
    told = [port.shape for port in infer(LEARNS.format(rows=rows, inner=32)).values() if port.shape]
    names: dict[str, Any] = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional}
    exec(LEARNS.format(rows=rows, inner=32), names)
    first = next(iter(names["loader"]))
    assert (len(first[0]), 32) in told and (len(first[0]), 10) in told


@pytest.mark.parametrize(
    "head",
    [
        "for i, (xb, yb) in enumerate(loader):",
        "for i, batch in enumerate(loader, 1):\n        xb, yb = batch",
        "for i, (xb, yb) in enumerate(loader, start=epoch):",
        "counted = enumerate(loader)\n    for i, (xb, yb) in counted:",
    ],
)
def test_shapes_go_through_batches_that_are_counted(head: str) -> None:
    text = LEARNS.format(rows=210, inner=32).replace("for xb, yb in loader:", head)
    imports = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n"
    graph = read_script(imports + text).graph
    told = infer(compile_graph(graph))
    names: dict[str, Any] = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional}
    exec(text.replace("range(2)", "range(1)"), names)
    node_of = {name: item for item, one in graph.nodes.items() for name in one.names}
    xb = next(iter(names["loader"]))[0]
    assert told[node_of["h"], 0].shape == (len(xb), 32)
    assert told[node_of["out"], 0].shape == (len(xb), *names["out"].shape[1:])


def test_layers_that_do_not_fit_inside_of_a_loop_over_a_loader_are_told_before_a_run() -> None:
    told = infer(LEARNS.format(rows=200, inner=8))
    assert any("32" in port.refusal and "8" in port.refusal for port in told.values())
