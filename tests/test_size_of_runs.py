"""What the command line says of programs larger than the memory; the engine's edge tells how much is free."""

import json
from pathlib import Path

import pytest

from gradstudio.cli import main
from gradstudio.protocol import client
from tests.helpers import engine_forks

LITTLE_MEMORY = (
    "from gradstudio.engine.device_memory import free_bytes; "
    "free_bytes.__code__ = (lambda device: 300 << 20).__code__"  # wherever it has been imported by now
)


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(client, "COMMAND", engine_forks.changed_by(LITTLE_MEMORY))

    def written(text: str) -> str:
        (tmp_path / "text.py").write_text(f"import torch\n\n{text}")
        return str(tmp_path / "text.py")

    return written


@pytest.mark.parametrize("trace", [(), ("--trace",)])
@pytest.mark.parametrize("call", ["a * b", "torch.matmul(a, b)"])
def test_a_product_of_two_that_fit_is_refused_at_its_node(capsys, write, call: str, trace: tuple[str, ...]) -> None:
    path = write(f"a = torch.ones(20000, 1)\nb = torch.ones(1, 20000)\nc = {call}\n")
    assert main(["run", path, "--json", *trace]) == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert (error["node"], error["line"], error["type"]) == ("c", 5, "TooLarge")
    assert error["message"] == f"{call} would take 1.5 GiB; 300.0 MiB are free on cpu. It was not run."
    assert error["explanation"]
    assert error["fixes"]


def test_a_program_whose_sum_exceeds_the_memory_is_run_with_a_warning(capsys, write) -> None:
    path = write("a = torch.ones(6000, 1) * torch.ones(1, 10000)\nb = a + 1\nc = b.sum()\n")
    assert main(["run", path, "--json"]) == 0
    told = capsys.readouterr()
    (warning,) = json.loads(told.out)["warnings"]
    assert (warning["node"], warning["line"], warning["type"]) == ("b", 4, "Size")
    assert warning["message"] == "This needs about 458 MiB on cpu; 300 MiB are free."
    assert told.err == f"{path}: at b: {warning['message']}\n"


def test_what_fits_is_run_without_a_word(capsys, write) -> None:
    assert main(["run", write("a = torch.ones(1000, 1) * torch.ones(1, 1000)\n"), "--json"]) == 0
    told = capsys.readouterr()
    assert (json.loads(told.out)["warnings"], told.err) == ([], "")
