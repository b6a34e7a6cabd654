"""How stock layers were constructed: noted while the user's code makes them, and tried again before it is believed."""

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from gradstudio.engine.bring.value_literals import NotWritable, literal
from gradstudio.operators.catalogue.loader import load

NOTED = "_gradstudio_made"
"""Attribute of a layer that holds its class and what its constructor was given; copies of the layer have it too."""
CONTAINERS = frozenset({"Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict"})
SWITCHED = ("Dropout", "BatchNorm", "InstanceNorm", "RReLU", "Transformer", "Multihead", "LSTM", "GRU", "RNN")
"""Layers that train and evaluate differently, by what is in their names."""
MOST_KNOWN = 1024
_HOOKS = ("_forward_hooks", "_backward_hooks", "_forward_pre_hooks", "_backward_pre_hooks")


@dataclass(frozen=True)
class LayerConstructor:
    """A constructor that makes such a layer again.

    Attributes:
        text: ``nn.Linear(4, 8)``.
        same: parameters and buffers that come out the same whatever the random numbers are, and as what.
        draws: it draws random numbers.
    """

    text: str
    same: dict[str, Tensor]
    draws: bool


_KNOWN: dict[tuple[object, ...], LayerConstructor | None] = {}
"""What was found without memory, by all that it was found by."""


@functools.cache
def stock_classes() -> dict[str, type[nn.Module]]:
    """The layers of `torch.nn` that the catalogue has and that are drawn as one card."""
    found = {}
    for row in load():
        name = row.path.removeprefix("torch.nn.")
        made = getattr(nn, name, None) if row.path == f"torch.nn.{name}" else None
        if isinstance(made, type) and issubclass(made, nn.Module) and name not in CONTAINERS:
            found[name] = made
    return found


@contextmanager
def note_constructors(silence: Callable[[], AbstractContextManager[None]]) -> Iterator[None]:
    """While this lasts, each stock layer notes what its constructor is given, and constructs itself in `silence`."""
    kept: dict[type[nn.Module], Callable[..., None]] = {}
    for made in stock_classes().values():
        if "__init__" in vars(made):
            kept[made] = made.__init__
            setattr(made, "__init__", _noting(made, made.__init__, silence))  # noqa: B010 - mypy lets no method be assigned
    inherited = [made for made in stock_classes().values() if made not in kept]
    for made in inherited:
        setattr(made, "__init__", _noting(made, made.__init__, silence))  # noqa: B010
    try:
        yield
    finally:
        for made, init in kept.items():
            setattr(made, "__init__", init)  # noqa: B010
        for made in inherited:
            delattr(made, "__init__")


def _noting(
    made: type[nn.Module], init: Callable[..., None], silence: Callable[[], AbstractContextManager[None]]
) -> Callable[..., None]:
    @functools.wraps(init)
    def noting(self: nn.Module, *args: object, **kwargs: object) -> None:
        with silence():
            init(self, *args, **kwargs)
        if type(self) is made:
            self.__dict__[NOTED] = (made, args, kwargs)

    return noting


def constructor_of(module: nn.Module) -> LayerConstructor | None:
    """The constructor that makes this layer again, tried; None when it is no stock layer or nobody knows how."""
    if not is_stock(module):
        return None
    for positional, keywords in _ways(module):
        try:
            text, first, second, draws = _tried(module, positional, keywords)
        except (NotWritable, TypeError, ValueError, RuntimeError):
            continue
        if _alike(module, first):
            return LayerConstructor(text, _deterministic(tensors_of(first), tensors_of(second)), draws)
    return None


def is_stock(module: nn.Module) -> bool:
    """Whether it is a layer of torch's own that is drawn as one card, and nothing was changed about it."""
    return _is_stock(module) and not any(getattr(module, hooks) for hooks in _HOOKS)


def is_stock_inside(module: nn.Module) -> bool:
    """Whether what a call of it does itself is a stock layer's; hooks may stand around it or its gradients."""
    if not _is_stock(module) or module._forward_hooks_always_called:
        return False
    return not (module._forward_hooks and (module._backward_hooks or module._backward_pre_hooks))


def _is_stock(module: nn.Module) -> bool:
    return stock_classes().get(type(module).__name__) is type(module) and "forward" not in vars(module)


def constructor_as_noted(module: nn.Module) -> LayerConstructor | None:
    """How a stock layer is made, by its attributes; tried without memory, so that its values are not compared."""
    if NOTED in vars(module) or any(True for _ in module.children()):
        return _tried_without_memory(module)
    key = _looks(module)
    if key not in _KNOWN:
        if len(_KNOWN) >= MOST_KNOWN:
            _KNOWN.clear()
        _KNOWN[key] = _tried_without_memory(module)
    return _KNOWN[key]


def _looks(module: nn.Module) -> tuple[object, ...]:
    """All that the constructor of a layer without children is found by: such another one has the same."""
    kind = type(module)
    told = {name: _form_or_value(getattr(module, name, None)) for name in _parameters(kind)}
    forms = {name: _form(tensor) for name, tensor in tensors_of(module).items()}
    return kind, torch.get_default_dtype(), repr(told), repr(_settings(module)), repr(forms)


