"""One pass over a program on stand-ins: what each name would hold after each statement, and what can be said of it.

The rules of aliases, blocks and loops live here; how one statement is tried is `statement_inference`'s.
"""

import ast
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from gradstudio.engine import access
from gradstudio.engine.access import FILENAME, MODULES
from gradstudio.engine.infer.inference_memo import Recipe, Recipes, follow, kind_of, recipe_of
from gradstudio.engine.infer.namespace_changes import are_alike, changed_names
from gradstudio.engine.infer.statement_inference import GUESS, Trial, Way
from gradstudio.engine.memory.memory_estimate import Needs
from gradstudio.engine.meta.inference_results import (
    UNKNOWN,
    Known,
    Refusal,
    Results,
    Unknown,
    absent_words,
    device_of,
    said,
)
from gradstudio.engine.meta.meta_tensors import place_of, rebuilt, stand_in
from gradstudio.engine.meta.replayable_iterators import holds_iterator, lose, lose_read, places_in, replayed_in
from gradstudio.engine.script.compiled_steps import Head, Item, Step
from gradstudio.engine.value.value_records import tensors_in
from gradstudio.graph.model import ItemId
from gradstudio.program.model import Program
from gradstudio.protocol.messages.inference import PortInference

_MODES = ("no_grad", "enable_grad", "inference_mode", "set_grad_enabled")
_ACCELERATORS = ("cuda", "mps", "xpu", "meta")
Signature = tuple[object, ...]
Ports = dict[tuple[ItemId, int], PortInference]
Memo = dict[Signature, Known]


