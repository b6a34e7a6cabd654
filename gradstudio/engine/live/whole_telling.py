"""A whole telling of gradients: what the rows of a run have said is named, and only the rest is told in rows."""

from collections.abc import Iterator

from torch.optim import Optimizer

from gradstudio.engine.gradient.tensor_watch import Value
from gradstudio.engine.live.live_state import Live
from gradstudio.engine.live.value_changes import values_now
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.events import Gradients, GradRow, InRecord


def whole_telling(live: Live, max_values: int) -> Gradients:
    """How the gradient of every tensor known stands, and what was written to; call it outside the program's modes."""
    rows, in_record = _states(live)
    written = values_now(live, max_values, live.gradients.visible)
    return Gradients(revision=live.loaded.revision, rows=rows, written=written, in_record=in_record)


def told_numbers(live: Live, max_values: int) -> Iterator[Gradients]:
    """What optimizers hold where a person has just changed one; nothing where none was. Outside the program's modes."""
    changed = {change.node for change in live.changes}
    names = (name for name, (node, _) in live.binder.items() if node in changed)
    if any(isinstance(live.namespace.get(name), Optimizer) for name in names):
        written = values_now(live, max_values, live.gradients.visible)
        yield Gradients(revision=live.loaded.revision, rows=(), whole=False, written=written)


def _states(live: Live) -> tuple[tuple[GradRow, ...], InRecord]:
    """A value is in the record where its row told of it, and only autograd nodes of the record have said more since."""
    gradients = live.gradients
    telling, backwards = gradients.telling, gradients.backwards
    gradients.telling += 1
    rows: list[GradRow] = []
    births: list[ItemId] = []
    arrivals: list[ItemId] = []
    for value in gradients.values.values():
        if value.telling != telling or not value.has_row:
            rows.append(gradients.row(value))
        elif value.summary is None and backwards <= value.made_at:
            births.append(value.key[0])
        elif value.summary is not None and _is_as_it_came(value):
            arrivals.append(value.key[0])
        else:
            rows.append(gradients.row(value))
    return tuple(rows), InRecord(births=tuple(births), arrivals=tuple(arrivals))


def _is_as_it_came(value: Value) -> bool:
    """Whether the gradient is still there, and is that of the value as it was made."""
    return value.grad is not None and value.written is None and not value.after_write
