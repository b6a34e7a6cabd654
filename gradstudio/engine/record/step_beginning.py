"""The statements by which a run of a recorded step begins with what was there before it."""

from collections.abc import Collection, Iterable, Iterator, Sequence

from torch import Tensor, nn

from gradstudio.engine.bring.errors import Inexpressible
from gradstudio.engine.bring.tensor_storage import as_stored, line_of
from gradstudio.engine.bring.value_literals import literal, small_tensor
from gradstudio.engine.bring.variable_names import Names
from gradstudio.engine.clean_modes import clean_modes
from gradstudio.engine.record.kept_values import KeptValues, in_one
from gradstudio.engine.record.step_values import MAX_VALUES
from gradstudio.engine.value.value_records import record_of
from gradstudio.graph.model import ItemId, StoredTensor
from gradstudio.protocol.messages.events import Row

IMPORTS = ("from pathlib import Path", "from safetensors.torch import load_file", "", "HERE = Path(__file__).parent")
BEGIN_WITH = """
def {name}(layers, weights):
    state = layers.state_dict().values()
    for tensor, value in zip(state, weights.split([tensor.numel() for tensor in state])):
        tensor.copy_(value.view_as(tensor))"""
"""Each tensor takes its part in place, so that it begins in memory where torch would put it: sums come out the same."""


class StepBeginning:
    """Writes the statements.

    Attributes:
        head: lines above the step: imports and a function.
        tensors: what they load, by digest.
        values: by name, what a statement gives that the script has not.
        effects: texts of statements that give nothing.
    """

    def __init__(self, kept: KeptValues, stem: str, title: str, names: Names) -> None:
        """Nothing is written yet; tensors lie beside a document of that stem."""
        self.head = list(IMPORTS)
        self.tensors: dict[str, StoredTensor] = {}
        self.values: dict[str, Tensor] = {}
        self.effects: list[str] = []
        self._kept = kept
        self._stem = stem
        self._title = title
        self._names = names

    def weights(self, layers: str, tensors: Iterable[Tensor]) -> Iterator[str]:
        """Give a list of layers what it had; `tensors` is what its state holds, in that order.

        Raises:
            Inexpressible: something of it is not known.
        """
        whole = in_one(tensors, self._kept.values)
        if whole is None:
            raise Inexpressible("What a layer began with is not known.")
        function, name = self._names.fresh("begin_with"), self._names.fresh("weights")
        self.head += BEGIN_WITH.format(name=function).split("\n")
        self.values[name] = whole
        self.effects.append(f"{function}({layers}, {name})")
        yield f"{name} = {self._stored(whole, 'weights')}"
        yield self.effects[-1]

    def leaf(self, tensor: Tensor, name: str) -> str:
        """The expression for a tensor as it was.

        Raises:
            Inexpressible: it is of a dtype that cannot be stored.
        """
        value = self._kept.values[id(tensor)]
        text = small_tensor(value) or self._stored(value, name)
        if not value.is_contiguous() and value.numel() > 1:
            dtype = f", dtype={value.dtype}"
            text = f"torch.empty_strided({literal(tuple(value.shape))}, {literal(value.stride())}{dtype}).copy_({text})"
        if isinstance(tensor, nn.Parameter):
            return f"nn.Parameter({text}{'' if tensor.requires_grad else ', requires_grad=False'})"
        learns = tensor.requires_grad and tensor.grad_fn is None
        return f"{text}.requires_grad_()" if learns else text

    def random_numbers(self) -> Iterator[str]:
        """Let random numbers go on as they did, where some were drawn."""
        if self._kept.drew():
            name = self._names.fresh("random_state")
            self.values[name] = self._kept.random
            self.effects.append(f"torch.set_rng_state({name})")
            yield f"{name} = {self._stored(self._kept.random, 'state of random numbers')}"
            yield self.effects[-1]

    def names(self) -> dict[ItemId, str]:
        """By provisional id, the name of each of `values`."""
        return {ItemId(f"kept{place}"): name for place, name in enumerate(self.values)}

    def lines(self, text: str) -> dict[int, int]:
        """By line of the text (from 1), the number of each of `effects`, from -1 down."""
        every = text.split("\n")
        return {every.index(effect) + 1: -1 - place for place, effect in enumerate(self.effects)}

    def rows(self) -> list[Row]:
        """What the statements gave, by provisional ids."""
        with clean_modes():
            given = [(node, (record_of(self.values[name], MAX_VALUES),)) for node, name in self.names().items()]
        nothing = [(ItemId(str(-1 - place)), ()) for place in range(len(self.effects))]
        return [Row(step=0, node=node, outputs=outputs) for node, outputs in (*given, *nothing)]

    def _stored(self, value: Tensor, what: str) -> str:
        stored = as_stored(value, f"{what} before the step of {self._title}")
        self.tensors[stored.digest] = stored
        return line_of(stored, self._stem)


def state_of(modules: Sequence[nn.Module]) -> list[Tensor]:
    """What the state of a list of these holds, in its order."""
    return list(nn.ModuleList(modules).state_dict(keep_vars=True).values())


def check_parts(folded: Iterable[nn.Module], around: Collection[int]) -> None:
    """What a folded module holds stands in it alone: else a run would learn two where there was one.

    `around`: identities of what has a name outside of them.

    Raises:
        Inexpressible: a parameter stands in two of them, or outside of them, too.
    """
    held = [id(parameter) for module in folded for parameter in module.parameters()]
    if len(set(held)) < len(held) or any(one in around for one in held):
        raise Inexpressible("A part of a module that is drawn as one statement is used elsewhere, too.")
