"""A second, silent run of a program, from nothing and in a namespace of its own (semantics §6, What-if).

The live state is never touched: every object is made anew, and what a program changes outside its
namespace (generators, default dtype, modes, warnings) is put back behind it.
"""

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NamedTuple
from typing import Literal as OneOf

import torch

from gradstudio.engine import access
from gradstudio.engine.access import FILENAME
from gradstudio.engine.clean_modes import clean_modes
from gradstudio.engine.gradient.gradient_registry import Gradients
from gradstudio.engine.live.call_frames import Execution
from gradstudio.engine.live.leaf_tensors import leaves_of
from gradstudio.engine.live.live_state import Binding, Live, Loaded
from gradstudio.engine.memory.allocation_guard import refuse_too_large
from gradstudio.engine.run.call_tracing import CallTracer, is_call
from gradstudio.engine.run.trace_rows import Pending
from gradstudio.engine.script.compiled_steps import Step
from gradstudio.engine.script.cursor import Cursor, HeadFailed
from gradstudio.engine.torch_settings import Settings
from gradstudio.engine.torch_settings import settings as settings_now
from gradstudio.graph.model import ItemId

Place = tuple[tuple[tuple[int, int], ...], ...]
"""Where a run stands: (index, turn) in each list of statements, outermost first; of the program, then of each call."""
Outputs = tuple[Any, ...]
STOPPED = "Stopped."


class World(NamedTuple):
    """What a silent run of a program needs.

    Attributes:
        seed: set before everything else; a program that sets its own does so after it.
        settings: torch's, as a program finds them.
        load_file: gives the stored tensors; each call makes them anew.
        stopped: asked between statements.
    """

    loaded: Loaded
    seed: int
    settings: Settings
    load_file: Callable[..., object]
    stopped: Callable[[], bool]


class End(NamedTuple):
    """How a silent run ended; `node` failed with `words`."""

    outcome: OneOf["done", "stopped", "failed"]
    node: ItemId = ItemId("")
    words: str = ""


class Watcher:
    """Is told what a silent run does, and may change its namespace; this one does nothing.

    Attributes:
        satisfied: the run may end behind the statement that has just run.
    """

    satisfied = False

    def before(self, run: "Rerun", step: Step) -> None:
        """The statement is about to run."""

    def after(self, run: "Rerun", step: Step, outputs: Outputs) -> None:
        """The statement has given `outputs`; its names are bound."""

    def bound(self, run: "Rerun", block: ItemId, place: int, name: str) -> None:
        """The loop has bound its variable."""


class Rerun:
    """One silent run; use it within `isolate`. What is inside calls of groups is run statement by statement, too."""

    def __init__(self, world: World) -> None:
        """Stand before the first statement."""
        self._world = world
        names: dict[str, Any] = {"__name__": "__main__", "__file__": FILENAME, "print": _print_nothing}
        gradients = Gradients(lambda: 0, 0)
        self._live = Live(world.loaded, names, Cursor(world.loaded.items, names), gradients, world.seed)
        self._insides: CallTracer | None = None
        self._told: list[Pending] = []
        self._called = ItemId("")

    @property
    def namespace(self) -> dict[str, Any]:
        """Its own; inside a call the names there."""
        return self._live.namespace

    @property
    def binder(self) -> dict[str, Binding]:
        """Which node bound a name last."""
        return self._live.binder

    @property
    def turns(self) -> tuple[int, ...]:
        """The turn of each loop around, outermost first."""
        return self._live.cursor.turns

    @property
    def gradless_block(self) -> ItemId | None:
        """The block around that switches gradients off."""
        return self._live.cursor.gradless_block

    def go(self, watcher: Watcher, until: Place | None) -> End:
        """Run until a place (None: to the end), with every block left at the end.

        Raises:
            EngineError: the watcher's own.
        """
        world = self._world
        torch.manual_seed(world.seed)
        failed = attempt(lambda: access.execute(access.statements(world.loaded.program.prelude), self.namespace))
        if failed:
            return End("failed", words=failed)
        self.namespace["load_file"] = world.load_file
        if world.loaded.program.insides:
            self._insides = CallTracer(self._live, self._told.append)
        try:
            return self._go(watcher, until)
        finally:
            self._live.close()

    def let_go(self) -> None:
        """Nothing of it is needed any more: definitions and their names are a ring, so is a `.grad` with a graph."""
        for leaf in leaves_of(self._live):
            if leaf.grad is not None and leaf.grad.requires_grad:
                leaf.grad = None
        self._live.let_go()

    def _go(self, watcher: Watcher, until: Place | None) -> End:
        live = self._live
        while not watcher.satisfied:
            if self._world.stopped():
                return End("stopped", words=STOPPED)
            if place_of(live) == until:
                break
            try:
                step = live.cursor.settle()
            except HeadFailed as error:
                return End("failed", error.head.id, error_text(error.__cause__ or error))
            finally:
                self._bind_loop_variables(watcher)
            if place_of(live) == until or (step is None and not live.calls):
                break
            inside = len(live.calls)
            failed = self._execute(step, watcher) if step is not None else self._return(watcher)
            if failed:
                return End("failed", step.id if step is not None else self._called, failed)
            if len(live.calls) <= inside:
                live.cursor.advance()
        return End("done")

    def _execute(self, step: Step, watcher: Watcher) -> str:
        """Run a statement; of a call that is entered what follows is inside it. "" when it went well."""
        watcher.before(self, step)
        outputs: list[Any] = []
        failed = attempt(lambda: outputs.extend(self._outputs(step)))
        if failed:
            return failed
        if not self._told:
            return self._bound(step, watcher, outputs)
        entry, outputs = self._live.calls[-1].entry, list(self._told[0].outputs)
        self._told.clear()
        watcher.after(self, entry, tuple(outputs))
        return ""

    def _outputs(self, step: Step) -> Outputs:
        """What a statement gives; of a call that is entered nothing yet, and `_told` has what it was given."""
        if self._insides is None or not is_call(step):
            return execute(step, self.namespace)
        refuse_too_large(step, self.namespace)
        entered = self._insides.enter(Execution(step, [], False, (), None, [], 0.0))
        return () if entered else outputs_of(step, self.namespace)

    def _return(self, watcher: Watcher) -> str:
        """All inside the innermost call has run: its statement has, too."""
        assert self._insides is not None
        step, insides, outputs = self._live.calls[-1].execution.step, self._insides, list[Any]()
        self._called = step.id

        def leave() -> None:
            insides.leave()
            outputs.extend(outputs_of(step, self.namespace))

        return attempt(leave) or self._bound(step, watcher, outputs)

    def _bound(self, step: Step, watcher: Watcher, outputs: Iterable[Any]) -> str:
        for index, name in enumerate(step.statement.names):
            self.binder[name] = (step.id, index)
        watcher.after(self, step, tuple(outputs))
        for name in step.statement.drops:
            self.namespace.pop(name, None)
        return ""

    def _bind_loop_variables(self, watcher: Watcher) -> None:
        cursor = self._live.cursor
        bound, cursor.bound = cursor.bound, []
        for block, place, name in bound:
            self.binder[name] = (block, place)
            watcher.bound(self, block, place, name)


