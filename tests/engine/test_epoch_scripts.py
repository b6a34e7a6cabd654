"""Scripts of trainings over epochs against the programs they are made of: parameters, checkpoints, options."""

import json
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from gradstudio.program.errors import NoForm
from gradstudio.program.forms.training.added_training import with_training
from gradstudio.program.forms.training.training_forms import write_training
from gradstudio.program.forms.training.training_options import TrainingOptions
from gradstudio.program.reading.reader import read_script
from tests.program.forms.training.test_training_script import checked
from tests.program.sketch import formatted

HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn, optim\ntorch.manual_seed(3)\n"
DATA = "X = torch.randn(40, 3)\ny = (X[:, 0] > 0).long()\n"
NET = "net = nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.2), nn.Linear(8, 2))\n"
ADDED = HEAD + DATA + NET + "logits = net(X)\nloss = F.cross_entropy(logits, y)\n"
TWO_PARTS = (
    HEAD + DATA + "body = nn.Linear(3, 4)\nw = torch.zeros(4, 2, requires_grad=True)\nloss_fn = nn.CrossEntropyLoss()\n"
    "h = torch.tanh(body(X))\nscores = h @ w\nloss = loss_fn(scores, y)\n"
)
LOADER = "loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(X, y), batch_size=8, shuffle=True)\n"
SCHEDULED = (
    HEAD + DATA + NET + LOADER + "opt = optim.SGD(net.parameters(), lr=0.1, momentum=0.9)\n"
    "plan = optim.lr_scheduler.CosineAnnealingLR(opt, 6)\n"
    "for epoch in range(6):\n    for xb, yb in loader:\n        opt.zero_grad()\n"
    "        loss = F.cross_entropy(net(xb), yb)\n        loss.backward()\n"
    "        nn.utils.clip_grad_norm_(net.parameters(), 0.5)\n        opt.step()\n    plan.step()\n"
    "    print(epoch, loss.item())\n"
)
SHUFFLED = (
    HEAD + DATA + NET + "opt = optim.Adam(net.parameters(), lr=0.01)\nfor epoch in range(6):\n    net.train()\n"
    "    order = torch.randperm(40)\n    for start in range(0, 40, 8):\n        rows = order[start : start + 8]\n"
    "        loss = F.cross_entropy(net(X[rows]), y[rows])\n        opt.zero_grad()\n        loss.backward()\n"
    "        opt.step()\n    net.eval()\n    with torch.no_grad():\n"
    "        accuracy = (net(X).argmax(1) == y).float().mean()\n"
)
ACCUMULATED = (
    HEAD + DATA + NET + LOADER + "opt = optim.Adam(net.parameters(), lr=0.01)\nfor epoch in range(6):\n"
    "    for i, (xb, yb) in enumerate(loader):\n        loss = F.cross_entropy(net(xb), yb) / 2\n"
    "        loss.backward()\n        for _ in range(int(i % 2 == 1)):\n            opt.step()\n"
    "            opt.zero_grad()\n"
)
SCALED = (
    HEAD + DATA + NET + LOADER + "opt = optim.Adam(net.parameters(), lr=0.01)\n"
    'scaler = torch.amp.GradScaler("cpu", init_scale=4.0, growth_interval=3)\nfor epoch in range(6):\n'
    '    for xb, yb in loader:\n        opt.zero_grad()\n        with torch.autocast("cpu", torch.bfloat16):\n'
    "            loss = F.cross_entropy(net(xb), yb)\n        scaled = scaler.scale(loss)\n        scaled.backward()\n"
    "        scaler.step(opt)\n        scaler.update()\n"
)
IN_A_FUNCTION = (
    HEAD + "def fit(net, X, y):\n    opt = optim.Adam(net.parameters(), lr=0.01)\n    for step in range(6):\n"
    "        loss = F.cross_entropy(net(X), y)\n        opt.zero_grad()\n        loss.backward()\n        opt.step()\n"
    "    return loss\n\n\n" + DATA + NET + "order = torch.randperm(40)\nlast = fit(net, X[order], y[order])\n"
)
COUNTED = (
    HEAD + DATA + NET + LOADER + "held_out = torch.utils.data.DataLoader(loader.dataset, batch_size=16)\n"
    "opt = optim.Adam(net.parameters(), lr=0.01)\nfor epoch in range(6):\n    net.train()\n    for xb, yb in loader:\n"
    "        loss = F.cross_entropy(net(xb), yb)\n        opt.zero_grad()\n        loss.backward()\n"
    "        opt.step()\n"
    "    net.eval()\n    correct = 0\n    with torch.no_grad():\n        for xt, yt in held_out:\n"
    "            correct = correct + (net(xt).argmax(1) == yt).sum()\n    accuracy = correct / 40\n"
)
TRAININGS = {
    "counted": COUNTED,
    "scheduled": SCHEDULED,
    "shuffled": SHUFFLED,
    "accumulated": ACCUMULATED,
    "scaled": SCALED,
    "in_a_function": IN_A_FUNCTION,
}


