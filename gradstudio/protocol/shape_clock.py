"""The clock of looking for shapes: how much of a processor an engine has used at one statement. No Qt here.

Looking for them has a clock of its own: in the window no click asked for it, so none may have to end it. A text that
makes a list of ten thousand million numbers would hold the engine before anybody has looked at the drawing. What
counts is the processor's time: on a busy machine an engine may wait long and do nothing.
"""

import sys
import time

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.inference import Inferring

SHAPE_PATIENCE_S = 5.0
"""So much of a processor a statement may use before its shape is given up."""
TICK_S = 0.5
"""So often is looked at the clock."""


class ShapeClock:
    """What one engine uses at the statement that it tries now.

    Attributes:
        place: what it said last of where it is; None: nothing.
    """

    def __init__(self, process: int) -> None:
        """Begin now; `process` is the engine's."""
        self._process = process
        self.place: Inferring | None = None
        self._began_s: float | None = None
        self.begin()

    @property
    def node(self) -> ItemId:
        """The statement that is tried; "" before the first."""
        return self.place.node if self.place is not None else ItemId("")

    @property
    def line(self) -> int:
        """Its line in the script; 0 before the first."""
        return self.place.line if self.place is not None else 0

    def at(self, place: Inferring) -> None:
        """It goes on, and is there now; what it uses is counted from the next look at the clock on."""
        self.place, self._began_s = place, None

    def begin(self) -> None:
        """Count from now on, at the same place: something else was done meanwhile."""
        self._began_s = self._processor_s()

    def used_s(self) -> float:
        """How much of a processor it has used at this place."""
        if self._began_s is None:
            self.begin()
        return self._processor_s() - (self._began_s or 0.0)

    def has_run_out(self) -> bool:
        """Whether that is more than a statement may use."""
        return self.used_s() > SHAPE_PATIENCE_S

    def _processor_s(self) -> float:
        if not self._process:
            return 0.0
        if sys.platform == "linux":
            try:
                return time.clock_gettime(~self._process << 3 | 2)  # that process's clock; psutil waits for no picture
            except OSError:
                return 0.0
        import psutil

        try:
            times = psutil.Process(self._process).cpu_times()
        except (psutil.Error, ValueError):
            return 0.0
        return float(times.user + times.system)
