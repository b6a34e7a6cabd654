"""Wild arguments of functions that trust what they are given: refused at the node, and the engine lives."""

import subprocess
from collections.abc import Iterator

import pytest

from gradstudio.program.compile import compile_graph
from gradstudio.program.reading.reader import read_script
from gradstudio.protocol.client import EngineProcess
from gradstudio.protocol.messages.events import Failed, Paused
from gradstudio.protocol.messages.requests import Do, Load

WAIT_S = 120
HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n"
WORDS = "would reach memory that is not its own"
BAGS = "w = torch.ones(3, 3, requires_grad=True)\ni = torch.tensor([0, 1])\no = torch.tensor([0])\n"
PACKED = "p = nn.utils.rnn.pack_sequence([torch.ones(3, 2), torch.ones(2, 2)])\nn, b, s, u = p\n"
LOGS = "x = torch.randn(10, 1, 4, requires_grad=True)\nl = x.log_softmax(2)\nt = torch.tensor([[1, 2]])\n"
LENGTHS = "a = torch.tensor([10])\nb = torch.tensor([2])\n"
FUSED = (
    "w = torch.ones(300000, requires_grad=True)\no = torch.optim.Adam([w], fused=True, lr=0.1)\n"
    "l = w.sum()\nl.backward()\no.step()\n"
)
WILD = {
    "targets": LOGS + LENGTHS + "t.fill_(1000000000)\ny = F.ctc_loss(l, t, a, b)\n",
    "targets below": LOGS + LENGTHS + "t.fill_(-1000000000)\ny = torch.ctc_loss(l, t, a, b)\n",
    "targets of a layer": LOGS + LENGTHS + "c = nn.CTCLoss()\nt.fill_(1000000000)\ny = c(l, t, a, b)\n",
    "targets for the backward": LOGS + LENGTHS + "y = F.ctc_loss(l, t, a, b)\nd = t.data\nd.fill_(1000000000)\n"
    "y.backward()\n",
    "pivots left out": "d = torch.eye(3)\nq = torch.empty(0, dtype=torch.int32)\np, l, u = torch.lu_unpack(d, q)\n",
    "a pivot alone": "d = torch.eye(5)\np = torch.full((5,), -5, dtype=torch.int32)\nb = torch.ones(5, 5)\n"
    "y = torch.linalg.ldl_solve(d, p, b)\n",
    "short statistics": "x = torch.ones(2, 300000)\nw = torch.ones(1)\n"
    "y = torch.native_batch_norm(x, w, w, w, w, True, 0.1, 0.00001)\n",
    "a window": "x = torch.ones(1, 8)\ny = F.max_pool1d(x, 9223372036854775807)\n",
    "a window of a layer": "x = torch.ones(1, 8)\nm = nn.MaxPool1d(9223372036854775807)\ny = m(x)\n",
    "memory of numpy's": "import numpy as np\na = np.ones(4)\nx = torch.from_numpy(a)\nx.resize_(1000000)\n",
    "as large as another": "import numpy as np\na = np.ones(4)\nx = torch.from_numpy(a)\n"
    "x.resize_as_(torch.ones(1000000))\n",
    "a margin of a fold": "x = torch.ones(1, 4, 9)\ny = F.fold(x, (4, 4), (2, 2), padding=2147483648)\n",
    "indices of a pool of one dimension": "x = torch.ones(1, 1, 8, requires_grad=True)\n"
    "y, i = F.max_pool1d(x, 2, return_indices=True)\nd = i.data\nd.fill_(1000000000)\nz = y.sum()\nz.backward()\n",
    "indices of a pool that adapts": "x = torch.ones(1, 1, 8, requires_grad=True)\n"
    "y, i = F.adaptive_max_pool1d(x, 2, return_indices=True)\nd = i.data\nd.fill_(1000000000)\n"
    "z = y.sum()\nz.backward()\n",
    "no bags": BAGS + "o = torch.empty(0, dtype=torch.int64)\ny = F.embedding_bag(i, w, o)\n",
    "rows for the backward": BAGS + 'y = F.embedding_bag(i, w, o, mode="sum")\nd = i.data\nd.fill_(1000000000)\n'
    "z = y.sum()\nz.backward()\n",
    "rows by way of numpy": BAGS + "y = F.embedding(i, w, scale_grad_by_freq=True)\nd = i.numpy()\n"
    "d.fill(1000000000)\nz = y.sum()\nz.backward()\n",
    "indices of a pool": "x = torch.ones(1, 1, 8, 8, requires_grad=True)\n"
    "m = nn.MaxPool2d(2, return_indices=True)\ny, i = m(x)\nd = i.data\nd.fill_(1000000000)\n"
    "z = y.sum()\nz.backward()\n",
    "batch sizes": PACKED + "b.fill_(-1000000000)\ny, k = nn.utils.rnn.pad_packed_sequence(p)\n",
    "lengths of weights": "v = torch.ones(300000, 3)\ng = torch.ones(1)\ny = torch._weight_norm(v, g)\n",
    "moments of a fused step": FUSED + "s = o.state[w]\ns['exp_avg'] = torch.zeros(1)\no.step()\n",
    "moments that were loaded": FUSED + "d = o.state_dict()\ns = d['state'][0]\ns['exp_avg_sq'] = torch.zeros(1)\n"
    "o.load_state_dict(d)\no.step()\n",
    "one moment that stands for many": FUSED + "s = o.state[w]\ns['exp_avg'] = torch.zeros(1).expand(300000)\n"
    "o.step()\n",
    "a momentum": FUSED.replace("Adam([w]", "SGD([w], momentum=0.9") + "s = o.state[w]\n"
    "s['momentum_buffer'] = torch.zeros(1)\no.step()\n",
    "a gradient of another size": FUSED + "g = w.grad\ng.data = torch.zeros(1)\no.step()\n",
    "weights of an LSTM": "m = nn.LSTM(900, 900)\np = m.weight_hh_l0\np.data = torch.zeros(1, 1)\n"
    "y, k = m(torch.ones(3, 2, 900))\n",
    "no heads": "m = nn.MultiheadAttention(8, 2, batch_first=True)\nm.eval()\nm.num_heads = 0\n"
    "q = torch.ones(2, 3, 8)\nwith torch.no_grad():\n    y, k = m(q, q, q)\n",
    "an address by its name": "m = nn.Identity()\nm.register_buffer('__array_interface__', torch.ones(2))\n",
    "a negative size": "v = torch.ones(2, 3)\no = torch.tensor([0, 1])\ny = torch.sparse.spdiags(v, o, (-1, 3))\n",
    "a negative size again": "s = torch.eye(3).to_sparse()\n"
    "y = s.sparse_resize_and_clear_((3, -9223372036854775808), 2, 0)\n",
}  # fmt: skip
UNSET = {
    "a new tensor": "s = torch.randn((3, 3), layout=torch.sparse_csr)\ny = s @ torch.eye(3)\n",
    "one like it": "s = torch.eye(3).to_sparse_csr()\nt = s.new_full((5, 3), 1.0)\ny = t @ torch.eye(3)\n",
    "one of another layout": "s = torch.eye(3).to_sparse()\nt = torch.ones_like(s, layout=torch.sparse_csr)\n",
    "one resized": "s = torch.eye(3).to_sparse_csr()\nt = torch.eye(9).to_sparse_csr()\ny = s.resize_as_sparse_(t)\n",
}
ALLOWED = {
    "bags": BAGS + "y = F.embedding_bag(i, w, o)\nz = y.sum()\nz.backward()\n",
    "a loss": LOGS + LENGTHS + "y = F.ctc_loss(l, t, a, b)\ny.backward()\n",
    "sizes": "import numpy as np\na = np.ones(4)\nx = torch.from_numpy(a)\nx.resize_(2)\n"
    "y = torch.ones(2)\ny.resize_(9, 9)\n"
    "z = torch.ones(2)\nz.resize_as_(torch.zeros(3, 3))\n",
    "a fold": "x = torch.ones(1, 4, 9)\ny = F.fold(x, (4, 4), (2, 2))\nz = F.unfold(y, (2, 2))\n",
    "a pool of one dimension": "x = torch.ones(1, 1, 8, requires_grad=True)\n"
    "y, i = F.max_pool1d(x, 2, return_indices=True)\nz = y.sum()\nz.backward()\n",
    "segments": 'y = torch.segment_reduce(torch.ones(4), "sum", offsets=torch.tensor([0, 2, 4]))\n',
    "a pool": "x = torch.ones(1, 1, 8, 8, requires_grad=True)\ny, i = F.max_pool2d(x, 2, return_indices=True)\n"
    "z = y.sum()\nz.backward()\n",
    "packed": PACKED + "y, k = nn.utils.rnn.pad_packed_sequence(p)\n",
    "weights": "m = nn.utils.parametrizations.weight_norm(nn.Linear(3, 3))\ny = m(torch.ones(1, 3))\n",
    "fused steps": FUSED + "o.step()\n" + FUSED.replace("Adam([w]", "SGD([w], momentum=0.9") + "o.step()\n",
    "an LSTM": "m = nn.LSTM(4, 3, 2, bidirectional=True, proj_size=2)\ny, k = m(torch.ones(3, 2, 4))\n"
    "n = nn.LSTM(4, 3, bias=False, batch_first=True)\nz, l = n(torch.ones(3, 4))\n",
    "attention": "m = nn.TransformerEncoderLayer(8, 2, batch_first=True)\nm.eval()\nq = torch.ones(2, 3, 8)\n"
    "with torch.no_grad():\n    y = m(q)\n",
    "zeros": "s = torch.zeros((3, 3), layout=torch.sparse_csr)\ny = s @ torch.eye(3)\n",
}


