"""Runs of the benchmarks that were kept: what got worse is named, in either direction of a figure."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import _history

RUN = {
    "machine": "a machine",
    "cores": 2,
    "load": 0.1,
    "load at the end": 1.2,
    "python": "3.11.7",
    "commit": "abc",
    "day": "2026-01-01",
}


def row(name: str, measured: float | None, unit: str = "ms", goal: float | None = 16) -> dict[str, Any]:
    return {"name": name, "measured": measured, "goal": goal, "unit": unit, "ok": True, "compared_with": ""}


def test_a_figure_that_took_longer_is_worse_and_a_rate_that_rose_is_not() -> None:
    was = [row("step", 10), row("losses", 10, "1/s"), row("jump", 20), row("frames", 30, "1/s")]
    now = [row("step", 12), row("losses", 20, "1/s"), row("jump", 21), row("frames", 20, "1/s")]
    lines, worse = _history.against(was, now, whole=True)
    assert worse == 2
    assert [line.endswith("WORSE") for line in lines] == [True, False, False, True]
    assert "1.20 x" in lines[0] and "0.50 x" in lines[1]


def test_what_was_not_there_before_is_new_and_what_is_missing_is_named() -> None:
    lines, worse = _history.against([row("gone", 1), row("failed", 2)], [row("made", 1), row("failed", None)], True)
    assert worse == 0
    assert lines[0].endswith("new")
    assert [line.split()[0] for line in lines[1:]] == ["gone", "failed"]
    assert len(_history.against([row("gone", 1)], [row("made", 1)], whole=False)[0]) == 1


def test_figures_in_other_units_have_no_ratio() -> None:
    assert _history.ratio(row("time", 1, "s"), row("time", 900, "ms")) is None
    assert _history.ratio(row("differ", 0, ""), row("differ", 3, "")) is None


def test_a_run_is_kept_with_its_machine_and_read_again(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    _history.write(path, _history.circumstances(), [row("step", 10)])
    run = _history.read(path)
    assert run["rows"] == [row("step", 10)]
    assert set(run["run"]) == set(RUN)
    assert str(run["run"]["cores"]) in _history.told(run)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"rows": []}'])
def test_a_file_that_is_no_run_is_said(tmp_path: Path, text: str) -> None:
    path = tmp_path / "run.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SystemExit, match=r"run\.json is no run"):
        _history.read(path)


def test_runs_stand_beside_each_other_in_a_table() -> None:
    first = {"run": RUN, "rows": [row("step", 10), row("a|b", None)]}
    second = json.loads(json.dumps(first)) | {"rows": [row("step", 12.345), row("a|b", 2, "", None)]}
    lines = _history.table([first, second]).splitlines()
    assert lines[2] == "| step | 10 ms | 12.3 ms | 16 |"
    assert lines[3] == r"| a\|b |  | 2 |  |"
    assert _history.page([first]).startswith("- 2026-01-01, abc: a machine, 2 cores, Python 3.11.7, load 0.1 ")
