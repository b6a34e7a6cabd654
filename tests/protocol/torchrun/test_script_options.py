"""The options of a training script of each shape, looked at without torch and before torchrun."""

from pathlib import Path

import pytest

from gradstudio.program.forms.form_table import form_named
from gradstudio.program.reading.reader import read_script
from gradstudio.protocol.torchrun.script_options import judge_options

STEPS = """
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(16, 3)
fc = nn.Linear(3, 1)
loss = fc(x).square().mean()
loss.backward()
"""
EPOCHS = """
import torch
from torch import nn, optim

x = torch.randn(64, 3)
net = nn.Linear(3, 1)
data = torch.utils.data.TensorDataset(x)
loader = torch.utils.data.DataLoader(data, batch_size=8)
opt = optim.SGD(net.parameters(), lr=0.01)
for epoch in range(3):
    for (xb,) in loader:
        loss = net(xb).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
TURNS = """
import torch
from torch import nn, optim

net = nn.Linear(3, 1)
other = nn.Linear(3, 1)
opt = optim.SGD(net.parameters(), lr=0.01)
opt2 = optim.SGD(other.parameters(), lr=0.01)
for turn in range(3):
    x = torch.randn(8, 3)
    loss = (net(x) - other(x)).square().mean()
    opt.zero_grad()
    opt2.zero_grad()
    loss.backward()
    opt.step()
    opt2.step()
"""


@pytest.mark.parametrize(("text", "name"), [(STEPS, "steps"), (EPOCHS, "epochs"), (TURNS, "steps")])
def test_a_script_of_each_shape_judges_its_options(
    text: str, name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "net.py"
    script.write_text(form_named("train").write(read_script(text).graph, "net", None))
    assert judge_options(script, [f"--{name}", "3"]) is None
    assert judge_options(script, ["--nonsense"]) == 2
    said = capfd.readouterr().err
    assert said.startswith("usage: net.py") and said.endswith("net.py: error: unrecognized arguments: --nonsense\n")
    if text is STEPS:
        assert judge_options(script, ["--optimizer", "adamm"]) == 2
        assert "(choose from " in capfd.readouterr().err


def test_torch_is_not_imported_for_it(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "net.py"
    text = form_named("train").write(read_script(STEPS).graph, "net", None)
    script.write_text(text.replace("    args = parser.parse_args()\n", "    parser.error('torch' in sys.modules)\n"))
    assert judge_options(script, []) == 2
    assert capfd.readouterr().err.endswith("net.py: error: False\n")


def test_a_script_without_a_parser_takes_what_it_likes(tmp_path: Path) -> None:
    script = tmp_path / "net.py"
    script.write_text("raise SystemExit(3)\n")
    assert judge_options(script, ["--nonsense"]) is None
