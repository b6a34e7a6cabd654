"""Tensors that autograd nodes keep for their backward: looked at before it runs, never held, never changed."""

from functools import cache

from torch import Tensor
from torch.autograd.graph import Node
from torch.nn import Parameter

from gradstudio.engine.gradient.gradient_registry import Gradients
from gradstudio.engine.gradient.wire_edges import MARK, Marks
from gradstudio.engine.value.identity import identity
from gradstudio.engine.value.tensor_summary import DTYPE_NAMES, dtype_name
from gradstudio.engine.value.view_state import grad_fn_of
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.backward_trace import SavedTensor

RAW, SAVED = "_raw_saved_", "_saved_"
NOBODY = (ItemId(""), 0)
_TENSORS = frozenset({Tensor, Parameter})


class SavedReader:
    """Reads what nodes have saved, and whose value each is."""

    def __init__(self, gradients: Gradients) -> None:
        """Values are known to `gradients`."""
        self._gradients = gradients
        self._by_identity: dict[int, tuple[ItemId, int]] | None = None

    def of(self, node: Node) -> tuple[SavedTensor, ...]:
        """What the node keeps now; what torch refuses to show (released, overwritten) is left out."""
        names = _names(type(node))
        if not names:
            return ()
        found: list[SavedTensor] = []
        for attribute, name in names:
            try:
                value = getattr(node, attribute)
            except RuntimeError:
                continue
            if value.__class__ in _TENSORS:
                found.append(self._one(name, value))
            elif value is not None:
                found += [self._one(each, tensor) for each, tensor in _each(name, value)]
        return tuple(found)

    def _one(self, name: str, tensor: Tensor) -> SavedTensor:
        owner, output = self._whose(tensor)
        try:
            version: int | None = tensor._version
        except RuntimeError:  # one of inference mode has none
            version = None
        kind = tensor.dtype
        return SavedTensor(
            name=name,
            dtype=DTYPE_NAMES.get(kind) or dtype_name(kind),
            shape=tuple(tensor.shape),
            size_bytes=tensor.numel() * kind.itemsize,
            version=version,
            node=owner,
            output=output,
        )

    def _whose(self, tensor: Tensor) -> tuple[ItemId, int]:
        if not tensor._is_view():
            node = tensor.grad_fn
        elif tensor.requires_grad:
            node = grad_fn_of(tensor)
        else:
            node = None
        if node is not None:
            marks: Marks | None = node.metadata.get(MARK)  # type: ignore[attr-defined]  # a dict, typed as a method
            number = tensor.output_nr
            for key, _, output, _ in marks.values if marks is not None else ():
                if output == number:
                    return key[0], key[1]
            return NOBODY
        if self._by_identity is None:
            edgeless = self._gradients.edgeless()
            self._by_identity = {identity(v.tensor): v.key[:2] for v in edgeless if v.tensor is not None}
        return self._by_identity.get(identity(tensor), NOBODY)


def saved_tensors(node: Node) -> list[tuple[str, Tensor]]:
    """(name, tensor) of what the node keeps now; what torch refuses to show (released, overwritten) is left out."""
    found: list[tuple[str, Tensor]] = []
    for attribute, name in _names(type(node)):
        try:
            value = getattr(node, attribute)
        except RuntimeError:
            continue
        found += _each(name, value)
    return found


def _each(name: str, value: object) -> list[tuple[str, Tensor]]:
    """A saved tensor, or those in a list of them."""
    if isinstance(value, Tensor):
        return [(name, value)]
    items = enumerate(value) if isinstance(value, tuple) else ()
    return [(f"{name}.{place}", item) for place, item in items if isinstance(item, Tensor)]


def is_released(node: Node, name: str) -> bool:
    """Whether torch has let go of what the node had saved under this name."""
    try:
        raw = getattr(node, RAW + name, None)
        if raw is not None and hasattr(raw, "data"):  # to be told so by an error takes as long as ten operators
            return raw.data is None
        for attribute, _ in _names(type(node)):
            getattr(node, attribute)
    except RuntimeError as error:
        return "a second time" in str(error) or "freed" in str(error)
    return False


@cache
def _names(kind: type[Node]) -> tuple[tuple[str, str], ...]:
    """(attribute, name) of the tensors that a class of autograd nodes saves."""
    raw = [name.removeprefix(RAW) for name in dir(kind) if name.startswith(RAW)]
    names = [(SAVED + name, name) for name in raw if hasattr(kind, SAVED + name)]
    return (*names, ("saved_tensors", "tensors")) if hasattr(kind, "saved_tensors") else tuple(names)
