"""Name table: what each name of a program holds in an inference pass, and what is known of it besides.

The rules of aliases live here: what else changes when an object is written into.
"""

import ast
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from gradstudio.engine import access
from gradstudio.engine.access import FILENAME
from gradstudio.engine.infer.namespace_changes import changed_names
from gradstudio.engine.meta.inference_results import UNKNOWN, device_of
from gradstudio.engine.meta.meta_tensors import meta_of, rebuild, storage_address
from gradstudio.engine.meta.replayable_iterators import lose_positions, replayable_in
from gradstudio.engine.value.value_records import tensors_in
from gradstudio.program.model import Program
from gradstudio.program.trust import definitions_with_code

_NOT_TRIED = "torch.distributed."
"""Modules whose functions are never tried here, so that the time to load them is saved."""


class NameTable:
    """The names of one pass.

    Attributes:
        values: what each name holds: a stand-in, or a value that is surely the one of a run.
        keys: what each value was made by; values with equal keys are equal.
        origins: the text that each module was made by, as long as it is as it was made: modules with equal origins
            differ in their numbers only.
        devices: where each value will be.
        guessed: the names whose dtype is not to be relied on.
        changed_modules: the ids of modules that were changed after they were made.
        rewritten: an object was written into, or read on, after it was made.
    """

    def __init__(self, values: dict[str, Any], changed_modules: set[int] | None = None) -> None:
        """These values, of which nothing else is known.

        Args:
            values: by name.
            changed_modules: those of a pass around this one, which are its too.
        """
        self.values = values
        self.keys: dict[str, object] = {}
        self.origins: dict[str, int] = {}
        self.devices: dict[str, str] = {}
        self.guessed: set[str] = set()
        self.rewritten = False
        self.changed_modules = set[int]() if changed_modules is None else changed_modules

    def bind(self, name: str, value: Any, key: object) -> None:
        """Give a name another value."""
        self.values[name] = value
        self.keys[name] = key
        if self.origins:
            self.origins.pop(name, None)

    def note(self, name: str, device: str, guessed: bool) -> None:
        """Say where a value will be, and whether its dtype is a guess."""
        self.devices[name] = device
        if guessed:
            self.guessed.add(name)
        else:
            self.guessed.discard(name)

    def key_of(self, name: str) -> object:
        """What a name's value was made by; the name itself for what was there from the beginning."""
        return self.keys.get(name, name)

    def write(self, name: str, value: Any, key: int) -> None:
        """An object was written into: its names, lists that hold it, and what shares its storage."""
        self.rewritten = True
        old = self.values[name]
        self.bind(name, value, (key, name))
        if old is value:
            return
        lose_positions(self.values.values())
        self._forget_numbers_of_arrays(old, key)
        if not isinstance(old, Tensor):
            return
        if isinstance(value, Tensor) and isinstance(old, nn.Parameter) and old.requires_grad != value.requires_grad:
            old.requires_grad_(value.requires_grad)
            self.change_holders(lambda module: any(old is p for p in module.parameters()), key)
        same_grad = isinstance(value, Tensor) and old.requires_grad == value.requires_grad
        if old.is_meta and same_grad:
            return
        place = storage_address(old)
        for other, held in self.values.items():
            if isinstance(held, list | tuple) and any(old is tensor for tensor in tensors_in(held)):
                self.bind(other, rebuild(held, lambda item: value if item is old else item), (hash(key), other))
            elif held is not value and place and any(storage_address(tensor) == place for tensor in tensors_in(held)):
                self.bind(other, meta_of(held) if same_grad else UNKNOWN, (hash(key), other))

    def loosen(self, before: dict[str, Any], loop: object) -> None:
        """What is carried from turn to turn of a loop has no numbers to rely on; `before` was bound around it."""
        for name in changed_names(before, self.values):
            value = self.values[name]
            if name in before and not isinstance(value, nn.Module | torch.optim.Optimizer):
                open_ = meta_of(value) if isinstance(value, Tensor) else UNKNOWN
                self.bind(name, open_, ("carried", loop, name, self.keys.get(name)))

    def _forget_numbers_of_arrays(self, old: Any, key: int) -> None:
        """NumPy's arrays share memory with tensors, and among one another, and no one here can tell which do."""
        others: Iterable[str] = ()
        if isinstance(old, Tensor):
            others = [name for name, held in self.values.items() if isinstance(held, np.ndarray)]
        elif isinstance(old, np.ndarray):
            others = list(self.values)
        for name in others:
            held = self.values[name]
            without = UNKNOWN if isinstance(held, np.ndarray) else meta_of(held)
            self.bind(name, without, (key, name, self.keys.get(name)))

    def train(self) -> None:
        """An optimizer has changed numbers: of what may be a parameter, or share its storage, none is relied on."""
        self.rewritten = True
        lose_positions(self.values.values())
        real = [value for value in self.values.values() if isinstance(value, Tensor) and not value.is_meta]
        places = {storage_address(value) for value in real if value.requires_grad} - {0}
        for name, value in self.values.items():
            if any(not t.is_meta and (t.requires_grad or storage_address(t) in places) for t in tensors_in(value)):
                self.bind(name, meta_of(value), ("trained", self.keys.get(name)))

    def change_modules(self, names: Iterable[str], key: int, moved: str) -> None:
        """A statement that reads these names changed the modules among them; `moved`: to which device, if to one."""
        self.rewritten = True
        read = [self.values[name] for name in names if name in self.values]
        touched = {id(part) for value in read if isinstance(value, nn.Module) for part in value.modules()}
        self.changed_modules |= touched
        lose_positions(self.values.values())
        self.change_holders(lambda module: any(id(part) in touched for part in module.modules()), key, moved)

    def change_holders(self, holds: Callable[[nn.Module], bool], key: int, moved: str = "") -> None:
        """What is remembered of some modules holds no longer."""
        for name, value in self.values.items():
            if isinstance(value, nn.Module) and holds(value):
                self.changed_modules.add(id(value))
                self.origins.pop(name, None)
                self.keys[name] = (key, name, self.keys.get(name))
                self.devices[name] = moved or self.devices.get(name, "")

    def read_on(self, iterators: Iterable[object], key: int) -> None:
        """Iterators were read: whoever reads them next finds something else."""
        self.rewritten = True
        for name, value in self.values.items():
            if any(one is other for one in replayable_in((value,)) for other in iterators):
                self.keys[name] = (key, name)


def prelude_names(program: Program, load_file: Callable[..., object]) -> NameTable:
    """What a program's imports and header bind; the default dtype that it sets holds from now on, its seed is left out.

    Args:
        program: whose prelude is executed.
        load_file: what the program calls to load a stored tensor.
    """
    names = NameTable({"__file__": FILENAME})
    tree = ast.parse(program.prelude, FILENAME)
    with_code = definitions_with_code(program)
    kept: list[ast.stmt] = [
        s
        for s in tree.body
        if (not isinstance(s, ast.Expr) or "set_default_dtype" in ast.unparse(s))
        and not (isinstance(s, ast.Import) and s.names[0].name.startswith(_NOT_TRIED))
        and not (isinstance(s, ast.FunctionDef | ast.ClassDef) and s.name in with_code)
    ]
    access.execute(access.compiled(access.guarded(ast.Module(kept, []))), names.values)
    names.values["load_file"] = load_file
    if "device" in names.values:
        names.devices["device"] = device_of(torch.device(names.values["device"]))
        names.values["device"] = torch.device("cpu")  # stand-ins are made here, wherever a run makes its tensors
    return names
