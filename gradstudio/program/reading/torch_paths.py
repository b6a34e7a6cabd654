"""Paths of torch that the catalogue does not have: which may be called all the same, and which need their import."""

from functools import cache

from gradstudio.graph.text.literal_text import CONSTANTS
from gradstudio.operators.catalogue.loader import load

TORCH = "torch"
_LOADED = frozenset(
    "accelerator amp autograd backends backends.cudnn cpu cuda distributed distributed.autograd "
    "distributed.device_mesh distributed.rpc distributions futures hub linalg mps "
    "multiprocessing nn nn.attention nn.functional nn.init nn.parallel nn.utils nn.utils.parametrizations "
    "nn.utils.rnn optim optim.lr_scheduler optim.swa_utils profiler random serialization sparse special testing "
    "utils.checkpoint utils.data utils.data.distributed version xpu".split()
)
"""Modules of torch that `import torch` loads, without those that look into what they are given."""
_LOOKING = frozenset(
    "_C _dynamo _export _inductor classes compile compiler export func fx jit library onnx ops overrides package "
    "quantization ao script".split()
)
"""Words in the paths of what reads the text, the names or the order of statements of what it is given."""


def is_known(path: str) -> bool:
    """Whether the catalogue has what is at a path, or something in it."""
    root, _, name = path.partition(".")
    return bool(load().overloads(path)) or path in load() or path in _modules() or name in CONSTANTS.get(root, ())


def is_called(path: str) -> bool:
    """Whether a function or a class at a path, which the catalogue does not have, is there behind `import torch`."""
    parts = path.split(".")
    if parts[0] != TORCH or len(parts) < 2 or is_looking(path):
        return False
    inner = [count for count in range(2, len(parts)) if ".".join(parts[1:count]) in _LOADED]
    rest = parts[max(inner, default=1) :]
    return len(rest) == 1 or (len(rest) == 2 and rest[0][:1].isupper())


def is_looking(path: str) -> bool:
    """Whether what is at a path may look into the text of what it is given."""
    return not _LOOKING.isdisjoint(path.split("."))


def needs_import(path: str) -> bool:
    """Whether what is at a path is there behind an import of its own alone."""
    return path.startswith(f"{TORCH}.") and not is_known(path) and not is_called(path) and not is_looking(path)


def is_loaded(module: str) -> bool:
    """Whether `import torch` loads a module of torch, too."""
    return module == TORCH or module.removeprefix(f"{TORCH}.") in _LOADED or module in _modules()


@cache
def _modules() -> frozenset[str]:
    """The modules, and the classes, that rows of the catalogue are in."""
    found: set[str] = set()
    for row in load():
        parts = row.path.split(".")
        found.update(".".join(parts[:count]) for count in range(1, len(parts)))
    return frozenset(found)
