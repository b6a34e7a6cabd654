"""Training scripts against the programs they are made of: first losses, parameters, checkpoints, several processes."""

import os
import re
import runpy
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from gradstudio.document.file import tensor_folder, write_tensors
from gradstudio.document.opened_graph import open_graph
from gradstudio.graph.model import Graph
from gradstudio.program.forms.training.training_script import write_steps
from gradstudio.program.reading.reader import read_script
from gradstudio.program.write import write_code
from tests.helpers import engine_forks
from tests.helpers.patience import PATIENCE_SECONDS
from tests.helpers.program_runs import ProgramRuns

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.gsg"))
REFUSED = {"15_train_and_eval": "'head' draws random numbers after 'noisy'"}
FAILING = {"10_in_place_after_exp"}  # torch refuses its backward, which is what it shows
LEARNING = {path.stem for path in EXAMPLES if path.stem >= "16"} - {"20_residual"}  # they train by themselves
HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn, optim\ntorch.manual_seed(3)\n"

SGD = """
X = torch.randn(12, 2)
y = X.sum(dim=1, keepdim=True)
model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for epoch in range(6):
    pred = model(X)
    loss = F.mse_loss(pred, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 2 == 0:
        print(epoch, loss.item())
"""
BY_HAND = """
x = torch.linspace(-1, 1, 12).reshape(-1, 1)
y = 3 * x + 0.1 * torch.randn(12, 1)
W = torch.randn(1, 1, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
lr = 0.05
for i in range(6):
    loss = ((x @ W + b - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        W -= lr * W.grad
        b -= lr * b.grad
        W.grad.zero_()
        b.grad.zero_()
"""
DROPOUT = """
hidden = 16
x = torch.randn(12, 3)
y = (x.sum(1, keepdim=True) > 0).float()
fc = nn.Linear(3, hidden)
norm = nn.BatchNorm1d(hidden)
drop = nn.Dropout(0.5)
head = nn.Linear(hidden, 1)
params = list(fc.parameters()) + list(norm.parameters()) + list(head.parameters())
opt = optim.AdamW(params, lr=1e-2, weight_decay=0.1)
losses = []
for step in range(1, 7):
    opt.zero_grad()
    logits = head(drop(norm(fc(x))))
    loss = F.binary_cross_entropy_with_logits(logits, y)
    loss.backward()
    nn.utils.clip_grad_norm_(params, 1.0)
    opt.step()
    losses.append(loss.item())
"""
IN_TURNS = """
W1 = torch.randn(4, 8, requires_grad=True)
x = torch.randn(12, 4)
W2 = torch.randn(8, 1, requires_grad=True)
y = torch.randn(12, 1)
with torch.no_grad():
    W1 *= 0.5
opt = optim.RMSprop([W1, W2], 0.02)
for epoch in range(6):
    h = (x @ W1).clamp(min=0)
    loss = ((h @ W2 - y) ** 2).mean() + 0.01 * (W1**2).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
ADDING_UP = """
x = torch.tensor([1.0, 2.0, 3.0])
w = torch.tensor([0.1, 0.2, 0.3], requires_grad=True)
for t in range(2, 14, 2):
    loss = ((w * x).sum() - 4.0) ** 2
    loss.backward()
    w.data -= 0.01 / t * w.grad
"""
HOSTILE = """
os = torch.randn(12, 3)
tqdm = os @ torch.tensor([[1.0], [2.0], [3.0]])
model = torch.randn(3, 1, requires_grad=True)
optimizer = torch.zeros(1, requires_grad=True)
training = torch.ones(1, requires_grad=True)
network = 0.5
main = 2
self = 3.0
for args in range(6):
    step = 0.1 * 0.99**args
    device_ = os @ model + optimizer
    super_ = self * training
    batch = ((device_ - tqdm) ** main).mean() + network * (model**2).sum() + (super_**2).sum()
    batch.backward()
    with torch.no_grad():
        model -= step * model.grad
        optimizer -= step * optimizer.grad
        training -= step * training.grad
    model.grad = None
    optimizer.grad = None
    training.grad = None