@pytest.fixture(scope="module")
def engine() -> Iterator[EngineProcess]:
    with EngineProcess(stderr=subprocess.DEVNULL) as process:
        process.wait_until_ready(WAIT_S)
        yield process


def failures(engine: EngineProcess, text: str, *, trace: bool) -> list[str]:
    compiled = compile_graph(read_script(HEAD + text).graph)
    assert compiled.incomplete == ()
    engine.send(Load(document="d", revision=1, program=compiled))
    engine.send(Do(verb="run", trace=trace, restart=True))
    said: list[str] = []
    engine.wait_for(
        Paused, timeout=WAIT_S, on_event=lambda event: said.append(event.message) if isinstance(event, Failed) else None
    )
    return said


@pytest.mark.parametrize("trace", [True, False])
@pytest.mark.parametrize("name", WILD)
def test_what_leads_out_of_memory_is_refused_at_the_node(engine: EngineProcess, name: str, trace: bool) -> None:
    said = failures(engine, WILD[name], trace=trace)
    assert len(said) == 1 and WORDS in said[0]


@pytest.mark.parametrize("name", UNSET)
def test_no_tensor_has_indices_that_nobody_set(engine: EngineProcess, name: str) -> None:
    said = failures(engine, UNSET[name], trace=False)
    assert len(said) == 1 and "torch sets no indices" in said[0]


@pytest.mark.parametrize("trace", [True, False])
@pytest.mark.parametrize("name", ALLOWED)
def test_what_lies_within_is_computed(engine: EngineProcess, name: str, trace: bool) -> None:
    assert failures(engine, ALLOWED[name], trace=trace) == []
