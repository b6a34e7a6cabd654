"""Why torch refuses an in-place write, or a backward after one: who wrote, and who needed what was there.

Only looked for when torch has refused; until then a clash costs the log of `inplace_writes`.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from torch import Tensor
from torch.autograd.graph import Node

from gradstudio.engine import access
from gradstudio.engine.backward.backward_reachability import GraphNode, Reach
from gradstudio.engine.gradient.inplace_writes import Write, storage_of
from gradstudio.engine.live.live_state import Binding, Live
from gradstudio.engine.script.compiled_steps import Step
from gradstudio.engine.value.value_records import tensors_in
from gradstudio.engine.value.view_state import is_leaf
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.debugging import Clash, Culprit

OVERWRITTEN = "has been modified by an inplace operation"
FORBIDDEN = (
    "a leaf Variable that requires grad",
    "a view of a leaf Variable that requires grad",
    "and is being modified inplace",
)
"""What torch says when a write itself is refused."""
_VERSIONS = re.compile(r"is at version (\d+); expected version (\d+)")
_SECOND_INPUT = ("other", "mat2", "exponent", "weight", "tensor2", "batch2", "vec2")
_RAW = "_raw_saved_"
COPY_SLICES = "CopySlices"
NOBODY = ItemId("")


class OverwrittenTensor(NamedTuple):
    """A tensor that an autograd node saved and that was overwritten since."""

    seen: GraphNode
    name: str
    tensor: Tensor | None
    saved_version: int
    version: int


def conflict_of(live: Live, step: Step, error: Exception) -> Clash | None:
    """Who wrote into what, when that is why a statement failed; else None."""
    words = str(error)
    if not isinstance(error, RuntimeError):
        return None
    if OVERWRITTEN in words:
        return _overwritten(live, step, words)
    return _forbidden(live, step, words) if any(phrase in words for phrase in FORBIDDEN) else None


# ------------------------------------------------------------------ a backward that needs what is gone


def _overwritten(live: Live, step: Step, words: str) -> Clash:
    match = _VERSIONS.search(words)
    now, then = (int(match[1]), int(match[2])) if match else (0, 0)
    reach = _reach(live, step)
    kept = None if reach is None else _victim(reach, now, then)
    if kept is None:
        return (None if reach is None else _inside_a_write(live, reach, now, then)) or Clash(
            saved_version=then, version=now
        )
    seen, tensor = kept.seen, kept.tensor
    wrote = () if tensor is None else live.writes.into(storage_of(tensor), then, now)
    address, line = _place(live, seen.owner)
    return Clash(
        victim=seen.owner, victim_address=address, victim_line=line, autograd=type(seen.node).__name__,
        saved=kept.name, value=_value(live, kept), saved_version=then, version=now,
        culprits=tuple(_culprit(live, write) for write in wrote),
    )  # fmt: skip


def _reach(live: Live, step: Step) -> Reach | None:
    """The graph behind the roots of a backward; None when the statement is none."""
    if step.source.roots is None:
        return None
    roots = access.evaluate(step.source.roots, live.namespace)
    return Reach(live.gradients, tensors_in([roots]))


def _inside_a_write(live: Live, reach: Reach, now: int, then: int) -> Clash | None:
    """A write into a view kept what was there before it, or its own result, within its `CopySlices`.

    What that node keeps inside, torch shows nobody: the log of writes says which one saw these versions.
    """
    copies = [seen for seen in reach.seen if type(seen.node).__name__ == COPY_SLICES and seen.leaf is None]
    copies.sort(key=lambda seen: -seen.node._sequence_nr())
    for seen in copies:
        for version in (then + 1, then):
            for storage in live.writes.of(seen.owner, seen.turns, version):
                wrote = live.writes.into(storage, then, now)
                if not wrote or wrote[-1].version != now:
                    continue
                address, line = _place(live, seen.owner)
                read = _read_by(live, seen)
                return Clash(
                    victim=seen.owner, victim_address=address, victim_line=line, autograd=COPY_SLICES,
                    value=read[0][0] if read and version > then else seen.owner, saved_version=then, version=now,
                    culprits=tuple(_culprit(live, write) for write in wrote),
                )  # fmt: skip
    return None


def _victim(reach: Reach, now: int, then: int) -> OverwrittenTensor | None:
    """The autograd node torch stumbled over: of those whose tensor is at the versions it names the first it came to."""
    found = [
        kept
        for seen in reach.seen
        if seen.leaf is None
        for kept in _overwritten_in(seen)
        if (kept.version, kept.saved_version) == (now, then)
    ]
    return max(found, key=lambda kept: kept.seen.node._sequence_nr(), default=None)


def _overwritten_in(seen: GraphNode) -> Iterator[OverwrittenTensor]:
    """What an autograd node saved and torch refuses to give out because it was written into."""
    for name in _names(type(seen.node)):
        try:
            getattr(seen.node, "saved_tensors" if name == "tensors" else f"_saved_{name}")
        except RuntimeError as refusal:
            match = _VERSIONS.search(str(refusal))
            if match is not None:
                now, then = int(match[1]), int(match[2])
                yield OverwrittenTensor(seen, name, _data(seen.node, name, now), then, now)
        except AttributeError:
            continue


@cache
def _names(kind: type[Node]) -> tuple[str, ...]:
    return tuple(name.removeprefix(_RAW) for name in dir(kind) if name.startswith(_RAW))


def _data(node: Node, name: str, version: int) -> Tensor | None:
    """The saved tensor itself, which torch tells without a check."""
    raw = getattr(node, _RAW + name)
    for one in raw if isinstance(raw, tuple | list) else (raw,):
        data = getattr(one, "data", None)
        if isinstance(data, Tensor) and (data._version == version or not isinstance(raw, tuple | list)):
            return data
    return None


def _value(live: Live, kept: OverwrittenTensor) -> ItemId:
    """The node whose value was saved: the victim's own result, or what went into it."""
    owner = kept.seen.owner
    if kept.name.startswith("result") or kept.name in ("output", "out"):
        return owner
    read = _read_by(live, kept.seen)
    if kept.tensor is not None:
        held = [value for value in live.gradients.values.values() if _shares(value.tensor, kept.tensor)]
        held.sort(key=lambda value: (value.tensor is not kept.tensor, (value.key[0], value.key[1]) not in read))
        if held:
            return held[0].key[0]
    place = 1 if kept.name in _SECOND_INPUT and len(read) > 1 else 0
    return read[place][0] if read else NOBODY