"""
EPOCHS = """
count, size = 12, 4
features, labels = torch.randn(count, 2), torch.randn(count, 1)
w = torch.normal(0, 0.01, size=(2, 1), requires_grad=True)
seen = []
for epoch in range(1, 3):
    for start in range(0, count, size):
        rows = features[start : start + size]
        loss = ((rows @ w - labels[start : start + size]) ** 2).sum() / size
        loss.backward()
        with torch.no_grad():
            for parameter in [w]:
                parameter -= 0.1 / epoch * parameter.grad
                parameter.grad.zero_()
    seen.append(loss.item())
"""
SCHEDULES = {
    "steps": "StepLR(optimizer, 2, 0.3)",
    "milestones": "MultiStepLR(optimizer, [2, 4])",
    "cycle": "OneCycleLR(optimizer, 0.1, total_steps=6)",
    "plateau": "ReduceLROnPlateau(optimizer, patience=0, threshold=0.9)",
    "chain": "SequentialLR(optimizer, [optim.lr_scheduler.ConstantLR(optimizer), "
    "optim.lr_scheduler.ExponentialLR(optimizer, 0.9)], [3])",
}
BY_EPOCH = """
X, y = torch.randn(12, 2), torch.randn(12, 1)
model = nn.Linear(2, 1)
optimizer = optim.Adam(model.parameters(), lr=0.1)
scheduler = optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=2)
for epoch in range(2):
    for i in range(3):
        loss = F.mse_loss(model(X[4 * i : 4 * i + 4]), y[4 * i : 4 * i + 4])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    scheduler.step()
    print(epoch, scheduler.get_last_lr())
