"""Statements that reach other processes, in an inference pass: never tried, shapes are told as far as they stand."""

import os
from collections.abc import Mapping
from typing import Any, Final, Protocol

from torch import Tensor
from torch.utils.data import DistributedSampler, Subset, TensorDataset

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
COUNT: Final = "torch.distributed.get_world_size"
SAMPLER: Final = "torch.utils.data.DistributedSampler"
COUNT_OF_RANKS: Final = "WORLD_SIZE"
"""A variable of the environment that who starts ranks tells each of them."""
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
    operator, given = step.statement.operator, dict(step.statement.inputs)
    if operator in RANKS:
        return FIRST
    if operator == COUNT and "group" not in given:
        return _count() or UNKNOWN
    if operator == SAMPLER:
        return _sampler(walk.names.values.get(given.get("dataset", "")), given)
    name = next((given[port] for port in SAME if port in given), "")
    return meta_of(walk.names.values.get(name, UNKNOWN))


def _count() -> int:
    """How many ranks there are; 0 where nobody has said it yet."""
    text = os.environ.get(COUNT_OF_RANKS, "")
    return int(text) if text.isdecimal() else 0


def _sampler(dataset: object, given: Mapping[str, str]) -> Any:
    """The share of the first rank in the rows of known data."""
    text = given.get("num_replicas", "")
    own = int(text) if text.isdecimal() else 0
    count = own if text else _count()
    if not isinstance(dataset, TensorDataset | Subset) or not count:
        return UNKNOWN
    return DistributedSampler(dataset, count, FIRST, shuffle=False, drop_last=given.get("drop_last") == "True")
