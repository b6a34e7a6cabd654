"""What a run says of a value: the records of semantics §13, as they cross the pipe."""

from typing import Annotated
from typing import Literal as OneOf

import msgspec

from gradstudio.protocol.messages.bounds import Count, Edge, Shape, Size
from gradstudio.protocol.messages.ranks import Spread

GradState = OneOf["not_run", "cut", "not_required", "accumulated", "value", "not_retained", "not_reached"]
Scalar = float | int | str | bool | None
Nested = object
"""Nested lists of `Scalar`; NaN and infinities are the texts "nan", "inf", "-inf", a complex
number is [re, im]."""


BYTES_A_VALUE = 4
Placements = Annotated[tuple[Annotated[str, msgspec.Meta(max_length=100)], ...], msgspec.Meta(max_length=16)]


class Preview(msgspec.Struct, frozen=True, gc=False):
    """At most 32 x 32 values of a tensor as float32 bytes, row by row.

    Attributes:
        rows, columns: of `data`. A 1-d tensor is one row; of more than two dimensions the
            last two at index 0 of the others.
        stride_rows, stride_columns: every how manyth element was taken (1 = all of that edge).
        whole: the preview holds every element of the tensor.
        tile_rows: not 0: the tensor is a batch of pictures, and `data` holds the first few, each of so many
            rows, one below the other.
    """

    rows: Edge
    columns: Edge
    data: bytes
    stride_rows: Size = 1
    stride_columns: Size = 1
    whole: bool = True
    tile_rows: Size = 0

    def __post_init__(self) -> None:
        """Refuse what is no picture of so many rows and columns, also where a message is read.

        Raises:
            ValueError: bytes or rows are too many or too few.
        """
        if len(self.data) != BYTES_A_VALUE * self.rows * self.columns or (
            self.tile_rows and self.rows % self.tile_rows
        ):
            raise ValueError(f"{len(self.data)} bytes are no {self.rows} x {self.columns} values")


