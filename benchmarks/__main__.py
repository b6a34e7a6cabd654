"""Runs the benchmarks whose name contains PATTERN, each in a process of its own, and prints a row each."""

import argparse
import json
import pkgutil
import subprocess
import sys
from pathlib import Path

import benchmarks

HERE = Path(__file__).parent
TIMEOUT_S = 1800
ONE = "import importlib, json, sys; print(json.dumps(importlib.import_module(sys.argv[1]).measure()))"


def main() -> int:
    """Print name, measured, goal and verdict of each figure; 1 when one falls short."""
    parser = argparse.ArgumentParser(prog="dev.py bench", description=__doc__)
    parser.add_argument("pattern", nargs="?", default="")
    parser.add_argument("--json", action="store_true", help="one object a line")
    options = parser.parse_args()
    names = [module.name for module in pkgutil.iter_modules(benchmarks.__path__) if not module.name.startswith("_")]
    short = 0
    for name in names:
        for row in rows_of(name) if matches(name, options.pattern) else ():
            print(json.dumps(row) if options.json else line(row), flush=True)
            short += row["ok"] is False
    return 1 if short else 0


def matches(name: str, pattern: str) -> bool:
    """Whether the module is asked for."""
    return pattern.lower() in name.lower()


def rows_of(name: str) -> list[dict[str, object]]:
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


def unmeasured(name: str, reason: str) -> dict[str, object]:
    """A row for a figure that could not be taken."""
    return {"name": name, "measured": None, "goal": None, "unit": "", "ok": None, "compared_with": "", "reason": reason}


def line(row: dict[str, object]) -> str:
    """One row for a person."""
    if row["measured"] is None:
        return f"{row['name']:<58} not measured: {row.get('reason', '')}"
    verdict = "holds" if row["ok"] else "falls short" if row["ok"] is False else ""
    unit = row["unit"]
    measured, goal = f"{row['measured']:.3g} {unit}", f"goal {row['goal']} {unit}" if row["goal"] is not None else ""
    return f"{row['name']:<58} {measured:>12}  {goal:<16} {verdict:<11} {row.get('compared_with', '')}"


if __name__ == "__main__":
    sys.exit(main())
