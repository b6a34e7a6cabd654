"""`gradstudio import` of a table or of arrays: a document, and Python that runs anywhere. torch is the oracle."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from gradstudio.cli import main
from gradstudio.document.file import load

TEXT = "a,b,species\n" + "".join(f"{k * 0.5},{k * 300},{'uvw'[k % 3]}\n" for k in range(20))
NAMES = ("X", "X_val", "y", "y_val")


def values_of(script: Path) -> dict[str, torch.Tensor]:
    """What a script binds, run from another folder, without this program."""
    tail = f"\nimport json\nprint(json.dumps({{name: globals()[name].tolist() for name in {NAMES}}}))\n"
    script.write_text(script.read_text() + tail)
    words, env = [sys.executable, str(script)], {**os.environ, "PYTHONPATH": ""}
    done = subprocess.run(words, capture_output=True, text=True, check=True, cwd=script.anchor, env=env)
    return {name: torch.tensor(value) for name, value in json.loads(done.stdout.splitlines()[-1]).items()}


def test_a_table_becomes_a_document_and_python_that_normalises_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "flowers.csv").write_text(TEXT)
    target, script = str(tmp_path / "one.gsg"), tmp_path / "script.py"
    assert main(["import", str(tmp_path / "flowers.csv"), "-o", target, "--normalise", "--seed", "4"]) == 0
    said = capsys.readouterr().out
    assert "X [16, 2], y [16]" in said and "16 rows to learn from, 4 to validate, chosen with seed 4" in said
    assert main(["export", target, "-o", str(script)]) == 0
    found = values_of(script)
    rows = torch.tensor([[k * 0.5, k * 300.0] for k in range(20)])
    classes = torch.arange(20) % 3
    mean, std = found["X"].mean(0), found["X"].std(0)
    torch.testing.assert_close(mean, torch.zeros(2), atol=1e-6, rtol=0)
    torch.testing.assert_close(std, torch.ones(2))
    both, labels = torch.cat([found["X"], found["X_val"]]), torch.cat([found["y"], found["y_val"]])
    order = both[:, 0].argsort()
    scale = rows[:, 0].diff()[0] / both[order][:, 0].diff()[0]
    torch.testing.assert_close((both[order] - both[order][0])[:, 0] * scale, rows[:, 0], atol=1e-4, rtol=1e-4)
    assert torch.equal(labels[order], classes)


def test_columns_and_target_are_chosen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "flowers.csv").write_text(TEXT)
    words = ["import", str(tmp_path / "flowers.csv"), "--columns", "a", "--target", "b", "--number"]
    assert main([*words, "--validation", "0"]) == 0
    graph = load(tmp_path / "flowers.gsg")
    assert sorted((one.dtype, one.shape) for one in graph.tensors.values()) == [
        ("float32", (20, 1)), ("float32", (20, 1)),
    ]  # fmt: skip
    assert main([*words[:-3], "--target", "nothing"]) == 4
    assert "has no column 'nothing'" in capsys.readouterr().err


def test_a_bad_file_is_told_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bad.csv").write_text("a,b\n1,2\n3\n")
    assert main(["import", str(tmp_path / "bad.csv")]) == 4
    assert "'bad.csv', line 3 has 1 cell where the first line has 2" in capsys.readouterr().err
    assert not (tmp_path / "bad.gsg").exists()
    np.save(tmp_path / "objects.npy", np.array([{}], dtype=object), allow_pickle=True)
    assert main(["import", str(tmp_path / "objects.npy")]) == 4
    assert "Python objects" in capsys.readouterr().err


def test_a_text_becomes_windows_of_characters_and_what_follows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content, window = "to be or not to be, that is the question\n" * 3, 5
    (tmp_path / "play.txt").write_text(content)
    target, script = str(tmp_path / "one.gsg"), tmp_path / "script.py"
    assert main(["import", str(tmp_path / "play.txt"), "-o", target, "--window", str(window)]) == 0
    kept = round(len(content) * 0.2)
    learnt = len(content) - kept
    assert f"X [{learnt - window}, {window}], y [{learnt - window}]" in capsys.readouterr().out
    assert main(["export", target, "-o", str(script)]) == 0
    signs = sorted(set(content))
    codes = torch.tensor([signs.index(sign) for sign in content])
    found = values_of(script)
    for apart, part in (("", codes[:learnt]), ("_val", codes[learnt:])):
        rows = [part[k : k + window] for k in range(len(part) - window)]
        assert torch.equal(found[f"X{apart}"], torch.stack(rows)) and torch.equal(found[f"y{apart}"], part[window:])
    assert "Classes: 0 \\n, 1 space, 2 comma" in script.read_text()


def test_a_folder_is_told_where_it_is_imported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", str(tmp_path)]) == 2
    assert "File ▸ Import folder of pictures…" in capsys.readouterr().err
