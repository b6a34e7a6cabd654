"""Writes the last column of docs/features.md: which tests do each row with mouse and keys.

`python -m tools.feature_table` writes it, `--check` only says what is not so. A row says "yes" only where a
test has its mark, `@pytest.mark.feature(number)`.
"""

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "features.md"
ROW = re.compile(r"^\| (\d+) \| (.+?) \| (yes|partly|no) \| (.*?) \| (.*?) \|$")
COUNT = re.compile(r"\*\*\d+ of 90\*\*")
SHOWN = 2
"""So many tests are named in a row; the others are found by their mark."""


def main(arguments: list[str]) -> int:
    """Write the column, or with ``--check`` say what is not so.

    Returns:
        0 when the page is as it should be, or was written; else 1.
    """
    page = PAGE.read_text(encoding="utf-8")
    wanted, complaints = filled(page, marks())
    for complaint in complaints:
        print(complaint)
    if "--check" not in arguments:
        PAGE.write_text(wanted, encoding="utf-8")
    elif wanted != page:
        print("docs/features.md: run python -m tools.feature_table")
        return 1
    return 1 if complaints else 0


def filled(page: str, tests: dict[int, list[str]]) -> tuple[str, list[str]]:
    """The page with its tests and its count, and what is wrong with it."""
    complaints, lines, numbers, score = [], [], [], 0
    for line in page.splitlines():
        row = ROW.match(line)
        if row is None:
            lines.append(line)
            continue
        number, (name, state, how) = int(row[1]), (row[2], row[3], row[4])
        numbers.append(number)
        found = tests.get(number, [])
        score += state == "yes"
        if state == "yes" and not found:
            complaints.append(f"docs/features.md: row {number} says yes and no test has its mark")
        more = f", {len(found) - SHOWN} more" if len(found) > SHOWN else ""
        named = ", ".join(f"`{test}`" for test in found[:SHOWN]) + more
        lines.append(f"| {number} | {name} | {state} | {how} | {named} |")
    if numbers != list(range(1, 91)):
        complaints.append("docs/features.md: the rows are not 1 to 90")
    return COUNT.sub(f"**{score} of 90**", "\n".join(lines) + "\n"), complaints


def marks() -> dict[int, list[str]]:
    """By row, the tests that carry its mark, sorted."""
    found: dict[int, list[str]] = defaultdict(list)
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        if "mark.feature" not in text:
            continue
        stem = path.relative_to(ROOT / "tests").as_posix()
        for name, number in _marked(ast.parse(text)):
            found[number].append(f"{stem}::{name.removeprefix('test_')}")
    return found


def _marked(tree: ast.Module) -> Iterator[tuple[str, int]]:
    for part in tree.body:
        if isinstance(part, ast.FunctionDef):
            for mark in part.decorator_list:
                if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.feature":
                    yield from ((part.name, int(ast.literal_eval(number))) for number in mark.args)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
