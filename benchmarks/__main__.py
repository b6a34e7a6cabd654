"""Runs the benchmarks whose name contains PATTERN, each in a process of its own, and prints a row each."""

import argparse
import json
import pkgutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import benchmarks
from benchmarks import _history

HERE = Path(__file__).parent
TIMEOUT_S = 1800
ONE = "import importlib, json, sys; print(json.dumps(importlib.import_module(sys.argv[1]).measure()))"


def main() -> int:
    """Print name, measured, goal and verdict of each figure; 1 when one falls short, or got worse than a kept run."""
    parser = argparse.ArgumentParser(prog="dev.py bench", description=__doc__)
    parser.add_argument("pattern", nargs="?", default="")
    parser.add_argument("--json", action="store_true", help="one object a line")
    parser.add_argument("--save", type=Path, metavar="FILE", help="keep the figures, the machine and its load")
    parser.add_argument("--against", type=Path, metavar="FILE", help="beside the figures of a kept run: was, is, ratio")
    parser.add_argument("--page", type=Path, nargs="+", metavar="FILE", help="kept runs as a table; measures nothing")
    options = parser.parse_args()
    if options.page:
        print(_history.page([_history.read(path) for path in options.page]))
        return 0
    kept = _history.read(options.against) if options.against else None
    return _measured(options, kept)


def _measured(options: argparse.Namespace, kept: dict[str, Any] | None) -> int:
    """Take the figures that are asked for, show them, keep them."""
    before = _history.circumstances()
    names = [module.name for module in pkgutil.iter_modules(benchmarks.__path__) if not module.name.startswith("_")]
    rows: list[dict[str, Any]] = []
    for name in names:
        for row in rows_of(name) if matches(name, options.pattern) else ():
            print(json.dumps(row) if options.json else line(row), flush=True)
            rows.append(row)
    if options.save:
        _history.write(options.save, before, rows)
    if kept is not None:
        lines, worse = _history.against(kept["rows"], rows, whole=not options.pattern)
        print("", _history.told(kept), *lines, f"{worse} figures got more than a tenth worse", sep="\n")
        return 1 if worse else 0
    return 1 if any(row["ok"] is False for row in rows) else 0


def matches(name: str, pattern: str) -> bool:
    """Whether the module is asked for."""
    return pattern.lower() in name.lower()


def rows_of(name: str) -> list[dict[str, Any]]:
    """The rows of one module, measured in a fresh process; a row that says why when it fails."""
    command = [sys.executable, "-c", ONE, f"benchmarks.{name}"]
    try:
        done = subprocess.run(command, cwd=HERE.parent, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        return [unmeasured(name, f"it took more than {TIMEOUT_S} s")]
    if done.returncode:
        return [unmeasured(name, (done.stderr.strip().splitlines() or ["it failed without a word"])[-1])]
    rows = json.loads(done.stdout.strip().splitlines()[-1])
    return rows if isinstance(rows, list) else [rows]


def unmeasured(name: str, reason: str) -> dict[str, Any]:
    """A row for a figure that could not be taken."""
    return {"name": name, "measured": None, "goal": None, "unit": "", "ok": None, "compared_with": "", "reason": reason}


def line(row: dict[str, Any]) -> str:
    """One row for a person."""
    if row["measured"] is None:
        return f"{row['name']:<58} not measured: {row.get('reason', '')}"
    verdict = "holds" if row["ok"] else "falls short" if row["ok"] is False else ""
    unit = row["unit"]
    measured, goal = f"{row['measured']:.3g} {unit}", f"goal {row['goal']} {unit}" if row["goal"] is not None else ""
    return f"{row['name']:<58} {measured:>12}  {goal:<16} {verdict:<11} {row.get('compared_with', '')}"


if __name__ == "__main__":
    sys.exit(main())
