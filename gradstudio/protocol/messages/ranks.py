"""Several ranks of one program: what they are told, and one value over them.

Of a value: equal or not, the least and the most, and which ranks hold a NaN. A rank begins with a spread of its own
(`Spread.of`), and those of different ranks become one by ``|``. That is associative and commutative to the last bit,
for nothing is summed: a tree over the ranks may join them in any order, and what it sends upward is about as large for
a thousand ranks as for two.
"""

from typing import Annotated, Protocol, Self, TypeGuard

import msgspec

from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.messages.bounds import Count, Size

NAMED_RANKS = 8
"""So many ranks are told by number, the lowest ones."""
Digest = Annotated[bytes, msgspec.Meta(max_length=32)]
Named = Annotated[tuple[Count, ...], msgspec.Meta(max_length=NAMED_RANKS)]
Layout = Annotated[str, msgspec.Meta(max_length=2000)]
Number = float | int


class Meet(Message, frozen=True):
    """To every rank before a verb: where a program that begins from nothing meets the others (``MASTER_PORT``)."""

    port: Count


class LookAt(Message, frozen=True):
    """To the leader: the window shows this rank from now on. What the rank has said of its newest run follows."""

    rank: Size


class Figures(Protocol):
    """What a `Summary` says of a tensor's numbers."""

    @property
    def dtype(self) -> str:
        """As torch calls it."""

    @property
    def shape(self) -> tuple[int, ...]:
        """On that rank."""

    @property
    def minimum(self) -> Number | None:
        """Of finite values."""

    @property
    def maximum(self) -> Number | None:
        """Of finite values."""

    @property
    def mean(self) -> float | None:
        """Of finite values."""

    @property
    def rms(self) -> float | None:
        """Of finite values."""

    @property
    def nan(self) -> int:
        """How many."""

    @property
    def posinf(self) -> int:
        """How many."""

    @property
    def neginf(self) -> int:
        """How many."""


class Range(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A figure's least and most over ranks, each with the lowest rank that has it."""

    least: Number
    least_rank: Count
    most: Number
    most_rank: Count

    def is_of(self, rank: int) -> bool:
        """Whether it is of this rank alone."""
        return self.least_rank == self.most_rank == rank

    def __or__(self, other: Self) -> Self:
        """Over the ranks of both."""
        low = min((self.least, self.least_rank), (other.least, other.least_rank))
        high = min((-self.most, self.most_rank), (-other.most, other.most_rank))
        return type(self)(*low, -high[0], high[1])


class Holders(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """How many ranks hold something, and the lowest `NAMED_RANKS` of them in their order."""

    count: Count = 0
    ranks: Named = ()

    def __or__(self, other: Self) -> Self:
        """Over the ranks of both."""
        if not other.count:
            return self
        if not self.count:
            return other
        return type(self)(self.count + other.count, tuple(sorted(self.ranks + other.ranks)[:NAMED_RANKS]))


NOBODY = Holders()


class Spread(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A value, or a gradient, over ranks.

    Attributes:
        ranks: how many have told it.
        layout: their dtype and shape; "" where they differ.
        digest: of their bytes; b"" where they differ, or were not compared.
        minimum, maximum, mean, rms: of the ranks that have such a figure; None where no rank has.
        nan, infinite: ranks that hold a NaN, or an infinity.
        parts: each rank holds a part of its own, so whether they are equal is no question.
        missing: how many have not told it, as the leader says.
    """

    ranks: Count
    layout: Layout
    digest: Digest = b""
    minimum: Range | None = None
    maximum: Range | None = None
    mean: Range | None = None
    rms: Range | None = None
    nan: Holders = NOBODY
    infinite: Holders = NOBODY
    parts: bool = False
    missing: Count = 0

    @classmethod
    def of(cls, rank: int, figures: Figures, digest: bytes = b"") -> Self:
        """Of one rank, whose value has this summary; `digest` is of its bytes, where they are compared."""

        def range_of(figure: Number | None) -> Range | None:
            return None if figure is None else Range(figure, rank, figure, rank)

        here = Holders(1, (rank,))
        return cls(
            1, f"{figures.dtype} {list(figures.shape)}", digest, range_of(figures.minimum), range_of(figures.maximum),
            range_of(figures.mean), range_of(figures.rms), here if figures.nan else NOBODY,
            here if figures.posinf or figures.neginf else NOBODY,
        )  # fmt: skip

    @property
    def is_equal(self) -> bool:
        """Whether all hold the same bytes, as far as their digests tell; nobody knows it where ranks are missing."""
        return bool(self.digest and self.layout) and not self.missing

    def is_of(self, rank: int) -> bool:
        """Whether it is of this rank alone."""
        ranges = (self.minimum, self.maximum, self.mean, self.rms)
        is_only = self.ranks == 1 and not self.missing and all(one is None or one.is_of(rank) for one in ranges)
        return is_only and all(who in (NOBODY, Holders(1, (rank,))) for who in (self.nan, self.infinite))

    def __or__(self, other: Self) -> Self:
        """Over the ranks of both, which are others."""
        return type(self)(
            self.ranks + other.ranks,
            self.layout if self.layout == other.layout else "",
            self.digest if self.digest == other.digest else b"",
            _joined(self.minimum, other.minimum),
            _joined(self.maximum, other.maximum),
            _joined(self.mean, other.mean),
            _joined(self.rms, other.rms),
            self.nan | other.nan,
            self.infinite | other.infinite,
            self.parts or other.parts,
        )


def _joined(one: Range | None, other: Range | None) -> Range | None:
    if one is None or other is None:
        return one or other
    return one | other


def is_of_several(spread: Spread | None) -> TypeGuard[Spread]:
    """Whether it says anything over ranks: what came of one rank alone, as inside a backward, does not."""
    return spread is not None and spread.ranks + spread.missing > 1
