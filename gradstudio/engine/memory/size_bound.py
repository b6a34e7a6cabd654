"""A rough guess, from a program's text alone, of the largest value it could make.

Stand-ins tell sizes exactly, but their first use loads for seconds what torch keeps of Python. A program
whose sizes are small in every way they could be combined is not kept waiting for that.
"""

import ast
import math

from gradstudio.engine.memory.allocation_guard import literals, multiplies
from gradstudio.engine.script.compiled_steps import Step

_WIDENS = ("None", "unsqueeze", ", 1", "(1,")
"""Of a text: tensors are spread along each other's dimensions."""


def plausible_elements(steps: list[Step]) -> int:
    """Elements that no result is likely to exceed, nor all together.

    What a statement names at most, times what another may spread it along; and as much for every statement.
    """
    numbers: dict[str, int] = {}
    most = 1
    widest = 1
    wide = False
    multiplied = False
    for step in steps:
        text = step.statement.text
        found = (*_sizes(step), *(numbers[name] for name in step.source.slots if name in numbers))
        product = math.prod(found)
        if len(step.statement.names) == 1 and _is_number(text, numbers):
            numbers[step.statement.names[0]] = product
        most, widest = max(most, product), max(widest, *found, 1)
        wide = wide or (len(found) > 2 and any(word in text for word in _WIDENS))
        multiplied = multiplied or multiplies(step.statement.operator)
    bound = most * widest
    if wide:
        bound *= widest
    if multiplied:
        bound *= most
    return max(bound, most * len(steps))


def _sizes(step: Step) -> tuple[int, ...]:
    """The whole numbers of a statement that could be sizes: data that is written down is as large as its text."""
    found = literals(step.statement.text)
    return (len(found) or 1,) if step.statement.operator == "torch.tensor" else found


def _is_number(text: str, numbers: dict[str, int]) -> bool:
    """Whether the right side is made of numbers and their names alone."""
    tree = ast.parse(text).body[0]
    value = tree.value if isinstance(tree, ast.Assign) else None
    kinds = ast.Constant | ast.BinOp | ast.UnaryOp | ast.operator | ast.unaryop | ast.expr_context
    return value is not None and all(
        isinstance(part, kinds) or (isinstance(part, ast.Name) and part.id in numbers) for part in ast.walk(value)
    )
