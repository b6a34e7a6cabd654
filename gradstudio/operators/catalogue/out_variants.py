"""Rows that write their results into tensors that are given: ``torch.add(x, y, out=z)``. No torch here.

They stand beside the row without ``out``, and are made from it when somebody asks: the library shows one of the two.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from gradstudio.operators.model import Effect, Kind, Operator, Parameter

OUT: Final = "out"
_SUFFIX: Final = ":out"
_FURTHER: Final = "_out"
_HINT: Final = "the tensor that takes the result; it is resized where it has another shape"
_HINT_OF_SEVERAL: Final = "the tensors that take the results, in their order"


def out_row(row: Operator) -> Operator:
    """The row that writes its results into ``out``; only of one that `fills`."""
    count = len(row.results)
    kind = Kind.TENSOR if count == 1 else Kind.TENSORS
    kind = Kind.ANY if row.path.startswith("numpy.") else kind
    out = Parameter(OUT, kind, keyword_only=True, hint=_HINT if count == 1 else _HINT_OF_SEVERAL)
    return msgspec.structs.replace(
        row,
        key=key_of(row.key),
        title=f"{row.title} (out)",
        summary=f"{row.summary}, into a tensor that is there",
        parameters=(*row.parameters, out),
        effects=tuple(dict.fromkeys((*row.effects, Effect.IN_PLACE))),
        writes=(OUT,) if count == 1 else tuple(f"{OUT}.{k}" for k in range(count)),
        view=False,
        cuts=False,
        words=(*row.words, "out=", "into"),
        target=row.path,
        fills=False,
        rare=True,
    )


def key_of(key: str) -> str:
    """The key of the row with ``out`` beside the row of this key."""
    return f"{key}{_FURTHER}" if ":" in key else f"{key}{_SUFFIX}"


def plain_key(key: str) -> str:
    """The key of the row without ``out``; the key itself when it is one."""
    if key.endswith(_SUFFIX):
        return key.removesuffix(_SUFFIX)
    return key.removesuffix(_FURTHER) if ":" in key else key


def written_port(writes: Sequence[str], output: int) -> str:
    """The port whose object a result of an in-place operator is; "" when it writes into none."""
    return writes[min(output, len(writes) - 1)] if writes else ""