def _form_or_value(value: object) -> object:
    return _form(value) if isinstance(value, Tensor) else value


def _tried_without_memory(module: nn.Module) -> LayerConstructor | None:
    for positional, keywords in (_shortest_way(module), *_ways(module)):
        try:
            with torch.device("meta"):
                text, made, _, draws = _tried(module, positional, keywords)
        except (NotWritable, TypeError, ValueError, RuntimeError, NotImplementedError):
            continue
        if _alike(module, made):
            return LayerConstructor(text, {}, draws)
    return None


def _shortest_way(module: nn.Module) -> tuple[tuple[object, ...], dict[str, object]]:
    """By attributes as a person writes them: what is needed by position, and a size that is the same each way once."""
    positional: list[object] = []
    keywords: dict[str, object] = {}
    for name, parameter in _parameters(type(module)).items():
        value = getattr(module, name, parameter.default)
        value = value is not None if name == "bias" and isinstance(value, Tensor | None) else value
        if isinstance(value, tuple) and len(set(value)) == 1 and not isinstance(parameter.default, tuple):
            value = value[0]
        if parameter.default is parameter.empty and value is not parameter.empty and not keywords:
            positional.append(value)
        elif value is not parameter.default and value != parameter.default:
            keywords[name] = value
    return tuple(positional), keywords


def _parameters(kind: type[nn.Module]) -> Mapping[str, inspect.Parameter]:
    """What the constructor takes; those of recurrent layers say so only in their base."""
    if not issubclass(kind, nn.RNNBase):
        return _parameters_by_name(kind)
    found = dict(inspect.signature(nn.RNNBase).parameters)
    del found["mode"]
    return found


def _parameters_by_name(kind: Callable[..., object]) -> Mapping[str, inspect.Parameter]:
    """What a class takes, as its own signature says."""
    return _signature(kind).parameters


_signature = functools.cache(inspect.signature)


def _ways(module: nn.Module) -> Iterator[tuple[tuple[object, ...], dict[str, object]]]:
    """What the constructor may have been given: as it was noted, else by attributes of the same names."""
    noted_as = vars(module).get(NOTED)
    if noted_as is not None and noted_as[0] is type(module):
        yield noted_as[1], noted_as[2]
        yield noted_as[1], {**noted_as[2], "dtype": _dtype(module)}
    keywords: dict[str, object] = {}
    for name, parameter in _parameters_by_name(type(module)).items():
        value = getattr(module, name, parameter.default)
        value = value is not None if name == "bias" and isinstance(value, Tensor | None) else value
        if value is not parameter.default and value != parameter.default:
            keywords[name] = value
    yield (), keywords
    yield (), {**keywords, "dtype": _dtype(module)}


def _dtype(module: nn.Module) -> torch.dtype | None:
    return next((p.dtype for p in module.parameters() if p.dtype.is_floating_point), None)


def _tried(
    module: nn.Module, positional: tuple[object, ...], keywords: dict[str, object]
) -> tuple[str, nn.Module, nn.Module, bool]:
    """The text, two layers made by it from different random numbers, and whether it draws any."""
    keywords = {word: value for word, value in keywords.items() if not _is_nothing(word, value)}
    given = [literal(value) for value in positional]
    given += [f"{word}={literal(value)}" for word, value in keywords.items()]
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(1)  # torch.manual_seed looks for every other device as well
        before = torch.get_rng_state()
        first = type(module)(*positional, **keywords)
        draws = not torch.equal(before, torch.get_rng_state())
        torch.default_generator.manual_seed(2)
        second = type(module)(*positional, **keywords) if draws else first
    return f"nn.{type(module).__name__}({', '.join(given)})", first, second, draws


def _is_nothing(word: str, value: object) -> bool:
    """Whether an argument says what holds anyway."""
    return (word == "dtype" and value is None) or (word == "device" and (value is None or str(value) == "cpu"))


def _alike(module: nn.Module, twin: nn.Module) -> bool:
    """Whether two layers differ in no more than the values of their parameters and buffers."""
    mine, other = tensors_of(module), tensors_of(twin)
    if mine.keys() != other.keys() or any(_form(mine[key]) != _form(other[key]) for key in mine):
        return False
    return all(_settings(a) == _settings(b) for a, b in zip(module.modules(), twin.modules(), strict=True))


def _form(value: object) -> object:
    return (value.shape, value.dtype) if isinstance(value, Tensor) else type(value)


def _settings(module: nn.Module) -> dict[str, object]:
    """What a layer is told besides its tensors."""
    plain = (int, float, str, tuple, list, type(None))
    found = {k: v for k, v in vars(module).items() if isinstance(v, plain) and not k.startswith("_")}
    found.pop("training", None)
    return {**found, "": type(module)}


def tensors_of(module: nn.Module) -> dict[str, Tensor]:
    """Parameters and buffers by path, each as often as it is there."""
    return {
        **dict(module.named_parameters(remove_duplicate=False)),
        **dict(module.named_buffers(remove_duplicate=False)),
    }


def _deterministic(first: dict[str, Tensor], second: dict[str, Tensor]) -> dict[str, Tensor]:
    return {key: value.detach() for key, value in first.items() if torch.equal(value, second[key])}