"""


def scheduled(name: str) -> str:
    """The first program, with a schedule for its optimizer."""
    made = f"plan = optim.lr_scheduler.{SCHEDULES[name]}\nfor epoch"
    told = "loss.item()" if name == "plateau" else ""
    return SGD.replace("for epoch", made).replace("    if epoch", f"    plan.step({told})\n    if epoch")


LOOPS = {
    **{name: scheduled(name) for name in SCHEDULES},
    "by_epoch": BY_EPOCH,
    "epochs": EPOCHS,
    "sgd": SGD,
    "by_hand": BY_HAND,
    "dropout": DROPOUT,
    "in_turns": IN_TURNS,
    "adding_up": ADDING_UP,
    "hostile": HOSTILE,
}


pytestmark = pytest.mark.usefixtures("signals_and_numbers")


def graph_of(name: str) -> Graph:
    return read_script(HEAD + LOOPS[name]).graph


def script(graph: Graph, folder: Path, stem: str) -> Path:
    path = folder / f"{stem}.py"
    path.write_text(write_steps(graph, stem=stem))
    write_tensors(graph.tensors.values(), tensor_folder(path))
    return path


def run_here(path: Path, monkeypatch: pytest.MonkeyPatch, *options: str) -> dict[str, torch.Tensor]:
    """Run a script in this process; what its checkpoint holds."""
    saved = path.with_suffix(".safetensors")
    words = [str(path), "--device", "cpu", "--checkpoint", str(saved), "--log-every", "1", *options]
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(path), run_name="__main__")
    assert ended.value.code == 0
    return load_file(saved)


def losses(printed: str) -> list[float]:
    return [float(number) for number in re.findall(r"^step \d+/\d+  loss (\S+)$", printed, re.MULTILINE)]


def learned(values: dict[str, object]) -> dict[str, torch.Tensor]:
    """The parameters and buffers that the names of a program hold, by the names of a checkpoint."""
    found: dict[str, torch.Tensor] = {}
    for name, value in values.items():
        if isinstance(value, torch.nn.Module):
            found |= {f"{name}.{key}": tensor for key, tensor in value.state_dict().items()}
        elif isinstance(value, torch.Tensor) and value.is_leaf and value.requires_grad and name != "parameter":
            found[name] = value.detach()
    return found


def by_python(text: str) -> dict[str, object]:
    values: dict[str, object] = {"__name__": "program"}
    exec(compile(text, "program", "exec"), values)
    return values


def same_bits(a: torch.Tensor, b: torch.Tensor) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and a.numpy().tobytes() == b.numpy().tobytes()


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_of_the_canvas_leaves_the_same_parameters(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    values = by_python(HEAD + LOOPS[name])
    capsys.readouterr()
    saved = run_here(script(graph_of(name), tmp_path, name), monkeypatch)
    printed = losses(capsys.readouterr().out)
    assert len(printed) == 6
    last = next(value for key, value in values.items() if key in ("loss", "batch"))
    assert printed[-1] == last.item()  # type: ignore[attr-defined]
    expected = learned(values)
    held = {key.removeprefix("model."): value for key, value in saved.items() if key.startswith("model.")}
    assert {key.rstrip("_") for key in held} == expected.keys()
    for key, value in held.items():
        assert same_bits(value, expected[key.rstrip("_")]), key


@pytest.mark.parametrize("name", LOOPS)
def test_six_steps_are_three_and_three_more(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = run_here(script(graph_of(name), tmp_path, "whole"), monkeypatch, "--steps", "6")
    parts = script(graph_of(name), tmp_path, "parts")
    run_here(parts, monkeypatch, "--steps", "3")
    torch.manual_seed(99)
    capsys.readouterr()
    resumed = run_here(parts, monkeypatch, "--steps", "6", "--resume")
    assert capsys.readouterr().out.startswith("step 4/6 ")
    assert whole.keys() == resumed.keys() and whole["step"].item() == 6
    assert all(same_bits(value, resumed[key]) for key, value in whole.items())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--resume"], "there is no cycle.safetensors to go on from"),
        (["--steps", "0"], "argument --steps: 0 is no whole number from 1"),
        (["--lr", "-1"], "argument --lr: -1 is no learning rate"),
        (["--lr", "nan"], "argument --lr: nan is no learning rate"),
        (["--lr", "fast"], "argument --lr: fast is no learning rate"),
        (["--device", "banana"], "There is no device 'banana' here."),
        (["--device", "cuda:77"], "There is no device 'cuda:77' here."),
        (["--checkpoint", "."], "--checkpoint . cannot be written"),
        (["--checkpoint", "cycle.py/inside"], "--checkpoint cycle.py/inside: "),
        (["--resume", "--checkpoint", "cycle.py"], "cycle.py is no checkpoint of this model."),
        (["--steps", "7"], "The schedule ends after 6 steps."),
    ],
)
def test_what_cannot_go_well_is_said_at_the_start(
    options: list[str],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = script(graph_of("cycle"), tmp_path, "cycle")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(path), "--device", "cpu", *options])
    with pytest.raises(SystemExit) as stopped:
        runpy.run_path(str(path), run_name="__main__")
    assert stopped.value.code == 2
    printed = capsys.readouterr()
    assert words in printed.out + printed.err


def test_a_checkpoint_of_another_model_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    other = script(graph_of("by_hand"), tmp_path, "other")
    run_here(other, monkeypatch)
    path = script(graph_of("sgd"), tmp_path, "sgd")
    words = [str(path), "--device", "cpu", "--resume", "--checkpoint", str(other.with_suffix(".safetensors"))]
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as stopped:
        runpy.run_path(str(path), run_name="__main__")
    assert stopped.value.code == 2
    assert "is no checkpoint of this model" in capsys.readouterr().err


def test_what_is_trained_already_is_said_and_a_folder_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path, saved = script(graph_of("sgd"), tmp_path, "sgd"), tmp_path / "some" / "where" / "a.safetensors"
    for options in ([], ["--resume", "--steps", "5"]):
        monkeypatch.setattr(sys, "argv", [str(path), "--device", "cpu", "--checkpoint", str(saved), *options])
        with pytest.raises(SystemExit) as ended:
            runpy.run_path(str(path), run_name="__main__")
        assert ended.value.code == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("already at step 6")
    assert load_file(saved)["step"].item() == 6


RECURRENT = """
T, N, H = 5, 3, 4
xs = torch.randn(T, N)
W = torch.randn(N, H, requires_grad=True)
U = torch.randn(H, H, requires_grad=True)
h = torch.zeros(H)
hs = []
for t in range(T):
    h = torch.tanh(xs[t] @ W + h @ U)
    hs.append(h)
