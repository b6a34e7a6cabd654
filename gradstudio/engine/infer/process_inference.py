"""Statements that reach other processes, in an inference pass: never tried, shapes are told as far as they stand."""

from typing import Any, Final, Protocol

from torch import Tensor

from gradstudio.engine.infer.name_table import NameTable
from gradstudio.engine.infer.statement_inference import Way
from gradstudio.engine.meta.inference_results import UNKNOWN
from gradstudio.engine.meta.meta_tensors import meta_of
from gradstudio.engine.script.compiled_steps import Step
from gradstudio.graph.model import ItemId
from gradstudio.operators.catalogue.loader import load
from gradstudio.protocol.messages.inference import PortInference

RANKS: Final = frozenset({"torch.distributed.get_rank", "torch.distributed.get_node_local_rank"})
FIRST: Final = 0
"""The rank that is shown first: shapes that hang on its number are those it will have."""
SAME: Final = ("module", "tensor")
"""What a result has its shapes of: the module that is wrapped or shared out, the tensor that is."""


class Pass(Protocol):
    """A pass that comes by."""

    names: NameTable
    ports: dict[tuple[ItemId, int], PortInference]
    prelude: dict[str, object]
    way: Way


def pass_processes(walk: Pass, step: Step, key: int) -> None:
    """Go on behind a statement that reaches other processes.

    What it writes into keeps its shape and has other numbers; what it binds is the object that it was given, the
    number of a rank, or known after a run.
    """
    statement = step.statement
    result = _result(walk, step)
    if load()[statement.operator].writes:
        for name in step.source.reads:
            if isinstance(held := walk.names.values.get(name), Tensor | list | tuple):
                walk.names.write(name, meta_of(held), key)
    for place, name in enumerate(statement.names):
        walk.names.bind(name, result, (key, place))
        walk.names.note(name, "", False)
        if result is UNKNOWN:
            walk.ports[step.id, place] = PortInference(node=step.id, output=place, known_after_run=True)


def _result(walk: Pass, step: Step) -> Any:
    """What a name is bound to."""
    if step.statement.operator in RANKS:
        return FIRST
    given = dict(step.statement.inputs)
    name = next((given[port] for port in SAME if port in given), "")
    return meta_of(walk.names.values.get(name, UNKNOWN))