pytestmark = pytest.mark.usefixtures("signals_and_numbers")


def text_of(name: str) -> str:
    """The text of a training; those that are added have six epochs."""
    if name in TRAININGS:
        return TRAININGS[name]
    plain = {"two_parts": TWO_PARTS, "made": MADE}.get(name, ADDED)
    options = SWITCHED.get(name, TrainingOptions())
    text = with_training(read_script(plain).graph, lambda _: None, options).text
    return text.replace("range(20)", "range(6)").replace(".compile()", '.compile(backend="eager")')


MADE = ADDED.replace(
    DATA,
    "def points(count=40):\n    X = torch.randn(count, 3)\n    noise = torch.randn(count)\n"
    "    y = (X[:, 0] + 0.1 * noise > 0).long()\n    return X, y\n\n\ntorch.manual_seed(3)\nX, y = points()\n",
).replace("torch.manual_seed(3)\n", "", 1)
SWITCHED = {
    "falls": TrainingOptions(optimizer="SGD", schedule="cosine", clip="0.5"),
    "mixed": TrainingOptions(optimizer="AdamW", schedule="steps", is_mixed=True),
    "patient": TrainingOptions(rate="0.3", schedule="cosine", patience=2),
    "patient_switches": TrainingOptions(
        batch=8, optimizer="SGD", rate="0.9", clip="0.5", accumulate=3, patience=1, is_compiled=True
    ),
    "compiled": TrainingOptions(is_compiled=True),
    "all_switches": TrainingOptions(
        batch=8, optimizer="SGD", rate="0.05", schedule="steps", clip="0.5", accumulate=3, is_mixed=True
    ),
}
"""Trainings that are added with what *Add training with…* offers."""
TURNS = {"patient": 5, "patient_switches": 3}
"""Those that end before their six epochs."""
ALL = ["added", "made", "two_parts", *SWITCHED, *TRAININGS]


def written(name: str) -> str:
    return write_training(read_script(text_of(name), keeps_code=True).graph, stem=name)


def run(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch, *options: str) -> int:
    """Run the script of a training in this process; how it ends."""
    path = folder / f"{name}.py"
    if not path.exists():
        path.write_text(written(name))
    monkeypatch.setattr(sys, "argv", [str(path), *options])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(path), run_name="__main__")
    return int(ended.value.code or 0)


def turns_word(name: str) -> str:
    return "--steps" if name == "in_a_function" else "--epochs"


def device(name: str) -> tuple[str, ...]:
    return ("--device", "cpu") if "--device" in written(name) else ()


@pytest.mark.parametrize("name", ALL)
def test_a_script_is_as_ruff_writes_it(name: str) -> None:
    script = written(name)
    assert formatted(script) == script
    assert checked(script) == ""


