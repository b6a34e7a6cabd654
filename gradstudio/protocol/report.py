"""The report of a run as plain data: what `gradstudio run --json` prints (semantics §13)."""

from collections.abc import Iterable, Mapping
from typing import Any, assert_never

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.backward_trace import AutogradRow, BackwardTraced, HookRun
from gradstudio.protocol.messages.debugging import Clash
from gradstudio.protocol.messages.events import NamedEntry, Printed, Report, Row
from gradstudio.protocol.messages.ranks import Spread
from gradstudio.protocol.messages.records import (
    ArrayRecord,
    ModuleRecord,
    ObjectRecord,
    OptimizerRecord,
    PlainRecord,
    Record,
    Shard,
    Summary,
    TensorRecord,
    TupleRecord,
)

Json = dict[str, Any]
BUILT_IN = frozenset({"print", "load_file"})
"""What an engine gives a program's namespace."""


def record_json(record: Record) -> Json:
    """One value as the report has it."""
    match record:
        case TensorRecord():
            return _tensor(record)
        case PlainRecord():
            ranks = {} if record.spread is None else {"ranks": spread_json(record.spread)}
            return {"kind": record.what, "class": record.class_name, "value": record.value, **ranks}
        case TupleRecord():
            items = [record_json(item) for item in record.items]
            return {"kind": "tuple", "class": record.class_name, "length": record.length, "items": items}
        case ModuleRecord():
            return {
                "kind": "module",
                "class": record.class_name,
                "training": record.training,
                "parameters": {name: _tensor(tensor) for name, tensor in record.parameters.items()},
                "buffers": {name: _tensor(tensor) for name, tensor in record.buffers.items()},
            }
        case OptimizerRecord():
            return {"kind": "optimizer", "class": record.class_name, "groups": list(record.groups)}
        case ArrayRecord():
            return {"kind": "array", "dtype": record.dtype, "shape": list(record.shape), "value": record.value}
        case ObjectRecord():
            told = {"kind": "object", "class": record.class_name}
            return told | {"words": record.words} if record.words else told
        case _:
            assert_never(record)


def entries_json(report: Report, names: frozenset[str], drawn: frozenset[str] = frozenset()) -> tuple[Json, Json]:
    """The report's `nodes`, the variables, functions and classes that Python would hold; and `statements`, by address.

    These are what binds no name, what a drawing binds and the text does not, and with trace parts and earlier bindings.

    Args:
        report: of the run.
        names: what the text binds.
        drawn: what the text binds that was executed; all else was bound while it ran (`exec`, `globals()`).
    """
    told = {entry.name: _entry(entry) for entry in (*report.defined, *report.entries)}
    own = {entry.name for entry in report.entries}
    others = own | drawn | BUILT_IN
    nodes = {name: entry for name, entry in told.items() if name in names or name not in others}
    return nodes, {name: entry for name, entry in told.items() if name in own and name not in names}


def printed_json(printed: Iterable[Printed], addresses: Mapping[ItemId, str]) -> list[Json]:
    """What a program printed, each at its node; of what went to standard error that it did."""
    found: list[Json] = []
    for one in printed:
        row: Json = {"node": addresses.get(one.node, one.node), "line": one.line, "text": one.text}
        found.append(row | {"stream": "stderr"} if one.is_error else row)
    return found


def trace_json(rows: tuple[Row, ...], backward: tuple[AutogradRow, ...], addresses: Mapping[ItemId, str]) -> list[Json]:
    """The report's `trace`: a row per node executed, then one per autograd node of each backward."""
    executed = [
        {
            "step": row.step,
            "node": addresses.get(row.node, row.node),
            "turns": list(row.turns),
            "pass": row.pass_number,
            "outputs": [record_json(record) for record in row.outputs],
        }
        for row in rows
    ]
    return [*executed, *(_autograd(row, addresses) for row in backward)]


def wires_json(backwards: Iterable[BackwardTraced], addresses: Mapping[ItemId, str]) -> list[Json]:
    """The report's `wires`: what each user sent back along each wire, in each backward."""
    return [
        {
            "backward": traced.backward,
            "source": addresses.get(wire.source, wire.source),
            "target": addresses.get(wire.target, wire.target),
            "port": wire.port,
            "turns": list(wire.turns),
            "grad": _gradient(wire.grad),
        }
        for traced in backwards
        for wire in traced.wires
    ]