class Shard(msgspec.Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """Which part of a distributed tensor (torch's `DTensor`) a rank holds.

    Attributes:
        whole: the shape of the tensor, of which ranks hold parts.
        placements: of each dimension of the mesh, as torch writes it: "Shard(0)", "Replicate()", "Partial(sum)".
        mesh: the sizes of its dimensions.
        offset: where the part begins in each dimension of the whole; () where it is not one block of it, or empty.
        is_part: ranks hold different parts; else each holds a copy of the whole.
    """

    whole: Shape
    placements: Placements = ()
    mesh: Shape = ()
    offset: Shape = ()
    is_part: bool = True


class Summary(msgspec.Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """What is shown of a tensor's numbers, or of a gradient's.

    Attributes:
        minimum, maximum, mean, rms: over finite values; None if there are none or complex.
        nan, posinf, neginf: how many.
        sampled: statistics are of a sample (more than 2**24 elements): shown with "~".
        value: exact nested lists when there are few enough elements, else None.
        spread: over the ranks of a distributed run, where several have told it; the rest is of one of them.
        shard: of a distributed tensor: all else, the shape too, is of the part that the rank holds.
    """

    dtype: str
    shape: Shape
    minimum: float | int | None = None
    maximum: float | int | None = None
    mean: float | None = None
    rms: float | None = None
    nan: Size = 0
    posinf: Size = 0
    neginf: Size = 0
    sampled: bool = False
    value: Nested = None
    preview: Preview | None = None
    spread: Spread | None = None
    shard: Shard | None = None

    @property
    def whole_shape(self) -> tuple[int, ...]:
        """Of the tensor, as torch tells it; `shape` is that of the numbers."""
        return self.shape if self.shard is None else self.shard.whole

    @property
    def is_part(self) -> bool:
        """Whether ranks hold different parts of the tensor, and this is of one."""
        return self.shard is not None and self.shard.is_part

    def __post_init__(self) -> None:
        """Refuse values that are not as many as the shape has, also where a message is read.

        Raises:
            ValueError: there are more, or fewer.
        """
        if self.value is not None and self.shape:
            _require_shape(self.value, self.shape)


class TensorRecord(
    msgspec.Struct, frozen=True, gc=False, kw_only=True, tag="tensor", tag_field="kind", omit_defaults=True
):
    """A tensor as it was at one moment.

    Attributes:
        stride, version: None where torch has none.
        size_bytes: of its storage on the device; `storage` is equal for tensors that share one.
        grad: summary of its gradient; None when there is none.
        grad_state: semantics §7; `grad_reason` says why in a sentence, `grad_cause` names the node.
    """

    device: str
    summary: Summary
    stride: tuple[int, ...] | None = None
    requires_grad: bool = False
    is_leaf: bool = True
    grad_fn: str | None = None
    version: int | None = 0
    contiguous: bool = True
    size_bytes: Size = 0
    storage: int = 0
    grad: Summary | None = None
    grad_state: GradState = "not_run"
    grad_reason: str = ""
    grad_cause: str = ""


class PlainRecord(
    msgspec.Struct, frozen=True, gc=False, kw_only=True, tag="plain", tag_field="kind", omit_defaults=True
):
    """A number, text (dtypes, devices, slices too) or None; `what` is the report's kind.

    `class_name` is the Python class; `spread` is of a number that is not complex, as that of a `Summary`.
    """

    what: OneOf["number", "text", "none"]
    class_name: str
    value: Nested = None
    spread: Spread | None = None


class TupleRecord(
    msgspec.Struct, frozen=True, gc=False, kw_only=True, tag="tuple", tag_field="kind", omit_defaults=True
):
    """A tuple, list or torch.Size; at most 64 items are recorded of `length`."""

    class_name: str
    length: Count
    items: "tuple[Record, ...]" = ()


class ModuleRecord(
    msgspec.Struct, frozen=True, gc=False, kw_only=True, tag="module", tag_field="kind", omit_defaults=True
):
    """An nn.Module: its parameters and buffers by dotted name."""

    class_name: str
    training: bool = True
    parameters: dict[str, TensorRecord] = {}
    buffers: dict[str, TensorRecord] = {}


class OptimizerRecord(
    msgspec.Struct, frozen=True, gc=False, kw_only=True, tag="optimizer", tag_field="kind", omit_defaults=True
):
    """An optimizer: the numbers of its parameter groups, and which tensors it is to update.

    Attributes:
        leaves: of each tensor the storage (`TensorRecord.storage`), and whether it requires grad.
    """

    class_name: str
    groups: tuple[dict[str, Nested], ...] = ()
    leaves: tuple[tuple[Size, bool], ...] = ()


class ArrayRecord(
    msgspec.Struct, frozen=True, gc=False, kw_only=True, tag="array", tag_field="kind", omit_defaults=True
):
    """A numpy array."""

    dtype: str
    shape: Shape
    value: Nested = None

    def __post_init__(self) -> None:
        """Refuse values that are not as many as the shape has, also where a message is read.

        Raises:
            ValueError: there are more, or fewer.
        """
        if self.value is not None and self.shape:
            _require_shape(self.value, self.shape)


class ObjectRecord(
    msgspec.Struct, frozen=True, gc=False, kw_only=True, tag="object", tag_field="kind", omit_defaults=True
):
    """Anything else: its class is told, and of what a trusted program made a few `words`."""

    class_name: str
    words: str = ""


Record = TensorRecord | PlainRecord | TupleRecord | ModuleRecord | OptimizerRecord | ArrayRecord | ObjectRecord


_LISTS = (list, tuple)
_TYPES = frozenset(_LISTS)


def _require_shape(value: object, shape: tuple[int, ...]) -> None:
    """Compare nested lists with a shape; below its last dimension a complex number may be a pair."""
    if not isinstance(value, _LISTS) or len(value) != shape[0]:
        raise ValueError(f"values do not have the shape {shape}")
    if len(shape) == 2:  # most have two dimensions, and a message has thousands of them
        if not (_TYPES.issuperset(map(type, value)) and {shape[1]}.issuperset(map(len, value))):
            raise ValueError(f"values do not have the shape {shape}")
    elif len(shape) > 2:
        for part in value:
            _require_shape(part, shape[1:])
