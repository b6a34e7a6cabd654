"""What is said of a distributed tensor: which part of it is shown. No Qt."""

from gradstudio.protocol.messages.records import Shard, Summary
from gradstudio.scene import value_format


def shape_words(summary: Summary) -> str:
    """The shape of what is shown; of a part also that of the whole: ``[3, 4] of [6, 4]``."""
    own = value_format.shape(summary.shape)
    return f"{own} of {value_format.shape(summary.whole_shape)}" if summary.is_part else own


def placement_words(summary: Summary) -> str:
    """How the whole is shared out, and where the part lies: ``Shard(0) over 2 ranks, from [3, 0]``; "" of no part."""
    shard = summary.shard
    if shard is None:
        return ""
    over = " × ".join(map(str, shard.mesh))
    ranks = f"{over} rank{'s' * (shard.mesh != (1,))}"
    return f"{', '.join(shard.placements)} over {ranks}{_place(shard)}"


def _place(shard: Shard) -> str:
    if not shard.is_part or not any(shard.offset):
        return ""
    return f", from {value_format.shape(shard.offset)}"
