"""The modules that cards show: who switched their mode, and which statement wrote into their buffers."""

from collections.abc import Callable
from typing import NamedTuple

from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from gradstudio.engine.gradient.leaf_writes import LeafWrite
from gradstudio.engine.gradient.tensor_watch import lives_in_storage
from gradstudio.engine.value.value_records import serial_of
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.events import ModeState

Place = tuple[ItemId, int]
"""Node, output."""


class Buffer(NamedTuple):
    """A buffer as last looked at: of which part of a module, under which name, and where it lived."""

    owner: nn.Module
    name: str
    tensor: Tensor
    version: int
    storage: int


class ModuleWatch:
    """The mode and the buffers of every module that a statement gave, as they were when last looked at.

    Attributes:
        places: who gave which module, and whether that trained.
    """

    def __init__(self) -> None:
        """There are no modules."""
        self.places: dict[Place, tuple[nn.Module, bool]] = {}
        self._buffers: dict[tuple[int, str], Buffer] = {}

    def made(self, place: Place, module: nn.Module) -> None:
        """A statement has given a module."""
        before = self.places.get(place)
        self.places[place] = module, module.training
        if before is not None and before[0] is not module:
            self._forget_unheld()
        for part in module.modules():
            for name in part._buffers:
                if (id(part), name) not in self._buffers:
                    self._see(part, name)

    def new_pass(self, stays: Callable[[ItemId], bool]) -> None:
        """Another pass begins: `stays` keeps the modules of set-up."""
        self.places = {place: held for place, held in self.places.items() if stays(place[0])}
        self._forget_unheld()

    def modes(self) -> tuple[ModeState, ...]:
        """The modules that stand in another mode than when last looked at."""
        other = [place for place, (module, training) in self.places.items() if module.training != training]
        for place in other:
            module, training = self.places[place]
            self.places[place] = module, not training
        return tuple([ModeState(node, output, self.places[node, output][1]) for node, output in other])

    def writes(self) -> tuple[LeafWrite, ...]:
        """The buffers that were written into, or replaced, since they were last looked at.

        A batch norm counts a version only of the number of its batches: of a module that wrote into one all are told.
        """
        parts = {
            id(owner): owner
            for owner, name, tensor, version, _ in self._buffers.values()
            if (now := owner._buffers.get(name)) is not tensor or now._version != version
        }
        found = list[LeafWrite]()
        for part in parts.values():
            for name in part._buffers:
                before = self._buffers.get((id(part), name))
                now = self._see(part, name)
                if before is not None and now is not None:
                    found.append(LeafWrite(now, before.storage))
        return tuple(found)

    def living_in(self, storages: set[int]) -> tuple[LeafWrite, ...]:
        """The buffers that live in these storages, as they are now."""
        found = [buffer for buffer in self._buffers.values() if buffer.storage in storages]
        for buffer in found:
            self._see(buffer.owner, buffer.name)
        return tuple([LeafWrite(buffer.tensor, buffer.storage) for buffer in found])

    def _see(self, part: nn.Module, name: str) -> Tensor | None:
        """Look at a buffer; one that counts no version, or has no memory yet, is not watched."""
        tensor, key = part._buffers[name], (id(part), name)
        if tensor is None or is_lazy(tensor) or tensor.is_inference() or not lives_in_storage(tensor):
            self._buffers.pop(key, None)
            return None
        self._buffers[key] = Buffer(part, name, tensor, tensor._version, serial_of(tensor.untyped_storage()))
        return tensor

    def _forget_unheld(self) -> None:
        held = {id(part) for module, _ in self.places.values() for part in module.modules()} if self._buffers else ()
        self._buffers = {key: buffer for key, buffer in self._buffers.items() if key[0] in held}
