"""A training that was distributed learns the same on the ranks of the window and under torchrun, to the last bit."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from gradstudio.cli import main
from gradstudio.program.forms.training.distributed_training import Way, distributed
from gradstudio.program.reading.reader import read_script
from gradstudio.train_command import TORCHRUN
from tests.program.forms.training.test_distributed_training import EPOCHS

RANKS = 2
SHOWN = """
import json as _json
def _whole(p):
    p = p.detach()
    return getattr(p, "full_tensor", lambda: p)()
_found = {name: _whole(p).tolist() for name, p in model.named_parameters()}
if rank == 0:
    open("learnt.json", "w").write(_json.dumps([_found, loss.item()]))
torch.distributed.destroy_process_group()
"""
END = "torch.distributed.destroy_process_group()\n"


@pytest.mark.parametrize("way", ["ddp", "fsdp"])
def test_ranks_of_the_window_and_torchrun_learn_the_same(
    way: Way, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    text = distributed(read_script(EPOCHS, keeps_code=True).graph, way)
    (tmp_path / "net.py").write_text(text)
    assert main(["run", "--trust", "--processes", str(RANKS), "--json", str(tmp_path / "net.py")]) == 0
    (told,) = json.loads(f"[{capsys.readouterr().out.strip()}]")
    assert END in text
    (tmp_path / "whole.py").write_text(text.replace(END, SHOWN))
    command = [*TORCHRUN, "--nproc-per-node", str(RANKS), "whole.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=dict(os.environ))
    assert not done.returncode, done.stderr
    learnt, loss = json.loads((tmp_path / "learnt.json").read_text())
    assert told["nodes"]["loss"]["outputs"][0]["value"] == loss
    model = told["nodes"]["model"]["outputs"][0]["parameters"]
    assert {name: one["value"] for name, one in model.items()} == learnt
    assert [line for line in done.stdout.splitlines() if line] == [
        line for printed in told["printed"] for line in printed["text"].replace("[rank 0] ", "").splitlines()
    ], "one process alone prints"