class Walk:
    """One pass over a program's statements.

    Attributes:
        ports: what was found, by node and output.
        used: the part of the memo that this program needed.
        missed: fake tensors might have known more.
        needs: what is alive together.
        prelude: what is bound before the first statement.
    """

    def __init__(
        self, program: Program, memo: Memo, recipes: Recipes, way: Way, load_file: Callable[..., object]
    ) -> None:
        """Bind what the prelude binds; its default dtype holds until the end, its seed is left out."""
        self.ports: Ports = {}
        self.used: Memo = {}
        self.missed = False
        self.needs = Needs()
        self._memo, self._recipes, self._way = memo, recipes, way
        self._keys: dict[str, Signature] = {}
        self._times: dict[Signature, int] = {}
        self._scope = 0
        self._guessed: set[str] = set()
        self._devices: dict[str, str] = {}
        self._stirred: set[int] = set()
        self._lazy = "Lazy" in program.code
        self._namespace: dict[str, Any] = {"__file__": FILENAME}
        tree = ast.parse(program.prelude, FILENAME)
        kept: list[ast.stmt] = [
            s for s in tree.body if not isinstance(s, ast.Expr) or "set_default_dtype" in ast.unparse(s)
        ]
        access.execute(access.compiled(access.guarded(ast.Module(kept, []))), self._namespace)
        self._namespace["load_file"] = load_file
        self._only_cpu = program.device == "cpu" and not any(word in program.code for word in _ACCELERATORS)
        if "device" in self._namespace:
            self._devices["device"] = device_of(torch.device(self._namespace["device"]))
            self._namespace["device"] = torch.device("cpu")
        self.prelude = dict(self._namespace)

    def body(self, items: tuple[Item, ...]) -> None:
        """Go through statements in order."""
        for item in items:
            if isinstance(item, Step):
                self._step(item)
            elif item.block.kind == "for":
                self._loop(item)
            elif item.block.kind == "if":
                self._if(item)
            else:
                self._block(item)

    def settle(self) -> None:
        """Forget what was remembered of modules that were changed later on."""
        stirred = self._stirred
        for key, known in list(self.used.items()) if stirred else ():
            results = known.results if isinstance(known.results, list) else []
            modules = [value for value in results if isinstance(value, nn.Module)]
            if any(id(part) in stirred for module in modules for part in module.modules()):
                del self.used[key]

    # -------------------------------------------------------------- statements

    def _step(self, step: Step) -> None:
        key = self._key(step)
        known = self._memo.get(key)
        if known is None:
            trial = Trial(step, self._namespace, self._way, not self._guessed.isdisjoint(step.source.reads))
            if trial.trains:
                self._trained()
            if trial.skips:
                self._read_on(trial, UNKNOWN, key)
                self._stir(step, trial, key)
                self._act(step)
                if step.statement.backward and isinstance(refusal := trial.results(), Refusal):
                    self.ports[step.id, 0] = PortInference(node=step.id, refusal=refusal.words)
                return
            known = self._tried(step, trial)
            self._read_on(trial, known.results, key)
            if trial.repeatable and not trial.missed and not holds_iterator(known.results):
                self.used[key] = known
            self._stir(step, trial, key)
        else:
            self.used[key] = known
        self._bind(step, known, key)
        self._count(step, known)
        self._tell(step, known)

    def _act(self, step: Step) -> None:
        """What a backward or an optimizer's step makes."""
        read = step.source.operands
        if step.statement.backward:
            self.needs.backward(step.id, read, next((self._devices.get(name, "") for name in read), ""))
        for name in read if step.statement.operator.endswith(".step") else ():
            if isinstance(held := self._namespace.get(name), torch.optim.Optimizer):
                self.needs.step(step.id, held, self._devices.get(name, ""))
        self.needs.drop(step.statement.drops)

    def _count(self, step: Step, known: Known) -> None:
        names = (*step.statement.names, *known.changed)
        self.needs.made_of(names, (*step.source.reads, *known.changed), self._namespace)
        self.needs.bind(step.id, names, self._namespace, self._devices)
        self.needs.drop(step.statement.drops)

    def _tried(self, step: Step, trial: Trial) -> Known:
        kind, inputs = self._kind(step, trial) if trial.repeatable else None, list(trial.operands.values())
        recipe = self._recipes.get(kind) if kind is not None else None
        if recipe is not None:
            return Known([follow(made, inputs) for made in recipe.results], {}, recipe.guessed, recipe.device)
        known = self._tried_anew(step, trial)
        if kind is not None and isinstance(known.results, list) and not (known.changed or known.absent):
            made = [recipe_of(value, inputs) for value in known.results]
            if None not in made:
                self._recipes[kind] = Recipe(made, known.guessed, known.device)
        return known

    def _kind(self, step: Step, trial: Trial) -> Signature | None:
        """What the results depend on, when no number of a tensor is among it."""
        keys, devices, kinds = self._keys, self._devices, []
        for name, value in trial.operands.items():
            kind = kind_of(value, keys.get(name), devices.get(name, ""))
            if kind is None and name not in MODULES:
                return None
            kinds.append(kind)
        if any(isinstance(value, Tensor | nn.Module) for value in trial.operands.values()):
            return (*self._text(step), trial.guessed, tuple(kinds), self._places(step))
        return None

    def _places(self, step: Step) -> tuple[int, ...]:
        """Which names of the text are the same."""
        reads = step.source.reads
        return tuple([reads.index(name) for name in step.source.slots])

    def _read_on(self, trial: Trial, results: Results, key: Signature) -> None:
        """Iterators were read: whoever reads them next finds something else."""
        if not isinstance(results, list):
            lose(trial.iterators)
        for name, value in self._namespace.items() if trial.iterators else ():
            if any(one is other for one in replayed_in((value,)) for other in trial.iterators):
                self._keys[name] = (hash(key), name)

    def _text(self, step: Step) -> Signature:
        way = self._way
        modes = (torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.get_default_dtype())
        return (step.statement.operator, step.source.template, modes, way.run_small, way.autocast)

    def _tried_anew(self, step: Step, trial: Trial) -> Known:
        results = trial.results()
        self.missed = self.missed or trial.missed
        device = "" if isinstance(results, Unknown | Refusal) else trial.device(self._devices)
        names_it = trial.asked or "device" in step.source.reads
        return Known(
            results, trial.overwritten(results), trial.guessed, device, absent_words(device) if names_it else ""
        )

    def _key(self, step: Step) -> Signature:
        """The same in every inference; equal statements have different ones, for what they make is not the same."""
        key = self._text_and_reads(step)
        times = self._times[key] = self._times.get(key, 0) + 1
        return (*key, self._scope, times)

    def _text_and_reads(self, step: Step) -> Signature:
        keys = self._keys
        reads = tuple([keys.get(name, name) for name in step.source.slots])
        # hash-consed by Python: a key holds the hashes of its inputs' keys
        return (*self._text(step), hash(reads))

    def _bind(self, step: Step, known: Known, key: Signature) -> None:
        results = known.results
        for name, value in known.changed.items():
            self._write(name, value, key)
        for place, name in enumerate(step.statement.names):
            self._namespace[name] = results[place] if isinstance(results, list) else UNKNOWN
            self._keys[name] = (hash(key), place)
            self._note(name, known)

    def _note(self, name: str, known: Known) -> None:
        self._devices[name] = known.device
        (self._guessed.add if known.guessed else self._guessed.discard)(name)

    def _tell(self, step: Step, known: Known) -> None:
        for port in said(step.id, len(step.statement.names), known):
            self.ports[step.id, port.output] = port

    # -------------------------------------------------------------- writing

    def _write(self, name: str, value: Any, key: Signature) -> None:
        """An object was written into: its names, lists that hold it, and what shares its storage."""
        old = self._namespace[name]
        self._namespace[name], self._keys[name] = value, (hash(key), name)
        if old is value:
            return
        lose(self._namespace.values())
        arrays = [other for other, known in self._namespace.items() if isinstance(known, np.ndarray)]
        for other in arrays if isinstance(old, Tensor) else self._namespace if isinstance(old, np.ndarray) else ():
            self._rebind(other, _without_numbers(self._namespace[other]), (hash(key), other, self._keys.get(other)))
        if not isinstance(old, Tensor):
            return
        if isinstance(value, Tensor) and isinstance(old, nn.Parameter) and old.requires_grad != value.requires_grad:
            old.requires_grad_(value.requires_grad)
            self._stir_holders(lambda module: any(old is p for p in module.parameters()), key)
        same_grad = isinstance(value, Tensor) and old.requires_grad == value.requires_grad
        if old.is_meta and same_grad:
            return
        place = place_of(old)
        for other, known in self._namespace.items():
            if isinstance(known, list | tuple) and any(old is tensor for tensor in tensors_in(known)):
                self._namespace[other] = rebuilt(known, lambda item: value if item is old else item)
                self._keys[other] = (hash(key), other)
            elif known is not value and place and any(place_of(tensor) == place for tensor in tensors_in(known)):
                self._namespace[other] = stand_in(known) if same_grad else UNKNOWN
                self._keys[other] = (hash(key), other)

    def _trained(self) -> None:
        """An optimizer has changed numbers: of what may be a parameter, or share its storage, none is relied on."""
        lose(self._namespace.values())
        real = [(n, v) for n, v in self._namespace.items() if isinstance(v, Tensor) and not v.is_meta]
        places = {place_of(value) for _, value in real if value.requires_grad} - {0}
        for name, value in self._namespace.items():
            if any(not t.is_meta and (t.requires_grad or place_of(t) in places) for t in tensors_in(value)):
                self._namespace[name] = stand_in(value)
                self._keys[name] = ("trained", self._keys.get(name))

    def _stir(self, step: Step, trial: Trial, key: Signature) -> None:
        if not (trial.touches_modules or (self._lazy and trial.reads_modules)):
            return
        read = [self._namespace[name] for name in step.source.reads if name in self._namespace]
        touched = {id(part) for value in read if isinstance(value, nn.Module) for part in value.modules()}
        self._stirred |= touched
        lose(self._namespace.values())
        moved = trial.device({}) if trial.asked else ""
        self._stir_holders(lambda module: any(id(part) in touched for part in module.modules()), key, moved)

    def _stir_holders(self, holds: Callable[[nn.Module], bool], key: Signature, moved: str = "") -> None:
        for name, value in self._namespace.items():
            if isinstance(value, nn.Module) and holds(value):
                self._stirred.add(id(value))
                self._keys[name] = (hash(key), name, self._keys.get(name))
                self._devices[name] = moved or self._devices.get(name, "")

    # -------------------------------------------------------------- blocks

    def _block(self, head: Head) -> None:
        outer = self._way
        with ExitStack() as stack:
            if head.block.kind in _MODES and head.expression is not None:
                stack.enter_context(access.evaluate(head.expression, self._namespace))
            elif head.block.kind == "autocast":
                self._way = outer._replace(autocast=self._cast(head, stack))
            self.body(head.body)
        self._way = outer

    def _cast(self, head: Head, stack: ExitStack) -> str:
        """Enter an autocast block of the CPU; of another device's nobody here knows what it casts."""
        assert head.expression is not None
        if self._only_cpu:
            stack.enter_context(access.evaluate(head.expression, self._namespace))
        entered = self._only_cpu and torch.is_autocast_enabled("cpu")
        return f"cast to {torch.get_autocast_dtype('cpu')}" if entered else GUESS

    def _if(self, head: Head) -> None:
        """A condition that is decided says whether it is entered; else its names are open after it."""
        decided = self._value_of(head)
        if not isinstance(decided, Unknown | Tensor) or (isinstance(decided, Tensor) and not decided.is_meta):
            if decided:
                self.body(head.body)
            return
        before, places = dict(self._namespace), places_in(self._namespace.values())
        self.body(head.body)
        lose_read(places)
        for name in changed_names(before, self._namespace):
            held, now = before.get(name), self._namespace[name]
            same = isinstance(now, Tensor) and are_alike(held, now)
            self._rebind(name, stand_in(now) if same else UNKNOWN, ("if", head.fingerprint, name, self._keys.get(name)))

    def _loop(self, head: Head) -> None:
        """The first turn tells; others, gone through in silence, say what is the same in all of them and after."""
        over = self._ends(head)
        if over == ():
            return
        before, told_before, places = dict(self._namespace), dict(self.ports), places_in(self._namespace.values())
        turns = (UNKNOWN,) if over is None else over
        self._turn(head, turns[0])
        if len(turns) == 1 and over is not None:
            return
        first, told_first = dict(self._namespace), self.ports
        for value in turns[1:] or turns:
            self._loosen(before, head)
            self.ports = {}
            self._turn(head, value)
            self._compare(told_first, told_before, before, first)
        self.ports = told_first
        lose_read(places)
        for name in changed_names(before, self._namespace):
            last = self._namespace[name]
            same = over is not None and are_alike(first.get(name), last)
            self._rebind(name, stand_in(last) if same else UNKNOWN, (head.fingerprint, name, self._keys.get(name)))

    def _loosen(self, before: dict[str, Any], head: Head) -> None:
        """What is carried from turn to turn has no numbers to rely on."""
        for name in changed_names(before, self._namespace):
            value = self._namespace[name]
            if name in before and not isinstance(value, nn.Module | torch.optim.Optimizer):
                open_ = stand_in(value) if isinstance(value, Tensor) else UNKNOWN
                self._rebind(name, open_, ("carried", head.fingerprint, name, self._keys.get(name)))

    def _compare(self, first: Ports, outside: Ports, before: dict[str, Any], after: dict[str, Any]) -> None:
        """What a carried value that changes makes another in a later turn "varies"."""
        carried = (name for name in changed_names(before, after) if name in before)
        if not any(not are_alike(before[name], after[name]) for name in carried):
            return
        for key, port in list(first.items()):
            if port is not outside.get(key) and self.ports.get(key) != port:
                first[key] = PortInference(node=key[0], output=key[1], known_after_run=True)

    def _turn(self, head: Head, value: Any) -> None:
        assert head.expression is not None
        over = hash(tuple(self._keys.get(name, name) for name in head.expression.co_names))
        values = [value] if len(head.targets) == 1 else [UNKNOWN] * len(head.targets)
        if len(head.targets) > 1 and isinstance(value, tuple | list):
            values = list(value)
        for name, element in zip(head.targets, values, strict=False):
            number = element if type(element) in (int, float, bool, str) else id(element)
            self._rebind(name, element, (head.fingerprint, over, name, type(element), number))
        self.body(head.body)

    def _rebind(self, name: str, value: Any, key: Signature) -> None:
        self._namespace[name], self._keys[name] = value, key

    def _ends(self, head: Head) -> tuple[Any, ...] | None:
        """The first, second and last element gone over; () when there is none, None when only a run tells."""
        over = self._value_of(head)
        if not isinstance(over, range | list | tuple):
            return None
        return tuple(over) if len(over) <= 3 else (over[0], over[1], over[-1])

    def _value_of(self, head: Head) -> Any:
        """What the expression in the block's head gives; UNKNOWN when only a run tells."""
        assert head.expression is not None
        read = [self._namespace.get(name) for name in head.expression.co_names]
        if any(isinstance(v, Unknown) or any(t.is_meta for t in tensors_in(v)) for v in read) or lose(read):
            return UNKNOWN
        try:
            return access.evaluate(head.expression, self._namespace)
        except Exception:  # noqa: BLE001 - a program's own code on stand-ins: the run will say
            return UNKNOWN


def _without_numbers(value: Any) -> Any:
    return UNKNOWN if isinstance(value, np.ndarray) else stand_in(value)
