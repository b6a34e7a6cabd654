"""Parameters and buffers of a module as rows of its card: what stands there, how high, where their ports are. No Qt."""

from typing import Final

import msgspec

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.records import GradState, ModuleRecord, Summary, TensorRecord
from gradstudio.scene import value_format
from gradstudio.scene.card.gradient_state_words import STATE_SENTENCES, state_words
from gradstudio.scene.card.section_heights import EDGE, gradient_of
from gradstudio.scene.overlay_registry import Shown
from gradstudio.scene.results import Results

LEAF: Final = 15.0
"""Height of a leaf's first line: name, shape, values."""
GRADIENT: Final = 14.0
MORE: Final = 15.0
MOST_UNFOLDED: Final = 24
MOST_FOLDED: Final = 3
"""So many leaves all have a row; of more, the first `KEPT` do until the card is unfolded."""
KEPT: Final = 2


class ModuleParameter(msgspec.Struct, frozen=True):
    """A parameter or a buffer as run or inference have it; `summary` is None before a run."""

    path: str
    shape: tuple[int, ...]
    dtype: str
    requires_grad: bool
    buffer: bool
    summary: Summary | None = None
    state: GradState = "not_run"
    grad: Summary | None = None
    reason: str = ""
    version: str = ""

    @property
    def learns(self) -> bool:
        """Whether a backward gives it a gradient: it was not frozen."""
        return self.requires_grad and self.state != "not_required"

    @property
    def height(self) -> float:
        """Of its row: a buffer never has a gradient, so it has no line for one."""
        return LEAF + (0.0 if self.buffer else GRADIENT)


class ParameterRow(msgspec.Struct, frozen=True):
    """A leaf's row on a card, as texts.

    Attributes:
        y: of its top, from the top of the rows.
        values: its range in several wordings, the longest first; `guessed`: only its dtype, as expected.
        gradient: the norm of its gradient, or its state in words; `grad`: that gradient, for fewer digits.
    """

    path: str
    y: float
    height: float
    dtype: str
    shape: str
    values: tuple[str, ...]
    guessed: bool
    buffer: bool
    learns: bool
    state: GradState
    gradient: str
    sentence: str
    grad: Summary | None = None


class ParameterRows(msgspec.Struct, frozen=True):
    """The rows of one card; `more` names those that are folded away, or offers to fold them again."""

    rows: tuple[ParameterRow, ...] = ()
    more: str = ""
    height: float = 0.0

    def at(self, y: float) -> ParameterRow | None:
        """The row at that distance from the top of the rows."""
        return next((row for row in self.rows if row.y <= y < row.y + row.height), None)

    @property
    def more_y(self) -> float:
        """Where the line that folds and unfolds begins."""
        return self.rows[-1].y + self.rows[-1].height if self.rows else 0.0


NOTHING: Final = ParameterRows()


def parameter_rows(results: Results, module: ItemId) -> tuple[ModuleParameter, ...] | None:
    """The leaves of a module: of its record with their gradients, else as expected; None when nothing is known."""
    record = record_now(results, module)
    if record is not None:
        parameters = (_recorded(results, module, path, one) for path, one in record.parameters.items())
        return (*parameters, *(_buffer(results, path, one) for path, one in record.buffers.items()))
    port = results.inference(module, 0)
    if port is None or port.leaves is None:
        return None
    return tuple(
        ModuleParameter(leaf.path, leaf.shape, leaf.dtype, leaf.requires_grad, leaf.buffer) for leaf in port.leaves
    )


def record_now(results: Results, module: ItemId) -> ModuleRecord | None:
    """A module as it stands now, or stood at the moment that is looked at; None before it was made."""
    records = results.outputs(module)
    if not records or not isinstance(records[0], ModuleRecord):
        return None
    return results.module_now(module) or records[0]


def module_state(results: Results, module: ItemId) -> tuple[bool, bool] | None:
    """Whether a module trains, and whether all its parameters are frozen, at the moment; None before it was made."""
    record = record_now(results, module)
    if record is None:
        return None
    is_frozen = bool(record.parameters) and not any(leaf.requires_grad for leaf in record.parameters.values())
    return record.training, is_frozen


def leaf_rows(results: Results, module: ItemId, shown: Shown, *, unfolded: bool) -> ParameterRows:
    """What stands on the card of a module below its fields."""
    found = parameter_rows(results, module)
    if not found:
        return NOTHING
    visible, hidden = split_by_fold(found, unfolded=unfolded)
    rows, y = [], 0.0
    for leaf in visible:
        made = _row(leaf, y, shown)
        rows.append(made)
        y += made.height
    more = _more(found, hidden, unfolded=unfolded)
    return ParameterRows(tuple(rows), more, y + (MORE if more else 0.0) + EDGE)


