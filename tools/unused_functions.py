"""Functions and methods of ours that nothing in `gradstudio/` names: words are counted over all its files."""

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

Function = ast.FunctionDef | ast.AsyncFunctionDef
QT_NAME = re.compile(r"[a-z]+(?:[A-Z][A-Za-z0-9]*)+")
"""How Qt names what a widget may do otherwise: it calls that itself."""
CALLED_FROM_OUTSIDE: Mapping[str, str] = {
    "_repr_html_": "notebooks",
    "_hush_stacks": "atexit",
    "create_module": "the import system",
    "find_spec": "the import system",
    "get_field": "string.Formatter",
    "validate": "QValidator",
}
"""Names with what calls them, where that is no text of ours; and what `ast`'s visitors call begins with `visit_`."""


def unused_functions(trees: Mapping[Path, ast.Module]) -> Iterator[tuple[Path, Function]]:
    """Every function whose name stands in its own definitions alone, not even in a string; and where it is."""
    words: Counter[str] = Counter()
    functions = []
    for path, tree in trees.items():
        words.update(re.findall(r"\w+", path.read_text(encoding="utf-8")))
        functions += [(path, node) for node in ast.walk(tree) if isinstance(node, Function)]
    definitions = Counter(node.name for _, node in functions)
    for path, node in functions:
        if words[node.name] == definitions[node.name] and not _is_called_from_outside(node.name):
            yield path, node


def _is_called_from_outside(name: str) -> bool:
    dunder = name.startswith("__") and name.endswith("__")
    return dunder or name.startswith("visit_") or name in CALLED_FROM_OUTSIDE or QT_NAME.fullmatch(name) is not None
