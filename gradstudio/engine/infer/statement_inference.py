"""One statement tried on stand-ins: its results, torch's refusal, or that only a run can tell.

Values that the text alone decides and that are tiny are computed for real, where that is allowed;
all else runs on meta tensors, then on torch's fakes, then on several fillings with made-up numbers.
"""

import builtins
import re
from functools import lru_cache
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from gradstudio.engine.infer.backward_inference import refused_roots
from gradstudio.engine.infer.inference_strategies import (
    FillingTrials,
    Names,
    common_refusal,
    on_expanded,
    on_fakes,
    on_meta,
    on_ones,
    on_real_values,
)
from gradstudio.engine.memory.allocation_guard import is_too_large_for_python, largest_result
from gradstudio.engine.meta.inference_results import UNKNOWN, Refusal, Results, Unknown, device_of
from gradstudio.engine.meta.meta_tensors import META, meta_of, rebuild
from gradstudio.engine.meta.replayable_iterators import replayable_in
from gradstudio.engine.script.compiled_steps import Step, has_open_power
from gradstudio.engine.value.value_records import tensors_in
from gradstudio.operators.catalogue import loader as catalogue
from gradstudio.operators.model import Effect

TINY = 1 << 14
SMALL = 1 << 16
"""Elements that are filled with made-up numbers; and so many the results may have, roughly."""
LARGEST_FILLED = 1 << 24
_ACTS_ONLY = frozenset({Effect.BACKWARD, Effect.OPTIMIZER, Effect.PRINT, Effect.SEED, Effect.SETTING})
_TRIED_SETTINGS = frozenset({"torch.set_default_dtype", "torch.set_grad_enabled"})
"""What shapes and dtypes depend on; the inference puts them back."""
_GRADIENT = re.compile(r"\.grad\b")
_OTHER_DEVICES = ("cuda", "mps", "xpu")
_ASKS_FOR_DATA = ("meta", "data-dependent", "Meta", "fake", "Could not run", "not implemented", "decomposition")
_OF_DTYPES = re.compile(r"same dtype|expected scalar type|Found dtype")
_OF_NUMBERS = re.compile(r"out of (?:bounds|range)|scalar type|Class values|Found dtype|dtype to be")
"""What is said of the numbers of indices and classes, and of their dtype, that shapes do not show."""
_OF_SIZES = re.compile(r"same reduction dim|size mismatch|first two dimensions of batch2|vector \+ matrix")
"""What the kernels for meta say in other words than those of the CPU."""
_PLACES = ("is_cpu", "is_cuda", "is_meta", "is_mps", "is_xpu", "data_ptr", "get_device", "type")
_TOLD = (bool, int, float, complex, str)
CPU = torch.device("cpu")
_SETTINGS = re.compile(r"torch\.(set_(?!default_dtype|grad_enabled)|use_|manual_seed|seed|set_rng|random\.|backends\.)")


class Way(NamedTuple):
    """How statements may be tried.

    Attributes:
        run_small: what is small may be computed for real.
        fakes: torch's fake tensors may be used (they take a second to load).
        autocast: of the autocast block around the statement, which meta tensors know nothing of; `GUESS`: it
            could not be entered here.
    """

    run_small: bool = True
    fakes: bool = True
    autocast: str = ""


MISJUDGED = frozenset({"multilabel_margin_loss", "MultiLabelMarginLoss"})
"""WORKAROUND(torch 2.13): of one sample without a batch, the kernel for meta and fakes gives (1,) in place of ()."""
GUESS = "guess"


