"""The checks of the style guide that no linter has: sizes, docstrings, and things to write otherwise.

A remark that has to be made twice becomes a row of `WRITE_INSTEAD`.
`python -m tools.style` prints the breaches alone, without the other checks.
"""

import ast
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath

FUNCTION_LINES = 60
MODULE_LINES = 400
QT_LOWER_CASE = frozenset("data event fixup flags id index paint parent redo shape undo validate".split())
"""Methods that Qt calls and that a style cannot tell from ours, since they are one word."""


@dataclass(frozen=True)
class Rule:
    """A pattern that is not wanted.

    Attributes:
        pattern: regular expression, looked for in each line.
        where: path patterns of the files it is looked for in.
        instead: what to write instead.
        allowed: path patterns of files that may hold it all the same, for the reason in the rule's comment.
    """

    pattern: str
    where: tuple[str, ...]
    instead: str
    allowed: tuple[str, ...] = ()


CODE = ("gradstudio/**/*.py",)
WINDOW = ("gradstudio/ui/**/*.py",)
TESTS = ("tests/**/*.py",)

SNIPPETS = PurePath("tests/corpus")
"""What people write in tutorials, and what is to be refused: neither ours nor always Python."""
OWN_TESTS = PurePath("tests/tools/test_style.py")
"""Holds every unwanted line, to see that it is found."""

WRITE_INSTEAD = (
    # The engine's step boundary and main loop, the window's excepthook; `atomic_write` clears up, then
    # raises again.
    Rule(
        r"except (Base)?Exception\b|except:",
        CODE,
        "name the errors you expect",
        allowed=("gradstudio/engine/**/*.py", "gradstudio/ui/**/crash*.py", "gradstudio/document/atomic_write.py"),
    ),
    Rule(r"\b(TODO|FIXME|XXX)\b", (*CODE, *TESTS), "do it, or open an issue"),
    Rule(r"# type: ignore(?!\[[\w-]+(, [\w-]+)*\] +#? ?\w)", CODE, "type: ignore[code]  # with a reason"),
    Rule(r"\bpickle\b.*\bloads?\(|\bweights_only=False|allow_pickle=True", CODE, "files hold no code: safetensors"),
    # The window.
    Rule(r"\bprocessEvents\(", WINDOW, "a signal, or a timer of 0 ms"),
    Rule(r"\b(QThread|QThreadPool|threading)\b", WINDOW, "the engine's process: no threads in the window"),
    Rule(r"\bQGraphicsItemGroup\b", WINDOW, "a parent item (the group crashes)"),
    Rule(r"\bQGraphics(DropShadow|Blur|Opacity)Effect\b", WINDOW, "paint it (effects repaint everything)"),
    Rule(r"\bQGraphicsProxyWidget\b", WINDOW, "a child widget of the viewport while editing"),
    Rule(r"\bSignal\((dict|list|set|tuple)\b", WINDOW, "Signal(object)"),
    Rule(r"\bsetColorScheme\(", WINDOW, "theme.apply (it does nothing without a desktop)"),
    Rule(
        r"[\"']#[0-9a-fA-F]{3,8}[\"']|QColor\((?!0, 0, 0, 0\))\d|Qt\.GlobalColor\.(?!transparent)",
        WINDOW,
        "a colour of the theme",
        allowed=("gradstudio/ui/theme.py", "gradstudio/ui/theme/*.py"),
    ),
    # In `application` it says that no display is found; `render_command` is what `gradstudio render` runs.
    Rule(
        r"\bprint\(",
        WINDOW,
        "logging",
        allowed=("gradstudio/ui/app/application.py", "gradstudio/ui/app/render_command.py"),
    ),
    # The tests.
    Rule(
        r"\bsleep\(|\bqWait\(|qtbot\.wait\(",
        TESTS,
        "waitSignal, waitUntil, or a clock passed in",
        allowed=("tests/helpers/fake_engine.py",),  # plays an engine that is busy
    ),
    Rule(
        r"^\s*assert .*\b(perf_counter|monotonic|process_time|elapsed)\b", TESTS, "a benchmark: tests assert no times"
    ),
    Rule(r"\bunittest\.mock\b|\bmocker\b", TESTS, "a fake at the process edge that speaks the real codec"),
)


def main(root: Path) -> int:
    """Prints each breach.

    Returns:
        0 when there is none, else 1.
    """
    found = breaches(root)
    print("\n".join(found) or "All checks passed!", flush=True)
    return 1 if found else 0


def breaches(root: Path) -> list[str]:
    """All breaches in the repository, as `path:line: sentence`.

    Args:
        root: the repository's folder.
    """
    return [
        f"{path}:{breach}" for path in python_files(root) for breach in breaches_of((root / path).read_text(), path)
    ]


