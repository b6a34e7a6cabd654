"""Which tests reach which files: by imports, by programs that are started by name, by files that are named in a text.

Too many rather than too few: what a text would import counts, since engines and scripts run in processes of their own.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

FOLDERS = ("gradstudio", "tests", "tools", "benchmarks")
OURS = f"(?:{'|'.join(FOLDERS)})"
NAMED = re.compile(rf"{OURS}(?:\.\w+)+")
"""A text that is the name of a module and nothing else: what is started, or imported later."""

IMPORT = re.compile(rf"\bimport ({OURS}[\w.]*)")
FROM = re.compile(rf"\bfrom ({OURS}[\w.]*) import ([\w, ]+)")
PARTS = re.compile(r"[/\\\s'\"]")


class ImportGraph:
    """Who reads whom, of all Python files of the project.

    Attributes:
        tests: paths of the files of tests, from the root, in order.
    """

    def __init__(self, root: Path) -> None:
        """Read every file under the root."""
        files = [root / "dev.py", *(file for folder in FOLDERS for file in (root / folder).rglob("*.py"))]
        self._paths = sorted(file.relative_to(root).as_posix() for file in files if file.exists())
        self._by_module = {module_of(path): path for path in self._paths}
        self._readers: dict[str, set[str]] = defaultdict(set)
        self._texts: dict[str, list[str]] = {}
        self._words: dict[str, set[str]] = {}
        for path in self._paths:
            self._read(root, path)
        for path in self._paths:
            if path.endswith("/conftest.py"):
                self._bind_conftest(path)
        self.tests = [path for path in self._paths if is_test(path)]

    def tests_that_reach(self, path: str) -> set[str]:
        """The files of tests that a change of this file can break; all of them when nobody names it."""
        if path.endswith(".py") and (path in self._readers or is_test(path)):
            return {found for found in self._reached({path}) if is_test(found)} | self._walking_over(path)
        if path.endswith(".py") and path not in self._paths and (package := self._package_of(path)):
            return self.tests_that_reach(package)
        found = {reached for reached in self._reached(self._naming(path)) if is_test(reached)}
        return found or set(self.tests)

    def _walking_over(self, path: str) -> set[str]:
        """The files of tests that name the whole folder: what they find there is read, and not imported."""
        top = path.partition("/")[0]
        return {test for test in self.tests if top in self._texts.get(test, ())}

    def _reached(self, begin: set[str]) -> set[str]:
        reached, waiting = set(begin), list(begin)
        while waiting:
            new = self._readers.get(waiting.pop(), set()) - reached
            reached |= new
            waiting += new
        return reached

    def _naming(self, path: str) -> set[str]:
        """The files that name this one or a folder around it, and those of the tests that name all of its kind.

        Of what lies in `examples/` or `resources/` most of the program reads something: their names count in tests.
        """
        pure = PurePosixPath(path)
        names = {pure.name, *pure.parent.parts[1:]}
        general = {pure.stem, *pure.parent.parts[:1]} - {"tests"}
        kind = f"*{pure.suffix}" if pure.suffix else ""
        found = {
            reader for reader, texts in self._texts.items() if any(names & set(PARTS.split(text)) for text in texts)
        }
        for reader in self._texts:
            if not reader.startswith("gradstudio/"):
                whole_kind = kind and any(kind in text for text in self._texts[reader])
                if whole_kind or general & self._words[reader]:
                    found.add(reader)
        return found

    def _package_of(self, path: str) -> str:
        """What stands for a file that is gone: the nearest package above it that somebody reads."""
        for folder in PurePosixPath(path).parents:
            package = (folder / "__init__.py").as_posix()
            if package in self._readers:
                return package
        return ""

    def _read(self, root: Path, path: str) -> None:
        source = (root / path).read_text(encoding="utf-8")
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError):
            return  # a snippet that is to be refused
        self._texts[path] = texts = list(texts_of(tree))
        self._words[path] = set(re.findall(r"\w+", source))
        for module in (*imported(tree, path), *named(texts)):
            for read in self._files_of(module):
                if read != path:
                    self._readers[read].add(path)

    def _files_of(self, module: str) -> Iterator[str]:
        """The file of a module or of the longest beginning that is one, and the packages above; what `-m` starts."""
        parts = module.split(".")
        for length in range(len(parts), 0, -1):
            if path := self._by_module.get(".".join(parts[:length])):
                yield path
        if main := self._by_module.get(f"{module}.__main__"):
            yield main

    def _bind_conftest(self, path: str) -> None:
        folder = path.removesuffix("conftest.py")
        self._readers[path] |= {test for test in self._paths if is_test(test) and test.startswith(folder)}


def module_of(path: str) -> str:
    """The dotted name of a file."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def is_test(path: str) -> bool:
    """Whether pytest collects it."""
    return path.startswith("tests/") and PurePosixPath(path).name.startswith("test_")


def imported(tree: ast.Module, path: str) -> Iterator[str]:
    """The modules that a file imports, anywhere in it; names that are imported from a package may be modules."""
    package = module_of(path) if path.endswith("/__init__.py") else module_of(path).rpartition(".")[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            home = ".".join([*above, node.module or ""]).strip(".")
            yield from (f"{home}.{alias.name}" for alias in node.names)


def texts_of(tree: ast.Module) -> Iterator[str]:
    """The texts in a file, in their order, without its docstrings."""
    described = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in described:
            yield node.value


def named(texts: list[str]) -> Iterator[str]:
    """The modules that texts start or import."""
    for before, text in zip(["", *texts], texts, strict=False):
        if NAMED.fullmatch(text) or (before == "-m" and text in FOLDERS):
            yield text
        yield from IMPORT.findall(text)
        for home, names in FROM.findall(text):
            yield from (f"{home}.{name.strip()}" for name in names.split(","))
