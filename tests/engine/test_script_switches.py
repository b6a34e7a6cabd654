"""Switches of scripts of ordinary loops against programs of plain torch that do the same by hand, to the last bit."""

import runpy
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from gradstudio.program.forms.training.training_forms import write_training
from gradstudio.program.reading.reader import read_script
from tests.engine.test_epoch_scripts import ACCUMULATED, HEAD, IN_A_FUNCTION, SCALED, SHUFFLED
from tests.program.forms.training.test_training_script import checked
from tests.program.sketch import formatted

pytestmark = pytest.mark.usefixtures("signals_and_numbers")
STEPS = (
    HEAD + "X = torch.randn(24, 3)\ny = (X[:, 0] > 0).long()\nw = torch.randn(3, 2, requires_grad=True)\n"
    "opt = optim.SGD([w], lr=0.05, momentum=0.9)\nfor step in range(7):\n    logits = X @ w\n"
    "    loss = F.cross_entropy(logits, y)\n    opt.zero_grad()\n    loss.backward()\n    opt.step()\n"
)
FLAT = (
    HEAD + "X = torch.randn(24, 3)\ny = (X[:, 0] > 0).long()\nnet = nn.Linear(3, 2)\n"
    "opt = optim.SGD(net.parameters(), lr=0.05, momentum=0.9)\nfor step in range(7):\n"
    "    rows = torch.randperm(24)[:8]\n"
    "    loss = F.cross_entropy(net(X[rows]), y[rows])\n    opt.zero_grad()\n    loss.backward()\n    opt.step()\n"
    "    print(step, rows.max().item())\n    for k in range(2):\n"
    "        drawn = torch.rand(1) + k\n        print(drawn.item())\n"
)
CLIP = "nn.utils.clip_grad_norm_({}, 0.1)\n"
MEAN = "for one in {0}:\n{1}    one.grad /= count\n"
GAN = (
    HEAD + "a = nn.Linear(2, 2)\nb = nn.Linear(2, 2)\none = optim.SGD(a.parameters(), lr=0.1)\n"
    "two = optim.SGD(b.parameters(), lr=0.2)\nfor step in range(4):\n    first = a(torch.randn(3, 2)).square().mean()\n"
    "    one.zero_grad()\n    first.backward()\n    one.step()\n    second = b(torch.randn(3, 2)).square().mean()\n"
    "    two.zero_grad()\n    second.backward()\n    two.step()\n"
)
BY_HAND = (
    HEAD + "x = torch.randn(8, 2)\nw = torch.randn(2, requires_grad=True)\nfor i in range(4):\n"
    "    loss = ((x @ w) ** 2).mean()\n    loss.backward()\n    with torch.no_grad():\n        w -= 0.5 * w.grad\n"
    "    w.grad = None\n"
)


def script(folder: Path, text: str) -> Path:
    path = folder / "train.py"
    folder.mkdir(exist_ok=True)
    if not path.exists():
        path.write_text(write_training(read_script(text).graph, stem="train"))
    return path


def run(path: Path, monkeypatch: pytest.MonkeyPatch, *options: str) -> dict[str, torch.Tensor]:
    """What a script has learnt, in this process."""
    saved = path.with_suffix(".safetensors")
    own = ["--device", "cpu"] if "--device" in path.read_text() else []
    monkeypatch.setattr(sys, "argv", [str(path), *own, "--checkpoint", str(saved), *options])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(path), run_name="__main__")
    assert not ended.value.code
    tensors = load_file(saved)
    found = {key.removeprefix("state.").removeprefix("model."): one for key, one in tensors.items()}
    return {key: one for key, one in found.items() if key.startswith(("w", "net."))}


def by_hand(text: str) -> dict[str, torch.Tensor]:
    values: dict[str, Any] = {}
    exec(compile(text, "program", "exec"), values)
    if "net" in values:
        return {f"net.{key}": one for key, one in values["net"].state_dict().items()}
    return {"w": values["w"].detach()}


def accumulated(text: str, place: str, last: int, indent: str, learns: str) -> str:
    """A program whose optimizer steps in each third batch, and with the last, by the mean of their gradients."""
    begins, ends = f"({place}) % 3 == 0", f"({place}) % 3 == 2 or ({place}) == {last}"
    text = text.replace("opt.zero_grad()\n", f"opt.zero_grad() if {begins} else None\n")
    mean = MEAN.format(learns, indent + "    ")
    return text.replace(
        f"{indent}opt.step()\n",
        f"{indent}count = ({place}) % 3 + 1\n{indent}if {ends}:\n{indent}    {mean}{indent}    opt.step()\n",
    )


def mixed(text: str, first: str, indent: str) -> str:
    """A program whose forward, from this line to that of its loss, is under autocast."""
    lines, inside = [], False
    for line in text.splitlines():
        if line.startswith(indent + first):
            lines.append(f'{indent}with torch.autocast("cpu", torch.bfloat16):')
            inside = True
        lines.append(f"    {line}" if inside else line)
        inside = inside and not line.startswith(f"{indent}loss =")
    return "\n".join([*lines, ""])


