"""What is asked and answered before a run (semantics §16): shapes, refusals, memory, whether a wire would work."""

import msgspec

from gradstudio.graph.model import ItemId
from gradstudio.program.model import Program
from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.messages.bounds import Count, Shape, Size


class Infer(Message, frozen=True):
    """Say shapes, dtypes and refusals of a program's nodes without running it.

    Attributes:
        program: None: the one that was loaded last.
        run_small: tiny values that the text alone decides may be computed for real; False works on
            stand-ins without data only.
        document: whose program it is, echoed in the answer: two documents may have the same revision.
    """

    revision: Size
    program: Program | None = None
    tensors: dict[str, bytes] = msgspec.field(default_factory=dict)
    run_small: bool = True
    document: str = ""


class LeafInference(msgspec.Struct, frozen=True, omit_defaults=True):
    """A parameter or a buffer that a module will hold, by its dotted path in it."""

    path: str
    shape: Shape
    dtype: str
    requires_grad: bool = False
    buffer: bool = False


class Need(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Memory that a whole program is expected to hold at once, on a device that has less free.

    Attributes:
        bytes: values that are alive together, and gradients of what requires grad; a lower bound.
        free_bytes: what the device has now.
        node: where the sum first exceeds what is free.
    """

    device: str
    bytes: Size
    free_bytes: Size
    node: ItemId


class PortInference(msgspec.Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """What inference says of one output: a hint until a run confirms it.

    Attributes:
        need: here the program is expected to exceed the memory; the window notes it, from `Inferred.needs`.
        leaves: parameters, then buffers, of an output that is a module; None: it is none, or nothing is known.
    """

    node: ItemId
    output: Count = 0
    dtype: str = ""
    shape: Shape | None = None
    device: str = ""
    requires_grad: bool = False
    refusal: str = ""
    known_after_run: bool = False
    leaves: tuple[LeafInference, ...] | None = None
    need: Need | None = None


class Inferred(Message, frozen=True):
    """Answer to `Infer`, whose document and revision it names.

    Attributes:
        needs: the devices whose memory would not suffice.
    """

    revision: Size
    ports: tuple[PortInference, ...]
    needs: tuple[Need, ...] = ()
    document: str = ""


class Inferring(Message, frozen=True):
    """Shapes are still being looked for, at this statement now; said before each one that is tried.

    Attributes:
        revision: of the program; of a wire that is tried the number of the request.
        node, line: "" and 0 while what inference needs is being loaded.
    """

    revision: Size
    node: ItemId = ItemId("")
    line: Count = 0


class Estimate(Message, frozen=True):
    """Say what the program that was loaded last needs; unlike `Infer` it is answered at once."""


class Estimated(Message, frozen=True):
    """Answer to `Estimate`: the devices whose memory would not suffice."""

    needs: tuple[Need, ...] = ()


class LookAtData(Message, frozen=True):
    """Send the data that statements of the loaded program give, as a run from nothing makes them.

    Nothing is run for it but what stands above, silently, and only where that is little. It waits until nothing else
    is asked; a newer one takes its place.
    """

    request: Size
    nodes: tuple[ItemId, ...]


class DataLooked(Message, frozen=True):
    """Answer to `LookAtData`.

    Attributes:
        tensors: what the statements give, each as a safetensors file with one tensor named "data".
        error: why it cannot be told before a run; "" when it is told, or may be when it is asked for once more.
    """

    request: Size
    tensors: tuple[bytes, ...] = ()
    error: str = ""


class TryWire(Message, frozen=True):
    """Would this wire work? The program is compiled with the wire in place; nothing runs for it but stand-ins.

    Attributes:
        target: the node the wire would end in.
    """

    request: Size
    program: Program
    target: ItemId
    tensors: dict[str, bytes] = msgspec.field(default_factory=dict)


class WireTried(Message, frozen=True):
    """Answer to `TryWire`: torch's refusal at the target ("" when there is none) and what it would give."""

    request: Size
    target: ItemId
    refusal: str = ""
    outputs: tuple[PortInference, ...] = ()
