"""Functions of a module that `import torch` does not load: the script, and the engine, import it by its name."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from gradstudio.program.compile import compile_graph
from gradstudio.program.reading.reader import read_script
from gradstudio.program.write import write_script
from tests.engine.conftest import Bench

TEXT = """
import torch
from torch import nn
import torch.nn.utils.prune as prune

torch.manual_seed(0)

layer = nn.Linear(4, 4)
prune.l1_unstructured(layer, "weight", amount=0.5)
prune.remove(layer, "weight")
left = torch.count_nonzero(layer.weight)
"""


@pytest.fixture
def not_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "torch.nn.utils.prune", raising=False)
    monkeypatch.delattr(torch.nn.utils, "prune", raising=False)


def test_the_script_imports_it(tmp_path: Path) -> None:
    script = tmp_path / "pruned.py"
    script.write_text(write_script(read_script(TEXT).graph))
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert "left = tensor(8)" in done.stdout


def test_what_is_printed_is_read_as_it_was() -> None:
    printed = write_script(read_script(TEXT).graph)
    assert "import torch.nn.utils.prune\n" in printed
    assert write_script(read_script(printed).graph) == printed


@pytest.mark.usefixtures("not_loaded")
@pytest.mark.parametrize("trace", [True, False])
def test_the_engine_runs_it(bench: Bench, trace: bool) -> None:
    assert bench.run(compile_graph(read_script(TEXT).graph), trace=trace).outcome == "done"
    assert bench["left"].item() == 8