def leaves_heights(results: Results, module: ItemId, shown: Shown, *, unfolded: bool) -> tuple[float, float]:
    """The room kept for the rows, and ``leaf_rows(...).height``, which is drawn of it, without its texts."""
    found = parameter_rows(results, module)
    if not found:
        return (0.0 if found is not None else _usual_height(shown)), 0.0
    visible, hidden = split_by_fold(found, unfolded=unfolded)
    has_more = bool(hidden) or (unfolded and len(found) > MOST_FOLDED)
    height = sum(_height(leaf, shown) for leaf in visible) + (MORE if has_more else 0.0) + EDGE
    return height, height


def leaf_paths(results: Results, module: ItemId, *, unfolded: bool) -> tuple[str, ...]:
    """The leaves that have a row, by path."""
    return tuple(leaf.path for leaf in split_by_fold(parameter_rows(results, module) or (), unfolded=unfolded)[0])


def split_by_fold(
    found: tuple[ModuleParameter, ...], *, unfolded: bool
) -> tuple[tuple[ModuleParameter, ...], tuple[ModuleParameter, ...]]:
    """The leaves that have a row, and those that have none."""
    if unfolded:
        count = MOST_UNFOLDED
    else:
        count = len(found) if len(found) <= MOST_FOLDED else KEPT
    return found[:count], found[count:]


def _recorded(results: Results, module: ItemId, path: str, record: TensorRecord) -> ModuleParameter:
    row = results.grad(module, 0, path)
    state, grad = gradient_of(record, row)
    reason = (row.reason if row is not None else record.grad_reason) or STATE_SENTENCES[state]
    one, version = record.summary, version_since(results, record)
    version += value_format.ranks_alarm(one) or (value_format.ranks_alarm(grad, "∇") if grad is not None else "")
    return ModuleParameter(path, one.shape, one.dtype, record.requires_grad, False, one, state, grad, reason, version)


def _buffer(results: Results, path: str, record: TensorRecord) -> ModuleParameter:
    one, version = record.summary, version_since(results, record)
    return ModuleParameter(path, one.shape, one.dtype, False, True, one, "not_required", version=version)


def version_since(results: Results, record: TensorRecord) -> str:
    """``v1→v2``: a value was written to since it was recorded; "" when it was not. Its module's own filling is none."""
    now = results.version_now(record.storage) if record.storage and record.version is not None else 0
    return f"v{record.version}→v{now}" if now > (record.version or 0) else ""


def _row(leaf: ModuleParameter, y: float, shown: Shown) -> ParameterRow:
    summary = leaf.summary
    values: tuple[str, ...] = ()
    if summary is not None and shown.values:
        one = value_format.single(summary)
        values = (value_format.number(one),) if one is not None else value_format.extents(summary)
    guessed = summary is None
    if summary is None:
        shape = value_format.shape(leaf.shape)
    else:
        from gradstudio.scene.words.shard_words import shape_words  # there is a result

        shape = shape_words(summary)
    if guessed and shown.dtype_device:
        values = (value_format.bare_dtype(leaf.dtype),)
    return ParameterRow(
        path=leaf.path, y=y, height=_height(leaf, shown), dtype=leaf.dtype,
        shape=f"{shape} {leaf.version}".rstrip() if shown.shapes else "",
        values=values, guessed=guessed, buffer=leaf.buffer, learns=leaf.learns, state=leaf.state,
        gradient=_gradient_text(leaf) if shown.gradients else "", sentence=leaf.reason,
        grad=leaf.grad if leaf.state in ("value", "accumulated") else None,
    )  # fmt: skip


def _gradient_text(leaf: ModuleParameter) -> str:
    if leaf.buffer:
        return ""
    if leaf.grad is not None and leaf.state in ("value", "accumulated"):
        return value_format.number_or_norm(leaf.grad)
    return state_words(leaf.state, leaf.reason) if leaf.learns else "frozen"


def _more(found: tuple[ModuleParameter, ...], hidden: tuple[ModuleParameter, ...], *, unfolded: bool) -> str:
    if unfolded and len(found) > MOST_FOLDED:
        return f"⋯ fewer, {len(hidden)} not shown" if hidden else "⋯ fewer"
    if not hidden:
        return ""
    rest = len(hidden) - 1
    return f"⋯ {hidden[0].path}" + (f" +{rest}" if rest else "")


def _height(leaf: ModuleParameter, shown: Shown) -> float:
    return leaf.height if shown.gradients else LEAF


def _usual_height(shown: Shown) -> float:
    """Of a module of which nothing is known yet: no folded card has more rows, so none grows over its neighbour."""
    if not (shown.shapes or shown.values):
        return 0.0
    return MOST_FOLDED * (LEAF + (GRADIENT if shown.gradients else 0.0)) + EDGE