class StatementInference:
    """A statement and the stand-ins it reads.

    Attributes:
        skips: it only acts (backward, print, an optimizer's step): nothing to infer.
        trains: it may change parameters.
        repeatable: the same inputs give the same results, so they may be remembered.
        guessed: the dtypes of floating results are not to be relied on.
        missed: fake tensors might have known more.
        asked: the devices it named.
        iterators: what it reads of that is used up by reading.
    """

    def __init__(self, step: Step, namespace: Names, way: Way, guessed: bool = False) -> None:
        """Look at the statement; nothing runs yet. `guessed`: a dtype that it reads is."""
        self._step, self._namespace, self._way = step, namespace, way
        self.guessed, self.missed = guessed or way.autocast == GUESS, False
        self.asked: list[torch.device] = []
        statement = step.statement
        kind = _kind_of(statement.operator)
        self._decided = not kind.undecided
        self._setting, self._rare = kind.setting, kind.rare
        self.trains = kind.trains
        self._inputs = {name: namespace[name] for name in step.source.reads if name in namespace}
        self._writes = [name for name in step.source.reads if name in statement.writes]
        self._tensors = has_tensors = has_modules = mutable = lazy = False
        for value in self._inputs.values():
            if isinstance(value, Tensor):
                has_tensors = True
            elif isinstance(value, list):
                has_tensors = mutable = True
            elif isinstance(value, nn.Module):
                has_modules = True
                lazy = lazy or _uninitialised(value)
            elif isinstance(value, torch.optim.Optimizer):
                mutable = True
        self._tensors, self._modules, self._lazy = has_tensors, has_modules, lazy
        self.iterators = replayable_in(self._inputs.values())
        for iterator in self.iterators:
            iterator.mark()
        acts = kind.acts or statement.backward or self._setting
        idle = not (has_tensors or self._writes or has_modules or statement.operator in _TRIED_SETTINGS)
        self.skips = not statement.names and (acts or idle)
        self.repeatable = bool(statement.names) and not (self._writes or mutable or lazy or kind.lazy or self.iterators)
        self._changed: Names = {}

    @property
    def operands(self) -> Names:
        """What it reads, by name."""
        return self._inputs

    @property
    def reads_modules(self) -> bool:
        """Modules are among what it reads."""
        return self._modules

    @property
    def touches_modules(self) -> bool:
        """It may change modules it reads: it binds nothing."""
        return self._modules and not self._step.statement.names

    def results(self) -> Results:
        """A value per name that the statement binds."""
        reads = self._step.source.reads
        if any(isinstance(value, Unknown) for value in self._inputs.values()) or any(i.is_open for i in self.iterators):
            return UNKNOWN
        if self._step.statement.backward:
            words = refused_roots(self._step, self._inputs)
            return Refusal(words) if words and not (self.guessed and "dtype" in words) else UNKNOWN
        if self._setting or _GRADIENT.search(self._step.statement.text):
            return UNKNOWN
        if any(name not in self._inputs and not hasattr(builtins, name) for name in reads) or self._explodes():
            return UNKNOWN
        return self._really() if self._is_tiny() else self._on_stand_ins()

    def overwritten(self, results: Results) -> Names:
        """The names whose objects the statement wrote into, with stand-ins as they are afterwards."""
        if not self._writes and (self._step.statement.names or isinstance(results, list)):
            return self._changed
        touched = self._writes or [name for name, value in self._inputs.items() if isinstance(value, Tensor | list)]
        found = dict(self._changed)
        for name in touched:
            if name not in found and not isinstance(results, list):
                found.update(dict.fromkeys(self._aliases(name), self._after_writing(self._inputs[name])))
        return found

    def _after_writing(self, value: Any) -> Any:
        """Of ``w -= lr * g`` with a g nobody knows the shape of w is known all the same."""
        kept = isinstance(value, Tensor) and (value.requires_grad or not torch.is_grad_enabled())
        return meta_of(value) if kept and self._step.statement.operator.startswith("operator.i") else UNKNOWN

    def device(self, devices: dict[str, str]) -> str:
        """Where the results lie: where the call says, else where its tensors are; "" when they are not together."""
        if "device" in self._step.source.reads:
            return devices.get("device", "")
        if self.asked:
            return device_of(self.asked[-1])
        held = {devices.get(n, "") for n, v in self._inputs.items() if tensors_in(v) or isinstance(v, nn.Module)}
        if len(held) > 1:
            return ""
        return held.pop() if held else "cpu"

    # -------------------------------------------------------------- ways to run

    def _really(self) -> Results:
        before = torch.get_rng_state()
        names = on_real_values(self._step, self._inputs)
        if isinstance(names, Exception):
            return UNKNOWN if self.guessed else Refusal(str(names))
        self._decided = self._decided and torch.equal(before, torch.get_rng_state())
        return self._taken(names)

    def _on_stand_ins(self) -> Results:
        if (self._way.autocast or self._rare) and (known := self._on_fakes_first()) is not None:
            return known
        if self._misjudged():
            return self._filled(NotImplementedError())
        names, asked = on_meta(self._step, self._inputs)
        self.asked = [device for device in asked if device != META or "meta" in self._step.statement.text]
        if not isinstance(names, Exception):
            self.guessed = self.guessed or bool(self._way.autocast)
            return self._mixed() or self._numbered() or self._taken(names)
        faked = self._on_fakes()
        if faked is not None and not isinstance(faked, Exception):
            return self._taken(faked)
        return self._filled(names)

    def _on_fakes_first(self) -> Results | None:
        """Fakes know of autocast, and on which device they are; some operators of torch's inside depend on that."""
        faked = self._on_fakes()
        if faked is None or isinstance(faked, Exception):
            return None
        return self._mixed() or self._taken(faked)

    def _on_fakes(self) -> Names | Exception | None:
        if self._on_others() or any(not _plain(t) for v in self._inputs.values() for t in tensors_in(v)):
            return None
        if not self._way.fakes:
            self.missed = True
            return None
        return on_fakes(self._step, self._inputs)

    def _mixed(self) -> Refusal | None:
        """Meta multiplies tensors of different dtypes that torch refuses: ask torch itself, on one element of each."""
        if self.guessed or self._modules or self._on_others() or not self._way.run_small:
            return None
        dtypes = {tensor.dtype for value in self._inputs.values() for tensor in tensors_in(value)}
        if len(dtypes) < 2:
            return None
        error = on_ones(self._inputs, self._step)
        of_dtypes = isinstance(error, Exception) and _OF_DTYPES.search(str(error))
        return Refusal(str(error)) if of_dtypes else None

    def _numbered(self) -> Refusal | None:
        """Meta does not look at indices and classes, nor at their dtype: ask torch, with those that are known."""
        tensors = [tensor for value in self._inputs.values() for tensor in tensors_in(value)]
        whole = [t for t in tensors if not (t.is_floating_point() or t.is_complex() or t.dtype is torch.bool)]
        if not whole or not (self._modules or len(tensors) > len(whole)):
            return None
        if self.guessed or not self._way.run_small or self._on_others() or not self._is_small():
            return None
        words = common_refusal(self._step, self._inputs)
        return Refusal(words) if _OF_NUMBERS.search(words) else None

    def _filled(self, error: Exception) -> Results:
        """No stand-in without data would do: made-up numbers, when few; else what meta said, if it is about shapes."""
        if not self._way.run_small or self._on_others() or not self._is_small():
            return self._judged(error)
        filled = FillingTrials(self._step, self._inputs)
        if filled.refused and not self.guessed:
            return Refusal(filled.refused)
        if filled.by_numbers or len(filled.results) < 2:
            return UNKNOWN
        self._decided = False
        taken = [(self._taken(names), dict(self._changed)) for names in filled.results]
        if all(_alike(taken[0], other) for other in taken[1:]):
            return taken[0][0]
        self._changed = dict.fromkeys(self._changed, UNKNOWN)
        return UNKNOWN

    def _judged(self, error: Exception) -> Results:
        words = str(error)
        asks = isinstance(error, NotImplementedError | TypeError) or any(word in words for word in _ASKS_FOR_DATA)
        if asks or self.guessed or self._lazy:  # a lazy module is filled in by what the way to try it made
            return UNKNOWN
        if _OF_SIZES.search(words) and isinstance(said := on_expanded(self._inputs, self._step), Exception):
            words = str(said)
        return Refusal(words)

    def _taken(self, names: Names) -> list[Any]:
        for name in self._inputs:
            value = names[name]
            written = name in self._writes or (not self._step.statement.names and isinstance(value, Tensor | list))
            if written:
                settled = self._settled(value)
                self._changed.update(dict.fromkeys(self._aliases(name), settled))
        return [self._settled(self._own(names[name])) for name in self._step.statement.names]

    def _own(self, value: Any) -> Any:
        """An iterator over others reads them later on, when only a run tells how far they were read by then."""
        made = replayable_in((value,)) if self.iterators else ()
        if all(any(one is given for given in self.iterators) for one in made):
            return value
        for iterator in self.iterators:
            iterator.lose()
        return UNKNOWN

    def _settled(self, value: Any) -> Any:
        """What is drawn, made up or large has no numbers to rely on; what is not initialised has not even a shape."""
        if isinstance(value, Tensor):
            if is_lazy(value):
                return UNKNOWN
            relied = value.is_meta or (self._decided and value.numel() <= TINY)
            return value if relied else meta_of(value)
        if isinstance(value, tuple | list):
            return rebuild(value, self._settled)
        if isinstance(value, torch.device) and value == META:
            return CPU
        return UNKNOWN if (isinstance(value, _TOLD) and not self._decided) or type(value) is torch.SymInt else value

    # -------------------------------------------------------------- questions

    def _is_tiny(self) -> bool:
        if (
            not self._way.run_small
            or self._modules
            or self.iterators
            or "nn." in self._step.statement.text
            or self._on_others()
        ):
            return False
        for value in self._inputs.values():
            if isinstance(value, torch.optim.Optimizer):
                return False
            if any(tensor.is_meta or tensor.numel() > TINY for tensor in tensors_in(value)):
                return False
        return largest_result(self._step, self._namespace) <= TINY

    def _misjudged(self) -> bool:
        """Whether torch's kernel without data is known to tell a wrong shape."""
        classes = (type(value).__name__ for value in self._inputs.values() if isinstance(value, nn.Module))
        return self._step.statement.operator.rpartition(".")[2] in MISJUDGED or not MISJUDGED.isdisjoint(classes)

    def _is_small(self) -> bool:
        """Whether made-up numbers for all that is read, and the results, take little."""
        count = 0
        if self.iterators or self._lazy:
            return False
        for value in self._inputs.values():
            if any(not _plain(tensor) for tensor in tensors_in(value)):
                return False
            count += sum(tensor.numel() for tensor in tensors_in(value))
            if isinstance(value, nn.Module):
                count += sum(tensor.numel() for tensor in (*value.parameters(), *value.buffers()))
            elif isinstance(value, torch.optim.Optimizer):
                return False
        return count <= SMALL and largest_result(self._step, self._namespace) <= LARGEST_FILLED

    def _on_others(self) -> bool:
        """Whether another device is named: no stand-in on the CPU says what happens there."""
        if any(device in self._step.statement.text for device in _OTHER_DEVICES):
            return True
        return any(isinstance(value, torch.device) and value != CPU for value in self._inputs.values())

    def _explodes(self) -> bool:
        """Whole numbers raised to powers, or shifted, can take for ever; only a run may do that."""
        open_power = not (self._tensors or self._modules) and has_open_power(self._step.statement.text)
        return open_power or is_too_large_for_python(self._step, self._inputs)

    def _aliases(self, name: str) -> list[str]:
        """Every name of the same object."""
        value = self._namespace[name]
        return [other for other, known in self._namespace.items() if known is value]


