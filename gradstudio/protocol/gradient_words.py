"""The sentences to the states of a gradient that engine and timeline both say. No Qt, no torch."""

NOT_RUN = "No backward has run since it was made."
NOT_RUN_CLEARED = "No backward has run since it was made or its .grad was set to None."
NOT_REQUIRED = "It does not require grad, nor does any input."
NOT_REACHED = "A backward has run, and none reached it."
VALUE = "The gradient of the last backward that reached it."
LEAF_VALUE = "What the last backward left in .grad."


def accumulated(passes: list[int], current: int) -> str:
    """What a leaf's `.grad` is made of, by the pass of each part."""
    if len(passes) == 1:
        return f"Left over from {_of_pass(passes[0], current)}; the last backward did not replace it."
    spelled = ", ".join(_of_pass(number, current) for number in passes)
    return f"The sum of {len(passes)} backwards: {spelled}. Zero grad starts afresh."


def _of_pass(number: int, current: int) -> str:
    return "this pass" if number == current else f"pass {number}"
