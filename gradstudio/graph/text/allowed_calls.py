"""What an expression that chooses may read and call: what the catalogue has, as long as it only computes."""

import ast
from functools import cache, lru_cache

from gradstudio.graph.text.literal_text import CONSTANTS
from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.catalogue.method_names import methods
from gradstudio.operators.model import Effect, Face, Operator

APART = (
    "torch.nn.utils.prune",
    "torch.distributed.fsdp",
    "torch.distributed.tensor.parallel",
    "torch.distributed.tensor",
)
"""Modules that `import torch` does not load, so that they are imported by their whole names."""
_EFFECTS = frozenset(set(Effect) - {Effect.RANDOM, Effect.GRAD})
_MODULES = (
    *((f"{module}.", f"{module}.") for module in APART),
    ("torch.nn.functional.", "F."),
    ("torch.nn.", "nn."),
    ("torch.optim.", "optim."),
    ("torch.", "torch."),
    ("numpy.", "np."),
    ("math.", "math."),
)
_ROOTS = {
    "torch": "torch", "nn": "torch.nn", "F": "torch.nn.functional", "optim": "torch.optim", "np": "numpy",
    "numpy": "numpy", "math": "math",
}  # fmt: skip
_VALUES = (
    *("torch.Tensor.", "torch.Size.", "torch.autograd.graph.Node.", "numpy.ndarray."),
    *("builtins.str.", "builtins.list."),
)
"""Whose methods may be called; a module or an optimizer would be changed by its own."""
CLASSES = ("torch.nn.Module", "torch.optim.Optimizer")
_SHORT = {"torch": "torch", "math": "math", "numpy": "np"}


def allowed_path(path: str, *, called: bool) -> bool:
    """Whether a function may be called, or a constant or a class be read: ``math.pi``, ``nn.Linear``."""
    if called:
        rows = load().overloads(path if "." in path else f"builtins.{path}") or load().overloads(path)
        return any(_only_computes(row) and row.face is Face.FUNCTION for row in rows)
    if path in CLASSES or any(row.face is Face.CONSTRUCTOR for row in load().overloads(path)):
        return True
    root, _, rest = path.partition(".")
    return rest in CONSTANTS.get(_SHORT.get(root, root), ())


def allowed_method(word: str) -> bool:
    """Whether a method may be called, of whatever it is."""
    return word in _methods()


def allowed_attribute(word: str) -> bool:
    """Whether an attribute may be read: no method, nothing of Python's own machinery."""
    if word == "__name__":
        return True
    return word.isidentifier() and not word.startswith("_") and (word not in methods() or word in _fields())


def allowed_keyword(word: str) -> bool:
    """Whether an argument may be given by this name, whatever is called: some row of the catalogue has it."""
    return word in _keywords()


def path_of(node: ast.expr) -> str | None:
    """The path of a function or constant, ``torch.nn.functional.relu``; None when it starts at a value."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in _ROOTS or not parts:
        return None
    return ".".join([_ROOTS[node.id], *reversed(parts)])


@lru_cache(maxsize=4096)
def spelled_path(path: str) -> tuple[str, str]:
    """How a target is written, and the module it needs: ``F.relu`` and ``F``; built-in functions need none."""
    for prefix, short in _MODULES:
        if path.startswith(prefix):
            return short + path.removeprefix(prefix), short[:-1]
    return path.removeprefix("builtins."), ""


@cache
def _fields() -> frozenset[str]:
    """Names under which results of one call are read, ``x.max(dim=1).values``, and attributes that have a row."""
    results = {result.name for row in load() if len(row.results) > 1 for result in row.results}
    return frozenset(results | {row.symbol for row in load() if row.face is Face.ATTRIBUTE})


@cache
def _keywords() -> frozenset[str]:
    return frozenset(parameter.name for row in load() for parameter in row.parameters)


@cache
def _methods() -> frozenset[str]:
    rows = [row for row in load() if row.face is Face.METHOD and row.path.startswith(_VALUES)]
    refused = {row.word for row in rows if not _only_computes(row)}
    return frozenset(row.word for row in rows) - refused


def _only_computes(row: Operator) -> bool:
    return not row.writes and not (_EFFECTS & set(row.effects)) and bool(row.results)