def _read_by(live: Live, seen: GraphNode) -> list[Binding]:
    """Where the inputs of the victim's statement begin, in the order of its arguments."""
    step = live.executed.get(seen.owner)
    if step is None:
        return [edge.source for edge in seen.call.edges] if seen.call is not None else []
    sources = [source or live.binder.get(name) for _, name, source in step.wires]
    return [source for source in sources if source is not None]


def _shares(tensor: Tensor | None, other: Tensor) -> bool:
    if tensor is None or tensor.layout != other.layout or tensor.is_nested or tensor.is_sparse:
        return False
    return storage_of(tensor) == storage_of(other)


# ------------------------------------------------------------------ a write that is refused


def _forbidden(live: Live, step: Step, words: str) -> Clash | None:
    """The leaf (or what a view looks at) that the failing statement would have written into."""
    written = " ".join(step.statement.writes)
    operands = sorted(step.source.operands, key=lambda name: re.search(rf"\b{re.escape(name)}\b", written) is None)
    tensors = [tensor for name in operands for tensor in tensors_in(live.namespace.get(name))]
    bases = list[Tensor]()
    if "view" in words:
        bases = [tensor._base for tensor in tensors if tensor._base is not None]
    leaves = [tensor for tensor in tensors if tensor.requires_grad and is_leaf(tensor)]
    return _refused(live, step, [*bases, *leaves][0]) if bases or leaves else None


def _refused(live: Live, step: Step, tensor: Tensor) -> Clash:
    victim = next((value.key[0] for value in live.gradients.values.values() if value.tensor is tensor), NOBODY)
    address, line = _place(live, victim)
    version = 0 if tensor.is_inference() else tensor._version
    culprit = _culprit(live, Write(step.id, live.cursor.turns, version))
    return Clash(
        victim=victim, victim_address=address, victim_line=line, value=victim, saved_version=version,
        version=version, culprits=(culprit,),
    )  # fmt: skip


# ------------------------------------------------------------------ telling


def _culprit(live: Live, write: Write) -> Culprit:
    address, line = _place(live, write.node)
    return Culprit(node=write.node, address=address, line=line, version=write.version, turns=write.turns)


def _place(live: Live, node: ItemId) -> tuple[str, int]:
    """Address and line of a statement or block; ("", 0) when it is neither."""
    places = live.loaded.places
    if (statement := places.known(node)) is not None:
        return places.address(node), statement.line
    block = places.blocks.get(node)
    return (block.address or block.kind, block.line) if block is not None else ("", 0)
