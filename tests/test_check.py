"""What `check` says of a file, and that it gives the advice that `run` and the window give."""

import json
import sys
from pathlib import Path

import pytest

from gradstudio.cli import main
from gradstudio.protocol import client, shape_clock

LINEAR = "import torch\nfrom torch import nn\n\nx = torch.randn(3, 8)\nfc = nn.Linear(4, 2)\ny = fc(x)\n"
TOPK = "import torch\n\nx = torch.randn(3, 4)\nvalues, indices = x.topk(2)\n"


@pytest.fixture
def write(tmp_path: Path):
    def written(text: str) -> str:
        (tmp_path / "text.py").write_text(text)
        return str(tmp_path / "text.py")

    return written


def report(capsys: pytest.CaptureFixture[str]) -> dict:
    return json.loads(capsys.readouterr().out)


def test_each_output_of_an_unpacked_node_has_its_own_name(capsys, write) -> None:
    path = write(TOPK)
    assert main(["check", path, "--json"]) == 0
    ports = report(capsys)["ports"]
    assert [(p["name"], p.get("output", 0), p["dtype"]) for p in ports[1:]] == [
        ("values", 0, "float32"),
        ("indices", 1, "int64"),
    ]
    assert main(["check", path]) == 0
    assert "indices: int64 (3, 2)" in capsys.readouterr().out


def test_an_output_that_nobody_names_is_counted(capsys, write) -> None:
    assert main(["check", write("import torch\n\nx = torch.randn(3, 4)\n_, _ = x.topk(2)\n"), "--json"]) == 0
    assert [port["name"] for port in report(capsys)["ports"][1:]] == ["topk_1", "topk_1[1]"]


def test_parameters_and_buffers_of_a_module_are_listed_by_their_names(capsys, write) -> None:
    path = write("import torch\nfrom torch import nn\n\nnorm = nn.BatchNorm1d(3, affine=False)\nfc = nn.Linear(3, 2)\n")
    assert main(["check", path, "--json"]) == 0
    norm, fc = report(capsys)["ports"]
    assert [(leaf["name"], leaf["shape"]) for leaf in fc["leaves"]] == [("fc.weight", [2, 3]), ("fc.bias", [2])]
    assert "norm.running_mean" in [leaf["name"] for leaf in norm["leaves"] if leaf.get("buffer")]
    assert main(["check", path]) == 0
    assert "  fc.weight: float32 (2, 3)\n" in capsys.readouterr().out


def test_a_wrong_layer_is_explained_and_mended_alike_before_and_after_a_run(capsys, write) -> None:
    path = write(LINEAR)
    assert main(["check", path, "--json"]) == 1
    (problem,) = report(capsys)["problems"]
    assert (problem["node"], problem["line"]) == ("y", 6)
    assert "columns of the left (8)" in problem["explanation"]
    assert problem["fixes"][0] == "Set in_features of fc to 8"
    assert main(["run", path, "--json"]) == 1
    error = report(capsys)["error"]
    assert (error["fixes"], error["explanation"]) == (problem["fixes"], problem["explanation"])


def test_the_text_of_both_tells_why_and_what_can_be_done(capsys, write) -> None:
    path = write(LINEAR)
    for verb in ("check", "run"):
        assert main([verb, path]) == 1
        told = capsys.readouterr().out
        assert "A matrix product needs" in told
        assert "→ Set in_features of fc to 8" in told


def test_a_file_that_cannot_be_read_has_the_same_fields(capsys, write, tmp_path: Path) -> None:
    assert main(["check", str(tmp_path / "nowhere.py"), "--json"]) == 4
    assert report(capsys)["problems"][0].keys() == {"node", "line", "message", "explanation", "fixes"}


def test_silent_mistakes_are_warnings_and_the_check_is_passed(capsys, write) -> None:
    text = "import torch\n\np = torch.randn(8, 1, requires_grad=True)\nt = torch.randn(8)\ne = p - t\n"
    assert main(["check", write(text), "--json"]) == 0
    (notice,) = report(capsys)["warnings"]
    assert (notice["node"], notice["line"]) == ("e", 5)
    assert "broadcast to [8, 8]" in notice["message"]
    assert notice["fixes"] == ["Give t the other's shape (t.reshape(8, 1))"]


def test_indices_that_are_written_out_are_refused_with_the_size_they_need_and_nothing_more_is_said_there(
    capsys, write
) -> None:
    text = (
        "import torch\nfrom torch import nn\n\nemb = nn.Embedding(10, 3)\nidx = torch.tensor([1, 12])\ny = emb(idx)\n"
        "p = torch.softmax(torch.randn(2, 3), dim=1)\n"
        "loss = nn.functional.cross_entropy(p, torch.tensor([0, 7]))\n"
    )
    assert main(["check", write(text), "--json"]) == 1
    told = report(capsys)
    problem, other = told["problems"]
    assert other["node"] == "loss" and "Target 7 is out of bounds" in other["message"]
    assert told["warnings"] == [], "its probabilities are a warning where torch takes it"
    assert problem["message"] == "index out of range in self"
    assert problem["fixes"][0] == "Set num_embeddings of emb to 13"


def test_a_shape_is_told_where_the_dtype_is_not_known(capsys, write) -> None:
    cast = 'with torch.autocast("cpu", dtype=torch.bfloat16, enabled=False):'
    path = write(f"import torch\n\nx = torch.ones(3, 3)\n{cast}\n    z = x @ x\n")
    assert main(["check", path]) == 0
    assert "z: some dtype (3, 3)" in capsys.readouterr().out


