"""Runs that were kept: written to a file with the machine and its load, compared row by row, shown as a table."""

import datetime
import json
import os
import platform
import re
import subprocess
from pathlib import Path
from typing import Any

WORSE = 1.1
"""So many times worse than before is told."""
MORE_IS_BETTER = frozenset({"1/s"})
"""Units whose larger figure is the better one; of all others the smaller is."""


def circumstances() -> dict[str, Any]:
    """Where and when a run is made: machine, cores, load of the last minute, versions, commit, day."""
    return {
        "machine": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "python": platform.python_version(),
        "commit": _commit(),
        "day": datetime.datetime.now(datetime.UTC).date().isoformat(),
    }


def write(path: Path, before: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    """Keep the rows of a run; `before` is what `circumstances` said when it began."""
    ended = circumstances()
    told = before | {"load at the end": ended["load"]}
    path.write_text(json.dumps({"run": told, "rows": rows}, indent=1) + "\n", encoding="utf-8")


def read(path: Path) -> dict[str, Any]:
    """A run that was kept.

    Raises:
        SystemExit: the file is none.
    """
    try:
        run = json.loads(path.read_text(encoding="utf-8"))
        return {"run": run["run"], "rows": list(run["rows"])}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SystemExit(f"{path} is no run that --save wrote: {error}") from error


def figures(rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The rows that were measured, by their name."""
    return {row["name"]: row for row in rows if row["measured"] is not None}


def ratio(was: dict[str, Any], now: dict[str, Any]) -> float | None:
    """How many times worse a figure became; below 1 is better, `None` where it cannot be said."""
    old, new = was["measured"], now["measured"]
    if was["unit"] != now["unit"] or old <= 0 or new <= 0:
        return None
    return old / new if now["unit"] in MORE_IS_BETTER else new / old


def against(kept: list[dict[str, Any]], rows: list[dict[str, Any]], whole: bool) -> tuple[list[str], int]:
    """A line for each figure of both runs, and how many got more than a tenth worse.

    After a `whole` run the figures that are missing now are named too.
    """
    was, lines, worse = figures(kept), [], 0
    for name, now in figures(rows).items():
        if name not in was:
            lines.append(f"{name:<66} {'':>10} {now['measured']:>10.4g} {now['unit']:<4} new")
            continue
        times = ratio(was[name], now)
        flag = "WORSE" if times is not None and times > WORSE else ""
        worse += bool(flag)
        shown = "" if times is None else f"{times:.2f} x"
        lines.append(
            f"{name:<66} {was[name]['measured']:>10.4g} {now['measured']:>10.4g} {now['unit']:<4} {shown:>8} {flag}"
        )
    lines += [f"{name:<66} not measured now" for name in was if whole and name not in figures(rows)]
    return lines, worse


def page(runs: list[dict[str, Any]]) -> str:
    """Kept runs with their machines, and their figures beside each other, as Markdown."""
    return "\n".join([*(f"- {told(run)}" for run in runs), "", table(runs)])


def table(runs: list[dict[str, Any]]) -> str:
    """Kept runs beside each other as Markdown, the last one beside its goals."""
    heads = [f"{run['run']['day']}, {run['run']['commit']}" for run in runs]
    names = list(dict.fromkeys(name for run in runs for name in figures(run["rows"])))
    columns = [figures(run["rows"]) for run in runs]
    lines = [f"| figure | {' | '.join(heads)} | goal |", "|---|" + "---:|" * (len(runs) + 1)]
    for name in names:
        cells = [_cell(column.get(name)) for column in columns]
        goals = [column[name]["goal"] for column in columns if name in column]
        goal = "" if goals[-1] is None else f"{goals[-1]:g}"
        lines.append(f"| {_plain(name)} | {' | '.join(cells)} | {goal} |")
    return "\n".join(lines) + "\n"


def told(run: dict[str, Any]) -> str:
    """One line on the machine of a run and what else it had to do."""
    about = run["run"]
    load = f"load {about['load']} at its beginning, {about['load at the end']} at its end (its own included)"
    machine = f"{about['machine']}, {about['cores']} cores, Python {about['python']}"
    return f"{about['day']}, {about['commit']}: {machine}, {load}"


def _cell(row: dict[str, Any] | None) -> str:
    return "" if row is None else f"{row['measured']:.3g} {row['unit']}".strip()


def _plain(name: str) -> str:
    return name.replace("|", "\\|")


def _processor() -> str:
    try:
        told = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor() or platform.machine()
    found = re.search(r"^model name\s*:\s*(.+)$", told, re.MULTILINE)
    return found[1].strip() if found else platform.machine()


def _commit() -> str:
    command = ["git", "describe", "--always", "--dirty", "--abbrev=9"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "no commit"
