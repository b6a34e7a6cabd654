"""A look at data before a run: what stands above their statement is run silently, where that is little."""

import math
import time
from collections.abc import Callable, Iterable
from typing import Any, Final

from torch import Tensor

from gradstudio.engine.bring.errors import Inexpressible
from gradstudio.engine.bring.tensor_storage import as_stored
from gradstudio.engine.errors import CannotTry
from gradstudio.engine.experiment.rerun import Outputs, Rerun, Watcher, World, isolate
from gradstudio.engine.script.compiled_steps import Step
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.inference import DataLooked, LookAtData, PortInference

MOST_TOLD: Final = 1_000_000
"""Numbers of one tensor that are sent."""
MOST_COMPUTED: Final = 4_000_000
"""Numbers of a result above: to make more of them is for a run."""
MOST_S: Final = 0.5
"""Of a processor's time, asked between statements."""
HERE: Final = ("", "cpu")


class DataLook:
    """One look, which gives way to whatever else is asked."""

    def __init__(self, request: LookAtData, world: World, ports: Iterable[PortInference]) -> None:
        """Nothing has run.

        Args:
            request: which statements.
            world: `stopped` says that something else is asked.
            ports: what inference says of the program: what is above is not tried unless its sizes are known.
        """
        self._request, self._world = request, world
        self._ports: dict[ItemId, list[PortInference]] = {}
        for port in ports:
            self._ports.setdefault(port.node, []).append(port)

    def answer(self) -> DataLooked | None:
        """What the statements give; None: something else is asked first."""
        time_is_up = _clock(MOST_S)
        gave_way = self._world.stopped
        run = Rerun(self._world._replace(stopped=lambda: gave_way() or time_is_up()))
        watcher = _UpToStatements(self._request.nodes, self._ports)
        try:
            with isolate(self._world.settings):
                end = run.go(watcher, until=None)
                if end.outcome == "stopped" and gave_way():
                    return None
                tensors = watcher.files(end.words)
        except (CannotTry, Inexpressible) as reason:
            return DataLooked(request=self._request.request, error=str(reason))
        finally:
            run.let_go()
        return DataLooked(request=self._request.request, tensors=tensors)


class _UpToStatements(Watcher):
    """Ends the run behind the last of some statements, or before one that is too much for a look."""

    def __init__(self, nodes: tuple[ItemId, ...], ports: dict[ItemId, list[PortInference]]) -> None:
        self._nodes, self._ports = nodes, ports
        self._files: dict[ItemId, tuple[bytes, ...]] = {}

    def before(self, run: Rerun, step: Step) -> None:
        for port in self._ports.get(step.id, ()):
            leaves = port.leaves or ()
            counts = [math.prod(port.shape or ()), *(math.prod(leaf.shape) for leaf in leaves)]
            _refuse(step, sum(counts), port.device)

    def after(self, run: Rerun, step: Step, outputs: Outputs) -> None:
        for tensor in outputs:
            if isinstance(tensor, Tensor):  # its sizes may hang on numbers
                _refuse(step, tensor.numel(), tensor.device.type)
        if step.id in self._nodes:
            if run.turns:
                raise CannotTry("It stands in a loop, whose turns may each make others.")
            self._files[step.id] = _files_of(outputs)  # now: what follows may write into them
            self.satisfied = len(self._files) == len(self._nodes)

    def files(self, words: str) -> tuple[bytes, ...]:
        """The tensors that the statements gave, in the order in which they were asked for.

        Raises:
            CannotTry: one was not reached, for `words`.
        """
        if not self.satisfied:
            raise CannotTry(words or "It is not reached when the program runs.")
        return tuple(file for node in self._nodes for file in self._files[node])


def _files_of(outputs: Outputs) -> tuple[bytes, ...]:
    """Each result as the file of a stored tensor.

    Raises:
        CannotTry: it is no tensor, or a large one.
        Inexpressible: safetensors has no such dtype.
    """
    first: Any = outputs[0] if len(outputs) == 1 else outputs
    files = []
    for one in first if isinstance(first, tuple) else (first,):
        if not isinstance(one, Tensor):
            raise CannotTry("It gives something else than tensors.")
        if one.numel() > MOST_TOLD:
            raise CannotTry(f"It gives more than {MOST_TOLD:,} numbers.")
        files.append(as_stored(one, "").data)
    return tuple(files)


def _refuse(step: Step, numbers: int, device: str) -> None:
    """Raises CannotTry where it is more than a look, or not in this machine's memory."""
    if numbers > MOST_COMPUTED:
        raise CannotTry(f"`{step.statement.address}` has {numbers:,} numbers: a run makes them.")
    if device not in HERE:
        raise CannotTry(f"`{step.statement.address}` is on {device}: a run makes it.")


def _clock(seconds: float) -> Callable[[], bool]:
    """Whether this process has used so much of a processor since now."""
    begun = time.process_time()
    return lambda: time.process_time() - begun > seconds
