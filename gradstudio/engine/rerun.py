"""A second, silent run of a program, from nothing and in a namespace of its own (SEMANTICS 6, What-if).

The live state is never touched: every object is made anew, and what a program changes outside its
namespace (generators, default dtype, modes, warnings) is put back behind it.
"""

import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NamedTuple
from typing import Literal as OneOf

import torch

from gradstudio.engine.cursor import Cursor, HeadFailed
from gradstudio.engine.guard import refuse_too_large
from gradstudio.engine.live import Binding, Live, Loaded
from gradstudio.engine.neutral import neutral
from gradstudio.engine.settings import Settings
from gradstudio.engine.settings import settings as settings_now
from gradstudio.engine.source import FILENAME, Step
from gradstudio.graph.model import ItemId

Place = tuple[tuple[int, int], ...]
"""Where a cursor stands: (index, turn) in each list of statements, outermost first."""
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
    """One silent run; use it within `aside`.

    Attributes:
        namespace: its own.
        binder: which node bound a name last.
    """

    def __init__(self, world: World) -> None:
        """Stand before the first statement."""
        self._world = world
        self.namespace: dict[str, Any] = {"__name__": "__main__", "__file__": FILENAME, "print": _print_nothing}
        self.binder: dict[str, Binding] = {}
        self._cursor = Cursor(world.loaded.items, self.namespace)

    @property
    def turns(self) -> tuple[int, ...]:
        """The turn of each loop around, outermost first."""
        return self._cursor.turns

    @property
    def gradless_block(self) -> ItemId | None:
        """The block around that switches gradients off."""
        return self._cursor.gradless_block

    def go(self, watcher: Watcher, until: Place | None) -> End:
        """Run until a place (None: to the end), with every block left at the end.

        Raises:
            EngineError: the watcher's own.
        """
        world = self._world
        torch.manual_seed(world.seed)
        failed = attempt(lambda: exec(compile(world.loaded.program.prelude, FILENAME, "exec"), self.namespace))
        if failed:
            return End("failed", words=failed)
        self.namespace["load_file"] = world.load_file
        try:
            return self._go(watcher, until)
        finally:
            self._cursor.close()

    def _go(self, watcher: Watcher, until: Place | None) -> End:
        cursor = self._cursor
        while not watcher.satisfied:
            if self._world.stopped():
                return End("stopped", words=STOPPED)
            if place_of(cursor) == until:
                break
            try:
                step = cursor.settle()
            except HeadFailed as error:
                return End("failed", error.head.id, words_of(error.__cause__ or error))
            finally:
                self._bind_loop_variables(watcher)
            if step is None or place_of(cursor) == until:
                break
            failed = self._execute(step, watcher)
            if failed:
                return End("failed", step.id, failed)
            cursor.advance()
        return End("done")

    def _execute(self, step: Step, watcher: Watcher) -> str:
        namespace = self.namespace
        watcher.before(self, step)
        outputs: list[Any] = []
        failed = attempt(lambda: outputs.extend(execute(step, namespace)))
        if failed:
            return failed
        for index, name in enumerate(step.statement.names):
            self.binder[name] = (step.id, index)
        watcher.after(self, step, tuple(outputs))
        for name in step.statement.drops:
            namespace.pop(name, None)
        return ""

    def _bind_loop_variables(self, watcher: Watcher) -> None:
        bound, self._cursor.bound = self._cursor.bound, []
        for block, place, name in bound:
            self.binder[name] = (block, place)
            watcher.bound(self, block, place, name)


@contextmanager
def aside(settings: Settings) -> Iterator[None]:
    """Torch as a fresh program finds it; behind it everything is as it was."""
    before = settings_now()
    with neutral(), torch.enable_grad(), warnings.catch_warnings(), _generators_kept():
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
    exec(step.source.code, namespace)
    if step.statement.names:
        return tuple(namespace[name] for name in step.statement.names)
    return () if step.result is None else (eval(step.result, namespace),)  # noqa: S307 - the printed text


def attempt(run: Callable[[], object]) -> str:
    """Run a program's own code; "" when it went well, else the error in torch's words."""
    try:
        run()
    except Exception as error:  # noqa: BLE001 - the step boundary of a silent run
        return words_of(error)
    return ""


def words_of(error: BaseException) -> str:
    """Class and message, as Python prints them."""
    return f"{type(error).__name__}: {error}"


def place_of(cursor: Cursor) -> Place:
    """Where it stands."""
    return tuple((frame.index, frame.turn) for frame in cursor.frames)


def standing(live: Live | None, stale: bool, loaded: Loaded) -> Place | None:
    """Where a silent run is to end: where the live state stands; None (the end) when there is none that counts."""
    if live is None or stale or not live.resumable or live.loaded.document != loaded.document:
        return None
    return place_of(live.cursor)


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