@pytest.mark.parametrize("name", ALL)
def test_what_the_canvas_trains_the_script_trains_to_the_last_bit(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values: dict[str, Any] = {}
    exec(compile(text_of(name), name, "exec"), values)
    drawn = torch.get_rng_state()
    assert run(tmp_path, name, monkeypatch, *device(name)) == 0
    saved = load_file(tmp_path / f"{name}.safetensors")
    learnt = {key.removeprefix("state."): one for key, one in saved.items() if key.startswith("state.")}
    assert learnt
    for key, one in learnt.items():
        owner, _, rest = key.partition(".")
        expected = values[owner].state_dict()[rest] if rest else values[owner]
        assert torch.equal(one, expected), key
    assert torch.equal(saved["random"], drawn)
    told = json.loads((tmp_path / f"{name}-log" / "metrics.jsonl").read_text().splitlines()[-1])
    if "accuracy" in told and name in TRAININGS:
        assert told["accuracy"] == pytest.approx(float(values["accuracy"]), rel=1e-6)
    assert ("accuracy" in told) == ("accuracy" in values)


@pytest.mark.parametrize("name", ALL)
def test_six_turns_are_two_and_four_more(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    whole.mkdir()
    parts.mkdir()
    run(whole, name, monkeypatch, *device(name))
    run(parts, name, monkeypatch, turns_word(name), "2", *device(name))
    torch.manual_seed(99)
    assert run(parts, name, monkeypatch, "--resume", "auto", *device(name)) == 0
    one, other = load_file(whole / f"{name}.safetensors"), load_file(parts / f"{name}.safetensors")
    assert one.keys() == other.keys()
    assert all(torch.equal(value, other[key]) for key, value in one.items())
    lines = [json.loads(line) for line in (parts / f"{name}-log" / "metrics.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines] == list(range(1, TURNS.get(name, 6) + 1))


def test_model_data_loss_and_measures_stand_apart() -> None:
    script = written("added")
    for part in ("class Added(nn.Module)", "def compute_loss(logits", "def measure(", "def set_up(", "def evaluate("):
        assert part in script
    assert "loss" not in script[script.index("class Added") : script.index("def compute_loss")]


def test_what_the_canvas_clips_to_is_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert 'option("--clip", type=float, default=0.5' in written("scheduled")


def test_a_checkpoint_is_not_overwritten_without_a_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(tmp_path, "added", monkeypatch, "--epochs", "1", "--device", "cpu")
    before = (tmp_path / "added.safetensors").read_bytes()
    assert run(tmp_path, "added", monkeypatch, "--epochs", "1", "--device", "cpu") == 2
    assert "added.safetensors is there already; go on with --resume auto" in capsys.readouterr().err
    assert (tmp_path / "added.safetensors").read_bytes() == before


def test_a_loop_of_its_own_is_refused_to_several_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each would train the whole, and all write one checkpoint; a script that shares its rows out takes several."""
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert run(tmp_path, "in_a_function", monkeypatch) == 2
    said = capsys.readouterr().err
    assert "trains in one process, and 2 were started" in said and "Distribute" in said
    assert [path.name for path in tmp_path.iterdir()] == ["in_a_function.py"], "it has not begun"
    monkeypatch.setenv("WORLD_SIZE", "1")
    assert run(tmp_path, "in_a_function", monkeypatch) == 0
    assert "refuse_several_processes" not in written("added")


def test_accumulation_over_all_batches_is_one_step_of_their_mean(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = HEAD + DATA + "net = nn.Linear(3, 2)\n" + LOADER + "opt = optim.SGD(net.parameters(), lr=0.1)\n"
    text += "for epoch in range(1):\n    for xb, yb in loader:\n        logits = net(xb)\n"
    text += "        loss = F.cross_entropy(logits, yb)\n"
    text += "        opt.zero_grad()\n        loss.backward()\n        opt.step()\n"
    (tmp_path / "plain.py").write_text(write_training(read_script(text).graph, stem="plain"))
    assert run(tmp_path, "plain", monkeypatch, "--accumulate", "5", "--device", "cpu") == 0
    values: dict[str, Any] = {}
    exec(text[: text.index("for epoch")], values)
    torch.nn.functional.cross_entropy(values["net"](values["X"]), values["y"]).backward()
    values["opt"].step()
    saved = load_file(tmp_path / "plain.safetensors")
    torch.testing.assert_close(saved["state.net.weight"], values["net"].weight.detach())


def test_measures_are_of_all_rows_and_only_in_some_epochs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(tmp_path, "added", monkeypatch, "--eval-every", "4", "--device", "cpu")
    path = tmp_path / "added-log" / "metrics.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["step"] for line in lines if "accuracy" in line] == [4, 6]
    assert (8 * lines[-1]["accuracy"]) % 1 == 0  # of eight rows that nobody learns from


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ("    total = total + loss.item()\n", "'total' goes from"),
        ("    X += 1\n", "changes 'X', which is no parameter"),
    ],
)
def test_what_a_checkpoint_would_not_hold_is_refused(changed: str, words: str) -> None:
    text = SHUFFLED.replace("for epoch", "total = 0.0\nfor epoch") + changed
    with pytest.raises(NoForm, match=words):
        write_training(read_script(text).graph, stem="lost")


def test_data_that_a_group_makes_are_shared_out_as_others_are() -> None:
    script = written("made")
    assert "DistributedSampler" in script and "def points(count=40):" in script
    elsewhere = text_of("made").replace("logits = net(X_batch)", "more, _ = points(8)\n        logits = net(X_batch)")
    assert "DistributedSampler" not in write_training(read_script(elsewhere).graph, stem="made")


def test_a_loop_of_its_own_logs_the_figures_of_the_test_too() -> None:
    assert '"loss_test": loss_test' in written("all_switches") and '"accuracy": accuracy' in written("all_switches")
