"""A traced program as plain Python text, as an engine would execute it line by line."""

from collections.abc import Iterator

from gradstudio.program.model import BlockStatement, Program, Statement


def source(program: Program) -> str:
    """Every part on a line of its own, dropped when its user ran."""
    return "\n".join(_body(program.statements, 0)) + "\n"


def _body(steps: tuple[Statement | BlockStatement, ...], depth: int) -> Iterator[str]:
    indent = "    " * depth
    for step in steps:
        if isinstance(step, Statement):
            yield indent + step.text
        elif step.kind == "group":
            yield from _body(step.body, depth)
        else:
            yield indent + _head(step)
            yield from _body(step.body, depth + 1)
            yield f"{indent}    pass"
        for name in step.drops:
            yield f"{indent}del {name}"


def _head(block: BlockStatement) -> str:
    match block.kind:
        case "for":
            return f"for {block.variable} in {block.iterable}:"
        case "if":
            return f"if {block.condition}:"
        case _:
            return f"with {block.context}:"
