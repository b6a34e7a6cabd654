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
            request: which statement.
            world: `stopped` says that something else is asked.
            ports: what inference says of the program: what is above is not tried unless its sizes are known.
        """
        self._request, self._world = request, world
        self._ports: dict[ItemId, list[PortInference]] = {}
        for port in ports:
            self._ports.setdefault(port.node, []).append(port)

    def answer(self) -> DataLooked | None:
        """What the statement gives; None: something else is asked first."""
        time_is_up = _clock(MOST_S)
        gave_way = self._world.stopped
        run = Rerun(self._world._replace(stopped=lambda: gave_way() or time_is_up()))
        watcher = _UpToStatement(self._request.node, self._ports)
        try:
            with isolate(self._world.settings):
                end = run.go(watcher, until=None)
                if end.outcome == "stopped" and gave_way():
                    return None
                tensors = tuple(map(_file_of, watcher.results(end.words)))
        except (CannotTry, Inexpressible) as reason:
            return DataLooked(request=self._request.request, error=str(reason))
        finally:
            run.let_go()
        return DataLooked(request=self._request.request, tensors=tensors)


class _UpToStatement(Watcher):
    """Ends the run behind a statement, or before one that is too much for a look."""

    def __init__(self, node: ItemId, ports: dict[ItemId, list[PortInference]]) -> None:
        self._node, self._ports = node, ports
        self._outputs: Outputs = ()

    def before(self, run: Rerun, step: Step) -> None:
        for port in self._ports.get(step.id, ()):
            leaves = port.leaves or ()
            counts = [math.prod(port.shape or ()), *(math.prod(leaf.shape) for leaf in leaves)]
            _refuse(step, sum(counts), port.device)

    def after(self, run: Rerun, step: Step, outputs: Outputs) -> None:
        for tensor in outputs:
            if isinstance(tensor, Tensor):  # its sizes may hang on numbers
                _refuse(step, tensor.numel(), tensor.device.type)
        if step.id == self._node:
            if run.turns:
                raise CannotTry("It stands in a loop, whose turns may each make others.")
            self.satisfied, self._outputs = True, outputs

    def results(self, words: str) -> tuple[Tensor, ...]:
        """The tensors that the statement gave.

        Raises:
            CannotTry: it was not reached, for `words`, or gives something else.
        """
        if not self.satisfied:
            raise CannotTry(words or "It is not reached when the program runs.")
        first: Any = self._outputs[0] if len(self._outputs) == 1 else self._outputs
        found = first if isinstance(first, tuple) else (first,)
        if not all(isinstance(one, Tensor) for one in found):
            raise CannotTry("It gives something else than tensors.")
        if any(one.numel() > MOST_TOLD for one in found):
            raise CannotTry(f"It gives more than {MOST_TOLD:,} numbers.")
        return found


def _refuse(step: Step, numbers: int, device: str) -> None:
    """Raises CannotTry where it is more than a look, or not in this machine's memory."""
    if numbers > MOST_COMPUTED:
        raise CannotTry(f"`{step.statement.address}` has {numbers:,} numbers: a run makes them.")
    if device not in HERE:
        raise CannotTry(f"`{step.statement.address}` is on {device}: a run makes it.")


def _file_of(tensor: Tensor) -> bytes:
    return as_stored(tensor, "").data


def _clock(seconds: float) -> Callable[[], bool]:
    """Whether this process has used so much of a processor since now."""
    begun = time.process_time()
    return lambda: time.process_time() - begun > seconds