@contextmanager
def isolate(settings: Settings) -> Iterator[None]:
    """Torch as a fresh program finds it; behind it everything is as it was."""
    before = settings_now()
    with clean_modes(), torch.enable_grad(), warnings.catch_warnings(), _generators_kept():
        warnings.simplefilter("ignore")
        settings.restore()
        try:
            yield
        finally:
            before.restore()


def execute(step: Step, namespace: dict[str, Any]) -> Outputs:
    """Run one statement, sizes guarded; what it gave.

    Raises:
        Exception: whatever it raises.
    """
    refuse_too_large(step, namespace)
    access.execute(step.source.code, namespace)
    return outputs_of(step, namespace)


def outputs_of(step: Step, namespace: dict[str, Any]) -> Outputs:
    """What a statement that has run gave."""
    if step.statement.names:
        return tuple(namespace[name] for name in step.statement.names)
    return () if step.result is None else (access.evaluate(step.result, namespace),)


def attempt(run: Callable[[], object]) -> str:
    """Run a program's own code; "" when it went well, else the error in torch's words."""
    try:
        run()
    except Exception as error:  # noqa: BLE001 - the step boundary of a silent run
        return error_text(error)
    return ""


def error_text(error: BaseException) -> str:
    """Class and message, as Python prints them."""
    return f"{type(error).__name__}: {error}"


def place_of(live: Live) -> Place:
    """Where it stands."""
    innermost = [live.inside.cursor if live.inside is not None else live.cursor]
    cursors = [*(one.around.cursor for one in live.calls), *innermost]
    return tuple(tuple((frame.index, frame.turn) for frame in cursor.frames) for cursor in cursors)


def stop_place(live: Live | None, stale: bool, loaded: Loaded) -> Place | None:
    """Where a silent run is to end: where the live state stands; None (the end) when there is none that counts."""
    if live is None or stale or not live.resumable or live.loaded.document != loaded.document:
        return None
    return place_of(live)


def seed_for(live: Live | None, loaded: Loaded) -> int:
    """The seed a silent run begins with: the live state's where it drew one, else the program's, else a new one."""
    if live is not None and live.seed is not None and live.loaded.document == loaded.document:
        return live.seed
    return loaded.program.seed if loaded.program.seed is not None else torch.Generator().seed()


def _print_nothing(*_: object, **__: object) -> None:
    """The program's ``print``."""


def _generators_kept() -> AbstractContextManager[None]:
    accelerator = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
    if accelerator is None:
        return _forked([], "cuda")
    if accelerator.type == "mps":
        return _mps_generator_kept()
    begun = torch.get_device_module(accelerator.type).is_initialized()
    return _forked(list(range(torch.accelerator.device_count())) if begun else [], accelerator.type)


@contextmanager
def _forked(devices: list[int], kind: str) -> Iterator[None]:
    with torch.random.fork_rng(devices=devices, device_type=kind):
        yield


@contextmanager
def _mps_generator_kept() -> Iterator[None]:
    state = torch.mps.get_rng_state()
    with _forked([], "cuda"):
        yield
    torch.mps.set_rng_state(state)
