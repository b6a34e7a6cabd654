"""What a program asks of its devices' memory, told before any of it runs (semantics §12).

Inference's stand-ins are summed twice: a statement whose own results exceed what is free is refused
in a plain run, which executes all of the text at once; and the whole program's need is a warning.
"""

import sys
import traceback
from collections.abc import Callable
from typing import Any, NamedTuple

import psutil
import torch

from gradstudio.engine.device_memory import free_bytes
from gradstudio.engine.errors import TooLarge
from gradstudio.engine.experiment.rerun import isolate
from gradstudio.engine.infer.inference_memo import Memo, Recipes
from gradstudio.engine.infer.inference_pass import InferencePass
from gradstudio.engine.infer.statement_inference import Way
from gradstudio.engine.live.live_state import Loaded
from gradstudio.engine.memory.allocation_guard import too_large_error
from gradstudio.engine.memory.memory_estimate import WORTH_ASKING, MemoryEstimate
from gradstudio.engine.memory.size_bound import plausible_elements
from gradstudio.engine.script.compiled_steps import Head, Step, prepare
from gradstudio.engine.torch_settings import Settings
from gradstudio.graph.model import ItemId
from gradstudio.program.python_sizes import too_big
from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.messages.events import Log
from gradstudio.protocol.messages.inference import Need

LoadFile = Callable[..., object]
ITEM_BYTES = 8


class LargeStatement(NamedTuple):
    """A statement that will surely run, and what its results alone take."""

    node: ItemId
    device: str
    bytes: int


class _Weights(InferencePass):
    """A pass that notes what single statements make.

    Attributes:
        heavy: in the order in which they run, up to where torch is expected to refuse something.
    """

    def __init__(self, loaded: Loaded, memo: Memo, recipes: Recipes, load_file: LoadFile) -> None:
        """Weigh the whole program; what takes a second to load is not loaded for it."""
        super().__init__(loaded.program, memo, recipes, Way(fakes=False), load_file)
        self.heavy: list[LargeStatement] = []
        self._unsure = self._ended = False
        self.body(prepare(loaded.program, lines=False))

    def _count(self, step: Step, known: Any) -> None:
        super()._count(step, known)
        if not (self._unsure or self._ended or known.guessed):
            fresh = self.needs.fresh.items()
            self.heavy += [LargeStatement(step.id, device, size) for device, size in fresh if size >= WORTH_ASKING]

    def _tell(self, step: Step, known: Any) -> None:
        super()._tell(step, known)
        told = self.ports.get((step.id, 0))
        self._ended = self._ended or (not self._unsure and told is not None and bool(told.refusal))

    def _if(self, head: Head) -> None:
        self._perhaps(super()._if, head)

    def _loop(self, head: Head) -> None:
        if self._ends(head) is None:
            self._perhaps(super()._loop, head)
        else:
            super()._loop(head)

    def _perhaps(self, way: Callable[[Head], None], head: Head) -> None:
        """What stands in a block that may not be entered is refused when it is met, if at all."""
        outer, self._unsure = self._unsure, True
        way(head)
        self._unsure = outer


class MemoryForecast:
    """Weighs programs; each of them once, and only those that could be too large."""

    def __init__(self, send: Callable[[Message], None], settings: Settings) -> None:
        """Nothing is known; what the process holds now is none of a run's. Own failures are sent as logs."""
        self._send, self._settings = send, settings
        self._baseline = int(psutil.Process().memory_info().rss)
        self._loaded: Loaded | None = None
        self._plausible, self._done = 0, False
        self._needs, self._heavy = MemoryEstimate(), tuple[LargeStatement, ...]()

    def needs(self, loaded: Loaded, load_file: LoadFile, held: bool) -> tuple[Need, ...]:
        """The devices whose memory is expected not to suffice for all that is held at once.

        Args:
            held: an earlier run still holds memory, which a run from nothing will have.
        """
        self._weigh(loaded, load_file)
        return self._needs.found(self._baseline if held else sys.maxsize)

    def first_too_large(self, loaded: Loaded, load_file: LoadFile) -> tuple[Step, TooLarge] | None:
        """The first statement whose own results exceed what is free now, or what Python's own values may be."""
        steps = {step.id: (number, step) for number, step in enumerate(loaded.steps)}
        found = [one for one in too_big(loaded.program.statements) if one.node in steps]
        refused = [(steps[one.node], TooLarge(f"{one.reason} It was not run.", 0)) for one in found[:1]]
        if not refused:
            self._weigh(loaded, load_file)
        for heavy in self._heavy if not refused else ():
            device = torch.device(heavy.device)
            free = free_bytes(device) if device.type == "cpu" or torch.accelerator.is_available() else None
            if free is not None and heavy.bytes > free:
                step = steps[heavy.node]
                refused.append((step, too_large_error(step[1], heavy.bytes, free, device)))
        if not refused:
            return None
        (_, step_refused), error = min(refused, key=lambda one: one[0][0])
        return step_refused, error

    def _weigh(self, loaded: Loaded, load_file: LoadFile) -> None:
        if loaded is not self._loaded:
            self._loaded = loaded
            self._needs = MemoryEstimate()
            self._heavy = ()
            self._done = False
            self._plausible = plausible_elements(loaded.steps) * ITEM_BYTES
        if self._done or self._plausible < _least_free():
            return
        self._done = True
        try:
            with isolate(self._settings):
                weights = _Weights(loaded, {}, {}, load_file)
        except Exception as error:  # noqa: BLE001 - our own bug: the run itself is none the worse
            text = "".join(traceback.format_exception(error))
            self._send(Log(level="error", text=f"The engine could not weigh the program:\n{text}"))
            return
        self._needs, self._heavy = weights.needs, tuple(weights.heavy)


def _least_free() -> int:
    """What is free on the device that has least."""
    accelerator = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
    devices = [torch.device("cpu"), *([accelerator] if accelerator is not None else [])]
    return min(free_bytes(device) or 0 for device in devices)
