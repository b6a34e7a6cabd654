"""What a person chooses of a training that is added: how long, by which optimizer, and the switches of its step."""

from typing import Final, get_args
from typing import Literal as OneOf

import msgspec

EPOCHS: Final = 20
STEPS_PER_EPOCH: Final = 5
"""Data that are learnt all at once have so many steps for each epoch that was asked for."""
BATCH: Final = 32
Optimizer = OneOf["Adam", "AdamW", "SGD"]
Schedule = OneOf["", "cosine", "steps"]
OPTIMIZERS: Final[tuple[Optimizer, ...]] = get_args(Optimizer)
RATES: Final[dict[Optimizer, str]] = {"Adam": "0.01", "AdamW": "0.01", "SGD": "0.1"}
MORE: Final[dict[Optimizer, str]] = {"SGD": ", momentum=0.9"}
_FALLS: Final = 3
"""A rate that falls in steps falls so often."""


class TrainingOptions(msgspec.Struct, frozen=True):
    """What is asked for; unsaid it is the shortest training.

    Attributes:
        rate: the learning rate, as a literal; "" is what is usual for the optimizer.
        schedule: how the rate falls: "cosine" to zero, "steps" to a tenth now and then; "" it stays.
        clip: what the norm of all gradients is clipped to, as a literal; "" they stay.
        accumulate: how many batches make a step.
        patience: so many epochs in a row whose figure got no better are the last; 0: all are taken.
        is_compiled: modules with parameters are compiled.
        is_mixed: the forward runs under autocast, on an accelerator with a scaler.
        device: of the document, for autocast.
    """

    epochs: int = EPOCHS
    batch: int = BATCH
    optimizer: Optimizer = "Adam"
    rate: str = ""
    schedule: Schedule = ""
    clip: str = ""
    accumulate: int = 1
    patience: int = 0
    is_compiled: bool = False
    is_mixed: bool = False
    device: str = "cpu"

    @property
    def steps(self) -> int:
        """How many steps data have that are learnt all at once."""
        return self.epochs * STEPS_PER_EPOCH

    @property
    def is_code(self) -> bool:
        """Whether a canvas keeps some of its lines as code, which is run after a yes."""
        return self.patience > 0 or self.is_compiled

    @property
    def is_scaled(self) -> bool:
        """Whether losses are scaled: float16 needs it, bfloat16 does not."""
        return self.is_mixed and self._kind == "cuda"

    @property
    def context(self) -> str:
        """The head of the block around the forward; "" for none."""
        dtype = "float16" if self.is_scaled else "bfloat16"
        return f'with torch.autocast("{self._kind}", dtype=torch.{dtype}):' if self.is_mixed else ""

    def optimizer_call(self, parameters: str) -> str:
        """What makes the optimizer."""
        rate = self.rate or RATES[self.optimizer]
        return f"torch.optim.{self.optimizer}({parameters}, lr={rate}{MORE.get(self.optimizer, '')})"

    def schedule_call(self, optimizer: str, turns: int) -> str:
        """What makes the schedule over so many turns; "" for none."""
        match self.schedule:
            case "cosine":
                return f"torch.optim.lr_scheduler.CosineAnnealingLR({optimizer}, T_max={turns})"
            case "steps":
                size = max(turns // _FALLS, 1)
                return f"torch.optim.lr_scheduler.StepLR({optimizer}, step_size={size})"
        return ""

    @property
    def _kind(self) -> str:
        """The kind of the document's device; what *auto* finds is not known in a text."""
        return self.device.partition(":")[0] if self.device not in ("", "auto") else "cpu"


USUAL: Final = TrainingOptions()
"""What is chosen where nothing is said."""
