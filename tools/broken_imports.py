"""Imports of names of ours that lead nowhere, in files that are not type-checked: tests, tools, benchmarks."""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

UNCHECKED: Final = ("tests", "tools", "benchmarks")
ANY: Final = frozenset({"*", "__getattr__"})
"""Of a module that binds one of these, every name may be had."""


def broken_imports(root: Path, trees: Mapping[Path, ast.Module]) -> Iterator[tuple[Path, int, str]]:
    """Every import of a module that is not there, or of a name that a module does not bind: file, line, name.

    Args:
        root: of the project.
        trees: of the files that were read already.
    """
    everything = dict(trees)
    for folder in UNCHECKED:
        for path in (root / folder).rglob("*.py"):
            try:
                everything[path] = ast.parse(path.read_bytes())
            except (SyntaxError, ValueError):
                continue  # a snippet that is to be refused
    modules = {_module(root, path): path for path in everything}
    names: dict[str, frozenset[str]] = {}
    for path in sorted(everything):
        if path in trees:
            continue  # mypy reads it
        for node in _statements(everything[path].body):
            for whole, module, name in _imports(node):
                if not _is_ours(root, module) or f"{module}.{name}" in modules or (root / _folder(whole)).is_dir():
                    continue
                if module in modules and name and module not in names:
                    names[module] = frozenset(_bound(everything[modules[module]].body))
                if module not in modules or (name and not names[module] & {name, *ANY}):
                    yield path, node.lineno, whole


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Every statement, those in blocks and definitions too: expressions hold no import, and are most of a tree."""
    for node in body:
        yield node
        for block in ("body", "orelse", "finalbody", "handlers"):
            yield from _statements(getattr(node, block, []))


def _imports(node: ast.AST) -> Iterator[tuple[str, str, str]]:
    """Of an import, each whole name, the module that it needs, and what of it."""
    if isinstance(node, ast.Import):
        yield from ((alias.name, alias.name, "") for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        yield from ((f"{node.module}.{alias.name}", node.module, alias.name.strip("*")) for alias in node.names)


def _is_ours(root: Path, module: str) -> bool:
    return (root / module.partition(".")[0] / "__init__.py").exists() or module.partition(".")[0] in UNCHECKED


def _module(root: Path, path: Path) -> str:
    return ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")


def _folder(module: str) -> str:
    return module.replace(".", "/")


def _bound(body: list[ast.stmt]) -> Iterator[str]:
    """The names that statements bind, those in blocks too, but not those in definitions."""
    for node in body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
            continue
        for inner in ast.walk(node):
            match inner:
                case ast.ClassDef() | ast.FunctionDef():
                    yield inner.name
                case ast.Import() | ast.ImportFrom():
                    yield from (alias.asname or alias.name.partition(".")[0] for alias in inner.names)
                case ast.Name(ctx=ast.Store()):
                    yield inner.id
