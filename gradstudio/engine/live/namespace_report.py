"""The report of what is bound, by name (semantics §13)."""

from collections.abc import Iterator
from types import ModuleType

import msgspec
from torch import Tensor, nn

from gradstudio.engine.gradient.tensor_watch import Key
from gradstudio.engine.live.live_state import Live
from gradstudio.engine.script.compiled_steps import Head, Item, Step
from gradstudio.engine.script.cursor import NOBODY
from gradstudio.engine.value.lazy_modules import parameters_of
from gradstudio.engine.value.value_records import record_of
from gradstudio.graph.model import ItemId
from gradstudio.protocol import gradient_sentences as words
from gradstudio.protocol.messages.events import GradRow, NamedEntry, Report
from gradstudio.protocol.messages.records import ModuleRecord, Record, TensorRecord, TupleRecord


class Reporter:
    """Makes the report of one live state; call it outside the program's modes."""

    def __init__(self, live: Live, max_values: int, trace: bool) -> None:
        """Exact values up to `max_values` elements."""
        self._live, self._max_values, self._trace = live, max_values, trace
        live.gradients.max_values = max_values
        rows = live.gradients.rows()
        self._grads = {(row.node, row.output, row.path): row for row in rows}
        newest = sorted(live.gradients.values.values(), key=lambda value: value.serial)
        self._of_tensor = {id(value.tensor): value for value in newest}
        self._bindings: dict[str, int] = {}
        self._entries: list[NamedEntry] = []

    def report(self) -> Report:
        """The whole report."""
        live = self._live
        total = _bindings(live.loaded.items)
        self._walk(live.loaded.items, total)
        return Report(
            revision=live.loaded.revision,
            entries=tuple(self._entries),
            defined=tuple(self._defined()),
            rows=tuple(live.rows.values()) if self._trace else (),
            backward=tuple(live.autograd_rows) if self._trace else (),
            seed=live.seed,
        )

    def _defined(self) -> Iterator[NamedEntry]:
        """What no node binds: definitions, which are printed above the program, ``_``, and what functions bind."""
        known = {entry.name for entry in self._entries}
        for name, value in self._live.namespace.items():
            if name not in known and not name.startswith("__") and not isinstance(value, ModuleType):
                record = self._finished(value, NOBODY, 0)
                yield NamedEntry(name=name, node=NOBODY, operator="", line=0, outputs=(record,))

    def _walk(self, items: tuple[Item, ...], total: dict[str, int]) -> None:
        for item in items:
            if isinstance(item, Step):
                self._step(item, total)
            else:
                self._loop_variables(item)
                self._walk(item.body, total)

    def _step(self, step: Step, total: dict[str, int]) -> None:
        statement = step.statement
        if not statement.names:
            if step.id in self._live.executed:
                self._add(statement.address, step.id, statement.operator, statement.line, (), None)
            return
        several = len(statement.names) > 1
        for index, name in enumerate(statement.names):
            if name == "_":
                continue
            self._bindings[name] = self._bindings.get(name, 0) + 1
            output = index if several else None
            if self._live.binder.get(name) == (step.id, index) and name in self._live.namespace:
                record = self._finished(self._live.namespace[name], step.id, index)
                self._add(name, step.id, statement.operator, statement.line, (record,), output)
            elif self._trace:
                last = self._bindings[name] == total[name] and name not in self._live.namespace
                self._earlier(step, name, index, output, last)

    def _earlier(self, step: Step, name: str, index: int, output: int | None, last: bool) -> None:
        """A binding that another took the place of, and a part, as they were recorded."""
        outputs = self._live.outputs_of(step.id)
        if index >= len(outputs):
            return
        spelled = name if last else f"{name}@{self._bindings[name]}"
        record = self._with_grad(outputs[index], step.id, index)
        self._add(spelled, step.id, step.statement.operator, step.statement.line, (record,), output)

    def _loop_variables(self, head: Head) -> None:
        for index, name in enumerate(head.targets):
            if head.is_part(name):
                continue
            self._bindings[name] = self._bindings.get(name, 0) + 1
            if name in self._live.namespace and self._live.binder.get(name) == (head.id, index):
                record = self._finished(self._live.namespace[name], head.id, index)
                self._add(name, head.id, head.block.kind, head.block.line, (record,), index or None)

    def _add(
        self, name: str, node: ItemId, operator: str, line: int, outputs: tuple[Record, ...], output: int | None
    ) -> None:
        self._entries.append(
            NamedEntry(name=name, node=node, operator=operator, line=line, outputs=outputs, output=output)
        )

    def _finished(self, value: object, node: ItemId, output: int) -> Record:
        return self._with_grad(record_of(value, self._max_values), node, output, value=value)

    def _with_grad(self, record: Record, node: ItemId, output: int, path: str = "", value: object = None) -> Record:
        """The record with what is known of its gradients.

        Args:
            record: of one output of a node, or of what is at `path` in it.
            node, output: whose it is.
            path: "" for the whole output, else that of an element with a dot behind it.
            value: what it is the record of, if that is still there: an element of a list may be known by another name.
        """
        match record:
            case TensorRecord():
                return _filled(record, self._row((node, output, path.rstrip(".")), value))
            case ModuleRecord():
                tensors = dict(parameters_of(value)) if isinstance(value, nn.Module) else {}
                parameters = {
                    name: _filled(tensor, self._row((node, output, path + name), tensors.get(name)))
                    for name, tensor in record.parameters.items()
                }
                return msgspec.structs.replace(record, parameters=parameters)
            case TupleRecord():
                elements = value if isinstance(value, list | tuple) else (None,) * len(record.items)
                items = tuple(
                    self._with_grad(item, node, output, f"{path}{place}.", element)
                    for place, (item, element) in enumerate(zip(record.items, elements, strict=False))
                )
                return msgspec.structs.replace(record, items=items)
            case _:
                return record

    def _row(self, key: Key, tensor: object) -> GradRow | None:
        """What is known of the gradient of what a name holds, else of what was told of it."""
        if not isinstance(tensor, Tensor):
            return self._grads.get(key)
        gradients = self._live.gradients
        value = gradients.values.get(key)
        if value is None:
            value = self._of_tensor.get(id(tensor))
        elif not value.was_leaf and value.is_overwritten():
            value = self._of_tensor[id(value.tensor)]  # what a write made of it is a value of its own
            if value.is_overwritten():
                node, output, path = key
                return GradRow(node=node, output=output, path=path, state="not_reached", reason=words.WRITTEN_SINCE)
        return self._grads[value.key] if value is not None else gradients.row_of_unwatched(key, tensor)


def _filled(record: TensorRecord, row: GradRow | None) -> TensorRecord:
    if row is None:
        return record
    return msgspec.structs.replace(
        record, grad=row.grad, grad_state=row.state, grad_reason=row.reason, grad_cause=row.cause
    )


def _bindings(items: tuple[Item, ...]) -> dict[str, int]:
    """How many statements bind each name."""
    counts: dict[str, int] = {}
    for item in items:
        if isinstance(item, Head):
            for name in item.targets:
                counts[name] = counts.get(name, 0) + 1
            for name, count in _bindings(item.body).items():
                counts[name] = counts.get(name, 0) + count
        else:
            for name in item.statement.names:
                counts[name] = counts.get(name, 0) + 1
    return counts
