"""Layers, parameters, buffers and constants as statements that make them with the module's own values."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from gradstudio.engine.bring.constructor_trace import Chain
from gradstudio.engine.bring.forward_recorder import Call
from gradstudio.engine.bring.layer_constructors import SWITCHED, LayerConstructor, tensors_of
from gradstudio.engine.bring.tensor_storage import as_stored, line_of
from gradstudio.engine.bring.value_literals import small_tensor
from gradstudio.engine.bring.variable_names import Names
from gradstudio.graph.model import StoredTensor


@dataclass(frozen=True)
class ModuleState:
    """What the module brought with it.

    Attributes:
        leaves: by id of a parameter or buffer: its path, and itself.
        layers: by id of a parameter or buffer, the stock layer it belongs to, and that one's path.
        makers: by id of a stock layer.
        state: by id, the value of a parameter or buffer before the forward.
        constants: by id, the value of a tensor from nowhere.
        set_up: the calls of the constructor.
    """

    leaves: dict[int, tuple[str, Tensor]]
    layers: dict[int, tuple[nn.Module, str]]
    makers: dict[int, LayerConstructor]
    state: dict[int, Tensor]
    constants: dict[int, Tensor]
    set_up: list[Call]


class LeafStatements:
    """Makes the statements, each once.

    Attributes:
        names: by id of a tensor, the expression that stands for it.
        layers: by id of a layer, its name.
        may_draw: random numbers may be drawn where the next lines go, as the constructor did.
        top: lines of stored weights, for the top of the text.
        tensors: the stored tensors, by digest.
    """

    def __init__(self, given: ModuleState, names: Names, stored: frozenset[int], stem: str, title: str) -> None:
        """Nothing is made yet."""
        self._given = given
        self._names = names
        self._stored = stored
        self._stem = stem
        self._title = title
        self.names: dict[int, str] = {}
        self.layers: dict[int, str] = {}
        self.top: list[str] = []
        self.may_draw = True
        self.tensors: dict[str, StoredTensor] = {}

    def layer(self, layer: nn.Module, path: str) -> list[str]:
        """The lines that construct a layer and give it the module's values; none when it is there."""
        if id(layer) in self.layers:
            return []
        name = self.layers[id(layer)] = self.name_for(path or type(layer).__name__.lower())
        maker = self._given.makers[id(layer)]
        lines = [f"{name} = {maker.text}", *self._switches(layer, name)]
        frozen = lines[-1].endswith("requires_grad_(False)")
        for key, tensor in tensors_of(layer).items():
            lines += self._within(maker, f"{name}.{key}", key, tensor, frozen)
        return lines

    def leaf(self, tensor: Tensor) -> list[str]:
        """The lines that make a parameter, a buffer or a constant known, by the name in `names`."""
        owner = self.owner_of(tensor)
        if owner is not None:
            return self.layer(*owner)
        if id(tensor) in self._given.leaves:
            path, leaf = self._given.leaves[id(tensor)]
            value = self._given.state[id(tensor)]
        else:
            path, leaf, value = "constant", tensor, self._given.constants[id(tensor)]
        small = small_tensor(value)
        name = self._names.fresh(path)
        self.names[id(tensor)] = name
        chain = Chain(self._given.set_up, tensor, lambda data: self._made(leaf, data), self._names.fresh)
        can = (self.may_draw or not chain.draws) and id(tensor) not in self._stored
        if can and (small is None or chain.draws) and (lines := chain.lines(name)) is not None:
            return lines
        if small is None:
            self.top.append(f"{name} = {self._made(leaf, self._stored_line(value, path))}")
            return []
        return [f"{name} = {self._made(leaf, small)}"]

    def owner_of(self, tensor: Tensor) -> tuple[nn.Module, str] | None:
        """The layer that it is a parameter or buffer of, and that one's path, while no line has made it."""
        owner = self._given.layers.get(id(tensor))
        return owner if owner is not None and id(owner[0]) not in self.layers else None

    def fresh(self, wish: str) -> str:
        """A name that nothing has yet."""
        return self._names.fresh(wish)

    def name_for(self, wish: str) -> str:
        """How a layer is called: a name that nothing has yet."""
        return self.fresh(wish)

    def _switches(self, layer: nn.Module, name: str) -> list[str]:
        lines = []
        if not layer.training and any(word in type(layer).__name__ for word in SWITCHED):
            lines.append(f"{name}.eval()")
        parameters = list(layer.parameters())
        if parameters and not any(parameter.requires_grad for parameter in parameters):
            lines.append(f"{name}.requires_grad_(False)")
        return lines

    def _within(self, maker: LayerConstructor, expression: str, key: str, tensor: Tensor, frozen: bool) -> list[str]:
        """What one parameter or buffer of a layer needs."""
        if id(tensor) in self.names:  # tied: one tensor with two names
            shared = self.names[id(tensor)]
            return [] if shared == expression else [f"{expression} = {shared}"]
        self.names[id(tensor)] = expression
        value, same = self._given.state[id(tensor)], maker.same.get(key)
        if (same is not None and bits_equal(same, value)) or (same is None and id(tensor) not in self._stored):
            melted = isinstance(tensor, nn.Parameter) and not tensor.requires_grad and not frozen
            return [f"{expression}.requires_grad_(False)"] if melted else []
        small = small_tensor(value)
        if small is not None:
            return [f"{expression} = {self._made(tensor, small)}"]
        name = self._names.fresh(expression.replace(".", "_"))
        self.top.append(f"{name} = {self._made(tensor, self._stored_line(value, expression))}")
        return [f"{expression} = {name}"]

    def _made(self, tensor: Tensor, text: str) -> str:
        if not isinstance(tensor, nn.Parameter):
            return text
        return f"nn.Parameter({text}{'' if tensor.requires_grad else ', requires_grad=False'})"

    def _stored_line(self, value: Tensor, path: str) -> str:
        stored = as_stored(value, f"{path} of {self._title}")
        self.tensors[stored.digest] = stored
        return line_of(stored, self._stem)


def bits_equal(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape, dtype and bits; NaN equals the same NaN, 0.0 is not -0.0."""
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    first, second = (t.detach().resolve_conj().resolve_neg().contiguous().reshape(-1) for t in (one, other))
    if first.numel() == 0:
        return True
    if first.is_complex():
        first, second = torch.view_as_real(first), torch.view_as_real(second)
    return torch.equal(first.view(torch.uint8), second.view(torch.uint8))