FOUR, EIGHT = " " * 4, " " * 8
NET, W = "net.parameters()", "[w]"
SAME = {
    "steps accumulate": (STEPS, ["--accumulate", "3"], accumulated(STEPS, "step", 6, FOUR, W)),
    "flat accumulate": (FLAT, ["--accumulate", "3"], accumulated(FLAT, "step", 6, FOUR, NET)),
    "shuffled accumulate": (SHUFFLED, ["--accumulate", "3"], accumulated(SHUFFLED, "start // 8", 4, EIGHT, NET)),
    "steps clip": (STEPS, ["--clip", "0.1"], STEPS.replace("opt.step()", CLIP.format(W) + "    opt.step()")),
    "shuffled clip": (
        SHUFFLED, ["--clip", "0.1"], SHUFFLED.replace("opt.step()", CLIP.format(NET) + EIGHT + "opt.step()")
    ),
    "scaled clip": (
        SCALED, ["--clip", "0.1"],
        SCALED.replace("scaler.step(opt)", f"scaler.unscale_(opt)\n{EIGHT}{CLIP.format(NET)}{EIGHT}scaler.step(opt)"),
    ),
    "steps rate": (STEPS, ["--lr", "0.3"], STEPS.replace("lr=0.05", "lr=0.3")),
    "flat rate": (FLAT, ["--lr", "0.3"], FLAT.replace("lr=0.05", "lr=0.3")),
    "shuffled rate": (SHUFFLED, ["--lr", "0.3"], SHUFFLED.replace("lr=0.01", "lr=0.3")),
    "function rate": (IN_A_FUNCTION, ["--lr", "0.3"], IN_A_FUNCTION.replace("lr=0.01", "lr=0.3")),
    "steps mixed": (STEPS, ["--amp"], mixed(STEPS, "logits =", FOUR)),
    "flat mixed": (FLAT, ["--amp"], mixed(FLAT, "loss =", FOUR)),
    "shuffled mixed": (SHUFFLED, ["--amp"], mixed(SHUFFLED, "loss =", EIGHT)),
    "loader mixed": (
        ACCUMULATED, ["--amp"],
        ACCUMULATED.replace(f"{EIGHT}loss =", f'{EIGHT}with torch.autocast("cpu", torch.bfloat16):\n{EIGHT}    loss ='),
    ),
    "all at once": (
        SHUFFLED, ["--lr", "0.3", "--accumulate", "3", "--amp"],
        mixed(accumulated(SHUFFLED, "start // 8", 4, EIGHT, NET), "loss =", EIGHT).replace("lr=0.01", "lr=0.3"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SAME)
def test_a_switch_does_what_one_would_write(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text, options, other = SAME[name]
    plain, expected = by_hand(text), by_hand(other)
    assert any(not torch.equal(one, plain[key]) for key, one in expected.items()), "the switch makes a difference"
    learnt = run(script(tmp_path, text), monkeypatch, *options)
    assert learnt.keys() == expected.keys() and learnt
    for key, one in learnt.items():
        assert torch.equal(one, expected[key]), key


@pytest.mark.parametrize(("text", "word"), [(STEPS, "--steps"), (FLAT, "--epochs"), (SHUFFLED, "--epochs")])
def test_with_switches_too_six_turns_are_three_and_three_more(
    text: str, word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    switches = ["--accumulate", "3", "--clip", "0.5", "--amp", "--lr", "0.02", "--save-every", "1"]
    whole = run(script(tmp_path / "whole", text), monkeypatch, word, "6", *switches)
    path = script(tmp_path / "parts", text)
    run(path, monkeypatch, word, "3", *switches)
    again = run(path, monkeypatch, word, "6", *switches, "--resume", "auto")
    assert all(torch.equal(one, whole[key]) for key, one in again.items())


@pytest.mark.parametrize(
    ("text", "option", "why"),
    [
        (GAN, "--lr", "no single learning rate"),
        (GAN, "--accumulate", "more than one optimizer"),
        (BY_HAND, "--accumulate", "without an optimizer"),
        (BY_HAND, "--clip", "without an optimizer"),
        (SCALED, "--amp", "autocast of its own"),
        (SCALED, "--accumulate", "scales its losses"),
        (SHUFFLED.replace("opt.step()", "print(opt)\n        opt.step()").replace(
            "print(opt)", CLIP.format("net.parameters()").strip()), "--accumulate", "gradients of each batch"),
        (SHUFFLED.replace("        opt.zero_grad()\n", ""), "--accumulate", "never sets"),
        (FLAT.replace("net = nn.Linear(3, 2)", "w = torch.randn(3, 2, requires_grad=True)")
            .replace("net(X[rows])", "X[rows] @ w").replace("net.parameters()", "[w]"), "--compile", "no module"),
    ],
)  # fmt: skip
def test_what_cannot_be_switched_is_refused_with_the_reason(
    text: str,
    option: str,
    why: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = script(tmp_path, text)
    for words in ([option], [option, "2"]):
        monkeypatch.setattr(sys, "argv", [str(path), *words])
        with pytest.raises(SystemExit) as ended:
            runpy.run_path(str(path), run_name="__main__")
        said = capsys.readouterr().err
        assert ended.value.code == 2 and f"{option}: " in said and why in said
    monkeypatch.setattr(sys, "argv", [str(path), "--help"])
    with pytest.raises(SystemExit):
        runpy.run_path(str(path), run_name="__main__")
    assert why in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("text", [GAN, BY_HAND, STEPS, FLAT])
def test_it_is_as_ruff_writes_it(text: str) -> None:
    made = write_training(read_script(text).graph, stem="train")
    assert formatted(made) == made
    assert checked(made) == ""


@pytest.mark.parametrize("text", [STEPS, FLAT])
def test_what_has_a_forward_is_compiled(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []

    def note(module: torch.nn.Module) -> torch.nn.Module:
        compiled.append(type(module).__name__)
        return module

    monkeypatch.setattr(torch.nn.Module, "compile", note)
    monkeypatch.setattr(torch, "compile", note)
    learnt = run(script(tmp_path, text), monkeypatch, "--compile")
    assert compiled == (["Train"] if text is STEPS else ["Linear"])
    assert all(torch.equal(one, learnt[key]) for key, one in by_hand(text).items())