class _Kind(NamedTuple):
    """What the catalogue says of an operator, as far as it matters here.

    Attributes:
        undecided: its results' numbers are drawn, or whatever the memory held.
        acts: a statement of it that binds no name does nothing that shapes depend on.
        setting: it changes what is global to the process.
    """

    undecided: bool
    acts: bool
    trains: bool
    setting: bool
    rare: bool
    lazy: bool


@lru_cache(maxsize=8192)
def _kind_of(key: str) -> _Kind:
    operator = catalogue.load().get(key)
    effects = frozenset(operator.effects if operator is not None else (Effect.RANDOM,))
    path = operator.path if operator is not None else key
    word = path.rpartition(".")[2]
    undecided = Effect.RANDOM in effects or "empty" in word or "resize" in word or word in _PLACES
    lazy = word.startswith("Lazy")
    rare = operator is None or operator.rare
    acts, trains = bool(_ACTS_ONLY & effects) and key not in _TRIED_SETTINGS, Effect.OPTIMIZER in effects
    return _Kind(undecided, acts, trains, bool(_SETTINGS.match(path)), rare, lazy)


def _plain(tensor: Tensor) -> bool:
    return tensor.layout is torch.strided and not tensor.is_nested and not tensor.is_quantized


def _uninitialised(module: nn.Module) -> bool:
    return any(map(is_lazy, (*module.parameters(), *module.buffers())))


def _alike(one: Any, other: Any) -> bool:
    """Whether two results differ in their numbers only."""
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        same = one.shape == other.shape and one.dtype == other.dtype
        return same and one.requires_grad == other.requires_grad
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_alike, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_alike(one[key], other[key]) for key in one)
    return one is other or (type(one) is type(other) and not isinstance(one, Tensor))
