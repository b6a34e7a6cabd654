"""What the inspector says of a value: pairs of words, and sentences for the states of a gradient. No widgets."""

from typing import TYPE_CHECKING

from gradstudio.advice.diagnosis.graph_weights import element_bytes
from gradstudio.protocol.messages.events import GradRow
from gradstudio.protocol.messages.inference import PortInference
from gradstudio.protocol.messages.records import (
    ArrayRecord,
    GradState,
    ModuleRecord,
    ObjectRecord,
    OptimizerRecord,
    PlainRecord,
    Record,
    Summary,
    TensorRecord,
    TupleRecord,
)
from gradstudio.scene import value_format
from gradstudio.scene.words.shard_words import placement_words, shape_words

if TYPE_CHECKING:
    from gradstudio.ui.state.run.run_controller import RunController

Facts = tuple[tuple[str, str], ...]

GRAD_SENTENCES: dict[GradState, str] = {
    "value": "Has a gradient.",
    "not_run": "No backward has run yet.",
    "not_required": "Needs no gradient: neither it nor anything it is made from requires one.",
    "cut": "The gradient is cut here: an input requires one, this does not.",
    "not_reached": "A backward has run, but it did not reach this value.",
    "not_retained": "A gradient passed here and was not kept.",
    "accumulated": "Holds more than the last backward: it was added to what was there.",
}


STATE_WORDS: dict[GradState, str] = {
    "value": "has a value",
    "not_run": "not yet run",
    "not_required": "not required",
    "cut": "cut here",
    "not_reached": "not reached from the root",
    "not_retained": "not retained",
    "accumulated": "accumulated",
}


def tensor_facts(record: TensorRecord) -> Facts:
    """Type, place and history of a tensor."""
    summary = record.summary
    dtype = value_format.bare_dtype(summary.dtype)
    facts = [
        ("shape", shape_words(summary)),
        ("dtype", f"{dtype} on {record.device}" if record.device else dtype),
        ("size", size_words(record)),
        ("requires_grad", f"{record.requires_grad}" + (" (leaf)" if record.is_leaf and record.requires_grad else "")),
        ("grad_fn", record.grad_fn or "None"),
    ]
    if record.stride is not None:
        order = "contiguous" if record.contiguous else "not contiguous"
        facts.append(("strides", f"{value_format.shape(record.stride)}, {order}"))
    if record.version is not None:
        facts.append(("version", f"{record.version} (written in place)" if record.version else "0"))
    return tuple(facts)


def size_words(record: TensorRecord) -> str:
    """Elements and their bytes; beside them those of the storage, where a tensor is a part of one."""
    count = value_format.element_count(record.summary.shape)
    elements = f"{count:,} element{'s' * (count != 1)}"
    if record.stride is None:
        return elements  # torch has no storage of it, of sparse tensors
    held = value_format.size(record.size_bytes)
    own_bytes = count * element_bytes(record.summary.dtype)
    if own_bytes == record.size_bytes or not record.storage:
        return f"{elements}, {held}"
    if own_bytes < record.size_bytes:
        return f"{elements}, {value_format.size(own_bytes)} of a storage of {held}"
    return f"{elements} on a storage of {held}"  # expanded


def number_facts(summary: Summary) -> Facts:
    """Statistics over the finite values, and what is not finite."""
    mark = "~" if summary.sampled else ""
    pairs = (("min", summary.minimum), ("max", summary.maximum), ("mean", summary.mean), ("rms", summary.rms))
    odd = value_format.oddities(summary)
    of = " (finite)" if odd else ""
    facts = [(f"{name}{of}", f"{mark}{value_format.number(value, 5)}") for name, value in pairs if value is not None]
    if odd:
        facts.append(("not finite", odd))
    if words := placement_words(summary):
        facts.append(("part" if summary.is_part else "copy", words))
    if words := value_format.ranks_text(summary):
        facts.append(("over ranks", words))
    return tuple(facts)


def record_facts(record: Record) -> Facts:
    """Any record as pairs; tensors with their statistics."""
    match record:
        case TensorRecord():
            return (*tensor_facts(record), *number_facts(record.summary))
        case PlainRecord(class_name=name, value=value):
            shown = str(value) if record.what == "text" else value_format.number(value)
            over_ranks = value_format.ranks_text(record)
            return (("class", name), ("value", shown), *((("over ranks", over_ranks),) if over_ranks else ()))
        case TupleRecord(class_name=name, length=length, items=items):
            rows = ((f"[{k}]", value_format.one_line_value(item)) for k, item in enumerate(items))
            return (("class", name), ("length", str(length)), *rows)
        case ModuleRecord(class_name=name, training=training, parameters=parameters, buffers=buffers):
            rows = ((path, value_format.one_line_value(tensor)) for path, tensor in (parameters | buffers).items())
            return (("class", name), ("mode", "train" if training else "eval"), *rows)
        case OptimizerRecord(class_name=name, groups=groups):
            numbers = (
                (f"{key}" if len(groups) == 1 else f"{key} [{k}]", value_format.number(value))
                for k, group in enumerate(groups)
                for key, value in group.items()
            )
            return (("class", name), *numbers)
        case ArrayRecord(dtype=dtype, shape=shape):
            return (("class", "numpy.ndarray"), ("dtype", dtype), ("shape", value_format.shape(shape)))
        case ObjectRecord(class_name=name, words=words):
            return (("class", name), ("holds", words)) if words else (("class", name),)


def inference_facts(port: PortInference | None, *, is_past: bool = False) -> Facts:
    """What is expected before a run, or at a moment before the value was made (`is_past`), marked as such."""
    if port is None or port.refusal:
        return ()
    if port.known_after_run or port.shape is None:
        return () if is_past else (("shape", "known after a run"),)
    return (
        ("shape", f"{value_format.shape(port.shape)} expected"),
        ("dtype", f"{value_format.bare_dtype(port.dtype)} on {port.device} expected"),
        ("requires_grad", str(port.requires_grad)),
    )


def leaf_facts(port: PortInference | None, path: str) -> Facts:
    """What is expected of a parameter or a buffer before its module is made."""
    leaves = (port.leaves or ()) if port is not None else ()
    leaf = next((leaf for leaf in leaves if leaf.path == path), None)
    if leaf is None:
        return ()
    kind = "buffer" if leaf.buffer else f"parameter, requires_grad {leaf.requires_grad}"
    return (
        ("shape", f"{value_format.shape(leaf.shape)} expected"),
        ("dtype", f"{value_format.bare_dtype(leaf.dtype)} expected"),
        ("kind", kind),
    )


def grad_sentence(row: GradRow | None) -> str:
    """The state of a gradient in words; the engine's own reason goes first."""
    if row is None:
        return GRAD_SENTENCES["not_run"]
    return row.reason or GRAD_SENTENCES[row.state]


def stale_sentence(run: "RunController") -> str:
    """Why a value is that of an older run: the program was edited since, or the engine that made it is gone."""
    is_edited = run.state.live or run.displaced.by
    why = "Of the program as it was before your last change." if is_edited else "Of a run whose engine has ended since."
    return f"{why} Run again to renew it."
