"""What of a program is drawn, what is kept as code and why, what needs a yes, and which packages are missing.

Nothing is imported: a package is looked for where Python would look.
"""

import ast
import sys
from collections.abc import Iterable, Iterator, Sized
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any, Final

from gradstudio.advice.rules.missing_packages import install_line
from gradstudio.graph.graph_index import graphs_of
from gradstudio.graph.model import Graph
from gradstudio.graph.text.code_records import CODE, reason_for_whole
from gradstudio.graph.text.code_text import syntax_of
from gradstudio.program.file_lines import FileText
from gradstudio.program.model import CodeLines, Program, flatten_statements

Json = dict[str, Any]
MOST_SHOWN: Final = 60
"""So much of the first line of a code is shown."""


def summary_json(graph: Graph, program: Program, file: FileText, folder: Path) -> Json:
    """All of it as data.

    Args:
        file: its text; what is not in it is told as the script has it.
        folder: of the program, whose own modules lie there.
    """
    operators = {id: node.operator for one in graphs_of(graph) for id, node in one.nodes.items()}
    inside = [flatten_statements((*one.setup, *one.body, *one.members)) for one in program.insides]
    statements = [*flatten_statements(program.statements), *(one for part in inside for one in part)]
    kept = [_row(file, one) for one in program.codes if operators.get(one.node) == CODE]
    asks = [_row(file, one) for one in program.codes if operators.get(one.node) != CODE]
    drawn = len(statements) - len(kept)
    missing = [{"package": name, "install": install} for name, install in _missing(program.codes, folder)]
    return {"drawn": drawn, "statements": len(statements), "code": kept, "asks": asks, "missing": missing}


def summary_lines(summary: Json) -> Iterator[str]:
    """The same for people; nothing of a program that is drawn as a whole and only computes."""
    kept, asks = summary["code"], summary["asks"]
    if kept:
        yield f"  drawn: {summary['drawn']:,} of {summary['statements']:,} statements; kept as code, as typed:"
        for row in kept:
            yield f"    {_place(row)}: {row['text']}"
            if row["why"]:
                yield f"      {row['why']}"
    for row in asks:
        yield f"  drawn, and does more than compute: {_place(row)}: {row['text']}"
    if kept or asks:
        yield "  to run it needs your yes: gradstudio run --trust"
    for row in summary["missing"]:
        yield f"  missing: {row['package']}; install it: {row['install']}"


def verdict(problems: Sized) -> str:
    """How many problems a check has found."""
    if not len(problems):
        return "fine"
    return "1 problem" if len(problems) == 1 else f"{len(problems)} problems"


def _row(file: FileText, code: CodeLines) -> Json:
    numbers, text = file.shown(code)
    first = next((line.strip() for line in text.split("\n") if line.strip()), "")
    shown = first if len(first) <= MOST_SHOWN else first[: MOST_SHOWN - 1] + "…"
    why = reason_for_whole(code.text)
    return {"node": code.address, "line": numbers[0], "end_line": max(numbers), "text": shown, "why": why}


def _place(row: Json) -> str:
    if row["line"] == row["end_line"]:
        return f"line {row['line']}"
    return f"lines {row['line']}–{row['end_line']}"


def _missing(codes: Iterable[CodeLines], folder: Path) -> Iterator[tuple[str, str]]:
    """Packages that code imports and that are not here, each with the line that installs it."""
    names = dict.fromkeys(name for code in codes for name in _imports(code.text))
    places = [str(folder), *sys.path]
    for name in names:
        if name not in sys.stdlib_module_names and PathFinder.find_spec(name, places) is None:
            yield name, install_line(name)


def _imports(text: str) -> Iterator[str]:
    """The packages that a text imports, also in its functions."""
    for part in ast.walk(syntax_of(text)):
        match part:
            case ast.Import(names=names):
                yield from (alias.name.partition(".")[0] for alias in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield module.partition(".")[0]