out = torch.stack(hs)
loss = out.sum()
loss.backward()
"""
EVALUATED = """
x = torch.randn(8, 4)
net = nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.Dropout(0.5), nn.Linear(6, 1))
net.train()
loss = net(x).pow(2).mean()
loss.backward()
net.eval()
out = net(x)
"""


RENAMED = """
x = torch.randn(4, 8, requires_grad=True)
W = torch.randn(8, 8) * 0.2
h = x
for layer in range(30):
    h = torch.tanh(h @ W)
loss = h.pow(2).mean()
loss.backward()
"""


@pytest.mark.parametrize("text", [RECURRENT, EVALUATED, RENAMED], ids=["recurrent", "evaluated", "a second name"])
def test_the_first_loss_is_that_of_the_canvas(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = by_python(HEAD + text)["loss"]
    run_here(script(read_script(HEAD + text).graph, tmp_path, "program"), monkeypatch, "--steps", "2")
    assert losses(capsys.readouterr().out)[0] == wanted.item()  # type: ignore[attr-defined]


@pytest.mark.filterwarnings("ignore:std")  # of the gradients of a single turn
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_first_loss_of_an_example_is_that_of_the_canvas(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    graph = open_graph(str(path))
    if path.stem in REFUSED:
        with pytest.raises(Exception, match=REFUSED[path.stem]):
            write_steps(graph, stem=path.stem)
        return
    written = script(graph, tmp_path, path.stem)
    if path.stem in FAILING:
        monkeypatch.setattr(sys, "argv", [str(written), "--device", "cpu"])
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            runpy.run_path(str(written), run_name="__main__")
        return
    code = write_code(graph, stem=path.stem)[0]
    if path.stem in LEARNING:
        code = re.sub(r"in range\(\d+\)", "in range(1)", code)
    values: dict[str, object] = {"__file__": str(written), "__name__": "program"}
    exec(compile(code, "program", "exec"), values)
    name = re.findall(r"^ *(\w+)\.backward\(", code, re.MULTILINE)[-1]
    run_here(written, monkeypatch, "--steps", "2")
    assert losses(capsys.readouterr().out)[0] == values[name].item()  # type: ignore[attr-defined]


def test_rows_are_drawn_anew_in_each_epoch(tmp_path: Path) -> None:
    written = script(graph_of("sgd"), tmp_path, "sgd")
    take = runpy.run_path(str(written))["take_batch"]
    data = (torch.arange(12).reshape(12, 1), torch.arange(12))
    epochs = [[take(data, 3 * epoch + turn, 4, 0) for turn in range(3)] for epoch in range(2)]
    orders = [torch.cat([rows for _, rows in epoch]).tolist() for epoch in epochs]
    assert [sorted(order) for order in orders] == [list(range(12))] * 2 and orders[0] != orders[1]
    assert all(torch.equal(one[:, 0], other) for epoch in epochs for one, other in epoch)
    assert [torch.equal(a, b) for a, b in zip(data, take(data, 7, None, 0), strict=True)] == [True, True]


def test_processes_share_a_batch_out_and_take_all_of_it_where_it_does_not_divide(tmp_path: Path) -> None:
    take = runpy.run_path(str(script(graph_of("sgd"), tmp_path, "sgd")))["take_batch"]
    data = (torch.arange(12), torch.arange(12) * 2)
    shares = []
    for rank in range(3):
        take.__globals__.update(RANK=rank, PROCESSES=3)
        shares.append(take(data, 0, None, 0)[0].tolist())
        assert len(take(data, 0, 5, 0)[0]) == 5
    assert shares == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]


def test_a_loss_that_is_no_number_is_said_and_spoils_no_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    written = script(graph_of("by_hand"), tmp_path, "by_hand")
    before = run_here(written, monkeypatch, "--steps", "2")
    monkeypatch.setattr(sys, "argv", [*sys.argv[:-2], "--lr", "1e30", "--steps", "50"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(written), run_name="__main__")
    assert ended.value.code == 1
    assert "Try a smaller --lr" in capsys.readouterr().out
    after = load_file(written.with_suffix(".safetensors"))
    assert all(same_bits(value, after[key]) for key, value in before.items())


# -------------------------------------------------------------------- processes of their own


def environment() -> dict[str, str]:
    quiet = {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo", "CUDA_VISIBLE_DEVICES": ""}
    return {key: value for key, value in os.environ.items() if key not in ("RANK", "WORLD_SIZE", "LOCAL_RANK")} | quiet


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def launch(path: Path, *options: str) -> str:
    """Run a script in two processes that torchrun starts; what it printed."""
    words = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--nnodes", "1"]
    words += ["--master-addr", "127.0.0.1", "--master-port", str(free_port()), str(path), *options]
    with engine_forks.ranks():
        done = subprocess.run(
            words, env=environment(), capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False
        )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def python() -> Iterator[ProgramRuns]:
    with ProgramRuns("torch.distributed.fsdp", "torch._dynamo") as runs:
        yield runs


def launch_forks(python: ProgramRuns, path: Path, *options: str) -> str:
    """As `launch`, without torchrun itself, and with torch loaded once."""
    words = repr([str(path), *options])
    text = f"import runpy, sys\n\nsys.argv = {words}\nrunpy.run_path(sys.argv[0], run_name='__main__')\n"
    return python.as_ranks(text, path.parent)


SPY = """
import runpy, sys
import torch