def test_a_graph_is_analysed_when_asked_for(capsys, write) -> None:
    path = write("import torch\nx = torch.ones(2, requires_grad=True)\na = x * 2\ny = a.sum()\ny.backward()\n")
    assert main(["check", path, "--graph", "--json"]) == 0
    rows = {row["question"]: row for row in report(capsys)["graph"]}
    assert rows["gradient"]["answers"][0]["text"] == "x: through a."
    assert rows["memory"]["answers"][0] == {
        "text": "20 B of 20 B in all: x → a → y", "nodes": ["x", "a", "y"], "figure": 20.0,
    }  # fmt: skip
    assert rows["time"]["answers"] == [] and "A check runs nothing" in rows["time"]["note"]
    assert main(["check", path, "--between", "x", "y"]) == 0
    assert "Between x and y\n  - 1 node: a\n" in capsys.readouterr().out
    assert main(["check", path, "--json"]) == 0
    assert "graph" not in report(capsys)


def test_a_shape_that_is_looked_for_too_long_ends_the_check_at_its_line(capsys, write, monkeypatch) -> None:
    monkeypatch.setattr(client, "COMMAND", (sys.executable, "-m", "tests.helpers.fake_engine", "dreaming"))
    monkeypatch.setattr(shape_clock, "SHAPE_PATIENCE_S", -1.0)
    path = write("import torch\n\nx = torch.ones(2)\ny = x * 2\n")
    assert main(["check", path]) == 1
    assert "PROBLEM at x (line 3): looking for its shape" in capsys.readouterr().out
    assert main(["check", path, path, "--json"]) == 1
    for line in capsys.readouterr().out.splitlines():
        (problem,) = json.loads(line)["problems"]
        assert (problem["node"], problem["line"]) == ("x", 3)


@pytest.mark.parametrize("words", [("check",), ("check", "--json"), ("run",), ("render", "--run", "-o", "p.png")])
def test_an_engine_that_does_not_start_is_told_in_words(capsys, write, monkeypatch, words: tuple[str, ...]) -> None:
    monkeypatch.setattr(client, "COMMAND", (sys.executable, "-c", "raise SystemExit(7)"))
    path = write("import torch\nx = torch.ones(2)\n")
    assert main([words[0], str(path), *words[1:]]) == 1
    told = capsys.readouterr()
    assert "The engine ended with code 7. The document is untouched" in told.out + told.err


def test_torch_that_is_imported_beside_other_modules_is_torch(capsys, write) -> None:
    path = write("import torch, os\n\nx = torch.ones(2, 3)\ny = x.sum(0)\nprint(os.name)\n")
    assert main(["check", path]) == 0
    said = capsys.readouterr().out
    assert "x: float32 (2, 3)" in said
    assert "y: float32 (3,)" in said


@pytest.mark.parametrize("line", ["y = x['a']", "x['a'] = 1.0"])
def test_a_name_in_the_brackets_of_a_tensor_is_called_that(capsys, write, line: str) -> None:
    path = write(f"import torch\n\nx = torch.ones(2, 3)\n{line}\n")
    assert main(["check", path]) == 1
    said = capsys.readouterr().out
    assert "A tensor has places, no names" in said
    assert "Numbers are wanted" not in said


MIXED = """import torch
import random
import no_such_package_1
import beside_it
from sklearn_2.linear import Model

x = torch.ones(2)
for k in range(2):
    y = x * k


class Meter:
    def __init__(self):
        self.sum = 0


torch.save(x, "x.pt")
"""


def test_what_is_drawn_what_is_code_what_asks_and_what_is_missing_is_said(capsys, write, tmp_path: Path) -> None:
    (tmp_path / "beside_it.py").write_text("raise SystemExit(9)\n")
    path = write(MIXED)
    assert main(["check", path]) == 0
    said = capsys.readouterr().out
    assert f"{path}: fine, {len(MIXED.splitlines())} lines" in said
    assert "kept as code, as typed:" in said
    assert "lines 2–5: import random" in said
    assert "lines 12–14: class Meter:" in said
    assert 'does more than compute: line 17: torch.save(x, "x.pt")' in said
    assert "needs your yes: gradstudio run --trust" in said
    assert "missing: no_such_package_1; install it: " in said and "-m pip install no_such_package_1" in said
    assert "missing: beside_it" not in said
    assert "missing: random" not in said
    assert main(["check", path, "--json"]) == 0
    told = report(capsys)
    assert told["statements"] - told["drawn"] == len(told["code"]) == 2
    assert [one["package"] for one in told["missing"]] == ["no_such_package_1", "sklearn_2"]


def test_why_a_whole_program_is_one_card_is_said(capsys, write) -> None:
    path = write("import torch\n\nx = torch.ones(2)\nnames = sorted(k for k in globals())\n")
    assert main(["check", path]) == 0
    assert "`names = sorted(k for k in globals())` may read or bind any name" in capsys.readouterr().out


def test_a_drawn_program_says_nothing_of_that(capsys, write) -> None:
    path = write(TOPK)
    assert main(["check", path]) == 0
    said = capsys.readouterr().out
    assert "drawn:" not in said and "trust" not in said
