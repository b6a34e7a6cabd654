"""The second wall, in engine processes: what gets past the list stays in, what computes is not disturbed."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gradstudio import paths
from gradstudio.document import file
from gradstudio.program.compile import compile_graph
from gradstudio.program.model import Program
from gradstudio.program.reading.reader import read_script
from gradstudio.protocol.client import EngineProcess
from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.messages.events import Failed, Paused, Warned
from gradstudio.protocol.messages.inference import Infer, Inferred
from gradstudio.protocol.messages.requests import Do, Load
from tests.engine.build import node, program
from tests.helpers import breached_engine
from tests.helpers.breached_engine import DEEDS
from tests.helpers.engine_forks import STARTED

WAIT_S = 120
IN_THREAD = "a thread"
"""What it raises nobody hears; Python 3.11 tells no hook that a thread begins."""
REFUSED = ("WallRefused", "ImportRefused")
ROOT = Path(__file__).parents[2]
UNKNOWN_ELSEWHERE = {"fork", "spawn"} if sys.platform == "win32" else set()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("outside")
    (made / "secret").write_text("secret")
    return made


@pytest.fixture(scope="module")
def breached(folder: Path) -> Iterator[EngineProcess]:
    """An engine with a hole in its list."""
    command = (sys.executable, "-P", breached_engine.__file__, str(folder))
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with EngineProcess(command, environment=environment, stderr=subprocess.DEVNULL) as process:
        process.wait_until_ready(WAIT_S)
        yield process


@pytest.fixture(scope="module")
def engine() -> Iterator[EngineProcess]:
    with EngineProcess(STARTED, stderr=subprocess.DEVNULL) as process:
        process.wait_until_ready(WAIT_S)
        yield process


def do(engine: EngineProcess, loaded: Program, *, trace: bool) -> list[Message]:
    engine.send(Load(document="d", revision=1, program=loaded))
    engine.send(Do(verb="run", trace=trace, restart=True))
    events: list[Message] = []
    events.append(engine.wait_for(Paused, timeout=WAIT_S, on_event=events.append))
    return events


def failures(events: list[Message]) -> list[Failed]:
    return [event for event in events if isinstance(event, Failed)]


@pytest.mark.parametrize("trace", [True, False])
@pytest.mark.parametrize("deed", sorted(DEEDS.keys() - UNKNOWN_ELSEWHERE))
def test_what_gets_past_the_list_stays_in_the_process(
    breached: EngineProcess, folder: Path, deed: str, trace: bool
) -> None:
    number = list(DEEDS).index(deed)
    failed = failures(do(breached, program(f"x = torch.tensor({number})\ny = torch.relu(x)"), trace=trace))
    if deed != IN_THREAD:
        assert [(event.node, event.type_name in REFUSED) for event in failed] == [(node(2), True)]
        assert "a drawing only computes: it reached for " in failed[0].message
    assert [path.name for path in folder.iterdir()] == ["secret"]


def test_inference_stands_behind_the_wall_too(breached: EngineProcess, folder: Path) -> None:
    number = list(DEEDS).index("touch")
    breached.send(Infer(revision=7, program=program(f"x = torch.tensor({number})\ny = torch.relu(x)")))
    breached.wait_for(Inferred, timeout=WAIT_S)
    assert [path.name for path in folder.iterdir()] == ["secret"]


HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\nimport numpy as np\n"
COMPUTES = {
    "dropout": "x = torch.ones(4, requires_grad=True)\ny = F.dropout(x, 0.5)\ny.sum().backward()",
    "every optimizer": "fc = nn.Linear(2, 2)\n"
    + "".join(
        f"o_{kind.lower()} = torch.optim.{kind}(fc.parameters(), lr=0.1)\n"
        for kind in ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam", "LBFGS")
    )
    + "loss = fc(torch.ones(1, 2)).sum()\nloss.backward()\n"
    + "".join(f"o_{kind}.step()\n" for kind in ("sgd", "adam", "adamw", "rmsprop", "adagrad", "adadelta", "nadam")),
    "a scheduler": "fc = nn.Linear(2, 2)\nopt = torch.optim.SGD(fc.parameters(), lr=0.1)\n"
    "s = torch.optim.lr_scheduler.StepLR(opt, 1)\nc = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 3)\n"
    "loss = fc(torch.ones(1, 2)).sum()\nloss.backward()\nopt.step()\ns.step()\nc.step()",
    "pruning": "import torch.nn.utils.prune\n\nfc = nn.Linear(4, 4)\n"
    'm = torch.nn.utils.prune.l1_unstructured(fc, "weight", amount=0.5)\ny = fc(torch.ones(1, 4))',
    "linear algebra": "a = torch.eye(3)\nu, s, v = torch.linalg.svd(a)\nb = torch.linalg.solve(a, torch.ones(3))\n"
    "w = torch.linalg.eigvals(a)\nc = torch.linalg.cholesky(a)\nn = torch.linalg.matrix_norm(a)",
    "sparse tensors": "i = torch.tensor([[0, 1], [1, 0]])\ns = torch.sparse_coo_tensor(i, torch.ones(2), (2, 2))\n"
    "d = s.to_dense()\nm = torch.sparse.mm(s, torch.ones(2, 2))",
    "indices and numbers": "x = torch.arange(6.0).reshape(2, 3)\ny = x[x > 2]\nz = torch.nonzero(x)\n"
    "r = np.random.default_rng(0)\na = r.normal(size=3)\nt = torch.from_numpy(a)",
    "layers": "x = torch.ones(1, 2, 8)\nt = nn.TransformerEncoderLayer(8, 2)\ny = t(x)\n"
    "g = nn.LSTM(8, 4)\nh, s = g(x)\n"
    "a = nn.MultiheadAttention(8, 2)\no, w = a(x, x, x)\nn = nn.utils.parametrizations.weight_norm(nn.Linear(8, 2))",
    "a spectrum": "x = torch.fft.rfft(torch.ones(8))\nw = torch.stft(torch.ones(400), 64, return_complex=True)",
    "anomalies looked for": "torch.autograd.set_detect_anomaly(True)\nx = torch.ones(2, requires_grad=True)\n"
    "y = (x * 2).sum()\ny.backward()",
}  # fmt: skip


@pytest.mark.parametrize("trace", [True, False])
@pytest.mark.parametrize("name", COMPUTES)
def test_what_computes_is_not_disturbed(engine: EngineProcess, name: str, trace: bool) -> None:
    compiled = compile_graph(read_script(HEAD + COMPUTES[name] + "\n").graph)
    assert compiled.incomplete == ()
    events = do(engine, compiled, trace=trace)
    assert failures(events) == []
    engine.send(Infer(revision=2, program=compiled))
    inferred = engine.wait_for(Inferred, timeout=WAIT_S)
    assert isinstance(inferred, Inferred)
    assert [port for port in inferred.ports if "a drawing only computes" in repr(port)] == []


def test_every_example_runs_behind_it(engine: EngineProcess) -> None:
    refused = []
    for path in sorted(paths.examples().glob("*.gsg")):
        events = do(engine, compile_graph(file.load(path)), trace=False)
        said = [event.message for event in events if isinstance(event, Failed | Warned)]
        refused += [(path.name, text) for text in said if "only computes" in text]
    assert refused == []


def test_the_engine_says_which_walls_stand() -> None:
    with EngineProcess(STARTED, stderr=subprocess.DEVNULL) as process:
        hello = process.wait_until_ready(WAIT_S)
        assert hello.walls[:2] == ("list by type", "audit hook")
        if sys.platform == "linux":
            assert hello.walls[2] == "no new privileges"
            assert hello.walls[3:] == tuple(name for name in ("Landlock", "seccomp") if name in hello.walls)
            status = Path(f"/proc/{process.process.pid}/status").read_text()
            assert "NoNewPrivs:\t1" in status
