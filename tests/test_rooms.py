"""The rooms keep to themselves also when they run: what a module loads is asked of a fresh Python."""

import ast
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PURE_ROOMS = ("operators", "graph", "layout", "program", "document", "protocol", "advice", "scene")
ASK = """
import importlib, sys
for name in sys.argv[2:]:
    importlib.import_module(name)
print(*sorted(set(sys.argv[1].split(",")) & set(sys.modules)))
"""


def loaded_by(modules: list[str], heavy: str) -> str:
    """Which of the heavy packages (joined by commas) a fresh Python has loaded after importing the modules."""
    command = [sys.executable, "-c", ASK, heavy, *modules]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def modules_of(*rooms: str) -> list[str]:
    """Every module of these rooms that can be imported without running anything."""
    files = [file for room in rooms for file in sorted((ROOT / "gradstudio" / room).rglob("*.py"))]
    names = [".".join(file.relative_to(ROOT).with_suffix("").parts) for file in files if file.stem != "__main__"]
    return [name.removesuffix(".__init__") for name in names]


def test_the_pure_rooms_load_neither_torch_nor_qt() -> None:
    assert loaded_by(modules_of(*PURE_ROOMS), "torch,PySide6,pyqtgraph") == ""


def test_networkx_is_loaded_only_by_those_who_use_it() -> None:
    assert loaded_by(modules_of(*PURE_ROOMS), "networkx") == ""


def test_the_window_does_not_load_torch() -> None:
    assert loaded_by(modules_of("ui"), "torch") == ""


@pytest.mark.parametrize("module", ["gradstudio", "gradstudio.cli"])
def test_the_command_line_starts_without_torch_and_qt(module: str) -> None:
    assert loaded_by([module], "torch,PySide6,pyqtgraph,networkx") == ""


def test_no_module_imports_in_a_circle() -> None:
    modules = {name: imports_of(name) for name in modules_of("")}
    TopologicalSorter({name: imported & modules.keys() for name, imported in modules.items()}).prepare()


def imports_of(module: str) -> set[str]:
    """Every module that one imports, in functions and for types alone too."""
    file = ROOT.joinpath(*module.split("."))
    text = (file / "__init__.py" if file.is_dir() else file.with_suffix(".py")).read_text()
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)]
    found = {name for node in nodes for name in (node.module or "", *(f"{node.module}.{a.name}" for a in node.names))}
    return found - {module}
