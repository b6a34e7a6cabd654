"""The sentences to the states of a gradient that engine and timeline both say. No Qt, no torch."""

from collections.abc import Sequence
from typing import Final

from gradstudio.protocol.messages.backward_trace import HookKind, HookRun
from gradstudio.protocol.messages.events import GradPart

NOT_RUN = "No backward has run since it was made."
EMPTIED = "Its .grad was set to None, and no backward has run since."
NOT_REQUIRED = "It does not require grad, nor does any input."
FROZEN = "It does not require grad any more: requires_grad was switched off after it was made."
FROZEN_NOW = "It does not require grad any more."
BY_HAND = "What a statement has written into .grad."
WRITTEN_SINCE = "It was written into since; what had arrived was the gradient of the value before."
UNWATCHED = "What is in .grad; which backwards left it is not known."
UNHEARD = "It came while nobody listened; its record was not kept."
NOT_REACHED = "A backward has run, and none reached it."
VALUE = "The gradient of the last backward that reached it."
LEAF_VALUE = "What the last backward left in .grad."
NOTHING_IN_GRAD = "Nothing stands in its .grad."
NOT_RETAINED = "Only leaves keep a .grad; retain_grad() before the backward keeps that of any value."
_HOOKS: Final[dict[HookKind, str]] = {
    "tensor": "hook of the tensor",
    "accumulated": "hook behind .grad",
    "module": "hook of the module",
    "node": "hook of the autograd node",
}
MOST_NAMED = 6
"""So many backwards are named; of more the first and the last."""


def value_after(operator: str) -> str:
    """What a gradient is of whose value was written into since it was made; `operator` is the writer's ("add_")."""
    return f"The gradient of the last backward that reached it, of the value after {operator} wrote into its memory."


def hook_words(hook: HookRun) -> str:
    """A hook by its function and where that is defined: ``hook of the tensor: double (train.py:12)``."""
    place = f"{hook.file}:{hook.line}" if hook.file else f"line {hook.line}"
    return f"{_HOOKS[hook.kind]}: {hook.name}" + (f" ({place})" if hook.line else "")


def is_untouched(parts: Sequence[GradPart], current: int) -> bool:
    """Whether one backward of this pass gave all there is: a later one that has nothing to do with it adds nothing."""
    return len(parts) == 1 and parts[0].pass_number == current


def untouched_sentence(part: GradPart) -> str:
    """What such a gradient is."""
    return f"What backward {part.backward} left in .grad; the later ones did not come here."


def accumulation_sentence(parts: Sequence[GradPart], current: int) -> str:
    """What a leaf's `.grad` is made of: which backwards, and of which passes unless all are of the current one."""
    if len(parts) == 1:
        return f"Left by {_named(parts[0], current)}; the last backward did not replace it."
    if all(part.pass_number == current for part in parts):
        return f"The sum of backwards {_listed([str(part.backward) for part in parts])}. Zero grad starts afresh."
    named = _listed([_named(part, current) for part in parts])
    return f"The sum of {len(parts)} backwards: {named}. Zero grad starts afresh."


def _named(part: GradPart, current: int) -> str:
    where = "this pass" if part.pass_number == current else f"pass {part.pass_number}"
    return f"backward {part.backward} ({where})"


def _listed(words: list[str]) -> str:
    if len(words) > MOST_NAMED:
        words = [*words[:2], "…", words[-1]]
    return f"{', '.join(words[:-1])} and {words[-1]}"
