"""What passes between window and the porter of a host, who stands between its engine and the line.

None of it reaches the engine.
"""

from typing import Annotated

from msgspec import Meta

from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.messages.bounds import Moment, Size

Digest = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
"""Sha256 in hex."""


class Beat(Message, frozen=True):
    """Somebody is here; said once a second, so that a line that fell silent is seen there.

    Attributes:
        heard: how many messages of the engine came.
    """

    heard: Size = 0


class Needs(Message, frozen=True):
    """What follows needs these stored tensors: bytes of each, by digest."""

    tensors: dict[Digest, Size]


class Piece(Message, frozen=True):
    """A part of a stored tensor, in order.

    Attributes:
        is_packed: `data` is compressed by zlib, for itself.
        is_last: the tensor is whole with it.
    """

    digest: Digest
    data: bytes
    is_packed: bool = False
    is_last: bool = False


class Stay(Message, frozen=True):
    """The engine is to go on when the line breaks, and can be joined under this name. A `Staying` says that it does.

    Attributes:
        title: what a person calls what runs.
        ends: it is to end with the line again.
    """

    name: Annotated[str, Meta(pattern="^[0-9a-f]{32}$")]
    title: str = ""
    ends: bool = False


class Document(Message, frozen=True):
    """What is drawn where the next program comes from, kept there for whoever takes the engine up elsewhere.

    Attributes:
        name, revision: as `Load` has them.
        text: of the file, with its stored tensors; empty when they are too large for that.
    """

    name: Annotated[str, Meta(max_length=200)]
    revision: Size
    text: bytes


class Join(Message, frozen=True):
    """Somebody takes the engine up who has heard so many of its messages.

    Attributes:
        is_new: it is another window: the document comes first, and all that is kept of the run.
    """

    heard: Size = 0
    is_new: bool = False


class Ask(Message, frozen=True):
    """Who is there? A `Staying` answers."""


class Leave(Message, frozen=True):
    """The engine is to end, whatever it does."""


class Staying(Message, frozen=True):
    """An engine that stays, as it says after a `Stay` and to who asks; after a `Join` this follows what was missed.

    Attributes:
        is_busy: a verb is under way.
        is_joined: somebody is on the line.
        has_ended: the engine is no more; what it said is there until somebody has taken it.
        since_s: when it was started, seconds of the host's clock since 1970.
        lost: how many messages could not be kept for who joins now.
        said: how many messages of the engine there were.
    """

    name: str
    title: str
    is_busy: bool
    is_joined: bool
    since_s: Moment
    pid: Size
    lost: Size = 0
    said: Size = 0
    has_ended: bool = False


class Handover(Message, frozen=True):
    """Another window has taken the engine up: it hears what follows."""


class Lacking(Message, frozen=True):
    """These stored tensors are not on the host; what needs them waits there until they came."""

    digests: tuple[Digest, ...]


PorterRequest = Beat | Needs | Piece | Stay | Document | Join | Ask | Leave
"""What a porter keeps for itself; all else it hands to the engine."""


class TrainThere(Message, frozen=True):
    """A training script is to run under torchrun; the files are those that the host was told of as stored tensors.

    Attributes:
        name: of the folder there, in which its files lie.
        files: digests, by their place in the folder.
        script: which of them it is.
        of_torchrun, of_script: options.
        lines: where the script writes its metrics, in the folder.
        names_ranks: each line that one of several ranks prints has its number before it.
    """

    name: Annotated[str, Meta(pattern="^[A-Za-z0-9_-]{1,100}$")]
    files: dict[str, Digest]
    script: str
    of_torchrun: tuple[str, ...] = ()
    of_script: tuple[str, ...] = ()
    lines: str = ""
    names_ranks: bool = False