script, out = sys.argv[1], sys.argv.pop(2)
sys.argv.pop(0)
names = runpy.run_path(script, run_name="script")["main"].__globals__
train_step, count = names["train_step"], [0]

def spied(parallel, *rest):
    loss = train_step(parallel, *rest)
    found = [(p.detach().clone(), p.grad.clone()) for p in parallel.parameters()]
    torch.save(found, f"{out}/{names['RANK']}_{count[0]}.pt")
    count[0] += 1
    return loss

names["train_step"] = spied
names["main"]()
"""


def test_two_processes_learn_what_one_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], python: ProgramRuns
) -> None:
    written = script(graph_of("sgd"), tmp_path, "sgd")
    alone = run_here(written, monkeypatch, "--steps", "4")
    values = runpy.run_path(str(written))
    torch.manual_seed(3)
    model, data = values["set_up"]()
    model(*data).backward()
    gradients = [parameter.grad for parameter in model.parameters()]
    first = losses(capsys.readouterr().out)
    spy = tmp_path / "spy.py"
    spy.write_text(SPY)
    saved = tmp_path / "two.safetensors"
    options = ["--steps", "4", "--device", "cpu", "--log-every", "1", "--checkpoint", str(saved)]
    printed = losses(launch_forks(python, spy, str(written), str(tmp_path), *options))
    assert printed == pytest.approx(first, rel=1e-5)
    for step in range(4):
        ours, theirs = (torch.load(tmp_path / f"{rank}_{step}.pt") for rank in range(2))
        for (a, g), (b, h) in zip(ours, theirs, strict=True):
            assert same_bits(a, b) and same_bits(g, h)
    averaged = [gradient for _, gradient in torch.load(tmp_path / "0_0.pt")]
    assert all(torch.allclose(a, b, rtol=1e-4, atol=1e-6) for a, b in zip(averaged, gradients, strict=True))
    two = load_file(saved)
    assert two.keys() == alone.keys()
    assert all(torch.allclose(two[key], alone[key], rtol=1e-4, atol=1e-6) for key in two if key != "random")


# Slow: torchrun imports torch.
@pytest.mark.slow
def test_the_script_as_it_is_runs_in_two_processes_and_goes_on(tmp_path: Path, python: ProgramRuns) -> None:
    written, saved = script(graph_of("dropout"), tmp_path, "dropout"), tmp_path / "saved.safetensors"
    options = ["--device", "cpu", "--log-every", "1", "--checkpoint", str(saved)]
    assert len(losses(launch(written, "--steps", "2", *options))) == 2
    assert launch_forks(python, written, "--steps", "3", "--resume", *options).startswith("step 3/3 ")
    assert load_file(saved)["step"].item() == 3


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to a single process")
def test_ctrl_c_saves_and_says_how_to_go_on(tmp_path: Path) -> None:
    written, saved = script(graph_of("dropout"), tmp_path, "dropout"), tmp_path / "saved.safetensors"
    words = [sys.executable, str(written), "--steps", "100000000", "--device", "cpu", "--checkpoint", str(saved)]
    with subprocess.Popen(words, env=environment(), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("step 1/")
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 130
    assert rest.rstrip().endswith(f"--resume --checkpoint {saved}")
    assert load_file(saved)["step"].item() >= 1