def python_files(root: Path) -> list[PurePath]:
    """The repository's own Python files, relative to its folder, whether git knows them or not."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.py"]
    if (root / ".git").exists() and shutil.which("git"):
        listing = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout
        paths = [PurePath(line) for line in listing.splitlines() if (root / line).exists()]
    else:  # a source archive, or a system without git
        paths = [path.relative_to(root) for path in root.rglob("*.py") if ".venv" not in path.parts]
    return sorted({path for path in paths if SNIPPETS not in path.parents[1:]})


def breaches_of(text: str, path: PurePath) -> list[str]:
    """The breaches in one file, each as `line: sentence`."""
    tree = ast.parse(text)
    found = [
        *size_breaches(tree, text, path),
        *docstring_breaches(tree, path),
        *choice_breaches(tree, path),
        *pattern_breaches(text, path),
    ]
    return sorted(found, key=lambda breach: int(breach.split(":")[0]))


def size_breaches(tree: ast.Module, text: str, path: PurePath) -> Iterator[str]:
    """Functions and modules over the limits; one without functions and classes is a data table and may be long."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    has_code = bool(functions) or any(isinstance(node, ast.ClassDef) for node in tree.body)
    for function in functions:
        lines = (function.end_lineno or function.lineno) - function.lineno + 1
        if lines > FUNCTION_LINES:
            yield f"{function.lineno}: {function.name} has {lines} lines, {FUNCTION_LINES} is the limit"
    lines = len(text.splitlines())
    if lines > MODULE_LINES and has_code and path.parts[0] != "tests":
        yield f"1: the module has {lines} lines, {MODULE_LINES} is the limit"


def docstring_breaches(tree: ast.Module, path: PurePath) -> Iterator[str]:
    """Public methods of the window without a docstring, but for overrides, which their base describes.

    Elsewhere ruff looks; it cannot tell an override of Qt from a method of ours.
    """
    if not is_one_of(path, WINDOW):
        return
    classes = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    for owner in classes.values():
        if owner.name.startswith("_"):
            continue
        for method in methods(owner):
            if is_ours(method.name) and not is_described(method.name, owner, classes):
                yield f"{method.lineno}: {owner.name}.{method.name} has no docstring"


def choice_breaches(tree: ast.Module, path: PurePath) -> Iterator[str]:
    """Conditional expressions within one another: there a reader stops."""
    if not is_one_of(path, CODE):
        return
    inner = set[ast.IfExp]()
    for choice in ast.walk(tree):
        if isinstance(choice, ast.IfExp) and choice not in inner:
            within = {node for node in ast.walk(choice) if isinstance(node, ast.IfExp)} - {choice}
            inner |= within
            if within:
                yield f"{choice.lineno}: a choice within a choice: write instead an `if`, or a name for the inner one"


def is_described(name: str, owner: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> bool:
    """Whether the method has a docstring, in the class or in a base; a base of ours elsewhere is taken to have one."""
    if any(method.name == name and ast.get_docstring(method) for method in methods(owner)):
        return True
    bases = [ast.unparse(base) for base in owner.bases]
    if any(base not in classes and not base.startswith(("Q", "Protocol")) for base in bases):
        return True
    return any(is_described(name, classes[base], classes) for base in bases if base in classes and base != owner.name)


def methods(owner: ast.ClassDef) -> list[ast.FunctionDef]:
    """The methods that the class itself defines."""
    return [node for node in owner.body if isinstance(node, ast.FunctionDef)]


def is_ours(name: str) -> bool:
    """Whether a method's name is public, in snake_case, and none that Qt calls."""
    return name.islower() and not name.startswith("_") and name not in QT_LOWER_CASE


def pattern_breaches(text: str, path: PurePath) -> Iterator[str]:
    """Lines that `WRITE_INSTEAD` has something to say about."""
    if path == OWN_TESTS:
        return
    rules = [rule for rule in WRITE_INSTEAD if is_one_of(path, rule.where) and not is_one_of(path, rule.allowed)]
    for number, line in enumerate(text.splitlines(), start=1):
        for rule in rules:
            match = re.search(rule.pattern, line)
            if match:
                yield f"{number}: `{match.group().strip()}`: write instead {rule.instead}"


def is_one_of(path: PurePath, patterns: tuple[str, ...]) -> bool:
    """Whether the path fits one of the patterns, in which `**/` also stands for no folder at all."""
    return any(
        path.match(form) and path.parts[0] == pattern.split("/")[0] for pattern in patterns for form in forms(pattern)
    )


def forms(pattern: str) -> Iterator[str]:
    """What a pattern with `**/` means to `PurePath.match`, which knows only `*` on Python 3.11: up to five folders."""
    if "**/" not in pattern:
        yield pattern
        return
    for depth in range(6):
        yield pattern.replace("**/", "*/" * depth)


if __name__ == "__main__":
    sys.exit(main(Path(__file__).resolve().parent.parent))
