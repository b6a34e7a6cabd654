"""Tests what a change can break: `python3 dev.py test --changed [BASE]`.

Changed is what differs from BASE (a commit), in the folder as it lies; without one, since the branch left origin/main,
or since the last commit but one. Which tests that concerns is read from `tools/import_graph.py`. The checks of single
files run on those that changed, the quick ones of the whole run on all.
"""

import subprocess
import sys
from pathlib import Path, PurePosixPath

from tools import check, style
from tools.import_graph import ImportGraph

ROOT = check.ROOT
MANY = 20
"""From so many files of tests on, two processes are worth their start."""

CONCERNS_ALL = ("pyproject.toml", "constraints/", "tests/conftest.py", "tools/check.py", "tools/changed.py")


def main(arguments: list[str]) -> int:
    """Runs what the change can break.

    Args:
        arguments: a commit, or nothing; with `--list` the tests are printed and not run.

    Returns:
        0 when all of it passed, 1 when something failed, 2 when there is no such commit.
    """
    only_list = "--list" in arguments
    given = [argument for argument in arguments if argument != "--list"]
    try:
        changed = changed_files(ROOT, given[0] if given else "")
    except subprocess.CalledProcessError as error:
        print(error.stderr.strip() or error, file=sys.stderr)
        return 2
    tests = tests_of(ROOT, changed)
    print(f"{len(changed)} files changed; {len(tests)} files of tests can break", flush=True)
    if only_list:
        print(*tests, sep="\n")
        return 0
    concerned = stages(changed, tests)
    passed = check.run_all(concerned)
    check.print_rows(concerned)
    return 0 if passed else 1


def stages(changed: list[str], tests: list[str]) -> list[check.Stage]:
    """The checks that a change can break, in their order."""
    python = [path for path in changed if path.endswith(".py") and (ROOT / path).exists()]
    program = [path for path in python if path.startswith("gradstudio/")]
    found = []
    if python:
        found += [
            check.Stage("format (ruff format)", lambda: check.tool("ruff", "format", "--check", *python)),
            check.Stage("lint (ruff check)", lambda: check.tool("ruff", "check", *python)),
            check.Stage("style (tools/style.py)", lambda: style.main(ROOT) == 0),
        ]
    if program:
        found += [
            check.Stage("imports (import-linter)", lambda: check.program("lint-imports", "--no-logo")),
            check.Stage("types (mypy --strict)", lambda: check.tool("mypy", *program)),
        ]
    if tests:
        together = ["-n", "2", "--dist", "worksteal"] if len(tests) >= MANY else []
        found.append(check.Stage("tests", lambda: check.tool("pytest", "-q", *together, *tests)))
    return found


def tests_of(root: Path, changed: list[str]) -> list[str]:
    """The files of tests that can break, by their paths from the root, in order."""
    graph = ImportGraph(root)
    if any(path.startswith(CONCERNS_ALL) for path in changed):
        return graph.tests
    concerned: set[str] = set()
    for path in changed:
        concerned |= graph.tests_that_reach(path)
    return sorted(concerned)


def changed_files(root: Path, base: str = "") -> list[str]:
    """What differs from a commit in the folder as it lies, also what git does not know yet.

    Raises:
        subprocess.CalledProcessError: there is no such commit.
    """
    listed = git(root, "diff", "--name-only", "--no-renames", base or usual_base(root), "--")
    new = git(root, "ls-files", "--others", "--exclude-standard")
    return sorted({str(PurePosixPath(line)) for line in (*listed.splitlines(), *new.splitlines())})


def usual_base(root: Path) -> str:
    """Where the branch left origin/main; the last commit but one where it has not left it, or there is none."""
    head = git(root, "rev-parse", "HEAD").strip()
    for words in (("merge-base", "HEAD", "origin/main"), ("rev-parse", "HEAD~")):
        try:
            base = git(root, *words).strip()
        except subprocess.CalledProcessError:
            continue
        if base != head:
            return base
    return head


def git(root: Path, *words: str) -> str:
    """What git answers.

    Raises:
        subprocess.CalledProcessError: it refuses.
    """
    return subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