def clash_json(clash: Clash, addresses: Mapping[ItemId, str]) -> Json:
    """The error's `clash`: who needs (or is) the tensor, what was saved at which version, who wrote into it since."""
    return {
        "victim": addresses.get(clash.victim, clash.victim) or None,
        "line": clash.victim_line or None,
        "autograd": clash.autograd or None,
        "saved": clash.saved or None,
        "value": addresses.get(clash.value, clash.value) or None,
        "saved_version": clash.saved_version,
        "version": clash.version,
        "culprits": [
            {
                "node": addresses.get(culprit.node, culprit.node),
                "line": culprit.line,
                "version": culprit.version,
                "turns": list(culprit.turns),
            }
            for culprit in clash.culprits
        ],
    }


def _entry(entry: NamedEntry) -> Json:
    data: Json = {
        "id": entry.node,
        "operator": entry.operator,
        "line": entry.line,
        "outputs": [record_json(record) for record in entry.outputs],
    }
    if entry.output is not None:
        data["output"] = entry.output
    return data


def _tensor(record: TensorRecord) -> Json:
    summary = record.summary
    data: Json = {
        "kind": "tensor",
        "dtype": summary.dtype,
        "shape": list(summary.whole_shape),
        "stride": None if record.stride is None else list(record.stride),
        "device": record.device,
        "requires_grad": record.requires_grad,
        "is_leaf": record.is_leaf,
        "grad_fn": record.grad_fn,
        "version": record.version,
        "value": summary.value,
        "min": summary.minimum,
        "max": summary.maximum,
        "mean": summary.mean,
        "nan": summary.nan,
        "posinf": summary.posinf,
        "neginf": summary.neginf,
        "grad": None if record.grad is None else record.grad.value,
        "grad_state": record.grad_state,
    }
    if record.grad is not None:
        figures = {"min": record.grad.minimum, "max": record.grad.maximum, "mean": record.grad.mean}
        data |= {f"grad_{name}": figure for name, figure in figures.items()}
    if summary.shard is not None:
        data["shard"] = _shard(summary, summary.shard)
    if record.grad is not None and record.grad.shard is not None:
        data["grad_shard"] = _shard(record.grad, record.grad.shard)
    if summary.spread is not None:
        data["ranks"] = spread_json(summary.spread)
    if record.grad is not None and record.grad.spread is not None:
        data["grad_ranks"] = spread_json(record.grad.spread)
    return data


def spread_json(spread: Spread) -> Json:
    """A value over ranks: whether all hold the same bytes, who holds a NaN, and the ends of each figure."""
    ends = ((name, getattr(spread, name)) for name in ("minimum", "maximum", "mean", "rms"))
    figures = {name: [[one.least, one.least_rank], [one.most, one.most_rank]] for name, one in ends if one is not None}
    equal = None if spread.parts else spread.is_equal
    return {"count": spread.ranks, "equal": equal, "nan": list(spread.nan.ranks), **figures}


def _shard(summary: Summary, shard: Shard) -> Json:
    """Of a distributed tensor the part whose numbers are told: how the whole is shared out, and where the part lies."""
    return {
        "placements": list(shard.placements),
        "mesh": list(shard.mesh),
        "shape": list(summary.shape),
        "offset": list(shard.offset) if len(shard.offset) == len(shard.whole) else None,
    }


def _autograd(row: AutogradRow, addresses: Mapping[ItemId, str]) -> Json:
    return {
        "backward": row.backward,
        "autograd": row.autograd,
        "node": addresses.get(row.node, row.node) or None,
        "turns": list(row.turns),
        "incoming": [_gradient(summary) for summary in row.incoming],
        "outgoing": [_gradient(summary) for summary in row.outgoing],
        **({"hooks": [_hook(hook) for hook in row.hooks]} if row.hooks else {}),
    }


def _hook(hook: HookRun) -> Json:
    return {
        "kind": hook.kind,
        "name": hook.name,
        "file": hook.file or None,
        "line": hook.line or None,
        "changed": hook.changed,
        "before": _gradient(hook.before),
        "after": _gradient(hook.after),
    }


def _gradient(summary: Summary | None) -> Json | None:
    if summary is None:
        return None
    return {
        "dtype": summary.dtype,
        "shape": list(summary.shape),
        "value": summary.value,
        "min": summary.minimum,
        "max": summary.maximum,
        "mean": summary.mean,
        "nan": summary.nan,
    }
