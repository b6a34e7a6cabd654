"""Text of the switches of a training script: several batches a step, clipped gradients, an early stop, refusals.

Each part is there as a whole, with the feature that is named beside it in `PARTS`. Lines of `OPTIONS` end in
``#? a b`` as in `script_templates`. Features: `mixes`, `accumulates`, `clips` and `compiles` are options, `refuses` an
option is not taken, `numbers` an option is a number from 0, `patient` the canvas ends early, `compiled` it compiles.
"""

from collections.abc import Set

_ACCUMULATED = '''\
class Accumulated:
    """An optimizer that steps once in so many batches, by the mean of their gradients."""

    def __init__(self, optimizer: optim.Optimizer, batches: int) -> None:
        """No batch was learnt from."""
        self.optimizer, self.batches, self.behind = optimizer, batches, 0

    def __getattr__(self, name: str) -> object:
        """All else is the optimizer's."""
        return getattr(self.optimizer, name)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Set gradients back before the first batch of a step."""
        if not self.behind:
            self.optimizer.zero_grad(set_to_none)

    def step(self) -> None:
        """A batch has gone back; step with the last one."""
        self.behind += 1
        if self.behind == self.batches:
            self.finish()

    def finish(self) -> None:
        """Step with what there is."""
        if not self.behind:
            return
        for leaf in learning(self.optimizer) if self.behind > 1 else ():
            if leaf.grad is not None:
                leaf.grad /= self.behind
        self.optimizer.step()
        self.behind = 0
'''

STOP = '''\
class EarlyStop:
    """Ends a training whose <judged> got no better for so many <turn>s."""

    def __init__(self, patience: int) -> None:
        """Nothing was measured; a patience of 0 never ends."""
        self.patience, self.best, self.waited = patience, float("inf"), 0

    def look_at(self, value: float) -> None:
        """What another <turn> has measured."""
        self.waited = 0 if value < self.best else self.waited + 1
        self.best = min(self.best, value)

    def is_over(self) -> bool:
        """Whether there is no patience left."""
        return 0 < self.patience <= self.waited

    def state_dict(self) -> dict[str, float]:
        """What a checkpoint keeps, under the names of the canvas."""
        return {"<best>": self.best, "<waited>": self.waited}

    def load_state_dict(self, state: dict[str, float]) -> None:
        """Go on from a checkpoint; one without an early stop has measured nothing."""
        self.best = state.get("<best>", self.best)
        self.waited = state.get("<waited>", self.waited)
'''

_CLIP = '''\
def clip_before_steps(optimizer: optim.Optimizer, largest: float) -> None:
    """Clip the norm of what an optimizer learns by, just before each of its steps."""

    def clip(optimizer: optim.Optimizer, *_: object) -> None:
        nn.utils.clip_grad_norm_(learning(optimizer), largest)

    optimizer.register_step_pre_hook(clip)
'''

_LEARNING = '''\
def learning(optimizer: optim.Optimizer) -> list[torch.Tensor]:
    """All that an optimizer changes."""
    return [leaf for group in optimizer.param_groups for leaf in group["params"]]
'''

_REFUSED = '''\
class Refused(argparse.Action):
    """An option that this training does not take."""

    def __call__(self, parser, namespace, values, option=None) -> None:
        """Say why."""
        parser.error(f"{option}: {WHY_NOT[option]}")
'''

_NUMBER = '''\
def not_negative(text: str) -> float:
    """A number from 0."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is no number from 0")
    return number
'''

PARTS = (
    ("accumulates", _ACCUMULATED),
    ("clips", _CLIP),
    ("clips", _LEARNING),
    ("refuses", _REFUSED),
    ("numbers", _NUMBER),
)

OPTIONS = """\
    option("--amp", action="store_true", help="the forward in bfloat16, by autocast")  #? mixes
    words = "batches of a step, which is by the mean of their gradients"  #? accumulates
    option("--accumulate", type=positive, default=1, help=words)  #? accumulates
    words = "largest norm of an optimizer's gradients; 0: as they are"  #? clips
    option("--clip", type=not_negative, default=0.0, help=words)  #? clips
    option("--compile", action="store_true", help="compile what has a forward")  #? compiles !compiled
    yes_or_no = argparse.BooleanOptionalAction  #? compiles compiled
    words = "compile what has a forward"  #? compiles compiled
    option("--compile", action=yes_or_no, default=True, help=words)  #? compiles compiled
    words = "<turn>s without a better <judged> that end it; 0: never"  #? patient
    option("--patience", type=not_below, default=<patience>, help=words)  #? patient
    for name, why in WHY_NOT.items():  #? refuses
        words = {"action": Refused, "nargs": "?", "default": argparse.SUPPRESS}  #? refuses
        option(name, help=f"refused: {why}", **words)  #? refuses
"""


def switch_parts(features: Set[str]) -> list[list[str]]:
    """The functions and classes that go with the features, each as its lines."""
    return [text.splitlines() for feature, text in PARTS if feature in features]
