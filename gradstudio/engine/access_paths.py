"""Which names that begin at a module of the script's head a drawn program may call, read and write: ``F.relu``.

A function is called and nothing else, so that none is a value; what belongs to a value is asked of the value.
"""

import sys
from functools import cache, reduce
from typing import Any, Final, get_args

from gradstudio.graph.context_paths import context_path
from gradstudio.graph.model import BlockKind
from gradstudio.graph.text.allowed_calls import CLASSES
from gradstudio.graph.text.code_records import FILES, PROCESSES
from gradstudio.graph.text.literal_text import CONSTANTS
from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.model import Face

MODULES: Final = {
    "torch": "torch", "nn": "torch.nn", "F": "torch.nn.functional", "optim": "torch.optim", "np": "numpy",
    "math": "math",
}  # fmt: skip
"""Names the script's imports bind, and what they stand for; no program may rebind them (semantics §1)."""
FUNCTIONS_GIVEN: Final = frozenset(
    "key closure distance_function activation custom_encoder custom_decoder scale_fn formatter lr_lambda fn mode "
    "override_repr tracker collate_fn worker_init_fn".split()
)
"""Arguments that torch, numpy and Python call."""
_OF_HEADERS: Final = frozenset({"torch.manual_seed", "torch.set_default_dtype", "torch.device", "torch.Size"})
_OF_VALUES: Final = frozenset({Face.METHOD, Face.ATTRIBUTE, Face.SET_ATTRIBUTE, Face.SET_PATH})


@cache
def called() -> frozenset[str]:
    """What is called by its path: functions and classes of the catalogue, contexts, and what a header has."""
    rows = {row.path for row in load() if row.face not in _OF_VALUES} - FILES - PROCESSES
    contexts = {context_path(kind) for kind in get_args(BlockKind)}
    return frozenset(rows | contexts | _OF_HEADERS | {*CLASSES})


def refusal_reason(path: str) -> str:
    """Why a program may not do with a path what it does, behind the path."""
    if path in FILES:
        return "reaches files, which a program does where you trust it"
    if path in PROCESSES:
        return "reaches other processes, which a program does where you trust it"
    return "is called, and nothing else" if path in called() else "is not in the catalogue"


@cache
def read() -> frozenset[str]:
    """What is read by its path: constants, and classes."""
    constants = {f"{MODULES[short]}.{name}" for short, names in CONSTANTS.items() for name in names}
    return frozenset(constants | {path for path in called() if isinstance(_found(path), type)})


@cache
def settings() -> frozenset[str]:
    """Settings of torch that a program may write: ``torch.backends.cudnn.benchmark``."""
    return frozenset(row.path.removesuffix("=") for row in load() if row.face is Face.SET_PATH)


@cache
def that_call() -> frozenset[str]:
    """Functions and classes of the catalogue that may be given a function."""
    rows = (row.path for row in load() if any(p.name in FUNCTIONS_GIVEN for p in row.parameters))
    return frozenset({*rows, "numpy.set_printoptions"})  # whose row leaves `formatter` out


def _found(path: str) -> Any:
    """What a path leads to; None where nothing is, or its module is not loaded."""
    first, *rest = path.split(".")
    return reduce(lambda value, name: getattr(value, name, None), rest, sys.modules.get(first))
